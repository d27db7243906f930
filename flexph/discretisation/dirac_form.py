"""Dirac-dissipative form of steps of general systems ([dg] eq. (25)-(26)).

A bar denotes a mean over a step. U₁, U₂, V₁ and V₂ are the bases of :class:`.descriptor_split.Split`, which separate
differential and algebraic equations and states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.ranks import rank_of
from ..numerics.step_failed import StepFailed
from ..systems.discrete_gradients import (
    MEAN_POINTS,
    ROUND_OFF,
    correction,
    gonzalez,
    line_mean,
    through_invariants,
)
from ..systems.nonlinear import PHDAE
from .descriptor_split import Split, differential_split, differential_states, split_of
from .discrete_gradient_pairs import NO_INVARIANTS, GradientPair
from .discretised import Advance, Discretised, discretised, ports_over
from .newton import Newton, StepEquations
from .pair_equations import StartData


class Dirac:
    """``Ē Δx = h (J̄ − R̄) f + h (B̄ − P̄)u``, ``Ēᵀf = ∇̄H`` with costates f ([dg] eq. (25)-(26)).

    E may vary and be singular, with constant rank. ∇̄H is a discrete gradient, chosen by ``kind``: Gonzalez, mean
    value, through invariants, or a function of (x₀, x₁), restricted to the range of Ēᵀ as lemma 1 of [dg] requires:
    with the orthogonal projector P onto it and a gradient γ of that kind,

        ∇̄H = Pγ + (ΔH − Pγ·Δx)/(PΔx·PΔx) PΔx,

    which is a discrete gradient, as PΔx·Δx = PΔx·PΔx, and for which f exists. Ēᵀf = ∇̄H leaves the kernel part of f
    open: it is taken from z at the middle m of the step and does not affect the energy balance ([dg] example 6). If the
    null space of E is constant, algebraic states are stage values, and m has those of the end of the step. If it
    varies, a step in which only algebraic states move loses order: ΔH − Pγ·Δx, of third order, is divided by
    ‖PΔx‖. With ``midpoint`` all of f is z(m), which is balanced for quadratic H.

    Raises StepFailed if H changes along a step in the kernel of Ē: then no f exists ([dg] example 8).
    """

    def __init__(self, system: PHDAE, kind: str | Any = "gonzalez") -> None:
        self.system, self.newton, self._kind = system, Newton(), kind
        means = {} if kind == "midpoint" else system.means
        self._split = differential_split(system)  # if None, the split of Ē in each step
        self._states = differential_states(system)[0]
        self._varies = self._split is None or "E" in means
        self._means = [*(discretised(system, name, means) for name in "EJR"), ports_over(system, means)]
        self._rank = rank_of(dense(system.E(system.sample)))
        if kind == "invariants" and system.invariants is None:
            raise ValueError(NO_INVARIANTS)
        # on semi-explicit systems steps and derivatives are those of the pair ([dg] theorem 5)
        given = self._split if system.derivatives is not None else None
        self._pair = None if given is None else GradientPair(system, kind, given)

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: None = None) -> Advance:
        """Take a step of length h [s] from x₀ with constant inputs u.

        ``size`` (n,) are the sizes of the states, to which corrections are compared. Raises StepFailed.
        """
        before = float(self.system.H(x0))

        def terms(x1: Array, part: float) -> tuple[Array, Discretised]:
            return self._over(x0, x1, before).equation(u, part * h)

        derivative = (
            None if self._pair is None else self._pair.derivative(StartData(x0, before, before, 0.0, 0.0 * x0), u, h)
        )
        solved = self.newton.step(StepEquations(terms, derivative), x0, x0, size)
        return solved.terms.advance(self.system, solved, u, h)

    def over_step(self, x0: Array, x1: Array) -> Discretised:
        """Matrices and costate over a step from x₀ to x₁, with the costate f of :class:`Dirac`.

        (Ē, f) is a discrete gradient pair.
        """
        return self._over(x0, x1, float(self.system.H(x0)))

    def _over(self, x0: Array, x1: Array, before: float) -> Discretised:
        system, change = self.system, x1 - x0
        step = self._states @ (self._states.T @ change)
        middle = x1 - 0.5 * step
        E, J, R, ports = (at(x0, x1, middle) for at in self._means)
        costate = system.z(middle)
        if self._kind != "midpoint":
            split = self._split_of(dense(E))
            gradient = restricted(split, self._gradient(x0, x1, step, before), change, (before, float(system.H(x1))))
            costate = split.to_costates(dense(E)) @ gradient + split.kernel_part(costate)
        return Discretised(E, J, R, ports, costate, E @ change)

    def _gradient(self, x0: Array, x1: Array, step: Array, before: float) -> Array:
        """Gradient γ of H of the chosen kind over a step from x₀ to x₁, before its restriction to the range of Ēᵀ.

        ``step`` is the differential part of x₁ − x₀, ``before`` is H(x₀).
        """
        system = self.system
        slope: Callable[[Array], Array] = lambda x: np.asarray(system.E(x).T @ system.z(x))  # noqa: E731
        if callable(self._kind):
            return np.asarray(self._kind(x0, x1))
        if self._kind == "mean_value":
            return line_mean(slope, x1 - step, x1, MEAN_POINTS)
        if self._kind == "invariants":
            assert system.invariants is not None
            return through_invariants(system.invariants, x0, before)(x1)
        return slope(x1 - 0.5 * step)

    def _split_of(self, E: Array) -> Split:
        """Split of Ē into differential and algebraic parts; raises StepFailed if Ē has another rank than E."""
        if self._split is not None and not self._varies:
            return self._split
        split = split_of(E)
        if split.V1.shape[1] != self._rank:
            raise StepFailed(f"the rank of Ē is {split.V1.shape[1]}, that of E(x) {self._rank}", 0, np.inf)
        return split


def restricted(split: Split, slope: Array, change: Array, energies: tuple[float, float]) -> Array:
    """Gonzalez' discrete gradient, restricted to the range of Ēᵀ.

    ``slope`` is ∇H at the midpoint, ``change`` is Δx, ``energies`` are H at both ends. Raises StepFailed if H changes
    although Δx is in the kernel of Ē.
    """
    step, middle = split.differential(change), split.differential(slope)
    unseen = np.abs(step) <= ROUND_OFF * (np.abs(split.onto_states) @ np.abs(change))
    if unseen.all() and correction(float(middle @ change), change, *energies):
        raise StepFailed("the energy changes along a step in the kernel of Ē: no costate exists", 0, np.inf)
    return gonzalez(middle, step, *energies)
