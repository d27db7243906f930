"""Laws of controllers, dry friction and limits, met in compiled loops: see flexph.control.laws; needs numba.

They are a function of their own, which the agreement calls by its address: who has no laws does not wait for it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...numerics.arrays import Array
from ...numerics.compiled.cache import keep_on_disk, named_by
from ...numerics.compiled.linking import entry
from .data import DRY, LINE, NEW, OFF, PROBE, RATES, SPEED, Agreement, Laws, take
from .elimination import OPTIONS, eliminate, small
from .tolerances import HOLDS, MET, SHORTEST, STEPS

PACKAGE = Path(__file__).parents[2]
SOURCES = (
    *(PACKAGE / "control" / "compiled" / name for name in ("data.py", "elimination.py", "laws.py", "tolerances.py")),
    PACKAGE / "numerics" / "compiled" / "by_address.py",
    PACKAGE / "numerics" / "compiled" / "linking.py",
    PACKAGE / "sensors" / "loops.py",
)
"""What the function is compiled from."""


@small
def _begin(a: Agreement) -> None:
    """Rates at the start of a step, and how outputs and rates change with forces."""
    c, w, q, N, n = a.linear, a.laws, a.tried.size, len(a.linear.E), a.linear.state.size
    for k in range(w.column.size):
        w.rest[k] = 0.0
        for j in range(n):
            w.rest[k] += c.x[j] * c.B[c.state[j], w.column[k]] if c.stored[j] else 0.0
        for j in range(len(w.by)):
            w.by[j, k] = 0.0
            if j < c.own.size or j >= q:
                row = c.own[j] if j < q else w.column[j - q]
                for i in range(N):
                    w.by[j, k] -= c.B[i, row] * c.solved[i, N + n + w.column[k]]


@small
def _rates(a: Agreement) -> None:
    """Mean rates of the ports that laws close, behind the defects of the inputs."""
    c, w, q = a.linear, a.laws, a.tried.size
    for k in range(w.column.size):
        a.defect[q + k] = 0.0
        for i in range(len(c.E)):
            a.defect[q + k] += c.B[i, w.column[k]] * c.mean[i]


@small
def _look_along(a: Agreement) -> float:
    """What is around the ports of the laws by a try, and how far that is from them, over the largest rate."""
    w, q, m = a.laws, a.tried.size, a.laws.column.size
    for i in range(q):
        for j in range(q):
            a.space[i, j] = a.slope[i, j]
        w.both[i, 0] = a.defect[i]
        for k in range(m):
            w.both[i, 1 + k] = w.by[i, k]
    for i in range(q):
        for k in range(1 + m):
            a.space[i, q + k] = w.both[i, k]
    eliminate(a.space)
    for k in range(m):
        for r in range(1 + m):
            left = a.defect[q + k] if r == 0 else w.by[q + k, r - 1]
            for j in range(q):
                left -= a.slope[q + k, j] * a.space[j, q + r]
            if r == 0:
                w.free[k] = left
            else:
                w.slopes[k, r - 1] = -left
    size = 0.0
    for k in range(m):
        for r in range(m):
            w.free[k] += w.slopes[k, r] * w.force[r]
        a.numbers[SPEED] = max(a.numbers[SPEED], abs(w.free[k]))
    for k in range(m):
        own = max(w.slopes[k, k], 0.0)
        _meet(w, k, a.defect[q + k] + own * w.force[k], own)
        off = a.defect[q + k] - w.rate[k]
        size = max(size, abs(HOLDS * off if math.isinf(_stiffness(w, k)) else off))
        w.power[k] = w.rate[k] * w.alone[k]
    return size / a.numbers[SPEED] if size > 0.0 and a.numbers[SPEED] > 0.0 else size


@small
def _meet(w: Laws, k: int, free: float, slope: float) -> None:
    """The rate and the force of a law on a line, see flexph.control.laws.laws."""
    level, before, sign = w.parameter[k, 0], w.rest[k], 1.0
    if w.kind[k] != DRY:
        over = max(abs(free) - level, 0.0) / (1.0 + slope * w.parameter[k, 1])
        w.rate[k], w.alone[k] = free, 0.0
        if over != 0.0:
            w.rate[k] = math.copysign(level + over, free)
            w.alone[k] = math.copysign(w.parameter[k, 1] * over, free)
        return
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


@small
def _stiffness(w: Laws, k: int) -> float:
    """∂f/∂s of a law at the point that is met, infinite where it is vertical."""
    if w.kind[k] == DRY:
        return math.inf if 0.0 < abs(w.alone[k]) < w.parameter[k, 0] else 0.0
    return w.parameter[k, 1] if w.alone[k] != 0.0 else 0.0


@small
def _alone(w: Laws, forces: Array) -> float:
    """Each law met under the forces of all others, and how far all of them are from the forces given."""
    apart = 0.0
    for k in range(forces.size):
        own, free = max(w.slopes[k, k], 0.0), w.free[k]
        for r in range(forces.size):
            free -= w.slopes[k, r] * forces[r]
        _meet(w, k, free + own * forces[k], own)
        apart += own * (forces[k] - w.alone[k]) ** 2
    return math.sqrt(apart)


@small
def _meet_all(w: Laws) -> bool:
    """The forces in which all laws and their line meet, in ``met``; see flexph.control.laws.meeting."""
    m = w.column.size
    for k in range(m):
        w.met[k] = w.force[k]
    apart = _alone(w, w.met)
    for _ in range(STEPS):
        left, terms = 0.0, 0.0
        for k in range(m):
            off, term = w.free[k] - w.rate[k], abs(w.free[k])
            for r in range(m):
                off -= w.slopes[k, r] * w.alone[r]
                term += abs(w.slopes[k, r] * w.alone[r])
            w.off[k] = off
            left, terms = max(left, abs(off)), max(terms, term)
        if left <= MET * terms or m == 1:
            for k in range(m):
                w.met[k] = w.alone[k]
            return True
        _together(w)
        share, before = 1.0, apart
        while share > SHORTEST:
            for k in range(m):
                w.next[k] = w.met[k] + share * w.step[k]
            apart = _alone(w, w.next)
            if apart < before:
                break
            share *= 0.5
        for k in range(m):
            w.met[k] += share * w.step[k]
    return False


@small
def _together(w: Laws) -> None:
    """The way to the forces where the line meets the tangents of all laws."""
    m = w.column.size
    for k in range(m):
        stiff = _stiffness(w, k)
        held = math.isinf(stiff)
        for r in range(m):
            w.space[k, r] = w.slopes[k, r] if held else stiff * w.slopes[k, r] + (1.0 if k == r else 0.0)
        w.space[k, m] = w.off[k] if held else stiff * w.off[k]
    regular = eliminate(w.space) != 0.0
    for k in range(m):
        w.step[k] = w.alone[k] - w.met[k] + (w.space[k, m] if regular else 0.0)


@small
def _meet_laws(a: Agreement) -> bool:
    """The forces of the laws of the next try, and what they change of the defects; whether they are found."""
    w, q = a.laws, a.tried.size
    if not _meet_all(w):
        return False
    for k in range(w.force.size):
        w.before[k], w.force[k] = w.force[k], w.met[k]
    for j in range(q):
        for k in range(w.force.size):
            a.space[j, q] += w.by[j, k] * (w.force[k] - w.before[k])
    return True


def _law(address: int, what: int) -> int:
    """A part of the agreement that laws take: their rates, how far a try is from them, or their next forces."""
    a = take(address)
    if what == RATES:
        _rates(a)
        if a.counts[PROBE] == NEW:
            _begin(a)
        return 1
    if what == LINE:
        a.numbers[OFF] = _look_along(a)
        return 1
    return 1 if _meet_laws(a) else 0


law: Any = entry(_law, plain=True, **OPTIONS)
keep_on_disk(law, named_by(SOURCES))
