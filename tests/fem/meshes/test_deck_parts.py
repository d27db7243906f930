"""One part of a file of several: what belongs to it, what joins it to others, and groups by cell data."""

import meshio
import numpy as np
import pytest
from abaqus_files import MATERIAL, nodes_and_elements
from click.testing import CliRunner
from solid_meshes import box

import fem
import rigid
from fem.mesh_report import mesh_report
from flexph import eigenfrequencies
from flexph.bodies import linear_body
from flexph.cli import main
from flexph.meshes.drawings.drawing import MeshRequest

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
ROD = (
    "*Part, name=ROD\n{}*Elset, elset=E, generate\n1, 2, 1\n*Solid Section, elset=E, material=STEEL\n,\n"
    "*Surface, name=F\nE, S6\n*End Part\n"
)
TOOL = (
    "*Part, name=TOOL\n*Node\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, .5, .5, 0\n"
    "*Element, type=R3D4, elset=T\n1, 1, 2, 3, 4\n*End Part\n"
)
PLACED = (
    "*Assembly, name=A\n*Instance, name=ROD-1, part=ROD\n*End Instance\n"
    "*Instance, name=ROD-2, part=ROD\n3., 0., 0.\n*End Instance\n"
    "*Instance, name=TOOL-1, part=TOOL\n0., 0., 5.\n*End Instance\n"
    "*Nset, nset=RT, instance=TOOL-1\n5\n*Elset, elset=TT, instance=TOOL-1\n1\n*Elset, elset=first, instance=ROD-2\n1\n"
    "*Surface, name=NEAR\nfirst, S6\n*Elset, elset=last, instance=ROD-1\n2\n*Surface, name=FAR\nlast, S4\n"
    "*Tie, name=T1\nNEAR, FAR\n*Rigid Body, ref node=RT, elset=TT\n{}*End Assembly\n"
)


def two_rods(more=""):
    """Two instances of a rod that are tied, and a rigid tool."""
    mesh = box("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0))
    return ROD.format(nodes_and_elements(mesh, "C3D8")) + TOOL + PLACED.format(more) + MATERIAL


@pytest.fixture
def deck(tmp_path):
    def written(text):
        (tmp_path / "deck.inp").write_text(text)
        return tmp_path / "deck.inp"

    return written


def test_an_instance_is_the_body_alone(deck):
    """Its frequencies are those of the same cells; the tie to the other is said, the tool is not missed."""
    path = deck(two_rods())
    with pytest.raises(ValueError, match=r"got TIE \(line \d+: 'T1'\); RIGID BODY"):
        fem.solid(path)
    with pytest.warns(UserWarning, match=r"left out, as it joins 'ROD-1' to other parts: TIE \(line \d+: 'T1'\)$"):
        body = fem.solid(path, select="ROD-1", ports={"end": "FAR"}, reference="end")
    twin = fem.solid(box("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0)), STEEL, ports={"end": "right"}, reference="end")
    assert body.mass == pytest.approx(2.0 * 7800.0, rel=1e-12)
    np.testing.assert_allclose(body.ports["end"].position, [2.0, 0.5, 0.5])
    np.testing.assert_allclose(*(eigenfrequencies(linear_body(b, "b"), 4) for b in (body, twin)), rtol=1e-10)


def test_parts_sets_and_other_doors(deck):
    path = deck(two_rods())
    with pytest.warns(UserWarning, match="left out, as it joins 'ROD-2'"):
        moved = rigid.solid(path, density=1.0, ports={}, select="ROD-2", unit="1 mm")
    assert moved.mass == pytest.approx(2e-9) and moved.inertia.first[0] == pytest.approx(2e-9 * 4e-3)
    with pytest.warns(UserWarning, match="joins 'first'"):  # the first cell of ROD-2, whose face is tied
        first = fem.solid(path, select="first", ports={"seat": "NEAR"})
    assert first.mass == pytest.approx(7800.0)
    with pytest.warns(UserWarning, match="joins 'TOOL'"):
        plate = fem.plate(path, STEEL, thickness=0.1, select="TOOL")  # a part with one instance goes by its name
    assert plate.mass == pytest.approx(780.0)
    with pytest.warns(UserWarning, match="joins 'ROD-2'"):
        result = CliRunner().invoke(main, ["mesh", str(path), "--select", "ROD-2"])
    assert "mass: 15600 kg\n" in result.output, result.output
    with pytest.raises(ValueError, match=r"no group of cells 'ROD-3': .*the mesh has 'ROD-1.E'"):
        fem.solid(path, select="ROD-3")
    with pytest.raises(ValueError, match="select must name a group of volume or surface cells"):
        edges = meshio.Mesh(np.eye(3), [("line", [[0, 1]])], cell_sets={"edge": [np.array([0])]})
        rigid.solid(edges, density=1.0, ports={}, select="edge")


LINES = {
    "within": ("*Tie, name=T2\nFAR, ROOT\n", r"got TIE \(line \d+: 'T2'\)"),
    "spring": ("*Element, type=SPRINGA, elset=K\n90, ROD-1.1, ROD-1.12\n*Spring, elset=K\n\n1.\n", "got SPRINGA"),
    "elsewhere": ("*Element, type=SPRINGA, elset=K\n90, ROD-2.1, ROD-2.12\n*Spring, elset=K\n\n1.\n", ""),
    "mass elsewhere": ("*Element, type=MASS, elset=M\n90, ROD-2.1\n*Mass, elset=M\n5.\n", ""),
    "mass of nothing": ("*Node\n7, 9, 9, 9\n*Element, type=MASS, elset=M\n90, 7\n*Mass, elset=M\n5.\n", "got MASS"),
    "unknown": ("*Embedded Element\nwhat\n", "got EMBEDDED ELEMENT"),
}


@pytest.mark.filterwarnings("ignore:left out, as it joins")
@pytest.mark.parametrize("name", LINES)
def test_what_still_counts_for_the_part(name, deck):
    lines, message = LINES[name]
    root = "*Elset, elset=start, instance=ROD-1\n1\n*Surface, name=ROOT\nstart, S6\n"
    path = deck(two_rods(root + lines))
    if message:
        with pytest.raises(ValueError, match=message):
            fem.solid(path, select="ROD-1")
    else:
        assert fem.solid(path, select="ROD-1").mass == pytest.approx(15600.0)


def test_masses_over_a_region_are_not_cut(deck):
    text = "*Elset, elset=S, instance=ROD-1\n1, 2\n*Nonstructural Mass, elset=S, units=TOTAL MASS\n100.\n"
    with pytest.warns(UserWarning, match="left out"):
        assert fem.solid(deck(two_rods(text)), select="ROD-1").mass == pytest.approx(15700.0)
    with pytest.raises(ValueError, match=r"select must have all cells of 'S' with NONSTRUCTURAL MASS .*got 1 of 2"):
        fem.solid(deck(two_rods(text)), select="last")


def test_whole_numbers_of_cells_are_regions(tmp_path):
    """Of any name; 0 counts, other numbers of the cells do not: real ones, and as many as there are cells."""
    mesh = box("hexahedron", (3, 1, 1), (3.0, 1.0, 1.0))
    mesh.cell_data = {"mat_id": [np.array([0, 1, 1])], "size": [np.array([1.0, 1.0, 1.0])]}
    meshio.write(tmp_path / "bar.vtu", mesh)
    lead = fem.Material(young=1.6e10, density=11300.0, poisson=0.4)
    body = fem.solid(tmp_path / "bar.vtu", {"mat_id 0": STEEL, "mat_id 1": lead})
    assert body.mass == pytest.approx(7800.0 + 2 * 11300.0)
    assert fem.solid(tmp_path / "bar.vtu", lead, select="mat_id 1").mass == pytest.approx(2 * 11300.0)
    many = box("hexahedron", (101, 1, 1), (101.0, 1.0, 1.0))
    many.cell_data = {"number": [np.arange(101)]}
    assert [r.name for r in mesh_report(mesh).regions if "size" in r.name] == []
    assert not [r.name for r in mesh_report(many, request=MeshRequest()).regions if "number" in r.name]
