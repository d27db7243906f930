"""Changes of least energy under linear conditions: sparse factors and dense decompositions lead to the same one."""

import numpy as np
import pytest
from scipy import sparse

from flexph.numerics.factors.singular_systems import nearest_change


def conditions(seed):
    """A mass (n, n) in blocks of three, of units that differ, 30 rows of few entries, and rates."""
    random = np.random.default_rng(seed)
    blocks = random.standard_normal((20, 3, 3))
    scales = 10.0 ** random.uniform(-3.0, 3.0, 60)
    mass = sparse.block_diag(list(blocks @ blocks.transpose(0, 2, 1) + 0.1 * np.eye(3)))
    mass = sparse.csr_array(sparse.diags_array(scales) @ mass @ sparse.diags_array(scales))
    rows = random.standard_normal((30, 60)) * (random.random((30, 60)) < 0.15)
    rows[:, :30] += np.eye(30)
    return mass, sparse.csr_array(rows), random.standard_normal(30)


@pytest.mark.processor
@pytest.mark.parametrize("seed", range(3))
def test_dense_decompositions_give_the_same(seed):
    mass, rows, rates = conditions(seed)
    change = nearest_change(mass, rows, rates)
    inverse = np.linalg.inv(mass.toarray())
    expected = inverse @ rows.T @ np.linalg.solve(rows @ inverse @ rows.T, rates)
    assert change is not None
    # the inverse of M, of condition 1e14 where its units differ, is right to 1e-8 in the directions that rows see
    np.testing.assert_allclose(
        np.abs(rows @ change - rates).max(), 0.0, atol=1e-11 * np.abs(rows).max() * abs(change).max()
    )
    energy = [0.5 * own @ mass @ own for own in (change, expected)]
    assert energy[0] == pytest.approx(energy[1], rel=1e-8)


@pytest.mark.processor
@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-9])
def test_rows_that_depend_on_others_are_left_to_dense_decompositions(off):
    mass, rows, rates = conditions(0)
    double = rows[:1] + off * rows[1:2]
    assert nearest_change(mass, sparse.vstack([rows, double]).tocsr(), np.append(rates, rates[0])) is None
    assert nearest_change(mass, sparse.csr_array(np.ones((61, 60))), np.ones(61)) is None
