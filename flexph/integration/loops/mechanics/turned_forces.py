"""Terms of the Jacobian due to forces whose levers or directions change as bodies turn and deform."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import Number, fill
    from ..memory.memory import Memory
    from ..terms.border import add
    from ..terms.nodes import cross_product


def add_turned_forces(m: Memory, dim: int, h: float) -> None:
    """Add the derivatives of the effect of forces on nodes and torques on sections, as levers and R̄⁻¹ change."""
    s = 1 if dim == 2 else 3
    _add_couples(m, dim, h)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        if m.inertia_turns[b] and m.inertia_first[b] < m.inertia_first[b + 1]:
            for a in range(s, s + dim):
                _move_arm(m, dim, h, n, a)
                _add_torque(m, dim, h, n, a - s)
            _turn_force(m, dim, h, n)
    if s == 3:
        for n in range(m.loads_torque_body.size):
            _turn_section(m, dim, h, n)


def _add_couples(m: Memory, dim: int, h: float) -> None:
    """Add −½h R̄⁻¹ (Σ a fᵀ − Σ a·f) t to the columns of ω̄: the torques of node forces f whose arms a turn.

    A change of ω̄ turns the arms at the end by the rotation t, so that the torques change by ½ Σ (t × a) × f.
    """
    value = cython.declare(Number)
    couple = m.system_couple
    moved = m.system_moved
    fill(couple, 0.0)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(dim):
            for j in range(dim):
                couple[b][i][j] += m.end_arm[n][i] * m.trial_on_node[n][j]
    for b in range(m.inertia_mass.size):
        if not m.inertia_turns[b]:
            continue
        if dim == 2:
            value = couple[b][0][0] + couple[b][1][1]
            add(m, m.border_w[b][0], m.border_w[b][0], 0.5 * h * m.system_turn[b][0][0] * value)
            continue
        value = couple[b][0][0] + couple[b][1][1] + couple[b][2][2]
        for i in range(3):
            couple[b][i][i] -= value
        for a in range(3):
            for i in range(3):
                moved[i] = 0.0
                for j in range(3):
                    moved[i] += couple[b][i][j] * m.system_turn[b][j][a]
            for i in range(3):
                value = 0.0
                for j in range(3):
                    value += m.trial_inverse[b][i][j] * moved[j]
                add(m, m.border_w[b][i], m.border_w[b][a], -0.5 * h * value)


def _move_arm(m: Memory, dim: int, h: float, n: int, a: int) -> None:
    """Write the derivative of the end arm of node n with respect to one rate of its body into ``system.moved``.

    For a < s the rate is component a of ω̄, else the rate of deformation of the arm along body axis a − s.
    """
    turn = cython.declare(Number)
    s = 1 if dim == 2 else 3
    b = m.nodes_body[n]
    if a >= s:
        for i in range(dim):
            m.system_moved[i] = h * m.end_R[b][i][a - s]
    elif s == 1:
        turn = m.system_turn[b][0][0]
        m.system_moved[0] = -turn * m.end_arm[n][1]
        m.system_moved[1] = turn * m.end_arm[n][0]
    else:
        for i in range(3):
            m.system_turned[i] = m.system_turn[b][i][a]
        cross_product(m.system_turned, m.end_arm[n], m.system_moved)


def _add_torque(m: Memory, dim: int, h: float, n: int, a: int) -> None:
    """Add the torque of the force on node n to the rows of ω̄, as u̇̄ moves its arm along body axis a.

    The movement of the arm is in ``system.moved``.
    """
    value = cython.declare(Number)
    s = 1 if dim == 2 else 3
    b = m.nodes_body[n]
    force = m.trial_on_node[n]
    moved = m.system_moved
    torque = m.system_torque
    if s == 1:
        torque[0] = moved[0] * force[1] - moved[1] * force[0]
    else:
        cross_product(moved, force, m.system_turned)
        for i in range(3):
            torque[i] = 0.0
            for j in range(3):
                torque[i] += m.trial_inverse[b][i][j] * m.system_turned[j]
    for i in range(s):
        value = -0.5 * h * torque[i]
        add(m, m.border_w[b][i], m.border_c[b][a], -m.nodes_moves[n] * value)
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            m.system_row_w[m.nodes_col[e]][i] += value * m.nodes_val[e][a]


def _turn_force(m: Memory, dim: int, h: float, n: int) -> None:
    """Add the derivative of R̄⁻¹f, the force on node n in body axes, with respect to ω̄, to the rows of u̇̄."""
    d = dim
    b = m.nodes_body[n]
    turned = m.system_torque
    _turn_to_body(m, dim, b, m.trial_on_node[n])
    for a in range(1 if d == 2 else 3):
        _axis_product(dim, a, m.system_moved, turned)
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            for i in range(d):
                m.system_col[m.nodes_col[e]][a] += 0.5 * h * h * m.nodes_val[e][i] * turned[i]
        for e in range(m.inertia_first[b], m.inertia_first[b + 1]):
            for i in range(d):
                m.system_col[e][a] -= 0.5 * h * h * m.nodes_moves[n] * m.inertia_mean[e][i] * turned[i]


def _turn_section(m: Memory, dim: int, h: float, n: int) -> None:
    """Add the derivative of R̄⁻¹τ, the torque on section n in body axes, with respect to ω̄, to the rows of u̇̄."""
    turned = m.system_torque
    _turn_to_body(m, dim, m.loads_torque_body[n], m.trial_section[n])
    for a in range(3):
        _axis_product(dim, a, m.system_moved, turned)
        for e in range(m.loads_torque_ptr[n], m.loads_torque_ptr[n + 1]):
            for i in range(3):
                m.system_col[m.loads_torque_col[e]][a] += 0.5 * h * h * m.loads_torque_shape[e][i] * turned[i]


def _turn_to_body(m: Memory, dim: int, b: int, x: Array) -> None:
    """Write the vector x in the axes of body b at the start, R₀ᵀ x, into ``system.moved``."""
    for i in range(dim):
        m.system_moved[i] = 0.0
        for j in range(dim):
            m.system_moved[i] += m.at_R[b][j][i] * x[j]


def _axis_product(dim: int, a: int, x: Array, out: Array) -> None:
    """Write the cross product of the unit vector of axis a with x into ``out``.

    In the plane the axis is normal to it.
    """
    if dim == 2:
        out[0] = -x[1]
        out[1] = x[0]
    else:
        i = (a + 1) % 3
        j = (a + 2) % 3
        out[a] = 0.0
        out[i] = -x[j]
        out[j] = x[i]


def add_following(m: Memory, dim: int, h: float) -> None:
    """Add the derivatives −h Bᵀ δf of loads f that follow sections or frames, as their directions d turn.

    The change of f is δf = ½ Σ f_j δd_j at the end of the step, as f acts on the mean directions.
    """
    d = dim
    s = 1 if d == 2 else 3
    for e in range(m.loads_node_row.size):
        if m.loads_follower[m.loads_node_input[e]] >= 0:
            _turn_component(m, dim, h, m.loads_node_input[e], (m.loads_node_row[e] // d, -1), m.loads_node_val[e])
    for e in range(m.loads_torque_row.size):
        if m.loads_follower[m.loads_torque_input[e]] >= 0:
            _turn_component(m, dim, h, m.loads_torque_input[e], (-1, m.loads_torque_row[e] // s), m.loads_torque_val[e])


def _turn_component(m: Memory, dim: int, h: float, given: int, place: tuple[int, int], weight: float) -> None:
    """Add the derivative of the force or torque of input ``given`` to the Jacobian, as its direction turns.

    ``place`` are a node and a section, one of them −1; the input acts on the other one, with the factor ``weight``.
    """
    node, section = place
    d = dim
    f = m.loads_follower[given]
    i = 0
    s = 1 if d == 2 else 3
    b = m.nodes_body[m.loads_follow_node[f][0]]
    for j in range(d):
        if m.loads_follow_input[f][j] == given:
            i = j
    for a in range(s):
        change = 0.0
        for j in range(d):
            _move_arm(m, dim, h, m.loads_follow_node[f][j], a)
            change += m.trial_given[m.loads_follow_input[f][j]] * m.system_moved[i]
        if m.border_w[b][a] >= 0:
            value = -0.5 * h * weight * change
            if node >= 0:
                own_spin = a if m.nodes_body[node] == b else -1
                _add_node_force(m, dim, (node, i), own_spin, m.border_w[b][a], value)
            else:
                _add_section_torque(m, dim, section, i, m.border_w[b][a], value)
    for j in range(d):
        component = -0.5 * h * weight * m.trial_given[m.loads_follow_input[f][j]]
        for e in range(m.nodes_ptr[m.loads_follow_node[f][j]], m.nodes_ptr[m.loads_follow_node[f][j] + 1]):
            change = 0.0
            for k in range(d):
                change += h * m.end_R[b][i][k] * m.nodes_val[e][k]
            column = m.border_m[m.nodes_col[e]]
            if node >= 0:
                _add_node_force(m, dim, (node, i), -1, column, component * change)
            else:
                _add_section_torque(m, dim, section, i, column, component * change)


def _add_node_force(m: Memory, dim: int, component: tuple[int, int], spin: int, column: int, value: float) -> None:
    """Add Bᵀ times a force ``value`` in direction i on node n to a column of the border of the Jacobian.

    ``component`` is (n, i), B the discrete gradient of the position of the node. If the column belongs to component
    ``spin`` of the spin of the node's body, the rows of u̇̄ are stored in ``system.col``. For other columns ``spin`` is
    −1.
    """
    n, i = component
    d = dim
    b = m.nodes_body[n]
    lever = m.trial_lever[n]
    torque = m.system_torque
    add(m, m.border_v[b][i], column, m.nodes_moves[n] * value)
    if d == 2:
        torque[0] = lever[0] if i == 1 else -lever[1]
        add(m, m.border_w[b][0], column, torque[0] * value)
    else:
        for c in range(3):
            cross_product(m.trial_inverse[b][c], lever, torque)
            add(m, m.border_w[b][c], column, torque[i] * value)
    for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
        local = 0.0
        for k in range(d):
            local += m.nodes_val[e][k] * m.trial_inverse[b][k][i]
        if spin >= 0:
            m.system_col[m.nodes_col[e]][spin] += local * value
        else:
            add(m, m.border_m[m.nodes_col[e]], column, local * value)


def _add_section_torque(m: Memory, dim: int, t: int, i: int, column: int, value: float) -> None:
    """Add the effect of a torque ``value`` about axis i on section t to a column of the border of the Jacobian.

    The effect is R̄⁻¹ times the torque in the rows of ω̄, and ψᵀR̄⁻¹ times the torque in the rows of u̇̄.
    """
    b = m.loads_torque_body[t]
    for c in range(3):
        add(m, m.border_w[b][c], column, m.trial_inverse[b][c][i] * value)
    for e in range(m.loads_torque_ptr[t], m.loads_torque_ptr[t + 1]):
        local = 0.0
        for c in range(3):
            local += m.loads_torque_shape[e][c] * m.trial_inverse[b][c][i]
        add(m, m.border_m[m.loads_torque_col[e]], column, local * value)
