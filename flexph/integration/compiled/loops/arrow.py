"""The solution of a step in block-arrow form.

Of each body the inner flexible coordinates are eliminated from its banded block F; what is left, the border, is banded
too. The shift of the coordinates to the centre of mass enters by c = φ̄u̇̄ as further unknowns, and what node forces do
through it by adding φ̄ᵀR̄⁻¹ times the rows of ṙ̄ to those of u̇̄: nothing is filled.
"""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.data import Index
from ..memory.memory import REAL, WHOLE, Memory, block, index_matrix, indices, matrix, places, span, tensor, vector
from ..memory.simd import brief, get, put, take
from .band import factor as factor_band
from .band import solve as solve_band
from .band import solve_many
from .jacobian import (
    add,
    add_constraints,
    add_flexible,
    add_products,
    add_rigid,
    add_rolling,
    add_springs,
    add_turned_forces,
    make_turns,
    make_vectors,
)


@in_place
def factor(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> bool:
    """Factor the Jacobian at a trial; False where it is singular."""
    brief()
    system_border = matrix(m, REAL.system_border)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_size = indices(m, WHOLE.border_size)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    span(m, REAL.system_band, REAL.system_border)[:] = 0.0
    add_flexible(m, axes, h)
    make_turns(m, inertia_mass.size, axes, h)
    add_rigid(m, axes, h)
    add_turned_forces(m, axes, h)
    make_vectors(m, axes, h)
    add_springs(m, axes, h)
    add_products(m, axes, h)
    add_constraints(m, axes, h, before, after)
    add_rolling(m, axes, h)
    w = border_size[1]
    for b in range(inertia_mass.size):
        if not _eliminate(m, axes, b):
            return False
    return factor_band(system_border, system_border_pivot, w)


@in_place
def solve(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Corrections of the mean velocities and multipliers from their defects, by the factored Jacobian."""
    brief()
    system_x = vector(m, REAL.system_x)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_v = index_matrix(m, WHOLE.border_v)
    defect_v = matrix(m, REAL.defect_v)
    border_w = index_matrix(m, WHOLE.border_w)
    defect_w = matrix(m, REAL.defect_w)
    border_l = indices(m, WHOLE.border_l)
    defect_lam = vector(m, REAL.defect_lam)
    correction_v = matrix(m, REAL.correction_v)
    correction_w = matrix(m, REAL.correction_w)
    correction_lam = vector(m, REAL.correction_lam)
    d = len(axes)
    s = 1 if d == 2 else 3
    system_x[:] = 0.0
    for b in range(inertia_mass.size):
        for i in range(d):
            system_x[border_v[b, i]] = defect_v[b, i]
        for i in range(s):
            if border_w[b, i] >= 0:
                system_x[border_w[b, i]] = defect_w[b, i]
        _reduce(m, axes, b)
    for i in range(border_l.size):
        system_x[border_l[i]] = defect_lam[i] / h
    solve_border(m)
    for b in range(inertia_mass.size):
        for i in range(d):
            correction_v[b, i] = system_x[border_v[b, i]]
        for i in range(s):
            correction_w[b, i] = system_x[border_w[b, i]] if border_w[b, i] >= 0 else 0.0
        _expand(m, axes, b)
    for i in range(border_l.size):
        correction_lam[i] = system_x[border_l[i]] / h


@in_place
def solve_border(m: Memory) -> None:
    """Solve for the border what is in its place."""
    system_border = matrix(m, REAL.system_border)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    border_size = indices(m, WHOLE.border_size)
    solve_band(system_border, system_border_pivot, border_size[1], vector(m, REAL.system_x))


@in_place
def _inner(m: Memory, b: int) -> tuple[Array, Index, int, Array]:
    """Inner matrix of a body, its pivots and bandwidth, and F⁻¹ C."""
    inertia_first = indices(m, WHOLE.inertia_first)
    border_inners = indices(m, WHOLE.border_inners)
    border_width = indices(m, WHOLE.border_width)
    border_stored = indices(m, WHOLE.border_stored)
    border_band = indices(m, WHOLE.border_band)
    border_columns = indices(m, WHOLE.border_columns)
    border_reduced = indices(m, WHOLE.border_reduced)
    system_pivot = indices(m, WHOLE.system_pivot)
    first, size, w = inertia_first[b], border_inners[b], border_width[b]
    F = block(vector(m, REAL.system_band), border_band[b], size, border_stored[b])
    X = block(vector(m, REAL.system_reduced), border_reduced[b], size, border_columns[b])
    return F, system_pivot[first : first + size], w, X


@in_place
def _eliminate(m: Memory, axes: tuple[int, ...], b: int) -> bool:
    """Factor the inner block F of a body, F⁻¹ C, and take R F⁻¹ C from the border.

    The columns C are those of ω̄, φ̄ᵀ (through which φ̄u̇̄ and ṙ̄ act) and of the masters; the rows R those of ω̄, φ̄u̇̄ and
    the masters.
    """
    inertia_first = indices(m, WHOLE.inertia_first)
    if inertia_first[b] == inertia_first[b + 1]:
        return True
    F, pivot, w, X = _inner(m, b)
    _fill(m, axes, b, X)
    if not factor_band(F, pivot, w):
        return False
    solve_many(F, pivot, w, X)
    _condense(m, axes, b, X)
    return True


@in_place
def _fill(m: Memory, axes: tuple[int, ...], b: int, X: Array) -> None:
    """The columns C of a body, and how its masters are coupled in the border."""
    brief()
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_order = places(m, WHOLE.border_order)
    border_size = indices(m, WHOLE.border_size)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    A = matrix(m, REAL.system_border)
    system_col = matrix(m, REAL.system_col)
    system_row_w = matrix(m, REAL.system_row_w)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    d = len(axes)
    s = 1 if d == 2 else 3
    width, first, inners = border_size[1], inertia_first[b], X.shape[0]
    for i in range(d):
        add(A, width, border_c[b, i], border_c[b, i], 1.0)
    for row in range(inners):
        i = border_order[first + row]
        for a in range(s):
            X[row, a] = system_col[i, a]
        for l in range(d):
            X[row, s + l] = inertia_mean[i, l]
    for k in range(first + inners, inertia_first[b + 1]):
        i = border_order[k]
        own = border_m[i]
        for a in range(s):
            add(A, width, own, border_w[b, a], system_col[i, a])
            add(A, width, border_w[b, a], own, system_row_w[i, a])
        for j in range(d):
            add(A, width, border_c[b, j], own, -inertia_mean[i, j])
            for l in range(d):
                add(A, width, own, border_c[b, j], inertia_mean[i, l] * system_by_c[b, l, j])
                add(A, width, own, border_v[b, j], inertia_mean[i, l] * system_by_v[b, l, j])


@in_place
def _condense(m: Memory, axes: tuple[int, ...], b: int, X: Array) -> None:
    """Take R F⁻¹ C from the border."""
    brief()
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_order = places(m, WHOLE.border_order)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    entries = vector(m, REAL.system_entries)
    system_row_w = matrix(m, REAL.system_row_w)
    left = matrix(m, REAL.system_left)
    d = len(axes)
    s = 1 if d == 2 else 3
    first, (inners, columns), wide = inertia_first[b], X.shape, left.shape[1]
    left[:] = 0.0
    for row in range(inners):
        i = border_order[first + row]
        for a in range(s):
            take(left, a * wide, X, row * columns, -system_row_w[i, a], columns)
        for j in range(d):
            take(left, (s + j) * wide, X, row * columns, inertia_mean[i, j], columns)
    for a in range(s):
        _subtract(m, axes, b, border_w[b, a], left[a])
    for j in range(d):
        _subtract(m, axes, b, border_c[b, j], left[s + j])
    for k in range(first + inners, inertia_first[b + 1]):
        i = border_order[k]
        left[0] = 0.0
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            row = border_inner[inertia_col[e]]
            if row >= 0:
                take(left, 0, X, row * columns, -entries[e], columns)
        _subtract(m, axes, b, border_m[i], left[0])


@in_place
def _subtract(m: Memory, axes: tuple[int, ...], b: int, row: int, values: Array) -> None:
    """Subtract values in the columns C of a body from a row of the border."""
    border_size = indices(m, WHOLE.border_size)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    A = matrix(m, REAL.system_border)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    d = len(axes)
    s = 1 if d == 2 else 3
    width, first, last = border_size[1], border_masters[b], border_masters[b + 1]
    for a in range(s):
        add(A, width, row, border_w[b, a], -values[a])
    for j in range(d):
        for l in range(d):
            add(A, width, row, border_c[b, j], -values[s + l] * system_by_c[b, l, j])
            add(A, width, row, border_v[b, j], -values[s + l] * system_by_v[b, l, j])
    for q in range(first, last):
        add(A, width, row, border_m[border_master[q]], -values[s + d + q - first])


@in_place
def _reduce(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """Solve for the inner coordinates of a body with the border held, and move the rest to the border."""
    brief()
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_order = places(m, WHOLE.border_order)
    border_m = indices(m, WHOLE.border_m)
    defect_v = matrix(m, REAL.defect_v)
    defect_du = vector(m, REAL.defect_du)
    entries = vector(m, REAL.system_entries)
    system_inverse = tensor(m, REAL.system_inverse)
    left = matrix(m, REAL.system_left)
    x = vector(m, REAL.system_x)
    y = vector(m, REAL.system_y)
    d = len(axes)
    first, last = inertia_first[b], inertia_first[b + 1]
    if first == last:
        return
    F, pivot, w, X = _inner(m, b)
    inner = y[first : first + X.shape[0]]
    for j in range(d):
        pushed = 0.0
        for l in range(d):
            pushed += system_inverse[b, j, l] * defect_v[b, l]
        left[0, j] = pushed
    for k in range(first, last):
        i = border_order[k]
        value = defect_du[i]
        for j in range(d):
            value += inertia_mean[i, j] * left[0, j]
        if border_inner[i] >= 0:
            put(y, k, value)
        else:
            x[border_m[i]] += value
    solve_band(F, pivot, w, inner)
    _move_on(m, axes, b, inner)
    for k in range(first + inner.size, last):
        i = border_order[k]
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            if border_inner[inertia_col[e]] >= 0:
                x[border_m[i]] -= entries[e] * inner[border_inner[inertia_col[e]]]


@in_place
def _move_on(m: Memory, axes: tuple[int, ...], b: int, inner: Array) -> None:
    """What the inner coordinates of a body do in the rows of ω̄ and φ̄u̇̄."""
    brief()
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_order = places(m, WHOLE.border_order)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    system_row_w = matrix(m, REAL.system_row_w)
    x = vector(m, REAL.system_x)
    d, first = len(axes), inertia_first[b]
    for a in range(1 if d == 2 else 3):
        if border_w[b, a] >= 0:
            total = 0.0
            for k in range(inner.size):
                total += system_row_w[border_order[first + k], a] * inner[k]
            x[border_w[b, a]] -= total
    for j in range(d):
        total = 0.0
        for k in range(inner.size):
            total += inertia_mean[border_order[first + k], j] * inner[k]
        x[border_c[b, j]] += total


@in_place
def _expand(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """The flexible coordinates of a body from the border."""
    brief()
    inertia_first = indices(m, WHOLE.inertia_first)
    border_order = places(m, WHOLE.border_order)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    left = matrix(m, REAL.system_left)
    x = vector(m, REAL.system_x)
    y = vector(m, REAL.system_y)
    correction_du = vector(m, REAL.correction_du)
    d = len(axes)
    s = 1 if d == 2 else 3
    first, masters = inertia_first[b], border_masters[b + 1] - border_masters[b]
    if first == inertia_first[b + 1]:
        return
    _, _, _, X = _inner(m, b)
    inners, columns = X.shape
    for a in range(s):
        left[0, a] = x[border_w[b, a]]
    for l in range(d):
        total = 0.0
        for j in range(d):
            total += system_by_c[b, l, j] * x[border_c[b, j]] + system_by_v[b, l, j] * x[border_v[b, j]]
        left[0, s + l] = total
    for q in range(masters):
        left[0, s + d + q] = x[border_m[border_master[border_masters[b] + q]]]
    for row in range(inners):
        value = y[first + row]
        for q in range(s + d + masters):
            value -= get(X, row * columns + q) * get(left, q)
        correction_du[border_order[first + row]] = value
    for k in range(first + inners, inertia_first[b + 1]):
        correction_du[border_order[k]] = x[border_m[border_order[k]]]
