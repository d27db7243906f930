"""Materials of decks: of any symmetry, by temperature, with damping, and in the units that their numbers tell."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from deck_texts import CUBES, SECTION
from decks_of import deck
from scipy.spatial.transform import Rotation
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report
from flexph import ValidityWarning
from flexph.bodies.reduced_file import load_reduced
from flexph.cli import main
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files import read_contents

WOOD = {"young": (1e10, 8e8, 5e8), "poisson": (0.3, 0.35, 0.4), "shear": (7e8, 6e8, 5e7), "density": 7850.0}
CONSTANTS = "*Elastic, type=ENGINEERING CONSTANTS\n1e10, 8e8, 5e8, .3, .35, .4, 7e8, 6e8\n5e7\n"
STIFF = (*WOOD["young"], *WOOD["poisson"], *WOOD["shear"])
BAR = (0.4, 0.2, 0.1)


@pytest.fixture
def inp(tmp_path):
    def written(text):
        (tmp_path / "deck.inp").write_text(text)
        return tmp_path / "deck.inp"

    return written


def elastic(lines):
    return CUBES.replace("*Elastic\n2.1e11, 0.3\n", lines)


def compliance(path, **options):
    """Compliance of the one material of a body."""
    model = fem.solid(path, **options)
    return model.elasticity.compliance.toarray()[:6, :6]


def by_hand(material, path):
    return fem.solid(path, material).elasticity.compliance.toarray()[:6, :6]


def abaqus_order(C):
    """Stiffness over (11, 22, 33, 12, 13, 23)."""
    order = [0, 1, 2, 5, 4, 3]
    return C[np.ix_(order, order)]


def rows(values):
    """Numbers of a material, eight in a line."""
    lines = [values[k : k + 8] for k in range(0, len(values), 8)]
    return "".join(", ".join(f"{v:.15g}" for v in line) + "\n" for line in lines)


def test_materials_of_lower_symmetry(inp):
    """Engineering constants, nine and 21 stiffnesses are one material; it is that of fem.Orthotropic."""
    own = fem.Orthotropic(**WOOD)
    D = abaqus_order(np.linalg.inv(own.compliance))
    nine = [D[0, 0], D[0, 1], D[1, 1], D[0, 2], D[1, 2], D[2, 2], D[3, 3], D[4, 4], D[5, 5]]
    all_of_them = [D[i, j] for j in range(6) for i in range(j + 1)]
    for lines in (
        CONSTANTS,
        "*Elastic, type=ORTHOTROPIC\n" + rows(nine),
        "*Elastic, type=ANISOTROPIC\n" + rows(all_of_them),
    ):
        path = inp(elastic(lines))
        np.testing.assert_allclose(compliance(path), by_hand(own, path), rtol=1e-9, atol=1e-16)


def test_axes_of_a_section(inp):
    """*ORIENTATION by two points, with a turn about an axis of its own."""
    text = elastic(CONSTANTS).replace("elset=ALL, material", "elset=ALL, orientation=O, material")
    path = inp("*Orientation, name=O\n0., 1., 0., -1., 0., 0.\n3, 30.\n" + text)
    axes = Rotation.from_euler("z", 120.0, degrees=True).as_matrix()
    np.testing.assert_allclose(
        compliance(path), by_hand(fem.Orthotropic(**WOOD, axes=axes), path), rtol=1e-9, atol=1e-16
    )
    round_z = inp("*Orientation, name=O, system=CYLINDRICAL\n0., 0., 0., 0., 0., 1.\n" + text)
    with pytest.raises(ValueError, match=r"material 'S' of the mesh: its axes are not known: \*ORIENTATION .*CYLINDR"):
        fem.solid(round_z)
    with pytest.raises(ValueError, match="axes are not known: ORIENTATION=O, which is not defined"):
        fem.solid(inp(text))
    with pytest.raises(ValueError, match="material 'S' of the mesh: material must be positive definite"):
        fem.solid(inp(elastic(CONSTANTS.replace(".35", "9."))))


def test_cards_of_lower_symmetry(tmp_path):
    own = fem.Orthotropic(**WOOD)
    C = np.linalg.inv(own.compliance)
    nastran = C[np.ix_([0, 1, 2, 5, 3, 4], [0, 1, 2, 5, 3, 4])]  # (xx, yy, zz, xy, yz, zx)
    upper = [f"{nastran[i, j]:.1E}".replace("E+0", "+") for i in range(6) for j in range(i, 6)]
    text = deck("bdf", box("hexahedron", (1, 1, 1), BAR))
    iso = next(line for line in text.splitlines() if line.startswith("MAT1"))
    words = ["7", *(f"{v:.2E}" for v in (*WOOD["young"], *WOOD["poisson"], *WOOD["shear"], 7850.0))]
    eleven = "MAT11," + "\n,".join(",".join(words[k : k + 8]) for k in (0, 8))
    (tmp_path / "a.bdf").write_text(text.replace(iso, eleven))
    given = read_contents(tmp_path / "a.bdf").materials["7"]
    np.testing.assert_allclose(given.stiffness, C, rtol=1e-9, atol=1e-3)
    assert fem.solid(tmp_path / "a.bdf").mass == pytest.approx(7850.0 * np.prod(BAR))
    words = ["7", *upper, "7850."]
    nine = "MAT9," + "\n,".join(",".join(words[k : k + 8]) for k in range(0, len(words), 8))
    (tmp_path / "b.bdf").write_text(text.replace(iso, nine))
    given = read_contents(tmp_path / "b.bdf").materials["7"]
    np.testing.assert_allclose(given.stiffness, C, rtol=0.05, atol=1e6)  # two digits are written
    assert given.density == 7850.0


def test_axes_of_elements_of_an_archive(tmp_path):
    """ESYS: rectangular systems of LOCAL in both forms, one or several for a material; others are refused by name."""
    text = deck("cdb", box("hexahedron", (2, 1, 1), BAR))
    labels = dict(zip(("EX", "EY", "EZ", "PRXY", "PRXZ", "PRYZ", "GXY", "GXZ", "GYZ"), STIFF, strict=True))
    text = re.sub(r"MPTEMP.*\nMPDATA,R5.0, 1,(EX|NUXY).*\n", "", text)
    text = text.replace("/GO", "\n".join(f"MP,{name},1,{value}" for name, value in labels.items()) + "\n/GO")
    heads = re.findall(r"^ {8}1 {8}1 {8}1 {8}1 {8}0.*$", text, re.M)
    assert len(heads) == 2
    of_system = lambda head, n: f"{head[:36]}{n:9d}{head[45:]}"  # noqa: E731
    three = "LOCAL,R5.0,LOC,     11,  0, 1.0, 2.0, 3.0\nLOCAL,R5.0,ANG,     11,  0, 30.0, 40.0, -50.0\n"
    three += "LOCAL,R5.0,PRM,     11,  0, 1.0, 1.0\n"
    one, path = "LOCAL,12,0,,,,30,40,-50\n", tmp_path / "a.cdb"
    axes = Rotation.from_euler("ZXY", [30.0, 40.0, -50.0], degrees=True).as_matrix()
    own = fem.Orthotropic(**WOOD, axes=axes)
    for lines, n in ((three, 11), (one, 12)):
        own_text = text
        for head in heads:
            own_text = own_text.replace(head, of_system(head, n))
        path.write_text(own_text.replace("ET,", lines + "ET,", 1))
        np.testing.assert_allclose(compliance(path), by_hand(own, path), rtol=1e-9, atol=1e-16)
    path.write_text(text.replace(heads[1], of_system(heads[1], 12)).replace("ET,", one + "ET,", 1))
    assert read_contents(path).sections == (("MAT 1 ESYS 0", "1"), ("MAT 1 ESYS 12", "1"))
    materials = {"MAT 1 ESYS 0": fem.Orthotropic(**WOOD), "MAT 1 ESYS 12": own}
    both = [fem.solid(path, given).elasticity.compliance.toarray() for given in (None, materials)]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-9, atol=1e-16)
    for lines, words in (("LOCAL,12,1,,,,30\n", "in system 12, of kind 1, not rectangular"), ("", "not in the file")):
        path.write_text(text.replace(heads[1], of_system(heads[1], 12)).replace("ET,", lines + "ET,", 1))
        with pytest.raises(ValueError, match=f"axes are not known: elements .*{words}"):
            fem.solid(path)


def card_of(name, words):
    """A card in free format, with continuations of eight fields."""
    return f"{name}," + "\n,".join(",".join(words[k : k + 8]) for k in range(0, len(words), 8)) + "\n"


def test_tables_of_cards_of_lower_symmetry(tmp_path):
    """MATT11 and MATT9: linear where all of the tables are known, refused beyond; constants without a table stay."""
    text = deck("bdf", box("hexahedron", (1, 1, 1), BAR))
    iso = next(line for line in text.splitlines() if line.startswith("MAT1"))
    curves = "TABLEM1,5\n,20.,1.+10,120.,8.+9,ENDT\nTABLEM1,6\n,20.,7850.,220.,7650.,ENDT\n"
    eleven = card_of("MAT11", ["7", *(f"{v:.2E}" for v in STIFF), "1."])
    eleven += card_of("MATT11", ["7", "5", *[""] * 8, "6"])
    (tmp_path / "a.bdf").write_text(text.replace(iso, eleven + curves))
    given = read_contents(tmp_path / "a.bdf", (), MeshRequest(temperature=70.0)).materials["7"]
    own = fem.Orthotropic(**{**WOOD, "young": (9e9, *WOOD["young"][1:])})
    at_end = read_contents(tmp_path / "a.bdf", (), MeshRequest(temperature=120.0)).materials["7"]
    end = fem.Orthotropic(**{**WOOD, "young": (8e9, *WOOD["young"][1:])})
    np.testing.assert_allclose(at_end.stiffness, np.linalg.inv(end.compliance), rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(given.stiffness, np.linalg.inv(own.compliance), rtol=1e-9, atol=1e-3)
    assert given.density == pytest.approx(7800.0, rel=1e-12)
    beyond = read_contents(tmp_path / "a.bdf", (), MeshRequest(temperature=150.0)).materials["7"]
    assert "engineering constants at temperatures from 20 to 120, not at 150" in beyond.refused
    stiffness = np.linalg.inv(end.compliance)[np.ix_([0, 1, 2, 5, 3, 4], [0, 1, 2, 5, 3, 4])]
    upper = [stiffness[i, j] for i in range(6) for j in range(i, 6)]
    nine = card_of("MAT9", ["7", *(f"{v:.5E}" for v in upper), "7850."])
    nine += card_of("MATT9", ["7", "5", *["" for _ in upper[1:]], "6"])
    (tmp_path / "b.bdf").write_text(text.replace(iso, nine + curves))
    given = read_contents(tmp_path / "b.bdf", (), MeshRequest(temperature=70.0)).materials["7"]
    assert given.stiffness[0, 0] == pytest.approx(9e9) and given.density == pytest.approx(7800.0)
    assert given.stiffness[1, 2] == pytest.approx(np.linalg.inv(end.compliance)[1, 2], rel=1e-5)  # six digits
    apart = curves.replace("20.,7850.,220.", "20.,7850.,15.")
    (tmp_path / "c.bdf").write_text(text.replace(iso, nine + apart))
    assert "pairs of ascending temperatures" in read_contents(tmp_path / "c.bdf").materials["7"].refused
    lost = eleven.replace("MATT11,7,5,,", "MATT11,7,5,6,") + curves.replace("20.,7850.", "150.,7850.")
    (tmp_path / "d.bdf").write_text(text.replace(iso, lost))
    assert "tables with common temperatures" in read_contents(tmp_path / "d.bdf").materials["7"].refused


def test_tables_by_temperature(inp, tmp_path):
    """Linear between entries, constant beyond their ends; without a temperature the table is refused."""
    path = inp(elastic("*Elastic\n2e11, .3, 20.\n1e11, .3, 120.\n").replace("7850.,", "7850., 20.\n7650., 120."))
    with pytest.raises(
        ValueError, match=r"'S' of the mesh has density, isotropic at 2 temp.* 20 to 120: give temperature="
    ):
        fem.solid(path)
    for temperature, young, rho in ((-50.0, 2e11, 7850.0), (70.0, 1.5e11, 7750.0), (400.0, 1e11, 7650.0)):
        assert fem.solid(path, temperature=temperature).mass == pytest.approx(2.0 * rho)
        own = fem.Material(young=young, density=rho, poisson=0.3)
        np.testing.assert_allclose(compliance(path, temperature=temperature), by_hand(own, path), rtol=1e-12)
    assert mesh_report(path, request=MeshRequest(temperature=70.0)).mass == pytest.approx(15500.0)
    arguments = ["reduce", str(path), "--ports", "end=ALL", "--temperature", "70", "--out", str(tmp_path / "b.h5")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1 and "port 'end' must be a region of facets" in result.output
    twice = inp(elastic("*Elastic\n2e11, .3, 20.\n1e11, .3, 20.\n"))
    with pytest.raises(ValueError, match="its temperatures must differ"):
        fem.solid(twice)


def test_damping_of_materials_is_that_of_the_body(inp, tmp_path):
    path = inp(CUBES + "*Damping, alpha=2., beta=1e-4\n")
    body, bare = fem.solid(path), fem.solid(path, damping=fem.Damping())
    assert (body.elasticity.mass_damping, body.elasticity.stiffness_damping) == (2.0, 1e-4)
    assert (bare.elasticity.mass_damping, bare.elasticity.stiffness_damping) == (0.0, 0.0)
    assert fem.solid(path, fem.Material(young=1.0, density=1.0, poisson=0.3)).elasticity.mass_damping == 0.0
    with pytest.warns(ValidityWarning, match=r"without \*DAMPING, STRUCTURAL"):
        fem.solid(inp(CUBES + "*Damping, structural=.01\n"))
    with pytest.raises(ValueError, match=r"\*DAMPING must have numbers as ALPHA and BETA"):
        fem.solid(inp(CUBES + "*Damping, alpha=much\n"))
    text = deck("bdf", box("hexahedron", (1, 1, 1), BAR)).replace(
        "PSOLID", "PARAM,ALPHA1,3.\nPARAM,ALPHA2,1.-5\nPSOLID"
    )
    (tmp_path / "deck.bdf").write_text(text)
    own = fem.solid(tmp_path / "deck.bdf").elasticity
    assert (own.mass_damping, own.stiffness_damping) == (3.0, 1e-5)


def test_different_damping_is_said(inp):
    two = "*Elset, elset=A\n1\n*Elset, elset=B\n2\n*Solid Section, elset=A, material=S\n"
    text = CUBES.replace(SECTION, two + "*Solid Section, elset=B, material=L\n")
    text += "*Damping, alpha=2.\n*Material, name=L\n*Density\n2000.\n*Elastic\n7e10, 0.3\n"
    with pytest.warns(UserWarning, match=r"different \*DAMPING.*undamped, give damping="):
        assert fem.solid(inp(text)).elasticity.mass_damping == 0.0


SYSTEMS = {
    "mm, t, s": ("1 mm", "2.1e5", "7.85e-9"),
    "mm, kg, ms": ("1 mm", "210.", "7.85e-6"),
    "mm, kg, s": ("1 mm", "2.1e8", "7.85e-6"),
    "mm, g, ms": ("1 mm", "2.1e5", "7.85e-3"),
    "cm, g, µs": ("1 cm", "2.1", "7.85"),
    "in, lbf·s²/in, s": (0.0254, "3.0458e7", "7.3454e-4"),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_density_and_modulus_tell_the_units(name, inp):
    """In the unit of length that is given: mass, moduli, point masses and damping are those in kg, Pa and s."""
    unit, young, rho = SYSTEMS[name]
    text = CUBES.replace("2.1e11", young).replace("7850.", rho)
    path = inp(text)
    length = {"1 mm": 1e-3, "1 cm": 1e-2}.get(unit, unit)
    body = fem.solid(path, unit=unit)
    assert body.mass == pytest.approx(15700.0 * length**3, rel=1e-4)
    own = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    twin = fem.solid(path, own, unit=unit)
    ratio = body.elasticity.compliance.toarray()[0, 0] / twin.elasticity.compliance.toarray()[0, 0]
    assert ratio == pytest.approx(1.0, rel=1e-4)
    report = mesh_report(path, request=MeshRequest(unit=length))
    assert report.mass == pytest.approx(15700.0 * length**3, rel=1e-4) and report.mass_unit == "kg"
    with pytest.warns(ValidityWarning, match=r"material 'S' has a density of .*in SI units is no solid; it looks like"):
        fem.solid(path)


def test_numbers_that_tell_no_unit(inp):
    """Steel in SI units within a mesh in millimetres is not taken; without unit= SI units are taken as they are."""
    with pytest.raises(
        ValueError, match=r"material must be given: 'S' has a density of 7850 and a modulus of 2.1e[+]11: in no"
    ):
        fem.solid(inp(CUBES), unit="1 mm")
    mass = "*Element, type=MASS, elset=M\n100, 12\n*Mass, elset=M\n2e-3\n"
    with pytest.raises(ValueError, match="unit must be left out for a file with masses in its own units"):
        fem.solid(inp(CUBES + mass), unit="1 mm")
    tonnes = CUBES.replace("2.1e11", "2.1e5").replace("7850.", "7.85e-9")
    assert fem.solid(inp(tonnes + mass), unit="1 mm").mass == pytest.approx(1.57e-5 + 2.0)
    damped = fem.solid(
        inp(CUBES.replace("2.1e11", "210.").replace("7850.", "7.85e-6") + "*Damping, alpha=.002, beta=3.\n"),
        unit="1 mm",
    )
    assert (damped.elasticity.mass_damping, damped.elasticity.stiffness_damping) == pytest.approx((2.0, 3e-3))


def test_commands_take_units(tmp_path):
    """reduce takes the materials of the file in its units, and the name of a coupling as a port."""
    text = deck("inp", box("hexahedron", (2, 1, 1), (400.0, 200.0, 100.0)))
    text = text.replace("210000000000.0", "2.1e5").replace("7800.0", "7.8e-9")
    (tmp_path / "bar.inp").write_text(text + "*Node\n99, 0., 100., 50.\n*Kinematic Coupling, ref node=99\nROOT, 1, 6\n")
    out = tmp_path / "bar.h5"
    arguments = ["reduce", str(tmp_path / "bar.inp"), "--ports", "hub=KINEMATIC COUPLING 99", "--reference", "hub"]
    result = CliRunner().invoke(main, [*arguments, "--unit", "mm", "--modes", "2", "--out", str(out)])
    assert result.exit_code == 0, result.output
    body = load_reduced(out)
    assert body.mass == pytest.approx(7800.0 * 8e-3)
    np.testing.assert_allclose(body.ports["hub"].position, [0.0, 0.1, 0.05])
