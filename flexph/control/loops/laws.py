"""Compiled solution of controller laws (dry friction, limits) within a step; see flexph.control.laws.

A law f(s) closes a port of a controller. The rate s of the port falls linearly with the force: the line
s = free − slope·f. The *separate solution* of a law is its intersection with this line, while the forces of all other
laws are constant.
"""

from __future__ import annotations

import math

import cython

from . import data, tolerances

if not cython.compiled:
    from math import copysign, isinf, sqrt

    from ...numerics.loops.views import Vec, call_one, larger
    from .data import Coupling, Laws
    from .elimination import eliminate

DRY = cython.declare(cython.Py_ssize_t, data.DRY)
LIMIT = cython.declare(cython.Py_ssize_t, data.LIMIT)
STEPS = cython.declare(cython.Py_ssize_t, tolerances.STEPS)
HOLDS = cython.declare(cython.double, tolerances.HOLDS)
MET = cython.declare(cython.double, tolerances.MET)
SHORTEST = cython.declare(cython.double, tolerances.SHORTEST)
INFINITE = cython.declare(cython.double, math.inf)


def compute_rates(a: Coupling) -> None:
    """Write the rates at the ports of laws at the start of a step into ``laws.rest``.

    Also write the derivatives of the defects of the inputs, and of the mean rates at these ports, with respect to the
    forces of laws into ``laws.by``.
    """
    c, w, q, N, n = a.linear, a.laws, a.tried.size, a.linear.E.shape[0], a.linear.state.size
    for k in range(w.column.size):
        w.rest[k] = 0.0
        for j in range(n):
            w.rest[k] += c.x[j] * c.B[c.state[j]][w.column[k]] if c.stored[j] != 0 else 0.0
        for j in range(w.by.shape[0]):
            w.by[j][k] = 0.0
            if j < c.own.size or j >= q:
                row = c.own[j] if j < q else w.column[j - q]
                for i in range(N):
                    w.by[j][k] -= c.B[i][row] * c.solved[i][N + n + w.column[k]]


def store_rates(a: Coupling) -> None:
    """Write the mean rates of a trial at the ports of laws into ``a.defect``, behind the defects of the inputs."""
    c, w, q = a.linear, a.laws, a.tried.size
    for k in range(w.column.size):
        a.defect[q + k] = 0.0
        for i in range(c.E.shape[0]):
            a.defect[q + k] += c.B[i][w.column[k]] * c.mean[i]


def linearise_laws(a: Coupling) -> float:
    """Write the lines of all laws, by linearisation about a trial.

    Returns the largest difference between a rate of the trial and that of the separate solution of its law, relative to
    the largest rate, and times HOLDS for laws that prescribe the rate there; infinite if a law fails.
    """
    w, q, m = a.laws, a.tried.size, a.laws.column.size
    left = cython.declare(cython.double)
    for i in range(q):
        for j in range(q):
            a.space[i][j] = a.slope[i][j]
        w.both[i][0] = a.defect[i]
        for k in range(m):
            w.both[i][1 + k] = w.by[i][k]
    for i in range(q):
        for k in range(1 + m):
            a.space[i][q + k] = w.both[i][k]
    eliminate(a.space)
    for k in range(m):
        for r in range(1 + m):
            left = a.defect[q + k] if r == 0 else w.by[q + k][r - 1]
            for j in range(q):
                left -= a.slope[q + k][j] * a.space[j][q + r]
            if r == 0:
                w.free[k] = left
            else:
                w.slopes[k][r - 1] = -left
    for k in range(m):
        for r in range(m):
            w.free[k] += w.slopes[k][r] * w.force[r]
        w.speed[0] = larger(w.speed[0], abs(w.free[k]))
    size = 0.0
    for k in range(m):
        slope = larger(w.slopes[k][k], 0.0)
        _intersect(w, k, a.defect[q + k] + slope * w.force[k], slope)
        off = a.defect[q + k] - w.rate[k]
        if off != off:
            return INFINITE
        size = larger(size, abs(HOLDS * off if isinf(w.stiffness[k]) else off))
        w.power[k] = w.rate[k] * w.alone[k]
    return size / w.speed[0] if size > 0.0 and w.speed[0] > 0.0 else size


def _intersect(w: Laws, k: int, free: float, slope: float) -> None:
    """Write rate, force and ∂f/∂s of the intersection of law k with the line rate = free − slope · force."""
    if w.kind[k] == DRY:
        _meet_dry(w, k, free, slope)
    elif w.kind[k] == LIMIT:
        _meet_limit(w, k, free, slope)
    else:
        _call_law(w, k, free, slope)


def _meet_dry(w: Laws, k: int, free: float, slope: float) -> None:
    """Write rate, force and ∂f/∂s of the intersection of dry friction with the line rate = free − slope · force.

    Where friction prescribes the rate, as at rest, ∂f/∂s is infinite.
    """
    level, before, sign = w.parameter[k][0], w.rest[k], 1.0
    if before < 0.0:
        free, before, sign = -free, -before, -1.0
    most, stop = slope * level, 0.5 * before
    rate, force = free + most, -level
    if free > stop + most:
        rate, force = free - most, level
    elif free >= stop:
        rate, force = stop, (free - stop) / slope if most > 0.0 else 0.0
    elif free > 0.0:
        rate, force = free, 0.0
    elif free >= -most:
        rate, force = 0.0, free / slope if most > 0.0 else 0.0
    w.rate[k], w.alone[k] = sign * rate, sign * force
    size = abs(w.alone[k])
    w.stiffness[k] = INFINITE if size > 0.0 and size < level else 0.0


def _meet_limit(w: Laws, k: int, free: float, slope: float) -> None:
    """Write rate, force and ∂f/∂s of the intersection of a limit with the line rate = free − slope · force."""
    level, resistance = w.parameter[k][0], w.parameter[k][1]
    over = larger(abs(free) - level, 0.0) / (1.0 + slope * resistance)
    w.rate[k], w.alone[k] = free, 0.0
    if over != 0.0:
        w.rate[k] = copysign(level + over, free)
        w.alone[k] = copysign(resistance * over, free)
    w.stiffness[k] = resistance if w.alone[k] != 0.0 else 0.0


def _call_law(w: Laws, k: int, free: float, slope: float) -> None:
    """Write rate, force and ∂f/∂s at which a law in Python intersects rate = free − slope · force; NaN if it fails."""
    w.arguments[0], w.arguments[1], w.arguments[2] = free, slope, w.rest[k]
    if call_one(w.function[0], k) != 1:
        w.results[0], w.results[1], w.results[2] = INFINITE - INFINITE, INFINITE - INFINITE, 0.0
    w.rate[k], w.alone[k], w.stiffness[k] = w.results[0], w.results[1], w.results[2]


def _solve_separately(w: Laws, forces: Vec) -> float:
    """Solve each law alone, with the given forces at the ports of all other laws.

    Returns the distance of the resulting forces from the given ones.
    """
    apart = 0.0
    free = cython.declare(cython.double)
    for k in range(forces.size):
        slope, free = larger(w.slopes[k][k], 0.0), w.free[k]
        for r in range(forces.size):
            free -= w.slopes[k][r] * forces[r]
        _intersect(w, k, free + slope * forces[k], slope)
        off = forces[k] - w.alone[k]
        apart += slope * (off * off)
    return sqrt(apart)


def _meet_all(w: Laws) -> bool:
    """Write the forces that satisfy all laws and all lines at once into ``w.met``; False if this does not converge."""
    m = w.column.size
    off = cython.declare(cython.double)
    for k in range(m):
        w.met[k] = w.force[k]
    apart = _solve_separately(w, w.met)
    for _ in range(STEPS):
        if apart != apart:
            return False
        left, terms = 0.0, 0.0
        for k in range(m):
            off, term = w.free[k] - w.rate[k], abs(w.free[k])
            for r in range(m):
                off -= w.slopes[k][r] * w.alone[r]
                term += abs(w.slopes[k][r] * w.alone[r])
            w.off[k] = off
            left, terms = larger(left, abs(off)), larger(terms, term)
        if left <= MET * terms or m == 1:
            for k in range(m):
                w.met[k] = w.alone[k]
            return True
        _newton_step(w)
        share, before = 1.0, apart
        while share > SHORTEST:
            for k in range(m):
                w.next[k] = w.met[k] + share * w.step[k]
            apart = _solve_separately(w, w.next)
            if apart < before:
                break
            share *= 0.5
        for k in range(m):
            w.met[k] += share * w.step[k]
    return False


def _newton_step(w: Laws) -> None:
    """Write the change of the forces, after which the lines intersect the tangents of all laws, into ``w.step``."""
    m = w.column.size
    held = cython.declare(cython.bint)
    for k in range(m):
        stiff = w.stiffness[k]
        held = isinf(stiff)
        for r in range(m):
            w.space[k][r] = w.slopes[k][r] if held else stiff * w.slopes[k][r] + (1.0 if k == r else 0.0)
        w.space[k][m] = w.off[k] if held else stiff * w.off[k]
    regular = cython.declare(cython.bint, eliminate(w.space) != 0.0)
    for k in range(m):
        w.step[k] = w.alone[k] - w.met[k] + (w.space[k][m] if regular else 0.0)


def meet_laws(a: Coupling) -> bool:
    """Solve the laws for their forces, for the next trial of a step; False if that does not converge.

    Add the effect of the change of the forces to the defects of the inputs, which are in a column of ``space``.
    """
    w, q = a.laws, a.tried.size
    if not _meet_all(w):
        return False
    for k in range(w.force.size):
        w.before[k] = w.force[k]
        w.force[k] = w.met[k]
    for j in range(q):
        for k in range(w.force.size):
            a.space[j][q] += w.by[j][k] * (w.force[k] - w.before[k])
    return True
