"""Dry friction of joints within the iteration of a step, and after it (see contact.closing, contact.part_stepper)."""

from __future__ import annotations

from ....kernels.resolution import RESOLUTION
from ....numerics.compiled.kernel import kernel
from ..friction.law import SOLVED, law, solve_law
from ..friction.rows import along_row, end_rates, measure_slips, pressed_size, rub, sized
from ..loops.motion import copy
from ..memory.memory import Memory

ROUGH, UNSOLVED = 1e-6, 1e-9
"""Defects of the law that are enough on the way, as linearised slips of redundant bearings disagree, and at the end."""
STILL, SLIPPING = 1e-12, 1e-9
"""See contact.part_stepper."""


@kernel
def begin_friction(m: Memory) -> None:
    """No friction."""
    m.rub_force[:] = 0.0
    m.trial_rub[:] = 0.0


@kernel
def correct_friction(m: Memory, axes: tuple[int, ...], h: float, extent: float) -> bool:
    """Friction that obeys its law with the correction of a step, and that correction; False where none is found."""
    measure_slips(m, h)
    for q in range(m.rub_slip.size):
        m.rub_slip[q] -= along_row(m, q)
    for k in range(m.rub_base.size):
        m.rub_base[k] -= m.correction_lam[m.bearings_row[k]]
    _scale(m, axes, h, extent)
    if not solve_law(m) <= ROUGH:
        return False
    copy(m.rub_best, m.rub_found)
    law(m)
    for i in range(m.rub_bound.size):
        m.rub_bound[i] = m.bearings_friction[i] * m.rub_size[i]
    for q in range(m.rub_force.size):
        change = m.rub_best[q] - m.rub_force[q]
        m.rub_force[q] = m.rub_best[q]
        for i in range(m.defect.size):
            m.defect[i] += m.rub_acting[q, i] * change
            m.correction[i] += m.rub_answer[q, i] * change
    rub(m)
    return True


@kernel
def _scale(m: Memory, axes: tuple[int, ...], h: float, extent: float) -> None:
    """What defects of the law are compared with: rates without friction, their terms, and what gaps do not resolve."""
    largest = max(sized(m, axes, m.x_v, m.x_w, m.x_du, m.trial_c), RESOLUTION * extent / (h * SOLVED))
    m.rub_scale[0] = max(free_rates(m), largest, 1e-300)


@kernel
def free_rates(m: Memory) -> float:
    """The largest slip rate without friction."""
    largest = 0.0
    for k in range(m.rub_slip.size):
        total = m.rub_slip[k]
        for l in range(m.rub_force.size):
            total -= m.rub_D[k, l] * m.rub_force[l]
        largest = max(largest, abs(total))
    return largest


@kernel
def obeys(m: Memory, h: float) -> bool:
    """Whether a solved step obeys the law, whose defect is recorded."""
    measure_slips(m, h)
    copy(m.rub_force, m.rub_found)
    missed = law(m) / m.rub_scale[0]
    m.run_step_audit[7] = max(m.run_step_audit[7], missed)
    return missed <= UNSOLVED


@kernel
def record_friction(m: Memory, h: float) -> None:
    """Add what friction takes in a step to the flows, with its impulses and those that press."""
    measure_slips(m, h)
    t = m.bearings_spring.shape[1]
    for i in range(m.bearings_friction.size):
        square = 0.0
        for q in range(i * t, (i + 1) * t):
            m.run_flow[m.bearings_lost[i]] -= h * m.rub_force[q] * m.rub_slip[q]
            square += m.rub_force[q] ** 2
        m.run_flow[m.bearings_pressing[i]] += h * pressed_size(m, i)
        m.run_flow[m.bearings_rubbed[i]] += h * square**0.5


@kernel
def sticks(m: Memory, axes: tuple[int, ...]) -> bool:
    """Whether a bearing that stuck in a step, or slipped the other way, slips at its end."""
    t = m.bearings_spring.shape[1]
    still = STILL * end_rates(m, axes, m.rub_rate)
    for i in range(m.bearings_friction.size):
        slip, friction, power = 0.0, 0.0, 0.0
        for q in range(i * t, (i + 1) * t):
            slip += m.rub_rate[q] ** 2
            friction += m.rub_force[q] ** 2
            power += m.rub_force[q] * m.rub_rate[q]
        held = friction**0.5 < (1.0 - SLIPPING) * m.rub_bound[i]
        if slip**0.5 > still and (held or power > 0.0):
            return True
    return False
