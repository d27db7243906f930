"""Steps chosen by their error: pairs of equal steps, accepted or rejected as one, that meet the saved times.

Single steps of changing length would feed the alternating velocity defect of the scheme and fall to first order; a pair
of equal steps returns it (:mod:`flexph.integration.exact.composition`), so that h may change after each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...kernels.state import Configuration, inertia_products, momenta
from ...kernels.values import Means
from ...numerics.arrays import Array
from ..times.step_size import FIRST, FITS, LEFT, RESOLVED, SMALLEST, Controller, NoPace, Tolerance
from .composition import Composed, as_one
from .impulse import answer, struck
from .newton import NoConvergence
from .step import Single, Solved, Station, Step

PAIR = np.array([0.5, 0.5])


class Pairs(Composed):
    """Pairs of equal steps with an estimate of their error.

    A mean velocity over a step of h differs from the velocity in its middle by h²/24 of its second derivative, and
    Cayley's update turns by (hω)³/12 less than ω does: with δ = h²/24 v̄″ + h²/12 |ω|²ω, v̄″ by differences of the last
    three mean velocities, the error of a pair is

        ε = √(δ̂ᵀMδ̂ / (2 E)) / rtol,   δ̂ = (M + ¼h²K + …)⁻¹ M δ,

    and at least a tenth of the same with the velocity M⁻¹GᵀS⁻¹Δe that the pair adds to the defect of the constraints.
    E is the largest kinetic energy of the run, or atol where that is larger. The matrix is the step's Jacobian: δ̂
    keeps the constraints, and modes that h does not resolve count by 4/(hω)², so that they do not force their
    resolution as long as their part of the energy is small.
    """

    def __init__(self, single: Single, tolerance: Tolerance) -> None:
        super().__init__(single, PAIR, PAIR)
        self.tolerance = tolerance
        self._kinetic = np.array([name.startswith("kinetic ") for name in single.accounts.energy])
        self._largest = tolerance.floor

    def attempt(self, start: Station, h: float, time: float) -> tuple[Step, float]:
        """The pair of steps of h that ends at a time, and its error."""
        first = self.single.solved(start, start.time + h)
        second = self.single.solved(first.step.end, time)
        ends = (start, first.step.end, second.step.end)
        energy = max(self._largest, *(float(s.energy[self._kinetic].sum()) for s in ends))
        pair, left = self._joined(start, first, second)
        found = max(self._energy(start, h, second), left / LEFT**2)
        error = math.sqrt(found / energy) / self.tolerance.relative if found > 0.0 else 0.0
        if error <= 1.0:
            self._largest = energy
        return pair, error

    def to(self, start: Station, time: float) -> Step:
        """The pair from a station to a time [s]; raises NoConvergence."""
        first = self.single.solved(start, 0.5 * (start.time + time))
        return self._joined(start, first, self.single.solved(first.step.end, time))[0]

    def _joined(self, start: Station, first: Solved, second: Solved) -> tuple[Step, float]:
        """Both steps as one, and the velocity defect that they leave reflected where the next pair would add to it.

        A pair adds about h³ċ to the defect, c h² being what a single step leaves: over many pairs that would add up.
        Its kinetic energy [J] is returned with them.
        """
        pair = as_one(start, [first.step, second.step], self.shares, self.weights)
        pair = pair._replace(audit=np.append(pair.audit[:5], [2, 0]))
        end = pair.end.place
        if not end.defect.size:
            return pair, 0.0
        added = end.defect - start.place.defect
        found = answer(self.accounts, pair, second.prescribed, np.column_stack([end.defect, added]))
        if found.mu[:, 0] @ added > 0.0:
            pair = struck(self.accounts, pair, second, 2.0, found)
        return pair, 0.5 * float(found.mu[:, 1] @ added)

    def _energy(self, start: Station, h: float, last: Solved) -> float:
        """½ δ̂ᵀMδ̂ [J]."""
        end = last.step.end.place.c
        delta = h * h / 24.0 * self._second_derivative(start, h, last)
        v, omega, du = self.single.velocities(delta)
        mean = last.taken.means.omega
        omega = omega + h * h / 12.0 * (mean**2).sum(axis=1, keepdims=True) * mean
        p_v, p_r, p_u = self._momentum(end, v, omega, du)
        rows = last.prescribed.combined(np.zeros(self.single.rows_of_g))
        smooth = last.taken.solve(Means(2.0 * p_v, 2.0 * p_r, 2.0 * p_u, rows))
        twice = zip(smooth[:3], self._momentum(end, *smooth[:3]), strict=True)
        return 0.5 * abs(sum(float(np.vdot(p, q)) for p, q in twice))

    def _second_derivative(self, start: Station, h: float, last: Solved) -> Array:
        """v̄″, from the last mean velocities before the pair, or the velocities at the start, and its own two."""
        rows = self.single.mean_velocities(last.step.end.memory)
        if len(start.memory):
            before, apart = rows[-3], 0.5 * (h + start.memory[-1, -1])
        else:
            c = start.place.c
            before, apart = np.concatenate([c.v.ravel(), c.omega.ravel(), c.du]), 0.5 * h
        made: Array = 2.0 * ((rows[-1] - rows[-2]) / h - (rows[-2] - before) / apart) / (h + apart)
        return made

    def _momentum(self, c: Configuration, v: Array, omega: Array, du: Array) -> tuple[Array, Array, Array]:
        a = self.single.arrays
        p_r, p_u = momenta(a, omega, c.u, du, inertia_products(a, c.u), inertia_products(a, du))
        return a.mass[:, None] * v, p_r, p_u


class Pace:
    """The size of the steps of a run under way: chosen for pairs, so that they meet the saved times."""

    def __init__(self, pairs: Pairs, first: Station, grid: Array) -> None:
        span = float(grid[-1] - grid[0])
        smallest = max(SMALLEST * span, RESOLVED * float(np.spacing(np.abs(grid).max())))
        self.pairs, self.controller = pairs, Controller(order=2.0, smallest=smallest)
        known = abs(float(first.memory[-1, -1])) if len(first.memory) else math.inf
        self.h, self.last, self.longest = max(min(FIRST * span, known), smallest), 1.0, 0.0

    def advance(self, station: Station, time: float, book: Callable[[Station, Step], Station | None]) -> None:
        """Pairs from a station to a time; ``book`` gives the station they are kept at, None where a run has ended."""
        at: Station | None = station
        rejected = 0
        while at is not None and at.time < time:
            count = max(1, math.ceil((time - at.time) / (2.0 * self.h * (1.0 + FITS))))
            h = (time - at.time) / (2.0 * count)
            pair, error, cause = self._attempt(at, h, time if count == 1 else at.time + 2.0 * h)
            try:
                self.h, accepted = self.controller.propose(h, error, self.last)
            except ArithmeticError as small:
                raise NoPace(f"{small}: {cause}", at.time) from None
            if pair is None or not accepted:
                rejected += 2
                continue
            pair = pair._replace(audit=np.append(pair.audit[:6], rejected))
            self.last, self.longest, rejected = error, max(self.longest, h), 0
            at = book(at, pair)

    def _attempt(self, at: Station, h: float, time: float) -> tuple[Step | None, float, str]:
        try:
            pair, error = self.pairs.attempt(at, h, time)
        except NoConvergence as failed:
            return None, math.inf, str(failed)
        return pair, error, f"the error is still {error:.1f} times the tolerance"
