"""Derivatives of the positions of nodes with respect to the unknowns of a step, a row for each unknown.

B is the discrete gradient over the step, W the derivative at its end. The unknowns of a body are ṙ̄ of its centre, its
spin ω̄, the rate φ̄u̇̄ of the shift of its centre of mass by deformation, and the rates u̇̄ of its flexible coordinates.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import Number
    from ..memory.memory import Memory


def cross_product(a: Array, b: Array, out: Array) -> None:
    """Write the cross product a × b in space into ``out``."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def differentiate_node(m: Memory, dim: int, h: float, n: int, sign: float, row: int) -> int:
    """Write the rows of B and W of node n from row ``row`` on; return the next row.

    The rows are for ṙ̄, ω̄, φ̄u̇̄ and the flexible coordinates of its body, and ṙ̄ of further frames. ``sign``
    multiplies all.
    """
    d = dim
    s = 1 if d == 2 else 3
    _write_body_rows(m, dim, h, n, sign, row)
    row += d
    for a in range(s):
        _write_spin_row(m, dim, n, a, sign, row)
        row += 1
    row += d
    for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
        _write_coordinate_row(m, dim, h, (n, e), sign, row)
        row += 1
    for e in range(m.nodes_others_ptr[n], m.nodes_others_ptr[n + 1]):
        _write_frame_rows(m, dim, h, sign * m.nodes_others_weight[e], row)
        row += d
    return row


def _write_body_rows(m: Memory, dim: int, h: float, n: int, sign: float, row: int) -> None:
    """Write the rows of B and W of node n for ṙ̄ and φ̄u̇̄ of its body, which lie before and after the rows for ω̄."""
    d = dim
    s = 1 if d == 2 else 3
    b = m.nodes_body[n]
    moves = m.nodes_follows[n]
    for j in range(d):
        for i in range(d):
            m.system_B[row + j][i] = sign * moves if i == j else 0.0
            m.system_W[row + j][i] = h * sign * moves if i == j else 0.0
            m.system_B[row + d + s + j][i] = 0.0
            m.system_W[row + d + s + j][i] = -sign * moves * h * m.end_R[b][i][j]


def _write_frame_rows(m: Memory, dim: int, h: float, weight: float, row: int) -> None:
    """Write the rows of B and W of a mean of points for ṙ̄ of a further frame, which counts with a ``weight``."""
    for j in range(dim):
        for i in range(dim):
            m.system_B[row + j][i] = weight if i == j else 0.0
            m.system_W[row + j][i] = h * weight if i == j else 0.0


def _write_spin_row(m: Memory, dim: int, n: int, a: int, sign: float, row: int) -> None:
    """Write the row of B and W of node n for component a of ω̄ of its body."""
    turn = cython.declare(Number)
    b = m.nodes_body[n]
    if dim == 2:
        m.system_B[row][0] = -sign * m.trial_lever[n][1]
        m.system_B[row][1] = sign * m.trial_lever[n][0]
        turn = sign * m.system_turn[b][0][0]
        m.system_W[row][0] = -turn * m.end_arm[n][1]
        m.system_W[row][1] = turn * m.end_arm[n][0]
    else:
        moved = m.system_moved
        turned = m.system_turned
        for i in range(3):
            turned[i] = m.trial_inverse[b][a][i]
        cross_product(turned, m.trial_lever[n], moved)
        for i in range(3):
            m.system_B[row][i] = sign * moved[i]
            turned[i] = m.system_turn[b][i][a]
        cross_product(turned, m.end_arm[n], moved)
        for i in range(3):
            m.system_W[row][i] = sign * moved[i]


def _write_coordinate_row(m: Memory, dim: int, h: float, entry: tuple[int, int], sign: float, row: int) -> None:
    """Write the row of B and W of node n for one flexible coordinate, by entry e of the shapes of the node."""
    n, e = entry
    b = m.nodes_body[n]
    for i in range(dim):
        m.system_B[row][i] = 0.0
        m.system_W[row][i] = 0.0
        for j in range(dim):
            m.system_B[row][i] += sign * m.trial_inverse[b][j][i] * m.nodes_val[e][j]
            m.system_W[row][i] += sign * h * m.end_R[b][i][j] * m.nodes_val[e][j]
