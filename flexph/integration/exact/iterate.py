"""Iterates of a step, and what is judged of them: work of corrections, energies, gaps and balances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.convergence.tolerances import NEWTON, RESOLUTION, TINY
from ...kernels.jacobians.blocks import flatten
from ...kernels.jacobians.factor import factor
from ...kernels.jacobians.mixed import corrected_stresses, with_stresses
from ...kernels.rates.on_curves import curve_gaps, curve_sums
from ...kernels.rolling import rates, squares
from ...kernels.state import constraint_sums, node_velocities, product_changes
from ...kernels.step import end_momenta, residual
from ...kernels.values import Means, Point, SingularStep, Solve, Step, Trial
from ...numerics.arrays import Array
from ...numerics.rotations import turned_spins
from ...numerics.step_failed import StepFailed


class Iterate(NamedTuple):
    """An iterate of a step: mean velocities and multipliers, their defects, and the trial end.

    ``stresses`` (m,) are those that its Jacobian is taken with (:mod:`kernels.jacobians.mixed`), (0,) for its own ones.
    """

    step: Step
    x: Means
    defect: Means
    trial: Trial
    stresses: Array

    @property
    def point(self) -> Point:
        """Where its Jacobian is taken."""
        return Point(*self.step, self.trial)


def evaluated(
    a: Arrays, step: Step, x: Means, *, stresses: Array | None = None, mixed: bool = False, by_increments: bool = False
) -> Iterate:
    """An iterate with its defects, those of the constraints by their increments where these are known more exactly.

    ``stresses`` by default are those at the start of the step, of a ``mixed`` iteration and that of strain rows.
    """
    defect, trial = residual(a, step, x)
    if by_increments:
        defect = defect._replace(lam=increment_of_gap(a, Point(*step, trial), x))
    if stresses is None:
        stresses = step.start.sigma if mixed or a.strains.stress.size else np.zeros(0)
    return Iterate(step, x, defect, trial, stresses)


def stresses_after(a: Arrays, iterate: Iterate, correction: Means) -> Array:
    """Stresses after a correction of an iterate, to first order (m,), where its Jacobian is not taken with its own."""
    return corrected_stresses(a, iterate.point, correction) if iterate.stresses.size else iterate.stresses


def factored(a: Arrays, iterate: Iterate, iteration: int, size: float) -> Solve:
    """The Jacobian at an iterate, factored; raises StepFailed where it is singular."""
    at = with_stresses(a, iterate.point, iterate.stresses) if iterate.stresses.size else iterate.point
    try:
        return factor(a, at)
    except SingularStep as error:
        raise StepFailed(str(error), iteration, size) from None


def minus(x: Means, correction: Means, share: float = 1.0) -> Means:
    """The means after a share of a correction."""
    return Means(*(p - share * q for p, q in zip(x, correction, strict=True)))


def gap_sizes(a: Arrays, step: Step) -> Array:
    """What the gaps of a step are compared with, (g,): sizes of constraints, or of their independent combinations."""
    sizes, own = constraint_sizes(a, step.known.vector), step.schedule.independent
    return sizes if own is None else abs(own.spread).T @ sizes


def is_open(trial: Trial, sizes: Array) -> bool:
    """Whether the end of a step misses the constraints by more than round-off of what they measure."""
    return not np.all(np.abs(trial.gap) <= NEWTON.closed * sizes)


def increment_of_gap(a: Arrays, at: Point, x: Means) -> Array:
    """Δg from the way of the nodes, with the gap at the start forgotten little by little.

    Round-off of g(q₁) is that of positions ε; of Δg it is that of the way, ε h|v|: to that the work of multipliers is
    balanced that are large near a singular pose.
    """
    known, h, s, t = at.known, at.h, at.schedule, at.trial
    moved = a.incidence @ (h * node_velocities(a, x, np.swapaxes(t.inverse, 1, 2), t.lever))
    by_motion, rows = product_changes(a, moved, t.vector_mean), s.offset_1.size
    turned = s.coefficient_1 - s.coefficient_0
    change = constraint_sums(a, by_motion, s.coefficient_mean, s.offset_1 - s.offset_0)
    change += constraint_sums(a, 0.5 * (known.product + t.product), turned, np.zeros(rows))
    change += rates(a.rolling, t.gain, by_motion, h * turned_spins(at.start.R, x.omega))
    change += curve_sums(a.curves, t.on_curves, by_motion, rows)
    left = constraint_sums(a, known.product, s.coefficient_0, s.offset_0) + squares(a, known.product)
    left += curve_gaps(a.curves, known.on_curves, rows)
    increment: Array = s.combined(change + NEWTON.forgotten * left)
    return increment


def is_balanced(a: Arrays, iterate: Iterate, sizes: Array) -> bool:
    """Whether momenta and constraints are in balance to round-off of the terms that they are sums of."""
    defect, trial, h = iterate.defect, iterate.trial, abs(iterate.step.h)
    push, (p_r, p_u) = a.mass[:, None] * np.abs(trial.end.v), end_momenta(a, trial)
    terms = (
        (defect.v, push + h * (np.abs(a.weight) + np.abs(trial.force))),
        (defect.omega, np.abs(p_r) + h * np.abs(trial.torque)),
        (defect.du, np.abs(p_u)),
    )
    closed = bool(np.all(np.abs(defect.lam) <= NEWTON.balanced * sizes))
    return closed and all(np.abs(r).max(initial=0.0) <= NEWTON.balanced * t.max(initial=0.0) for r, t in terms)


def kinetic_energy(a: Arrays, t: Trial) -> float:
    """Kinetic energy at a trial end [J]."""
    (p_r, p_u), c = end_momenta(a, t), t.end
    doubled = np.vdot(a.mass[:, None] * c.v, c.v) + np.vdot(p_r, c.omega) + np.vdot(p_u, c.du)
    return 0.5 * float(doubled)


def below_resolution(size: float, h: float, correction: Means) -> bool:
    """Whether a correction moves nothing by more than a few round-offs of positions, whose ``size`` is given."""
    moved = abs(h) * max(np.abs(correction.v).max(initial=0.0), np.abs(correction.du).max(initial=0.0))
    turned = abs(h) * np.abs(correction.omega).max(initial=0.0)
    return bool(moved <= RESOLUTION * size and turned <= RESOLUTION)


def correction_work(a: Arrays, defect: Means, correction: Means) -> float:
    """Work of the defects along a correction, every entry counted positive [J]."""
    momentum = _absolute(flatten(a, correction), flatten(a, defect))
    return momentum + _absolute(correction.lam, defect.lam)


def _absolute(x: Array, y: Array) -> float:
    """Σ |x y|."""
    return float(np.vdot(np.abs(x), np.abs(y)))


def motion_energy(a: Arrays, iterate: Iterate) -> float:
    """Kinetic energy of the step, elastic energy at its start, and the work of its loads, twice of each [J]."""
    step, x, t, mass = iterate.step, iterate.x, iterate.trial, a.mass[:, None]
    h, known, c, stress = step.h, step.known, t.end, step.start.sigma
    total = _absolute(x.v, mass * np.abs(x.v) + h * (np.abs(a.weight) + np.abs(t.force))) + _absolute(mass * c.v, c.v)
    total += _absolute(x.omega, np.abs(known.p_r) + h * np.abs(t.torque))
    if x.du.size:
        total += _absolute(x.du, known.p_u)
    if stress.size:
        total += float(np.vdot(stress, a.compliance @ stress))
    return max(total, TINY)
