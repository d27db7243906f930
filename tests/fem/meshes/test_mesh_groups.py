"""Groups of cells that formats number, with names or without: gmsh, Nastran, Medit, MED; sets of mixed dimensions."""

import meshio
import numpy as np
import pytest
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report, words

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
LEAD = fem.Material(young=1.6e10, density=11300.0, poisson=0.4)


def two_cubes(key, **more):
    """Cells in groups 1 and 2, the faces at x = 0 and x = 1 in groups 1 and 3; number 0 is no group."""
    mesh = box("hexahedron", (3, 1, 1), (3.0, 1.0, 1.0))
    faces = np.array([np.flatnonzero(mesh.points[:, 0] == x)[[0, 1, 3, 2]] for x in (0.0, 1.0, 3.0)])
    tags = [np.array([1, 2, 2]), np.array([1, 3, 0])]
    return meshio.Mesh(mesh.points, [*mesh.cells, ("quad", faces)], cell_data={key: tags}, **more)


@pytest.mark.parametrize(
    ("key", "file", "form"),
    [("gmsh:physical", "bar.msh", "gmsh22"), ("nastran:ref", "bar.bdf", None), ("medit:ref", "bar.mesh", None)],
)
def test_groups_without_names_have_their_numbers(key, file, form, tmp_path):
    """With the dimension where several use the number: gmsh counts surfaces and volumes apart."""
    mesh = two_cubes(key)
    if key == "gmsh:physical":
        mesh.cell_data["gmsh:geometrical"] = mesh.cell_data[key]
    meshio.write(tmp_path / file, mesh, file_format=form, **({"binary": False} if form else {}))
    materials, ports = {"volume 1": STEEL, "2": LEAD}, {"root": "surface 1"}
    body = fem.solid(tmp_path / file, materials, ports=ports, reference="root", sections={"cut": "3"}, loads={"w": "2"})
    assert body.mass == pytest.approx(7800.0 + 2 * 11300.0)
    assert body.ports["root"].position == pytest.approx([0.0, 0.5, 0.5])
    assert body.sections["cut"].position == pytest.approx([1.0, 0.5, 0.5])
    assert body.loads["w"].measures == pytest.approx([2.0])
    with pytest.raises(ValueError, match=r"no region '1': port 'p':.*mesh.*'volume 1', '2', 'surface 1', '3'"):
        fem.solid(tmp_path / file, materials, ports={"p": "1"})


def test_groups_of_med_have_their_names():
    """A family of cells or nodes may belong to several groups. Attributes as meshio's reader of MED sets them."""
    mesh = two_cubes("cell_tags")
    mesh.cell_data["cell_tags"][1] = np.array([-3, 0, 0])
    mesh.cell_tags = {1: ["soft", "all"], 2: ["stiff", "all"], -3: ["seat"]}
    mesh.point_data["point_tags"] = np.where(np.all(mesh.points == [3.0, 0.0, 0.0], axis=1), 5, 0)
    mesh.point_tags = {5: ["tip"]}
    report = {r.name: (r.kind, r.count) for r in mesh_report(mesh).regions}
    volumes = {"soft": ("volume", 1), "stiff": ("volume", 2), "all": ("volume", 3)}
    assert report == {**volumes, "seat": ("surface", 1), "tip": ("nodes", 1)}
    body = fem.solid(mesh, {"soft": STEEL, "stiff": LEAD}, ports={"seat": "seat", "tip": "tip"}, reference="seat")
    assert body.ports["tip"].position == pytest.approx([3.0, 0.0, 0.0])


def test_a_set_of_mixed_dimensions_is_refused_where_it_is_used():
    """Abaqus has sets of all elements, membranes on the faces among them: the others can be used."""
    mesh = two_cubes("-")
    mesh.cell_sets = {"every": [np.arange(3), np.array([0])], "first": [np.array([0]), np.array([], dtype=int)]}
    body = fem.solid(mesh, STEEL, ports={"first": fem.Tie("first", "rigid")}, reference="first")
    assert body.ports["first"].position == pytest.approx([0.5, 0.5, 0.5])
    assert "region 'every': 0 of mixed dimensions\n" in words(mesh_report(mesh)) + "\n"
    with pytest.raises(ValueError, match=r"'every' must.*cells.* got mixed dimensions: cells.*body, facets"):
        fem.solid(mesh, STEEL, ports={"p": "every"})
