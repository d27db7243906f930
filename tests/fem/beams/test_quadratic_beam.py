"""The pair of quadratic axial displacements: its axial force, no membrane locking, locality, and reduced bodies."""

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph.bodies import reduce_body
from flexph.numerics.gauss_tableau import gauss_points

pytestmark = pytest.mark.processor

LENGTH, YOUNG, DENSITY, AREA = 1.3, 20.0, 2.5, 0.4
MATERIAL = fem.Material(young=YOUNG, density=DENSITY, poisson=0.3)
SECTION = fem.Section(area=AREA, second_moment=2e-3, second_moment_y=5e-3, torsion_constant=4e-3)
LOCAL = ("compatible", "quadratic", "hermite")
both_dimensions = pytest.mark.parametrize("dim", [2, 3])
both_references = pytest.mark.parametrize("reference", ["simply_supported", "mean_axis"])


def beam(elements=3, pair="quadratic", **options):
    return fem.beam(LENGTH, MATERIAL, SECTION, elements=elements, pair=pair, **options)


def response(body, generalised_force):
    """u of K u = f with K = DᵀC⁻¹D at u = 0, and the stresses."""
    elastic = body.elasticity
    stiffness = elastic.strain.T @ elastic.stiffness_of_stress @ elastic.strain
    u = np.linalg.solve(stiffness.toarray(), generalised_force)
    return u, elastic.stress_of(u)


def points_of(elements):
    return (LENGTH / elements * (np.arange(elements)[:, None] + gauss_points(2)[0])).ravel()


@both_dimensions
@pytest.mark.parametrize("elements", [1, 3])
def test_the_axial_force_of_a_spin_is_exact_at_the_gauss_points(elements, dim):
    """N = ½ρAΩ²(L² − x²) is quadratic, its best line on an element meets it where Legendre's P₂ vanishes.

    The load is ∫ρφ_x X Ω²; the force constant on each element is its mean only.
    """
    spin = 1.7
    body = beam(elements, dim=dim)
    _, sigma = response(body, spin**2 * body.inertia.shape_lever[0, 0])
    exact = 0.5 * DENSITY * AREA * spin**2 * (LENGTH**2 - points_of(elements) ** 2)
    np.testing.assert_allclose(sigma[: 2 * elements], exact, rtol=1e-12)
    np.testing.assert_allclose(sigma[2 * elements :], 0.0, atol=1e-12)


@both_dimensions
@pytest.mark.parametrize("elements", [3])
def test_a_uniform_axial_load(elements, dim):
    """N = p(L − x) at every drawn cell and pL²/2EA at the tip: both fields lie in the spaces."""
    body, p = beam(elements, dim=dim), 0.7
    load = body.loads["load"]
    force = np.outer(load.measures, np.eye(dim)[0]).ravel() * p
    u, sigma = response(body, load.shapes.T @ force)
    x = body.view.points[body.view.cells, 0].mean(axis=1)
    np.testing.assert_allclose(body.view.stresses["axial_force"].cells @ sigma, p * (LENGTH - x), rtol=1e-12)
    moved = (body.view.shape @ u).reshape(-1, dim)[:, 0]
    at = body.view.points[:, 0]
    np.testing.assert_allclose(moved, p * (LENGTH * at - 0.5 * at**2) / (YOUNG * AREA), atol=1e-13)
    assert (body.ports["tip"].shape @ u)[0] == pytest.approx(p * LENGTH**2 / (2.0 * YOUNG * AREA), rel=1e-12)


@both_dimensions
@both_references
def test_von_karman_strain_is_the_best_line_on_each_element(reference, dim):
    """∫ψ(u_x' + ½u_y'² + ½u_z'²) of constants and lines, by an independent quadrature of the drawn displacements.

    Displacements at five points of an element give the polynomials u_x, u_y, u_z of degree 3 at most there.
    """
    elements = 3
    body = beam(elements, dim=dim, strain="von_karman", reference=reference)
    u = np.random.default_rng(2).standard_normal(body.size)
    drawn, h = (body.view.shape @ u).reshape(-1, dim), LENGTH / elements
    strains = body.elasticity.strain_of(u)[: 2 * elements].reshape(elements, 2)
    for e in range(elements):
        x, own = h * np.arange(5) / 4.0, drawn[4 * e : 4 * e + 5].T
        fields = [np.polynomial.Polynomial.fit(x, values, 4).convert() for values in own]
        slope = [f.deriv() for f in fields]
        strain = slope[0] + sum((0.5 * s**2 for s in slope[1:]), start=0.0)
        a, b = h * gauss_points(2)[0]
        for k, line in enumerate(([-b, 1.0], [-a, 1.0])):
            psi = np.polynomial.Polynomial(line) / ([a, b][k] - [b, a][k])
            assert strains[e, k] == pytest.approx((psi * strain).integ()(h) - (psi * strain).integ()(0.0), rel=1e-9)


@both_dimensions
@pytest.mark.parametrize("pair", LOCAL)
def test_membranes_do_not_lock(pair, dim):
    """Any bending, however large, has axial displacements with which it is not stretched at all."""
    elements = 4
    body = beam(elements, pair, dim=dim, strain="von_karman")
    elastic, rng = body.elasticity, np.random.default_rng(3)
    forces = fem.PAIRS[pair].fields(elements)[1].size
    axial = elastic.strain[:forces].toarray()
    moves = np.flatnonzero(np.any(axial != 0.0, axis=0))
    assert (len(moves), np.linalg.matrix_rank(axial)) == (forces, forces)
    u = rng.standard_normal(body.size)
    u[moves] = 0.0
    u[moves] -= np.linalg.solve(axial[:, moves], elastic.strain_of(u)[:forces])
    np.testing.assert_allclose(elastic.stress_of(u)[:forces], 0.0, atol=1e-9 * np.abs(elastic.stress_of(u)).max())


@both_dimensions
@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_stresses_are_local(strain, dim):
    """C of the axial force is diagonal; a row of D(u) moves coordinates of its own element alone."""
    elements = 5
    body = beam(elements, dim=dim, strain=strain)
    elastic, node = body.elasticity, {2: 3, 3: 6}[dim]
    own = np.arange(2 * elements)
    C = sparse.csr_array(elastic.compliance)[own]
    assert C.nnz == own.size
    np.testing.assert_allclose(C.diagonal(), 0.5 * LENGTH / elements / (YOUNG * AREA), rtol=1e-14)
    _, blocks = sparse.csgraph.connected_components(elastic.compliance, directed=False)
    assert np.bincount(blocks).max() == 2  # the moments of an element
    D = sparse.coo_array(elastic.operator(np.random.default_rng(0).standard_normal(body.size)))
    inside = node * elements  # a cantilever: the nodes without the root, then the middles
    row, column = D.row[np.isin(D.row, own)] // 2, D.col[np.isin(D.row, own)]
    element = np.where(column < inside, column // node, column - inside)
    assert np.all((element == row) | ((column < inside) & (element == row - 1)))
    assert body.size == (node + 1) * elements


@pytest.mark.parametrize("dim", [2])
def test_reduced_bodies_are_as_small_as_with_linear_axial_displacements(dim):
    """As many coordinates and stresses, while the force of a spin, kept by the inertia vectors, is that of the beam."""
    options = {"modes": 2, "derivatives": 1, "inertia": True}
    quadratic, linear = (
        reduce_body(beam(4, pair, dim=dim, strain="von_karman"), **options) for pair in ("quadratic", "compatible")
    )
    assert (quadratic.size, quadratic.stress_size) == (linear.size, linear.stress_size)
    full = beam(4, dim=dim, strain="von_karman")
    force = full.inertia.shape_lever[0, 0]
    _, sigma = response(quadratic, quadratic.inertia.shape_lever[0, 0])
    _, exact = response(full, force)
    cells = full.view.stresses["axial_force"].cells
    np.testing.assert_allclose(quadratic.view.stresses["axial_force"].cells @ sigma, cells @ exact, rtol=1e-8)
