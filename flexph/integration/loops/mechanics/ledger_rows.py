"""Energies, work and dissipation of a step in loops (formulas of flexph.results.ledger)."""

from __future__ import annotations

import cython

from ....kernels.arrays import STRAINS as _STRAINS
from ....numerics.arrays import Array
from ..memory.codes import VISCOUS as _VISCOUS

if not cython.compiled:
    from ....numerics.loops.views import copy, fill, larger
    from ..decay.step import add_damping_stresses
    from ..memory.memory import Memory
    from ..memory.structures import Deformed, Momenta
    from ..nodal.flow import add_flow_energies, add_flow_works
    from ..nodal.forces import add_line_energies, add_work_of_schedules
    from ..solids.faces import face_output
    from ..solids.forces import add_law_energies
    from ..terms.hysteresis import follow_path, path_energy
    from ..terms.masses import add_works_of_masses
    from ..terms.paths import set_curves_at_rest
    from ..terms.spring_laws import last_factor, law_value, work_of_factor
    from .curves import add_curve_outputs, add_curve_rates, rate_curves, record_curves
    from .motion import call_large_products, mean_speeds, momenta, node_speeds, product_rate
    from .relations import force
    from .rolling import term_increment, world_spin
    from .slips import record_slips

STRAINS = cython.declare(cython.Py_ssize_t, _STRAINS)
VISCOUS = cython.declare(cython.Py_ssize_t, _VISCOUS)


def energies(m: Memory, dim: int, out: Array) -> None:
    """Write the energies [J] of the present state ``at`` into ``out``, in the order of the ledger."""
    d = dim
    s = 1 if d == 2 else 3
    fill(out, 0.0)
    for b in range(m.inertia_mass.size):
        kinetic = 0.0
        potential = 0.0
        for i in range(d):
            kinetic += m.inertia_mass[b] * m.at_v[b][i] ** 2
            potential -= m.inertia_weight[b][i] * m.at_r[b][i]
        for i in range(s):
            kinetic += m.at_w[b][i] * m.at_p_r[b][i]
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            kinetic += m.at_du[i] * m.at_p_u[i]
        out[m.ledger_kinetic[b]] += 0.5 * kinetic
        if m.ledger_potential[b] >= 0:
            out[m.ledger_potential[b]] += potential
    for i in range(m.at_sigma.size):
        strain = 0.0
        if m.solids_lawful.size > 0 and m.solids_lawful[i]:
            continue
        if m.strains_lawful.size > 0 and m.strains_lawful[i]:
            continue
        for e in range(m.elastic_compliance_ptr[i], m.elastic_compliance_ptr[i + 1]):
            strain += m.elastic_compliance_val[e] * m.at_sigma[m.elastic_compliance_col[e]]
        out[m.ledger_elastic[m.elastic_body[i]]] += 0.5 * m.at_sigma[i] * strain
    if m.solids_lawful.size > 0:
        add_law_energies(m, dim, out)
    if m.strains_lawful.size > 0:
        add_line_energies(m, dim, out)
    for i in range(m.joints_state.size):
        if m.joints_state[i] >= 0:
            held = m.at_spring[m.joints_state[i]]
            if m.joints_law[i] >= 0:
                out[m.ledger_spring[0] + m.joints_state[i]] = last_factor(m, i) * law_value(m, m.joints_law[i], 0, held)
            elif m.joints_path_kind[i] != 0:
                out[m.ledger_spring[0] + m.joints_state[i]] = path_energy(m, i, held)
            elif m.joints_force_law[i] == 0:
                out[m.ledger_spring[0] + m.joints_state[i]] = 0.5 * held**2 / m.joints_stiffness[i]
    for i in range(m.touch_stored.size):
        out[m.ledger_contact[0] + i] = m.touch_stored[i]
    if m.flows_mass.size > 0:
        add_flow_energies(m, dim, out)


def flows(m: Memory, dim: int, h: float, before: Array, after: Array) -> None:
    """Write the works of ports, drives and joints and the losses of a step [J] into ``run.flow``, as in the ledger.

    ``before`` and ``after`` are the coefficients of the constraints at both ends.
    """
    out = m.run_flow
    d = dim
    fill(out, 0.0)
    mean_speeds(m, dim)
    for term in range(m.joints_term_row.size):
        row = m.joints_term_row[term]
        done = h * product_rate(m, dim, m.joints_term_product[term], m.trial_mean)
        out[m.ledger_row[row]] += m.x_lam[row] * 0.5 * (before[term] + after[term]) * done
    for i in range(m.rolling_row.size):
        row = m.rolling_row[i]
        out[m.ledger_row[row]] += (
            m.x_lam[row] * term_increment(m, i) * h * product_rate(m, dim, m.rolling_product[i], m.trial_mean)
        )
    for i in range(m.rolling_spin_row.size):
        row = m.rolling_spin_row[i]
        out[m.ledger_row[row]] += m.x_lam[row] * h * world_spin(m, dim, i, m.x_w)
    rate_curves(m, dim, m.trial_mean)
    record_curves(m, h, out)
    record_slips(m, h, out)
    for e in range(m.loads_node_row.size):
        row = m.loads_node_row[e]
        column = m.loads_node_input[e]
        out[m.ledger_input[column]] += h * m.loads_node_val[e] * m.run_moved[row // d][row % d] * m.trial_loads[column]
    _torque_work(m, dim, h, out)
    for q in range(m.faces_area.size):
        for c in range(dim):
            column = m.faces_input[q][c]
            out[m.ledger_input[column]] += h * face_output(m, dim, q, c) * m.trial_given[column]
    for i in range(m.joints_stiffness.size):
        if m.ledger_reference[i] >= 0:
            out[m.ledger_reference[i]] -= m.trial_tension[i] * m.trial_moved[i]
            if m.joints_law[i] >= 0:
                x0 = m.at_spring[m.joints_state[i]]
                out[m.ledger_reference[i]] += work_of_factor(m, i, x0, x0 + m.trial_extension[i])
    if m.joints_timed[STRAINS][1] > 0:
        add_work_of_schedules(m, out)
    if m.flows_mass.size > 0:
        add_flow_works(m, dim, h, out)
    add_works_of_masses(m, dim, out)
    _dissipation(m, h, out)


def _torque_work(m: Memory, dim: int, h: float, out: Array) -> None:
    for e in range(m.loads_torque_row.size):
        column = m.loads_torque_input[e]
        total = _section_spin(m, dim, e)
        out[m.ledger_input[column]] += h * m.loads_torque_val[e] * total * m.trial_loads[column]


def _section_spin(m: Memory, dim: int, e: int) -> float:
    """Component of a section's mean spin, in world axes, that is conjugate to entry e of the torques of inputs."""
    s = 1 if dim == 2 else 3
    n = m.loads_torque_row[e] // s
    i = m.loads_torque_row[e] % s
    b = m.loads_torque_body[n]
    total = 0.0
    for j in range(s):
        spin = m.x_w[b][j]
        for f in range(m.loads_torque_ptr[n], m.loads_torque_ptr[n + 1]):
            spin += m.loads_torque_shape[f][j] * m.x_du[m.loads_torque_col[f]]
        total += spin if s == 1 else m.trial_inverse[b][j][i] * spin
    return total


def outputs(m: Memory, dim: int) -> None:
    """Write the mean velocities of a step conjugate to its inputs, in the axes of these, into ``run.output``.

    :func:`flows` must have been called before.
    """
    d = dim
    out = m.run_output
    fill(out, 0.0)
    for e in range(m.loads_node_row.size):
        row = m.loads_node_row[e]
        out[m.loads_node_input[e]] += m.loads_node_val[e] * m.run_moved[row // d][row % d]
    add_curve_outputs(m, out)
    for e in range(m.loads_torque_row.size):
        out[m.loads_torque_input[e]] += m.loads_torque_val[e] * _section_spin(m, dim, e)
    for q in range(m.faces_area.size):
        for i in range(d):
            out[m.faces_input[q][i]] += face_output(m, dim, q, i)
    for f in range(m.loads_follow_input.shape[0]):
        for i in range(d):
            m.run_frame[0][i] = out[m.loads_follow_input[f][i]]
        for j in range(d):
            total = 0.0
            for i in range(d):
                total += m.trial_lever[m.loads_follow_node[f][j]][i] * m.run_frame[0][i]
            out[m.loads_follow_input[f][j]] = total


def _dissipation(m: Memory, h: float, out: Array) -> None:
    for i in range(m.trial_jump.size):
        column = m.ledger_body[m.elastic_body[i]]
        if column >= 0:
            strain = 0.0
            for e in range(m.elastic_compliance_ptr[i], m.elastic_compliance_ptr[i + 1]):
                strain += m.elastic_compliance_val[e] * m.trial_jump[m.elastic_compliance_col[e]]
            out[column] += m.elastic_damping[i] / h * m.trial_jump[i] * strain
    asks = cython.declare(cython.bint)
    asks = m.run_asked.size > 0 and m.elastic_is_viscous[0] != 0
    if asks:
        call_large_products(m, VISCOUS, m.x_du)
    for b in range(m.inertia_mass.size):
        if m.ledger_body[b] >= 0:
            for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
                if asks:
                    out[m.ledger_body[b]] += h * m.x_du[i] * m.run_answered[i][0]
                for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
                    out[m.ledger_body[b]] += h * m.x_du[i] * m.elastic_viscous[e] * m.x_du[m.inertia_col[e]]
    for i in range(m.joints_damping.size):
        if m.ledger_damper[i] >= 0:
            if i < m.joints_stiffness.size - m.ropes_span.size + 1:
                out[m.ledger_damper[i]] += m.joints_damping[i] * m.trial_extension[i] ** 2 / h
            elif m.joints_damping[i] > 0.0:
                out[m.ledger_damper[i]] += (m.trial_tension[i] - m.trial_law[i]) * m.trial_extension[i]
            if m.joints_kind[i] != 0:
                out[m.ledger_damper[i]] += m.trial_extension[i] * force(m, i, m.trial_extension[i] / h)
            if m.joints_path_kind[i] != 0:
                z0 = m.at_spring[m.joints_state[i]]
                mean, z1 = follow_path(m, i, z0, m.trial_extension[i], h)
                out[m.ledger_damper[i]] += mean * m.trial_extension[i] - path_energy(m, i, z1) + path_energy(m, i, z0)
            if m.joints_force_law[i] != 0:
                taken = m.trial_law[i] * m.trial_extension[i]
                out[m.ledger_damper[i]] += larger(taken, 0.0)
                out[m.ledger_reference[i]] += larger(-taken, 0.0)


def velocity_defect(m: Memory, dim: int, coefficient: Array, coefficient_rate: Array, offset_rate: Array) -> None:
    """Write the velocity defect G v + ∂g/∂t (g,) at the present state ``at`` into ``run.new_defect``.

    ``coefficient`` are the coefficients of the terms of the constraints; ``coefficient_rate`` and ``offset_rate`` are
    the time derivatives of the coefficients and of the offsets.
    """
    out = m.run_new_defect
    node_speeds(m, dim)
    for row in range(out.size):
        out[row] = -offset_rate[row]
    for term in range(m.joints_term_row.size):
        p = m.joints_term_product[term]
        rate = product_rate(m, dim, p, m.at_vector)
        out[m.joints_term_row[term]] += coefficient[term] * rate + coefficient_rate[term] * m.at_product[p]
    for i in range(m.rolling_row.size):
        rate = product_rate(m, dim, m.rolling_product[i], m.at_vector)
        out[m.rolling_row[i]] += m.rolling_weight[i] * m.at_product[m.rolling_by[i]] * rate
    for i in range(m.rolling_spin_row.size):
        out[m.rolling_spin_row[i]] += world_spin(m, dim, i, m.at_w)
    set_curves_at_rest(m)
    rate_curves(m, dim, m.at_vector)
    add_curve_rates(m, 1.0, out)


def numerical_loss(m: Memory, dim: int) -> float:
    """Numerical loss (ŵ − w̄)·Δp + ½ Δσᵀ C A Δσ of a solved step of the decaying scheme [J].

    ŵ are the mean rates (ω, u̇) that move the bodies, w̄ the means of the rates at both ends, Δp and Δσ the changes of
    momenta and stresses, C is the compliance; for A see kernels.decay.
    """
    at = Deformed(m.end_u, m.trial_c, m.end_Pu)
    moved = Deformed(m.end_du, m.trial_c, m.end_Pdu)
    out = Momenta(m.end_p_r, m.end_p_u)
    momenta(m, dim, m.end_w, at, moved, out)
    total = 0.0
    for b in range(m.inertia_mass.size):
        if m.inertia_first[b] < m.inertia_first[b + 1]:
            for i in range(m.x_w.shape[1]):
                away = m.x_w[b][i] - 0.5 * (m.at_w[b][i] + m.end_w[b][i])
                total += away * (m.end_p_r[b][i] - m.at_p_r[b][i])
            for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
                away = m.x_du[i] - 0.5 * (m.at_du[i] + m.end_du[i])
                total += away * (m.end_p_u[i] - m.at_p_u[i])
    copy(m.trial_stress, m.trial_local)
    fill(m.trial_stress, 0.0)
    add_damping_stresses(m, dim)
    for i in range(m.trial_stress.size):
        for e in range(m.elastic_compliance_ptr[i], m.elastic_compliance_ptr[i + 1]):
            total += m.trial_stress[i] * m.elastic_compliance_val[e] * m.trial_jump[m.elastic_compliance_col[e]]
    copy(m.trial_local, m.trial_stress)
    return total
