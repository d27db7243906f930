"""The blocks of the Jacobian of a step in loops (see kernels.jacobian, whose blocks these are).

All are entries of the flexible matrices, of their columns and rows, or of the border (see
:mod:`flexph.integration.compiled.loops.arrow`).
"""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, index_matrix, indices, matrix, places, span, tensor, vector
from ..memory.simd import get, put
from .motion import copy, cross_product
from .rolling import gain
from .springs import tangent


@in_place
def add(A: Array, w: int, i: int, j: int, value: float) -> None:
    """Add to an entry of the border; unknowns that do not exist are −1."""
    if i >= 0 and j >= 0:
        place = i * A.shape[1] + j - i + w
        put(A, place, get(A, place) + value)


@in_place
def add_flexible(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """∂r_u/∂u̇̄ without the shift: 2M + 2hω̄N − ½h²ω₀ω₁K + h(½h geometric + D̄ᵀ(½h + β)C⁻¹D₁ + viscous)."""
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = indices(m, WHOLE.inertia_ptr)
    inertia_val = matrix(m, REAL.inertia_val)
    at_w = matrix(m, REAL.at_w)
    end_w = matrix(m, REAL.end_w)
    stiffness_damping = vector(m, REAL.stiffness_damping)
    stiffness_constant = vector(m, REAL.stiffness_constant)
    border_place = indices(m, WHOLE.border_place)
    F = span(m, REAL.system_entries, REAL.system_border)
    s = 1 if len(axes) == 2 else 3
    width = inertia_val.shape[1]
    for b in range(inertia_mass.size):
        for e in range(inertia_ptr[inertia_first[b]], inertia_ptr[inertia_first[b + 1]]):
            value = 2.0 * get(inertia_val, e * width)
            for a in range(s):
                value += h * (at_w[b, a] + end_w[b, a]) * get(inertia_val, e * width + 1 + a)
                for c in range(s):
                    factor = 0.5 * h * h * at_w[b, a] * end_w[b, c]
                    value -= factor * get(inertia_val, e * width + 1 + s + s * a + c)
            rest = get(stiffness_damping, e) + 0.5 * h * get(stiffness_constant, e)
            put(F, border_place[e], value + h * rest)
    _add_stresses(m, h, F)


@in_place
def _add_stresses(m: Memory, h: float, F: Array) -> None:
    """What the stresses of strain rows that change add."""
    trial_D = vector(m, REAL.trial_D)
    elastic_G_entry = places(m, WHOLE.elastic_G_entry)
    elastic_G_val = vector(m, REAL.elastic_G_val)
    elastic_G_col = places(m, WHOLE.elastic_G_col)
    x_du = vector(m, REAL.x_du)
    system_D = vector(m, REAL.system_D)
    stiffness_pair_place = places(m, WHOLE.stiffness_pair_place)
    stiffness_left_damping = vector(m, REAL.stiffness_left_damping)
    stiffness_left_val = vector(m, REAL.stiffness_left_val)
    stiffness_left_mean = places(m, WHOLE.stiffness_left_mean)
    left_D = vector(m, REAL.system_left_D)
    stiffness_pair_left = places(m, WHOLE.stiffness_pair_left)
    stiffness_pair_end = places(m, WHOLE.stiffness_pair_end)
    stiffness_stress_place = places(m, WHOLE.stiffness_stress_place)
    stiffness_stress_val = vector(m, REAL.stiffness_stress_val)
    trial_stress = vector(m, REAL.trial_stress)
    stiffness_stress = places(m, WHOLE.stiffness_stress)
    copy(trial_D, system_D)
    for g in range(elastic_G_val.size):
        system_D[elastic_G_entry[g]] += 0.5 * h * elastic_G_val[g] * x_du[elastic_G_col[g]]
    for e in range(left_D.size):
        gain = h * (0.5 * h + stiffness_left_damping[e]) * stiffness_left_val[e]
        left_D[e] = gain * trial_D[stiffness_left_mean[e]]
    for e in range(stiffness_pair_place.size):
        F[stiffness_pair_place[e]] += left_D[stiffness_pair_left[e]] * system_D[stiffness_pair_end[e]]
    for e in range(stiffness_stress_place.size):
        F[stiffness_stress_place[e]] += 0.5 * h * h * stiffness_stress_val[e] * trial_stress[stiffness_stress[e]]


@in_place
def make_turns(m: Memory, bodies: int, axes: tuple[int, ...], h: float) -> None:
    """World rotation of the end by ω̄: h/(1 + |a|²) R₀(1 + [a]×), a = ½hω̄; R̄⁻¹ is kept for the solves."""
    at_w = matrix(m, REAL.at_w)
    end_w = matrix(m, REAL.end_w)
    system_turn = tensor(m, REAL.system_turn)
    at_R = tensor(m, REAL.at_R)
    copy(span(m, REAL.trial_inverse, REAL.trial_inverse), span(m, REAL.system_inverse, REAL.system_inverse))
    for b in range(bodies):
        if len(axes) == 2:
            a = 0.25 * h * (at_w[b, 0] + end_w[b, 0])
            system_turn[b, 0, 0] = h / (1.0 + a * a)
        else:
            a0, a1, a2 = (
                0.25 * h * (at_w[b, 0] + end_w[b, 0]),
                0.25 * h * (at_w[b, 1] + end_w[b, 1]),
                0.25 * h * (at_w[b, 2] + end_w[b, 2]),
            )
            scale = h / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
            for i in range(3):
                y0, y1, y2 = at_R[b, i, 0], at_R[b, i, 1], at_R[b, i, 2]
                system_turn[b, i, 0] = scale * (y0 + y1 * a2 - y2 * a1)
                system_turn[b, i, 1] = scale * (y1 + y2 * a0 - y0 * a2)
                system_turn[b, i, 2] = scale * (y2 + y0 * a1 - y1 * a0)


@in_place
def add_rigid(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """∂r_v/∂ṙ̄, ∂r_ω/∂ω̄, and how ω̄, φ̄u̇̄ and ṙ̄ are coupled with the flexible coordinates."""
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_v = index_matrix(m, WHOLE.border_v)
    system_through = matrix(m, REAL.system_through)
    system_spin = matrix(m, REAL.system_spin)
    inertia_J = tensor(m, REAL.inertia_J)
    at_w = matrix(m, REAL.at_w)
    end_w = matrix(m, REAL.end_w)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_n = matrix(m, REAL.inertia_n)
    end_Pu = matrix(m, REAL.end_Pu)
    end_Pdu = matrix(m, REAL.end_Pdu)
    at_Pdu = matrix(m, REAL.at_Pdu)
    inertia_s = tensor(m, REAL.inertia_s)
    trial_Pmean = matrix(m, REAL.trial_Pmean)
    end_u = vector(m, REAL.end_u)
    system_row_w = matrix(m, REAL.system_row_w)
    system_col = matrix(m, REAL.system_col)
    inertia_form = tensor(m, REAL.inertia_form)
    trial_inverse = tensor(m, REAL.trial_inverse)
    border_w = index_matrix(m, WHOLE.border_w)
    at_p_r = matrix(m, REAL.at_p_r)
    end_p_r = matrix(m, REAL.end_p_r)
    at_R = tensor(m, REAL.at_R)
    trial_torque = matrix(m, REAL.trial_torque)
    d = len(axes)
    s = 1 if d == 2 else 3
    A, width = system_border, border_size[1]
    for b in range(inertia_mass.size):
        for i in range(d):
            add(A, width, border_v[b, i], border_v[b, i], 2.0 * inertia_mass[b])
        through, spin = system_through, system_spin
        for i in range(s):
            for j in range(s):
                through[i, j] = 1.0 if i == j else 0.0
                spin[i, j] = 2.0 * inertia_J[b, i, j]
        if s == 3:
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                mean = 0.25 * h * (at_w[b, i] + end_w[b, i])
                through[j, l] -= mean
                through[l, j] += mean
        for i in range(inertia_first[b], inertia_first[b + 1]):
            for a in range(s):
                coupling = 2.0 * (inertia_n[i, a] + end_Pu[i, 1 + a])
                row, column = coupling - h * end_Pdu[i, 1 + a], coupling + h * at_Pdu[i, 1 + a]
                for c in range(s):
                    k = 1 + s + s * a + c
                    row += 2.0 * h * (inertia_s[i, a, c] + end_Pu[i, k]) * end_w[b, c]
                    column -= 2.0 * h * (inertia_s[i, a, c] + trial_Pmean[i, k]) * at_w[b, c]
                    spin[a, c] += 2.0 * (2.0 * inertia_s[i, a, c] + end_Pu[i, k]) * end_u[i]
                system_row_w[i, a] = row
                system_col[i, a] = column
            if s == 3:
                r0, r1, r2 = system_row_w[i, 0], system_row_w[i, 1], system_row_w[i, 2]
                for a in range(3):
                    system_row_w[i, a] = through[a, 0] * r0 + through[a, 1] * r1 + through[a, 2] * r2
        for l in range(d):
            for j in range(d):
                value = 2.0 * inertia_form[b, l, j]
                for a in range(s):
                    value += h * (at_w[b, a] + end_w[b, a]) * inertia_form[b, (1 + a) * d + l, j]
                    for c in range(s):
                        gain = 0.5 * h * h * at_w[b, a] * end_w[b, c]
                        value -= gain * inertia_form[b, (1 + s + s * a + c) * d + l, j]
                system_by_c[b, l, j] = -value
                system_by_v[b, l, j] = 2.0 * inertia_mass[b] * trial_inverse[b, l, j]
        for i in range(s):
            for j in range(s):
                value = spin[i, j]
                if s == 3:
                    value = through[i, 0] * spin[0, j] + through[i, 1] * spin[1, j] + through[i, 2] * spin[2, j]
                add(A, width, border_w[b, i], border_w[b, j], value)
        if s == 3:
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                value = 0.5 * h * (at_p_r[b, i] + end_p_r[b, i])
                for c in range(3):
                    value += 0.5 * h * h * at_R[b, c, i] * trial_torque[b, c]
                add(A, width, border_w[b, j], border_w[b, l], value)
                add(A, width, border_w[b, l], border_w[b, j], -value)


@in_place
def add_turned_forces(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """What node forces and section torques do when levers and R̄⁻¹ change under them."""
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    system_moved = vector(m, REAL.system_moved)
    system_made = vector(m, REAL.system_made)
    system_turned = vector(m, REAL.system_turned)
    nodes_body = places(m, WHOLE.nodes_body)
    inertia_turns = indices(m, WHOLE.inertia_turns)
    trial_on_node = matrix(m, REAL.trial_on_node)
    system_turn = tensor(m, REAL.system_turn)
    end_arm = matrix(m, REAL.end_arm)
    end_R = tensor(m, REAL.end_R)
    trial_inverse = tensor(m, REAL.trial_inverse)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    nodes_moves = vector(m, REAL.nodes_moves)
    nodes_ptr = places(m, WHOLE.nodes_ptr)
    system_row_w = matrix(m, REAL.system_row_w)
    nodes_col = places(m, WHOLE.nodes_col)
    nodes_val = matrix(m, REAL.nodes_val)
    at_R = tensor(m, REAL.at_R)
    system_col = matrix(m, REAL.system_col)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    loads_torque_body = indices(m, WHOLE.loads_torque_body)
    trial_section = matrix(m, REAL.trial_section)
    loads_torque_ptr = places(m, WHOLE.loads_torque_ptr)
    loads_torque_col = places(m, WHOLE.loads_torque_col)
    loads_torque_shape = matrix(m, REAL.loads_torque_shape)
    d = len(axes)
    s = 1 if d == 2 else 3
    A, width = system_border, border_size[1]
    moved, made, turned = system_moved, system_made, system_turned
    for n in range(nodes_body.size):
        b = nodes_body[n]
        if not inertia_turns[b]:
            continue
        force = trial_on_node[n]
        for a in range(s + d):  # the arm moved by ω̄, then by u̇̄ along each axis of the body
            if a < s:
                if s == 1:
                    moved[0], moved[1] = -system_turn[b, 0, 0] * end_arm[n, 1], system_turn[b, 0, 0] * end_arm[n, 0]
                else:
                    for i in range(3):
                        turned[i] = system_turn[b, i, a]
                    cross_product(turned, end_arm[n], moved)
            else:
                for i in range(d):
                    moved[i] = h * end_R[b, i, a - s]
            if s == 1:
                made[0] = moved[0] * force[1] - moved[1] * force[0]
            else:
                cross_product(moved, force, turned)
                for i in range(3):
                    made[i] = 0.0
                    for j in range(3):
                        made[i] += trial_inverse[b, i, j] * turned[j]
            for i in range(s):
                value = -0.5 * h * made[i]
                if a < s:
                    add(A, width, border_w[b, i], border_w[b, a], value)
                else:
                    add(A, width, border_w[b, i], border_c[b, a - s], -nodes_moves[n] * value)
                    for e in range(nodes_ptr[n], nodes_ptr[n + 1]):
                        system_row_w[nodes_col[e], i] += value * nodes_val[e, a - s]
        for i in range(d):  # the force in the axes of the body
            moved[i] = 0.0
            for j in range(d):
                moved[i] += at_R[b, j, i] * force[j]
        for a in range(s):
            _turned(axes, a, moved, made)
            for e in range(nodes_ptr[n], nodes_ptr[n + 1]):
                for i in range(d):
                    system_col[nodes_col[e], a] += 0.5 * h * h * nodes_val[e, i] * made[i]
            for e in range(inertia_first[b], inertia_first[b + 1]):
                for i in range(d):
                    system_col[e, a] -= 0.5 * h * h * nodes_moves[n] * inertia_mean[e, i] * made[i]
    if s == 3:
        for n in range(loads_torque_body.size):
            b = loads_torque_body[n]
            for i in range(3):
                moved[i] = 0.0
                for j in range(3):
                    moved[i] += at_R[b, j, i] * trial_section[n, j]
            for a in range(3):
                _turned(axes, a, moved, made)
                for e in range(loads_torque_ptr[n], loads_torque_ptr[n + 1]):
                    for i in range(3):
                        system_col[loads_torque_col[e], a] += 0.5 * h * h * loads_torque_shape[e, i] * made[i]


@in_place
def _turned(axes: tuple[int, ...], a: int, x: Array, out: Array) -> None:
    """e_a × x."""
    if len(axes) == 2:
        out[0], out[1] = -x[1], x[0]
    else:
        i, j = (a + 1) % 3, (a + 2) % 3
        out[a], out[i], out[j] = 0.0, -x[j], x[i]


@in_place
def make_vectors(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Discrete gradient B and end derivative W of the vectors by the unknowns that move them."""
    system_moved = vector(m, REAL.system_moved)
    system_turned = vector(m, REAL.system_turned)
    joints_plus = indices(m, WHOLE.joints_plus)
    border_vector_ptr = indices(m, WHOLE.border_vector_ptr)
    joints_minus = indices(m, WHOLE.joints_minus)
    nodes_body = places(m, WHOLE.nodes_body)
    nodes_moves = vector(m, REAL.nodes_moves)
    system_B = matrix(m, REAL.system_B)
    system_W = matrix(m, REAL.system_W)
    trial_lever = matrix(m, REAL.trial_lever)
    system_turn = tensor(m, REAL.system_turn)
    end_arm = matrix(m, REAL.end_arm)
    trial_inverse = tensor(m, REAL.trial_inverse)
    end_R = tensor(m, REAL.end_R)
    nodes_ptr = places(m, WHOLE.nodes_ptr)
    nodes_val = matrix(m, REAL.nodes_val)
    d = len(axes)
    s = 1 if d == 2 else 3
    moved, turned = system_moved, system_turned
    for v in range(joints_plus.size):
        at = border_vector_ptr[v]
        for side in range(2):
            n, sign = (joints_plus[v], 1.0) if side == 0 else (joints_minus[v], -1.0)
            if n < 0:
                continue
            b, moves = nodes_body[n], nodes_moves[n]
            for j in range(d):
                for i in range(d):
                    system_B[at + j, i] = sign * moves if i == j else 0.0
                    system_W[at + j, i] = h * sign * moves if i == j else 0.0
            at += d
            for a in range(s):
                if s == 1:
                    system_B[at, 0], system_B[at, 1] = -sign * trial_lever[n, 1], sign * trial_lever[n, 0]
                    gain = sign * system_turn[b, 0, 0]
                    system_W[at, 0], system_W[at, 1] = -gain * end_arm[n, 1], gain * end_arm[n, 0]
                else:
                    for i in range(3):
                        turned[i] = trial_inverse[b, a, i]
                    cross_product(turned, trial_lever[n], moved)
                    for i in range(3):
                        system_B[at, i] = sign * moved[i]
                        turned[i] = system_turn[b, i, a]
                    cross_product(turned, end_arm[n], moved)
                    for i in range(3):
                        system_W[at, i] = sign * moved[i]
                at += 1
            for j in range(d):
                for i in range(d):
                    system_B[at + j, i] = 0.0
                    system_W[at + j, i] = -sign * moves * h * end_R[b, i, j]
            at += d
            for e in range(nodes_ptr[n], nodes_ptr[n + 1]):
                for i in range(d):
                    system_B[at, i] = 0.0
                    system_W[at, i] = 0.0
                    for j in range(d):
                        system_B[at, i] += sign * trial_inverse[b, j, i] * nodes_val[e, j]
                        system_W[at, i] += sign * h * end_R[b, i, j] * nodes_val[e, j]
                at += 1


@in_place
def add_springs(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """−h βᵀ T γ with the tangents T of the spring-dampers."""
    joints_length_product = indices(m, WHOLE.joints_length_product)
    joints_component_product = indices(m, WHOLE.joints_component_product)
    joints_stiffness = vector(m, REAL.joints_stiffness)
    at_product = vector(m, REAL.at_product)
    end_product = vector(m, REAL.end_product)
    system_tangent = matrix(m, REAL.system_tangent)
    joints_sine_product = indices(m, WHOLE.joints_sine_product)
    joints_cosine_product = indices(m, WHOLE.joints_cosine_product)
    lengths, components = joints_length_product.size, joints_component_product.size
    for i in range(joints_stiffness.size):
        tangent(m, i, h, at_product, end_product, system_tangent)
        if i < lengths:
            p = joints_length_product[i]
            _add_stiffness(m, axes, h, system_tangent[0, 0], p, p)
        elif i < lengths + components:
            p = joints_component_product[i - lengths]
            _add_stiffness(m, axes, h, system_tangent[0, 0], p, p)
        else:
            a = i - lengths - components
            p, q = joints_sine_product[a], joints_cosine_product[a]
            _add_stiffness(m, axes, h, system_tangent[0, 0], p, p)
            _add_stiffness(m, axes, h, system_tangent[0, 1], p, q)
            _add_stiffness(m, axes, h, system_tangent[1, 0], q, p)
            _add_stiffness(m, axes, h, system_tangent[1, 1], q, q)


@in_place
def _add_stiffness(m: Memory, axes: tuple[int, ...], h: float, value: float, p: int, q: int) -> None:
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    border_vector_ptr = indices(m, WHOLE.border_vector_ptr)
    system_B = matrix(m, REAL.system_B)
    trial_mean = matrix(m, REAL.trial_mean)
    system_W = matrix(m, REAL.system_W)
    end_vector = matrix(m, REAL.end_vector)
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    border_vector_col = indices(m, WHOLE.border_vector_col)
    for side in range(2):
        v, other = (joints_first[p], joints_second[p]) if side == 0 else (joints_second[p], joints_first[p])
        for i in range(border_vector_ptr[v], border_vector_ptr[v + 1]):
            left = -h * value * _dot(axes, system_B[i], trial_mean[other])
            if left == 0.0:
                continue
            for back in range(2):
                u, rest = (joints_first[q], joints_second[q]) if back == 0 else (joints_second[q], joints_first[q])
                for j in range(border_vector_ptr[u], border_vector_ptr[u + 1]):
                    right = _dot(axes, system_W[j], end_vector[rest])
                    add(system_border, border_size[1], border_vector_col[i], border_vector_col[j], left * right)


@in_place
def _dot(axes: tuple[int, ...], a: Array, b: Array) -> float:
    total = 0.0
    for i in range(len(axes)):
        total += a[i] * b[i]
    return total


@in_place
def add_products(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The force φ on V·W acts along ½(W₀ + W₁) and ½(V₀ + V₁), which change."""
    joints_first = places(m, WHOLE.joints_first)
    trial_force = vector(m, REAL.trial_force)
    joints_second = places(m, WHOLE.joints_second)
    border_vector_ptr = indices(m, WHOLE.border_vector_ptr)
    system_B = matrix(m, REAL.system_B)
    system_W = matrix(m, REAL.system_W)
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    border_vector_col = indices(m, WHOLE.border_vector_col)
    for p in range(joints_first.size):
        gain = -0.5 * h * trial_force[p]
        for side in range(2):
            v, u = (joints_first[p], joints_second[p]) if side == 0 else (joints_second[p], joints_first[p])
            for i in range(border_vector_ptr[v], border_vector_ptr[v + 1]):
                for j in range(border_vector_ptr[u], border_vector_ptr[u + 1]):
                    value = gain * _dot(axes, system_B[i], system_W[j])
                    add(system_border, border_size[1], border_vector_col[i], border_vector_col[j], value)


@in_place
def add_constraints(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> None:
    """−(c̄ β B)ᵀ and c₁ γ W/h."""
    joints_term_row = places(m, WHOLE.joints_term_row)
    border_l = indices(m, WHOLE.border_l)
    joints_term_product = places(m, WHOLE.joints_term_product)
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    border_vector_ptr = indices(m, WHOLE.border_vector_ptr)
    border_vector_col = indices(m, WHOLE.border_vector_col)
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    system_B = matrix(m, REAL.system_B)
    trial_mean = matrix(m, REAL.trial_mean)
    system_W = matrix(m, REAL.system_W)
    end_vector = matrix(m, REAL.end_vector)
    for term in range(joints_term_row.size):
        row, p = border_l[joints_term_row[term]], joints_term_product[term]
        mean, last = 0.5 * (before[term] + after[term]), after[term] / h
        for side in range(2):
            v, other = (joints_first[p], joints_second[p]) if side == 0 else (joints_second[p], joints_first[p])
            for i in range(border_vector_ptr[v], border_vector_ptr[v + 1]):
                column = border_vector_col[i]
                add(system_border, border_size[1], column, row, -mean * _dot(axes, system_B[i], trial_mean[other]))
                add(system_border, border_size[1], row, column, last * _dot(axes, system_W[i], end_vector[other]))


@in_place
def add_rolling(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Forces w Π̄_by λ and torques a λ of constraints on velocities, and how their defects change."""
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    rolling_by = places(m, WHOLE.rolling_by)
    rolling_weight = vector(m, REAL.rolling_weight)
    x_lam = vector(m, REAL.x_lam)
    at_product = vector(m, REAL.at_product)
    end_product = vector(m, REAL.end_product)
    border_l = indices(m, WHOLE.border_l)
    for i in range(rolling_row.size):
        row, p, q, own = border_l[rolling_row[i]], rolling_product[i], rolling_by[i], gain(m, i)
        weighed = 0.5 * rolling_weight[i] * (end_product[p] - at_product[p])
        _add_row(m, axes, row, p, own, own / h)
        _add_row(m, axes, row, q, 0.0, weighed / h)
        _add_stiffness(m, axes, h, 0.5 * rolling_weight[i] * x_lam[rolling_row[i]], p, q)
    _add_spins(m, axes)


@in_place
def _add_row(m: Memory, axes: tuple[int, ...], row: int, p: int, mean: float, last: float) -> None:
    """−(mean β B)ᵀ and last γ W of a product."""
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    border_vector_ptr = places(m, WHOLE.border_vector_ptr)
    border_vector_col = indices(m, WHOLE.border_vector_col)
    system_border = matrix(m, REAL.system_border)
    width = indices(m, WHOLE.border_size)[1]
    system_B = matrix(m, REAL.system_B)
    trial_mean = matrix(m, REAL.trial_mean)
    system_W = matrix(m, REAL.system_W)
    end_vector = matrix(m, REAL.end_vector)
    for side in range(2):
        v, other = (joints_first[p], joints_second[p]) if side == 0 else (joints_second[p], joints_first[p])
        for i in range(border_vector_ptr[v], border_vector_ptr[v + 1]):
            column = border_vector_col[i]
            add(system_border, width, column, row, -mean * _dot(axes, system_B[i], trial_mean[other]))
            add(system_border, width, row, column, last * _dot(axes, system_W[i], end_vector[other]))


@in_place
def _add_spins(m: Memory, axes: tuple[int, ...]) -> None:
    """Torques −R̄⁻¹a and rows aᵀR₀ of the spins."""
    rolling_spin_row = places(m, WHOLE.rolling_spin_row)
    rolling_spin_body = places(m, WHOLE.rolling_spin_body)
    axis = matrix(m, REAL.rolling_spin_axis)
    border_l = indices(m, WHOLE.border_l)
    border_w = index_matrix(m, WHOLE.border_w)
    at_R = tensor(m, REAL.at_R)
    trial_inverse = tensor(m, REAL.trial_inverse)
    system_border = matrix(m, REAL.system_border)
    width = indices(m, WHOLE.border_size)[1]
    s = axis.shape[1]
    for i in range(rolling_spin_row.size):
        row, b = border_l[rolling_spin_row[i]], rolling_spin_body[i]
        for j in range(s):
            acting, moved = axis[i, j], axis[i, j]
            if s == 3:
                acting, moved = 0.0, 0.0
                for k in range(3):
                    acting += trial_inverse[b, j, k] * axis[i, k]
                    moved += at_R[b, k, j] * axis[i, k]
            add(system_border, width, border_w[b, j], row, -acting)
            add(system_border, width, row, border_w[b, j], moved)
