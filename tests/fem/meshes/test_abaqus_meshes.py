"""Input files of Abaqus: surfaces, sets, materials, section assignments, instances."""

import numpy as np
import pytest
from abaqus_files import MATERIAL, cantilever, nodes_and_elements
from click.testing import CliRunner
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report, words
from flexph import ValidityWarning, eigenfrequencies
from flexph.bodies import linear_body
from flexph.cli import main
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files.reading import read, read_contents

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)


@pytest.fixture
def bar(tmp_path):
    mesh, text = cantilever()
    (tmp_path / "bar.inp").write_text(text)
    return mesh, tmp_path / "bar.inp"


@pytest.mark.parametrize(
    ("kind", "count"), [pytest.param("hexahedron", 12, marks=pytest.mark.slow), ("hexahedron20", 12)]
)
def test_surfaces_are_facets(kind, count, tmp_path):
    mesh, text = cantilever(kind=kind)
    (tmp_path / "bar.inp").write_text(text)
    regions = {r.name: (r.kind, r.count) for r in mesh_report(tmp_path / "bar.inp").regions}
    assert regions["CLAMP"] == ("surface", count) and regions["TIP"] == ("surface", count)
    assert regions["Set-1"] == ("volume", 48) and regions["ROOT"][0] == "surface"
    assert not [name for name in regions if name.startswith("_")]
    body = fem.solid(tmp_path / "bar.inp", ports={"root": "CLAMP", "tip": fem.Tie("TIP", "mean")}, reference="root")
    twin = fem.solid(mesh, STEEL, ports={"root": "left", "tip": fem.Tie("right", "mean")}, reference="root")
    assert body.mass == pytest.approx(7800.0 * 0.03, rel=1e-12)
    np.testing.assert_allclose(body.ports["tip"].position, [1.0, 0.1, 0.075], atol=1e-14)
    found, expected = (eigenfrequencies(linear_body(b, "b"), 4) for b in (body, twin))
    np.testing.assert_allclose(found, expected, rtol=1e-10)  # the same matrices, coordinates of 15 digits


FACES = {"tetra": 4, "tetra10": 4, "hexahedron": 6, "hexahedron20": 6}


@pytest.mark.parametrize("kind", FACES)
def test_all_faces_of_a_cell(kind, tmp_path):
    """The faces S1, S2, … of one cell in turn: each a facet, together the whole boundary of the cell."""
    mesh = box(kind, (1, 1, 1), (1.0, 2.0, 3.0))
    mesh.cells[0].data = mesh.cells[0].data[:1]
    element = {"tetra": "C3D4", "tetra10": "C3D10", "hexahedron": "C3D8", "hexahedron20": "C3D20"}[kind]
    text = nodes_and_elements(mesh, element)
    text += "".join(f"*Surface, type=ELEMENT, name=F{i}\n1, S{i}\n" for i in range(1, FACES[kind] + 1))
    (tmp_path / "cell.inp").write_text(text + "*Surface, name=ALL\n1,\n")
    regions = {r.name: r for r in mesh_report(tmp_path / "cell.inp").regions}
    one = [regions[f"F{i}"] for i in range(1, FACES[kind] + 1)]
    assert all((r.kind, r.count) == ("surface", 1) for r in one)
    assert regions["ALL"].count == FACES[kind]
    assert sum(r.measure for r in one) == pytest.approx(regions["ALL"].measure, rel=1e-12)
    if kind.startswith("hexahedron"):  # S1, S2 across z, S3, S5 across y, S4, S6 across x (Abaqus Elements Guide)
        assert [r.measure for r in one] == pytest.approx([2.0, 2.0, 3.0, 6.0, 3.0, 6.0])


def test_faces_of_plane_cells(tmp_path):
    mesh = box("quad8", (2, 1), (2.0, 1.0))
    text = nodes_and_elements(mesh, "CPS8") + "*Surface, name=END\n2, S2\n*Surface, name=RIM\n1\n2\n"
    (tmp_path / "sheet.inp").write_text(text)
    regions = {r.name: (r.kind, r.measure) for r in mesh_report(tmp_path / "sheet.inp").regions}
    assert regions == {"END": ("surface", pytest.approx(1.0)), "RIM": ("surface", pytest.approx(6.0))}


def test_a_port_on_cells_needs_a_word(bar):
    mesh, path = bar
    cells = {"cells": [np.arange(12)]}
    mesh.cell_sets = cells
    with pytest.raises(ValueError, match=r"port 'root' must.*region.*facets.*got 12.*48 cells.*'rigid'"):
        fem.solid(mesh, STEEL, ports={"root": "cells"})
    with pytest.raises(ValueError, match=r"port 'root' must.*region.*facets.*got 48.*48 cells"):
        fem.solid(path, ports={"root": lambda x: x[0] > -1.0})
    body = fem.solid(mesh, STEEL, ports={"root": fem.Tie("cells", "rigid")})
    assert body.size == mesh.points.size - 3 * np.unique(mesh.cells[0].data[:12]).size  # six of the port, six of axes
    assert fem.solid(mesh, STEEL, ports={"root": fem.Tie("cells", "mean")}).size == mesh.points.size - 6


def test_node_numbers_with_gaps(tmp_path):
    mesh, text = cantilever(first=1001)
    (tmp_path / "bar.inp").write_text(text)
    held = read_contents(tmp_path / "bar.inp")
    assert held.numbers.tolist() == list(range(1001, 1001 + len(mesh.points)))
    np.testing.assert_allclose(held.mesh.points, mesh.points, atol=1e-14)


def test_two_materials_by_section(tmp_path):
    mesh = box("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0))
    text = nodes_and_elements(mesh, "C3D8") + "*Elset, elset=SOFT\n1\n*Elset, elset=HARD\n2,\n"
    text += "*Solid Section, elset=soft, material=Lead\n*Solid Section, elset=HARD, material=STEEL\n"
    text += MATERIAL + "*Material, name=LEAD\n*Elastic, type=ISOTROPIC\n1.6e10, 0.44\n*Density\n11300.\n"
    (tmp_path / "bar.inp").write_text(text)
    body = fem.solid(tmp_path / "bar.inp")
    assert body.mass == pytest.approx(7800.0 + 11300.0)
    twin = fem.solid(
        tmp_path / "bar.inp", {"HARD": STEEL, "SOFT": fem.Material(young=1.6e10, density=11300.0, poisson=0.44)}
    )
    found, expected = (eigenfrequencies(linear_body(b, "b"), 4) for b in (body, twin))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    report = words(mesh_report(tmp_path / "bar.inp"))
    assert "mass: 19100 kg\n" in report
    assert "note: masses of C3D8 are lumped in the program of the file, and consistent here" in report
    assert "region 'SOFT': 1 cells, 1 m³; a material, or a load" in report
    millimetres = MeshRequest(unit=1e-3)
    assert "mass: 19100 units of mass of the file\n" in words(mesh_report(tmp_path / "bar.inp", request=millimetres))


def test_no_mass_without_a_density(tmp_path):
    mesh, text = cantilever()
    (tmp_path / "bar.inp").write_text(text.replace("*Density\n 7.8e+03,\n", ""))
    result = CliRunner().invoke(main, ["mesh", str(tmp_path / "bar.inp")])
    assert "mass: no density is known; --density gives mass and inertia\ncentre of volume: (0.5, 0.1, 0.075) m" in (
        result.output
    )
    (tmp_path / "bare.inp").write_text(text.replace("name=STEEL", "name=IRON"))
    assert mesh_report(tmp_path / "bare.inp").mass is None
    with pytest.raises(ValueError, match=r"material 'STEEL'.*mesh must.*\*DENSITY: give material="):
        fem.solid(tmp_path / "bar.inp")
    with pytest.raises(ValueError, match="material must be given: the mesh has none of its own"):
        fem.solid(mesh)


def test_reduced_integration_is_said(tmp_path):
    """C3D20R integrates at 2 x 2 x 2 points in its own program, fem.solid at 3 x 3 x 3: fem.solid warns."""
    _, text = cantilever((2, 1, 1), "hexahedron20", element="C3D20R")
    (tmp_path / "bar.inp").write_text(text)
    with pytest.warns(ValidityWarning, match="C3D20R has reduced integration.*fully"):
        fem.solid(tmp_path / "bar.inp")
    assert "note: C3D20R has reduced integration" in words(mesh_report(tmp_path / "bar.inp"))


def test_instances_are_placed(tmp_path):
    """Two instances of a part, one shifted and turned by 90° about z: sets of parts are named by instance."""
    mesh = box("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0))
    text = (
        "*Part, name=P\n"
        + nodes_and_elements(mesh, "C3D8")
        + "*Elset, elset=E\n1\n*Surface, name=F\nE, S6\n*End Part\n"
    )
    text += "*Assembly, name=A\n*Instance, name=one, part=P\n*End Instance\n*Instance, name=two, part=P\n"
    text += "2., 0., 0.\n2., 0., 0., 2., 0., 1., 90.\n*End Instance\n*Nset, nset=BOTH\none.1, two.1\n"
    text += "*Elset, elset=PAIR, instance=one\n1\n*Elset, elset=PAIR, instance=two\n1\n*Surface, name=S\nPAIR, S6\n"
    text += "*End Assembly\n"
    (tmp_path / "two.inp").write_text(text)
    found = read(tmp_path / "two.inp")
    np.testing.assert_allclose(np.ptp(found.points[8:], axis=0), 1.0, atol=1e-14)
    np.testing.assert_allclose(found.points[8:].min(axis=0), [1.0, 0.0, 0.0], atol=1e-14)
    assert {"one", "two", "one.E", "two.E", "one.F", "two.F", "PAIR", "S"} == set(found.cell_sets)
    np.testing.assert_array_equal(found.point_sets["BOTH"], [0, 8])
    assert sum(len(c) for c in found.cell_sets["S"]) == 2


def test_included_files_and_continued_lines(tmp_path):
    mesh = box("hexahedron20", (1, 1, 1), (1.0, 1.0, 1.0))
    (tmp_path / "mesh.txt").write_text(nodes_and_elements(mesh, "C3D20"))
    (tmp_path / "bar.inp").write_text(
        '** a comment\n*include, input="mesh.txt"\n*SURFACE, TYPE=ELEMENT,\nNAME=S\n1, S1\n'
    )
    found = read(tmp_path / "bar.inp")
    assert [block.type for block in found.cells] == ["hexahedron20", "quad"] and "S" in found.cell_sets


BAD = {
    "type": ("*Element, type=C3D8\n", "*Element, type=CONN3D2\n", r"line 1\d+: elements of type CONN3D2 are not supp"),
    "node": ("*Node\n1, 0", "*Node\n1, zero", r"line 6: '1, zero, 0, 0' must be a node number and its coordinates"),
    "generating": ("*Nset, nset=Set-1, generate", "*Ngen", r"\*NGEN makes nodes or elements.* write all"),
    "instance": ("instance=Bar-1\n", "instance=Rod-1\n", "instance 'Rod-1' must be defined, there are 'Bar-1'"),
    "part": ("part=Bar\n", "part=Rod\n", r"part 'Rod' of \*INSTANCE must be defined"),
    "count": ("*Element, type=C3D8\n", "*Element, type=C3D20\n", "of type C3D20 must have a number and 20 nodes"),
    "include": ("*Heading\n", "*Include, input=no.inp\n", r"line 1: \*INCLUDE names 'no.inp', and there is no such"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name, bar):
    _, path = bar
    old, new, message = BAD[name]
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=f"(?s)mesh cannot be read from '.*bar.inp': .*{message}"):
        read(path)


ELASTIC = {
    "orthotropic": (
        "*Elastic\n",
        "*Elastic, type=ENGINEERING CONSTANTS\n",
        "TYPE=ENGINEERING CONSTANTS .*must have 2 lines",
    ),
    "temperature": (
        "*Elastic\n",
        "*Elastic\n2.0e11, 0.3, 20.\n",
        "has isotropic at 2 temperatures from 0 to 20: give temp",
    ),
    "unknown": (
        "name=STEEL",
        "name=IRON",
        "material 'STEEL' of a section of the mesh must be defined, there are 'IRON'",
    ),
    "none": ("*Solid Section, elset=Set-1, material=STEEL\n,\n", "", "'STEEL' are assigned to no region"),
}


@pytest.mark.parametrize("name", ELASTIC)
def test_materials_that_are_not_taken(name, bar):
    _, path = bar
    old, new, message = ELASTIC[name]
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        fem.solid(path)


def test_surfaces_that_are_not_read_are_said(bar):
    _, path = bar
    path.write_text(path.read_text().replace("_TIP_S4, S4", "_TIP_S4, E2"))
    with pytest.warns(UserWarning, match=r"surface 'TIP'.*left out: line .*ELEMENT, '_TIP_S4'.*face 'E2'"):
        assert "TIP" not in read(path).cell_sets
