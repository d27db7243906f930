"""Dry friction of joints in the iteration of a step, and checks and records after it."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import RESOLUTION as _RESOLUTION

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, larger
    from ..friction.law import SOLVED, coefficient, evaluate_law, solve_law
    from ..friction.rows import end_rates, measure_slips, pressed_size, set_friction_forces, slip_change, slip_size
    from ..memory.memory import Memory

RESOLUTION = cython.declare(cython.double, _RESOLUTION)


ROUGH = cython.declare(cython.double, 1e-6)
UNSOLVED = cython.declare(cython.double, 1e-9)
"""Largest relative defects of the friction law: during the iteration, where linearised slips of redundant bearings
disagree, and at its end."""
STILL = cython.declare(cython.double, 1e-12)
SLIPPING = cython.declare(cython.double, 1e-9)
"""Relative slip up to which a bearing rests, and relative distance to its bound above which it sticks."""


def begin_friction(m: Memory) -> None:
    """Set all friction forces of joints to zero."""
    fill(m.rub_force, 0.0)
    fill(m.trial_rub, 0.0)
    fill(m.path_rub, 0.0)


def correct_friction(m: Memory, dim: int, h: float, extent: float) -> bool:
    """Solve the friction law together with the correction of a step; update forces, correction and defects.

    Returns False if the law is not solved. ``extent`` [m] is the largest coordinate of the mechanism.
    """
    measure_slips(m, h)
    for q in range(m.rub_slip.size):
        m.rub_slip[q] -= slip_change(m, q)
    for k in range(m.rub_base.size):
        m.rub_base[k] -= m.correction_lam[m.bearings_row[k]]
    _scale(m, dim, h, extent)
    if not solve_law(m) <= ROUGH:
        return False
    copy(m.rub_best, m.rub_found)
    evaluate_law(m)
    for i in range(m.rub_bound.size):
        m.rub_bound[i] = coefficient(m, i) * m.rub_size[i]
    for q in range(m.rub_force.size):
        change = m.rub_best[q] - m.rub_force[q]
        m.rub_force[q] = m.rub_best[q]
        for i in range(m.defect.size):
            m.defect[i] += m.rub_acting[q][i] * change
            m.correction[i] += m.rub_answer[q][i] * change
    set_friction_forces(m)
    return True


def _scale(m: Memory, dim: int, h: float, extent: float) -> None:
    """Compute the scale of the defects of the friction law [m/s].

    It is the largest of the slip rates without friction, the size of their terms, and the resolution of positions
    divided by h. ``extent`` [m] is the largest coordinate of the mechanism.
    """
    largest = larger(slip_size(m, dim, m.x_v, m.x_w, m.x_du, m.trial_c), RESOLUTION * extent / (h * SOLVED))
    m.rub_scale[0] = larger(larger(free_rates(m), largest), 1e-300)


def free_rates(m: Memory) -> float:
    """Largest slip rate [m/s] that the bearings would have without friction."""
    largest = 0.0
    for k in range(m.rub_slip.size):
        total = m.rub_slip[k]
        for l in range(m.rub_force.size):
            total -= m.rub_D[k][l] * m.rub_force[l]
        largest = larger(largest, fabs(total))
    return largest


def obeys_law(m: Memory, h: float) -> bool:
    """True if a solved step of length h [s] obeys the friction law; its relative defect is recorded."""
    measure_slips(m, h)
    copy(m.rub_force, m.rub_found)
    missed = evaluate_law(m) / m.rub_scale[0]
    m.run_step_audit[7] = larger(m.run_step_audit[7], missed)
    return missed <= UNSOLVED


def record_friction(m: Memory, h: float) -> None:
    """Add the friction loss of a step, its friction impulses and the pressing impulses to the flows."""
    measure_slips(m, h)
    t = m.bearings_spring.shape[1]
    for i in range(m.bearings_friction.size):
        square = 0.0
        for q in range(i * t, (i + 1) * t):
            m.run_flow[m.bearings_lost[i]] -= h * m.rub_force[q] * m.rub_slip[q]
            square += m.rub_force[q] ** 2
        m.run_flow[m.bearings_pressing[i]] += h * pressed_size(m, i)
        m.run_flow[m.bearings_rubbed[i]] += h * square**0.5


def begins_to_stick(m: Memory, dim: int) -> bool:
    """True if a bearing slips at the end of a step, although it stuck or slipped the other way in the step."""
    held = cython.declare(cython.bint)
    t = m.bearings_spring.shape[1]
    still = STILL * end_rates(m, dim, m.rub_rate)
    for i in range(m.bearings_friction.size):
        slip = 0.0
        friction = 0.0
        power = 0.0
        for q in range(i * t, (i + 1) * t):
            slip += m.rub_rate[q] ** 2
            friction += m.rub_force[q] ** 2
            power += m.rub_force[q] * m.rub_rate[q]
        held = friction**0.5 < (1.0 - SLIPPING) * m.rub_bound[i]
        if slip**0.5 > still and (held or power > 0.0):
            return True
    return False
