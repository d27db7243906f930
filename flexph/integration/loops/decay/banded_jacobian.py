"""Jacobian of a banded body in a step that loses energy; further unknowns y, z and τ keep it banded.

The equations of these unknowns,

    M₀z = αh²K y,   S y = M(u₁)w₁ − p₀,   S τ = h² D₀ᵀC⁻¹D₁ u̇̄

give w₁ = 2ŵ − w₀ − z, and ½h² D̄ᵀ AC⁻¹D₁ u̇̄ = ½αh² D̄ᵀC⁻¹D₀ τ. The shift φ̄ enters by three
more unknowns, its sums: φ̄z, φ̄τ, and the sum of all terms in φ̄y, φ̄z and φ̄u̇̄ that the rows of y have. Spins and
shifts are a border, with ω̄, φ̄ᵀ (see mechanics.arrow) and the masters.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import fill, get, part, put
    from ..memory.memory import Memory
    from .inertia import turning_inertia


TAU = cython.declare(cython.Py_ssize_t, 0)
Y = cython.declare(cython.Py_ssize_t, 1)
Z = cython.declare(cython.Py_ssize_t, 2)
RATE = cython.declare(cython.Py_ssize_t, 3)
"""Numbers of the unknowns τ, y, z and u̇̄ of a coordinate."""


def enter(m: Memory, b: int, row: int, column: int, value: float) -> None:
    """Add ``value`` to the bordered matrix of body b at (row, column): in its band, its border or its corner block."""
    rows = m.filter_rows[b]
    columns = m.filter_columns[b]
    if row < rows and column < rows:
        at = m.filter_band[b] + row * m.filter_stored[b] + column - row + m.filter_width[b]
        put(m.filtering_band, at, get(m.filtering_band, at) + value)
    elif row < rows:
        m.filtering_reduced[m.filter_reduced[b] + row * columns + column - rows] += value
    elif column < rows:
        m.filtering_left[m.filter_reduced[b] + column * columns + row - rows] += value
    else:
        m.filtering_corner[m.filter_corner[b] + (row - rows) * columns + column - rows] += value


def border_of(m: Memory, dim: int, b: int) -> int:
    """Number of the first spin of z in the bordered matrix of body b; ω̄, φ̄ᵀ and the masters precede it."""
    masters = m.border_masters[b + 1] - m.border_masters[b]
    return m.filter_rows[b] + (3 if dim == 2 else 6) + masters


def assemble(m: Memory, dim: int, h: float, b: int) -> None:
    """Assemble the part of the bordered matrix of body b that numerical loss causes, starting from zeros."""
    rows = m.filter_rows[b]
    columns = m.filter_columns[b]
    first = m.filter_reduced[b]
    fill(part(m.filtering_band, m.filter_band[b], m.filter_band[b] + rows * m.filter_stored[b]), 0.0)
    fill(part(m.filtering_reduced, first, first + rows * columns), 0.0)
    fill(part(m.filtering_left, first, first + rows * columns), 0.0)
    fill(part(m.filtering_corner, m.filter_corner[b], m.filter_corner[b] + columns * columns), 0.0)
    _enter_spins(m, dim, h, b)
    _turn_shift(m, dim, h, b)
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        _couple_spins(m, dim, h, b, i)
        _couple_shifts(m, dim, b, i)
        _enter_inertia(m, dim, h, b, i)
    _enter_softening(m, h, b)


def _enter_spins(m: Memory, dim: int, h: float, b: int) -> None:
    """Add the coupling of spins with each other, and the equations that define the sums of the shift φ̄.

    The sums are unknowns, see the module.
    """
    d = dim
    J = m.filtering_spin
    s = 1 if d == 2 else 3
    first = border_of(m, dim, b)
    w = m.filter_rows[b]
    turning_inertia(m, dim, b, J)
    z = first
    y = first + s
    t = first + 2 * s
    for a in range(s):
        for c in range(s):
            enter(m, b, z + a, z + c, m.inertia_J[b][a][c])
            enter(m, b, y + a, y + c, 4.0 * m.inertia_J[b][a][c])
            enter(m, b, y + a, z + c, J[a][c])
            enter(m, b, y + a, w + c, -2.0 * J[a][c])
            enter(m, b, t + a, t + c, 4.0 * m.inertia_J[b][a][c])
            enter(m, b, w + a, z + c, -J[a][c])
    if s == 3:
        for a in range(3):
            j = (a + 1) % 3
            l = (a + 2) % 3
            for c in range(3):
                turned = 0.5 * h * (m.x_w[b][j] * J[l][c] - m.x_w[b][l] * J[j][c])
                enter(m, b, w + a, z + c, -turned)
    for k in range(d):
        for q in range(3):
            enter(m, b, first + 3 * s + q * d + k, first + 3 * s + q * d + k, 1.0)
        for l in range(d):
            enter(m, b, first + 3 * s + d + k, first + 3 * s + l, -m.inertia_form[b][k][l])


def _couple_spins(m: Memory, dim: int, h: float, b: int, i: int) -> None:
    """Add the coupling of the spins with coordinate i of body b, in the rows of both."""
    s = 1 if dim == 2 else 3
    w = m.filter_rows[b]
    z = border_of(m, dim, b)
    y = z + s
    t = z + 2 * s
    numbers = m.filter_number[i]
    own_t = numbers[TAU]
    own_y = numbers[Y]
    own_z = numbers[Z]
    number = numbers[RATE]
    for a in range(s):
        undeformed = m.inertia_n[i][a]
        coupling = m.inertia_n[i][a] + m.end_Pu[i][1 + a]
        row = 2.0 * coupling - h * m.end_Pdu[i][1 + a]
        column = coupling + 0.5 * h * m.at_Pdu[i][1 + a]
        for c in range(s):
            k = 1 + s + s * a + c
            row += 2.0 * h * (m.inertia_s[i][a][c] + m.end_Pu[i][k]) * m.end_w[b][c]
            k = 1 + s + s * c + a
            column -= h * (m.inertia_s[i][c][a] + m.trial_Pmean[i][k]) * m.at_w[b][c]
        turned = coupling
        if s == 3:
            j = (a + 1) % 3
            l = (a + 2) % 3
            turned += 0.5 * h * m.x_w[b][j] * (m.inertia_n[i][l] + m.end_Pu[i][1 + l])
            turned -= 0.5 * h * m.x_w[b][l] * (m.inertia_n[i][j] + m.end_Pu[i][1 + j])
        enter(m, b, number, z + a, -column)
        enter(m, b, w + a, own_z, -turned)
        enter(m, b, own_z, z + a, undeformed)
        enter(m, b, z + a, own_z, undeformed)
        enter(m, b, own_y, y + a, 4.0 * undeformed)
        enter(m, b, y + a, own_y, 4.0 * undeformed)
        enter(m, b, own_y, z + a, coupling)
        enter(m, b, y + a, own_z, coupling)
        enter(m, b, own_y, w + a, -2.0 * coupling)
        enter(m, b, y + a, number, -row)
        enter(m, b, own_t, t + a, 4.0 * undeformed)
        enter(m, b, t + a, own_t, 4.0 * undeformed)


def _turn_shift(m: Memory, dim: int, h: float, b: int) -> None:
    """Compute the matrices Q of the terms φ̄ᵀQ φ̄z in the rows of u̇̄, and φ̄ᵀQ φ̄u̇̄ in the rows of y.

    They are multiples of the mass, plus terms of the spins, since the shifted mass turns with the body.
    """
    d = dim
    for k in range(d):
        for l in range(d):
            before = m.inertia_form[b][k][l]
            after = 2.0 * m.inertia_form[b][k][l]
            for a in range(1 if d == 2 else 3):
                before += 0.5 * h * m.at_w[b][a] * m.inertia_form[b][(1 + a) * d + k][l]
                after += h * m.end_w[b][a] * m.inertia_form[b][(1 + a) * d + k][l]
            m.filtering_turn[k][l] = before
            m.filtering_turn[d + k][l] = after


def _couple_shifts(m: Memory, dim: int, b: int, i: int) -> None:
    """Add the coupling of the sums of the shift with coordinate i of body b, in the rows of both."""
    d = dim
    z = border_of(m, dim, b) + 3 * (1 if d == 2 else 3)
    y = z + d
    t = z + 2 * d
    numbers = m.filter_number[i]
    own_t = numbers[TAU]
    own_y = numbers[Y]
    own_z = numbers[Z]
    number = numbers[RATE]
    for l in range(d):
        by_turning = 0.0
        by_resting = 0.0
        of_y = 0.0
        of_rate = 0.0
        for k in range(d):
            by_turning += m.inertia_mean[i][k] * m.filtering_turn[k][l]
            by_resting += m.inertia_mean[i][k] * m.inertia_form[b][k][l]
            of_y += m.inertia_form[b][l][k] * m.inertia_mean[i][k]
            of_rate += m.filtering_turn[d + l][k] * m.inertia_mean[i][k]
        enter(m, b, number, z + l, by_turning)
        enter(m, b, own_z, z + l, -by_resting)
        enter(m, b, own_t, t + l, -4.0 * by_resting)
        enter(m, b, own_y, y + l, -m.inertia_mean[i][l])
        enter(m, b, z + l, own_z, -m.inertia_mean[i][l])
        enter(m, b, t + l, own_t, -m.inertia_mean[i][l])
        enter(m, b, y + l, own_y, -4.0 * of_y)
        enter(m, b, y + l, number, of_rate)


def _enter_inertia(m: Memory, dim: int, h: float, b: int, i: int) -> None:
    """Add the entries of M and K in the row of coordinate i of body b, without the shift."""
    stiff = m.decay_length[0] * m.decay_length[0]
    share = m.decay_share[0]
    for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
        entry = e + m.inertia_alike[b]
        j = m.inertia_col[e]
        undeformed = m.inertia_val[entry][0]
        K = stiff * m.filter_stiffness[e]
        before = undeformed
        after = 2.0 * undeformed
        for a in range(1 if dim == 2 else 3):
            before += 0.5 * h * m.at_w[b][a] * m.inertia_val[entry][1 + a]
            after += h * m.end_w[b][a] * m.inertia_val[entry][1 + a]
        row = m.filter_number[i]
        others = m.filter_number[j]
        enter(m, b, row[RATE], others[Z], -before)
        enter(m, b, row[Z], others[Z], undeformed)
        enter(m, b, row[Z], others[Y], -share * K)
        enter(m, b, row[Y], others[Y], 4.0 * undeformed + K)
        enter(m, b, row[Y], others[Z], undeformed)
        enter(m, b, row[Y], others[RATE], -after)
        enter(m, b, row[TAU], others[TAU], 4.0 * undeformed + K)


def _enter_softening(m: Memory, h: float, b: int) -> None:
    """Add the terms ½αh² D̄ᵀC⁻¹D₀ τ and −h² D₀ᵀC⁻¹D₁ u̇̄ of the softened stresses of body b."""
    gain = 0.5 * m.decay_share[0] * m.decay_length[0] * m.decay_length[0]
    for k in range(m.vibration_stresses[b], m.vibration_stresses[b + 1]):
        for f in range(m.elastic_inverse_ptr[k], m.elastic_inverse_ptr[k + 1]):
            l = m.elastic_inverse_col[f]
            inverse = m.elastic_inverse_val[f]
            for e in range(m.elastic_ptr[k], m.elastic_ptr[k + 1]):
                row = m.filter_number[m.elastic_col[e]]
                left = gain * m.trial_D[e]
                right = h * h * m.elastic_strain[e]
                for g in range(m.elastic_ptr[l], m.elastic_ptr[l + 1]):
                    others = m.filter_number[m.elastic_col[g]]
                    enter(m, b, row[RATE], others[TAU], left * inverse * m.elastic_strain[g])
                    enter(m, b, row[TAU], others[RATE], -right * inverse * m.system_D[g])
