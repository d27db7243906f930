"""The residual of a step in loops (see kernels.step, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import mix
from ..contact.forces import touch
from ..decay.step import end_rates, soften
from ..memory.memory import Memory
from ..nodal.forces import pull_strains, strain
from .forces import act, forces, pull_products, turn_loads
from .motion import average, copy, inertia_products, mean_shapes, momenta, node_arms, vectors
from .rolling import add_gap


@kernel
def residual(
    m: Memory,
    axes: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> None:
    """Momentum and constraint defects of the mean velocities x, and the trial end of the step.

    ``before``, ``after`` are the coefficients of the terms at both ends, ``offset`` those of the rows at the end;
    ``decay`` and ``contact`` as of ``run.Parts``.
    """
    trial(m, axes, decay, contact, h, before, after, offset, inputs)
    balance_momenta(m, axes, decay, contact, h)


@kernel
def balance_momenta(
    m: Memory, axes: tuple[int, ...], decay: tuple[int, ...], contact: tuple[int, ...], h: float
) -> None:
    """Momentum defects of a trial."""
    if len(decay) == 0:
        _turn_products(m, axes, h)
        mix(m.end_Pdu, 0, 2.0, m.trial_rate, -1.0, m.at_Pdu, m.trial_rate.size)
    forces(m, axes, contact)
    if len(axes) == 3:
        pull_strains(m)
    balance(m, axes, h)
    act(m, axes, h)


@kernel
def trial(
    m: Memory,
    axes: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
    offset: Array,
    inputs: Array,
) -> None:
    """The trial end of the step and its constraint defects, without momenta: all that is recorded of a solved step."""
    move(m, axes, h)
    _stress(m, h)
    if len(axes) == 3:
        strain(m, h)
    if len(decay) > 0:
        soften(m, axes)
    mean_shapes(m, axes, m.end_u, m.trial_c)
    node_arms(m, axes, m.end_R, m.end_u, m.trial_c, m.end_arm)
    vectors(m, axes, m.end_r, m.end_arm, m.end_vector, m.end_product)
    average(m.at_arm, m.end_arm, m.trial_lever)
    average(m.at_vector, m.end_vector, m.trial_mean)
    pull_products(m, h, before, after)
    turn_loads(m, axes, inputs)
    if len(contact) > 0:
        touch(m, axes, h)
    _gap(m, after, offset)
    add_gap(m, axes, h)
    if len(decay) > 0:
        _turn_products(m, axes, h)
        end_rates(m, axes)
        inertia_products(m, axes, m.end_du, m.trial_c, m.end_Pdu)


@kernel
def _gap(m: Memory, after: Array, offset: Array) -> None:
    """Constraint defects at the end."""
    for row in range(offset.size):
        m.defect_lam[row] = -offset[row]
    for i in range(m.joints_term_row.size):
        m.defect_lam[m.joints_term_row[i]] += after[i] * m.end_product[m.joints_term_product[i]]


@kernel
def move(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Positions, rotations and velocities at the end, and R̄⁻¹."""
    d = len(axes)
    for b in range(m.inertia_mass.size):
        for i in range(d):
            m.end_r[b, i] = m.at_r[b, i] + h * m.x_v[b, i]
            m.end_v[b, i] = 2.0 * m.x_v[b, i] - m.at_v[b, i]
        for i in range(1 if d == 2 else 3):
            m.end_w[b, i] = 2.0 * m.x_w[b, i] - m.at_w[b, i]
        if d == 2:
            _turn_in_the_plane(m, h, b)
        else:
            _turn_in_space(m, h, b)
    for i in range(m.x_du.size):
        m.end_u[i] = m.at_u[i] + h * m.x_du[i]
        m.trial_u[i] = m.at_u[i] + 0.5 * h * m.x_du[i]
        m.end_du[i] = 2.0 * m.x_du[i] - m.at_du[i]


@kernel
def _turn_in_the_plane(m: Memory, h: float, b: int) -> None:
    """Rotation of a body at the end, and R̄⁻¹."""
    R, R1, inverse = m.at_R[b], m.end_R[b], m.trial_inverse[b]
    a = 0.5 * h * m.x_w[b, 0]
    scale = 2.0 / (1.0 + a * a)
    c, z = 1.0 - scale * a * a, scale * a
    for i in range(2):
        R1[i, 0] = R[i, 0] * c + R[i, 1] * z
        R1[i, 1] = R[i, 1] * c - R[i, 0] * z
        inverse[0, i] = R[i, 0] + a * R[i, 1]
        inverse[1, i] = R[i, 1] - a * R[i, 0]


@kernel
def _turn_in_space(m: Memory, h: float, b: int) -> None:
    """Rotation of a body at the end by the rows of R [a]× and R [a]×², a = ½hω̄, and R̄⁻¹ = (1 − [a]×) Rᵀ."""
    R, R1, inverse = m.at_R[b], m.end_R[b], m.trial_inverse[b]
    a0, a1, a2 = 0.5 * h * m.x_w[b, 0], 0.5 * h * m.x_w[b, 1], 0.5 * h * m.x_w[b, 2]
    scale = 2.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    for i in range(3):
        y0, y1, y2 = R[i, 0], R[i, 1], R[i, 2]
        p0, p1, p2 = y1 * a2 - y2 * a1, y2 * a0 - y0 * a2, y0 * a1 - y1 * a0
        q0, q1, q2 = p1 * a2 - p2 * a1, p2 * a0 - p0 * a2, p0 * a1 - p1 * a0
        R1[i, 0] = y0 + scale * (p0 + q0)
        R1[i, 1] = y1 + scale * (p1 + q1)
        R1[i, 2] = y2 + scale * (p2 + q2)
        inverse[0, i] = y0 + p0
        inverse[1, i] = y1 + p1
        inverse[2, i] = y2 + p2


@kernel
def _turn_products(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The inertia products of coordinates at the end of the step and in its mean, by linearity."""
    inertia_products(m, axes, m.x_du, m.trial_c, m.trial_rate)
    mix(m.end_Pu, 0, 1.0, m.at_Pu, h, m.trial_rate, m.trial_rate.size)
    mix(m.trial_Pmean, 0, 1.0, m.at_Pu, 0.5 * h, m.trial_rate, m.trial_rate.size)


@kernel
def _stress(m: Memory, h: float) -> None:
    """CΔσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h; the rows D̄ are kept."""
    rate = 1.0 / h
    stress_rates(m)
    for i in range(m.trial_stress.size):
        m.trial_jump[i] = h * m.trial_jump[i]
        m.end_sigma[i] = m.at_sigma[i] + m.trial_jump[i]
        m.trial_stress[i] = m.at_sigma[i] + (0.5 + m.elastic_damping[i] * rate) * m.trial_jump[i]


@kernel
def stress_rates(m: Memory) -> None:
    """C⁻¹D(u) u̇ into ``trial.jump``; the rows D are kept."""
    copy(m.elastic_strain, m.trial_D)
    turn_strain_rows(m, 1.0, m.trial_u, m.trial_D)
    for i in range(m.trial_stress.size):
        strained = 0.0
        for e in range(m.elastic_ptr[i], m.elastic_ptr[i + 1]):
            strained += m.trial_D[e] * m.x_du[m.elastic_col[e]]
        m.trial_local[i] = strained
    stiffen(m, m.trial_local, m.trial_jump)


@kernel
def turn_strain_rows(m: Memory, factor: complex, u: Array, rows: Array) -> None:
    """Add what strain rows change by where the coordinates do by a factor times u, entries of factor ∂D/∂u u."""
    for g in range(m.elastic_G_val.size):
        rows[m.elastic_G_entry[g]] += factor * m.elastic_G_val[g] * u[m.elastic_G_col[g]]


@kernel
def stiffen(m: Memory, strains: Array, stresses: Array) -> None:
    """C⁻¹ε of all strains."""
    for i in range(stresses.size):
        total = 0.0
        for e in range(m.elastic_inverse_ptr[i], m.elastic_inverse_ptr[i + 1]):
            total += m.elastic_inverse_val[e] * strains[m.elastic_inverse_col[e]]
        stresses[i] = total


@kernel
def balance(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Momentum defects by inertia, weight, stresses and damping."""
    d = len(axes)
    momenta(m, axes, m.end_w, m.end_u, m.end_du, m.end_Pu, m.end_Pdu, m.end_p_r, m.end_p_u)
    for b in range(m.inertia_mass.size):
        for i in range(d):
            pull = m.inertia_weight[b, i] + m.trial_on_body[b, i]
            m.defect_v[b, i] = m.inertia_mass[b] * (m.end_v[b, i] - m.at_v[b, i]) - h * pull
        for i in range(1 if d == 2 else 3):
            m.defect_w[b, i] = m.end_p_r[b, i] - m.at_p_r[b, i] - h * _turning(m, axes, b, i)
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            m.defect_du[i] = m.end_p_u[i] - m.at_p_u[i] - h * _inertial_force(m, axes, b, i)
    resist(m, h)


@kernel
def resist(m: Memory, h: float) -> None:
    """Add what stresses and constant damping do to the flexible coordinates."""
    if m.elastic_is_viscous:
        _drag(m, h)
    for e in range(m.trial_D.size):
        m.defect_du[m.elastic_col[e]] += h * m.trial_D[e] * m.trial_stress[m.elastic_row[e]]


@kernel
def _turning(m: Memory, axes: tuple[int, ...], b: int, i: int) -> float:
    """p̄_r × ω̄ + R̄⁻¹τ, a component."""
    if len(axes) == 2:
        return m.trial_torque[b, 0]
    j, l = (i + 1) % 3, (i + 2) % 3
    rate = 0.5 * (m.at_p_r[b, j] + m.end_p_r[b, j]) * m.x_w[b, l]
    rate -= 0.5 * (m.at_p_r[b, l] + m.end_p_r[b, l]) * m.x_w[b, j]
    for q in range(3):
        rate += m.trial_inverse[b, i, q] * m.trial_torque[b, q]
    return rate


@kernel
def _inertial_force(m: Memory, axes: tuple[int, ...], b: int, i: int) -> float:
    """What the rotation of a body does to a flexible coordinate."""
    s = 1 if len(axes) == 2 else 3
    force = 0.0
    for j in range(s):
        w0, w1 = m.at_w[b, j], m.end_w[b, j]
        for l in range(s):
            square = m.inertia_s[i, j, l] + m.trial_Pmean[i, 1 + s + s * j + l]
            force += w0 * m.end_w[b, l] * square
        force -= 0.5 * (w0 * m.end_Pdu[i, 1 + j] + w1 * m.at_Pdu[i, 1 + j])
    return force


@kernel
def _drag(m: Memory, h: float) -> None:
    """Constant damping of the flexible coordinates."""
    for i in range(m.x_du.size):
        total = 0.0
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            total += m.elastic_viscous[e] * m.x_du[m.inertia_col[e]]
        m.defect_du[i] += h * total
