"""The residual of a step in loops (see kernels.step, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, index_matrix, indices, matrix, number, places, span, tensor, vector
from ..memory.simd import mix
from .motion import copy, inertia_products, mean_shapes, momenta, node_arms, vectors
from .rolling import add_gap, pull, twist
from .springs import measure


@in_place
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


@in_place
def trial(
    m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array, offset: Array, inputs: Array
) -> None:
    """The trial end of the step and its constraint defects, without momenta: all that is booked of a solved step."""
    end_R = tensor(m, REAL.end_R)
    end_u = vector(m, REAL.end_u)
    trial_c = matrix(m, REAL.trial_c)
    end_arm = matrix(m, REAL.end_arm)
    end_r = matrix(m, REAL.end_r)
    end_vector = matrix(m, REAL.end_vector)
    end_product = vector(m, REAL.end_product)
    trial_mean = span(m, REAL.trial_mean, REAL.trial_mean)
    trial_lever = span(m, REAL.trial_lever, REAL.trial_lever)
    starts = span(m, REAL.at_arm, REAL.at_vector)
    ends = span(m, REAL.end_arm, REAL.end_vector)
    _move(m, axes, h)
    _stress(m, h)
    mean_shapes(m, axes, end_u, trial_c)
    node_arms(m, axes, end_R, end_u, trial_c, end_arm)
    vectors(m, axes, end_r, end_arm, end_vector, end_product)
    for i in range(trial_lever.size):
        trial_lever[i] = 0.5 * (starts[i] + ends[i])
    for i in range(trial_mean.size):
        trial_mean[i] = 0.5 * (starts[trial_lever.size + i] + ends[trial_lever.size + i])
    _pull(m, h, before, after)
    _load(m, axes, inputs)
    _gap(m, after, offset)
    add_gap(m, axes, h)


@in_place
def _pull(m: Memory, h: float, before: Array, after: Array) -> None:
    """Forces on products, of constraints and springs."""
    trial_force = vector(m, REAL.trial_force)
    joints_term_row = places(m, WHOLE.joints_term_row)
    joints_term_product = places(m, WHOLE.joints_term_product)
    x_lam = vector(m, REAL.x_lam)
    at_product = vector(m, REAL.at_product)
    end_product = vector(m, REAL.end_product)
    at_spring = vector(m, REAL.at_spring)
    joints_state = indices(m, WHOLE.joints_state)
    end_spring = vector(m, REAL.end_spring)
    joints_stiffness = vector(m, REAL.joints_stiffness)
    trial_extension = vector(m, REAL.trial_extension)
    trial_force[:] = 0.0
    for i in range(joints_term_row.size):
        trial_force[joints_term_product[i]] += 0.5 * (before[i] + after[i]) * x_lam[joints_term_row[i]]
    pull(m)
    measure(m, h, at_product, end_product, at_spring)
    for i in range(joints_state.size):
        if joints_state[i] >= 0:
            end_spring[joints_state[i]] = at_spring[joints_state[i]] + joints_stiffness[i] * trial_extension[i]


@in_place
def _load(m: Memory, axes: tuple[int, ...], inputs: Array) -> None:
    """The inputs in the world: those that follow sections turn with them."""
    trial_loads = vector(m, REAL.trial_loads)
    trial_lever = matrix(m, REAL.trial_lever)
    loads_follow_input = index_matrix(m, WHOLE.loads_follow_input)
    loads_follow_node = index_matrix(m, WHOLE.loads_follow_node)
    d = len(axes)
    copy(inputs, trial_loads)
    for f in range(loads_follow_input.shape[0]):
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += inputs[loads_follow_input[f, j]] * trial_lever[loads_follow_node[f, j], i]
            trial_loads[loads_follow_input[f, i]] = total


@in_place
def _gap(m: Memory, after: Array, offset: Array) -> None:
    """Constraint defects at the end."""
    joints_term_row = places(m, WHOLE.joints_term_row)
    joints_term_product = places(m, WHOLE.joints_term_product)
    end_product = vector(m, REAL.end_product)
    defect_lam = vector(m, REAL.defect_lam)
    for row in range(offset.size):
        defect_lam[row] = -offset[row]
    for i in range(joints_term_row.size):
        defect_lam[joints_term_row[i]] += after[i] * end_product[joints_term_product[i]]


@in_place
def _move(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Positions, rotations and velocities at the end, and R̄⁻¹."""
    inertia_mass = vector(m, REAL.inertia_mass)
    end_r = matrix(m, REAL.end_r)
    at_r = matrix(m, REAL.at_r)
    x_v = matrix(m, REAL.x_v)
    end_v = matrix(m, REAL.end_v)
    at_v = matrix(m, REAL.at_v)
    end_w = matrix(m, REAL.end_w)
    x_w = matrix(m, REAL.x_w)
    at_w = matrix(m, REAL.at_w)
    at_R = tensor(m, REAL.at_R)
    end_R = tensor(m, REAL.end_R)
    trial_inverse = tensor(m, REAL.trial_inverse)
    x_du = vector(m, REAL.x_du)
    trial_u = vector(m, REAL.trial_u)
    end_u = vector(m, REAL.end_u)
    at_u = vector(m, REAL.at_u)
    end_du = vector(m, REAL.end_du)
    at_du = vector(m, REAL.at_du)
    d = len(axes)
    s = 1 if d == 2 else 3
    for b in range(inertia_mass.size):
        for i in range(d):
            end_r[b, i] = at_r[b, i] + h * x_v[b, i]
            end_v[b, i] = 2.0 * x_v[b, i] - at_v[b, i]
        for i in range(s):
            end_w[b, i] = 2.0 * x_w[b, i] - at_w[b, i]
        R, R1, inverse = at_R[b], end_R[b], trial_inverse[b]
        if d == 2:
            a = 0.5 * h * x_w[b, 0]
            scale = 2.0 / (1.0 + a * a)
            c, z = 1.0 - scale * a * a, scale * a
            for i in range(2):
                R1[i, 0] = R[i, 0] * c + R[i, 1] * z
                R1[i, 1] = R[i, 1] * c - R[i, 0] * z
                inverse[0, i] = R[i, 0] + a * R[i, 1]
                inverse[1, i] = R[i, 1] - a * R[i, 0]
        else:
            a0, a1, a2 = 0.5 * h * x_w[b, 0], 0.5 * h * x_w[b, 1], 0.5 * h * x_w[b, 2]
            scale = 2.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
            for i in range(3):
                y0, y1, y2 = R[i, 0], R[i, 1], R[i, 2]
                # rows of R [a]× and of R [a]×²
                p0, p1, p2 = y1 * a2 - y2 * a1, y2 * a0 - y0 * a2, y0 * a1 - y1 * a0
                q0, q1, q2 = p1 * a2 - p2 * a1, p2 * a0 - p0 * a2, p0 * a1 - p1 * a0
                R1[i, 0] = y0 + scale * (p0 + q0)
                R1[i, 1] = y1 + scale * (p1 + q1)
                R1[i, 2] = y2 + scale * (p2 + q2)
                # column i of (I − [a]×) Rᵀ
                inverse[0, i] = y0 + p0
                inverse[1, i] = y1 + p1
                inverse[2, i] = y2 + p2
    for i in range(x_du.size):
        end_u[i] = at_u[i] + h * x_du[i]
        trial_u[i] = at_u[i] + 0.5 * h * x_du[i]
        end_du[i] = 2.0 * x_du[i] - at_du[i]


@in_place
def _turn_products(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The inertia products at the end of the step, by linearity."""
    trial_c = matrix(m, REAL.trial_c)
    x_du = vector(m, REAL.x_du)
    at_Pu = matrix(m, REAL.at_Pu)
    at_Pdu = matrix(m, REAL.at_Pdu)
    rate = matrix(m, REAL.trial_rate)
    inertia_products(m, axes, x_du, trial_c, rate)
    mix(matrix(m, REAL.end_Pu), 0, 1.0, at_Pu, h, rate, rate.size)
    mix(matrix(m, REAL.trial_Pmean), 0, 1.0, at_Pu, 0.5 * h, rate, rate.size)
    mix(matrix(m, REAL.end_Pdu), 0, 2.0, rate, -1.0, at_Pdu, rate.size)


@in_place
def _stress(m: Memory, h: float) -> None:
    """CΔσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h; the rows D̄ are kept."""
    trial_stress = vector(m, REAL.trial_stress)
    elastic_ptr = places(m, WHOLE.elastic_ptr)
    elastic_strain = vector(m, REAL.elastic_strain)
    elastic_G_entry = places(m, WHOLE.elastic_G_entry)
    elastic_G_col = places(m, WHOLE.elastic_G_col)
    elastic_G_val = vector(m, REAL.elastic_G_val)
    trial_u = vector(m, REAL.trial_u)
    x_du = vector(m, REAL.x_du)
    trial_D = vector(m, REAL.trial_D)
    elastic_col = places(m, WHOLE.elastic_col)
    trial_local = vector(m, REAL.trial_local)
    elastic_inverse_ptr = places(m, WHOLE.elastic_inverse_ptr)
    elastic_inverse_val = vector(m, REAL.elastic_inverse_val)
    elastic_inverse_col = places(m, WHOLE.elastic_inverse_col)
    trial_jump = vector(m, REAL.trial_jump)
    end_sigma = vector(m, REAL.end_sigma)
    at_sigma = vector(m, REAL.at_sigma)
    elastic_damping = vector(m, REAL.elastic_damping)
    rate = 1.0 / h
    copy(elastic_strain, trial_D)
    for g in range(elastic_G_val.size):
        trial_D[elastic_G_entry[g]] += elastic_G_val[g] * trial_u[elastic_G_col[g]]
    for i in range(trial_stress.size):
        strained = 0.0
        for e in range(elastic_ptr[i], elastic_ptr[i + 1]):
            strained += trial_D[e] * x_du[elastic_col[e]]
        trial_local[i] = strained
    for i in range(trial_stress.size):
        total = 0.0
        for e in range(elastic_inverse_ptr[i], elastic_inverse_ptr[i + 1]):
            total += elastic_inverse_val[e] * trial_local[elastic_inverse_col[e]]
        trial_jump[i] = h * total
        end_sigma[i] = at_sigma[i] + trial_jump[i]
        trial_stress[i] = at_sigma[i] + (0.5 + elastic_damping[i] * rate) * trial_jump[i]


@in_place
def _forces(m: Memory, axes: tuple[int, ...]) -> None:
    """Forces on nodes from products and inputs, torques on sections, and their sums by body."""
    trial_on_node = matrix(m, REAL.trial_on_node)
    trial_on_vector = matrix(m, REAL.trial_on_vector)
    trial_on_body = matrix(m, REAL.trial_on_body)
    trial_torque = matrix(m, REAL.trial_torque)
    trial_section = matrix(m, REAL.trial_section)
    trial_force = vector(m, REAL.trial_force)
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    trial_mean = matrix(m, REAL.trial_mean)
    joints_plus = indices(m, WHOLE.joints_plus)
    joints_minus = indices(m, WHOLE.joints_minus)
    trial_loads = vector(m, REAL.trial_loads)
    trial_lever = matrix(m, REAL.trial_lever)
    loads_node_row = indices(m, WHOLE.loads_node_row)
    loads_node_val = vector(m, REAL.loads_node_val)
    loads_node_input = indices(m, WHOLE.loads_node_input)
    loads_torque_row = indices(m, WHOLE.loads_torque_row)
    loads_torque_val = vector(m, REAL.loads_torque_val)
    loads_torque_input = indices(m, WHOLE.loads_torque_input)
    nodes_body = places(m, WHOLE.nodes_body)
    nodes_moves = vector(m, REAL.nodes_moves)
    loads_torque_body = indices(m, WHOLE.loads_torque_body)
    d = len(axes)
    span(m, REAL.trial_on_node, REAL.trial_torque)[:] = 0.0
    trial_section[:] = 0.0
    for p in range(trial_force.size):
        first, second = joints_first[p], joints_second[p]
        for i in range(d):
            trial_on_vector[first, i] += trial_force[p] * trial_mean[second, i]
            trial_on_vector[second, i] += trial_force[p] * trial_mean[first, i]
    for v in range(joints_plus.size):
        for i in range(d):
            if joints_plus[v] >= 0:
                trial_on_node[joints_plus[v], i] += trial_on_vector[v, i]
            if joints_minus[v] >= 0:
                trial_on_node[joints_minus[v], i] -= trial_on_vector[v, i]
    for e in range(loads_node_row.size):
        row = loads_node_row[e]
        trial_on_node[row // d, row % d] += loads_node_val[e] * trial_loads[loads_node_input[e]]
    s = 1 if d == 2 else 3
    for e in range(loads_torque_row.size):
        row = loads_torque_row[e]
        trial_section[row // s, row % s] += loads_torque_val[e] * trial_loads[loads_torque_input[e]]
    for n in range(nodes_body.size):
        b, f, lever = nodes_body[n], trial_on_node[n], trial_lever[n]
        for i in range(d):
            trial_on_body[b, i] += nodes_moves[n] * f[i]
        if d == 2:
            trial_torque[b, 0] += lever[0] * f[1] - lever[1] * f[0]
        else:
            trial_torque[b, 0] += lever[1] * f[2] - lever[2] * f[1]
            trial_torque[b, 1] += lever[2] * f[0] - lever[0] * f[2]
            trial_torque[b, 2] += lever[0] * f[1] - lever[1] * f[0]
    for n in range(loads_torque_body.size):
        for i in range(s):
            trial_torque[loads_torque_body[n], i] += trial_section[n, i]
    twist(m)


@in_place
def _balance(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Momentum defects by inertia, weight, stresses and damping."""
    end_w = matrix(m, REAL.end_w)
    end_u = vector(m, REAL.end_u)
    end_du = vector(m, REAL.end_du)
    end_Pu = matrix(m, REAL.end_Pu)
    end_Pdu = matrix(m, REAL.end_Pdu)
    end_p_r = matrix(m, REAL.end_p_r)
    end_p_u = vector(m, REAL.end_p_u)
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_weight = matrix(m, REAL.inertia_weight)
    trial_on_body = matrix(m, REAL.trial_on_body)
    defect_v = matrix(m, REAL.defect_v)
    end_v = matrix(m, REAL.end_v)
    at_v = matrix(m, REAL.at_v)
    trial_torque = matrix(m, REAL.trial_torque)
    at_p_r = matrix(m, REAL.at_p_r)
    x_w = matrix(m, REAL.x_w)
    trial_inverse = tensor(m, REAL.trial_inverse)
    defect_w = matrix(m, REAL.defect_w)
    inertia_first = places(m, WHOLE.inertia_first)
    at_w = matrix(m, REAL.at_w)
    inertia_s = tensor(m, REAL.inertia_s)
    trial_Pmean = matrix(m, REAL.trial_Pmean)
    at_Pdu = matrix(m, REAL.at_Pdu)
    defect_du = vector(m, REAL.defect_du)
    at_p_u = vector(m, REAL.at_p_u)
    trial_stress = vector(m, REAL.trial_stress)
    elastic_row = places(m, WHOLE.elastic_row)
    elastic_col = places(m, WHOLE.elastic_col)
    trial_D = vector(m, REAL.trial_D)
    d = len(axes)
    s = 1 if d == 2 else 3
    momenta(m, axes, end_w, end_u, end_du, end_Pu, end_Pdu, end_p_r, end_p_u)
    for b in range(inertia_mass.size):
        for i in range(d):
            pull = inertia_weight[b, i] + trial_on_body[b, i]
            defect_v[b, i] = inertia_mass[b] * (end_v[b, i] - at_v[b, i]) - h * pull
        for i in range(s):
            if s == 1:
                turned = trial_torque[b, 0]
            else:
                j, l = (i + 1) % 3, (i + 2) % 3
                turned = 0.5 * (at_p_r[b, j] + end_p_r[b, j]) * x_w[b, l]
                turned -= 0.5 * (at_p_r[b, l] + end_p_r[b, l]) * x_w[b, j]
                for q in range(3):
                    turned += trial_inverse[b, i, q] * trial_torque[b, q]
            defect_w[b, i] = end_p_r[b, i] - at_p_r[b, i] - h * turned
        for i in range(inertia_first[b], inertia_first[b + 1]):
            force = 0.0
            for j in range(s):
                w0, w1 = at_w[b, j], end_w[b, j]
                for l in range(s):
                    square = inertia_s[i, j, l] + trial_Pmean[i, 1 + s + s * j + l]
                    force += w0 * end_w[b, l] * square
                force -= 0.5 * (w0 * end_Pdu[i, 1 + j] + w1 * at_Pdu[i, 1 + j])
            defect_du[i] = end_p_u[i] - at_p_u[i] - h * force
    if number(m, WHOLE.elastic_is_viscous):
        _drag(m, h)
    for e in range(trial_D.size):
        defect_du[elastic_col[e]] += h * trial_D[e] * trial_stress[elastic_row[e]]


@in_place
def _drag(m: Memory, h: float) -> None:
    """Constant damping of the flexible coordinates."""
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    elastic_viscous = vector(m, REAL.elastic_viscous)
    x_du = vector(m, REAL.x_du)
    defect_du = vector(m, REAL.defect_du)
    for i in range(x_du.size):
        total = 0.0
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            total += elastic_viscous[e] * x_du[inertia_col[e]]
        defect_du[i] += h * total


@in_place
def _act(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Generalised forces −h φᵀ R̄⁻¹ f of nodes and −h ψᵀ R̄⁻¹ τ of sections; the shift takes the sum of the body's."""
    nodes_body = places(m, WHOLE.nodes_body)
    trial_inverse = tensor(m, REAL.trial_inverse)
    trial_on_node = matrix(m, REAL.trial_on_node)
    nodes_ptr = places(m, WHOLE.nodes_ptr)
    defect_du = vector(m, REAL.defect_du)
    nodes_col = places(m, WHOLE.nodes_col)
    nodes_val = matrix(m, REAL.nodes_val)
    inertia_mass = vector(m, REAL.inertia_mass)
    trial_on_body = matrix(m, REAL.trial_on_body)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    loads_torque_body = indices(m, WHOLE.loads_torque_body)
    trial_section = matrix(m, REAL.trial_section)
    loads_torque_ptr = places(m, WHOLE.loads_torque_ptr)
    loads_torque_col = places(m, WHOLE.loads_torque_col)
    loads_torque_shape = matrix(m, REAL.loads_torque_shape)
    d = len(axes)
    s = 1 if d == 2 else 3
    for n in range(nodes_body.size):
        b = nodes_body[n]
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += trial_inverse[b, j, i] * trial_on_node[n, i]
            for e in range(nodes_ptr[n], nodes_ptr[n + 1]):
                defect_du[nodes_col[e]] -= h * nodes_val[e, j] * local
    for b in range(inertia_mass.size):
        for j in range(d):
            local = 0.0
            for i in range(d):
                local += trial_inverse[b, j, i] * trial_on_body[b, i]
            for e in range(inertia_first[b], inertia_first[b + 1]):
                defect_du[e] += h * inertia_mean[e, j] * local
    for n in range(loads_torque_body.size):
        b = loads_torque_body[n]
        for j in range(s):
            local = trial_section[n, 0]
            if s == 3:
                local = 0.0
                for i in range(s):
                    local += trial_inverse[b, j, i] * trial_section[n, i]
            for e in range(loads_torque_ptr[n], loads_torque_ptr[n + 1]):
                defect_du[loads_torque_col[e]] -= h * loads_torque_shape[e, j] * local
