"""Plane cells of two senses are turned; cells of unknown kinds are named with their place."""

import meshio
import numpy as np
import pytest
from solid_meshes import box

import fem
import rigid
from fem.mesh_report import mesh_report
from flexph import eigenfrequencies
from flexph.bodies import linear_body

STEEL = fem.Material(young=2e11, density=7850.0, poisson=0.3)


SLOW = ("quad", "triangle6", "quad8")


def mixed(kind):
    """A plane mesh in which every second cell is numbered the other way, and the mesh as it was."""
    mesh = box(kind, (2, 2), (2.0, 1.0))
    turn = {"triangle": [0, 2, 1], "quad": [0, 3, 2, 1], "triangle6": [0, 2, 1, 5, 4, 3]}
    turn["quad8"], turn["quad9"] = [0, 3, 2, 1, 7, 6, 5, 4], [0, 3, 2, 1, 7, 6, 5, 4, 8]
    other = meshio.Mesh(mesh.points, [(b.type, b.data.copy()) for b in mesh.cells], cell_sets=mesh.cell_sets)
    other.cells[0].data[::2] = other.cells[0].data[::2][:, turn[kind]]
    return mesh, other


@pytest.mark.parametrize("kind", ["triangle", "quad9", *(pytest.param(k, marks=pytest.mark.slow) for k in SLOW)])
def test_plane_cells_of_two_senses(kind, tmp_path):
    """The matrices of a mesh do not depend on how its cells are numbered; through files, too."""
    mesh, other = mixed(kind)
    assert mesh_report(other, density=1.0).mass == pytest.approx(2.0, rel=1e-12)
    held = {"ports": {"root": lambda x: x[0] < 1e-9}, "reference": "root", "plane": "stress", "thickness": 0.01}
    found, expected = (eigenfrequencies(linear_body(fem.solid(m, STEEL, **held), "b"), 3) for m in (other, mesh))
    np.testing.assert_allclose(found, expected, rtol=1e-10)  # the same matrices, nodes in another order
    other.cell_sets = {}
    flat = meshio.Mesh(np.pad(other.points[:, :2], [(0, 0), (0, 1)]), other.cells)
    for name, written in (("m.msh", {"file_format": "gmsh22"}), ("m.vtu", {})):
        meshio.write(tmp_path / name, flat, **written)
        assert mesh_report(tmp_path / name, density=1.0).mass == pytest.approx(2.0, rel=1e-12)


def test_plates_of_two_senses():
    mesh, other = mixed("triangle")
    held = {"thickness": 0.01, "ports": {"root": lambda x: x[0] < 1e-9}, "reference": "root"}
    plates = [fem.plate(m, STEEL, **held) for m in (other, mesh)]
    found, expected = (eigenfrequencies(linear_body(plate, "b"), 3) for plate in plates)
    np.testing.assert_allclose(found, expected, rtol=1e-9)  # the same matrices, nodes in another order


def test_a_folded_plane_mesh_is_refused():
    """A cell that lies over its neighbour is not turned into a sound one."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0]])
    with pytest.raises(ValueError, match=r"mesh must.*no overlapping cells, got.*side.*facet"):
        mesh_report(meshio.Mesh(points, [("triangle", [[0, 1, 2], [1, 3, 2]])]))


UNKNOWN = r"got cells of type 'polygon' \(2, the first is cell 1 of the mesh\)"


def test_unknown_cells_are_named_with_their_place():
    points = np.vstack([np.zeros(3), np.eye(3), np.ones(3)])
    mesh = meshio.Mesh(points, [("tetra", [[0, 1, 2, 3]]), ("polygon", [[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])])
    for read in (mesh_report, lambda m: fem.solid(m, STEEL), lambda m: rigid.solid(m, density=1.0, ports={})):
        with pytest.raises(ValueError, match=UNKNOWN):
            read(mesh)
    wedge = meshio.Mesh(np.random.default_rng(0).random((18, 3)), [("wedge18", [range(18)])])
    with pytest.raises(ValueError, match=r"must.*cells.*type tetra, .*, got wedge18 \(1,.*first.*cell 0"):
        fem.solid(wedge, STEEL)


NODES = "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n"
GMSH_2 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n" + NODES + "$EndNodes\n$Elements\n3\n"
GMSH_4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n"
GMSH_4 += "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 7\n"
STRANGE = {
    "2.msh": GMSH_2 + "1 4 2 0 1 1 2 3 4\n2 140 2 0 1 1 2 3 5\n7 140 2 0 1 1 2 4 5\n$EndElements\n",
    "4.msh": GMSH_4 + "3 1 4 1\n1 1 2 3 4\n3 1 140 2\n2 1 2 3 5\n7 1 2 4 5\n$EndElements\n",
}


@pytest.mark.parametrize("name", STRANGE)
def test_cells_of_gmsh_that_nobody_knows(name, tmp_path):
    (tmp_path / name).write_text(STRANGE[name])
    with pytest.raises(ValueError, match=r"got cells of gmsh type 140 \(2, the first is element 2\)"):
        mesh_report(tmp_path / name)


def test_cells_of_vtk_that_its_reader_passes_over(tmp_path):
    points = np.vstack([np.zeros(3), np.eye(3), np.ones(3)])
    mesh = meshio.Mesh(points, [("tetra", [[0, 1, 2, 3], [1, 2, 3, 4]])])
    meshio.write(tmp_path / "m.vtu", mesh, binary=False)
    head, types, rest = (tmp_path / "m.vtu").read_text().partition('Name="types" format="ascii">\n10\n')
    assert types
    (tmp_path / "m.vtu").write_text(head + types + rest.replace("10", "66", 1))
    with pytest.raises(ValueError, match=r"VTK type 66 \(higher order pyramid\) \(1,.*first.*cell 1\)"):
        mesh_report(tmp_path / "m.vtu")
