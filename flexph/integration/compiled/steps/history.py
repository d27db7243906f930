"""The last steps, and the guess of the next one from them."""

from __future__ import annotations

from ....kernels.tolerances import HISTORY, LEAST_SPACING, WEIGHT_LIMIT
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import get, put
from ..loops.motion import copy
from ..memory.memory import Memory


@kernel
def guess(m: Memory, axes: tuple[int, ...], h: float, known: int) -> None:
    """Mean velocities predicted from the last steps (see kernels.guess), or the present ones; the last multipliers."""
    velocities, now = m.x_velocities, m.at_velocities
    if not (known == HISTORY and _predict_alternating(m.run_history, h, m.run_extrapolation, velocities)):
        near, other, slope = _nearest(m.run_history, h, known)
        for i in range(velocities.size):
            velocities[i] = (
                m.run_history[near, i] + slope * (m.run_history[near, i] - m.run_history[other, i])
                if near >= 0
                else now[i]
            )
    for i in range(m.x_lam.size):
        m.x_lam[i] = m.run_history[HISTORY - 1, velocities.size + i] if known > 0 else 0.0


@kernel
def _predict_alternating(memory: Array, h: float, basis: Array, velocities: Array) -> bool:
    """The velocities of kernels.guess.predicted_alternating; False where two rows are too alike."""
    end, turned, sign, last = -0.5, -0.5, 1.0, memory.shape[1] - 1
    for k in range(HISTORY):
        share = memory[HISTORY - 1 - k, last] / h
        turn, sign = 1.0 / share, -sign
        away = end - 0.5 * share
        basis[0, k], basis[1, k], basis[2, k] = 1.0, away, away * away
        basis[3, k], basis[4, k] = sign * turn, sign * turn * (turned - 0.5 * turn)
        end, turned = end - share, turned - turn
    basis[:, HISTORY] = 0.0
    basis[0, HISTORY] = basis[3, HISTORY] = 1.0
    _eliminate(basis)
    for k in range(HISTORY):
        if not abs(basis[k, HISTORY]) <= WEIGHT_LIMIT:
            return False
    velocities[:] = 0.0
    for k in range(HISTORY):
        weight, row = basis[k, HISTORY], memory[HISTORY - 1 - k]
        for i in range(velocities.size):
            velocities[i] += weight * row[i]
    return True


@kernel
def _eliminate(A: Array) -> None:
    """Gauss and Jordan with pivoting: the last column becomes the solution."""
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            for j in range(k, n + 1):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for j in range(k + 1, n + 1):
            A[k, j] *= inverse
        for i in range(n):
            if i != k:
                for j in range(k + 1, n + 1):
                    A[i, j] -= A[i, k] * A[k, j]


@kernel
def _nearest(memory: Array, h: float, known: int) -> tuple[int, int, float]:
    """The two rows of the memory that say where the velocity leads, −1 where there are none, and the slope between."""
    width = memory.shape[1]
    if known < 2:
        return -1, -1, 0.0
    near, other, to_near, to_other, end = -1, -1, 0.0, 0.0, 0.0
    for k in range(HISTORY - 1, HISTORY - known - 1, -1):
        away = end - 0.5 * memory[k, width - 1] - 0.5 * h
        end -= memory[k, width - 1]
        if near < 0 or abs(away) < abs(to_near):
            near, to_near = k, away
    end = 0.0
    for k in range(HISTORY - 1, HISTORY - known - 1, -1):
        away = end - 0.5 * memory[k, width - 1] - 0.5 * h
        end -= memory[k, width - 1]
        if abs(away - to_near) >= LEAST_SPACING * abs(h) and (other < 0 or abs(away) < abs(to_other)):
            other, to_other = k, away
    if other < 0:
        return near, near, 0.0
    return near, other, to_near / (to_other - to_near)


@kernel
def remember(m: Memory, h: float, known: int) -> None:
    """Append a row of history for the step: mean velocities, multipliers, velocity defect, length."""
    width = m.run_history.shape[1]
    for i in range(max(HISTORY - known, 1) * width, m.run_history.size):
        put(m.run_history, i - width, get(m.run_history, i))
    row = m.run_history[HISTORY - 1]
    copy(m.x, row)
    copy(m.run_defect, row[m.x.size :])
    row[width - 1] = h
