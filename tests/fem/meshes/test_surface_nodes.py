"""Ports and faces of surfaces of meshes: they cover the surface, whatever the cells are."""

import numpy as np
import pytest
import skfem

import fem
from fem.meshes.reading import solid_mesh
from flexph.contacts import Skin

BOX = fem.box_mesh((0.3, 0.2, 0.1), (3, 2, 1))
SLANTED = fem.box_mesh((0.3, 0.2, 0.1), (3, 2, 1), simplices=True)
MESHES = {
    "hexahedra": (BOX, 12, 12),
    "tetrahedra": (SLANTED, 12, 12),
    "hexahedra of degree 2": (skfem.MeshHex2.from_mesh(BOX), 35, 48),
    "tetrahedra of degree 2": (skfem.MeshTet2.from_mesh(SLANTED), 35, 48),
}


@pytest.mark.parametrize(("mesh", "ports", "faces"), MESHES.values(), ids=MESHES)
def test_faces_cover_the_surface(mesh, ports, faces):
    top = fem.surface_ports(mesh, lambda x: x[2] > 0.1 - 1e-9, name="top")
    own = solid_mesh(mesh, plane=False, degree=None)
    numbers = [number for (number,) in top.ports.values()]
    points = own.points[np.searchsorted(own.numbers, numbers)]
    a, b, c = points[np.array(top.cells)].transpose(1, 0, 2)
    normals = 0.5 * np.cross(b - a, c - a)
    assert (len(top.ports), len(top.cells)) == (ports, faces)
    np.testing.assert_allclose(np.abs(normals).sum(axis=0), (0.0, 0.0, 0.06), atol=1e-15)
    np.testing.assert_allclose(np.abs(normals.sum(axis=0)), (0.0, 0.0, 0.06), atol=1e-15)  # all of one sense
    assert len(Skin(top.of("block"), top.cells).ports) == ports
    body = fem.solid(mesh, fem.Material(young=1e6, density=1e3, poisson=0.3), ports=top.ports)
    np.testing.assert_allclose([body.ports[name].position for name in top.ports], points, atol=1e-15)


def test_segments_of_a_plane_body():
    side = fem.surface_ports(fem.box_mesh((0.3, 0.1), (3, 1)), "back", plane=True)
    assert len(side.ports) == 4 and sorted(map(sorted, side.cells)) == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("mesh", "surface", "message"),
    [
        (BOX, "lid", "no region 'lid'"),
        (BOX, [0, 1], "must have facets"),
        ("part.step", "top", "must have node numbers"),
    ],
)
def test_bad_surfaces_are_refused(mesh, surface, message):
    with pytest.raises(ValueError, match=message):
        fem.surface_ports(mesh, surface)
