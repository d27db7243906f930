"""Sparse matrices of blocks, beside those of SciPy."""

import numpy as np
import pytest
from scipy import sparse

from flexph.numerics.arrays import sparse_block_diag, sparse_blocks

SHAPES = [(3, 4), (0, 2), (5, 0), (1, 1), (6, 6)]


@pytest.fixture
def blocks():
    rng = np.random.default_rng(7)
    lean = [sparse.random_array(shape, density=0.5, rng=rng, format="csr") for shape in SHAPES]
    return [*lean, rng.normal(size=(2, 3)), sparse.coo_array(rng.normal(size=(2, 2)))]


def test_the_block_diagonal_matrix(blocks):
    ours, theirs = sparse_block_diag(blocks), sparse.block_diag(blocks).tocsr()
    assert ours.format == "csr"
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize("shapes", [[], [(0, 0)], [(0, 3), (0, 1)], [(2, 0)]])
def test_block_diagonal_matrices_without_entries(shapes):
    matrix = sparse_block_diag(np.zeros(shape) for shape in shapes)
    assert matrix.shape == tuple(sum(lengths) for lengths in zip((0, 0), *shapes, strict=True))
    assert matrix.nnz == 0


def test_blocks_at_their_places_are_summed(blocks):
    places = [(2 * k, k) for k in range(len(blocks))]
    expected = np.zeros((20, 14))
    for (row, column), block in zip(places, blocks, strict=True):
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        expected[row : row + dense.shape[0], column : column + dense.shape[1]] += dense
    ours = sparse_blocks((20, 14), [(*place, block) for place, block in zip(places, blocks, strict=True)])
    np.testing.assert_allclose(ours.toarray(), expected, rtol=0.0, atol=1e-15)
    assert sparse_blocks((3, 2), []).shape == (3, 2)
