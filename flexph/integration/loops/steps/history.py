"""History of the last steps, and the initial guess of the next one from it."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import HISTORY as _HISTORY
from ....kernels.convergence.tolerances import LEAST_SPACING as _LEAST_SPACING
from ....kernels.convergence.tolerances import WEIGHT_LIMIT as _WEIGHT_LIMIT
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, entries, fill, get, larger_int, part, put
    from ..memory.memory import Memory

HISTORY = cython.declare(cython.Py_ssize_t, _HISTORY)
LEAST_SPACING = cython.declare(cython.double, _LEAST_SPACING)
WEIGHT_LIMIT = cython.declare(cython.double, _WEIGHT_LIMIT)


def guess(m: Memory, dim: int, h: float, known: int) -> None:
    """Write a guess of the unknowns of a step into ``x``, from the last steps or else the velocities at the start.

    The multipliers are taken from the last step. From two steps the mean velocities are extrapolated linearly in time.
    The velocity at the start is not used: it would save a tenth of the iterations if steps resolve most vibrations, but
    has the wrong sign if they do not. ``known`` is the number of rows of history.
    """
    velocities = m.x_velocities
    now = m.at_velocities
    if not (known == HISTORY and _predict_alternating(m.run_history, h, m.run_extrapolation, velocities)):
        near, other, slope = _nearest(m.run_history, h, known)
        for i in range(velocities.size):
            velocities[i] = (
                m.run_history[near][i] + slope * (m.run_history[near][i] - m.run_history[other][i])
                if near >= 0
                else now[i]
            )
    for i in range(m.x_lam.size):
        m.x_lam[i] = m.run_history[HISTORY - 1][velocities.size + i] if known > 0 else 0.0


def _predict_alternating(memory: Array, h: float, basis: Array, velocities: Array) -> bool:
    """Predict mean velocities from the last steps, of any lengths and signs hₖ; False if a weight exceeds its limit.

    The prediction is a parabola in time and, for unresolved vibrations, (−1)ᵏ/hₖ times a line in Σ 1/hₖ. The coordinate
    q of a vibration of frequency ω changes its sign with each step, except for a small phase 4/(ω hₖ), and its mean
    velocity is −2q/hₖ. ``basis`` is work space for the linear equations of the weights.
    """
    end = -0.5
    turned = -0.5
    sign = 1.0
    last = memory.shape[1] - 1
    for k in range(HISTORY):
        share = memory[HISTORY - 1 - k][last] / h
        turn = 1.0 / share
        sign = -sign
        away = end - 0.5 * share
        basis[0][k] = 1.0
        basis[1][k] = away
        basis[2][k] = away * away
        basis[3][k] = sign * turn
        basis[4][k] = sign * turn * (turned - 0.5 * turn)
        end = end - share
        turned = turned - turn
    for k1 in range(0, basis.shape[0]):
        basis[k1][HISTORY] = 0.0
    basis[3][HISTORY] = 1.0
    basis[0][HISTORY] = 1.0
    _eliminate(basis)
    for k in range(HISTORY):
        if not fabs(basis[k][HISTORY]) <= WEIGHT_LIMIT:
            return False
    fill(velocities, 0.0)
    for k in range(HISTORY):
        weight = basis[k][HISTORY]
        row = memory[HISTORY - 1 - k]
        for i in range(velocities.size):
            velocities[i] += weight * row[i]
    return True


def _eliminate(A: Array) -> None:
    """Solve the linear equations with the augmented matrix A in place: its last column becomes the solution."""
    held1 = cython.declare(cython.double)
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if fabs(A[i][k]) > fabs(A[p][k]):
                p = i
        if p != k:
            for j in range(k, n + 1):
                held1 = A[k][j]
                A[k][j] = A[p][j]
                A[p][j] = held1
        inverse = 1.0 / A[k][k]
        for j in range(k + 1, n + 1):
            A[k][j] *= inverse
        for i in range(n):
            if i != k:
                for j in range(k + 1, n + 1):
                    A[i][j] -= A[i][k] * A[k][j]


def _nearest(memory: Array, h: float, known: int) -> tuple[int, int, float]:
    """Two rows of history for a linear extrapolation in time, and the weight of their difference.

    The extrapolation is the first row plus the weight times (first − second). The rows are −1 without history.
    """
    width = memory.shape[1]
    if known < 2:
        return -1, -1, 0.0
    near = -1
    other = -1
    to_near = 0.0
    to_other = 0.0
    end = 0.0
    for k in range(HISTORY - 1, HISTORY - known - 1, -1):
        away = end - 0.5 * memory[k][width - 1] - 0.5 * h
        end -= memory[k][width - 1]
        if near < 0 or fabs(away) < fabs(to_near):
            near = k
            to_near = away
    end = 0.0
    for k in range(HISTORY - 1, HISTORY - known - 1, -1):
        away = end - 0.5 * memory[k][width - 1] - 0.5 * h
        end -= memory[k][width - 1]
        if fabs(away - to_near) >= LEAST_SPACING * fabs(h) and (other < 0 or fabs(away) < fabs(to_other)):
            other = k
            to_other = away
    if other < 0:
        return near, near, 0.0
    return near, other, to_near / (to_other - to_near)


def remember(m: Memory, h: float, known: int) -> None:
    """Append the mean velocities, multipliers, velocity defect and length of the step to the history."""
    width = m.run_history.shape[1]
    for i in range(larger_int(HISTORY - known, 1) * width, entries(m.run_history)):
        put(m.run_history, i - width, get(m.run_history, i))
    row = m.run_history[HISTORY - 1]
    copy(m.x, row)
    copy(m.run_defect, part(row, m.x.size, row.shape[0]))
    row[width - 1] = h
