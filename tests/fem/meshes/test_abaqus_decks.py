"""Input files of Abaqus and CalculiX are read as these programs read them, or refused by what they have."""

import numpy as np
import pytest
from click.testing import CliRunner
from deck_texts import CUBES, ELEMENT_LINES, ELEMENTS, MATERIAL, NODE_LINES, SECTION, assembly, sector

import fem
import rigid
from fem.mesh_report import mesh_report
from flexph import ValidityWarning
from flexph.cli import main
from flexph.meshes.files import read, read_contents

RING = 0.5 * 3.0 * np.sin(np.deg2rad(30.0))
POINT = "*Element, type=MASS, elset=M\n100, {}\n*Mass, elset=M\n50.\n"
SPHERE = [(r, t, above) for above in (0.0, 30.0) for r, t in ((1.0, 0.0), (2.0, 0.0), (2.0, 90.0), (1.0, 90.0))]


def written(path, text):
    """The path of a deck."""
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.fixture
def deck(tmp_path):
    return lambda text: written(tmp_path / "deck.inp", text)


def test_blank_coordinates_are_zero(deck):
    text = CUBES.replace("0.0", "")
    assert ", , \n" in text or ", ,\n" in text
    np.testing.assert_array_equal(read(deck(text)).points, read(deck(CUBES)).points)
    np.testing.assert_array_equal(read(deck(CUBES.replace("1, 0.0, 0.0, 0.0", "1"))).points[0], 0.0)


SAME = {
    "crlf": CUBES.replace("\n", "\r\n"),
    "tabs": CUBES.replace(", ", ",\t"),
    "no last line break": CUBES.rstrip("\n"),
    "comments": CUBES.replace("*Element", "** a\x85 1, 2\n*Element"),  # a line break of Unicode within a comment
    "byte order mark": "\xef\xbb\xbf" + CUBES,
    "exponents": CUBES.replace("2.0, ", "0.2D+1, ").replace("7850.,", "7.85d3"),
    "case": CUBES.upper().replace("*NODE", "*nOdE"),
    "abbreviated": CUBES.replace("*Density", "*DENS")
    .replace("*Elastic", "*Elas, typ=Iso")
    .replace("*Solid ", "*solid"),
    "described": CUBES.replace("*Material, name=S", '*Material, name=S, description="a, b"'),
    "continued": CUBES.replace("1, 1, 5, 6, ", "1, 1, 5, 6,\n ").replace("*Solid Section, ", "*Solid Section,\n"),
    "given again": CUBES.replace("*Node\n", "*Node\n3, 7., 7., 7.\n"),
}


@pytest.mark.parametrize("name", SAME)
def test_other_ways_to_write_a_deck(name, deck):
    held = read_contents(deck(SAME[name]))
    np.testing.assert_array_equal(np.sort(held.mesh.points, axis=0), np.sort(read(deck(CUBES)).points, axis=0))
    report = mesh_report(deck(SAME[name]))
    assert (report.measure, report.mass) == pytest.approx((2.0, 15700.0), rel=1e-12)
    assert (held.materials["S"].young, held.materials["S"].poisson) == (2.1e11, 0.3)


@pytest.mark.parametrize("word", ["C", "cylindrical", "CYL"])
def test_nodes_in_cylindrical_coordinates_are_converted(word, deck):
    assert mesh_report(deck(sector(f"*Node, system={word}"))).measure == pytest.approx(RING, rel=1e-12)


def test_nodes_in_spherical_coordinates_are_converted(deck):
    """r, θ, φ: φ is the elevation above the x-y plane (NMAP in the Abaqus Keywords Guide: its plane φ = 0)."""
    points = read(deck(sector("*Node, system=S", SPHERE))).points
    np.testing.assert_allclose(points[5], [2.0 * np.cos(np.pi / 6), 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), [r for r, *_ in SPHERE], rtol=1e-15)


def test_local_systems_of_nodes(deck):
    """*SYSTEM moves and turns what follows, *NODE, SYSTEM=C in it too; without lines it ends."""
    turned = read(deck(CUBES.replace("*Node", "*System\n1., 1., 1., 1., 2., 1.\n0., 1., 1.\n*Node"))).points
    np.testing.assert_allclose(turned[8], [1.0, 3.0, 1.0], atol=1e-15)
    shifted = read(deck(CUBES.replace("*Node", "*System\n1., , 3.\n*Node"))).points
    np.testing.assert_array_equal(shifted - read(deck(CUBES)).points, np.tile([1.0, 0.0, 3.0], (12, 1)))
    level = read(deck(CUBES.replace("*Node", "*System\n0., 0., 0., 0., 2., 5.\n*Node"))).points  # x projected to X-Y
    np.testing.assert_allclose(level[8], [0.0, 2.0, 0.0], atol=1e-15)
    ring = mesh_report(deck(sector("*System\n1., 1., 1., 1., 2., 1.\n0., 1., 1.\n*Node, system=C")))
    assert ring.measure == pytest.approx(RING, rel=1e-12)
    assert ring.size[1][1] == pytest.approx(3.0, rel=1e-12)  # r = 2 at θ = 0 lies along y from y = 1
    ended = read(deck("*System\n9., 9., 9.\n*Node\n77, 0., 0., 0.\n*System\n" + CUBES)).points
    np.testing.assert_array_equal(ended[0], 9.0)
    np.testing.assert_array_equal(ended[1:], read(deck(CUBES)).points)


NONSTRUCTURAL = {
    "by mass": ("*Nonstructural Mass, elset=ALL, units=TOTAL MASS\n5000.,\n", 20700.0, 1.0),
    "by volume": (
        "*Elset, elset=ONE\n1\n*Nonstructural Mass, elset=one, units=total, distribution=VOLUME PROPORTIONAL\n300.\n",
        *(16000.0, (15700.0 + 150.0) / 16000.0),
    ),
    "per volume": ("*Nonstructural Mass, elset=ALL, units=MASS PER VOLUME\n100.\n", 15900.0, 1.0),
    "at a node": (POINT.format(12), 15750.0, (15700.0 + 100.0) / 15750.0),
}


@pytest.mark.parametrize("name", NONSTRUCTURAL)
def test_point_masses_add_to_those_of_materials(name, deck):
    """Report and body have them: mass, centre, and the matrix of a body, whose rigid motion along x has the mass."""
    lines, mass, centre = NONSTRUCTURAL[name]
    report = mesh_report(deck(CUBES + lines))
    assert (report.mass, report.centre[0]) == pytest.approx((mass, centre), rel=1e-12)
    body = fem.solid(deck(CUBES + lines))
    assert body.mass == pytest.approx(mass, rel=1e-12)
    assert body.inertia.first[0] / mass == pytest.approx(centre, rel=1e-12)
    finite = fem.solid(deck(CUBES + lines), strain="finite")
    assert finite.mass == pytest.approx(mass, rel=1e-12)
    assert mesh_report(deck(CUBES + lines), omit=("mass", "nonstructural mass")).mass == pytest.approx(15700.0)
    with pytest.raises(ValueError, match=r"supported parts only, got (NONSTRUCTURAL )?MASS \(line \d+\).*omit="):
        rigid.solid(deck(CUBES + lines), density=1.0, ports={})


def test_a_spread_mass_scales_densities(deck):
    """By mass over two densities: the centre stays; by volume it moves towards the middle."""
    two = CUBES.replace(SECTION, "*Elset, elset=A\n1\n*Elset, elset=B\n2\n*Solid Section, elset=A, material=S\n")
    two += "*Solid Section, elset=B, material=L\n*Material, name=L\n*Density\n2000.\n*Elastic\n7e10, 0.3\n"
    spread = "*Nonstructural Mass, elset=ALL, units=TOTAL MASS, distribution={}\n985.\n"
    plain, by_mass, by_volume = (
        mesh_report(deck(two + lines))
        for lines in ("", spread.format("MASS PROPORTIONAL"), spread.format("VOLUME PROPORTIONAL"))
    )
    assert by_mass.mass == by_volume.mass == pytest.approx(plain.mass + 985.0, rel=1e-12)
    assert by_mass.centre[0] == pytest.approx(plain.centre[0], rel=1e-12)
    assert by_volume.centre[0] == pytest.approx((9850.0 * plain.centre[0] + 985.0) / 10835.0, rel=1e-12)


LOST = {
    "area": ("*Nonstructural Mass, elset=ALL, units=MASS PER AREA\n1.\n", "NONSTRUCTURAL MASS", True),
    "reference": ("*Node\n99, 5., 5., 5.\n" + POINT.format(99), "MASS", True),
    "rotary": (
        "*Element, type=ROTARYI, elset=R\n100, 12\n*Rotary Inertia, elset=R\n1.\n",
        "ROTARY INERTIA",
        True,
    ),
    "membrane": (
        "*Element, type=M3D4, elset=K\n5, 1,2,3,4\n*Membrane Section, elset=K, material=S\n1\n",
        "M3D4",
        True,
    ),
    "truss": ("*Element, type=T3D2, elset=K\n50, 1, 2\n*Solid Section, elset=K, material=S\n.1\n", "T3D2", True),
    "cohesive": ("*Element, type=COH3D8, elset=K\n50, 1, 5, 6, 2, 4, 8, 7, 3\n", "COH3D8", True),
    "long wedge": ("*Element, type=C3D18, elset=K\n50, 1, 5, 6, 2, 4, 8, 7, 3, 9\n", "C3D18", True),
    "spring": ("*Element, type=SPRINGA, elset=K\n50, 1, 12\n*Spring, elset=K\n\n100.\n", "SPRINGA", False),
    "rigid body": ("*Rigid Body, elset=ALL, ref node=1\n", "RIGID BODY", False),
    "coupling": ("*Coupling, constraint name=C, ref node=1, surface=F\n*Kinematic\n", "COUPLING", False),
    "kinematic": ("*Kinematic Coupling, ref node=1\n2, 1, 3\n", "KINEMATIC COUPLING", False),
    "distributing": ("*Distributing Coupling, elset=ALL\n1, 1.\n", "DISTRIBUTING COUPLING", False),
    "tie": ("*Tie, name=T\nA, B\n", "TIE", False),
    "equation": ("*Equation\n2\n1, 1, 1., 2, 1, -1.\n", "EQUATION", False),
    "mpc": ("*MPC\nBEAM, 1, 2\n", "MPC", False),
    "prestress": ("*Initial Conditions, type=STRESS\nALL, 1e6\n", "INITIAL CONDITIONS", False),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_not_taken_is_named(name, deck):
    """A body is refused, with keyword and line; the report has its mass, and names what is stiffness alone."""
    lines, keyword, heavy = LOST[name]
    path = deck(CUBES + lines)
    with pytest.raises(ValueError, match=rf"supported parts only, got {keyword} \(line \d+.*omit=\('{keyword}',\)"):
        fem.solid(path)
    if heavy:
        with pytest.raises(ValueError, match=rf"got {keyword} \(line \d+"):
            mesh_report(path)
    else:
        with pytest.warns(UserWarning, match=rf"left out here.*{keyword} \(line \d+"):
            report = mesh_report(path)
        assert report.mass == pytest.approx(15700.0) and any(keyword in note for note in report.notes)
    assert fem.solid(path, omit=(keyword.lower(),)).mass == pytest.approx(15700.0, rel=1e-12)


def test_what_a_command_leaves_out(deck):
    arguments = ["mesh", str(deck(CUBES + LOST["reference"][0])), "--omit", "mass"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0 and "mass: 15700 kg\n" in result.output, result.output
    result = CliRunner().invoke(main, arguments[:2])
    assert result.exit_code == 1 and "got MASS (line" in result.output


def test_skins_without_a_section_are_regions(deck):
    body = fem.solid(deck(CUBES + "*Element, type=M3D4, elset=K\n50, 1, 2, 3, 4\n"), ports={"k": "K"}, reference="k")
    assert body.mass == pytest.approx(15700.0, rel=1e-12)


def test_reference_points_of_an_assembly(deck):
    report = mesh_report(deck(assembly(of_assembly="*Nset, nset=g, generate\n1, 1\n*Nset, nset=both\ng, m_Set-1\n")))
    assert (report.measure, report.mass) == pytest.approx((2.0, 15700.0), rel=1e-12)
    mass = POINT.format("P-1.12")
    assert mesh_report(deck(assembly(of_assembly=mass))).mass == pytest.approx(15750.0, rel=1e-12)
    with pytest.raises(ValueError, match=r"MASS \(line \d+: mass 50.*node 1,.*no cell.*body uses"):
        mesh_report(deck(assembly(of_assembly=POINT.format(1))))
    spread = "*Elset, elset=Q, instance=P-1\n1\n*Nonstructural Mass, elset=Q, units=TOTAL MASS\n300.\n"
    assert mesh_report(deck(assembly(of_assembly=spread))).mass == pytest.approx(16000.0, rel=1e-12)


def test_blank_fields_of_an_instance_are_zero(deck):
    low = mesh_report(deck(assembly(of_instance=",, 2.\n"))).size[0]
    np.testing.assert_array_equal(low, [0.0, 0.0, 2.0])
    turned = mesh_report(deck(assembly(of_instance="1., , 2.\n,,,,, 1., 90.\n"))).size
    np.testing.assert_allclose(turned, [[-1.0, 1.0, 2.0], [0.0, 3.0, 3.0]], atol=1e-15)


@pytest.mark.parametrize("more", ["*Density\n1000.\n", "*Elastic\n7e10, .3\n", "*Material, name=s\n*Density\n1000.\n"])
def test_a_material_with_two_values_is_refused(more, deck):
    with pytest.raises(
        ValueError, match=r"(?i)material 's' .* got \*.*, (the second one|which defines it a second time)"
    ):
        fem.solid(deck(CUBES + more))


def test_elements_of_two_sections_are_named(deck):
    """The last section counts, as in CalculiX; the warning tells that another one is void."""
    more = "*Material, name=T\n*Density\n1000.,\n*Elastic\n7e10, 0.3\n*Solid Section, elset=ALL, material=T\n,\n"
    with pytest.warns(UserWarning, match=r"\*SOLID SECTION \(line \d+\): elements of 'ALL' have another section"):
        assert fem.solid(deck(CUBES + more)).mass == pytest.approx(2000.0, rel=1e-12)


REFUSED = {
    "made nodes": (CUBES + "*NFILL\n1, 2\n", r"line \d+: \*NFILL makes nodes or elements"),
    "moved nodes": (CUBES + "*NMAP, nset=A, type=CYLINDRICAL\n", r"\*NMAP moves nodes"),
    "system": (CUBES.replace("*Node", "*Node, system=Q"), "line 1: SYSTEM must be R, C or S, got 'Q'"),
    "parameter": (CUBES.replace("*Node", "*Node, foo=1"), r"line 1: \*NODE must have no parameters but .*, got FOO"),
    "axes": (CUBES.replace("*Node", "*System\n0,0,0,1,0,0\n2,0,0\n*Node"), "line 1: .SYSTEM must have axes.* line"),
    "shifted elements": (
        CUBES.replace(ELEMENT_LINES, "1, 1, 5, 6, 2, 4, 8, 7\n2, 5, 9, 10, 6, 8, 12, 11, 7, 3\n"),
        "line 15: elements of type C3D8 must have a number and 8 nodes each",
    ),
    "elements twice": (CUBES.replace("\n2, 5,", "\n1, 5,"), "element numbers must be unique, got 1 twice"),
    "other folder": (CUBES + "*Include, input=../else.inp\n", "it names '../else.inp', which is not in its folder"),
    "nodes elsewhere": ("*Node, input=/etc/passwd\n" + ELEMENTS, "it names '/etc/passwd', which is not in its folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_decks_that_cannot_be_read_are_refused(name, deck):
    text, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"(?s)mesh cannot be read from '.*deck.inp': .*{message}"):
        read(deck(text))


INNER = {
    "system": ("*Node, system=Q\n", "line 2 of 'parts/inner.inp': SYSTEM must be R, C or S, got 'Q'"),
    "parameter": ("*Node, foo=1\n", r"line 2 of 'parts/inner.inp': \*NODE must have no parameters but"),
    "node": ("*Node\n90, x\n", "line 3 of 'parts/inner.inp': '90, x' must be a node number"),
    "data alone": ("one, 2, 3\n", "line 2 of 'parts/inner.inp': 'one, 2, 3' must be a node number"),
    "elements": ("*Element, type=C3D8\n90, 1, 2\n", "line 3 of 'parts/inner.inp': elements of type C3D8 must have"),
    "words": ("*Element, type=C3D4\n90, 1, 2, 3, x\n", "line 3 of 'parts/inner.inp': elements of type C3D4 must"),
    "set": (
        "*Nset, nset=A, generate\n1, x\n",
        "line 3 of 'parts/inner.inp': '1, x' must be first number, last number and step",
    ),
    "name": ("*Part\n", r"line 2 of 'parts/inner.inp': \*PART must have NAME="),
    "numbers": ("*Material, name=Q\n*Density\nx\n", r"line 4 of 'parts/inner.inp': \*DENSITY must have numbers"),
    "made": ("*NFILL\n1, 2\n", r"line 2 of 'parts/inner.inp': \*NFILL makes nodes or elements"),
    "axes": ("*System\n0,0,0,1,0,0\n2,0,0\n", r"line 2 of 'parts/inner.inp': \*SYSTEM must have axes"),
    "no file": ("*Include, input=no.inp\n", r"line 2 of 'parts/inner.inp': \*INCLUDE names 'no.inp', and there is no"),
    "no data": ("*Node, input=no.txt\n", r"line 2 of 'parts/inner.inp': \*NODE names 'no.txt', and there is no such"),
    "data elsewhere": ("*Node, input=nodes.txt\n", "line 1 of 'parts/nodes.txt': '90, x' must be a node number"),
    "lost": ("*Tie, name=T\nA, B\n", r"got TIE \(line 2 of 'parts/inner.inp': 'T'\)"),
    "heavy": (POINT.format(99).replace("*Mass", "*Mass, type=ANISOTROPIC"), r"got MASS \(line 4 of 'parts/inner.inp'"),
    "instance": ("*Instance, name=A, part=B\n", r"line 2 of 'parts/inner.inp': part 'B' of \*INSTANCE must be defined"),
}


@pytest.mark.parametrize("name", INNER)
def test_places_in_included_files(name, deck, tmp_path):
    """The file that has the line, by its path from the deck; lines after it are those of the deck again."""
    lines, message = INNER[name]
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "nodes.txt").write_text("90, x\n")
    (tmp_path / "parts" / "inner.inp").write_text("** of a part\n" + lines)
    nodes, rest = CUBES[: CUBES.index("*Element")], CUBES[CUBES.index("*Element") :]
    with pytest.raises(ValueError, match=message):
        fem.solid(deck(nodes + "*Include, input=parts/inner.inp\n" + rest))
    (tmp_path / "parts" / "inner.inp").write_text("** none\n")
    with pytest.raises(ValueError, match=r"deck\.inp': line 3: 'x, 0' must be a node number"):
        read(deck("*Include, input=parts/inner.inp\n*Node\nx, 0\n" + CUBES))


def test_nodes_of_an_included_file(deck, tmp_path):
    """A file of data alone goes on with the keyword before it."""
    (tmp_path / "nodes.txt").write_text(NODE_LINES)
    text = "*Node\n*Include, input=nodes.txt\n" + ELEMENTS + SECTION + MATERIAL
    assert mesh_report(deck(text)).measure == pytest.approx(2.0, rel=1e-12)


def test_nodes_of_another_file(deck, tmp_path):
    (tmp_path / "nodes.txt").write_text(NODE_LINES)
    assert mesh_report(deck("*Node, input=nodes.txt\n" + ELEMENTS + SECTION + MATERIAL)).measure == pytest.approx(2.0)


def test_laws_and_words_that_are_not_known(deck):
    with pytest.warns(ValidityWarning, match=r"material 'S' is elastic here, without \*PLASTIC \(line \d+\)"):
        fem.solid(deck(CUBES + "*Plastic\n1e8, 0.\n"))
    with pytest.warns(UserWarning, match=r"unknown keywords .*: \*FOO BAR \(line \d+\)"):
        read(deck(CUBES + "*Foo Bar\n1, 2\n"))
