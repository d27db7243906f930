"""Responses of linear controllers and feedback to a trial step."""

from __future__ import annotations

import math

import cython

if not cython.compiled:
    from math import isfinite

    from numpy import rint

    from ...numerics.loops.callbacks import struct_at as feedback_at
    from ...numerics.loops.views import Mat, Vec, call_one, larger
    from ...sensors.loops import measure
    from .data import Coupling, Feedback, Linear
    from .elimination import eliminate
    from .functions import call_function

PI = cython.declare(cython.double, math.pi)
INFINITE = cython.declare(cython.double, math.inf)


def copy_rows(source: Mat, target: Mat, rows: int) -> None:
    """Copy the first ``rows`` rows of ``source`` to the upper left corner of ``target``."""
    for i in range(rows):
        for j in range(source.shape[1]):
            target[i][j] = source[i][j]


def size_of(values: Vec, count: int) -> float:
    """Largest absolute value of the first ``count`` entries; infinite if one of them is NaN."""
    size = 0.0
    for i in range(count):
        size = larger(size, abs(values[i])) if values[i] == values[i] else INFINITE
    return size


def _solve_linear(c: Linear, h: float) -> bool:
    """Write the matrices from x₀ and u to the mean state x̄ of the linear controllers into ``c.solved``.

    They solve (2E/h − J + R) x̄ = (2E/h) x₀ + B u. False if the matrix is singular.
    """
    N, n, M = c.E.shape[0], c.state.size, c.u.size
    for i in range(N):
        for j in range(N):
            c.solved[i][j] = 2.0 / h * c.E[i][j] - c.flow[i][j]
        for j in range(n):
            c.solved[i][N + j] = 2.0 / h * c.E[i][c.state[j]]
        for j in range(M):
            c.solved[i][N + n + j] = c.B[i][j]
    return eliminate(c.solved) != 0.0


def answer_linear(a: Coupling, step: int, h: float) -> bool:
    """Solve the step of all linear controllers for the mechanism's mean outputs in a trial step.

    Writes the mean states, end states and responses of the controllers. False if the matrix of a step is singular.
    """
    c = a.linear
    N, n, M = c.E.shape[0], c.state.size, c.u.size
    if N == 0:
        return True
    if h != c.solved_length[0]:
        if not _solve_linear(c, h):
            return False
        c.solved_length[0] = h
    for j in range(M):
        c.u[j] = c.acting[step][j]
    for j in range(c.own.size):
        c.u[c.own[j]] += a.output[c.output_index[j]]
    for k in range(a.laws.column.size):
        c.u[a.laws.column[k]] = -a.laws.force[k]
    for i in range(N):
        total = 0.0
        for j in range(n):
            total += c.solved[i][N + j] * c.x[j]
        for j in range(M):
            total += c.solved[i][N + n + j] * c.u[j]
        c.mean[i] = total
    for j in range(n):
        mean = c.mean[c.state[j]]
        c.end[j] = 2.0 * mean - c.x[j] if c.stored[j] != 0 else mean
    for j in range(c.own.size):
        total = 0.0
        for i in range(N):
            total -= c.B[i][c.own[j]] * c.mean[i]
        a.answers[j] = total
    return True


def read(f: Feedback, state: Vec) -> None:
    """Read the sensors of a feedback at a flat state into ``f.end``, with angles near those in ``f.near``."""
    for i in range(f.part.size):
        f.part[i] = state[f.entries[i]]
    measure(f.arrays, f.part, f.out)
    width = f.out.shape[1]
    for i in range(f.angles[0], width):
        if abs(f.near[i] - f.out[0][i]) > PI:
            f.out[0][i] += 2.0 * PI * rint((f.near[i] - f.out[0][i]) / (2.0 * PI))
    for j in range(f.which.size):
        k = f.which[j]
        f.end[j] = f.out[0][k] if k < width else f.out[1][k - width]


def called(f: Feedback) -> bool:
    """Call the function of a feedback, which writes its inputs; False if it fails or they are not finite."""
    if f.in_c[0] == 1:
        if not call_function(f.function[0], f.time[0], f.readings, f.inputs, f.given[0]):
            return False
    elif call_one(f.function[0], f.given[0]) != 1:
        return False
    return isfinite(size_of(f.inputs, f.inputs.size))


def answer_feedback(a: Coupling, step: int) -> bool:
    """Write the responses of all feedback at the points of a trial; False if a function fails or returns no numbers."""
    for k in range(a.feedback.size):
        f = feedback_at(a.feedback[k])
        for p in range(a.nodes.size):
            read(f, a.state[p])
            f.time[0] = (1.0 - a.nodes[p]) * a.times[step] + a.nodes[p] * a.times[step + 1]
            for j in range(f.readings.size):
                f.readings[j] = (1.0 - a.ends[0]) * f.start[j] + a.ends[0] * f.end[j]
            if not called(f):
                return False
            for j in range(f.inputs.size):
                a.answers[a.first[k] + p * f.inputs.size + j] = f.inputs[j]
    return True
