"""Settling of slip at the end of a step with dry friction of joints.

The plastic friction law |Λ| ≤ μ|λ| applies to the impulses Λ of the whole step, against the slip rates after them.
Velocities first lose their defect in the joints. The change of impulses is scaled so that step and settling together
create no energy.
"""

from __future__ import annotations

import cython

from ..memory.codes import DEPENDENT as _DEPENDENT
from ..memory.codes import LAWLESS as _LAWLESS

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import copy, entries, fill, larger, put, smaller
    from ..friction.law import evaluate_law, solve_law
    from ..friction.rows import differentiate_slips, end_rates, set_gradients, set_unit_defects, slip_change, slip_size
    from ..mechanics.arrow import expand, reduce, solve_border
    from ..mechanics.ledger_rows import energies, velocity_defect
    from ..mechanics.motion import derive_momenta, mean_shapes
    from ..mechanics.redundancy import solve_least
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from .friction import UNSOLVED, free_rates
    from .impulse import INSTANT, factor_instant, hold_joints, work_of_joints
    from .rows import record_energy, refuse

DEPENDENT = cython.declare(cython.Py_ssize_t, _DEPENDENT)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)


def settle(m: Memory, dim: int, redundant: int, given: Given) -> bool:
    """Settle the slips at the end of a step, from the rates in ``rub.rate``; False if the law is not solved."""
    m.rub_settles[1] = 1.0
    taken = 0.0
    for i in range(m.bearings_friction.size):
        taken += m.run_flow[m.bearings_lost[i]]
    if not factor_instant(m, dim, redundant, given.after):
        return refuse(m, DEPENDENT, 0)
    set_gradients(m)
    differentiate_slips(m, dim, INSTANT)
    lost = _keep_joints(m, dim, redundant, given.h)
    _answer_impulses(m, dim, redundant)
    mean_shapes(m, dim, m.at_du, m.trial_c)
    m.rub_scale[0] = larger(larger(free_rates(m), slip_size(m, dim, m.at_v, m.at_w, m.at_du, m.trial_c)), 1e-300)
    if not solve_law(m) <= UNSOLVED:
        return refuse(m, LAWLESS, 0)
    copy(m.rub_best, m.rub_found)
    m.run_step_audit[7] = larger(m.run_step_audit[7], evaluate_law(m) / m.rub_scale[0])
    _apply_share(m, dim, _largest_share(m, taken))
    _record(m, dim, lost, given)
    return True


def _keep_joints(m: Memory, dim: int, redundant: int, h: float) -> float:
    """Remove the velocity defect by impulses of the joints, and update the slip rates; return the energy lost [J]."""
    lost = hold_joints(m, dim, redundant, m.rub_mu)
    for q in range(m.rub_slip.size):
        m.rub_slip[q] = m.rub_rate[q] - slip_change(m, q)
        m.rub_force[q] *= h
    for k in range(m.rub_base.size):
        m.rub_base[k] = h * m.x_lam[m.bearings_row[k]] - m.rub_mu[m.bearings_row[k]]
    return lost


def _answer_impulses(m: Memory, dim: int, redundant: int) -> None:
    """Compute the responses of velocities and joint impulses to unit friction impulses.

    Their parts in the law (see friction.law) are D, the changes of slip rates, and E, those of pressing impulses.
    """
    for q in range(m.rub_force.size):
        set_unit_defects(m, dim, q, -1.0)
        reduce(m, dim, 0, INSTANT)
        if redundant > 0:
            solve_least(m)
        else:
            solve_border(m)
        expand(m, dim, INSTANT)
        for i in range(m.at_velocities.size):
            m.rub_answer[q][i] = 2.0 * m.correction[i]
        for i in range(m.rub_mu.size):
            m.rub_answer[q][m.at_velocities.size + i] = m.system_x[m.border_l[i]]
        for k in range(m.rub_force.size):
            m.rub_D[k][q] = 2.0 * slip_change(m, k)
        for k in range(m.rub_base.size):
            m.rub_E[k][q] = m.system_x[m.border_l[m.bearings_row[k]]]


def _largest_share(m: Memory, taken: float) -> float:
    """Largest share, at most 1, of the change of friction impulses to those of the law that creates no energy.

    The change may return the energy ``taken`` [J] that the friction of the step itself dissipated.
    """
    slope = 0.0
    curve = 0.0
    for k in range(m.rub_force.size):
        wanted = m.rub_best[k] - m.rub_force[k]
        total = 0.0
        for l in range(m.rub_force.size):
            total += m.rub_D[k][l] * (m.rub_best[l] - m.rub_force[l])
        slope = slope + wanted * m.rub_slip[k]
        curve = curve + wanted * total
    root = sqrt(slope * slope + 2.0 * curve * larger(taken, 0.0))
    return smaller(1.0, (root - slope) / larger(curve, 1e-300))


def _apply_share(m: Memory, dim: int, share: float) -> None:
    """Add the effect of ``share`` times the change of friction impulses to the velocities.

    That part of the change is written into ``rub.found``.
    """
    for q in range(m.rub_force.size):
        m.rub_found[q] = share * (m.rub_best[q] - m.rub_force[q])
        for i in range(m.at_velocities.size):
            m.at_velocities[i] += m.rub_answer[q][i] * m.rub_found[q]
    derive_momenta(m, dim, m.trial_c)


def _record(m: Memory, dim: int, lost: float, given: Given) -> None:
    """Record flows, energies and the velocity defect after settling; ``lost`` [J] is the loss by joint impulses."""
    fill(m.run_flow, 0.0)
    _record_joints(m, given)
    if m.bearings_joined[0] >= 0:
        m.run_flow[m.bearings_joined[0]] += lost
    velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
    end_rates(m, dim, m.rub_rate)
    t = m.bearings_spring.shape[1]
    for i in range(m.bearings_friction.size):
        before = 0.0
        after = 0.0
        for q in range(i * t, (i + 1) * t):
            m.run_flow[m.bearings_lost[i]] -= m.rub_found[q] * 0.5 * (m.rub_slip[q] + m.rub_rate[q])
            before = before + m.rub_force[q] ** 2
            after = after + (m.rub_force[q] + m.rub_found[q]) ** 2
        m.run_flow[m.bearings_rubbed[i]] += sqrt(after) - sqrt(before)
    energies(m, dim, m.run_new_energy)
    m.run_step_audit[0] += fabs(record_energy(m))
    copy(m.run_new_defect, m.run_defect)
    last = entries(m.run_history) - 1 - m.rub_mu.size
    for row in range(m.rub_mu.size):
        put(m.run_history, last + row, m.run_defect[row])


def _record_joints(m: Memory, given: Given) -> None:
    """Compute the impulses of the joints by settling in ``rub.mu``, and add the work of driven ones to the flows."""
    for row in range(m.rub_mu.size):
        m.rub_mu[row] = -m.rub_mu[row]
        for q in range(m.rub_found.size):
            m.rub_mu[row] += m.rub_answer[q][m.at_velocities.size + row] * m.rub_found[q]
    work_of_joints(m, m.rub_mu, 1.0, given.coefficient_rate, given.offset_rate)
