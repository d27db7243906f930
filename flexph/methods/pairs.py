"""Discrete gradient pairs for general systems ([dg] eq. (18)-(26))."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..phdae import PHDAE, Constant
from ..space import Array
from .derivatives import Derivatives
from .gradients import gonzalez, gonzalez_slope, line_mean, through_invariants
from .newton import Newton, StepFailed
from .structure import Split, dense, differential_split, rank_of

MEAN_POINTS = 4
"""Gauss points of the mean value gradient: exact for Hamiltonians of degree 8."""
PARTS = np.linspace(0.125, 1.0, 8)
"""Lengths of a step, over its own, by which its solution is followed where it is not found at once."""
UNSOLVED = 1e-9
"""Relative defect of Ēᵀf = ∇̄H beyond which a discrete gradient is not in the range of Ēᵀ."""

Gradient = Callable[[Array], Array]


class Advance(NamedTuple):
    """A step: the state at its end, Newton iterations, the output B̄ᵀz̄, and the energy h z̄ᵀR̄z̄ it dissipates."""

    state: Array
    iterations: int
    output: Array
    dissipated: float


def discrete_gradient(system: PHDAE, kind: str, split: Split | None) -> Callable[[Array], Gradient]:
    """x₀ to the function x₁ to ∇̄H(x₀, x₁), by name; along the differential states where they are known."""
    part = (lambda d: d) if split is None else split.differential

    def slope(x: Array) -> Array:
        made: Array = system.E(x).T @ system.z(x)
        return made

    def closed(x0: Array) -> Gradient:
        h0 = system.H(x0)

        def at(x1: Array) -> Array:
            step = part(x1 - x0)
            return gonzalez(slope(x1 - 0.5 * step), step, h0, system.H(x1))

        return at

    def mean(x0: Array) -> Gradient:
        h0 = system.H(x0)

        def at(x1: Array) -> Array:
            step = part(x1 - x0)
            # closed by the last term where H is no polynomial of the degree that the points integrate
            return gonzalez(line_mean(slope, x1 - step, x1, MEAN_POINTS), step, h0, system.H(x1))

        return at

    if kind != "invariants":
        return mean if kind == "mean_value" else closed
    invariants = system.invariants
    if invariants is None:
        raise ValueError("method 'invariants' needs a system with invariants=, see flexph.Invariants")
    return lambda x0: lambda x1: through_invariants(invariants, x0, x1)


class GradientPair:
    """``Ē Δx = h (J̄ − R̄) z̄ + h B̄u`` with ``Ē₁₁ᵀ z̄₁ = ∇̄H`` on the differential states ([dg] eq. (20)-(21)).

    Matrices are those in the middle of the step unless the system has ``means`` of its own. The algebraic states are
    stage values: they hold in the middle of the step, where they are of second order, and z̄₂ is taken at them.
    Derivatives of the system make the Newton matrix; where they are not those of the step itself (``means``, a
    gradient that is not Gonzalez', a varying E), they are those of the middle, near by the order of the step.
    """

    def __init__(self, system: PHDAE, kind: str) -> None:
        self.kind = kind
        self.system, self.split = system, differential_split(system)
        self.gradient = discrete_gradient(system, kind, self.split)
        self._newton, self._last = Newton(), np.zeros(system.size)
        self._inverse = self._costates(dense(system.E(system.sample))) if isinstance(system.E, Constant) else None

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        gradient = self.gradient(x0)

        def residual(x1: Array, part: float = 1.0) -> Array:
            moved, flow, _, _ = self._equation(x0, x1, u, gradient)
            return moved - part * h * flow

        guess = x0 + self.split.differential(self._last)  # as in the last step
        slopes = None if self.system.derivatives is None else partial(self._slopes, self.system.derivatives, x0, h, u)
        try:
            x1, iterations = self._newton.solve(residual, guess, size, slopes)
        except StepFailed:  # long steps turn the motion around: grow the step up to its length
            x1, iterations = x0, 0
            for part in PARTS:
                self._newton = Newton()
                x1, more = self._newton.solve(partial(residual, part=part), x1, size)
                iterations += more
        self._last = x1 - x0
        _, _, costate, mean = self._equation(x0, x1, u, gradient)
        return Advance(x1, iterations, mean("B").T @ costate, h * float(costate @ (mean("R") @ costate)))

    def _equation(self, x0: Array, x1: Array, u: Array, gradient: Gradient) -> tuple[Array, Array, Array, Any]:
        """Ē Δx, (J̄ − R̄)z̄ + B̄u, z̄, and the discretised matrices."""
        step = self.split.differential(x1 - x0)
        middle = x1 - 0.5 * step
        mean = means(self.system, x0, x1, middle)
        E = mean("E")
        inverse = self._costates(dense(E)) if self._inverse is None else self._inverse
        costate = inverse @ gradient(x1) + self.split.unseen(self.system.z(middle))
        flow = mean("J") @ costate - mean("R") @ costate
        return E @ step, flow + mean("B") @ u if u.size else flow, costate, mean

    def _slopes(self, given: Derivatives, x0: Array, h: float, u: Array, x1: Array) -> Array:
        """The derivative of Ē Δx − h (J̄ − R̄)z̄ − h B̄u by x₁."""
        system, onto = self.system, self.split.onto_states
        step = self.split.differential(x1 - x0)
        middle = x1 - 0.5 * step
        inner = np.eye(x1.size) - 0.5 * onto  # of the middle
        E, flow, z = dense(system.E(middle)), system.J(middle) - system.R(middle), system.z(middle)
        of_z = dense(given.costate(middle)) @ inner
        hessian = E.T @ of_z
        if self.kind == "gonzalez":
            end = system.E(x1).T @ system.z(x1)
            hessian = gonzalez_slope(E.T @ z, hessian, step, onto, system.H(x0), system.H(x1), end)
        inverse = self._costates(E) if self._inverse is None else self._inverse
        of_costate = inverse @ hessian + self.split.onto_costates @ of_z
        moved = E @ onto + given.of_descriptor(middle, step) @ inner
        made: Array = moved - h * (flow @ of_costate + given.of_terms(middle, z, u) @ inner)
        return made

    def _costates(self, E: Array) -> Array:
        """U₁ (U₁ᵀEV₁)⁻ᵀ V₁ᵀ: from gradients to costates."""
        s = self.split
        made: Array = s.U1 @ np.linalg.solve((s.U1.T @ E @ s.V1).T, s.V1.T)
        return made


class Dirac:
    """``Ē Δx = h (J̄ − R̄) f + h B̄u``, ``Ēᵀf = ∇̄H`` with the costates f as unknowns ([dg] eq. (25)-(26)).

    E may vary and be singular. What that leaves open is completed by the part of f that Ēᵀ does not see: it is that of
    z in the middle of the step, at the new algebraic states, which does not touch the energy balance ([dg] example 6).
    Raises StepFailed where no f exists, since ∇̄H is not in the range of Ēᵀ ([dg] example 8).
    """

    def __init__(self, system: PHDAE, kind: str = "gonzalez") -> None:
        try:
            split: Split | None = differential_split(system)
        except ValueError:
            split = None  # the states that H depends on are not known beforehand
        self.system, self._newton, self._last = system, Newton(), np.zeros(2 * system.size)
        self.gradient = discrete_gradient(system, kind, split)
        self._part = (lambda d: d) if split is None else split.differential
        self._rank = rank_of(dense(system.E(system.sample)))

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        n, r, gradient, z0 = x0.size, self._rank, self.gradient(x0), self.system.z(x0)

        def residual(y: Array) -> Array:
            x1, f = y[:n], y[n:]
            middle = x1 - 0.5 * self._part(x1 - x0)
            mean = means(self.system, x0, x1, middle)
            E = dense(mean("E"))
            flow = mean("J") @ f - mean("R") @ f + (mean("B") @ u if u.size else 0.0)
            left, values, right = np.linalg.svd(E)
            seen = right[:r] @ (E.T @ f - gradient(x1)) / values[:r]
            unseen = left[:, r:].T @ (f - self.system.z(middle))
            return np.concatenate([E @ (x1 - x0) - h * flow, left[:, :r] @ seen + left[:, r:] @ unseen])

        costate_size = np.maximum(np.abs(z0), np.abs(z0).max(initial=0.0) + 1e-300)
        guess = np.concatenate([x0, z0])
        y, iterations = self._newton.solve(residual, guess, np.concatenate([size, costate_size]))
        x1, f = y[:n], y[n:]
        mean = means(self.system, x0, x1, x1 - 0.5 * self._part(x1 - x0))
        wanted = gradient(x1)
        left_over = float(np.abs(dense(mean("E")).T @ f - wanted).max(initial=0.0))
        if left_over > UNSOLVED * max(float(np.abs(wanted).max(initial=0.0)), 1e-300):
            raise StepFailed(
                "the discrete gradient is not in the range of Ēᵀ: no costate exists", iterations, left_over
            )
        return Advance(x1, iterations, mean("B").T @ f, h * float(f @ (mean("R") @ f)))


def means(system: PHDAE, x0: Array, x1: Array, middle: Array) -> Callable[[str], Any]:
    """The discretisation of a matrix by name: the system's own, or its value in the middle."""

    def at(name: str) -> Any:
        own = system.means.get(name)
        return getattr(system, name)(middle) if own is None else own(x0, x1)

    return at
