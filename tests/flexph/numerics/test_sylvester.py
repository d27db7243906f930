"""Inertia against eigenvalues."""

import numpy as np
import pytest
from scipy import sparse

from flexph.numerics.factors import positive_definite as positive
from flexph.numerics.factors.signature import inertia

pytestmark = pytest.mark.processor


def indefinite(seed, n=120):
    draw = sparse.random_array((n, n), density=0.04, rng=np.random.default_rng(seed))
    return sparse.csr_array(draw + draw.T + sparse.diags_array(np.random.default_rng(seed).uniform(-1.0, 1.0, n)))


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("seed", range(5))
def test_inertia_is_the_number_of_negative_eigenvalues(form, seed):
    """And the defect of the factor is small on the eigenvectors, as far as growth in elimination lets it be."""
    matrix = indefinite(seed)
    values, vectors = np.linalg.eigh(matrix.toarray())
    counted = inertia(matrix if form == "sparse" else matrix.toarray(), vectors)
    assert counted.negative == np.sum(values < 0.0)
    assert np.linalg.norm(counted.defect, 2) < 0.1 * np.abs(values).min()


@pytest.mark.skipif(not positive.PARDISO, reason="needs the extra pardiso")
def test_pardiso_counts_negative_eigenvalues(monkeypatch):
    monkeypatch.setattr(positive, "FEW", 10)
    matrix = indefinite(0)
    assert inertia(matrix, np.eye(120)).negative == np.sum(np.linalg.eigvalsh(matrix.toarray()) < 0.0)


def test_the_defect_shows_a_factor_that_is_off():
    """A tiny pivot in an indefinite matrix: nothing is left of the entries beside it."""
    matrix = sparse.csr_array(np.array([[1e-17, 1.0, 0.0], [1.0, 1e-3, 1e-3], [0.0, 1e-3, 1.0]]))
    assert np.abs(inertia(matrix, np.eye(3)).defect).max() > 1e-4


def test_a_pivot_of_zero_is_refused():
    matrix = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ArithmeticError, match="cannot be counted"):
        inertia(matrix, np.eye(2))
    assert inertia(matrix.toarray(), np.eye(2)).negative == 1
