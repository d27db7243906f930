"""Solution of the transposed linear equations of a step, by the factors of :mod:`..mechanics.arrow`.

The solution of the equations themselves is E B⁻¹ R: R reduces the defects to the border, B is its matrix, and E expands
the corrections from its unknowns. The solution of the transposed equations is Rᵀ B⁻ᵀ Eᵀ.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.band import solve_transposed as solve_band
    from ....numerics.loops.views import copy, fill, get, part
    from ..mechanics.arrow import _inner
    from ..memory.memory import Memory
    from ..nodal.points import gather_points, spread_points


def solve_transposed(m: Memory, dim: int, h: float, given: Array, out: Array) -> None:
    """Solve the transposed equations of a step with the factored Jacobian, and add the solution to ``out``.

    ``given`` is the right-hand side. The step is one without energy loss.
    """
    copy(given, m.defect)
    _gather(m, dim, h)
    solve_band(m.system_border, m.system_border_pivot, m.border_size[1], m.system_x)
    _spread(m, dim, h)
    for i in range(out.size):
        out[i] += m.correction[i]


def _gather(m: Memory, dim: int, h: float) -> None:
    """Write Eᵀ times the covector in ``defect`` to ``system.x``.

    The entries of the covector for inner flexible coordinates are copied to ``system.y``.
    """
    fill(m.system_x, 0.0)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.system_x[m.border_v[b][i]] = m.defect_v[b][i]
        for i in range(1 if dim == 2 else 3):
            if m.border_w[b][i] >= 0:
                m.system_x[m.border_w[b][i]] = m.defect_w[b][i]
    gather_points(m)
    for b in range(m.inertia_mass.size):
        _gather_body(m, dim, b)
    for i in range(m.border_l.size):
        m.system_x[m.border_l[i]] = m.defect_lam[i] / h


def _gather_body(m: Memory, dim: int, b: int) -> None:
    """Add Eᵀ times the covector of the flexible coordinates of body b to ``system.x``."""
    x = m.system_x
    s = 1 if dim == 2 else 3
    first = m.inertia_first[b]
    masters = m.border_masters[b + 1] - m.border_masters[b]
    if first == m.inertia_first[b + 1]:
        return
    inner = _inner(m, b)
    X = inner[3]
    inners = X.shape[0]
    columns = X.shape[1]
    pulled = m.system_left[0]
    for q in range(s + dim + masters):
        pulled[q] = 0.0
    for row in range(inners):
        value = m.defect_du[m.border_order[first + row]]
        m.system_y[first + row] = value
        for q in range(s + dim + masters):
            pulled[q] -= get(X, row * columns + q) * value
    for k in range(first + inners, m.inertia_first[b + 1]):
        x[m.border_m[m.border_order[k]]] += m.defect_du[m.border_order[k]]
    for a in range(s):
        x[m.border_w[b][a]] += pulled[a]
    for j in range(dim):
        for l in range(dim):
            x[m.border_c[b][j]] += m.system_by_c[b][l][j] * pulled[s + l]
            x[m.border_v[b][j]] += m.system_by_v[b][l][j] * pulled[s + l]
    for q in range(masters):
        x[m.border_m[m.border_master[m.border_masters[b] + q]]] += pulled[s + dim + q]


def _spread(m: Memory, dim: int, h: float) -> None:
    """Write Rᵀ times the solution of the border of the Jacobian, in ``system.x``, to ``correction``."""
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.correction_v[b][i] = m.system_x[m.border_v[b][i]]
        for i in range(1 if dim == 2 else 3):
            m.correction_w[b][i] = m.system_x[m.border_w[b][i]] if m.border_w[b][i] >= 0 else 0.0
        _spread_body(m, dim, b)
    spread_points(m)
    for i in range(m.border_l.size):
        m.correction_lam[i] = m.system_x[m.border_l[i]] / h


def _spread_body(m: Memory, dim: int, b: int) -> None:
    """Write the entries of Rᵀ times the border's solution that belong to the flexible coordinates of body b.

    They are entries of ``correction``; their effect through the shift of the centre of mass is added to the entries of
    the body's position.
    """
    x = m.system_x
    first = m.inertia_first[b]
    last = m.inertia_first[b + 1]
    if first == last:
        return
    F, pivot, w, X = _inner(m, b)
    inner = part(m.system_y, first, first + X.shape[0])
    for k in range(inner.size):
        i = m.border_order[first + k]
        value = inner[k]
        for a in range(1 if dim == 2 else 3):
            value -= m.system_row_w[i][a] * x[m.border_w[b][a]]
        for j in range(dim):
            value += m.inertia_mean[i][j] * x[m.border_c[b][j]]
        inner[k] = value
    for k in range(first + inner.size, last):
        i = m.border_order[k]
        m.correction_du[i] = x[m.border_m[i]]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            if m.border_inner[m.inertia_col[e]] >= 0:
                inner[m.border_inner[m.inertia_col[e]]] -= m.system_entries[e] * x[m.border_m[i]]
    solve_band(F, pivot, w, inner)
    for k in range(inner.size):
        m.correction_du[m.border_order[first + k]] = inner[k]
    for j in range(dim):
        total = 0.0
        for k in range(first, last):
            total += m.inertia_mean[m.border_order[k]][j] * m.correction_du[m.border_order[k]]
        for l in range(dim):
            m.correction_v[b][l] += m.system_inverse[b][j][l] * total
