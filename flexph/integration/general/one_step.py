"""One-step methods of general systems, and algebraic states at the ends of steps ([dg] examples 5 and 6)."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ...discretisation.descriptor_split import ParametrizedDescriptor, differential_states
from ...discretisation.discretised import Advance
from ...discretisation.gauss_collocation import GaussCollocation
from ...discretisation.own_pair import OwnPair
from ...discretisation.parametrized import dirac_form, gradient_pair
from ...numerics.arrays import Array, dense
from ...numerics.ranks import rank_of, subspaces
from ...systems.nonlinear import PHDAE
from ..methods.general import DiracDissipative, DiscreteGradient, Gauss
from ..methods.method import GeneralMethod
from .stepper import OneStepMethod

if TYPE_CHECKING:
    from .stepper import OneStepMethod


def one_step_method(method: GeneralMethod, system: PHDAE) -> OneStepMethod:
    """Select the one-step method for a system, with the rule of ``method`` for algebraic states at the ends of steps.

    Raises ValueError if none fits. The result stores the Jacobian of its last iteration: each run needs a separate
    one.
    """
    return completed(_equations(method, system), system, method.completion)


@singledispatch
def _equations(method: Any, system: PHDAE) -> OneStepMethod:
    raise TypeError(f"method must be one of flexph.methods for general systems, got {method}")


@_equations.register
def _gradient(method: DiscreteGradient, system: PHDAE) -> OneStepMethod:
    return OwnPair(system) if method.gradient == "pair" else gradient_pair(system, method.gradient)


@_equations.register
def _dirac(method: DiracDissipative, system: PHDAE) -> OneStepMethod:
    return dirac_form(system)


@_equations.register
def _gauss(method: Gauss, system: PHDAE) -> OneStepMethod:
    return gradient_pair(system, "midpoint") if method.order == 2 else GaussCollocation(system, method.order // 2)


CONSISTENT = 1e-6
"""Defect of the algebraic equations, relative to their terms, up to which a start counts as consistent: a mean of two
ends propagates it with alternating sign."""


def completed(method: OneStepMethod, system: PHDAE, completion: str | None) -> OneStepMethod:
    """Wrap a one-step method so that it computes algebraic states at the ends of its steps by the rule ``completion``.

    Raises ValueError if E differentiates all states, or if the null space of E varies with the state.
    """
    if completion is None:
        return method
    if isinstance(system.E, ParametrizedDescriptor):
        if completion != "mean":
            raise ValueError(f"completion must be 'mean' or None for equations with a parameter, got {completion!r}")
        return method
    if rank_of(dense(system.E(system.sample))) == system.size:
        raise ValueError(
            f"completion={completion!r} is for algebraic states: E of this system differentiates all states"
        )
    differential, others = differential_states(system)
    if not others.shape[1]:
        raise ValueError(f"completion={completion!r} needs algebraic states: the null space of E(x) varies with x")
    return (
        method if completion == "new" else Completed(method, differential @ differential.T, mean=completion == "mean")
    )


def refuse_alternating(system: PHDAE, x0: Array, inputs: Array, completion: str | None) -> None:
    """Raise ValueError if ``completion`` is "mean" and the start violates the algebraic equations.

    The residual of these equations at the start would change its sign from step to step and never be damped.
    """
    if completion != "mean" or isinstance(system.E, ParametrizedDescriptor):  # a parameter has a separate equation
        return
    z, ports = system.z(x0), system.port_matrices(x0)
    J, R, null = dense(system.J(x0)), dense(system.R(x0)), subspaces(dense(system.E(x0))).left_null
    given = ports.flow(inputs) if inputs.size else np.zeros(x0.size)
    defect = np.abs(null.T @ (J @ z - R @ z + given))
    terms = np.abs(null).T @ (np.abs(J) @ np.abs(z) + np.abs(R) @ np.abs(z) + np.abs(given))
    if np.any(defect > CONSISTENT * terms):
        raise ValueError(
            "completion='mean' needs a start that satisfies the algebraic equations: their residual is "
            f"{np.max(defect / np.where(terms > 0.0, terms, 1.0)):.1e} of their terms: see "
            "flexph.consistency.consistent(system, state), or use completion='new'"
        )


class Completed:
    """One-step method that derives the algebraic states x₂ at the ends of a step from those X₂ at its middle.

    With ``mean``, X₂ is the mean of x₂⁰ at the start and x₂¹ at the end, so that x₂¹ = 2X₂ − x₂⁰. Otherwise X₂ replaces
    x₂⁰ in the stored state at the start, and is x₂¹ until the next step replaces it. Neither changes the equations of
    the step, the differential states or the energy, which do not depend on x₂ ([dg] lemma 2).
    """

    def __init__(self, method: OneStepMethod, onto_states: Array, *, mean: bool) -> None:
        self.method, self.onto_states, self.mean = method, onto_states, mean
        self.newton = method.newton

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: Any = None) -> Advance:
        """Take a step of length h [s] from x₀ under constant inputs u; raises StepFailed.

        ``history`` has the history of the wrapped method and the state that its last step returned.
        """
        inner, known = history or (None, x0)
        advance = self.method.step(known, h, u, size, history=inner)
        stage = advance.state
        advance = advance._replace(history=(advance.history, stage))
        if self.mean:
            return advance._replace(state=stage + self._algebraic(stage) - self._algebraic(x0))
        return advance._replace(start=self.onto_states @ x0 + self._algebraic(stage))

    def _algebraic(self, x: Array) -> Array:
        """Part of the state ``x`` that E does not differentiate, (n,) with zeros for the rest."""
        part: Array = x - self.onto_states @ x
        return part
