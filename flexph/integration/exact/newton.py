"""The Newton iteration of one step."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.convergence.progress import Progress
from ...kernels.convergence.rules import settled_at, unresolved_energy
from ...kernels.convergence.tolerances import NEWTON, TINY
from ...kernels.jacobians.blocks import flatten
from ...kernels.resolution import coordinate_size
from ...kernels.springs import reversed_rates
from ...kernels.values import Means, Solve, Step, Trial
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from .iterate import (
    Iterate,
    below_resolution,
    correction_work,
    evaluated,
    factored,
    gap_sizes,
    is_balanced,
    is_open,
    kinetic_energy,
    minus,
    motion_energy,
    stresses_after,
)

SHORTEST = 1e-3
"""Share of a correction below which no shorter one is tried."""
LEFT_OVER = 0.3
"""Work of the defects along a correction, over that at its beginning, at which a search along it ends."""


class Converged(NamedTuple):
    """A solved step."""

    means: Means
    trial: Trial
    iterations: int
    solve: Solve  # the last Jacobian, factored


def solve_step(a: Arrays, step: Step, guess: Means) -> Converged:
    """Solve the step by Newton's method with a Jacobian that is kept while it converges fast.

    Corrections δ are measured by √(|δ|·|r|), which has the square root of an energy as unit and does not see velocities
    that are ill-determined (singular poses). Iterates to stagnation; bodies at rest, whose velocities are round-off of
    positions, take one correction. Raises StepFailed. Where round-off of positions keeps it from converging,
    constraints g(q₁) = 0 become Δg = 0, whose increments are known more exactly. Bodies of von Kármán strain whose step
    is not settled so take the mixed iteration, which needs a Jacobian for each correction.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging iteration says so itself
        try:
            return _iterate(a, step, guess)
        except StepFailed as failed:
            if a.slopes.shape[0] and not a.strains.stress.size:
                with suppress(StepFailed):
                    settled = _iterate(a, step, guess, mixed=True)
                    return settled._replace(iterations=failed.iterations + settled.iterations)
            if not (a.springs.relations or a.slips.relations or a.strains.laws or a.contacts.laws.stiffness.any()):
                raise
        return _search(a, step, guess)


# --- Newton's method --------------------------------------------------------------------------------------------------


class _Limits(NamedTuple):
    """What the corrections of a step are compared with.

    ``settled`` is the expected next correction at which they end, ``extent`` the largest coordinate [m], ``unresolved``
    the energy of motions that positions do not tell from rest [J], ``gaps`` the sizes of the constraints (g,).
    """

    settled: float
    extent: float
    unresolved: float
    gaps: Array


def _limits(a: Arrays, step: Step) -> _Limits:
    extent = coordinate_size(a, step.start.r)
    m, J, k, k_phi = a.resolution.tolist()
    unresolved = unresolved_energy(m, J, k, k_phi, extent, step.h)
    return _Limits(settled_at(step.start.du.size), extent, unresolved, gap_sizes(a, step))


class _Scale(NamedTuple):
    """Energies that the work of a correction is compared with [J]; zero where they are not known yet.

    ``largest`` is the largest work of a correction: from rest, the first one is all the energy there is.
    """

    largest: float = 0.0
    motion: float = 0.0


def _rescaled(a: Arrays, iterate: Iterate, work: float, scale: _Scale, *, first: bool) -> _Scale:
    """The scale with one more correction; after the ``first`` two the motion is known well enough to compare with."""
    if _may_penetrate(a):
        scale = _Scale()
    motion = 0.0 if first else scale.motion
    return _Scale(max(scale.largest, work), motion or motion_energy(a, iterate))


def _may_penetrate(a: Arrays) -> bool:
    """Whether an iterate may be deep in a contact, with energies that the motion never has: they are no measure."""
    return bool(a.contacts.laws.stiffness.any())


class _Best(NamedTuple):
    """The iterate with the smallest correction so far."""

    iterate: Iterate
    size: float = math.inf


def _iterate(a: Arrays, step: Step, guess: Means, *, mixed: bool = False) -> Converged:
    limits, iterate, by_increments = _limits(a, step), evaluated(a, step, guess, mixed=mixed), False
    progress, scale, best, mixed = Progress(), _Scale(), _Best(iterate), iterate.stresses.size > 0
    solve: Solve | None = None
    for iteration in range(1, NEWTON.iterations + 1):
        if solve is None:
            solve = factored(a, iterate, iteration, progress.size)
            progress = progress if mixed else progress._replace(used=0)  # of new ones each time the rate is known too
        correction = solve(iterate.defect)
        work = correction_work(a, iterate.defect, correction)
        scale = _rescaled(a, iterate, work, scale, first=iteration <= 2)
        progress = progress.corrected(_relative_size(work, scale, iteration))
        best = _Best(iterate, progress.size) if progress.size < best.size else best
        at_rest = work <= limits.unresolved and kinetic_energy(a, iterate.trial) <= limits.unresolved
        before, x, stresses = iterate, minus(iterate.x, correction), stresses_after(a, iterate, correction)
        iterate = evaluated(a, before.step, x, stresses=stresses, by_increments=by_increments)
        stuck = _stuck(a, before, iterate)
        if stuck is not None or before.step.schedule.stuck is not None:
            stuck_step = step._replace(schedule=step.schedule._replace(stuck=stuck))
            iterate = evaluated(a, stuck_step, x, stresses=stresses)
            progress, scale, best, solve = Progress(), _Scale(), _Best(iterate), None  # what led astray is no measure
        elif progress.stagnates and not by_increments and _is_coarse(progress, iterate, limits):
            iterate, by_increments = evaluated(a, iterate.step, x, stresses=stresses, by_increments=True), True
            progress, solve = Progress(), None
        elif at_rest or progress.settles(limits.settled) or _is_round_off(a, progress, limits, (iterate, correction)):
            if progress.stagnates and best.size < NEWTON.better * progress.size:
                iterate = best.iterate
            return _converged(iterate, limits.gaps, (iteration, progress.size), solve)
        elif progress.is_slow() or (mixed and progress.size > NEWTON.mixed):
            solve = None
    raise StepFailed("the iteration did not settle", NEWTON.iterations, progress.size)


def _relative_size(work: float, scale: _Scale, iteration: int) -> float:
    """Size of a correction over that of the motion; raises StepFailed where it is beyond all bounds."""
    size = math.sqrt(work / max(scale))
    if not math.isfinite(size):
        raise StepFailed("the iteration diverged", iteration, size)
    return size


def _is_coarse(progress: Progress, iterate: Iterate, limits: _Limits) -> bool:
    """Whether corrections are larger than round-off of the constraints explains, though these hold."""
    return progress.size > NEWTON.coarse and not is_open(iterate.trial, limits.gaps)


def _is_round_off(a: Arrays, progress: Progress, limits: _Limits, corrected: tuple[Iterate, Means]) -> bool:
    """Whether an iteration that no longer improves has reached the round-off of the problem."""
    iterate, correction = corrected
    return progress.stagnates and (
        progress.size <= NEWTON.stagnated
        or below_resolution(limits.extent, iterate.step.h, correction)
        or is_balanced(a, iterate, limits.gaps)
    )


def _converged(iterate: Iterate, gaps: Array, reached: tuple[int, float], solve: Solve) -> Converged:
    """The solved step, after so many iterations and a last correction of this size; raises StepFailed if it is open."""
    iterations, size = reached
    if is_open(iterate.trial, gaps):
        raise StepFailed("the iteration ended away from the constraints", iterations, size)
    return Converged(iterate.x, iterate.trial, iterations, solve)


def _stuck(a: Arrays, before: Iterate, after: Iterate) -> Array | None:
    """Relations whose tangents lead across rest, of those that are not taken by that at rest already; None of none."""
    if not a.springs.relations:
        return None
    h, stuck = before.step.h, before.step.schedule.stuck
    turning = reversed_rates(a.springs, *(i.trial.measured.extension / h for i in (before, after)))
    if stuck is not None:
        turning = turning & ~stuck
    return turning if turning.any() else None


# --- search along the corrections -------------------------------------------------------------------------------------


def _search(a: Arrays, step: Step, guess: Means) -> Converged:
    """Solve a step in which many relations change together: each correction goes only as far as it does work.

    The momentum defects r are, but for a small rest, the gradient of a function of the mean velocities that is convex
    where no relation falls; along a correction δ from x it has the slope −δ·r(x − θδ), and its minimum where that is
    zero. There θ is taken, and the Jacobian renewed: Newton's method with a line search. Raises StepFailed.
    """
    iterate, gaps, largest, size, previous = evaluated(a, step, guess), gap_sizes(a, step), TINY, math.inf, math.inf
    extent, deep = coordinate_size(a, step.start.r), _may_penetrate(a)
    for iteration in range(1, NEWTON.searches + 1):
        solve = factored(a, iterate, iteration, size)
        correction = solve(iterate.defect)
        work = correction_work(a, iterate.defect, correction)
        largest = max(work if iteration == 1 or deep else largest, motion_energy(a, iterate))
        size, previous = _relative_size(work, _Scale(largest), iteration), size
        share, iterate, _ = _along(a, iterate, correction)
        expected = size if math.isinf(previous) else size * min(1.0, size / previous)
        settled = size <= NEWTON.noise * flatten(a, iterate.x).size or (share == 1.0 and expected <= NEWTON.settled)
        if settled or (size >= previous and below_resolution(extent, step.h, correction)):
            return _converged(iterate, gaps, (iteration, size), solve)._replace(
                iterations=NEWTON.iterations + iteration
            )
    raise StepFailed("the iteration did not settle", NEWTON.iterations + NEWTON.searches, size)


class _Followed(NamedTuple):
    """How far a correction was followed, the iterate there, and the work of its defects along the correction [J]."""

    share: float
    iterate: Iterate
    work: float


def _along(a: Arrays, start: Iterate, correction: Means) -> _Followed:
    """All of a correction, or to where it does no more work.

    By false position between ends of different sign, the value of an end that stays twice being halved.
    """
    direction, stresses = flatten(a, correction), stresses_after(a, start, correction)

    def to(share: float) -> _Followed:
        y = evaluated(a, start.step, minus(start.x, correction, share), stresses=stresses)
        return _Followed(share, y, float(direction @ flatten(a, y.defect)))

    before, followed = float(direction @ flatten(a, start.defect)), to(1.0)
    while not math.isfinite(followed.work) and followed.share > SHORTEST:  # cells turned inside out
        followed = to(0.5 * followed.share)
    if not (before > 0.0 and followed.work < -LEFT_OVER * before):
        return followed
    low, high, left, right = 0.0, 1.0, before, followed.work
    for _ in range(NEWTON.iterations):
        followed = to(low + (high - low) * left / (left - right))
        if abs(followed.work) <= LEFT_OVER * before:
            break
        if followed.work > 0.0:
            low, left, right = followed.share, followed.work, 0.5 * right
        else:
            high, right, left = followed.share, followed.work, 0.5 * left
    return followed
