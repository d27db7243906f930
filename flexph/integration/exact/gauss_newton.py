"""The Newton iteration of a step of Gauss collocation: of all its nodes together."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...kernels.constraint_sizes import constraint_sizes
from ...kernels.gauss.collocation import Collocation
from ...kernels.gauss.stage_jacobian import stage_jacobian
from ...kernels.gauss.stages import Given, Onset, Stages
from ...kernels.tolerances import BALANCED, BETTER, LEAST, MAX_ITERATIONS, NOISE, SETTLED, STAGNATED, TINY, settled_at
from ...numerics.arrays import Array
from .newton import NoConvergence

SLOW, MANY = 0.2, 5.0
"""Reduction by one iteration above which a Jacobian is made anew, and iterations to come above which it is: it costs as
much as two or three of them."""


class Problem(NamedTuple):
    """A step: the equations, where it starts, and what time prescribes at its nodes."""

    k: Collocation
    at: Onset
    given: Given


class Found(NamedTuple):
    """A solved step."""

    stages: Stages
    iterations: int


class _Tried(NamedTuple):
    stages: Stages
    defect: Array


def solve(step: Problem, guess: Array) -> Found:
    """Newton's method with a Jacobian that is kept while it converges fast, to stagnation; raises NoConvergence.

    ``guess`` and the unknowns are rows as of :meth:`Collocation.unpack`. Near a singular pose a Jacobian that is kept
    leads astray: where the iteration fails, each one has its own.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a diverging iteration says so itself
        try:
            return _attempt(step, guess, keeps=True)
        except NoConvergence as error:
            failed = error.iterations
        found = _attempt(step, guess, keeps=False)
    return found._replace(iterations=failed + found.iterations)


def _attempt(step: Problem, guess: Array, *, keeps: bool) -> Found:
    tried: list[_Tried] = []
    try:
        return _iterate(step, guess, tried, keeps=keeps)
    except (NoConvergence, np.linalg.LinAlgError) as error:
        found = _balanced(step, tried) if tried else None
        if found is not None:
            return Found(found, len(tried))
        if isinstance(error, NoConvergence):
            raise
        raise NoConvergence("the iteration diverged", len(tried), np.inf) from None  # no rotation at a node


def _iterate(step: Problem, y: Array, tried: list[_Tried], *, keeps: bool) -> Found:
    """Adds every iterate to those that were tried."""
    k, at, given = step
    defect, t = k.residual(at, y, given)
    lu: tuple[Array, Array] | None = None
    size = previous = np.inf
    largest, used, scale, settled = 0.0, 0, TINY, settled_at(y[:, : at.c.du.size].size)
    for iteration in range(1, MAX_ITERATIONS + 1):
        tried.append(_Tried(t, defect))
        if lu is None:
            lu, used = _factor(stage_jacobian(k, at, t, given), iteration, size), 0
        correction = lapack.dgetrs(*lu, defect.ravel(), trans=1)[0].reshape(y.shape)
        work = float(np.vdot(np.abs(correction), np.abs(defect)))
        largest = max(largest, work)
        if iteration <= 2:
            scale = _energy_scale(k, at, t)
        size = math.sqrt(work / max(largest, scale)) if math.isfinite(work) else math.nan
        if not math.isfinite(size):
            raise NoConvergence("the iteration diverged", iteration, size)
        y = y - correction
        t = k.stages(at, k.unpack(y, at.h), given)
        used += 1
        rate = 1.0 if used == 1 else size / previous if used > 2 else max(LEAST, size / previous)
        stagnates, expected = size > 0.5 * previous, size * min(1.0, rate)
        if expected <= (settled if used > 2 else SETTLED):
            return Found(t, iteration)
        defect = k.defects(at, t, given)
        if stagnates:
            found = _balanced(step, [*tried, _Tried(t, defect)], size)
            if found is not None:
                return Found(found, iteration)
        if not keeps or _is_slow(size, previous, used):
            lu = None
        previous = size
    raise NoConvergence("the iteration did not settle", MAX_ITERATIONS, size)


def _balanced(step: Problem, tried: list[_Tried], size: float = np.inf) -> Stages | None:
    """Where an iteration no longer improves: its last iterate, or one that is much better balanced.

    None if none is balanced to round-off, unless the last correction was of that ``size`` and did not help.
    Where a step ends in a singular pose its Jacobian is singular, and corrections are round-off that is blown up.
    """
    found = np.nan_to_num([_imbalance(step, *one) for one in tried], nan=np.inf)
    best = int(np.argmin(found))
    if found[best] > BALANCED and not (size <= STAGNATED and best < len(tried) - 1):
        return None
    return tried[best if found[best] < BETTER * found[-1] else -1].stages


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


def _is_slow(size: float, previous: float, used: int) -> bool:
    """Whether a new Jacobian pays after a correction, the ``used``-th of the present one."""
    if size <= NOISE or math.isinf(previous):
        return False
    rate = size / previous
    return rate > SLOW or (used > 1 and math.log(SETTLED / size) < MANY * math.log(rate))


def _factor(jacobian: Array, iteration: int, size: float) -> tuple[Array, Array]:
    lu, pivots, info = lapack.dgetrf(jacobian.T, overwrite_a=True)  # by columns it is its transpose by rows
    if info > 0:
        raise NoConvergence("the Jacobian of the step is singular", iteration, size)
    return lu, pivots


def _energy_scale(k: Collocation, at: Onset, t: Stages) -> float:
    """Kinetic and elastic energy of the step and the work of its weights [J]."""
    a, x = k.arrays, t.x
    total = float((a.mass[:, None] * x.v**2).sum() + at.h * np.abs(a.weight * x.v).sum())
    total += float(np.abs(t.omega * np.matvec(t.J, t.omega)).sum())
    if x.du.size:
        total += float(np.abs(x.du * t.Pdu[:, 0]).sum() + np.abs(t.stress * (t.stress @ a.compliance.T)).sum())
    return max(total / len(t.u), TINY)
