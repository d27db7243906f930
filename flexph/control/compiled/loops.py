"""What linear controllers and compiled feedback answer within a step, and their agreement with the mechanism.

The same iteration as :class:`flexph.control.joined.Joined`, by a function that compiled loops over steps call.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...numerics.arrays import Array
from ...numerics.compiled.by_address import call_at
from ...numerics.compiled.cache import keep_on_disk, named_by
from ...numerics.compiled.linking import entry
from ...sensors.loops import measure
from .data import (
    KNOWN,
    MOVED,
    NEW,
    NONE,
    PROBE,
    SCALE,
    SIZE,
    SLOPE_LENGTH,
    SOLVED_LENGTH,
    TRIES,
    Agreement,
    Feedback,
    Linear,
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
PACKAGE = Path(__file__).parents[2]
SOURCES = (
    *(PACKAGE / "control" / "compiled" / name for name in ("data.py", "elimination.py", "loops.py", "tolerances.py")),
    PACKAGE / "numerics" / "compiled" / "by_address.py",
    PACKAGE / "numerics" / "compiled" / "linking.py",
    PACKAGE / "sensors" / "loops.py",
)
"""What the function is compiled from."""


@small
def copy(source: Array, target: Array) -> None:
    """Copy all entries of a vector."""
    for i in range(source.size):
        target[i] = source[i]


@small
def _copy_square(source: Array, target: Array) -> None:
    for i in range(len(source)):
        for j in range(len(source)):
            target[i, j] = source[i, j]


@small
def _largest(values: Array) -> float:
    size = 0.0
    for i in range(values.size):
        size = max(size, abs(values[i])) if values[i] == values[i] else math.inf
    return size


@small
def _solve_linear(c: Linear, h: float) -> bool:
    """(2E/h − J + R) x̄ = (2E/h) x₀ + B u for x̄ by x₀ and u; False where it is singular."""
    N, n, M = len(c.E), c.state.size, c.u.size
    for i in range(N):
        for j in range(N):
            c.solved[i, j] = 2.0 / h * c.E[i, j] - c.flow[i, j]
        for j in range(n):
            c.solved[i, N + j] = 2.0 / h * c.E[i, c.state[j]]
        for j in range(M):
            c.solved[i, N + n + j] = c.B[i, j]
    return eliminate(c.solved) != 0.0


@small
def _answer_linear(a: Agreement, step: int, h: float) -> bool:
    """Means, ends and answers of the linear controllers under the outputs of a try."""
    c = a.linear
    N, n, M = len(c.E), c.state.size, c.u.size
    if N == 0:
        return True
    if h != a.numbers[SOLVED_LENGTH]:
        if not _solve_linear(c, h):
            return False
        a.numbers[SOLVED_LENGTH] = h
    for j in range(M):
        c.u[j] = c.acting[step, j]
    for j in range(c.own.size):
        c.u[c.own[j]] += a.output[c.seen[j]]
    for i in range(N):
        total = 0.0
        for j in range(n):
            total += c.solved[i, N + j] * c.x[j]
        for j in range(M):
            total += c.solved[i, N + n + j] * c.u[j]
        c.mean[i] = total
    for j in range(n):
        mean = c.mean[c.state[j]]
        c.end[j] = 2.0 * mean - c.x[j] if c.stored[j] else mean
    for j in range(c.own.size):
        total = 0.0
        for i in range(N):
            total -= c.B[i, c.own[j]] * c.mean[i]
        a.answers[j] = total
    return True


@small
def _read(f: Feedback, state: Array) -> None:
    """Readings at a state, with angles next to those at the start of the step."""
    for i in range(f.part.size):
        f.part[i] = state[f.entries[i]]
    measure(f.seen, f.part, f.out)
    width = f.out.shape[1]
    for i in range(f.angles[0], width):
        if abs(f.near[i] - f.out[0, i]) > math.pi:
            f.out[0, i] += 2.0 * math.pi * round((f.near[i] - f.out[0, i]) / (2.0 * math.pi))
    for j in range(f.which.size):
        k = f.which[j]
        f.end[j] = f.out[0, k] if k < width else f.out[1, k - width]


@small
def _answer_feedback(a: Agreement, step: int) -> bool:
    """Inputs of all feedback at the middle of a try; False where a function does not return finite ones."""
    for k in range(a.feedback.size):
        f = take_feedback(a.feedback[k])
        _read(f, a.state)
        time, readings, inputs = f.call
        time[0] = 0.5 * (a.times[step] + a.times[step + 1])
        for j in range(readings.size):
            readings[j] = 0.5 * (f.start[j] + f.end[j])
        if call_at(f.addresses[0], (f.addresses[1],)) != 1:
            return False
        for j in range(inputs.size):
            a.answers[a.first[k] + j] = inputs[j]
            if not math.isfinite(inputs[j]):
                return False
    return True


@small
def _set_inputs(a: Agreement) -> None:
    """The next try."""
    for i in range(a.inputs.size):
        a.inputs[i] = 0.0
    for j in range(a.entries.size):
        a.inputs[a.entries[j]] += a.tried[j]


@small
def _guess(a: Agreement) -> None:
    """Inputs as they went in the last three steps."""
    known = a.counts[KNOWN]
    for j in range(a.tried.size):
        if known < 3:
            a.tried[j] = a.past[2, j] if known else 0.0
        else:
            a.tried[j] = 3.0 * (a.past[2, j] - a.past[1, j]) + a.past[0, j]


@small
def _measured(a: Agreement, h: float) -> bool:
    """Take an effect of inputs on the defects, and whether all of them are known; else the next one is tried."""
    p, q = a.counts[PROBE], a.tried.size
    if p == 0:
        copy(a.defect, a.before[1])
        a.numbers[MOVED] = SHIFT * max(1.0, _largest(a.defect))
    else:
        for i in range(q):
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
    if not size > 0.0:
        return
    _copy_square(a.slope, a.space)
    least = SINGULAR * abs(eliminate(a.space))
    for i in range(q):
        total = a.defect[i] - a.before[1, i]
        for j in range(q):
            total -= a.slope[i, j] * a.answers[j]
        for j in range(q):
            a.other[i, j] = a.slope[i, j] + total * a.answers[j] / size
    _copy_square(a.other, a.space)
    if abs(eliminate(a.space)) > least:
        _copy_square(a.other, a.slope)


@small
def _commit(a: Agreement, step: int) -> None:
    """Book a step that is agreed on, and go on to the guess of the next one."""
    c = a.linear
    copy(c.mean, a.means[step])
    copy(c.u, a.given[step])
    copy(a.tried, a.agreed[step])
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
def _iterate(a: Agreement, step: int, h: float) -> int:
    """Judge a try, and choose the next one; see :meth:`flexph.control.joined.Joined.step`."""
    q = a.tried.size
    for j in range(q):
        a.defect[j] = a.tried[j] - a.answers[j]
    if a.counts[PROBE] == NEW:
        a.counts[PROBE] = 0 if abs(h - a.numbers[SLOPE_LENGTH]) > SHIFT * h else NONE
    if a.counts[PROBE] >= 0:
        _measured(a, h)
        return AGAIN
    a.numbers[SCALE] = max(a.numbers[SCALE], _largest(a.answers))
    if a.counts[TRIES] > 0:
        _renew(a)
    last, size, scale = a.numbers[SIZE], _largest(a.defect), a.numbers[SCALE]
    a.numbers[SIZE] = size
    a.counts[TRIES] += 1
    if size <= CLOSED * scale or (last <= 2.0 * size and size <= STAGNATED * scale):
        _commit(a, step)
        return AGREED
    if a.counts[TRIES] >= MOST or not math.isfinite(size):
        return FAILED
    copy(a.tried, a.before[0])
    copy(a.defect, a.before[1])
    _copy_square(a.slope, a.space)
    for j in range(q):
        a.space[j, q] = a.defect[j]
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
            _read(f, a.states[step - 1] if step > 0 else a.first)
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
    if not (_answer_linear(a, step, h) and _answer_feedback(a, step)):
        return FAILED
    told = _iterate(a, step, h)
    _set_inputs(a)
    return told


agree: Any = entry(_agree, plain=True, **OPTIONS)
keep_on_disk(agree, named_by(SOURCES))
