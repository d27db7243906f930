"""The solution of a step in block-arrow form.

Of each body the inner flexible coordinates are eliminated from its banded block F; what is left, the border, is banded
too. The shift of the coordinates to the centre of mass enters by c = φ̄u̇̄ as further unknowns, and what node forces do
through it by adding φ̄ᵀR̄⁻¹ times the rows of ṙ̄ to those of u̇̄: nothing is filled.
"""

from __future__ import annotations

from ..compiling import in_place
from ..space import Array
from .band import factor as factor_band
from .band import solve as solve_band
from .band import solve_many
from .jacobian import (
    add,
    add_constraints,
    add_flexible,
    add_products,
    add_rigid,
    add_springs,
    add_turned_forces,
    make_turns,
    make_vectors,
)
from .memory import REAL, WHOLE, Memory, block, index_matrix, indices, matrix, places, tensor, vector


@in_place
def factor(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> bool:
    """Factor the Jacobian at a trial; False where it is singular."""
    system_border = matrix(m, REAL.system_border)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_size = indices(m, WHOLE.border_size)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    system_border[:] = 0.0
    add_flexible(m, axes, h)
    make_turns(m, inertia_mass.size, axes, h)
    add_rigid(m, axes, h)
    add_turned_forces(m, axes, h)
    make_vectors(m, axes, h)
    add_springs(m, axes, h)
    add_products(m, axes, h)
    add_constraints(m, axes, h, before, after)
    w = border_size[1]
    for b in range(inertia_mass.size):
        if not _eliminate(m, axes, b):
            return False
    return factor_band(system_border, system_border_pivot, w)


@in_place
def solve(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Corrections of the mean velocities and multipliers from their defects, by the factored Jacobian."""
    system_x = vector(m, REAL.system_x)
    inertia_mass = vector(m, REAL.inertia_mass)
    border_v = index_matrix(m, WHOLE.border_v)
    defect_v = matrix(m, REAL.defect_v)
    border_w = index_matrix(m, WHOLE.border_w)
    defect_w = matrix(m, REAL.defect_w)
    border_l = indices(m, WHOLE.border_l)
    defect_lam = vector(m, REAL.defect_lam)
    system_border = matrix(m, REAL.system_border)
    system_border_pivot = indices(m, WHOLE.system_border_pivot)
    border_size = indices(m, WHOLE.border_size)
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
    solve_band(system_border, system_border_pivot, border_size[1], system_x)
    for b in range(inertia_mass.size):
        for i in range(d):
            correction_v[b, i] = system_x[border_v[b, i]]
        for i in range(s):
            correction_w[b, i] = system_x[border_w[b, i]] if border_w[b, i] >= 0 else 0.0
        _expand(m, axes, b)
    for i in range(border_l.size):
        correction_lam[i] = system_x[border_l[i]] / h


@in_place
def _eliminate(m: Memory, axes: tuple[int, ...], b: int) -> bool:
    """Factor the inner block F of a body, F⁻¹ C, and take R F⁻¹ C from the border.

    The columns C are those of ω̄, φ̄ᵀ (through which φ̄u̇̄ and ṙ̄ act) and of the masters; the rows R those of ω̄, φ̄u̇̄ and
    the masters.
    """
    inertia_first = indices(m, WHOLE.inertia_first)
    border_masters = indices(m, WHOLE.border_masters)
    border_band = indices(m, WHOLE.border_band)
    border_inners = indices(m, WHOLE.border_inners)
    border_width = indices(m, WHOLE.border_width)
    border_reduced = indices(m, WHOLE.border_reduced)
    system_band = vector(m, REAL.system_band)
    system_reduced = vector(m, REAL.system_reduced)
    system_pivot = indices(m, WHOLE.system_pivot)
    d = len(axes)
    first = inertia_first[b]
    if first == inertia_first[b + 1]:
        return True
    columns = (1 if d == 2 else 3) + d + border_masters[b + 1] - border_masters[b]
    band = block(system_band, border_band[b], border_inners[b], 3 * border_width[b] + 1)
    X = block(system_reduced, border_reduced[b], border_inners[b], columns)
    _fill(m, axes, b, band, X)
    pivot = system_pivot[first : first + border_inners[b]]
    if not factor_band(band, pivot, border_width[b]):
        return False
    solve_many(band, pivot, border_width[b], X)
    _condense(m, axes, b, X)
    return True


@in_place
def _fill(m: Memory, axes: tuple[int, ...], b: int, band: Array, X: Array) -> None:
    """Entries of F and C of a body; those of its masters go to the border."""
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_local = indices(m, WHOLE.border_local)
    border_width = indices(m, WHOLE.border_width)
    border_size = indices(m, WHOLE.border_size)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    F = vector(m, REAL.system_entries)
    A = matrix(m, REAL.system_border)
    system_col = matrix(m, REAL.system_col)
    system_row_w = matrix(m, REAL.system_row_w)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    d = len(axes)
    s = 1 if d == 2 else 3
    w, width = border_width[b], border_size[1]
    band[:] = 0.0
    X[:] = 0.0
    for i in range(d):
        add(A, width, border_c[b, i], border_c[b, i], 1.0)
    for i in range(inertia_first[b], inertia_first[b + 1]):
        row, own = border_inner[i], border_m[i]
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            j = inertia_col[e]
            if row >= 0:
                if border_inner[j] >= 0:
                    band[row, border_inner[j] - row + w] += F[e]
                else:
                    X[row, s + d + border_local[j]] += F[e]
            elif border_inner[j] < 0:
                add(A, width, own, border_m[j], F[e])
        if row >= 0:
            for a in range(s):
                X[row, a] = system_col[i, a]
            for l in range(d):
                X[row, s + l] = inertia_mean[i, l]
            continue
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
    inertia_first = indices(m, WHOLE.inertia_first)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    inertia_mean = matrix(m, REAL.inertia_mean)
    border_inner = indices(m, WHOLE.border_inner)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    F = vector(m, REAL.system_entries)
    system_row_w = matrix(m, REAL.system_row_w)
    left = matrix(m, REAL.system_left)
    d = len(axes)
    s = 1 if d == 2 else 3
    columns = X.shape[1]
    for r in range(s + d):
        for q in range(columns):
            left[r, q] = 0.0
    for i in range(inertia_first[b], inertia_first[b + 1]):
        row = border_inner[i]
        if row >= 0:
            for a in range(s):
                for q in range(columns):
                    left[a, q] += system_row_w[i, a] * X[row, q]
            for j in range(d):
                for q in range(columns):
                    left[s + j, q] -= inertia_mean[i, j] * X[row, q]
    for a in range(s):
        _take(m, axes, b, border_w[b, a], left[a], columns)
    for j in range(d):
        _take(m, axes, b, border_c[b, j], left[s + j], columns)
    for l in range(border_masters[b], border_masters[b + 1]):
        i = border_master[l]
        for q in range(columns):
            left[0, q] = 0.0
        for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
            row = border_inner[inertia_col[e]]
            if row >= 0:
                for q in range(columns):
                    left[0, q] += F[e] * X[row, q]
        _take(m, axes, b, border_m[i], left[0], columns)


@in_place
def _take(m: Memory, axes: tuple[int, ...], b: int, row: int, values: Array, columns: int) -> None:
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
    width = border_size[1]
    for a in range(s):
        add(A, width, row, border_w[b, a], -values[a])
    for j in range(d):
        for l in range(d):
            add(A, width, row, border_c[b, j], -values[s + l] * system_by_c[b, l, j])
            add(A, width, row, border_v[b, j], -values[s + l] * system_by_v[b, l, j])
    for q in range(s + d, columns):
        add(A, width, row, border_m[border_master[border_masters[b] + q - s - d]], -values[q])


@in_place
def _reduce(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """Solve for the inner coordinates of a body with the border held, and move the rest to the border."""
    left = matrix(m, REAL.system_left)
    border_band = indices(m, WHOLE.border_band)
    system_band = vector(m, REAL.system_band)
    inertia_first = indices(m, WHOLE.inertia_first)
    system_y = vector(m, REAL.system_y)
    border_inners = indices(m, WHOLE.border_inners)
    defect_du = vector(m, REAL.defect_du)
    inertia_mean = matrix(m, REAL.inertia_mean)
    system_inverse = tensor(m, REAL.system_inverse)
    defect_v = matrix(m, REAL.defect_v)
    border_inner = indices(m, WHOLE.border_inner)
    system_x = vector(m, REAL.system_x)
    border_m = indices(m, WHOLE.border_m)
    system_pivot = indices(m, WHOLE.system_pivot)
    border_width = indices(m, WHOLE.border_width)
    border_w = index_matrix(m, WHOLE.border_w)
    system_row_w = matrix(m, REAL.system_row_w)
    border_c = index_matrix(m, WHOLE.border_c)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    system_entries = vector(m, REAL.system_entries)
    d = len(axes)
    s = 1 if d == 2 else 3
    first, last = inertia_first[b], inertia_first[b + 1]
    if first == last:
        return
    inner = system_y[first : first + border_inners[b]]
    for j in range(d):
        left[0, j] = 0.0
        for l in range(d):
            left[0, j] += system_inverse[b, j, l] * defect_v[b, l]
    for i in range(first, last):
        value = defect_du[i]
        for j in range(d):
            value += inertia_mean[i, j] * left[0, j]
        if border_inner[i] >= 0:
            inner[border_inner[i]] = value
        else:
            system_x[border_m[i]] += value
    band = block(system_band, border_band[b], border_inners[b], 3 * border_width[b] + 1)
    solve_band(band, system_pivot[first : first + border_inners[b]], border_width[b], inner)
    for i in range(first, last):
        if border_inner[i] >= 0:
            value = inner[border_inner[i]]
            for a in range(s):
                if border_w[b, a] >= 0:
                    system_x[border_w[b, a]] -= system_row_w[i, a] * value
            for j in range(d):
                system_x[border_c[b, j]] += inertia_mean[i, j] * value
        else:
            for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
                if border_inner[inertia_col[e]] >= 0:
                    system_x[border_m[i]] -= system_entries[e] * inner[border_inner[inertia_col[e]]]


@in_place
def _expand(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """The flexible coordinates of a body from the border."""
    inertia_first = indices(m, WHOLE.inertia_first)
    border_inner = indices(m, WHOLE.border_inner)
    border_inners = indices(m, WHOLE.border_inners)
    border_reduced = indices(m, WHOLE.border_reduced)
    border_v = index_matrix(m, WHOLE.border_v)
    border_w = index_matrix(m, WHOLE.border_w)
    border_c = index_matrix(m, WHOLE.border_c)
    border_m = indices(m, WHOLE.border_m)
    border_masters = indices(m, WHOLE.border_masters)
    border_master = indices(m, WHOLE.border_master)
    system_reduced = vector(m, REAL.system_reduced)
    system_by_c = tensor(m, REAL.system_by_c)
    system_by_v = tensor(m, REAL.system_by_v)
    left = matrix(m, REAL.system_left)
    x = vector(m, REAL.system_x)
    system_y = vector(m, REAL.system_y)
    correction_du = vector(m, REAL.correction_du)
    d = len(axes)
    s = 1 if d == 2 else 3
    first = inertia_first[b]
    if first == inertia_first[b + 1]:
        return
    columns = s + d + border_masters[b + 1] - border_masters[b]
    X = block(system_reduced, border_reduced[b], border_inners[b], columns)
    for a in range(s):
        left[0, a] = x[border_w[b, a]]
    for l in range(d):
        left[0, s + l] = 0.0
        for j in range(d):
            left[0, s + l] += system_by_c[b, l, j] * x[border_c[b, j]] + system_by_v[b, l, j] * x[border_v[b, j]]
    for q in range(s + d, columns):
        left[0, q] = x[border_m[border_master[border_masters[b] + q - s - d]]]
    for i in range(first, inertia_first[b + 1]):
        row = border_inner[i]
        if row < 0:
            correction_du[i] = x[border_m[i]]
            continue
        value = system_y[first + row]
        for q in range(columns):
            value -= X[row, q] * left[0, q]
        correction_du[i] = value
