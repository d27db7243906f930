"""Law of dry friction of joints: forces T against the slip rates s with |T| ≤ μ|λ|, λ the joint force.

Slip rates and joint forces (multipliers) change with the forces, s = s₀ + D (T − T₀) and λ = λ₀ + E (T − T₀). With a
step length r, the reciprocal of a mobility, the law is T = proj(T − r s), the projection on |T| ≤ μ|λ|. The law is
solved by Newton's method, with the Jacobian of the iterate's branch, and by Gauss-Seidel sweeps with |λ| fixed if that
fails (see tests/samples/complementarity.py).
"""

from __future__ import annotations

import cython

from ....kernels.arrays import FRICTIONS as _FRICTIONS

if not cython.compiled:
    from math import fabs, isfinite, sqrt
    from math import inf as INFINITY

    from ....numerics.algebra.dense import factor, solve
    from ....numerics.loops.views import copy, fill, larger
    from ..memory.memory import Memory
    from ..terms.spring_laws import factor_at


TRIES = cython.declare(cython.Py_ssize_t, 8)
STEPS = cython.declare(cython.Py_ssize_t, 20)
SWEEPS = cython.declare(cython.Py_ssize_t, 50)
"""Number of tries of Newton's method, of its steps, and of sweeps between two tries."""
WEIGHT = cython.declare(cython.double, 1e-8)
"""Weight on force changes of sticking bearings: it makes forces unique, also for redundant bearings."""
LEAST = cython.declare(cython.double, 1e-8)
"""Least mobility of a bearing, divided by the largest one; smaller ones are raised to it."""
FRICTIONS = cython.declare(cython.Py_ssize_t, _FRICTIONS)
SOLVED = cython.declare(cython.double, 1e-11)
EXACT = cython.declare(cython.double, 1e-14)
"""Relative defects of a solved law, and of one that need not be improved (see tests/samples/complementarity.py)."""


def solve_law(m: Memory) -> float:
    """Solve the law of dry friction for the forces near the present ones; return their relative defect.

    The forces are written into ``rub.best``.
    """
    better = cython.declare(cython.bint)
    scale = m.rub_scale[0]
    least = INFINITY
    copy(m.rub_force, m.rub_found)
    copy(m.rub_force, m.rub_best)
    copy(m.rub_force, m.rub_swept)
    for _ in range(TRIES):
        for step in range(STEPS):
            missed = evaluate_law(m)
            better = missed < larger(least, EXACT * scale)
            if not better and (least <= SOLVED * scale or not isfinite(missed)):
                break
            if better:
                least = missed
                copy(m.rub_found, m.rub_best)
            if step > 0 and least <= EXACT * scale:  # after one step, slipping forces are exact if rates say little
                break
            factor(m.rub_slope, m.rub_pivot)
            solve(m.rub_slope, m.rub_pivot, m.rub_missed)
            for i in range(m.rub_found.size):
                m.rub_found[i] -= m.rub_missed[i]
        if least <= SOLVED * scale:
            break
        copy(m.rub_swept, m.rub_found)
        for _ in range(SWEEPS):
            _sweep(m)
        copy(m.rub_found, m.rub_swept)
    return least / scale


def coefficient(m: Memory, i: int) -> float:
    """Coefficient of friction of bearing i; the mean over a step if it changes with time."""
    k = m.bearings_rubbing[i]
    if k < 0:
        return m.bearings_friction[i]
    return 0.5 * m.bearings_friction[i] * (factor_at(m, FRICTIONS, k, 0) + factor_at(m, FRICTIONS, k, 1))


def evaluate_law(m: Memory) -> float:
    """Compute the defects of the law T = proj(T − r s) at trial forces T, and their Jacobian.

    Returns the largest defect [m/s].
    """
    largest = 0.0
    t = m.bearings_spring.shape[1]
    _set_rates(m)
    for i in range(m.bearings_friction.size):
        step = _step_length(m, i)
        bound = coefficient(m, i) * m.rub_size[i]
        size = _trial_size(m, i, step)
        for j in range(t):
            q = i * t + j
            if m.bearings_spring[i][j] < 0:
                m.rub_missed[q] = m.rub_found[q]
            elif size <= bound:
                m.rub_missed[q] = step * m.rub_rate[q]
            else:
                m.rub_missed[q] = m.rub_found[q] - bound * (m.rub_found[q] - step * m.rub_rate[q]) / size
            missed = fabs(m.rub_missed[q]) / step
            largest = missed if not missed <= largest else largest
            _fill_slope(m, i, q, step, bound, size)
    return largest


def _set_rates(m: Memory) -> None:
    """Compute the slip rates and joint forces at the trial forces."""
    for k in range(m.rub_rate.size):
        total = m.rub_slip[k]
        for l in range(m.rub_force.size):
            total += m.rub_D[k][l] * (m.rub_found[l] - m.rub_force[l])
        m.rub_rate[k] = total
    fill(m.rub_size, 0.0)
    for k in range(m.rub_base.size):
        total = m.rub_base[k]
        for l in range(m.rub_force.size):
            total += m.rub_E[k][l] * (m.rub_found[l] - m.rub_force[l])
        m.rub_pressed[k] = total
        m.rub_size[m.bearings_owner[k]] += total * total
    for i in range(m.rub_size.size):
        m.rub_size[i] = sqrt(m.rub_size[i])


def _step_length(m: Memory, i: int) -> float:
    """Step length r of bearing i in the law, the reciprocal of its mobility.

    The mobility may vanish in a dead centre; at least a small part of the largest mobility is taken.
    """
    t = m.bearings_spring.shape[1]
    diagonal = 0.0
    largest = 0.0
    for q in range(m.rub_force.size):
        mobility = m.rub_D[q][q]
        largest = larger(largest, mobility)
        diagonal = larger(diagonal, mobility) if q // t == i else diagonal
    diagonal = larger(diagonal, LEAST * largest)
    return 1.0 / diagonal if diagonal > 0.0 else 1.0


def _trial_size(m: Memory, i: int, step: float) -> float:
    """Length of the vector T − r s of bearing i, with r = ``step``."""
    t = m.bearings_spring.shape[1]
    square = 0.0
    for q in range(i * t, (i + 1) * t):
        trial = m.rub_found[q] - step * m.rub_rate[q]
        square += trial * trial
    return sqrt(square)


def _fill_slope(m: Memory, i: int, q: int, step: float, bound: float, size: float) -> None:
    """Compute the row of slip q of bearing i in the Jacobian of the law's defects.

    ``step`` is the step length r, ``bound`` the largest friction, ``size`` is |T − r s|.
    """
    t = m.bearings_spring.shape[1]
    first = i * m.bearings_spring.shape[1]
    row = m.rub_slope[q]
    if m.bearings_spring[i][q - first] < 0:
        fill(row, 0.0)
        row[q] = 1.0
        return
    if size <= bound:
        for l in range(row.size):
            row[l] = step * m.rub_D[q][l]
        row[q] += WEIGHT
        return
    n = (m.rub_found[q] - step * m.rub_rate[q]) / size
    for l in range(row.size):
        turned = (1.0 if l == q else 0.0) - step * m.rub_D[q][l]
        for p in range(first, first + t):
            along = (m.rub_found[p] - step * m.rub_rate[p]) / size
            turned -= n * along * ((1.0 if l == p else 0.0) - step * m.rub_D[p][l])
        row[l] = (1.0 if l == q else 0.0) - bound / size * turned
    for k in range(m.rub_base.size):
        if m.bearings_owner[k] == i and m.rub_size[i] > 0.0:
            gain = n * coefficient(m, i) * m.rub_pressed[k] / m.rub_size[i]
            for l in range(row.size):
                row[l] -= gain * m.rub_E[k][l]


def _sweep(m: Memory) -> None:
    """Update the trial forces of one bearing after the other by the law.

    Slip rates follow the new forces; the joint forces |λ| keep their values from the start of the sweep.
    """
    t = m.bearings_spring.shape[1]
    _set_rates(m)
    for i in range(m.bearings_friction.size):
        step = _step_length(m, i)
        bound = coefficient(m, i) * m.rub_size[i]
        size = _trial_size(m, i, step)
        share = 1.0 if size <= bound else bound / size
        for q in range(i * t, (i + 1) * t):
            trial = share * (m.rub_found[q] - step * m.rub_rate[q])
            change = trial - m.rub_found[q] if m.bearings_spring[i][q - i * t] >= 0 else 0.0
            m.rub_missed[q] = change
        for q in range(i * t, (i + 1) * t):
            m.rub_found[q] += m.rub_missed[q]
            for k in range(m.rub_rate.size):
                m.rub_rate[k] += m.rub_D[k][q] * m.rub_missed[q]
