"""Constraints on positions and velocities that hold at the ends of steps ([dg] remark 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..discretisation.own_pair import AtState, OverStep, View, middle_of
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.ranks import rank_of
from ..systems.discrete_gradients import discrete_jacobian, padded
from ..systems.nonlinear import FEEDTHROUGH, PHDAE

MULTIPLIERS = "multipliers"
"""Name of the part of the states that holds the multipliers."""
OFF = 1e-8
"""Residual of a constraint, relative to its largest terms, up to which an initial state satisfies the constraint."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints ``c(x) = 0``: the function c (k,) of the state and its Jacobian Dc (k, n)."""

    function: Callable[[Array], Any]
    jacobian: Callable[[Array], Any]


@checked
def holonomic(
    gap: Callable[[Array], Any],
    gap_jacobian: Callable[[Array], Any],
    rate_jacobian: Callable[[Array, Array], Any],
    *,
    positions: slice,
    velocities: slice,
) -> Constraints:
    """Position and velocity constraints of ``g(q) = 0`` with q̇ = v: ``c = (g(q), Dg(q) v)`` ([dg] eq. (39)-(40)).

    ``gap`` g (m,) and ``gap_jacobian`` Dg (m, d) are functions of q (d,), ``rate_jacobian`` ∂(Dg v)/∂q (m, d) of (q,
    v).
    """

    def function(x: Array) -> Array:
        q, v = x[positions], x[velocities]
        return np.concatenate([gap(q), dense(gap_jacobian(q)) @ v])

    def jacobian(x: Array) -> Array:
        q, v = x[positions], x[velocities]
        slope = dense(gap_jacobian(q))
        rows = np.zeros((2 * len(slope), x.size))
        rows[: len(slope), positions] = rows[len(slope) :, velocities] = slope
        rows[len(slope) :, positions] = rate_jacobian(q, v)
        return rows

    return Constraints(function, jacobian)


@checked
def with_constraints(system: PHDAE, constraints: Constraints) -> PHDAE:
    """System with invertible E under constraints c(x) = 0 with multipliers μ (k,): states (x, μ), index 1.

        E ẋ = (J − R)(z + Zμ) + B u,   0 = Zᵀ[(J − R)(z + Zμ) + B u] = Dc ẋ,   y = Bᵀ(z + Zμ),   Z = E⁻ᵀDcᵀ

    is port-Hamiltonian with ``J' = [1; Zᵀ] J [1, Z], R' = [1; Zᵀ] R [1, Z], B' = [1; Zᵀ] B`` and z' = (z, μ). In
    mechanics with states (q, v) and both levels of :func:`holonomic`, μ = (λ, γ): −Dgᵀλ are the constraint forces, and
    γ vanishes up to the error of a step, with q̇ = v + M⁻¹Dgᵀγ. Over a step Dc is the discrete Jacobian, so that Δc =
    D̄c Δx = 0: gonzalez, mean_value, invariants, dirac and midpoint satisfy all constraints to round-off at the ends of
    steps, and all of them except midpoint the energy balance.

    Raises ValueError if E or Zᵀ(J − R)Z is singular at the sample: constraints on positions alone do not
    determine their multipliers. A run refuses an initial state that violates the constraints.
    """
    n, k = system.size, len(check.array("the constraints", constraints.function(system.sample), (None,)))
    check.array("the jacobian of the constraints", dense(constraints.jacobian(system.sample)), (k, n))
    if rank_of(dense(system.E(system.sample))) < n:
        raise ValueError(
            "E must be invertible: leave out the multipliers of other constraints, and give those constraints here"
        )
    held = _Held(system, constraints, k)
    _check_regular(held)
    fed = FEEDTHROUGH if system.has_feedthrough else ()
    return PHDAE(
        **{name: partial(held.at, name) for name in ("E", "J", "R", "B", "z", *fed)},  # type: ignore[arg-type]
        H=lambda x: system.H(x[:n]),
        sample=np.concatenate([system.sample, np.zeros(k)]),
        ports=system.ports,
        parts={**system.parts, MULTIPLIERS: slice(n, n + k)},
        means={name: partial(held.over_step, name) for name in sorted({*system.means, "J", "R", "B", *fed})},
        invariants=None if system.invariants is None else padded(system.invariants, n, k),
        cautions=tuple(partial(_of_states, caution, n) for caution in system.cautions),
        start_defects=(*(partial(_of_states, defect, n) for defect in system.start_defects), held.defect),
    )


class _Held:
    """Matrices and costate of the system with states (x, μ), at a state or over a step, from those of the given system.

    ``count`` is the number k of constraints.
    """

    def __init__(self, system: PHDAE, constraints: Constraints, count: int) -> None:
        self.system, self.constraints, self.count, self.middle = system, constraints, count, middle_of(system)
        self._onto_over = lru_cache(maxsize=1)(self._onto_step)  # J̄, R̄ and B̄ are evaluated in turn at the same step

    def at(self, name: str, x: Array) -> Array:
        """Matrix ``name`` at a state (x, μ)."""
        view = AtState(self.system, x[: self.system.size])
        return self._made(name, view, lambda: self.onto(view, dense(self.constraints.jacobian(view.place))), x)

    def over_step(self, name: str, x0: Array, x1: Array) -> Array:
        """Matrix ``name`` over a step from x0 to x1, with the discrete Jacobian of the constraints.

        Multipliers are those in x1, which are mean values of the step.
        """
        n = self.system.size
        first, last = x0[:n], x1[:n]
        view = OverStep(self.system, self.middle, first, last)
        return self._made(name, view, lambda: self._onto_over(first.tobytes(), last.tobytes()), x1)

    def _onto_step(self, first: bytes, last: bytes) -> Array:
        c, x0, x1 = self.constraints, np.frombuffer(first), np.frombuffer(last)
        slope = discrete_jacobian(c.function, lambda x: dense(c.jacobian(x)), x0, x1, kept=True)
        return self.onto(OverStep(self.system, self.middle, x0, x1), slope)

    def onto(self, view: View, slope: Array) -> Array:
        """Matrix [1; Zᵀ] (n + k, n), with Z = E⁻ᵀDcᵀ from the given ``slope`` Dc."""
        Z = np.linalg.solve(view("E").T, slope.T)
        return np.vstack([np.eye(len(Z)), Z.T])

    def _made(self, name: str, view: View, onto: Callable[[], Array], x: Array) -> Array:
        n, k = self.system.size, self.count
        if name == "z":
            return np.concatenate([view("z"), x[n:]])
        if name in ("S", "N"):
            return view(name)
        if name == "E":
            matrix = np.zeros((n + k, n + k))
            matrix[:n, :n] = view("E")
            return matrix
        T = onto()
        left: Array = T @ view(name)
        return left if name in ("B", "P") else left @ T.T

    def defect(self, x: Array, step: float) -> str | None:
        """Text on the most violated constraint at the start x of a run; None if all are satisfied to round-off."""
        states = x[: self.system.size]
        values = np.asarray(self.constraints.function(states))
        scale = np.abs(dense(self.constraints.jacobian(states))) @ np.maximum(np.abs(states), self.system.floor(states))
        worst = int(np.argmax(np.abs(values) / np.maximum(scale, 1e-300)))
        if abs(values[worst]) <= OFF * scale[worst]:
            return None
        return f"constraint {worst} must be zero, it is {values[worst]:.3g}"


def _check_regular(held: _Held) -> None:
    """Raise ValueError if Zᵀ(J − R)Z is singular at the sample, with Z = E⁻ᵀDcᵀ and constraints scaled to unit size."""
    x, system = held.system.sample, held.system
    slope = dense(held.constraints.jacobian(x))
    size = np.abs(slope) @ np.maximum(np.abs(x), system.floor(x))
    Z = held.onto(AtState(system, x), slope)[system.size :] / np.where(size > 0.0, size, 1.0)[:, None]
    inner = Z @ (dense(system.J(x)) - dense(system.R(x))) @ Z.T
    rows = np.abs(inner).max(axis=1, initial=0.0)
    terms = np.abs(Z) @ (np.abs(dense(system.J(x))) + np.abs(dense(system.R(x)))) @ np.abs(Z.T)
    null = rows <= check.ROUND_OFF * terms.max(axis=1, initial=0.0)
    if null.any() or rank_of(inner / rows[:, None]) < held.count:
        raise ValueError(
            "the constraints must determine their multipliers: Zᵀ(J − R)Z is singular at the sample; give both levels "
            "of constraints on positions, flexph.discrete_gradients.holonomic(...), and no dependent ones"
        )


def _of_states(of: Callable[..., Any], n: int, x: Array, *others: float) -> Any:
    return of(x[:n], *others)
