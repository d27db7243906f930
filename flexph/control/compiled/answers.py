"""What linear controllers and compiled feedback answer within a step; needs numba."""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.by_address import call_at
from ...sensors.loops import measure
from .data import SOLVED_LENGTH, Agreement, Feedback, Linear, take_feedback
from .elimination import eliminate, small


@small
def copy(source: Array, target: Array) -> None:
    """Copy all entries of a vector."""
    for i in range(source.size):
        target[i] = source[i]


@small
def copy_rows(source: Array, target: Array, rows: int) -> None:
    """Copy the leading rows of a matrix with as many columns as the source."""
    for i in range(rows):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@small
def largest(values: Array, count: int) -> float:
    """The largest size of the first entries."""
    size = 0.0
    for i in range(count):
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
def answer_linear(a: Agreement, step: int, h: float) -> bool:
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
    for k in range(a.laws.column.size):
        c.u[a.laws.column[k]] = -a.laws.force[k]
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
def read(f: Feedback, state: Array) -> None:
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
def answer_feedback(a: Agreement, step: int) -> bool:
    """Inputs of all feedback at the middle of a try; False where a function does not return finite ones."""
    for k in range(a.feedback.size):
        f = take_feedback(a.feedback[k])
        read(f, a.state)
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
