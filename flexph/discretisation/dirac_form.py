"""The Dirac-dissipative form of steps of general systems ([dg] eq. (25)-(26))."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.ranks import rank_of
from ..numerics.step_failed import StepFailed
from ..systems.discrete_gradients import ROUND_OFF, correction, gonzalez
from ..systems.nonlinear import PHDAE
from .descriptor_split import Split, differential_projection, differential_split, split_of
from .discrete_gradient_pairs import GradientPair
from .discretised import Advance, Discretised, discretised, ports_over
from .newton import Newton, StepEquations
from .pair_equations import Past


class Dirac:
    """``Ē Δx = h (J̄ − R̄) f + h (B̄ − P̄)u``, ``Ēᵀf = ∇̄H`` with costates f ([dg] eq. (25)-(26)).

    E may vary and be singular, with a constant rank. ∇̄H is Gonzalez' gradient restricted to the range of Ēᵀ, as lemma
    1 of [dg] asks for: with the orthogonal projection P onto it,

        ∇̄H = P∇H(m) + (ΔH − P∇H(m)·Δx)/(PΔx·PΔx) PΔx,

    a discrete gradient since PΔx·Δx = PΔx·PΔx, for which f exists. What Ēᵀf = ∇̄H leaves open is the part of f that Ēᵀ
    does not see: it is that of z in the middle m of the step, which does not touch the energy balance ([dg] example 6).
    Where the null space of E is constant, algebraic states are stage values and m is taken at the new ones.

    Raises StepFailed where H changes along a step that Ē does not see: no f exists then ([dg] example 8).
    """

    def __init__(self, system: PHDAE) -> None:
        self.system, self.newton = system, Newton()
        try:
            self._split: Split | None = differential_split(system)
        except ValueError:
            self._split = None  # it is that of Ē at each step
        self._onto_states = differential_projection(system) if self._split is None else self._split.onto_states
        self._varies = self._split is None or "E" in system.means
        self._means = [*(discretised(system, name, system.means) for name in "EJR"), ports_over(system, system.means)]
        self._rank = rank_of(dense(system.E(system.sample)))
        # on semi-explicit systems the steps are those of the pair ([dg] theorem 5), and so are their derivatives
        given = self._split is not None and system.derivatives is not None
        self._pair = GradientPair(system, "gonzalez") if given else None

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: None = None) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        before = float(self.system.H(x0))

        def terms(x1: Array, part: float) -> tuple[Array, Discretised]:
            return self._over(x0, x1, before).equation(u, part * h)

        derivative = (
            None if self._pair is None else self._pair.derivative(Past(x0, before, before, 0.0, 0.0 * x0), u, h)
        )
        solved = self.newton.step(StepEquations(terms, derivative), x0, x0, size)
        return solved.terms.advance(self.system, solved, u, h)

    def over(self, x0: Array, x1: Array) -> Discretised:
        """The discretisation over a step from x₀ to x₁: with its completion f, (Ē, f) is a discrete gradient pair."""
        return self._over(x0, x1, float(self.system.H(x0)))

    def _over(self, x0: Array, x1: Array, before: float) -> Discretised:
        system, change = self.system, x1 - x0
        middle = x1 - 0.5 * (self._onto_states @ change)
        E, J, R, ports = (at(x0, x1, middle) for at in self._means)
        split = self._split_of(dense(E))
        z = system.z(middle)
        gradient = restricted(split, system.E(middle).T @ z, change, (before, float(system.H(x1))))
        costate = split.to_costates(dense(E)) @ gradient + split.unseen(z)
        return Discretised(E, J, R, ports, costate, E @ change)

    def _split_of(self, E: Array) -> Split:
        """The split of Ē, whose rank is that of E."""
        if self._split is not None and not self._varies:
            return self._split
        split = split_of(E)
        if split.V1.shape[1] != self._rank:
            raise StepFailed(f"the rank of Ē is {split.V1.shape[1]}, that of E(x) {self._rank}", 0, np.inf)
        return split


def restricted(split: Split, slope: Array, change: Array, energies: tuple[float, float]) -> Array:
    """Gonzalez' gradient in the range of Ēᵀ from ∇H(m), Δx, and H at both ends. Raises StepFailed where ΔH ⟂ Ē."""
    step, middle = split.differential(change), split.differential(slope)
    unseen = np.abs(step) <= ROUND_OFF * (np.abs(split.onto_states) @ np.abs(change))
    if unseen.all() and correction(float(middle @ change), change, *energies):
        raise StepFailed("the energy changes along a step that Ē does not see: no costate exists", 0, np.inf)
    return gonzalez(middle, step, *energies)
