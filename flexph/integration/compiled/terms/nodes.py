"""How nodes move with the unknowns of a step: the rows of their discrete gradient B and of their end derivative W."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory


@kernel
def cross_product(a: Array, b: Array, out: Array) -> None:
    """A × b in space."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def differentiate_node(m: Memory, axes: tuple[int, ...], h: float, n: int, sign: float, row: int) -> int:
    """The rows of B and W of a node from a row on, by ṙ̄, ω̄, φ̄u̇̄, its shape and other ṙ̄; the next row."""
    d = len(axes)
    s = 1 if d == 2 else 3
    _by_body(m, axes, h, n, sign, row)
    row += d
    for a in range(s):
        _by_spin(m, axes, n, a, sign, row)
        row += 1
    row += d
    for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
        _by_coordinate(m, axes, h, n, e, sign, row)
        row += 1
    for e in range(m.nodes_others_ptr[n], m.nodes_others_ptr[n + 1]):
        _by_other(m, axes, h, sign * m.nodes_others_weight[e], row)
        row += d
    return row


@kernel
def _by_body(m: Memory, axes: tuple[int, ...], h: float, n: int, sign: float, row: int) -> None:
    """The rows of B and W of a node by ṙ̄ and by φ̄u̇̄, before and after those by ω̄."""
    d = len(axes)
    s = 1 if d == 2 else 3
    b, moves = m.nodes_body[n], m.nodes_follows[n]
    for j in range(d):
        for i in range(d):
            m.system_B[row + j, i] = sign * moves if i == j else 0.0
            m.system_W[row + j, i] = h * sign * moves if i == j else 0.0
            m.system_B[row + d + s + j, i] = 0.0
            m.system_W[row + d + s + j, i] = -sign * moves * h * m.end_R[b, i, j]


@kernel
def _by_other(m: Memory, axes: tuple[int, ...], h: float, weight: float, row: int) -> None:
    """The rows of B and W of a mean of points by ṙ̄ of another frame."""
    for j in range(len(axes)):
        for i in range(len(axes)):
            m.system_B[row + j, i] = weight if i == j else 0.0
            m.system_W[row + j, i] = h * weight if i == j else 0.0


@kernel
def _by_spin(m: Memory, axes: tuple[int, ...], n: int, a: int, sign: float, row: int) -> None:
    """The row of B and W of a node by a component of ω̄."""
    b = m.nodes_body[n]
    if len(axes) == 2:
        m.system_B[row, 0], m.system_B[row, 1] = -sign * m.trial_lever[n, 1], sign * m.trial_lever[n, 0]
        turn = sign * m.system_turn[b, 0, 0]
        m.system_W[row, 0], m.system_W[row, 1] = -turn * m.end_arm[n, 1], turn * m.end_arm[n, 0]
    else:
        moved, turned = m.system_moved, m.system_turned
        for i in range(3):
            turned[i] = m.trial_inverse[b, a, i]
        cross_product(turned, m.trial_lever[n], moved)
        for i in range(3):
            m.system_B[row, i] = sign * moved[i]
            turned[i] = m.system_turn[b, i, a]
        cross_product(turned, m.end_arm[n], moved)
        for i in range(3):
            m.system_W[row, i] = sign * moved[i]


@kernel
def _by_coordinate(m: Memory, axes: tuple[int, ...], h: float, n: int, e: int, sign: float, row: int) -> None:
    """The row of B and W of a node by a flexible coordinate, whose shape is an entry of those of the node."""
    b = m.nodes_body[n]
    for i in range(len(axes)):
        m.system_B[row, i] = 0.0
        m.system_W[row, i] = 0.0
        for j in range(len(axes)):
            m.system_B[row, i] += sign * m.trial_inverse[b, j, i] * m.nodes_val[e, j]
            m.system_W[row, i] += sign * h * m.end_R[b, i, j] * m.nodes_val[e, j]
