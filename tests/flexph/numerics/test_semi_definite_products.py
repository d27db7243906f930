"""Semi-definite products: rows of round-off are measured by the terms they sum, wherever a system is projected."""

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import PHDAE, LinearPHDAE, eliminate, reduce
from flexph.linear import standard_form
from flexph.linear.reduction.bases import rigid_motions
from flexph.linear.shifted import Shifted
from flexph.numerics.factors.ldl import semi_definite_product
from flexph.systems import transform

pytestmark = pytest.mark.processor

STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)
FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}


def free_beam(elements, stiffness=1e-5):
    """A free beam whose rigid motions nothing damps, R = βDᵀC⁻¹D."""
    section = fem.Section(width=0.02, height=0.01)
    return fem.bending(1.0, STEEL, section, elements=elements, damping=fem.Damping(stiffness=stiffness))


def rank_deficient(seed, n=9, kernel=2):
    """V = FᵀF with rows of sizes from 1e-6 to 1e6, and vectors of its kernel."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-6.0, 6.0, n)
    root = rng.standard_normal((n - kernel, n))
    null = np.linalg.svd(root)[2][n - kernel :].T
    return (root.T @ root) * np.outer(units, units), null / units[:, None], rng


@pytest.mark.parametrize("seed", range(20))
def test_columns_in_the_kernel_give_zero_rows(seed):
    """The others give the product, and no sum of rows has a negative value in any units of the columns."""
    V, null, rng = rank_deficient(seed)
    others = rng.standard_normal((9, 3)) / np.sqrt(V.diagonal())[:, None]
    units = 2.0 ** rng.integers(-30, 30, 5)
    T = np.hstack([null, others]) * units
    made = semi_definite_product("V", V, T)
    np.testing.assert_array_equal(made[:2], 0.0)
    np.testing.assert_array_equal(made[:, :2], 0.0)
    expected = others.T @ V @ others * np.outer(units[2:], units[2:])
    sizes = np.sqrt(expected.diagonal())
    np.testing.assert_allclose(made[2:, 2:] / np.outer(sizes, sizes), expected / np.outer(sizes, sizes), atol=1e-13)
    LinearPHDAE(E=np.eye(5), J=np.zeros((5, 5)), R=made)  # the check at the door


@pytest.mark.parametrize("seed", range(20))
def test_combinations_in_the_kernel_are_no_obstacle(seed):
    """Columns that only together lie in the kernel of V, beside a part that is small: semi-definite in any units."""
    V, null, rng = rank_deficient(seed)
    small = 10.0 ** rng.uniform(-8.0, 0.0)
    T = np.hstack([null + small * rng.standard_normal((9, 1)) / np.sqrt(V.diagonal())[:, None], null])
    T = T @ rng.standard_normal((4, 4))
    LinearPHDAE(E=np.eye(4), J=np.zeros((4, 4)), R=semi_definite_product("V", V, T))


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_that_is_not_semi_definite_is_refused(form):
    V = FORMS[form](np.diag([1.0, -1e-3]))
    with pytest.raises(ValueError, match=r"R must be positive semi-definite: .* of its terms"):
        semi_definite_product("R", V, FORMS[form](np.eye(2)))


@pytest.mark.filterwarnings("ignore::flexph.linear.ReductionWarning")
@pytest.mark.parametrize("elements, order", [(4, 6), (4, 7), (32, 4), (128, 6)])
def test_stiffness_does_not_damp_rigid_motions_of_a_reduced_beam(elements, order):
    reduced = reduce(free_beam(elements), order, band=(10.0, 1000.0))
    velocities = np.flatnonzero(reduced.kinetic)
    np.testing.assert_array_equal(reduced.R[velocities[:2]], 0.0)
    assert np.linalg.matrix_rank(reduced.R) == velocities.size - 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("elements", [1, 20])
def test_a_beam_made_rigid_by_constraints_is_not_damped(form, elements):
    """0 = D v leaves the rigid motions, which R = βDᵀC⁻¹D does not damp."""
    beam = free_beam(elements)
    strains = beam.J[np.flatnonzero(~beam.kinetic)]
    rigid = LinearPHDAE(*(FORMS[form](a.toarray()) for a in (beam.E, beam.J, beam.R, beam.B, strains)))
    free = eliminate(rigid)
    moving = abs(free.lift[np.flatnonzero(beam.kinetic)]).sum(axis=0) > 0.0
    assert moving.sum() == 2
    loss = free.R.toarray() if free.is_sparse else free.R
    assert not loss.any()


@pytest.mark.parametrize("seed", range(20))
def test_a_rigid_motion_stays_undamped_in_standard_form(seed):
    """Of two masses and a damper between them; the second coordinate of E = L Lᵀ is their common velocity."""
    a, b, r = np.random.default_rng(seed).uniform(0.1, 10.0, 3)
    E = np.array([[a, -a], [-a, a + b]])
    R = r * np.array([[1.0, -1.0], [-1.0, 1.0]])
    made = standard_form(LinearPHDAE(E=E, J=np.zeros((2, 2)), R=R), coordinates="scaled")
    np.testing.assert_allclose(made.R, np.diag([r / a, 0.0]), atol=0.0, rtol=1e-13)


def test_a_rigid_motion_stays_undamped_in_other_coordinates():
    beam = free_beam(4)
    rigid = rigid_motions(Shifted(beam)).toarray()
    n, frame = beam.size, np.eye(beam.size)
    frame[: len(rigid), :2] = rigid
    E, J, R = (a.toarray() for a in (beam.E, beam.J, beam.R))
    one = PHDAE(E=E, J=J, R=R, B=np.zeros((n, 0)), z=lambda x: x, H=lambda x: 0.5 * x @ E @ x, sample=np.ones(n))
    other = transform(one, lambda x: frame @ x, jacobian=frame, frame=frame, sample=np.ones(n))
    loss = other.R(np.zeros(n))
    np.testing.assert_array_equal(loss[:2], 0.0)
    np.testing.assert_allclose(loss[2:, 2:], R[2:, 2:], atol=1e-12 * np.abs(R).max())
