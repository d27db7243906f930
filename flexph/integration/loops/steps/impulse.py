"""Impulses of the joints that reduce the velocity defect e = G v − b between steps, b = −∂g/∂t.

G is the Jacobian of the constraints g, M the mass matrix. With S = G M⁻¹Gᵀ, μ = S⁻¹e and the rates b prescribed by
drives (zero for joints), the velocities

    v′ = v − κ M⁻¹Gᵀμ   have the defect   e′ = (1 − κ) e   and   ΔT = −κ b·μ − κ(1 − ½κ) e·μ :

The change ΔT of the kinetic energy is work of the drives, and a loss that is never negative for 0 ≤ κ ≤ 2. Linear and
angular momentum are conserved. κ = 2 is the reflection e′ = −e without loss: a step of the exact scheme of length 0.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import DEPENDENT as _DEPENDENT

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, entries, fill, get, larger, put
    from ..mechanics.arrow import eliminate, expand, reduce, solve_border
    from ..mechanics.couplings import add_constraints, add_ends, add_rolling, differentiate_vectors
    from ..mechanics.curves import add_curves
    from ..mechanics.jacobian import add_flexible, add_rigid, turn_bodies
    from ..mechanics.ledger_rows import energies, velocity_defect
    from ..mechanics.motion import derive_momenta
    from ..mechanics.redundancy import factor_assembled, keep_independent, solve_least
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..terms.paths import set_curves_at_rest
    from .rows import record_energy, refuse

DEPENDENT = cython.declare(cython.Py_ssize_t, _DEPENDENT)


INSTANT = cython.declare(cython.double, 2.0**-500)
"""Length of a step in which only inertia and constraints act: a power of two, so that products with it are exact."""


def factor_instant(m: Memory, dim: int, redundant: int, coefficient: Array) -> bool:
    """Factor [[2M, −Gᵀ], [G, 0]] in the present state ``at``, the limit of the Jacobian for short steps.

    Returns False if it is singular.
    """
    _reset_trial(m, dim)
    m.run_length[0] = INSTANT
    fill(m.system_jacobian, 0.0)
    add_flexible(m, dim, INSTANT)
    turn_bodies(m, dim, 0, INSTANT)
    add_rigid(m, dim, 0, INSTANT)
    differentiate_vectors(m, dim, INSTANT)
    add_ends(m, dim)
    add_constraints(m, dim, INSTANT, coefficient, coefficient)
    add_rolling(m, dim, INSTANT)
    set_curves_at_rest(m)
    add_curves(m, dim, INSTANT, False)
    if redundant > 0:
        return factor_assembled(m, dim, 0)
    return eliminate(m, dim, 0)


def _reset_trial(m: Memory, dim: int) -> None:
    """Set the end and the mean of the trial step to its start."""
    copy(m.at_state, m.end_state)
    copy(m.at_vectors, m.end_vectors)
    copy(m.at_arm, m.trial_lever)
    copy(m.at_vector, m.trial_mean)
    copy(m.at_Pu, m.end_Pu)
    copy(m.at_Pu, m.trial_Pmean)
    copy(m.at_Pdu, m.end_Pdu)
    copy(m.at_p_r, m.end_p_r)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            for j in range(dim):
                m.trial_inverse[b][i][j] = m.at_R[b][j][i]


def solve_impulse(m: Memory, dim: int, redundant: int, defect: Array, mu: Array) -> None:
    """Solve for the impulses μ = (G M⁻¹Gᵀ)⁻¹ e of the joints into ``mu``, and M⁻¹Gᵀμ into ``correction``.

    The velocity defect e is ``defect``, which may be overwritten.
    """
    if redundant > 0:
        keep_independent(m, defect)
    fill(m.defect, 0.0)
    reduce(m, dim, 0, INSTANT)
    for i in range(defect.size):
        m.system_x[m.border_l[i]] = defect[i]
    if redundant > 0:
        solve_least(m)
    else:
        solve_border(m)
    expand(m, dim, INSTANT)
    for i in range(mu.size):
        mu[i] = 0.5 * m.system_x[m.border_l[i]]


def hold_joints(m: Memory, dim: int, redundant: int, mu: Array) -> float:
    """Remove the velocity defect by impulses of the joints, which are written to ``mu``; return the energy lost [J]."""
    copy(m.run_defect, m.run_gap)
    solve_impulse(m, dim, redundant, m.run_gap, mu)
    lost = 0.0
    for i in range(mu.size):
        lost += 0.5 * mu[i] * m.run_defect[i]
    for i in range(m.at_velocities.size):
        m.at_velocities[i] -= m.correction[i]
    return lost


def work_of_joints(m: Memory, impulse: Array, share: float, coefficient_rate: Array, offset_rate: Array) -> None:
    """Add the work that driven joints do by ``share`` times their impulses, in the present state, to the flows.

    ``coefficient_rate`` and ``offset_rate`` are the time derivatives of coefficients and offsets of the constraints.
    """
    for row in range(impulse.size):
        m.run_gap[row] = offset_rate[row]
    for term in range(m.joints_term_row.size):
        m.run_gap[m.joints_term_row[term]] -= coefficient_rate[term] * m.at_product[m.joints_term_product[term]]
    for row in range(impulse.size):
        m.run_flow[m.ledger_row[row]] += share * impulse[row] * m.run_gap[row]


def subtract_impulse(m: Memory, dim: int, given: Given, mu: Array, share: float, length: float) -> None:
    """Subtract a share κ of M⁻¹Gᵀμ from the velocities, and record the impulse and its loss.

    Impulse and loss are recorded for a step of this ``length`` [s].
    """
    lost = 0.0
    for i in range(m.run_defect.size):
        lost += share * (1.0 - 0.5 * share) * m.run_defect[i] * mu[i]
    for i in range(m.at_velocities.size):
        m.at_velocities[i] -= share * m.correction[i]
    derive_momenta(m, dim, m.trial_c)
    fill(m.run_flow, 0.0)
    work_of_joints(m, mu, -share, given.coefficient_rate, given.offset_rate)
    for row in range(mu.size):
        m.run_step_stage[row] -= share * mu[row] / length
    if lost != 0.0:
        m.run_flow[m.run_flow.size - 1] += lost
    energies(m, dim, m.run_new_energy)
    m.run_step_audit[0] += fabs(record_energy(m))
    velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
    copy(m.run_new_defect, m.run_defect)
    last = entries(m.run_history) - 1 - mu.size
    for row in range(mu.size):
        put(m.run_history, last + row, get(m.run_defect, row))


def lose_defect(m: Memory, dim: int, redundant: int, given: Given, length: float) -> bool:
    """Multiply the velocity defect by the spectral radius ρ, by impulses recorded in a step of this length [s].

    Returns False if the constraints are dependent.
    """
    share = 2.0 * m.decay_share[0] / (1.0 + m.decay_share[0])  # 1 − ρ of α = (1 − ρ)/(1 + ρ)
    left = 0.0
    for i in range(m.run_defect.size):
        left = larger(left, fabs(m.run_defect[i]))
    if left == 0.0 or share == 0.0:
        return True
    if not factor_instant(m, dim, redundant, given.after):
        return refuse(m, DEPENDENT, 0)
    copy(m.run_defect, m.run_gap)
    solve_impulse(m, dim, redundant, m.run_gap, m.decay_mu)
    subtract_impulse(m, dim, given, m.decay_mu, share, length)
    return True
