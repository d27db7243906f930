"""The agreement of what controllers answer within a step with the mechanism.

The same iteration as :class:`flexph.control.joined.Joined`, by a function that compiled loops over steps call.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...numerics.compiled.by_address import call_at
from ...numerics.compiled.cache import keep_on_disk, named_by
from ...numerics.compiled.linking import entry
from .answers import answer_feedback, answer_linear, copy, copy_rows, largest, read
from .data import (
    FORCES,
    KNOWN,
    LINE,
    MOVED,
    NEW,
    NONE,
    OFF,
    PROBE,
    RATES,
    SCALE,
    SIZE,
    SLOPE_LENGTH,
    TRIES,
    Agreement,
    take,
    take_asked,
    take_feedback,
)
from .elimination import OPTIONS, eliminate, small
from .tolerances import CLOSED, MOST, SHIFT, SINGULAR, STAGNATED

AGREED, AGAIN, FAILED = 0, 1, 2
"""What the loop is told after each try of a step."""
CALLED = 2
"""In place of 1 where a feedback was due."""
_OWN = ("answers.py", "data.py", "elimination.py", "loops.py", "tolerances.py")
PACKAGE = Path(__file__).parents[2]
SOURCES = (
    *(PACKAGE / "control" / "compiled" / name for name in _OWN),
    PACKAGE / "numerics" / "compiled" / "by_address.py",
    PACKAGE / "numerics" / "compiled" / "linking.py",
    PACKAGE / "sensors" / "loops.py",
)
"""What the function is compiled from."""


@small
def _set_inputs(a: Agreement) -> None:
    """The next try."""
    for i in range(a.inputs.size):
        a.inputs[i] = 0.0
    for j in range(a.entries.size):
        a.inputs[a.entries[j]] += a.tried[j]


@small
def _guess(a: Agreement) -> None:
    """Inputs as they went in the last three steps, or where friction may turn over as they were in the last."""
    known = a.counts[KNOWN]
    for j in range(a.tried.size):
        if known < 3 or a.laws.column.size > 0:
            a.tried[j] = a.past[2, j] if known else 0.0
        else:
            a.tried[j] = 3.0 * (a.past[2, j] - a.past[1, j]) + a.past[0, j]


@small
def _measured(a: Agreement, h: float) -> bool:
    """Take an effect of inputs on the defects, and whether all of them are known; else the next one is tried."""
    p, q = a.counts[PROBE], a.tried.size
    if p == 0:
        copy(a.defect, a.before[1])
        a.numbers[MOVED] = SHIFT * max(1.0, largest(a.defect, q))
    else:
        for i in range(a.defect.size):
            a.slope[i, p - 1] = (a.defect[i] - a.before[1, i]) / a.numbers[MOVED]
    _guess(a)
    if p < q:
        a.tried[p] += a.numbers[MOVED]
        a.counts[PROBE] = p + 1
        return False
    a.numbers[SLOPE_LENGTH], a.counts[PROBE] = h, NONE
    return True


@small
def _renew(a: Agreement) -> None:
    """Broyden's update."""
    q, size = a.tried.size, 0.0
    for j in range(q):
        a.answers[j] = a.tried[j] - a.before[0, j]  # which are not needed any more
        size += a.answers[j] ** 2
    m = a.laws.column.size
    if not size > ((SHIFT * a.numbers[SCALE]) ** 2 if m > 0 else 0.0):
        return
    copy_rows(a.slope, a.space, q)
    least = SINGULAR * abs(eliminate(a.space))
    for i in range(q + m):
        total = a.defect[i] - a.before[1, i]
        for k in range(m):
            total -= a.laws.by[i, k] * (a.laws.force[k] - a.laws.before[k])
        for j in range(q):
            total -= a.slope[i, j] * a.answers[j]
        for j in range(q):
            a.other[i, j] = a.slope[i, j] + total * a.answers[j] / size
    copy_rows(a.other, a.space, q)
    if abs(eliminate(a.space)) > least:
        copy_rows(a.other, a.slope, q + m)


@small
def _commit(a: Agreement, step: int) -> None:
    """Record a step that is agreed on, and go on to the guess of the next one."""
    c = a.linear
    copy(c.mean, a.means[step])
    copy(c.u, a.given[step])
    copy(a.tried, a.agreed[step])
    copy(a.laws.power, a.laws.lost[step])
    for j in range(c.own.size):
        a.seen[step, j] = a.output[c.seen[j]]
    copy(c.end, c.x)
    copy(c.x, a.states[step])
    for k in range(a.feedback.size):
        f = take_feedback(a.feedback[k])
        copy(f.end, f.start)
        copy(f.out[0], f.near)
    copy(a.past[1], a.past[0])
    copy(a.past[2], a.past[1])
    copy(a.tried, a.past[2])
    a.counts[KNOWN] = min(a.counts[KNOWN] + 1, 3)
    a.counts[TRIES], a.counts[PROBE], a.numbers[SIZE] = 0, NEW, math.inf
    _guess(a)


@small
def _iterate(a: Agreement, address: int, step: int, h: float) -> int:
    """Judge a try, and choose the next one; see :meth:`flexph.control.joined.Joined.step`."""
    q = a.tried.size
    for j in range(q):
        a.defect[j] = a.tried[j] - a.answers[j]
    m = a.laws.column.size
    if m > 0:
        call_at(a.laws.entry[0], (address, RATES))
    if a.counts[PROBE] == NEW:
        a.counts[PROBE] = 0 if abs(h - a.numbers[SLOPE_LENGTH]) > SHIFT * h else NONE
    if a.counts[PROBE] >= 0:
        _measured(a, h)
        return AGAIN
    a.numbers[SCALE] = max(a.numbers[SCALE], largest(a.answers, q))
    if a.counts[TRIES] > 0:
        _renew(a)
    last, scale = a.numbers[SIZE], a.numbers[SCALE]
    size = largest(a.defect, q)
    if m > 0:
        call_at(a.laws.entry[0], (address, LINE))
        size, scale = max(size / scale if size > 0.0 and scale > 0.0 else size, a.numbers[OFF]), 1.0
    a.numbers[SIZE] = size
    a.counts[TRIES] += 1
    if size <= CLOSED * scale or (last <= 2.0 * size and size <= STAGNATED * scale):
        _commit(a, step)
        return AGREED
    if a.counts[TRIES] >= MOST or not math.isfinite(size):
        return FAILED
    copy(a.tried, a.before[0])
    copy(a.defect, a.before[1])
    copy_rows(a.slope, a.space, q)
    for j in range(q):
        a.space[j, q] = a.defect[j]
    if m > 0 and call_at(a.laws.entry[0], (address, FORCES)) != 1:
        return FAILED
    eliminate(a.space)
    for j in range(q):
        a.tried[j] -= a.space[j, q]
    return AGAIN


def _ask(step: int, address: int) -> int:
    """Let feedback whose time has come set what it holds, at the start of a step; 1 where an answer is no number."""
    a = take_asked(address)
    for k in range(a.feedback.size):
        if a.due[step, k]:
            f = take_feedback(a.feedback[k])
            read(f, a.states[step - 1] if step > 0 else a.first)
            time, readings, inputs = f.call
            time[0] = a.times[step]
            copy(f.end, readings)
            if call_at(f.addresses[0], (f.addresses[1],)) != 1:
                return 1
            for j in range(inputs.size):
                if not math.isfinite(inputs[j]):
                    return 1
                a.held[f.ports[j]] = inputs[j]
            copy(f.out[0], f.near)
            a.due[step, k] = CALLED
    return 0


ask: Any = entry(_ask, plain=True, **OPTIONS)
keep_on_disk(ask, named_by(SOURCES))


def _agree(address: int, step: int) -> int:
    """What follows a try of a step: whether all agree, or the inputs of the next try."""
    a = take(address)
    h = a.times[step + 1] - a.times[step]
    if not (answer_linear(a, step, h) and answer_feedback(a, step)):
        return FAILED
    told = _iterate(a, address, step, h)
    _set_inputs(a)
    return told


agree: Any = entry(_agree, plain=True, **OPTIONS)
keep_on_disk(agree, named_by(SOURCES))
