"""Loops over small and banded matrices, against NumPy."""

import numpy as np
import pytest
from uncompiled import uncompiled

from flexph.integration.loops.memory.constants import kinds
from flexph.numerics.loops import views
from flexph.numerics.loops.views import stored


def of_algebra(name, file="band"):
    """A function that only other loops call, from its source."""
    return getattr(uncompiled(f"flexph.numerics.algebra.{file}"), name)


def test_what_is_perpendicular_to_dependent_columns():
    """Of a matrix of rank 5 up to a part of 1e-9; with a part at the limit itself nothing is decided."""
    perpendicular, rng = of_algebra("perpendicular", "dense"), np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (8, 11))
    for weak, expected in ((0.0, 3), (1e-9, 3), (1e-3, 2), (1e-6, -1)):
        values = np.array([3.0, 2.0, 1.0, 0.5, 0.1, 3.0 * weak, 0.0, 0.0])
        A, out = (left * values) @ right[:8], np.zeros((8, 8))
        count = perpendicular(A.copy(), 1e-6, np.zeros(8), np.zeros(11), out)
        assert count == expected
        if count > 0:
            np.testing.assert_allclose(out[:count] @ out[:count].T, np.eye(count), atol=1e-14)
            np.testing.assert_allclose(out[:count] @ A, 0.0, atol=max(3.0 * weak if weak < 1e-6 else 0.0, 1e-14))


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("size, width", [(1, 0), (7, 2), (30, 5), (12, 11)])
def test_the_banded_solver_is_that_of_numpy(size, width, kind):
    factor, solve, solve_many = (of_algebra(name) for name in ("factor", "solve", "solve_many"))

    rng = np.random.default_rng(size)
    numbers = lambda *shape: rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind is complex else 0.0)  # noqa: E731
    dense = np.triu(np.tril(numbers(size, size), width), -width)
    dense[np.arange(size), np.arange(size)] *= 0.1  # rows have to be exchanged
    banded = np.zeros((size, stored(width)), dtype=kind)
    for i in range(size):
        for j in range(max(0, i - width), min(size, i + width + 1)):
            banded[i, j - i + width] = dense[i, j]
    pivot, right = np.zeros(size, dtype=np.int64), numbers(size, 4)
    one, many = right[:, 0].copy(), right.copy()
    assert factor(banded, pivot, width)
    solve(banded, pivot, width, one)
    solve_many(banded, pivot, width, many)
    exact = np.linalg.solve(dense, right)
    bound = 1e-14 * np.linalg.cond(dense)
    assert np.abs(many - exact).max() <= bound * np.abs(exact).max()
    assert np.abs(one - exact[:, 0]).max() <= bound * np.abs(exact).max()


@pytest.mark.parametrize("size, width", [(30, 5), (31, 5), (9, 2), (5, 1), (64, 16)])
def test_a_matrix_factored_from_both_ends_is_that_of_numpy(size, width):
    """Rows of both halves are exchanged; what is in the work space before does not matter."""
    factor, solve, add_entry = (of_algebra(n, "halves") for n in ("factor_halves", "solve_halves", "add_entry"))
    rng = np.random.default_rng(size)
    dense = np.triu(np.tril(rng.standard_normal((size, size)), width), -width)
    banded, pivot = np.zeros((size + width, stored(width))), np.zeros(size + width, dtype=np.int64)
    for i, j in zip(*dense.nonzero(), strict=True):
        add_entry(banded, size, width, int(i), int(j), dense[i, j])
    right = rng.standard_normal(size)
    x, other = right.copy(), np.full(size, np.nan)
    assert factor(banded, pivot, width, x, other, 2)
    solve(banded, pivot, width, x, other, 2)
    exact = np.linalg.solve(dense, right)
    halves = (dense[: (size - width) // 2, : (size - width) // 2], dense[(size + width) // 2 :, (size + width) // 2 :])
    worst = max(np.linalg.cond(matrix) for matrix in (dense, *halves))  # each half is inverted on its own
    assert np.abs(x - exact).max() <= 1e-14 * worst * np.abs(exact).max()


@pytest.mark.parametrize("unknown", [2, 15, 28])  # in the first half, in the middle, in the second half
def test_a_singular_matrix_is_not_factored_from_both_ends(unknown):
    size, width = 30, 5
    factor, add_entry = (of_algebra(name, "halves") for name in ("factor_halves", "add_entry"))
    banded, pivot = np.zeros((size + width, stored(width))), np.zeros(size + width, dtype=np.int64)
    for i in range(size):
        if i != unknown:
            add_entry(banded, size, width, i, i, 1.0)
    assert not factor(banded, pivot, width, np.zeros(size), np.zeros(size), 1)


def test_a_dominant_diagonal_is_the_pivot():
    """Rows are exchanged only where they have to be: exchanges double the width."""
    factor, least = (of_algebra(name) for name in ("factor", "LEAST"))

    banded = np.zeros((2, stored(1)))
    banded[:, 1], banded[0, 2] = 1.0, 0.5
    for below, expected in ((0.9 / least, 0), (1.1 / least, 1)):
        given, pivot = banded.copy(), np.zeros(2, dtype=np.int64)
        given[1, 0] = below
        assert factor(given, pivot, 1)
        assert pivot[0] == expected


def test_a_singular_matrix_is_not_factored():
    factor = of_algebra("factor")
    assert not factor(np.zeros((3, stored(1))), np.zeros(3, dtype=np.int64), 1)


@pytest.mark.parametrize("dim", [2, 3])
def test_sums_over_lanes_are_those_of_numpy(dim):
    """Sums over a few numbers at a time, against NumPy; what lies beyond the last lane is left alone."""

    rng, width = np.random.default_rng(0), kinds(dim)
    C = rng.standard_normal((5, 8))
    A, B, x, col = (
        rng.standard_normal(16),
        rng.standard_normal(16),
        rng.standard_normal(6),
        np.array([0, 1, 5, 2, 4, 3]),
    )
    mean, form = rng.standard_normal((3, dim)), rng.standard_normal((dim, width))
    val, out = rng.standard_normal((6, width)), np.zeros((3, width))
    taken, mixed = A.copy(), B.copy()
    taken[1:9] -= 0.5 * B[3:11]
    mixed[8:12] = 2.0 * taken[8:12] - B[8:12]
    rows = C.copy()
    rows[4, :4] -= C[4, 4:] @ C[:4, 1:5]
    views.subtract(A, 1, B, 3, 0.5, 5)
    views.mix(B, 8, 2.0, A, -1.0, B, 4)
    views.subtract_rows(C, 32, 36, 1, 8, 3)
    views.combine(dim, out, 1, mean, form, val, 2, 5, -1, x, col)
    np.testing.assert_allclose(A, taken, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(B, mixed, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(C, rows, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(out[1], mean[1] @ form + x[col[2:5]] @ val[1:4], rtol=1e-14, atol=1e-14)
    assert not out[[0, 2]].any()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 70])
def test_the_full_solver_in_blocks(size):
    """By blocks of 32 rows: against LAPACK, and factors to the bits of an elimination column by column."""
    factor, solve, solve_many = (of_algebra(name, "dense") for name in ("factor", "solve", "solve_many"))
    rng = np.random.default_rng(size)
    matrix, right = rng.standard_normal((size, size)), rng.standard_normal((size, 5))
    A, pivot, X = matrix.copy(), np.zeros(size, dtype=np.int64), right.copy()
    factor(A, pivot)
    single = matrix.copy()
    for k in range(size):
        single[[k, pivot[k]]] = single[[pivot[k], k]]
        single[k + 1 :, k] *= 1.0 / single[k, k]
        single[k + 1 :, k + 1 :] -= single[k + 1 :, k, None] * single[k, k + 1 :]
    np.testing.assert_array_equal(A, single)
    solve_many(A, pivot, X)
    one = right[:, 0].copy()
    solve(A, pivot, one)
    bound = 1e-14 * np.linalg.cond(matrix) * np.abs(np.linalg.solve(matrix, right)).max()
    np.testing.assert_allclose(X, np.linalg.solve(matrix, right), rtol=0.0, atol=bound)
    np.testing.assert_allclose(one, X[:, 0], rtol=0.0, atol=bound)


def test_products_with_parts_of_matrices():
    multiply, add_rows = (of_algebra(name, "dense") for name in ("multiply", "add_rows"))
    rng = np.random.default_rng(5)
    A, B, out = rng.standard_normal((6, 9)), rng.standard_normal((7, 13)), np.full((6, 14), 2.0)
    multiply(A, 2, B, out)
    np.testing.assert_allclose(out[:, :13], A[:, 2:] @ B, rtol=0.0, atol=1e-14)
    assert (out[:, 13] == 2.0).all()
    sums = np.zeros((4, 13))
    add_rows(np.array([10, 13]), 10, np.array([0.5, -2.0]), B, 3, sums)
    np.testing.assert_array_equal(sums, np.array([0.5, 0.0, 0.0, -2.0])[:, None] * B[3])
