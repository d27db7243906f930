"""Wedges and pyramids in runs, pictures and files: balance at any step, and shapes that join those of neighbours."""

import meshio
import numpy as np
import pytest
from solid_meshes import PRISMS, box

import fem
from fem.meshes.cells import CELLS
from flexph import GROUND, connect, eigenfrequencies, integrate, weld
from flexph.bodies import linear_body
from flexph.export import read_series, write_series
from flexph.meshes.cell_types import FACETS, facet_nodes

SOFT = fem.Material(young=1e5, density=1000.0, poisson=0.3)
STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
BAR = (0.2, 0.05, 0.05)


def at_root(x):
    return x[0] < 1e-9


@pytest.mark.parametrize("kind", PRISMS)
def test_shapes_are_those_of_the_facet(kind):
    """On each facet the nodes of the others have none: cells of any kind on both sides move alike there."""
    cell, rng = CELLS[kind], np.random.default_rng(0)
    for side in range(len(FACETS[cell.shape])):
        name, local = facet_nodes(kind, side)
        facet = CELLS[name]
        at = rng.dirichlet(np.ones(3), 5)[:, :2].T  # within the triangle, and within the square
        shares, _ = CELLS[facet.shape].shapes(at)
        places = shares.T @ cell.positions[local[: facet.corners]]
        values, _ = cell.shapes(places.T)
        np.testing.assert_allclose(values[local], facet.shapes(at)[0], atol=1e-13)
        others = np.setdiff1d(np.arange(len(cell.nodes)), local)
        np.testing.assert_allclose(values[others], 0.0, atol=1e-13)


@pytest.mark.parametrize("kind", PRISMS)
def test_all_polynomials_of_the_degree_are_there(kind):
    """Values and gradients of a polynomial of the degree of the cell, from its values at the nodes."""
    cell, rng = CELLS[kind], np.random.default_rng(1)
    A, b = rng.standard_normal((3, 3)), rng.standard_normal(3)
    A = A + A.T if cell.degree == 2 else np.zeros((3, 3))
    points, _ = cell.quadrature(cell.stress)
    values, slopes = cell.shapes(points)
    at_nodes = np.einsum("ni,ij,nj->n", cell.positions, A, cell.positions) + cell.positions @ b
    np.testing.assert_allclose(at_nodes @ values, np.einsum("iq,ij,jq->q", points, A, points) + b @ points, atol=1e-13)
    np.testing.assert_allclose(np.einsum("n,niq->iq", at_nodes, slopes), 2.0 * A @ points + b[:, None], atol=1e-13)


@pytest.mark.parametrize("strain", ["linear", "finite"])
@pytest.mark.parametrize("kind", PRISMS)
def test_energy_is_balanced(kind, strain, tmp_path):
    mesh = box(kind, (2, 1, 1), BAR)
    body = fem.solid(
        mesh, SOFT, ports={"root": "left"}, strain=strain, **({"reference": "root"} if strain == "linear" else {})
    )
    mechanism = connect({"bar": body}, [weld("bar.root", GROUND)], gravity=(0.0, 0.0, -9.81))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.arange(4) * 0.01)
    assert np.abs(run.ledger.residual).max() <= 1e-10 * body.mass * 9.81 * BAR[1]  # round-off of steps that converge
    write_series(tmp_path / "run.vtkhdf", run)
    drawn = kind if kind in ("wedge", "pyramid") else "tetra"  # meshio has no blocks of the others
    assert read_series(tmp_path / "run.vtkhdf").cells[0][0] == drawn


def test_wedges_bend_like_hexahedra():
    """A cantilever by wedges and by pyramids of degree 2 has the frequencies of one by hexahedra."""
    found = {}
    for kind in ("hexahedron20", "wedge15", "pyramid13"):
        bar = fem.solid(box(kind, (3, 1, 1), BAR), STEEL, ports={"root": "left"}, reference="root")
        found[kind] = eigenfrequencies(linear_body(bar, "bar"), 4)
    np.testing.assert_allclose(found["wedge15"], found["hexahedron20"], rtol=0.02)  # the error of such cells
    np.testing.assert_allclose(found["pyramid13"], found["hexahedron20"], rtol=0.02)


def test_degree_two_of_first_order_cells():
    """New nodes of wedges and pyramids are those of their kinds of degree 2."""
    for kind in ("wedge", "pyramid"):
        mesh, fine = box(kind, (1, 1, 1), BAR), box({"wedge": "wedge15", "pyramid": "pyramid13"}[kind], (1, 1, 1), BAR)
        bodies = [fem.solid(m, STEEL, degree=2, ports={"root": at_root}, reference="root") for m in (mesh, fine)]
        np.testing.assert_allclose(*(eigenfrequencies(linear_body(b, "b"), 3) for b in bodies), rtol=1e-9)


def test_cells_that_meshio_cannot_make_are_named(tmp_path):
    """meshio writes them, and then has no block of them."""
    fine = box("wedge15", (1, 1, 1), BAR)
    fine.point_sets = {}
    meshio.write(tmp_path / "bar.vtk", fine)
    with pytest.raises(ValueError, match=r"meshio does not read cells of type wedge15: give them as \.inp"):
        fem.solid(tmp_path / "bar.vtk", STEEL)
