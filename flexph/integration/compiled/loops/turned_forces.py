"""How forces that act on bodies change when levers and rotations change under them, blocks of the Jacobian."""

from __future__ import annotations

from ....numerics.arrays import Array
from ..memory.kernel import kernel
from ..memory.memory import Memory
from ..terms.border import add
from ..terms.nodes import cross_product


@kernel
def add_turned_forces(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """What node forces and section torques do when levers and R̄⁻¹ change under them."""
    s = 1 if len(axes) == 2 else 3
    for n in range(m.nodes_body.size):
        if m.inertia_turns[m.nodes_body[n]]:
            for a in range(s + len(axes)):
                _move_arm(m, axes, h, n, a)
                _add_torque(m, axes, h, n, a)
            _turn_force(m, axes, h, n)
    if s == 3:
        for n in range(m.loads_torque_body.size):
            _turn_section(m, axes, h, n)


@kernel
def _move_arm(m: Memory, axes: tuple[int, ...], h: float, n: int, a: int) -> None:
    """The arm of a node moved by ω̄, then by u̇̄ along each axis of the body, into ``system.moved``."""
    s = 1 if len(axes) == 2 else 3
    b = m.nodes_body[n]
    if a >= s:
        for i in range(len(axes)):
            m.system_moved[i] = h * m.end_R[b, i, a - s]
    elif s == 1:
        turn = m.system_turn[b, 0, 0]
        m.system_moved[0], m.system_moved[1] = -turn * m.end_arm[n, 1], turn * m.end_arm[n, 0]
    else:
        for i in range(3):
            m.system_turned[i] = m.system_turn[b, i, a]
        cross_product(m.system_turned, m.end_arm[n], m.system_moved)


@kernel
def _add_torque(m: Memory, axes: tuple[int, ...], h: float, n: int, a: int) -> None:
    """The torque of the force on a node whose arm has moved, in the rows of ω̄."""
    s = 1 if len(axes) == 2 else 3
    b, force, moved, torque = m.nodes_body[n], m.trial_on_node[n], m.system_moved, m.system_torque
    if s == 1:
        torque[0] = moved[0] * force[1] - moved[1] * force[0]
    else:
        cross_product(moved, force, m.system_turned)
        for i in range(3):
            torque[i] = 0.0
            for j in range(3):
                torque[i] += m.trial_inverse[b, i, j] * m.system_turned[j]
    for i in range(s):
        value = -0.5 * h * torque[i]
        if a < s:
            add(m, m.border_w[b, i], m.border_w[b, a], value)
        else:
            add(m, m.border_w[b, i], m.border_c[b, a - s], -m.nodes_moves[n] * value)
            for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
                m.system_row_w[m.nodes_col[e], i] += value * m.nodes_val[e, a - s]


@kernel
def _turn_force(m: Memory, axes: tuple[int, ...], h: float, n: int) -> None:
    """The force on a node, in the axes of its body, in the columns of ω̄."""
    d, b = len(axes), m.nodes_body[n]
    turned = m.system_torque
    _to_body(m, axes, b, m.trial_on_node[n])
    for a in range(1 if d == 2 else 3):
        _turned(axes, a, m.system_moved, turned)
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            for i in range(d):
                m.system_col[m.nodes_col[e], a] += 0.5 * h * h * m.nodes_val[e, i] * turned[i]
        for e in range(m.inertia_first[b], m.inertia_first[b + 1]):
            for i in range(d):
                m.system_col[e, a] -= 0.5 * h * h * m.nodes_moves[n] * m.inertia_mean[e, i] * turned[i]


@kernel
def _turn_section(m: Memory, axes: tuple[int, ...], h: float, n: int) -> None:
    """The torque on a section, in the axes of its body, in the columns of ω̄."""
    turned = m.system_torque
    _to_body(m, axes, m.loads_torque_body[n], m.trial_section[n])
    for a in range(3):
        _turned(axes, a, m.system_moved, turned)
        for e in range(m.loads_torque_ptr[n], m.loads_torque_ptr[n + 1]):
            for i in range(3):
                m.system_col[m.loads_torque_col[e], a] += 0.5 * h * h * m.loads_torque_shape[e, i] * turned[i]


@kernel
def _to_body(m: Memory, axes: tuple[int, ...], b: int, x: Array) -> None:
    """R₀ᵀ x into ``system.moved``."""
    for i in range(len(axes)):
        m.system_moved[i] = 0.0
        for j in range(len(axes)):
            m.system_moved[i] += m.at_R[b, j, i] * x[j]


@kernel
def _turned(axes: tuple[int, ...], a: int, x: Array, out: Array) -> None:
    """e_a × x."""
    if len(axes) == 2:
        out[0], out[1] = -x[1], x[0]
    else:
        i, j = (a + 1) % 3, (a + 2) % 3
        out[a], out[i], out[j] = 0.0, -x[j], x[i]
