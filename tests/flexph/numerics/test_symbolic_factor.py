"""Symbolic factorisation against elimination of the dense pattern."""

import numpy as np
import pytest
from scipy import sparse

from flexph.numerics.factors.symmetric_factor import column_counts, minimum_degree_order

pytestmark = pytest.mark.processor


def eliminated(pattern):
    """Entries of each column of the factor, fill included."""
    filled, counts = pattern.copy(), []
    for k in range(len(filled)):
        below = k + 1 + np.flatnonzero(filled[k + 1 :, k])
        filled[np.ix_(below, below)] = True
        counts.append(1 + len(below))
    return counts


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alike", [1, 3])
def test_column_counts_are_those_of_the_factor(seed, alike):
    """In a random order: of rows of one pattern, as those of a node are, as if they followed one another."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    graph = sparse.random_array((n, n), density=0.08, rng=rng)
    nodes = sparse.csr_array(abs(graph + graph.T) + sparse.eye_array(n))
    matrix = sparse.csr_array(sparse.kron(nodes, np.ones((alike, alike))))
    order = (alike * rng.permutation(n)[:, None] + np.arange(alike)).ravel()
    want = eliminated(matrix.toarray()[np.ix_(order, order)] > 0.0)
    np.testing.assert_array_equal(column_counts(matrix, order), want)
    best = minimum_degree_order(matrix)
    np.testing.assert_array_equal(np.sort(best), np.arange(n * alike))
    assert column_counts(matrix, best).sum() == sum(eliminated(matrix.toarray()[np.ix_(best, best)] > 0.0))


def test_zeros_on_the_diagonal_are_ordered():
    """Entries that are not stored: the order is one of the pattern, the diagonal included."""
    matrix = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    order = minimum_degree_order(matrix)
    assert sorted(order) == [0, 1, 2] and column_counts(matrix, order).sum() == 5


def test_an_arrow_is_eliminated_from_its_shaft():
    """Its dense rows last: no fill."""
    n = 3000
    dense = sparse.random_array((2, n), density=0.9, rng=np.random.default_rng(0))
    matrix = sparse.block_array([[sparse.eye_array(2), dense], [dense.T, sparse.eye_array(n)]]).tocsr()
    order = minimum_degree_order(matrix)
    assert set(order[-2:]) == {0, 1}
    assert column_counts(matrix, order).sum() <= 3 * (n + 2)
