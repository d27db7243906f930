"""Stiffness of solids of finite strain in the border of the Jacobian, cell by cell.

At a quadrature point, T (d², d²) is the derivative of the forces on the columns of the deformation gradient with
respect to these columns at the end of a step. The stiffness of a cell between its nodes (places) is the sum of
(C ⊗ 1)ᵀ T (C ⊗ 1) of its points, with the slopes C (d, n) of its shape functions.
"""

from __future__ import annotations

import cython

from ..memory.codes import SLOPE as _SLOPE

if not cython.compiled:
    from ....numerics.loops.views import call_one, fill, get, padded, part, put, subtract
    from ..memory.memory import Memory
    from ..terms.border import add
    from ..terms.nodes import cross_product
    from .faces import add_face_forces, add_slopes, face_block
    from .forces import add_frame_torques, set_place_forces
    from .places import lever

SLOPE = cython.declare(cython.Py_ssize_t, _SLOPE)


def add_solids(m: Memory, dim: int, h: float) -> None:
    """Add the stiffness of solids to the border of the Jacobian.

    The stresses are those predicted to first order after a correction.
    """
    if m.solid_torque.shape[0] > 0:
        _set_stress(m, h, 0.0)
        set_place_forces(m, dim)
        fill(m.solid_torque, 0.0)
        add_frame_torques(m, dim, m.solid_torque)
    _set_stress(m, h, 1.0)
    if m.solids_lawful.size > 0:
        call_one(m.system_python[0], SLOPE)
    if m.solid_torque.shape[0] > 0:
        set_place_forces(m, dim)
        add_face_forces(m, dim)
        _turn_forces(m, dim, h)
    for cell in range(m.solids_slope_at.size):
        _stiffen_cell(m, dim, h, cell)
        _add_cell(m, dim, h, cell)
    for q in range(m.faces_area.size):
        add_slopes(m, dim, q)
        for one in range(m.faces_ptr[q], m.faces_ptr[q + 1]):
            for other in range(m.faces_ptr[q], m.faces_ptr[q + 1]):
                face_block(m, dim, one, other)
                _add_block(m, dim, h, (m.faces_place[one], m.faces_place[other]), 0, 1)


def _set_stress(m: Memory, h: float, share: float) -> None:
    """Set ``solid.stress`` to share·σ̃ plus the difference of the predicted stresses (mixed iteration) from σ̃."""
    for q in range(m.solid_stress.shape[0]):
        for k in range(m.solid_stress.shape[1]):
            i = m.solids_stress[q][k]
            ahead = (0.5 + m.elastic_damping[i] / h) * (m.solid_ahead[q][k] - m.end_sigma[i])
            m.solid_stress[q][k] = share * m.trial_stress[i] + ahead


def _turn_forces(m: Memory, dim: int, h: float) -> None:
    """Compute the derivatives of mesh nodes' positions with respect to spins; add those of torques to the Jacobian.

    Torques on frames change as levers and R̄⁻¹ change. The change of R̄⁻¹ for the torque of the stresses σ̃ is in
    mechanics.jacobian; here it is added for the difference of the predicted stresses.
    """
    s = 1 if dim == 2 else 3
    for k in range(m.solids_frame.size):
        if m.solids_turns[k]:
            _turn_place(m, dim, k)
            b = m.solids_frame[k]
            on = m.solid_on[k]
            for other in range(s):
                W = m.solid_W[k][other]
                if s == 3:
                    cross_product(W, on, m.system_moved)
                for a in range(s):
                    value = W[0] * on[1] - W[1] * on[0]
                    if s == 3:
                        value = 0.0
                        for i in range(3):
                            value += m.trial_inverse[b][a][i] * m.system_moved[i]
                    add(m, m.border_w[b][a], m.border_w[b][other], -0.5 * h * value)
    if s == 3:
        for b in range(m.solid_torque.shape[0]):
            for i in range(3):
                j = (i + 1) % 3
                l = (i + 2) % 3
                value = 0.0
                for c in range(3):
                    value += 0.5 * h * h * m.at_R[b][c][i] * m.solid_torque[b][c]
                if value != 0.0:
                    add(m, m.border_w[b][j], m.border_w[b][l], value)
                    add(m, m.border_w[b][l], m.border_w[b][j], -value)


def _turn_place(m: Memory, dim: int, k: int) -> None:
    """Compute B and W of mesh node k, a row for each component of the spin of its frame.

    W is the derivative of its end position, B the discrete gradient: its rows are the cross products of the axes
    R̄⁻ᵀe_a and the mean lever, so that B f is the torque of a force f on the node.
    """
    b = m.solids_frame[k]
    end = m.system_torque
    mean = m.system_moved
    for i in range(dim):
        mean[i] = lever(m, dim, k, i)
        end[i] = 0.0
        for j in range(dim):
            end[i] += m.end_R[b][i][j] * m.solids_arm[k][j]
    if dim == 2:
        turn = m.system_turn[b][0][0]
        m.solid_B[k][0][0] = -mean[1]
        m.solid_B[k][0][1] = mean[0]
        m.solid_W[k][0][0] = -turn * end[1]
        m.solid_W[k][0][1] = turn * end[0]
        return
    for a in range(3):
        cross_product(m.trial_inverse[b][a], mean, m.solid_B[k][a])
        for i in range(3):
            m.system_turned[i] = m.system_turn[b][i][a]
        cross_product(m.system_turned, end, m.solid_W[k][a])


def _stiffen_cell(m: Memory, dim: int, h: float, cell: int) -> None:
    """Compute the stiffness of a cell between its nodes into ``solid.K``, (n, d, d, n), rows padded to LANES."""
    n = m.solids_place_ptr[cell + 1] - m.solids_place_ptr[cell]
    square = dim * dim
    width = padded(n)
    fill(part(m.solid_K, 0, n * square * width), 0.0)
    for q in range(m.solids_cell[cell], m.solids_cell[cell + 1]):
        _differentiate_forces(m, dim, h, q)
        at = m.solids_slope_at[cell] + (q - m.solids_cell[cell]) * dim * width
        for a in range(n):
            for i in range(dim):  # derivative of a force on a place by the columns
                row = m.solid_row
                fill(row, 0.0)
                for column in range(dim):
                    slope = m.solids_slope[at + width * column + a]
                    T = m.solid_T[dim * column + i]
                    for k in range(square):
                        row[k] += slope * T[k]
                for j in range(dim):
                    out = width * (square * a + dim * i + j)
                    for column in range(dim):
                        subtract(m.solid_K, out, m.solids_slope, at + width * column, -row[dim * column + j], n)


def _differentiate_forces(m: Memory, dim: int, h: float, q: int) -> None:
    """Compute T of quadrature point q: the derivatives of forces on the columns g_I with respect to the columns g_J.

    T is the sum of two parts: the forces of given stresses change with the columns, and so do the mean stresses.
    """
    T = m.solid_T
    rows = m.solids_pair.shape[0]
    fill(T, 0.0)
    for k in range(rows):
        one = dim * m.solids_pair[k][0]
        other = dim * m.solids_pair[k][1]
        half = -0.5 * m.solids_factor[q][k] * m.solid_stress[q][k]
        for i in range(dim):
            T[one + i][other + i] += half
            T[other + i][one + i] += half
    for k in range(rows):
        i = m.solids_stress[q][k]
        soft = 0.5 + m.elastic_damping[i] / h
        row = m.solid_row  # derivative of a mean stress by the columns
        fill(row, 0.0)
        for j in range(rows):
            slope = soft * m.solids_stiffness[q][k][j]
            if m.solids_lawful.size > 0:
                slope += m.elastic_damping[i] / h * m.solids_viscous[q][k][j] + m.solid_mean_slope[q][k][j]
            if slope != 0.0:
                slope *= m.solids_factor[q][j]
                one = m.solids_pair[j][0]
                other = m.solids_pair[j][1]
                for c in range(dim):
                    row[dim * one + c] += slope * m.solid_after[q][other][c]
                    row[dim * other + c] += slope * m.solid_after[q][one][c]
        one = m.solids_pair[k][0]
        other = m.solids_pair[k][1]
        half = -0.5 * m.solids_factor[q][k]
        for c in range(dim):
            by_other = half * (m.solid_before[q][other][c] + m.solid_after[q][other][c])
            by_one = half * (m.solid_before[q][one][c] + m.solid_after[q][one][c])
            on_one = T[dim * one + c]
            on_other = T[dim * other + c]
            for e in range(dim * dim):
                on_one[e] += by_other * row[e]
                on_other[e] += by_one * row[e]


def _add_cell(m: Memory, dim: int, h: float, cell: int) -> None:
    """Add the stiffness of a cell to the border of the Jacobian."""
    base = m.solids_place_ptr[cell]
    n = m.solids_place_ptr[cell + 1] - base
    at = m.solids_entry_at[cell]
    stride = m.solids_stride[0]
    width = padded(n)
    for a in range(n):
        for b in range(n):
            k = width * dim * dim * a + b
            if m.solids_entry[at] < 0:
                _add_block(m, dim, h, (m.solids_place[base + a], m.solids_place[base + b]), k, width)
            else:
                for j in range(dim):
                    entry = m.solids_entry[at + j]
                    for i in range(dim):
                        value = get(m.system_border, entry) - h * h * m.solid_K[k + width * (dim * i + j)]
                        put(m.system_border, entry, value)
                        entry += stride
            at += dim


def _add_block(m: Memory, dim: int, h: float, places: tuple[int, int], k: int, width: int) -> None:
    """Add the block of two nodes in ``solid.K`` to the border of the Jacobian, for positions and spins of their frames.

    It has the derivatives of the force on the first of the two ``places`` with respect to the position of the second.
    The block begins at entry k; ``width`` is the distance between its entries.
    """
    one, other = places
    s = 1 if dim == 2 else 3
    b = m.solids_frame[one]
    c = m.solids_frame[other]
    force = m.system_torque  # derivative of the force on the first place by an unknown of the second one
    for j in range(dim + (s if m.solids_turns[other] else 0)):
        for i in range(dim):
            if j < dim:
                force[i] = h * m.solids_moves[other] * m.solid_K[k + width * (dim * i + j)]
            else:
                force[i] = 0.0
                for l in range(dim):
                    force[i] += m.solid_K[k + width * (dim * i + l)] * m.solid_W[other][j - dim][l]
        column = m.border_v[c][j] if j < dim else m.border_w[c][j - dim]
        for i in range(dim):
            add(m, m.border_v[b][i], column, -h * m.solids_moves[one] * force[i])
        if m.solids_turns[one]:
            for a in range(s):
                value = 0.0
                for i in range(dim):
                    value += m.solid_B[one][a][i] * force[i]
                add(m, m.border_w[b][a], column, -h * value)
