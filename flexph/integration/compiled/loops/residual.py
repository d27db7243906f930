"""The residual of a step in loops (see kernels.step, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ..memory.kernel import kernel, part
from ..memory.memory import Memory
from ..memory.simd import mix
from .motion import average, copy, inertia_products, mean_shapes, momenta, node_arms, vectors
from .rolling import add_gap, pull, twist
from .springs import measure


@part
def residual(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, inputs: Array
) -> None:
    """Momentum and constraint defects of the mean velocities x, and the trial end of the step.

    ``before``, ``after`` are the coefficients of the terms at both ends, ``offset`` those of the rows at the end.
    """
    trial(m, axes, h, before, after, offset, inputs)
    _turn_products(m, axes, h)
    _forces(m, axes)
    _balance(m, axes, h)
    _act(m, axes, h)


@part
def trial(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, inputs: Array
) -> None:
    """The trial end of the step and its constraint defects, without momenta: all that is booked of a solved step."""
    _move(m, axes, h)
    _stress(m, h)
    mean_shapes(m, axes, m.end_u, m.trial_c)
    node_arms(m, axes, m.end_R, m.end_u, m.trial_c, m.end_arm)
    vectors(m, axes, m.end_r, m.end_arm, m.end_vector, m.end_product)
    average(m.at_arm, m.end_arm, m.trial_lever)
    average(m.at_vector, m.end_vector, m.trial_mean)
    _pull(m, h, before, after)
    _load(m, axes, inputs)
    _gap(m, after, offset)
    add_gap(m, axes, h)


@kernel
def _pull(m: Memory, h: float, before: Array, after: Array) -> None:
    """Forces on products, of constraints and springs."""
    m.trial_force[:] = 0.0
    for i in range(m.joints_term_row.size):
        m.trial_force[m.joints_term_product[i]] += 0.5 * (before[i] + after[i]) * m.x_lam[m.joints_term_row[i]]
    pull(m)
    measure(m, h, m.at_product, m.end_product, m.at_spring)
    for i in range(m.joints_state.size):
        if m.joints_state[i] >= 0:
            m.end_spring[m.joints_state[i]] = (
                m.at_spring[m.joints_state[i]] + m.joints_stiffness[i] * m.trial_extension[i]
            )


@kernel
def _load(m: Memory, axes: tuple[int, ...], inputs: Array) -> None:
    """The inputs in the world: those that follow sections turn with them."""
    d = len(axes)
    copy(inputs, m.trial_loads)
    for f in range(m.loads_follow_input.shape[0]):
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += inputs[m.loads_follow_input[f, j]] * m.trial_lever[m.loads_follow_node[f, j], i]
            m.trial_loads[m.loads_follow_input[f, i]] = total


@kernel
def _gap(m: Memory, after: Array, offset: Array) -> None:
    """Constraint defects at the end."""
    for row in range(offset.size):
        m.defect_lam[row] = -offset[row]
    for i in range(m.joints_term_row.size):
        m.defect_lam[m.joints_term_row[i]] += after[i] * m.end_product[m.joints_term_product[i]]


@kernel
def _move(m: Memory, axes: tuple[int, ...], h: float) -> None:
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
    """The inertia products at the end of the step, by linearity."""
    inertia_products(m, axes, m.x_du, m.trial_c, m.trial_rate)
    mix(m.end_Pu, 0, 1.0, m.at_Pu, h, m.trial_rate, m.trial_rate.size)
    mix(m.trial_Pmean, 0, 1.0, m.at_Pu, 0.5 * h, m.trial_rate, m.trial_rate.size)
    mix(m.end_Pdu, 0, 2.0, m.trial_rate, -1.0, m.at_Pdu, m.trial_rate.size)


@kernel
def _stress(m: Memory, h: float) -> None:
    """CΔσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h; the rows D̄ are kept."""
    rate = 1.0 / h
    copy(m.elastic_strain, m.trial_D)
    for g in range(m.elastic_G_val.size):
        m.trial_D[m.elastic_G_entry[g]] += m.elastic_G_val[g] * m.trial_u[m.elastic_G_col[g]]
    for i in range(m.trial_stress.size):
        strained = 0.0
        for e in range(m.elastic_ptr[i], m.elastic_ptr[i + 1]):
            strained += m.trial_D[e] * m.x_du[m.elastic_col[e]]
        m.trial_local[i] = strained
    for i in range(m.trial_stress.size):
        total = 0.0
        for e in range(m.elastic_inverse_ptr[i], m.elastic_inverse_ptr[i + 1]):
            total += m.elastic_inverse_val[e] * m.trial_local[m.elastic_inverse_col[e]]
        m.trial_jump[i] = h * total
        m.end_sigma[i] = m.at_sigma[i] + m.trial_jump[i]
        m.trial_stress[i] = m.at_sigma[i] + (0.5 + m.elastic_damping[i] * rate) * m.trial_jump[i]


@part
def _forces(m: Memory, axes: tuple[int, ...]) -> None:
    """Forces on nodes from products and inputs, torques on sections, and their sums by body."""
    m.trial_forces[:] = 0.0
    m.trial_section[:] = 0.0
    _pull_nodes(m, axes)
    _apply_loads(m, axes)
    _sum_by_body(m, axes)
    twist(m)


@kernel
def _pull_nodes(m: Memory, axes: tuple[int, ...]) -> None:
    """Forces on nodes from those on products."""
    for p in range(m.trial_force.size):
        first, second = m.joints_first[p], m.joints_second[p]
        for i in range(len(axes)):
            m.trial_on_vector[first, i] += m.trial_force[p] * m.trial_mean[second, i]
            m.trial_on_vector[second, i] += m.trial_force[p] * m.trial_mean[first, i]
    for v in range(m.joints_plus.size):
        for i in range(len(axes)):
            if m.joints_plus[v] >= 0:
                m.trial_on_node[m.joints_plus[v], i] += m.trial_on_vector[v, i]
            if m.joints_minus[v] >= 0:
                m.trial_on_node[m.joints_minus[v], i] -= m.trial_on_vector[v, i]


@kernel
def _apply_loads(m: Memory, axes: tuple[int, ...]) -> None:
    """Forces on nodes and torques on sections from inputs."""
    d = len(axes)
    s = 1 if d == 2 else 3
    for e in range(m.loads_node_row.size):
        row = m.loads_node_row[e]
        m.trial_on_node[row // d, row % d] += m.loads_node_val[e] * m.trial_loads[m.loads_node_input[e]]
    for e in range(m.loads_torque_row.size):
        row = m.loads_torque_row[e]
        m.trial_section[row // s, row % s] += m.loads_torque_val[e] * m.trial_loads[m.loads_torque_input[e]]


@kernel
def _sum_by_body(m: Memory, axes: tuple[int, ...]) -> None:
    """Forces and torques on bodies from those on their nodes and sections."""
    for n in range(m.nodes_body.size):
        b, f, lever = m.nodes_body[n], m.trial_on_node[n], m.trial_lever[n]
        for i in range(len(axes)):
            m.trial_on_body[b, i] += m.nodes_moves[n] * f[i]
        if len(axes) == 2:
            m.trial_torque[b, 0] += lever[0] * f[1] - lever[1] * f[0]
        else:
            m.trial_torque[b, 0] += lever[1] * f[2] - lever[2] * f[1]
            m.trial_torque[b, 1] += lever[2] * f[0] - lever[0] * f[2]
            m.trial_torque[b, 2] += lever[0] * f[1] - lever[1] * f[0]
    for n in range(m.loads_torque_body.size):
        for i in range(m.trial_section.shape[1]):
            m.trial_torque[m.loads_torque_body[n], i] += m.trial_section[n, i]


@kernel
def _balance(m: Memory, axes: tuple[int, ...], h: float) -> None:
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


@kernel
def _act(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Generalised forces −h φᵀ R̄⁻¹ f of nodes and −h ψᵀ R̄⁻¹ τ of sections; the shift takes the sum of the body's."""
    d = len(axes)
    s = 1 if d == 2 else 3
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += m.trial_inverse[b, j, i] * m.trial_on_node[n, i]
            for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
                m.defect_du[m.nodes_col[e]] -= h * m.nodes_val[e, j] * local
    for b in range(m.inertia_mass.size):
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += m.trial_inverse[b, j, i] * m.trial_on_body[b, i]
            for e in range(m.inertia_first[b], m.inertia_first[b + 1]):
                m.defect_du[e] += h * m.inertia_mean[e, j] * local
    for n in range(m.loads_torque_body.size):
        b = m.loads_torque_body[n]
        for j in range(s):
            local = m.trial_section[n, 0]
            if s == 3:
                local = 0.0
                for i in range(s):
                    local += m.trial_inverse[b, j, i] * m.trial_section[n, i]
            for e in range(m.loads_torque_ptr[n], m.loads_torque_ptr[n + 1]):
                m.defect_du[m.loads_torque_col[e]] -= h * m.loads_torque_shape[e, j] * local
