"""Residual of a step that loses energy, together with the impulse after it, for loops over recorded numbers.

Unknowns are x = (v̂, λ), then the velocities v₁ at the end with the impulse μ, and the velocities v° that the joints
allow. (v₁, μ) are in ``best`` and v° in ``correction``, both in the layout of x; the multipliers in ``correction`` are
unknowns that are zero. With B and ½A of :mod:`flexph.kernels.decay` given for each body, the defects are those of the
step, where the rates w = (ω, u̇) of a body with momenta p = M(u)w and mean rates ŵ satisfy
w₁ + B (M(u₁)w₁ − p₀) = 2ŵ − w₀, and those of

    M (v₁ − v°) = Gᵀμ,   G v° + ∂g/∂t = 0;   the step ends with v₁ − κ (v₁ − v°),   κ = 1 − ρ.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import copy, fill
    from ..mechanics.forces import add_forces_on_nodes, add_node_resultants, subtract_node_loads
    from ..mechanics.ledger_rows import velocity_defect
    from ..mechanics.motion import derive_momenta, inertia_products
    from ..mechanics.residual import balance_momenta, connect, move_and_strain, turn_products
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..nodal.points import distribute_mean_forces


def set_defects(m: Memory, dim: int, given: Given, matrices: Array, out: Array) -> None:
    """Write the defects of all unknowns of a step with its impulse to ``out``, and the state at its end to ``at``.

    ``matrices`` are B and ½A of the bodies, ``given`` the prescribed values of the step and their rates.
    """
    n = m.x.size
    move_and_strain(m, dim, given.h)
    _soften(m, matrices)
    connect(m, dim, 0, given)
    turn_products(m, dim, given.h)
    _set_end_rates(m, dim)
    inertia_products(m, dim, m.end_du, m.trial_c, m.end_Pdu)
    balance_momenta(m, dim, 1, 0, given.h)
    for i in range(n):
        out[i] = m.defect[i]
    _write_rate_defects(m, dim, matrices, out)
    _write_impulse_defects(m, dim, given, out)


def _soften(m: Memory, matrices: Array) -> None:
    """Add ½A Δσ, with the changes Δσ of the stresses of bodies over the step, to the mean stresses."""
    place = cython.declare(cython.Py_ssize_t)
    place = 0
    for b in range(m.inertia_mass.size):
        first = m.vibration_stresses[b]
        count = m.vibration_stresses[b + 1] - first if m.vibration_size[b] > 0 else 0
        place += m.vibration_size[b] * m.vibration_size[b]
        for i in range(count):
            for j in range(count):
                m.trial_stress[first + i] += matrices[place + i * count + j] * m.trial_jump[first + j]
        place += count * count


def _set_end_rates(m: Memory, dim: int) -> None:
    """Copy the velocities at the end of the step from the unknowns."""
    s = m.x_w.shape[1]
    turns = m.inertia_mass.size * dim
    bends = turns + m.inertia_mass.size * s
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.end_v[b][i] = m.best[b * dim + i]
        for i in range(s):
            m.end_w[b][i] = m.best[turns + b * s + i]
    for i in range(m.x_du.size):
        m.end_du[i] = m.best[bends + i]


def _write_rate_defects(m: Memory, dim: int, matrices: Array, out: Array) -> None:
    """Write the defects of the velocities at the end to ``out``: v₁ − (2v̄ − v₀), plus B Δp for bodies that vibrate."""
    place = cython.declare(cython.Py_ssize_t)
    s = m.x_w.shape[1]
    n = m.x.size
    turns = n + m.inertia_mass.size * dim
    bends = turns + m.inertia_mass.size * s
    place = 0
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            out[n + b * dim + i] = m.end_v[b][i] - 2.0 * m.x_v[b][i] + m.at_v[b][i]
        for i in range(s):
            out[turns + b * s + i] = m.end_w[b][i] - 2.0 * m.x_w[b][i] + m.at_w[b][i]
        first = m.inertia_first[b]
        for i in range(first, m.inertia_first[b + 1]):
            out[bends + i] = m.end_du[i] - 2.0 * m.x_du[i] + m.at_du[i]
        size = m.vibration_size[b]
        for i in range(size):
            row = turns + b * s + i if i < s else bends + first + i - s
            for j in range(size):
                if j < s:
                    out[row] += matrices[place + i * size + j] * (m.end_p_r[b][j] - m.at_p_r[b][j])
                else:
                    k = first + j - s
                    out[row] += matrices[place + i * size + j] * (m.end_p_u[k] - m.at_p_u[k])
        place += size * size
        if size > 0:
            count = m.vibration_stresses[b + 1] - m.vibration_stresses[b]
            place += count * count


def _write_impulse_defects(m: Memory, dim: int, given: Given, out: Array) -> None:
    """Write the defects of the impulse μ and of the velocities v° to ``out``, and the state at the end to ``at``."""
    n = m.x.size
    velocities = m.at_velocities.size
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    for i in range(velocities):
        m.at_velocities[i] = m.best[i] - m.correction[i]
    derive_momenta(m, dim, m.trial_c)
    _set_impulse_forces(m, dim, given.after)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.defect_v[b][i] = m.inertia_mass[b] * m.at_v[b][i] - m.trial_on_body[b][i]
        for i in range(m.x_w.shape[1]):
            torque = m.trial_torque[b][i]
            if dim == 3:
                torque = 0.0
                for j in range(3):
                    torque += m.trial_inverse[b][i][j] * m.trial_torque[b][j]
            m.defect_w[b][i] = m.at_p_r[b][i] - torque
    for i in range(m.x_du.size):
        m.defect_du[i] = m.at_p_u[i]
    subtract_node_loads(m, dim, 1.0)
    for i in range(velocities):
        out[2 * n + i] = m.defect[i]
    for i in range(velocities, n):
        out[2 * n + i] = m.correction[i]
    for i in range(velocities):
        m.at_velocities[i] = m.correction[i]
    velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
    for i in range(m.x_lam.size):
        out[n + velocities + i] = m.run_new_defect[i]
    share = 2.0 * m.decay_share[0] / (1.0 + m.decay_share[0])
    for i in range(velocities):
        m.at_velocities[i] = m.best[i] - share * (m.best[i] - m.correction[i])


def _set_impulse_forces(m: Memory, dim: int, after: Array) -> None:
    """Compute the forces on bodies and nodes that impulses of the joints exert, in the present state ``at``."""
    velocities = m.at_velocities.size
    copy(m.at_arm, m.trial_lever)
    copy(m.at_vector, m.trial_mean)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            for j in range(dim):
                m.trial_inverse[b][i][j] = m.at_R[b][j][i]
    fill(m.trial_force, 0.0)
    for i in range(m.joints_term_row.size):
        m.trial_force[m.joints_term_product[i]] += after[i] * m.best[velocities + m.joints_term_row[i]]
    fill(m.trial_forces, 0.0)
    add_forces_on_nodes(m, dim)
    add_node_resultants(m, dim)
    distribute_mean_forces(m)
