"""The Newton iteration of one step."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.jacobian import factor, flatten
from ...kernels.resolution import RESOLUTION, coordinate_size, unresolved_energy
from ...kernels.rolling import rates, squares
from ...kernels.springs import reversed_rates
from ...kernels.state import Configuration, Derived, constraint_sums, node_velocities, product_changes
from ...kernels.step import end_momenta, residual
from ...kernels.tolerances import (
    BALANCED,
    BETTER,
    CLOSED,
    COARSE,
    FORGOTTEN,
    MAX_ITERATIONS,
    NOISE,
    SEARCHES,
    SETTLED,
    STAGNATED,
    TINY,
    is_slow,
    settled_at,
    settles,
    stagnates,
)
from ...kernels.values import Means, Point, Schedule, SingularStep, Solve, Trial
from ...numerics.arrays import Array
from ...numerics.rotations import turned_spins
from ...numerics.step_failed import StepFailed

LEFT_OVER = 0.3
"""Work of the defects along a correction, over that at its beginning, at which a search along it ends."""


class Converged(NamedTuple):
    """A solved step."""

    means: Means
    trial: Trial
    iterations: int
    solve: Solve  # the last Jacobian, factored


def solve_step(
    a: Arrays, start: Configuration, known: Derived, h: float, schedule: Schedule, guess: Means
) -> Converged:
    """Solve the step by Newton's method with a Jacobian that is kept while it converges fast.

    Corrections δ are measured by √(|δ|·|r|), which has the square root of an energy as unit and does not see velocities
    that are ill-determined (singular poses). Iterates to stagnation; bodies at rest, whose velocities are round-off of
    positions, take one correction. Raises StepFailed. Where round-off of positions keeps it from converging,
    constraints g(q₁) = 0 become Δg = 0, whose increments are known more exactly.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging iteration says so itself
        try:
            return _iterate(a, start, known, h, schedule, guess)
        except StepFailed:
            if not a.springs.relations:
                raise
        return _search(a, start, known, h, schedule, guess)


def _search(a: Arrays, start: Configuration, known: Derived, h: float, schedule: Schedule, guess: Means) -> Converged:
    """Solve a step in which many relations change together: each correction goes only as far as it does work.

    The momentum defects r are, but for a small rest, the gradient of a function of the mean velocities that is convex
    where no relation falls; along a correction δ from x it has the slope −δ·r(x − θδ), and its minimum where that is
    zero. There θ is taken, and the Jacobian made anew: Newton's method with a line search. Raises StepFailed.
    """
    x = guess
    defect, trial = residual(a, start, known, h, x, schedule)
    largest, size, previous, sizes = TINY, np.inf, np.inf, gap_sizes(a, known, schedule)
    for iteration in range(1, SEARCHES + 1):
        at = Point(start, known, h, schedule, trial)
        try:
            solve = factor(a, at)
        except SingularStep as error:
            raise StepFailed(str(error), iteration, size) from None
        correction = solve(defect)
        work = _work(a, defect, correction)
        largest = max(work if iteration == 1 else largest, _energy_scale(a, known, h, x, trial))
        size, previous = math.sqrt(work / largest), size
        if not math.isfinite(size):
            raise StepFailed("the iteration diverged", iteration, size)
        share, x, defect, trial, _ = _along(a, at, x, defect, correction)
        expected = size if math.isinf(previous) else size * min(1.0, size / previous)
        if size <= NOISE * flatten(a, x).size or (share == 1.0 and expected <= SETTLED):
            if is_open(trial, sizes):
                raise StepFailed("the iteration ended away from the constraints", iteration, size)
            return Converged(x, trial, MAX_ITERATIONS + iteration, solve)
    raise StepFailed("the iteration did not settle", MAX_ITERATIONS + SEARCHES, size)


class _Reached(NamedTuple):
    """How far a correction was followed, what is there, and the work that its defects do along the correction [J]."""

    share: float
    x: Means
    defect: Means
    trial: Trial
    work: float


def _along(a: Arrays, at: Point, x: Means, defect: Means, correction: Means) -> _Reached:
    """All of a correction, or to where it does no more work.

    By false position between ends of different sign, the value of an end that stays twice being halved.
    """
    direction = flatten(a, correction)

    def to(share: float) -> _Reached:
        y = Means(*(p - share * q for p, q in zip(x, correction, strict=True)))
        defects, trial = residual(a, at.start, at.known, at.h, y, at.schedule)
        return _Reached(share, y, defects, trial, float(direction @ flatten(a, defects)))

    before, reached = float(direction @ flatten(a, defect)), to(1.0)
    if not (before > 0.0 and reached.work < -LEFT_OVER * before):
        return reached
    low, high, left, right = 0.0, 1.0, before, reached.work
    for _ in range(MAX_ITERATIONS):
        reached = to(low + (high - low) * left / (left - right))
        if abs(reached.work) <= LEFT_OVER * before:
            break
        if reached.work > 0.0:
            low, left, right = reached.share, reached.work, 0.5 * right
        else:
            high, right, left = reached.share, reached.work, 0.5 * left
    return reached


def _iterate(a: Arrays, start: Configuration, known: Derived, h: float, schedule: Schedule, guess: Means) -> Converged:
    x, by_increments = guess, False
    defect, trial = residual(a, start, known, h, x, schedule)
    solve: Solve | None = None
    previous = size = np.inf
    largest, used, scale, scaled = 0.0, 0, TINY, False
    best, best_size = (x, trial), np.inf
    settled, extent, sizes = settled_at(x.du.size), coordinate_size(a, start.r), gap_sizes(a, known, schedule)
    unresolved = unresolved_energy(a.resolution, extent, h)
    for iteration in range(1, MAX_ITERATIONS + 1):
        if solve is None:
            try:
                solve = factor(a, Point(start, known, h, schedule, trial))
            except SingularStep as error:
                raise StepFailed(str(error), iteration, size) from None
            used = 0
        correction = solve(defect)
        work = _work(a, defect, correction)
        largest = max(largest, work)  # from rest, the first correction is all the energy there is
        if iteration <= 2 or not scaled:  # after one correction the motion is known well enough to compare with
            scale, scaled = _energy_scale(a, known, h, x, trial), True
        size = math.sqrt(work / max(largest, scale))
        if not math.isfinite(size):
            raise StepFailed("the iteration diverged", iteration, size)
        if size < best_size:
            best, best_size = (x, trial), size
        at_rest = work <= unresolved and _kinetic_energy(a, trial) <= unresolved
        x, before = Means(*(p - q for p, q in zip(x, correction, strict=True))), trial.measured
        defect, trial = residual(a, start, known, h, x, schedule)
        if a.springs.relations:
            stuck = _stuck(a, before.extension / h, trial.measured.extension / h, schedule)
            if stuck is not None or schedule.stuck is not None:
                schedule = schedule._replace(stuck=stuck)
                defect, trial = residual(a, start, known, h, x, schedule)
                solve, previous, largest, scaled = None, np.inf, 0.0, False  # what led astray is no measure
                best_size = np.inf
                continue
        if by_increments:
            defect = defect._replace(lam=increment_of_gap(a, Point(start, known, h, schedule, trial), x))
        used += 1
        stalls = stagnates(size, previous)
        if stalls and size > COARSE and not by_increments and not is_open(trial, sizes):
            by_increments, solve, previous = True, None, np.inf
            defect = defect._replace(lam=increment_of_gap(a, Point(start, known, h, schedule, trial), x))
            continue
        solved = at_rest or settles(size, previous, used, settled)
        if not solved and stalls:
            small = size <= STAGNATED or _below_resolution(extent, h, correction)
            solved = small or is_balanced(a, h, defect, trial, sizes)
        if solved:
            if stalls and best_size < BETTER * size:
                x, trial = best
            if is_open(trial, sizes):
                raise StepFailed("the iteration ended away from the constraints", iteration, size)
            return Converged(x, trial, iteration, solve)
        if is_slow(size, previous, used):
            solve = None
        previous = size
    raise StepFailed("the iteration did not settle", MAX_ITERATIONS, size)


def _stuck(a: Arrays, before: Array, after: Array, schedule: Schedule) -> Array | None:
    """Relations whose tangents lead across rest, of those that are not taken by that at rest already; None of none."""
    turning = reversed_rates(a.springs, before, after)
    if schedule.stuck is not None:
        turning = turning & ~schedule.stuck
    return turning if turning.any() else None


def gap_sizes(a: Arrays, known: Derived, schedule: Schedule) -> Array:
    """What the gaps of a step are compared with, (g,): sizes of constraints, or of their independent combinations."""
    sizes, own = constraint_sizes(a, known.vector), schedule.independent
    return sizes if own is None else abs(own.spread).T @ sizes


def is_open(trial: Trial, sizes: Array) -> bool:
    """Whether the end of a step misses the constraints by more than round-off of what they measure."""
    return not np.all(np.abs(trial.gap) <= CLOSED * sizes)


def increment_of_gap(a: Arrays, at: Point, x: Means) -> Array:
    """Δg from the way of the nodes, with the gap at the start forgotten little by little.

    Round-off of g(q₁) is that of positions ε; of Δg it is that of the way, ε h|v|: to that the work of multipliers is
    balanced that are large near a singular pose.
    """
    known, h, s, t = at.known, at.h, at.schedule, at.trial
    frame = np.swapaxes(t.inverse, 1, 2)
    moved = a.incidence @ (h * node_velocities(a, x.v, x.omega, x.du, frame, t.lever))
    by_motion, rows = product_changes(a, moved, t.vector_mean), s.offset_1.size
    turned = s.coefficient_1 - s.coefficient_0
    change = constraint_sums(a, by_motion, s.coefficient_mean, s.offset_1 - s.offset_0)
    change += constraint_sums(a, 0.5 * (known.product + t.product), turned, np.zeros(rows))
    change += rates(a.rolling, t.gain, by_motion, h * turned_spins(at.start.R, x.omega), rows)
    left = constraint_sums(a, known.product, s.coefficient_0, s.offset_0) + squares(a, known.product, rows)
    increment: Array = s.combined(change + FORGOTTEN * left)
    return increment


def is_balanced(a: Arrays, h: float, defect: Means, trial: Trial, sizes: Array) -> bool:
    """Whether momenta and constraints are in balance to round-off of the terms that they are sums of."""
    push, (p_r, p_u) = a.mass[:, None] * np.abs(trial.end.v), end_momenta(a, trial)
    terms = (
        (defect.v, push + abs(h) * (np.abs(a.weight) + np.abs(trial.force))),
        (defect.omega, np.abs(p_r) + abs(h) * np.abs(trial.torque)),
        (defect.du, np.abs(p_u)),
    )
    closed = bool(np.all(np.abs(defect.lam) <= BALANCED * sizes))
    return closed and all(np.abs(r).max(initial=0.0) <= BALANCED * t.max(initial=0.0) for r, t in terms)


def _kinetic_energy(a: Arrays, t: Trial) -> float:
    """Kinetic energy at a trial end [J]."""
    (p_r, p_u), c = end_momenta(a, t), t.end
    doubled = np.vdot(a.mass[:, None] * c.v, c.v) + np.vdot(p_r, c.omega) + np.vdot(p_u, c.du)
    return 0.5 * float(doubled)


def _below_resolution(size: float, h: float, correction: Means) -> bool:
    """Whether a correction moves nothing by more than a few round-offs of positions, whose ``size`` is given."""
    moved = abs(h) * max(np.abs(correction.v).max(initial=0.0), np.abs(correction.du).max(initial=0.0))
    turned = abs(h) * np.abs(correction.omega).max(initial=0.0)
    return bool(moved <= RESOLUTION * size and turned <= RESOLUTION)


def _work(a: Arrays, defect: Means, correction: Means) -> float:
    """Work of the defects along a correction, every entry counted positive [J]."""
    momentum = _absolute(flatten(a, correction), flatten(a, defect))
    return momentum + _absolute(correction.lam, defect.lam)


def _absolute(x: Array, y: Array) -> float:
    """Σ |x y|."""
    return float(np.vdot(np.abs(x), np.abs(y)))


def _energy_scale(a: Arrays, known: Derived, h: float, x: Means, t: Trial) -> float:
    """Kinetic and elastic energy of the step and the work of its loads [J]."""
    c, mass = t.end, a.mass[:, None]
    total = _absolute(x.v, mass * np.abs(x.v) + h * (np.abs(a.weight) + np.abs(t.force))) + _absolute(mass * c.v, c.v)
    total += _absolute(x.omega, np.abs(known.p_r) + h * np.abs(t.torque))
    if x.du.size:
        total += _absolute(x.du, known.p_u) + _absolute(c.sigma, a.compliance @ c.sigma)
    return max(total, TINY)
