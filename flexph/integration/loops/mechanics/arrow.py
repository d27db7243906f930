"""Solution of the linear equations of a step, whose Jacobian has the shape of an arrow of blocks.

The inner flexible coordinates of each body are eliminated from its banded block F, which is coupled with the other
unknowns by columns C and rows R; the matrix of the other unknowns, the border, is banded, too. To avoid fill-in, the
shift of the coordinates to the centre of mass enters as further unknowns c = φ̄u̇̄, and the node forces that act
through the shift by adding φ̄ᵀR̄⁻¹ times the rows of ṙ̄ to the rows of u̇̄.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import FACTOR as _FACTOR
from ..memory.codes import SOLVE as _SOLVE
from ..memory.data import Index

if not cython.compiled:
    from ....numerics.algebra.band import factor as factor_band
    from ....numerics.algebra.band import solve as solve_band
    from ....numerics.algebra.band import solve_many
    from ....numerics.loops.views import Number, block, call_one, divided, fill, get, part, put, subtract
    from ..decay.elimination import eliminate_banded, solve_banded
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..nodal.points import gather_points, spread_points
    from ..terms.border import add
    from .assembly import assemble_step

FACTOR = cython.declare(cython.Py_ssize_t, _FACTOR)
SOLVE = cython.declare(cython.Py_ssize_t, _SOLVE)


def factor(m: Memory, dim: int, decay: int, contact: int, given: Given) -> bool:
    """Assemble and factor the Jacobian of a step at a trial; False if it is singular.

    ``given`` are the prescribed values of the step; ``decay`` and ``contact`` are its kinds, see
    ``memory.structures.Kinds``.
    """
    assemble_step(m, dim, decay, contact, given)
    return eliminate(m, dim, decay)


def eliminate(m: Memory, dim: int, decay: int) -> bool:
    """Factor an assembled Jacobian: the inner blocks of all bodies, then its border; False if one is singular."""
    for b in range(m.inertia_mass.size):
        if not _eliminate(m, dim, decay, b):
            return False
    if m.border_size[1] < 0:
        return call_one(m.system_python[0], FACTOR) > 0
    return factor_band(m.system_border, m.system_border_pivot, m.border_size[1])


def solve(m: Memory, dim: int, decay: int, h: float) -> None:
    """Solve with the factored Jacobian: compute the corrections of the unknowns from the defects."""
    reduce(m, dim, decay, h)
    solve_border(m)
    expand(m, dim, h)


def reduce(m: Memory, dim: int, decay: int, h: float) -> None:
    """Write the right-hand side of the border of the Jacobian into ``system.x``.

    The right-hand side has the defects after the elimination of the inner coordinates.
    """
    d = dim
    s = 1 if d == 2 else 3
    fill(m.system_x, 0.0)
    for b in range(m.inertia_mass.size):
        for i in range(d):
            m.system_x[m.border_v[b][i]] = m.defect_v[b][i]
        for i in range(s):
            if m.border_w[b][i] >= 0:
                m.system_x[m.border_w[b][i]] = m.defect_w[b][i]
        _reduce(m, dim, decay, b)
    gather_points(m)
    for i in range(m.border_l.size):
        m.system_x[m.border_l[i]] = divided(m.defect_lam[i], h)


def expand(m: Memory, dim: int, h: float) -> None:
    """Write the corrections of all unknowns, from the solution of the border of the Jacobian in ``system.x``."""
    d = dim
    s = 1 if d == 2 else 3
    for b in range(m.inertia_mass.size):
        for i in range(d):
            m.correction_v[b][i] = m.system_x[m.border_v[b][i]]
        for i in range(s):
            m.correction_w[b][i] = m.system_x[m.border_w[b][i]] if m.border_w[b][i] >= 0 else 0.0
        _expand(m, dim, b)
    spread_points(m)
    for i in range(m.border_l.size):
        m.correction_lam[i] = divided(m.system_x[m.border_l[i]], h)


def solve_border(m: Memory) -> None:
    """Solve with the factored border in place: the right-hand side ``system.x`` becomes the solution."""
    if m.border_size[1] < 0:
        call_one(m.system_python[0], SOLVE)
    else:
        solve_band(m.system_border, m.system_border_pivot, m.border_size[1], m.system_x)


def _inner(m: Memory, b: int) -> tuple[Array, Index, int, Array]:
    """Inner matrix F of body b, its pivots and bandwidth, and F⁻¹ C."""
    first = m.inertia_first[b]
    size = m.border_inners[b]
    w = m.border_width[b]
    F = block(m.system_band, m.border_band[b], size, m.border_stored[b])
    X = block(m.system_reduced, m.border_reduced[b], size, m.border_columns[b])
    return F, part(m.system_pivot, first, first + size), w, X


def _eliminate(m: Memory, dim: int, decay: int, b: int) -> bool:
    """Factor the inner block F of body b, and subtract R F⁻¹ C from the border of the Jacobian; False if F is singular.

    The columns C are those of ω̄, φ̄ᵀ (through which φ̄u̇̄ and ṙ̄ act) and of the masters; the rows R those of ω̄,
    φ̄u̇̄ and the masters.
    """
    if m.inertia_first[b] == m.inertia_first[b + 1]:
        return True
    F, pivot, w, X = _inner(m, b)
    _fill(m, dim, b, X)
    if decay > 0 and m.filter_rows[b] > 0:
        return _eliminate_banded(m, dim, b, X)
    if X.shape[0] == 0:
        return True
    if not factor_band(F, pivot, w):
        return False
    solve_many(F, pivot, w, X)
    _condense(m, dim, b, X)
    return True


def _eliminate_banded(m: Memory, dim: int, b: int, X: Array) -> bool:
    """Eliminate the inner coordinates of body b, which is banded and loses energy; False if a matrix is singular.

    F⁻¹ C is written into X.
    """
    if not eliminate_banded(m, dim, b, X):
        return False
    columns = m.filter_columns[b]
    masters = m.border_masters[b + 1] - m.border_masters[b]
    rest = block(m.filtering_rest, 0, columns, columns)
    for k in range((3 if dim == 2 else 6) + masters):
        for i in range(columns):
            rest[k][i] = -rest[k][i]
        _subtract(m, dim, b, _unknown(m, dim, b, k), rest[k])
    return True


def _unknown(m: Memory, dim: int, b: int, k: int) -> int:
    """Number, in the border of the Jacobian, of the unknown of row k of R of body b.

    The unknown is a component of ω̄ or φ̄u̇̄, or a master.
    """
    s = 1 if dim == 2 else 3
    if k < s:
        return m.border_w[b][k]
    if k < s + dim:
        return m.border_c[b][k - s]
    return m.border_m[m.border_master[m.border_masters[b] + k - s - dim]]


def _fill(m: Memory, dim: int, b: int, X: Array) -> None:
    """Write the columns C of body b into X, and add the coupling of its masters to the border of the Jacobian."""
    d = dim
    s = 1 if d == 2 else 3
    first = m.inertia_first[b]
    inners = X.shape[0]
    for i in range(d):
        add(m, m.border_c[b][i], m.border_c[b][i], 1.0)
    for row in range(inners):
        i = m.border_order[first + row]
        for a in range(s):
            X[row][a] = m.system_col[i][a]
        for l in range(d):
            X[row][s + l] = m.inertia_mean[i][l]
    for k in range(first + inners, m.inertia_first[b + 1]):
        i = m.border_order[k]
        master = m.border_m[i]
        for a in range(s):
            add(m, master, m.border_w[b][a], m.system_col[i][a])
            add(m, m.border_w[b][a], master, m.system_row_w[i][a])
        for j in range(d):
            add(m, m.border_c[b][j], master, -m.inertia_mean[i][j])
            for l in range(d):
                add(m, master, m.border_c[b][j], m.inertia_mean[i][l] * m.system_by_c[b][l][j])
                add(m, master, m.border_v[b][j], m.inertia_mean[i][l] * m.system_by_v[b][l][j])


def _condense(m: Memory, dim: int, b: int, X: Array) -> None:
    """Subtract R F⁻¹ C of body b from the border of the Jacobian, with X = F⁻¹ C."""
    d = dim
    s = 1 if d == 2 else 3
    first = m.inertia_first[b]
    inners = X.shape[0]
    columns = X.shape[1]
    wide = m.system_left.shape[1]
    fill(m.system_left, 0.0)
    for row in range(inners):
        i = m.border_order[first + row]
        for a in range(s):
            subtract(m.system_left, a * wide, X, row * columns, -m.system_row_w[i][a], columns)
        for j in range(d):
            subtract(m.system_left, (s + j) * wide, X, row * columns, m.inertia_mean[i][j], columns)
    for a in range(s):
        _subtract(m, dim, b, m.border_w[b][a], m.system_left[a])
    for j in range(d):
        _subtract(m, dim, b, m.border_c[b][j], m.system_left[s + j])
    for k in range(first + inners, m.inertia_first[b + 1]):
        i = m.border_order[k]
        fill(m.system_left[0], 0.0)
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            row = m.border_inner[m.inertia_col[e]]
            if row >= 0:
                subtract(m.system_left, 0, X, row * columns, -m.system_entries[e], columns)
        _subtract(m, dim, b, m.border_m[i], m.system_left[0])


def _subtract(m: Memory, dim: int, b: int, row: int, values: Array) -> None:
    """Subtract ``values`` from row ``row`` of the border of the Jacobian, in the columns C of body b."""
    d = dim
    s = 1 if d == 2 else 3
    first = m.border_masters[b]
    last = m.border_masters[b + 1]
    for a in range(s):
        add(m, row, m.border_w[b][a], -values[a])
    for j in range(d):
        for l in range(d):
            add(m, row, m.border_c[b][j], -values[s + l] * m.system_by_c[b][l][j])
            add(m, row, m.border_v[b][j], -values[s + l] * m.system_by_v[b][l][j])
    for q in range(first, last):
        add(m, row, m.border_m[m.border_master[q]], -values[s + d + q - first])


def _reduce(m: Memory, dim: int, decay: int, b: int) -> None:
    """Solve for the inner coordinates of body b while the other unknowns are zero.

    Subtract their effect from the right-hand sides of the border of the Jacobian.
    """
    pushed = cython.declare(Number)
    value = cython.declare(Number)
    x = m.system_x
    y = m.system_y
    d = dim
    first = m.inertia_first[b]
    last = m.inertia_first[b + 1]
    if first == last:
        return
    F, pivot, w, X = _inner(m, b)
    inner = part(y, first, first + X.shape[0])
    for j in range(d):
        pushed = 0.0
        for l in range(d):
            pushed += m.system_inverse[b][j][l] * m.defect_v[b][l]
        m.system_left[0][j] = pushed
    for k in range(first, last):
        i = m.border_order[k]
        value = m.defect_du[i]
        for j in range(d):
            value += m.inertia_mean[i][j] * m.system_left[0][j]
        if m.border_inner[i] >= 0:
            put(y, k, value)
        else:
            x[m.border_m[i]] += value
    if decay > 0 and m.filter_rows[b] > 0:
        solve_banded(m, dim, b, inner)
        for k in range((3 if dim == 2 else 6) + m.border_masters[b + 1] - m.border_masters[b]):
            unknown = _unknown(m, dim, b, k)
            if unknown >= 0:
                x[unknown] -= m.filtering_done[k]
        return
    solve_band(F, pivot, w, inner)
    _move_on(m, dim, b, inner)
    for k in range(first + inner.size, last):
        i = m.border_order[k]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            if m.border_inner[m.inertia_col[e]] >= 0:
                x[m.border_m[i]] -= m.system_entries[e] * inner[m.border_inner[m.inertia_col[e]]]


def _move_on(m: Memory, dim: int, b: int, inner: Array) -> None:
    """Subtract the effect of the ``inner`` coordinates of body b from the right-hand sides of ω̄ and φ̄u̇̄."""
    total = cython.declare(Number)
    x = m.system_x
    d = dim
    first = m.inertia_first[b]
    for a in range(1 if d == 2 else 3):
        if m.border_w[b][a] >= 0:
            total = 0.0
            for k in range(inner.size):
                total += m.system_row_w[m.border_order[first + k]][a] * inner[k]
            x[m.border_w[b][a]] -= total
    for j in range(d):
        total = 0.0
        for k in range(inner.size):
            total += m.inertia_mean[m.border_order[first + k]][j] * inner[k]
        x[m.border_c[b][j]] += total


def _expand(m: Memory, dim: int, b: int) -> None:
    """Write the corrections of the flexible coordinates of body b, from the solution of the border of the Jacobian."""
    total = cython.declare(Number)
    value = cython.declare(Number)
    x = m.system_x
    y = m.system_y
    d = dim
    s = 1 if d == 2 else 3
    first = m.inertia_first[b]
    masters = m.border_masters[b + 1] - m.border_masters[b]
    if first == m.inertia_first[b + 1]:
        return
    both1 = _inner(m, b)
    X = both1[3]
    inners = X.shape[0]
    columns = X.shape[1]
    for a in range(s):
        m.system_left[0][a] = x[m.border_w[b][a]]
    for l in range(d):
        total = 0.0
        for j in range(d):
            total += m.system_by_c[b][l][j] * x[m.border_c[b][j]] + m.system_by_v[b][l][j] * x[m.border_v[b][j]]
        m.system_left[0][s + l] = total
    for q in range(masters):
        m.system_left[0][s + d + q] = x[m.border_m[m.border_master[m.border_masters[b] + q]]]
    for row in range(inners):
        value = y[first + row]
        for q in range(s + d + masters):
            value -= get(X, row * columns + q) * get(m.system_left, q)
        m.correction_du[m.border_order[first + row]] = value
    for k in range(first + inners, m.inertia_first[b + 1]):
        m.correction_du[m.border_order[k]] = x[m.border_m[m.border_order[k]]]
