"""Semi-explicit systems with a parameter that follows an unstructured equation ([dg] eq. (37)-(38)).

A bar denotes a mean over a step. U₁, U₂, V₁ and V₂ are the bases of :class:`.descriptor_split.Split`, which separate
differential and algebraic equations and states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..systems.discrete_gradients import correction
from ..systems.nonlinear import PHDAE
from .descriptor_split import ParametrizedDescriptor, differential_split, selection
from .dirac_form import Dirac
from .discrete_gradient_pairs import GradientPair
from .discretised import discretised, ports_over
from .pair_equations import GONZALEZ, MIDPOINT, Step, Terms, gradient


class ParametrizedPair(GradientPair):
    """Pair ``Ē Δx = h (J̄ − R̄) z̄ + h (B̄ − P̄)u`` with z̄ = (∇̄H₁, z̄₂, 0) for E of [dg] eq. (37) (remark 11).

    All matrices and z₂ are evaluated in the middle of the step, x₂ and θ, too: Ē₃₂ multiplies a difference of algebraic
    states at the ends of the step, which therefore belong to the ends (completion ``mean``). ΔH = H₁(x₁¹) − H₁(x₁⁰) is
    balanced to round-off for any equation of θ.
    """

    def __init__(self, system: PHDAE, kind: str | Any) -> None:
        assert isinstance(system.E, ParametrizedDescriptor)
        super().__init__(replace(system, derivatives=None), kind, selection(system.size, system.E.first))
        means = {} if kind == "midpoint" else system.means
        self._means = [*(discretised(system, name, means) for name in "EJR"), ports_over(system, means)]

    def equation(self, step: Step, x1: Array) -> tuple[Array, Terms]:
        """Residual (n,) of the equation of a step with the end x₁, and the terms that it consists of."""
        change, middle = x1 - step.x0, self._middle(step.x0, x1)
        differential = self.split.differential(change)
        E, J, R, ports = (at(step.x0, x1, middle) for at in self._means)
        costate = self.system.z(middle)
        if self.pair.kind == GONZALEZ:
            costate = (
                costate
                + correction(float(costate @ differential), differential, step.before, self.pair.H(x1)) * differential
            )
        elif self.pair.kind != MIDPOINT:
            costate = self.split.to_costates(dense(E)) @ gradient(step, x1, differential) + self.split.kernel_part(
                costate
            )
        moved, lost = E @ change, R @ costate
        flow = J @ costate - lost + (ports.flow(step.u) if step.u.size else 0.0)
        return moved - step.h * flow, Terms(E, J, R, ports.of_inputs, costate, differential, moved, lost)

    def _middle(self, x0: Array, x1: Array) -> Array:
        return 0.5 * (x0 + x1)


def gradient_pair(system: PHDAE, kind: str | Any) -> GradientPair | Dirac:
    """Discrete gradient pair of a method, or of a given discrete gradient, for any E(x) of constant rank."""
    if isinstance(system.E, ParametrizedDescriptor):
        return ParametrizedPair(system, kind)
    split = differential_split(system)
    return Dirac(system, kind) if split is None else GradientPair(system, kind, split)


def dirac_form(system: PHDAE) -> Dirac | ParametrizedPair:
    """Select the Dirac-dissipative form for a system: :class:`ParametrizedPair` for E of [dg] eq. (37), else Dirac.

    With a parameter, all costates except the algebraic ones are known ([dg] theorem 5).
    """
    return ParametrizedPair(system, "gonzalez") if isinstance(system.E, ParametrizedDescriptor) else Dirac(system)


@checked
def parametrized_system(
    *,
    sizes: tuple[int, int, int],
    J: Any,
    R: Any = None,
    gradient: Callable[[Array], Array],
    z2: Callable[[Array], Array],
    H: Callable[[Array], float],
    sample: Any,
    coupling: Any,
    A: Any,
    B: Any = None,
    **options: Any,
) -> PHDAE:
    """System ``diag(1, 0) (ẋ₁, ẋ₂) = (J − R)(∇H₁(x₁), z₂) + B₁₂u``, ``θ̇ + E₃₂ẋ₂ = A (∇H₁, z₂) + B₃u`` ([dg] eq. (38)).

    States x = (x₁, x₂, θ) of the given sizes (n₁, n₂, n₃). J and R (n₁ + n₂, n₁ + n₂), ``coupling`` E₃₂ (n₃, n₂), A
    (n₃, n₁ + n₂) and B (n, m) are matrices or functions of x, z₂ (n₂,) is a function of x, ``gradient`` ∇H₁ (n₁,) and H
    of x₁. As a :class:`flexph.PHDAE` it has E of [dg] eq. (37), z = (∇H₁, z₂, 0) and A as a part of J;
    PHDAE checks R, J and H. Parts are ``x1``, ``x2`` and ``theta`` unless ``options``, further arguments of PHDAE, name
    others.

    :class:`flexph.methods.DiscreteGradient` (gonzalez, mean_value), DiracDissipative and Gauss(2) integrate it by
    :class:`ParametrizedPair`. Gauss(4) and Gauss(6) have all states at the nodes, with x₂ and θ of order 2 and 4;
    Radau, BDF and IDA integrate it unchanged. The start needs an x₂ that satisfies its equation
    (:func:`flexph.consistency.consistent`): its error would alternate from step to step, and θ with it.
    """
    n1, n2, n3 = (check.count(f"sizes[{k}]", size, least=0) for k, size in enumerate(sizes))
    n, inner = n1 + n2 + n3, n1 + n2
    at = {"J": _function("J", J, (inner, inner)), "A": _function("A", A, (n3, inner))}
    at["R"] = _function("R", np.zeros((inner, inner)) if R is None else R, (inner, inner))

    def structure(x: Array) -> Array:
        J, across = np.zeros((n, n)), at["A"](x)
        J[:inner, :inner], J[inner:, :inner], J[:inner, inner:] = at["J"](x), across, -across.T
        return J

    def loss(x: Array) -> Array:
        R = np.zeros((n, n))
        R[:inner, :inner] = at["R"](x)
        return R

    parts = {"x1": slice(0, n1), "x2": slice(n1, inner), "theta": slice(inner, n)}
    return PHDAE(
        E=ParametrizedDescriptor((n1, n2, n3), _function("coupling", coupling, (n3, n2))),
        J=structure,
        R=loss,
        B=B,
        z=lambda x: np.concatenate([gradient(x[:n1]), z2(x), np.zeros(n3)]),
        H=lambda x: float(H(x[:n1])),
        sample=sample,
        **{"parts": parts, **options},
    )


def _function(name: str, given: Any, shape: tuple[int, int]) -> Callable[[Array], Array]:
    """Function of x with values of the given shape, from a constant matrix or a function.

    Raises ValueError, with the name, for another shape.
    """
    if not callable(given):
        matrix = check.array(name, dense(given), shape)
        return lambda x: matrix
    return lambda x: check.array(name, dense(given(x)), shape)
