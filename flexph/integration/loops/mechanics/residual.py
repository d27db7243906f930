"""Residual of a step of the exact scheme, a discrete gradient pair ([dg] eq. (18)).

With Δ the difference and a bar the mean over a step h, the unknowns are the mean velocities (ṙ̄, ω̄, u̇̄) and the
multipliers:

    Δr = h ṙ̄,  R₁ = R₀ cayley(½hω̄),  Δu = h u̇̄,  CΔσ = h D(ū) u̇̄,
    m Δṙ = h (forces),  Δp_r = h (p̄_r × ω̄ + R̄⁻¹ torques),
    Δp_u = h (f_u − D(ū)ᵀσ̃ + generalised forces),  g(q₁, t₁) = 0,
    f_u = ½ w₀ᵀ (∂M/∂u)(ū) w₁,  σ̃ = σ̄ + β Δσ/h.

A force f on a node enters as f, as the torque ℓ × f with ℓ = ½(R₀x₀ + R₁x₁), and as φᵀ R̄⁻¹ f: the transpose of the
exact increment Δ(r + Rx) = h[ṙ̄ + Ω × ℓ + R̄⁻ᵀ φ u̇̄], Ω = R̄ω̄ = R̄⁻ᵀω̄. In the plane p̄_r × ω̄ vanishes and R̄⁻¹ does
not change torques. Loads that follow a section have their components on its mean directions. All vectors enter by
products V·W, whose increments are also exact. Constraints on velocities (:mod:`flexph.kernels.rolling`) hold for the
increments of the step. The sample tests/samples/exact_scheme implements the scheme in plain NumPy.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import RESIST as _RESIST
from ..memory.codes import STRAIN as _STRAIN

if not cython.compiled:
    from ....numerics.loops.views import average, call_one, copy, entries, mix
    from ..contact.forces import evaluate_contacts
    from ..decay.step import add_damping_stresses, end_rates
    from ..memory.memory import Memory
    from ..memory.structures import Deformed, Given, Momenta
    from ..nodal.flow import add_flow_forces
    from ..nodal.forces import add_strain_forces, strain
    from ..solids.forces import add_solid_forces, strain_solids
    from ..terms.paths import follow_curves
    from .curves import add_curve_forces, add_curve_gaps
    from .forces import forces, set_forces_on_products, subtract_loads, write_world_loads
    from .motion import inertia_products, mean_shapes, momenta, node_arms, vectors
    from .rolling import add_gap
    from .slips import set_slip_forces

RESIST = cython.declare(cython.Py_ssize_t, _RESIST)
STRAIN = cython.declare(cython.Py_ssize_t, _STRAIN)


def residual(m: Memory, dim: int, decay: int, contact: int, given: Given) -> None:
    """Compute the defects of momenta and constraints for the mean velocities x, and the state at the end of the step.

    ``given`` are the prescribed values of the step; ``decay`` and ``contact`` are its kinds, see
    ``memory.structures.Kinds``.
    """
    trial(m, dim, decay, contact, given)
    balance_momenta(m, dim, decay, contact, given.h)


def balance_momenta(m: Memory, dim: int, decay: int, contact: int, h: float) -> None:
    """Compute the momentum defects of a trial, whose motion and forces are known."""
    if decay == 0:
        turn_products(m, dim, h)
        mix(m.end_Pdu, 0, 2.0, m.trial_rate, -1.0, m.at_Pdu, entries(m.trial_rate))
    forces(m, dim, contact)
    if m.strains_stress.size > 0:
        add_strain_forces(m, dim)
    if m.flows_mass.size > 0:
        add_flow_forces(m, dim, h)
    if m.solids_frame.size > 0:
        add_solid_forces(m, dim)
    balance(m, dim, h)
    subtract_loads(m, dim, h)


def trial(m: Memory, dim: int, decay: int, contact: int, given: Given) -> None:
    """Compute the state at the end of the step and the constraint defects for the mean velocities x.

    Momentum defects are left out, for a solved step. The arguments are those of :func:`residual`.
    """
    move_and_strain(m, dim, given.h)
    if decay > 0:
        add_damping_stresses(m, dim)
    connect(m, dim, contact, given)
    if decay > 0:
        turn_products(m, dim, given.h)
        end_rates(m, dim)
        inertia_products(m, dim, m.end_du, m.trial_c, m.end_Pdu)


def move_and_strain(m: Memory, dim: int, h: float) -> None:
    """Compute positions, velocities and stresses at the end of the step, and the mean stresses."""
    move(m, dim, h)
    _set_stresses(m, h)
    if m.strains_stress.size > 0:
        strain(m, dim, h)
    if m.solids_frame.size > 0:
        strain_solids(m, dim, h)


def connect(m: Memory, dim: int, contact: int, given: Given) -> None:
    """Compute the vectors of joints, the forces on products, and the constraint defects of bodies that have moved.

    The arguments are those of :func:`residual`.
    """
    mean_shapes(m, dim, m.end_u, m.trial_c)
    node_arms(m, dim, m.end_R, m.end_u, m.trial_c, m.end_arm)
    vectors(m, dim, m.end_r, m.end_arm, m.end_vector, m.end_product)
    average(m.at_arm, m.end_arm, m.trial_lever)
    average(m.at_vector, m.end_vector, m.trial_mean)
    set_forces_on_products(m, given.h, given.before, given.after)
    write_world_loads(m, dim, given.inputs)
    if contact > 0:
        evaluate_contacts(m, dim, given.h)
    _set_gap_defects(m, given.after, given.offset)
    add_gap(m, dim, given.h)
    follow_curves(m)
    set_slip_forces(m, dim)
    add_curve_forces(m)
    add_curve_gaps(m, m.defect_lam, m.end_place)


def _set_gap_defects(m: Memory, after: Array, offset: Array) -> None:
    """Compute the defects of position constraints at the end of the step, without terms of squares and of curves."""
    for row in range(offset.size):
        m.defect_lam[row] = -offset[row]
    for i in range(m.joints_term_row.size):
        m.defect_lam[m.joints_term_row[i]] += after[i] * m.end_product[m.joints_term_product[i]]


def move(m: Memory, dim: int, h: float) -> None:
    """Compute positions, rotations and velocities at the end of the step, the mean coordinates ū, and R̄⁻¹."""
    d = dim
    for b in range(m.inertia_mass.size):
        for i in range(d):
            m.end_r[b][i] = m.at_r[b][i] + h * m.x_v[b][i]
            m.end_v[b][i] = 2.0 * m.x_v[b][i] - m.at_v[b][i]
        for i in range(1 if d == 2 else 3):
            m.end_w[b][i] = 2.0 * m.x_w[b][i] - m.at_w[b][i]
        if d == 2:
            _turn_in_the_plane(m, h, b)
        else:
            _turn_in_space(m, h, b)
    for i in range(m.x_du.size):
        m.end_u[i] = m.at_u[i] + h * m.x_du[i]
        m.trial_u[i] = m.at_u[i] + 0.5 * h * m.x_du[i]
        m.end_du[i] = 2.0 * m.x_du[i] - m.at_du[i]


def _turn_in_the_plane(m: Memory, h: float, b: int) -> None:
    """Compute the rotation of body b at the end of the step, and R̄⁻¹, in the plane."""
    R = m.at_R[b]
    R1 = m.end_R[b]
    inverse = m.trial_inverse[b]
    a = 0.5 * h * m.x_w[b][0]
    scale = 2.0 / (1.0 + a * a)
    c = 1.0 - scale * a * a
    z = scale * a
    for i in range(2):
        R1[i][0] = R[i][0] * c + R[i][1] * z
        R1[i][1] = R[i][1] * c - R[i][0] * z
        inverse[0][i] = R[i][0] + a * R[i][1]
        inverse[1][i] = R[i][1] - a * R[i][0]


def _turn_in_space(m: Memory, h: float, b: int) -> None:
    """Compute the rotation of body b at the end of the step from R₀[a]× and R₀[a]×², a = ½hω̄, in space.

    Compute also R̄⁻¹ = (1 − [a]×) R₀ᵀ, which takes world vectors to mean axes of the body.
    """
    R = m.at_R[b]
    R1 = m.end_R[b]
    inverse = m.trial_inverse[b]
    a0 = 0.5 * h * m.x_w[b][0]
    a1 = 0.5 * h * m.x_w[b][1]
    a2 = 0.5 * h * m.x_w[b][2]
    scale = 2.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    for i in range(3):
        y0 = R[i][0]
        y1 = R[i][1]
        y2 = R[i][2]
        p0 = y1 * a2 - y2 * a1
        p1 = y2 * a0 - y0 * a2
        p2 = y0 * a1 - y1 * a0
        q0 = p1 * a2 - p2 * a1
        q1 = p2 * a0 - p0 * a2
        q2 = p0 * a1 - p1 * a0
        R1[i][0] = y0 + scale * (p0 + q0)
        R1[i][1] = y1 + scale * (p1 + q1)
        R1[i][2] = y2 + scale * (p2 + q2)
        inverse[0][i] = y0 + p0
        inverse[1][i] = y1 + p1
        inverse[2][i] = y2 + p2


def turn_products(m: Memory, dim: int, h: float) -> None:
    """Compute the inertia products M u̇̄, N_a u̇̄ and K_ab u̇̄ of the mean deformation rates u̇̄ over a step.

    By linearity these also give the inertia products of the deformations u at the end of the step, and of the mean ū.
    """
    inertia_products(m, dim, m.x_du, m.trial_c, m.trial_rate)
    mix(m.end_Pu, 0, 1.0, m.at_Pu, h, m.trial_rate, entries(m.trial_rate))
    mix(m.trial_Pmean, 0, 1.0, m.at_Pu, 0.5 * h, m.trial_rate, entries(m.trial_rate))


def _set_stresses(m: Memory, h: float) -> None:
    """Compute the stresses with CΔσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h, and store the strain rows D̄."""
    rate = 1.0 / h
    stress_rates(m)
    for i in range(m.trial_stress.size):
        m.trial_jump[i] = h * m.trial_jump[i]
        m.end_sigma[i] = m.at_sigma[i] + m.trial_jump[i]
        m.trial_stress[i] = m.at_sigma[i] + (0.5 + m.elastic_damping[i] * rate) * m.trial_jump[i]


def set_predicted_mean_stresses(m: Memory, h: float) -> None:
    """Compute the mean stresses σ̃ for a Jacobian: with the predicted end stresses ``trial.ahead`` instead of σ₁."""
    for i in range(m.trial_stress.size):
        m.trial_stress[i] += (0.5 + m.elastic_damping[i] / h) * (m.trial_ahead[i] - m.end_sigma[i])


def predict_body_stresses(m: Memory, h: float) -> None:
    """Write the end stresses after a correction δ into ``trial.ahead``, to first order: σ₁ − hC⁻¹D(u₁)δu̇̄."""
    _strain_rates(m, m.system_D, m.correction_du)
    write_elastic_stresses(m, m.trial_local, m.trial_ahead)
    for i in range(m.trial_stress.size):
        m.trial_ahead[i] = m.end_sigma[i] - h * m.trial_ahead[i]


def stress_rates(m: Memory) -> None:
    """Write the stress rates C⁻¹D(ū) u̇̄ into ``trial.jump``, and the strain rows D(ū) into ``trial.D``."""
    if m.run_asked.size > 0:
        call_one(m.system_python[0], STRAIN)
        write_elastic_stresses(m, m.trial_local, m.trial_jump)
        return
    copy(m.elastic_strain, m.trial_D)
    turn_strain_rows(m, 1.0, m.trial_u, m.trial_D)
    _strain_rates(m, m.trial_D, m.x_du)
    write_elastic_stresses(m, m.trial_local, m.trial_jump)


def _strain_rates(m: Memory, rows: Array, rates: Array) -> None:
    """Write the products of the strain rows ``rows`` with the rates of the coordinates into ``trial.local``."""
    for i in range(m.trial_stress.size):
        strained = 0.0
        for e in range(m.elastic_ptr[i], m.elastic_ptr[i + 1]):
            strained += rows[e] * rates[m.elastic_col[e]]
        m.trial_local[i] = strained


def turn_strain_rows(m: Memory, factor: complex, u: Array, rows: Array) -> None:
    """Add factor·(∂D/∂u)u to the strain rows ``rows``, which is their change if the coordinates change by factor·u."""
    for g in range(m.elastic_G_val.size):
        rows[m.elastic_G_entry[g]] += factor * m.elastic_G_val[g] * u[m.elastic_G_col[g]]


def write_elastic_stresses(m: Memory, strains: Array, stresses: Array) -> None:
    """Write the stresses C⁻¹ε into ``stresses``, for the strains ε."""
    for i in range(stresses.size):
        total = 0.0
        for e in range(m.elastic_inverse_ptr[i], m.elastic_inverse_ptr[i + 1]):
            total += m.elastic_inverse_val[e] * strains[m.elastic_inverse_col[e]]
        stresses[i] = total


def balance(m: Memory, dim: int, h: float) -> None:
    """Compute the momentum defects: changes of momenta, less the impulses of weight, forces, stresses and damping."""
    d = dim
    at = Deformed(m.end_u, m.trial_c, m.end_Pu)
    moved = Deformed(m.end_du, m.trial_c, m.end_Pdu)
    out = Momenta(m.end_p_r, m.end_p_u)
    momenta(m, dim, m.end_w, at, moved, out)
    for b in range(m.inertia_mass.size):
        for i in range(d):
            pull = m.inertia_weight[b][i] + m.trial_on_body[b][i]
            m.defect_v[b][i] = m.inertia_mass[b] * (m.end_v[b][i] - m.at_v[b][i]) - h * pull
        for i in range(1 if d == 2 else 3):
            m.defect_w[b][i] = m.end_p_r[b][i] - m.at_p_r[b][i] - h * _turning_torque(m, dim, b, i)
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            m.defect_du[i] = m.end_p_u[i] - m.at_p_u[i] - h * _inertial_force(m, dim, b, i)
    add_stresses_and_damping(m, h)


def add_stresses_and_damping(m: Memory, h: float) -> None:
    """Add the forces of stresses and of constant damping to the momentum defects of the flexible coordinates."""
    if m.run_asked.size > 0:
        call_one(m.system_python[0], RESIST)
        for i in range(m.x_du.size):
            m.defect_du[i] += h * m.run_answered[i][0]
        return
    if m.elastic_is_viscous[0]:
        _add_damping(m, h)
    for e in range(m.trial_D.size):
        m.defect_du[m.elastic_col[e]] += h * m.trial_D[e] * m.trial_stress[m.elastic_row[e]]


def _turning_torque(m: Memory, dim: int, b: int, i: int) -> float:
    """Component i of p̄_r × ω̄ + R̄⁻¹τ of body b, by which its angular momentum in body axes changes."""
    if dim == 2:
        return m.trial_torque[b][0]
    j = (i + 1) % 3
    l = (i + 2) % 3
    rate = 0.5 * (m.at_p_r[b][j] + m.end_p_r[b][j]) * m.x_w[b][l]
    rate -= 0.5 * (m.at_p_r[b][l] + m.end_p_r[b][l]) * m.x_w[b][j]
    for q in range(3):
        rate += m.trial_inverse[b][i][q] * m.trial_torque[b][q]
    return rate


def _inertial_force(m: Memory, dim: int, b: int, i: int) -> float:
    """Inertia force f_u on flexible coordinate i, due to the rotation of its body b."""
    s = 1 if dim == 2 else 3
    force = 0.0
    for j in range(s):
        w0 = m.at_w[b][j]
        w1 = m.end_w[b][j]
        for l in range(s):
            square = m.inertia_s[i][j][l] + m.trial_Pmean[i][1 + s + s * j + l]
            force += w0 * m.end_w[b][l] * square
        force -= 0.5 * (w0 * m.end_Pdu[i][1 + j] + w1 * m.at_Pdu[i][1 + j])
    return force


def _add_damping(m: Memory, h: float) -> None:
    """Add the forces of the constant damping of the flexible coordinates to their momentum defects."""
    for i in range(m.x_du.size):
        total = 0.0
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            total += m.elastic_viscous[e] * m.x_du[m.inertia_col[e]]
        m.defect_du[i] += h * total
