"""The Jacobian of a step in block-arrow form (see kernels.jacobian, whose blocks these are).

Of each body the inner flexible coordinates are eliminated from its banded block F; what is left, the border, is banded
too. The shift of the coordinates to the centre of mass enters by c = φ̄u̇̄ as further unknowns, and what node forces do
through it by adding φ̄ᵀR̄⁻¹ times the rows of ṙ̄ to those of u̇̄: nothing is filled.
"""

from __future__ import annotations

from ..compiling import in_place
from ..space import Array
from .band import factor as factor_band
from .band import solve as solve_band
from .band import solve_many
from .memory import REAL, WHOLE, Memory, block, index_matrix, indices, matrix, tensor, vector
from .motion import copy, cross_product
from .springs import tangent


@in_place
def factor(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> bool:
    """Factor the Jacobian at a trial; False where it is singular."""
    system_border = matrix(m, REAL.system_border)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_size = indices(m, WHOLE.border_size)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    system_border[:] = 0.0
    _flexible(m, axes, h)
    _turns(m, inertia_mass.size, axes, h)
    _rigid(m, axes, h)
    _turned_forces(m, axes, h)
    _vectors(m, axes, h)
    _springs(m, axes, h)
    _products(m, axes, h)
    _constraints(m, axes, h, before, after)
    w = border_size[1]
    for b in range(inertia_mass.size):
        if not _eliminate(m, axes, b):
            return False
    return factor_band(system_border, system_border_pivot, w)


@in_place
def solve(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Corrections of the mean velocities and multipliers from their defects, by the factored Jacobian."""
    system_x = vector(m, REAL.system_x)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_v = index_matrix(m, WHOLE.border_v)
    defect_v = matrix(m, REAL.defect_v)
    border_w = index_matrix(m, WHOLE.border_w)
    defect_w = matrix(m, REAL.defect_w)
    border_l = indices(m, WHOLE.border_l)
    defect_lam = vector(m, REAL.defect_lam)
    system_border = matrix(m, REAL.system_border)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    border_size = indices(m, WHOLE.border_size)
    correction_v = matrix(m, REAL.correction_v)
    correction_w = matrix(m, REAL.correction_w)
    correction_lam = vector(m, REAL.correction_lam)
    d = len(axes)
    s = 1 if d == 2 else 3
    system_x[:] = 0.0
    for b in range(inertia_mass.size):
        for i in range(d):
            system_x[border_v[b, i]] = defect_v[b, i]
        for i in range(s):
            if border_w[b, i] >= 0:
                system_x[border_w[b, i]] = defect_w[b, i]
        _reduce(m, axes, b)
    for i in range(border_l.size):
        system_x[border_l[i]] = defect_lam[i] / h
    solve_band(system_border, system_border_pivot, border_size[1], system_x)
    for b in range(inertia_mass.size):
        for i in range(d):
            correction_v[b, i] = system_x[border_v[b, i]]
        for i in range(s):
            correction_w[b, i] = system_x[border_w[b, i]] if border_w[b, i] >= 0 else 0.0
        _expand(m, axes, b)
    for i in range(border_l.size):
        correction_lam[i] = system_x[border_l[i]] / h


@in_place
def _add(A: Array, w: int, i: int, j: int, value: float) -> None:
    """Add to an entry of the border; unknowns that do not exist are −1."""
    if i >= 0 and j >= 0:
        A[i, j - i + w] += value


@in_place
def _flexible(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """∂r_u/∂u̇̄ without the shift: 2M + 2hω̄N − ½h²ω₀ω₁K + h(½h geometric + D̄ᵀ(½h + β)C⁻¹D₁ + viscous)."""
    system_entries = vector(m, REAL.system_entries)
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = indices(m, WHOLE.inertia_ptr)
    inertia_val = matrix(m, REAL.inertia_val)
    at_w = matrix(m, REAL.at_w)
    end_w = matrix(m, REAL.end_w)
    elastic_viscous = vector(m, REAL.elastic_viscous)
    stiffness_factor = vector(m, REAL.stiffness_factor)
    stiffness_constant = vector(m, REAL.stiffness_constant)
    trial_D = vector(m, REAL.trial_D)
    elastic_G_ptr = indices(m, WHOLE.elastic_G_ptr)
    elastic_G_val = vector(m, REAL.elastic_G_val)
    end_u = vector(m, REAL.end_u)
    elastic_G_col = indices(m, WHOLE.elastic_G_col)
    at_u = vector(m, REAL.at_u)
    system_D = vector(m, REAL.system_D)
    stiffness_pair_entry = indices(m, WHOLE.stiffness_pair_entry)
    stiffness_pair_damping = vector(m, REAL.stiffness_pair_damping)
    stiffness_pair_val = vector(m, REAL.stiffness_pair_val)
    stiffness_pair_mean = indices(m, WHOLE.stiffness_pair_mean)
    stiffness_pair_end = indices(m, WHOLE.stiffness_pair_end)
    stiffness_stress_entry = indices(m, WHOLE.stiffness_stress_entry)
    stiffness_stress_val = vector(m, REAL.stiffness_stress_val)
    trial_stress = vector(m, REAL.trial_stress)
    stiffness_stress = indices(m, WHOLE.stiffness_stress)
    s = 1 if len(axes) == 2 else 3
    F = system_entries
    for b in range(inertia_mass.size):
        for i in range(inertia_first[b], inertia_first[b + 1]):
            for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
                value = 2.0 * inertia_val[e, 0]
                for a in range(s):
                    value += h * (at_w[b, a] + end_w[b, a]) * inertia_val[e, 1 + a]
                    for c in range(s):
                        value -= 0.5 * h * h * at_w[b, a] * end_w[b, c] * inertia_val[e, 1 + s + s * a + c]
                F[e] = value + h * elastic_viscous[e] + h * (0.5 * h + stiffness_factor[e]) * stiffness_constant[e]
    for e in range(trial_D.size):
        change = 0.0
        for g in range(elastic_G_ptr[e], elastic_G_ptr[e + 1]):
            change += elastic_G_val[g] * (end_u[elastic_G_col[g]] - at_u[elastic_G_col[g]])
        system_D[e] = trial_D[e] + 0.5 * change
    for e in range(stiffness_pair_entry.size):
        gain = h * (0.5 * h + stiffness_pair_damping[e]) * stiffness_pair_val[e]
        F[stiffness_pair_entry[e]] += gain * trial_D[stiffness_pair_mean[e]] * system_D[stiffness_pair_end[e]]
    for e in range(stiffness_stress_entry.size):
        F[stiffness_stress_entry[e]] += 0.5 * h * h * stiffness_stress_val[e] * trial_stress[stiffness_stress[e]]


@in_place
def _turns(m: Memory, bodies: int, axes: tuple[int, ...], h: float) -> None:
    """World rotation of the end by ω̄: h/(1 + |a|²) R₀(1 + [a]×), a = ½hω̄; R̄⁻¹ is kept for the solves."""
    trial_inverse = tensor(m, REAL.trial_inverse)
    system_inverse = tensor(m, REAL.system_inverse)
    at_w = matrix(m, REAL.at_w)
    end_w = matrix(m, REAL.end_w)
    system_turn = tensor(m, REAL.system_turn)
    at_R = tensor(m, REAL.at_R)
    copy(trial_inverse, system_inverse)
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
def _rigid(m: Memory, axes: tuple[int, ...], h: float) -> None:
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
    inertia_first = indices(m, WHOLE.inertia_first)
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
            _add(A, width, border_v[b, i], border_v[b, i], 2.0 * inertia_mass[b])
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
                _add(A, width, border_w[b, i], border_w[b, j], value)
        if s == 3:
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                value = 0.5 * h * (at_p_r[b, i] + end_p_r[b, i])
                for c in range(3):
                    value += 0.5 * h * h * at_R[b, c, i] * trial_torque[b, c]
                _add(A, width, border_w[b, j], border_w[b, l], value)
                _add(A, width, border_w[b, l], border_w[b, j], -value)


@in_place
def _turned_forces(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """What node forces and section torques do when levers and R̄⁻¹ change under them."""
    system_border = matrix(m, REAL.system_border)
    border_size = indices(m, WHOLE.border_size)
    system_moved = vector(m, REAL.system_moved)
    system_made = vector(m, REAL.system_made)
    system_turned = vector(m, REAL.system_turned)
    nodes_body = indices(m, WHOLE.nodes_body)
    inertia_turns = indices(m, WHOLE.inertia_turns)
    trial_on_node = matrix(m, REAL.trial_on_node)
    system_turn = tensor(m, REAL.system_turn)
    end_arm = matrix(m, REAL.end_arm)
    end_R = tensor(m, REAL.end_R)
    trial_inverse = tensor(m, REAL.trial_inverse)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    nodes_moves = vector(m, REAL.nodes_moves)
    nodes_ptr = indices(m, WHOLE.nodes_ptr)
    system_row_w = matrix(m, REAL.system_row_w)
    nodes_col = indices(m, WHOLE.nodes_col)
    nodes_val = matrix(m, REAL.nodes_val)
    at_R = tensor(m, REAL.at_R)
    system_col = matrix(m, REAL.system_col)
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    loads_torque_body = indices(m, WHOLE.loads_torque_body)
    trial_section = matrix(m, REAL.trial_section)
    loads_torque_ptr = indices(m, WHOLE.loads_torque_ptr)
    loads_torque_col = indices(m, WHOLE.loads_torque_col)
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
                    _add(A, width, border_w[b, i], border_w[b, a], value)
                else:
                    _add(A, width, border_w[b, i], border_c[b, a - s], -nodes_moves[n] * value)
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
def _vectors(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Discrete gradient B and end derivative W of the vectors by the unknowns that move them."""
    system_moved = vector(m, REAL.system_moved)
    system_turned = vector(m, REAL.system_turned)
    joints_plus = indices(m, WHOLE.joints_plus)
    border_vector_ptr = indices(m, WHOLE.border_vector_ptr)
    joints_minus = indices(m, WHOLE.joints_minus)
    nodes_body = indices(m, WHOLE.nodes_body)
    nodes_moves = vector(m, REAL.nodes_moves)
    system_B = matrix(m, REAL.system_B)
    system_W = matrix(m, REAL.system_W)
    trial_lever = matrix(m, REAL.trial_lever)
    system_turn = tensor(m, REAL.system_turn)
    end_arm = matrix(m, REAL.end_arm)
    trial_inverse = tensor(m, REAL.trial_inverse)
    end_R = tensor(m, REAL.end_R)
    nodes_ptr = indices(m, WHOLE.nodes_ptr)
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
def _springs(m: Memory, axes: tuple[int, ...], h: float) -> None:
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
    joints_first = indices(m, WHOLE.joints_first)
    joints_second = indices(m, WHOLE.joints_second)
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
                    _add(system_border, border_size[1], border_vector_col[i], border_vector_col[j], left * right)


@in_place
def _dot(axes: tuple[int, ...], a: Array, b: Array) -> float:
    total = 0.0
    for i in range(len(axes)):
        total += a[i] * b[i]
    return total


@in_place
def _products(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The force φ on V·W acts along ½(W₀ + W₁) and ½(V₀ + V₁), which change."""
    joints_first = indices(m, WHOLE.joints_first)
    trial_force = vector(m, REAL.trial_force)
    joints_second = indices(m, WHOLE.joints_second)
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
                    _add(system_border, border_size[1], border_vector_col[i], border_vector_col[j], value)


@in_place
def _constraints(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> None:
    """−(c̄ β B)ᵀ and c₁ γ W/h."""
    joints_term_row = indices(m, WHOLE.joints_term_row)
    border_l = indices(m, WHOLE.border_l)
    joints_term_product = indices(m, WHOLE.joints_term_product)
    joints_first = indices(m, WHOLE.joints_first)
    joints_second = indices(m, WHOLE.joints_second)
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
                _add(system_border, border_size[1], column, row, -mean * _dot(axes, system_B[i], trial_mean[other]))
                _add(system_border, border_size[1], row, column, last * _dot(axes, system_W[i], end_vector[other]))


@in_place
def _eliminate(m: Memory, axes: tuple[int, ...], b: int) -> bool:
    """Factor the inner block F of a body, F⁻¹ C, and take R F⁻¹ C from the border.

    The columns C are those of ω̄, φ̄ᵀ (through which φ̄u̇̄ and ṙ̄ act) and of the masters; the rows R those of ω̄, φ̄u̇̄ and
    the masters.
    """
    inertia_first = indices(m, WHOLE.inertia_first)
    border_masters = indices(m, WHOLE.border_masters)
    border_band = indices(m, WHOLE.border_band)
    border_inners = indices(m, WHOLE.border_inners)
    border_width = indices(m, WHOLE.border_width)
    border_reduced = indices(m, WHOLE.border_reduced)
    system_band = vector(m, REAL.system_band)
    system_reduced = vector(m, REAL.system_reduced)
    system_pivot = indices(m, WHOLE.system_pivot)
    d = len(axes)
    first = inertia_first[b]
    if first == inertia_first[b + 1]:
        return True
    columns = (1 if d == 2 else 3) + d + border_masters[b + 1] - border_masters[b]
    band = block(system_band, border_band[b], border_inners[b], 3 * border_width[b] + 1)
    X = block(system_reduced, border_reduced[b], border_inners[b], columns)
    _fill(m, axes, b, band, X)
    pivot = system_pivot[first : first + border_inners[b]]
    if not factor_band(band, pivot, border_width[b]):
        return False
    solve_many(band, pivot, border_width[b], X)
    _condense(m, axes, b, X)
    return True


@in_place
def _fill(m: Memory, axes: tuple[int, ...], b: int, band: Array, X: Array) -> None:
    """Entries of F and C of a body; those of its masters go to the border."""
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = indices(m, WHOLE.inertia_ptr)
    inertia_col = indices(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_local = indices(m, WHOLE.border_local)
    border_width = indices(m, WHOLE.border_width)
    border_size = indices(m, WHOLE.border_size)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    F = vector(m, REAL.system_entries)
    A = matrix(m, REAL.system_border)
    system_col = matrix(m, REAL.system_col)
    system_row_w = matrix(m, REAL.system_row_w)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    d = len(axes)
    s = 1 if d == 2 else 3
    w, width = border_width[b], border_size[1]
    band[:] = 0.0
    X[:] = 0.0
    for i in range(d):
        _add(A, width, border_c[b, i], border_c[b, i], 1.0)
    for i in range(inertia_first[b], inertia_first[b + 1]):
        row, own = border_inner[i], border_m[i]
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            j = inertia_col[e]
            if row >= 0:
                if border_inner[j] >= 0:
                    band[row, border_inner[j] - row + w] += F[e]
                else:
                    X[row, s + d + border_local[j]] += F[e]
            elif border_inner[j] < 0:
                _add(A, width, own, border_m[j], F[e])
        if row >= 0:
            for a in range(s):
                X[row, a] = system_col[i, a]
            for l in range(d):
                X[row, s + l] = inertia_mean[i, l]
            continue
        for a in range(s):
            _add(A, width, own, border_w[b, a], system_col[i, a])
            _add(A, width, border_w[b, a], own, system_row_w[i, a])
        for j in range(d):
            _add(A, width, border_c[b, j], own, -inertia_mean[i, j])
            for l in range(d):
                _add(A, width, own, border_c[b, j], inertia_mean[i, l] * system_by_c[b, l, j])
                _add(A, width, own, border_v[b, j], inertia_mean[i, l] * system_by_v[b, l, j])


@in_place
def _condense(m: Memory, axes: tuple[int, ...], b: int, X: Array) -> None:
    """Take R F⁻¹ C from the border."""
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = indices(m, WHOLE.inertia_ptr)
    inertia_col = indices(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    F = vector(m, REAL.system_entries)
    system_row_w = matrix(m, REAL.system_row_w)
    left = matrix(m, REAL.system_left)
    d = len(axes)
    s = 1 if d == 2 else 3
    columns = X.shape[1]
    for r in range(s + d):
        for q in range(columns):
            left[r, q] = 0.0
    for i in range(inertia_first[b], inertia_first[b + 1]):
        row = border_inner[i]
        if row >= 0:
            for a in range(s):
                for q in range(columns):
                    left[a, q] += system_row_w[i, a] * X[row, q]
            for j in range(d):
                for q in range(columns):
                    left[s + j, q] -= inertia_mean[i, j] * X[row, q]
    for a in range(s):
        _take(m, axes, b, border_w[b, a], left[a], columns)
    for j in range(d):
        _take(m, axes, b, border_c[b, j], left[s + j], columns)
    for l in range(border_masters[b], border_masters[b + 1]):
        i = border_master[l]
        for q in range(columns):
            left[0, q] = 0.0
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            row = border_inner[inertia_col[e]]
            if row >= 0:
                for q in range(columns):
                    left[0, q] += F[e] * X[row, q]
        _take(m, axes, b, border_m[i], left[0], columns)


@in_place
def _take(m: Memory, axes: tuple[int, ...], b: int, row: int, values: Array, columns: int) -> None:
    """Subtract values in the columns C of a body from a row of the border."""
    border_size = indices(m, WHOLE.border_size)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    A = matrix(m, REAL.system_border)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    d = len(axes)
    s = 1 if d == 2 else 3
    width = border_size[1]
    for a in range(s):
        _add(A, width, row, border_w[b, a], -values[a])
    for j in range(d):
        for l in range(d):
            _add(A, width, row, border_c[b, j], -values[s + l] * system_by_c[b, l, j])
            _add(A, width, row, border_v[b, j], -values[s + l] * system_by_v[b, l, j])
    for q in range(s + d, columns):
        _add(A, width, row, border_m[border_master[border_masters[b] + q - s - d]], -values[q])


@in_place
def _reduce(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """Solve for the inner coordinates of a body with the border held, and move the rest to the border."""
    border_band = indices(m, WHOLE.border_band)
    system_band = vector(m, REAL.system_band)
    inertia_first = indices(m, WHOLE.inertia_first)
    system_y = vector(m, REAL.system_y)
    border_inners = indices(m, WHOLE.border_inners)
    defect_du = vector(m, REAL.defect_du)
    inertia_mean = matrix(m, REAL.inertia_mean)
    system_inverse = tensor(m, REAL.system_inverse)
    defect_v = matrix(m, REAL.defect_v)
    border_inner = indices(m, WHOLE.border_inner)
    system_x = vector(m, REAL.system_x)
    border_m = indices(m, WHOLE.border_m)
    system_pivot = indices(m, WHOLE.system_pivot)
    border_width = indices(m, WHOLE.border_width)
    border_w = index_matrix(m, WHOLE.border_w)
    system_row_w = matrix(m, REAL.system_row_w)
    border_c = index_matrix(m, WHOLE.border_c)
    inertia_ptr = indices(m, WHOLE.inertia_ptr)
    inertia_col = indices(m, WHOLE.inertia_col)
    system_entries = vector(m, REAL.system_entries)
    d = len(axes)
    s = 1 if d == 2 else 3
    first, last = inertia_first[b], inertia_first[b + 1]
    if first == last:
        return
    inner = system_y[first : first + border_inners[b]]
    for i in range(first, last):
        value = defect_du[i]
        for j in range(d):
            for l in range(d):
                value += inertia_mean[i, j] * system_inverse[b, j, l] * defect_v[b, l]
        if border_inner[i] >= 0:
            inner[border_inner[i]] = value
        else:
            system_x[border_m[i]] += value
    band = block(system_band, border_band[b], border_inners[b], 3 * border_width[b] + 1)
    solve_band(band, system_pivot[first : first + border_inners[b]], border_width[b], inner)
    for i in range(first, last):
        if border_inner[i] >= 0:
            value = inner[border_inner[i]]
            for a in range(s):
                if border_w[b, a] >= 0:
                    system_x[border_w[b, a]] -= system_row_w[i, a] * value
            for j in range(d):
                system_x[border_c[b, j]] += inertia_mean[i, j] * value
        else:
            for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
                if border_inner[inertia_col[e]] >= 0:
                    system_x[border_m[i]] -= system_entries[e] * inner[border_inner[inertia_col[e]]]


@in_place
def _expand(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """The flexible coordinates of a body from the border."""
    inertia_first = indices(m, WHOLE.inertia_first)
    border_inner = indices(m, WHOLE.border_inner)
    border_inners = indices(m, WHOLE.border_inners)
    border_reduced = indices(m, WHOLE.border_reduced)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    system_reduced = vector(m, REAL.system_reduced)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    left = matrix(m, REAL.system_left)
    x = vector(m, REAL.system_x)
    system_y = vector(m, REAL.system_y)
    correction_du = vector(m, REAL.correction_du)
    d = len(axes)
    s = 1 if d == 2 else 3
    first = inertia_first[b]
    if first == inertia_first[b + 1]:
        return
    columns = s + d + border_masters[b + 1] - border_masters[b]
    X = block(system_reduced, border_reduced[b], border_inners[b], columns)
    for a in range(s):
        left[0, a] = x[border_w[b, a]]
    for l in range(d):
        left[0, s + l] = 0.0
        for j in range(d):
            left[0, s + l] += system_by_c[b, l, j] * x[border_c[b, j]] + system_by_v[b, l, j] * x[border_v[b, j]]
    for q in range(s + d, columns):
        left[0, q] = x[border_m[border_master[border_masters[b] + q - s - d]]]
    for i in range(first, inertia_first[b + 1]):
        row = border_inner[i]
        if row < 0:
            correction_du[i] = x[border_m[i]]
            continue
        value = system_y[first + row]
        for q in range(columns):
            value -= X[row, q] * left[0, q]
        correction_du[i] = value
