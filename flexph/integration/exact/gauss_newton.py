"""The Newton iteration of a step of Gauss collocation: of all its nodes together."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from scipy.linalg import lapack

from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.convergence.progress import Progress
from ...kernels.convergence.rules import settled_at
from ...kernels.convergence.tolerances import NEWTON, TINY
from ...kernels.gauss.collocation import Collocation
from ...kernels.gauss.stage_jacobian import stage_jacobian
from ...kernels.gauss.stages import Given, Onset, Stages
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed

LIMITS = NEWTON._replace(slow=0.2, many=5.0)
"""The tolerances of a step of the exact scheme, with a Jacobian that costs as much as two or three iterations."""


GROWN = 10.0
"""Correction, over the largest of the first two, from which a nearly singular Jacobian throws an iteration off."""

LEAST_CHANGE = 1e-15
"""Change of the unknowns, and of the sum of squares, at which the search in a trust region ends."""

FAR = 1e150
"""What stands for a defect that is not finite there."""

EVALUATIONS = 200
"""Most evaluations of the equations in it."""


class Problem(NamedTuple):
    """A step: the equations, where it starts, and what time prescribes at its nodes."""

    k: Collocation
    at: Onset
    given: Given


class Solution(NamedTuple):
    """A solved step."""

    stages: Stages
    iterations: int


class _Tried(NamedTuple):
    stages: Stages
    defect: Array


def solve(step: Problem, guess: Array) -> Solution:
    """Newton's method with a Jacobian that is kept while it converges fast, to stagnation; raises StepFailed.

    ``guess`` and the unknowns are rows as of :meth:`Collocation.unpack`. Near a singular pose a Jacobian that is kept
    leads astray: where the iteration fails, each iterate has its own; where that fails too, corrections stay in a trust
    region.
    """
    failed = 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a diverging iteration says so itself
        for keeps in (True, False):
            try:
                solution = _attempt(step, guess, keeps=keeps)
            except StepFailed as error:
                failed, reason = failed + error.iterations, error
            else:
                return solution._replace(iterations=failed + solution.iterations)
        stages, evaluations = _in_trust_region(step, guess)
    if stages is None:
        raise reason
    return Solution(stages, failed + evaluations)


def _in_trust_region(step: Problem, guess: Array) -> tuple[Stages | None, int]:
    """The stages by Levenberg and Marquardt's method, None where they are not balanced, and how often it evaluates.

    Equations are taken over the largest entry of their row of the Jacobian at the guess.
    """
    k, at, given = step

    def residual(y: Array) -> Array:
        defect: Array = k.residual(at, y.reshape(guess.shape), given)[0].ravel() / rows
        return np.nan_to_num(defect, nan=FAR, posinf=FAR, neginf=-FAR)

    def jacobian(y: Array) -> Array:
        matrix: Array = stage_jacobian(k, at, k.stages(at, k.unpack(y.reshape(guess.shape), at.h), given), given)
        return matrix

    rows = np.abs(jacobian(guess)).max(axis=1)
    tolerances = dict.fromkeys(("ftol", "xtol", "gtol"), LEAST_CHANGE)
    try:
        end = scipy.optimize.least_squares(
            residual, guess.ravel(), lambda y: jacobian(y) / rows[:, None], method="lm", x_scale="jac",
            max_nfev=EVALUATIONS, **tolerances,
        )  # fmt: skip
    except (ValueError, np.linalg.LinAlgError):  # not finite at the guess, or no rotation at a node
        return None, 0
    defect, stages = k.residual(at, end.x.reshape(guess.shape), given)
    return (stages if _imbalance(step, stages, defect) <= LIMITS.balanced else None), end.nfev


def _attempt(step: Problem, guess: Array, *, keeps: bool) -> Solution:
    tried: list[_Tried] = []
    try:
        return _iterate(step, guess, tried, keeps=keeps)
    except (StepFailed, np.linalg.LinAlgError) as error:
        stages = _balanced(step, tried) if tried else None
        if stages is not None:
            return Solution(stages, len(tried))
        if isinstance(error, StepFailed):
            raise
        raise StepFailed("the iteration diverged", len(tried), np.inf) from None  # no rotation at a node


def _iterate(step: Problem, y: Array, tried: list[_Tried], *, keeps: bool) -> Solution:
    """Adds every iterate to those that were tried."""
    k, at, given = step
    defect, t = k.residual(at, y, given)
    lu: tuple[Array, Array] | None = None
    progress, largest, scale, settled = Progress(), 0.0, TINY, settled_at(y[:, : at.c.du.size].size)
    for iteration in range(1, LIMITS.iterations + 1):
        tried.append(_Tried(t, defect))
        if lu is None:
            jacobian, progress = stage_jacobian(k, at, t, given), progress._replace(used=0)
            lu = _factor(jacobian, iteration, progress.size)
        correction = lapack.dgetrs(*lu, defect.ravel(), trans=1)[0].reshape(y.shape)
        work = float(np.vdot(np.abs(correction), np.abs(defect)))
        if iteration <= 2:
            largest, scale = max(largest, work), _energy_scale(k, at, t)
        size = math.sqrt(work / max(largest, scale)) if math.isfinite(work) else math.nan
        if not size <= GROWN:
            raise StepFailed("the iteration diverged", iteration, size)
        progress, y = progress.corrected(size), y - correction
        t = k.stages(at, k.unpack(y, at.h), given)
        if progress.settles(settled):
            return Solution(t, iteration)
        defect = k.defects(at, t, given)
        if progress.stagnates:
            stages = _balanced(step, [*tried, _Tried(t, defect)], size)
            if stages is not None:
                return Solution(stages, iteration)
        if not keeps or progress.is_slow(LIMITS):
            lu = None
    raise StepFailed("the iteration did not settle", LIMITS.iterations, progress.size)


def _balanced(step: Problem, tried: list[_Tried], size: float = np.inf) -> Stages | None:
    """Where an iteration no longer improves: its last iterate, or one that is much better balanced.

    None if none is balanced to round-off, unless the last correction was of that ``size`` and did not help.
    Where a step ends in a singular pose its Jacobian is singular, and corrections are round-off that is blown up.
    """
    imbalances = np.nan_to_num([_imbalance(step, *one) for one in tried], nan=np.inf)
    best = int(np.argmin(imbalances))
    if imbalances[best] > LIMITS.balanced and not (size <= LIMITS.stagnated and best < len(tried) - 1):
        return None
    return tried[best if imbalances[best] < LIMITS.better * imbalances[-1] else -1].stages


def _imbalance(step: Problem, t: Stages, defect: Array) -> float:
    """Defects over the largest of the terms that they are sums of, of momenta and of constraints."""
    a, h, rows = step.k.arrays, step.at.h, step.k.unpack(defect, step.at.h)
    parts = (
        (rows.v, a.mass[:, None] * np.abs(t.x.v) + h * (np.abs(a.weight) + np.abs(a.sum_points @ t.node_force))),
        (rows.spin, np.abs(t.momentum) + h * np.abs(t.torque)),
        (rows.du, np.abs(t.Pdu[:, 0])),
    )
    opened = float(np.max(h**2 * np.abs(rows.lam) / constraint_sizes(a, step.at.d.vector), initial=0.0))
    return float(np.max([np.abs(r).max(initial=0.0) / max(x.max(initial=0.0), TINY) for r, x in parts], initial=opened))


def _factor(jacobian: Array, iteration: int, size: float) -> tuple[Array, Array]:
    lu, pivots, info = lapack.dgetrf(jacobian.T, overwrite_a=True)  # by columns it is its transpose by rows
    if info > 0:
        raise StepFailed("the Jacobian of the step is singular", iteration, size)
    return lu, pivots


def _energy_scale(k: Collocation, at: Onset, t: Stages) -> float:
    """Kinetic and elastic energy of the step and the work of its weights [J]."""
    a, x = k.arrays, t.x
    total = float((a.mass[:, None] * x.v**2).sum() + at.h * np.abs(a.weight * x.v).sum())
    total += float(np.abs(t.omega * np.matvec(t.J, t.omega)).sum())
    if x.du.size:
        total += float(np.abs(x.du * t.Pdu[:, 0]).sum() + np.abs(t.stress * (t.stress @ a.compliance.T)).sum())
    return max(total / len(t.u), TINY)
