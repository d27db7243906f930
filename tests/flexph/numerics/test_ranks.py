"""Ranks and subspaces that units of rows and columns do not change."""

import numpy as np
import pytest

from flexph.numerics.ranks import equilibrated, rank_of, subspaces

pytestmark = pytest.mark.processor

SEEDS = range(6)


def product(rng, m, n, rank):
    """A matrix of a rank, as a product of two of full rank."""
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))


def units(rng, n):
    """Factors of units from pico to tera."""
    return 10.0 ** rng.uniform(-12.0, 12.0, n)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("m", "n", "rank"), [(7, 7, 7), (7, 7, 4), (9, 5, 3), (4, 8, 4), (6, 6, 0)])
def test_a_rank_does_not_depend_on_units(m, n, rank, seed):
    rng = np.random.default_rng(seed)
    matrix = product(rng, m, n, rank)
    assert rank_of(matrix) == rank
    assert rank_of(units(rng, m)[:, None] * matrix * units(rng, n)) == rank


@pytest.mark.parametrize("seed", SEEDS)
def test_equilibrated_rows_and_columns_are_about_as_long(seed):
    rng = np.random.default_rng(seed)
    matrix = units(rng, 8)[:, None] * rng.standard_normal((8, 8)) * units(rng, 8)
    A, r, c = equilibrated(matrix)
    np.testing.assert_allclose(r[:, None] * A * c, matrix, rtol=1e-14)
    for axis in (0, 1):  # within the factor at which the passes end
        lengths = np.linalg.norm(A, axis=axis)
        assert lengths.max() < 2.1 * lengths.min()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_definite_matrix_with_a_bad_condition_is_regular(seed):
    """A Hilbert matrix of seven rows has a condition of 5e8, as inertia matrices of fine beams have."""
    rng = np.random.default_rng(seed)
    hilbert = 1.0 / (1.0 + np.add.outer(np.arange(7.0), np.arange(7.0)))
    size = units(rng, 7)
    assert rank_of(size[:, None] * hilbert * size) == 7


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_subspaces_split_the_matrix(seed):
    rng = np.random.default_rng(seed)
    matrix = np.zeros((9, 10))
    matrix[:3, 5:9] = product(rng, 3, 4, 2)  # blocks that share no entry; a zero row and a zero column remain
    matrix[3:7, :4] = 1e-14 * product(rng, 4, 4, 3)
    matrix[7, 4] = 1e9
    found = subspaces(matrix)
    assert rank_of(matrix) == 6
    assert [part.shape[1] for part in (found.range, found.left_null, found.rows, found.null)] == [6, 3, 6, 4]
    for basis in (np.hstack([found.range, found.left_null]), np.hstack([found.rows, found.null])):
        np.testing.assert_allclose(basis.T @ basis, np.eye(len(basis)), atol=1e-14)
    lost = 1e-13  # round-off over the lengths that random blocks have along their shortest directions
    terms = np.abs(matrix) @ np.abs(found.null)
    assert np.all(np.abs(matrix @ found.null) <= lost * terms)
    terms = np.abs(found.left_null.T) @ np.abs(matrix)
    assert np.all(np.abs(found.left_null.T @ matrix) <= lost * terms)
    inner = found.range.T @ matrix @ found.rows
    terms = np.abs(found.range) @ np.abs(inner) @ np.abs(found.rows.T)
    assert np.all(np.abs(found.range @ inner @ found.rows.T - matrix) <= lost * terms)


def test_blocks_of_full_rank_are_not_mixed():
    found = subspaces(np.diag([3.0, 0.0, 1e-20, 1e20]))
    np.testing.assert_array_equal(found.rows, np.eye(4)[:, [0, 2, 3]])
    np.testing.assert_array_equal(found.left_null, np.eye(4)[:, [1]])


def test_matrices_without_rows_or_columns():
    assert rank_of(np.zeros((3, 0))) == rank_of(np.zeros((0, 3))) == rank_of(np.zeros((2, 2))) == 0
    found = subspaces(np.zeros((0, 3)))
    np.testing.assert_array_equal(found.null, np.eye(3))
    assert found.range.shape == (0, 0)
