"""Terms of the Jacobian of a step for each body by itself.

The unknowns are (ṙ̄, ω̄ of turning bodies, u̇̄, hλ); constraint rows are divided by h, so that both off-diagonal blocks
have the size of lengths. With B the discrete gradient of the vectors, W = ∂(end vectors)/∂(mean velocities), β and γ
the gradients of the products at the mean and at the end, Θ the stiffness of the products, c̄ and c₁ the coefficients of
the constraints in the mean and at the end, and F the terms of each body by itself,

    K = [[F − h Bᵀ Θ W, −(c̄ β B)ᵀ], [c₁ γ W/h, 0]].

All terms are entries of the flexible matrices, of their columns and rows, or of the border (see
:mod:`flexph.integration.loops.mechanics.arrow`).
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import Number, copy, divided, get, put
    from ..memory.memory import Memory
    from ..nodal.points import add_point_masses
    from ..terms.border import add
    from .residual import turn_strain_rows


def add_flexible(m: Memory, dim: int, h: float) -> None:
    """Set the derivatives of the defects of u̇̄ with respect to u̇̄, without the shift.

    They are 2M + 2hω̄N − ½h²ω₀ω₁K + h(½h geometric + D̄ᵀ(½h + β)C⁻¹D₁ + viscous), with the inertia matrices M, N, K of
    memory.data.Inertia, the geometric stiffness and the matrix of constant damping, the strain rows D̄ in the mean and
    D₁ at the end of the step, the stiffness C⁻¹ of stresses, and the factors β of their damping.
    """
    factor = cython.declare(Number)
    rest = cython.declare(Number)
    value = cython.declare(Number)
    F = m.system_flexible
    s = 1 if dim == 2 else 3
    width = m.inertia_val.shape[1]
    for b in range(m.inertia_mass.size):
        for e in range(m.inertia_ptr[m.inertia_first[b]], m.inertia_ptr[m.inertia_first[b + 1]]):
            row = (e + m.inertia_alike[b]) * width
            value = 2.0 * get(m.inertia_val, row)
            for a in range(s):
                value += h * (m.at_w[b][a] + m.end_w[b][a]) * get(m.inertia_val, row + 1 + a)
                for c in range(s):
                    factor = 0.5 * h * h * m.at_w[b][a] * m.end_w[b][c]
                    value -= factor * get(m.inertia_val, row + 1 + s + s * a + c)
            rest = get(m.stiffness_damping, e) + 0.5 * h * get(m.stiffness_constant, e)
            put(F, m.border_place[e], value + h * rest)
    _add_stresses(m, h, F)


def _add_stresses(m: Memory, h: float, F: Array) -> None:
    """Add the stiffness of stresses whose strain rows depend on u, and the geometric stiffness, to F."""
    gain = cython.declare(Number)
    place = cython.declare(cython.Py_ssize_t)
    copy(m.trial_D, m.system_D)
    turn_strain_rows(m, 0.5 * h, m.x_du, m.system_D)
    for e in range(m.system_left_D.size):
        gain = h * (0.5 * h + m.stiffness_left_damping[e]) * m.stiffness_left_val[e]
        m.system_left_D[e] = gain * m.trial_D[m.stiffness_left_mean[e]]
    for c in range(m.stiffness_second.size):
        j = m.stiffness_second[c]
        place = m.stiffness_block[c]
        for e in range(m.stiffness_left_ptr[c], m.stiffness_left_ptr[c + 1]):
            for k in range(m.elastic_ptr[j], m.elastic_ptr[j + 1]):
                F[m.stiffness_pair_place[place]] += m.system_left_D[e] * m.system_D[k]
                place += 1
    for e in range(m.stiffness_stress_place.size):
        F[m.stiffness_stress_place[e]] += (
            0.5 * h * h * m.stiffness_stress_val[e] * m.trial_stress[m.stiffness_stress[e]]
        )


def _mean_spin(m: Memory, decay: int, b: int, i: int) -> float:
    """Component i of the mean spin ω̄ of body b; in steps that lose energy, of ŵ (see kernels.decay)."""
    if decay > 0:
        return m.x_w[b][i]
    return 0.5 * (m.at_w[b][i] + m.end_w[b][i])


def turn_bodies(m: Memory, dim: int, decay: int, h: float) -> None:
    """Compute the matrix that maps a change of ω̄ to the rotation at the end, in world axes, for each body.

    The matrix is h/(1 + |a|²) R₀(1 + [a]×) with a = ½hω̄. Also store R̄⁻¹.
    """
    a = cython.declare(Number)
    a0 = cython.declare(Number)
    a1 = cython.declare(Number)
    a2 = cython.declare(Number)
    scale = cython.declare(Number)
    copy(m.trial_inverse, m.system_inverse)
    for b in range(m.inertia_mass.size):
        if dim == 2:
            a = 0.5 * h * _mean_spin(m, decay, b, 0)
            m.system_turn[b][0][0] = divided(h, 1.0 + a * a)
        else:
            a0 = 0.5 * h * _mean_spin(m, decay, b, 0)
            a1 = 0.5 * h * _mean_spin(m, decay, b, 1)
            a2 = 0.5 * h * _mean_spin(m, decay, b, 2)
            scale = divided(h, 1.0 + a0 * a0 + a1 * a1 + a2 * a2)
            for i in range(3):
                y0 = m.at_R[b][i][0]
                y1 = m.at_R[b][i][1]
                y2 = m.at_R[b][i][2]
                m.system_turn[b][i][0] = scale * (y0 + y1 * a2 - y2 * a1)
                m.system_turn[b][i][1] = scale * (y1 + y2 * a0 - y0 * a2)
                m.system_turn[b][i][2] = scale * (y2 + y0 * a1 - y1 * a0)


def add_rigid(m: Memory, dim: int, decay: int, h: float) -> None:
    """Add the derivatives of the momentum defects of bodies with respect to ṙ̄ and ω̄ to the Jacobian.

    Add also the coupling of ω̄, φ̄u̇̄ and ṙ̄ with the flexible coordinates.
    """
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            if not m.points_own[b]:
                add(m, m.border_v[b][i], m.border_v[b][i], 2.0 * m.inertia_mass[b])
        start_spin(m, dim, decay, h, b)
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            _couple_coordinate(m, dim, h, b, i)
        _couple_shift(m, dim, h, b)
        _add_spin(m, dim, h, b)
    add_point_masses(m)


def start_spin(m: Memory, dim: int, decay: int, h: float, b: int) -> None:
    """Set ``system.through`` to 1 − ½h[ω̄]×, by which the momentum of body b turns, and ``system.spin`` to 2J."""
    mean = cython.declare(Number)
    s = 1 if dim == 2 else 3
    for i in range(s):
        for j in range(s):
            m.system_through[i][j] = 1.0 if i == j else 0.0
            m.system_spin[i][j] = 2.0 * m.inertia_J[b][i][j]
    if s == 3:
        for i in range(3):
            j = (i + 1) % 3
            l = (i + 2) % 3
            mean = 0.5 * h * _mean_spin(m, decay, b, i)
            m.system_through[j][l] -= mean
            m.system_through[l][j] += mean


def _couple_coordinate(m: Memory, dim: int, h: float, b: int, i: int) -> None:
    """Compute the coupling of ω̄ of body b with flexible coordinate i, in the rows of both.

    Add also the part of 2J(u₁) that the coordinate causes to ``system.spin``.
    """
    column = cython.declare(Number)
    r0 = cython.declare(Number)
    r1 = cython.declare(Number)
    r2 = cython.declare(Number)
    row = cython.declare(Number)
    t0 = cython.declare(Number)
    t1 = cython.declare(Number)
    t2 = cython.declare(Number)
    s = 1 if dim == 2 else 3
    for a in range(s):
        coupling = 2.0 * (m.inertia_n[i][a] + m.end_Pu[i][1 + a])
        row = coupling - h * m.end_Pdu[i][1 + a]
        column = coupling + h * m.at_Pdu[i][1 + a]
        for c in range(s):
            k = 1 + s + s * a + c
            row += 2.0 * h * (m.inertia_s[i][a][c] + m.end_Pu[i][k]) * m.end_w[b][c]
            column -= 2.0 * h * (m.inertia_s[i][a][c] + m.trial_Pmean[i][k]) * m.at_w[b][c]
            m.system_spin[a][c] += 2.0 * (2.0 * m.inertia_s[i][a][c] + m.end_Pu[i][k]) * m.end_u[i]
        m.system_row_w[i][a] = row
        m.system_col[i][a] = column
    if s == 3:
        r0 = m.system_row_w[i][0]
        r1 = m.system_row_w[i][1]
        r2 = m.system_row_w[i][2]
        for a in range(3):
            t0 = m.system_through[a][0]
            t1 = m.system_through[a][1]
            t2 = m.system_through[a][2]
            m.system_row_w[i][a] = t0 * r0 + t1 * r1 + t2 * r2


def _couple_shift(m: Memory, dim: int, h: float, b: int) -> None:
    """Compute the coupling of φ̄u̇̄ and ṙ̄ with the flexible coordinates of body b, in the rows of the coordinates.

    The columns of φ̄u̇̄ and ṙ̄ are φ̄ᵀ times matrices (d, d), which are stored in ``system.by_c`` and ``system.by_v``.
    """
    factor = cython.declare(Number)
    value = cython.declare(Number)
    d = dim
    s = 1 if d == 2 else 3
    for l in range(d):
        for j in range(d):
            value = 2.0 * m.inertia_form[b][l][j]
            for a in range(s):
                value += h * (m.at_w[b][a] + m.end_w[b][a]) * m.inertia_form[b][(1 + a) * d + l][j]
                for c in range(s):
                    factor = 0.5 * h * h * m.at_w[b][a] * m.end_w[b][c]
                    value -= factor * m.inertia_form[b][(1 + s + s * a + c) * d + l][j]
            m.system_by_c[b][l][j] = -value
            m.system_by_v[b][l][j] = 2.0 * m.inertia_mass[b] * m.trial_inverse[b][l][j]


def _add_spin(m: Memory, dim: int, h: float, b: int) -> None:
    """Add the derivative of the angular momentum defect of body b with respect to ω̄ to the border of the Jacobian."""
    t0 = cython.declare(Number)
    t1 = cython.declare(Number)
    t2 = cython.declare(Number)
    value = cython.declare(Number)
    s = 1 if dim == 2 else 3
    spin = m.system_spin
    for i in range(s):
        for j in range(s):
            value = spin[i][j]
            if s == 3:
                t0 = m.system_through[i][0]
                t1 = m.system_through[i][1]
                t2 = m.system_through[i][2]
                value = t0 * spin[0][j] + t1 * spin[1][j] + t2 * spin[2][j]
            add(m, m.border_w[b][i], m.border_w[b][j], value)
    if s == 3:
        for i in range(3):
            j = (i + 1) % 3
            l = (i + 2) % 3
            value = 0.5 * h * (m.at_p_r[b][i] + m.end_p_r[b][i])
            for c in range(3):
                value += 0.5 * h * h * m.at_R[b][c][i] * m.trial_torque[b][c]
            add(m, m.border_w[b][j], m.border_w[b][l], value)
            add(m, m.border_w[b][l], m.border_w[b][j], -value)
