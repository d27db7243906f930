"""Parts of a solid: every cell on one rank, every coordinate owned once, and sums that are those of the whole."""

import numpy as np
import pytest
from scipy import sparse

import fem
from fem.distributed.partition import bisected, cut
from fem.meshes.reading import solid_mesh
from fem.solids.elasticity import nodal_stiffness
from fem.solids.model import solid_model
from fem.solids.ties import tied

STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)


def test_halves_are_as_large_as_each_other_and_hang_together():
    centres = np.random.default_rng(0).random((1001, 3)) * [4.0, 1.0, 1.0]
    for count in (1, 2, 3, 5):
        sizes = np.bincount(bisected(centres, count))
        assert len(sizes) == count and np.ptp(sizes) <= 2
    halves = bisected(centres, 2)
    assert centres[halves == 0, 0].max() <= centres[halves == 1, 0].min()


@pytest.mark.parametrize("simplices", [False, True])
def test_parts_sum_to_the_whole(simplices):
    mesh = solid_mesh(fem.box_mesh((0.4, 0.1, 0.1), (4, 2, 2), simplices=simplices), plane=False, degree=2)
    model = solid_model(mesh, STEEL, plane=None, thickness=None)
    basis, _ = tied(model, {"root": "left", "tip": "right"})
    partition = cut(model, basis, 3)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([p.cells for p in partition.parts])), np.arange(mesh.starts[-1])
    )
    np.testing.assert_array_equal(np.sort(partition.order), np.arange(basis.shape[1]))
    size = basis.shape[1]
    stiffness, mass = sparse.csr_array((size, size)), 0.0
    for part in partition.parts:
        own = sparse.csr_array((np.ones(len(part.coordinates)), (part.coordinates, np.arange(len(part.coordinates)))),
                               shape=(size, len(part.coordinates)))  # fmt: skip
        stiffness = stiffness + own @ (part.shapes.T @ nodal_stiffness(part.model) @ part.shapes) @ own.T
        mass += part.model.mass.sum()
    whole = (basis.T @ nodal_stiffness(model) @ basis).tocsr()[partition.order][:, partition.order]
    assert abs(stiffness - whole).max() < 1e-12 * abs(whole).max()  # sums in another order
    assert mass == pytest.approx(model.mass.sum(), rel=1e-13)
    rows = np.random.default_rng(1).random((size, 2))
    np.testing.assert_array_equal(partition.joined(partition.split(rows)), rows)
    nodes = partition.order.reshape(-1, 3)  # the three coordinates of a node stay together on one rank
    assert np.all(nodes[:, 0] % 3 == 0) and np.all(np.diff(nodes, axis=1) == 1) and not np.any(partition.starts % 3)
