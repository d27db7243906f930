"""Follower loads on faces of solids of finite strain in loops, by the formulas of kernels.faces.

A sample is a quadrature point of a face; a place is a node of the mesh of a solid.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ..memory.memory import Memory
    from ..terms.nodes import cross_product
    from .places import lever


def add_face_forces(m: Memory, dim: int) -> None:
    """Add the forces of loads on faces to the forces on mesh nodes."""
    force = m.system_torque
    for q in range(m.faces_area.size):
        _unit_forces(m, dim, q)
        for i in range(dim):
            force[i] = 0.0
            for c in range(dim):
                force[i] += m.trial_given[m.faces_input[q][c]] * m.solid_axes[c][i]
        for e in range(m.faces_ptr[q], m.faces_ptr[q + 1]):
            for i in range(dim):
                m.solid_on[m.faces_place[e]][i] += m.faces_point[e] * force[i]


def _tangents(m: Memory, dim: int, q: int) -> None:
    """Compute the tangents a and b of sample q at the mean positions over a step, in space also a × b.

    They are rows of ``solid.tangents``.
    """
    a = m.solid_tangents[0]
    b = m.solid_tangents[1]
    for i in range(dim):
        a[i] = 0.0
        b[i] = 0.0
        for e in range(m.faces_ptr[q], m.faces_ptr[q + 1]):
            k = m.faces_place[e]
            x = 0.5 * (m.solid_at[k][i] + m.solid_end[k][i])
            a[i] += m.faces_along[e] * x
            b[i] += m.faces_across[e] * x
    if dim == 3:
        cross_product(a, b, m.solid_tangents[2])


def _size(x: Array) -> float:
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


def _unit_forces(m: Memory, dim: int, q: int) -> None:
    """Compute the forces of unit inputs on sample q into ``solid.axes``, one row for each input."""
    _tangents(m, dim, q)
    a = m.solid_tangents[0]
    axes = m.solid_axes
    sample_area = m.faces_area[q]
    if dim == 2:
        axes[0][0] = sample_area * a[0]
        axes[0][1] = sample_area * a[1]
        axes[1][0] = sample_area * a[1]
        axes[1][1] = -sample_area * a[0]
        return
    normal = m.solid_tangents[2]
    length = _size(a)
    area = _size(normal)
    cross_product(normal, a, axes[1])
    for i in range(3):
        axes[0][i] = sample_area * area * a[i] / length
        axes[1][i] *= sample_area / length
        axes[2][i] = sample_area * normal[i]


def face_output(m: Memory, dim: int, q: int, c: int) -> float:
    """Contribution of a sample q to the mean velocity over a step that is power-conjugate to input c of its load.

    Call it for c = 0, 1, … in turn: the call with c = 0 computes the forces of unit inputs, which the others use.
    """
    if c == 0:
        _unit_forces(m, dim, q)
    total = 0.0
    for e in range(m.faces_ptr[q], m.faces_ptr[q + 1]):
        k = m.faces_place[e]
        _speed(m, dim, k, m.system_turned)
        for i in range(dim):
            total += m.solid_axes[c][i] * m.faces_point[e] * m.system_turned[i]
    return total


def _speed(m: Memory, dim: int, k: int, out: Array) -> None:
    """Write the mean velocity of mesh node k over a step into ``out`` (d,)."""
    b = m.solids_frame[k]
    for i in range(dim):
        out[i] = m.solids_moves[k] * m.x_v[b][i]
    if m.solids_turns[k]:
        arm = m.system_torque
        for i in range(dim):
            arm[i] = lever(m, dim, k, i)
        if dim == 2:
            out[0] -= m.x_w[b][0] * arm[1]
            out[1] += m.x_w[b][0] * arm[0]
        else:
            for a in range(3):
                cross_product(m.trial_inverse[b][a], arm, m.system_moved)
                for i in range(3):
                    out[i] += m.x_w[b][a] * m.system_moved[i]


def add_slopes(m: Memory, dim: int, q: int) -> None:
    """Compute half the derivatives of the force on sample q with respect to its mean tangents a and b.

    These are the derivatives with respect to the tangents at the end of a step, which count half in the mean. They are
    written into ``solid.by_tangents``, one below the other.
    """
    S = m.solid_by_tangents
    _tangents(m, dim, q)
    a = m.solid_tangents[0]
    half_area = 0.5 * m.faces_area[q]
    first = half_area * m.trial_given[m.faces_input[q][0]]
    if dim == 2:
        out = half_area * m.trial_given[m.faces_input[q][1]]
        S[0][0] = first
        S[0][1] = out
        S[1][0] = -out
        S[1][1] = first
        for i in range(4):
            S[2 + i // 2][i % 2] = 0.0
        return
    b = m.solid_tangents[1]
    normal = m.solid_tangents[2]
    second = half_area * m.trial_given[m.faces_input[q][1]]
    out = half_area * m.trial_given[m.faces_input[q][2]]
    length = _size(a)
    area = _size(normal)
    by_normal = m.solid_axes  # ∂(force)/∂n of the normal n = a × b
    for i in range(3):
        for j in range(3):
            by_normal[i][j] = first * a[i] * normal[j] / (area * length) + (out if i == j else 0.0)
    _add_skew(by_normal, a, -second / length)
    for i in range(3):
        for j in range(3):  # by the change of the direction of a alone
            along = 0.0
            for k in range(3):
                turned = first * area if i == k else second * _skew_entry(normal, i, k)
                project = ((1.0 if k == j else 0.0) - a[k] * a[j] / (length * length)) / length
                along += turned * project
            S[i][j] = along
            S[3 + i][j] = 0.0
            for k in range(3):
                S[i][j] -= by_normal[i][k] * _skew_entry(b, k, j)
                S[3 + i][j] += by_normal[i][k] * _skew_entry(a, k, j)


def _skew_entry(x: Array, i: int, j: int) -> float:
    """Entry (i, j) of the matrix [x]× of the cross product with x."""
    if i == j:
        return 0.0
    return -x[3 - i - j] if (i + 1) % 3 == j else x[3 - i - j]


def _add_skew(A: Array, x: Array, factor: float) -> None:
    """Add ``factor`` times the matrix [x]× of the cross product with x to A."""
    for i in range(3):
        for j in range(3):
            A[i][j] += factor * _skew_entry(x, i, j)


def face_block(m: Memory, dim: int, one: int, other: int) -> None:
    """Compute the derivative of the force of a load on one mesh node with respect to the end position of another one.

    The load is that of the sample for which :func:`add_slopes` was called last; ``one`` and ``other`` are the numbers
    of the nodes among its weights. The derivative is written into ``solid.K``.
    """
    for i in range(dim):
        for j in range(dim):
            slope = m.faces_along[other] * m.solid_by_tangents[i][j]
            slope += m.faces_across[other] * m.solid_by_tangents[dim + i][j]
            m.solid_K[dim * i + j] = m.faces_point[one] * slope
