"""Decks of Abaqus, Nastran, Ansys and I-DEAS with one mesh: read as the same body, or refused by line."""

import meshio
import numpy as np
import pytest
from decks_of import FORMS, NU, RHO, E, deck
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report
from flexph import eigenfrequencies
from flexph.bodies import linear_body
from flexph.meshes.files import read_contents

STEEL = fem.Material(young=E, density=RHO, poisson=NU)
BAR = (0.4, 0.2, 0.1)
ALL = [(form, kind) for form, kinds in FORMS.items() for kind in kinds]


def written(path, text):
    path.write_text(text)
    return path


@pytest.mark.filterwarnings("ignore:C3D(6|15) is integrated at")
@pytest.mark.parametrize(("form", "kind"), ALL)
def test_all_kinds_of_cells_in_all_forms(form, kind, tmp_path):
    """Volume and curved shape by the nodes of edges, which are moved: another order would fold the cells."""
    mesh = box(kind, (2, 1, 1), BAR, moved=0.1)
    mesh.points = mesh.points + 0.004 * np.sin(9.0 * mesh.points[:, [1, 2, 0]])
    at_root = np.abs(mesh.points[:, 0]) < 1e-9
    mesh.points[at_root, 0] = 0.0
    report = mesh_report(written(tmp_path / f"bar.{form}", deck(form, mesh)), RHO)
    twin = mesh_report(mesh, RHO)
    assert report.cells == twin.cells
    assert (report.mass, report.quality) == pytest.approx((twin.mass, twin.quality), rel=1e-7)  # ten digits in bdf
    np.testing.assert_allclose(report.inertia, twin.inertia, rtol=1e-6, atol=1e-9 * np.abs(twin.inertia).max())


@pytest.mark.parametrize("form", ["cdb", "unv"])
def test_groups_and_materials(form, tmp_path):
    mesh = box("hexahedron20", (2, 1, 1), BAR)
    path = written(tmp_path / f"bar.{form}", deck(form, mesh))
    own = None if form == "cdb" else STEEL
    body = fem.solid(path, own, ports={"root": "ROOT"}, reference="root")
    twin = fem.solid(mesh, STEEL, ports={"root": "left"}, reference="root")
    np.testing.assert_allclose(*(eigenfrequencies(linear_body(b, "b"), 3) for b in (body, twin)), rtol=1e-9)
    if form == "unv":
        with pytest.raises(ValueError, match="material must be given: the mesh has none of its own"):
            fem.solid(path)


def test_the_unit_of_a_universal_file_counts(tmp_path):
    """Its lengths are divided by the factor of data set 164; unit= stands for it, as SALOME always writes metres."""
    text = deck("unv", box("tetra", (1, 1, 1), (400.0, 200.0, 100.0)))
    millimetres = text.replace("1.0000000000000000E+0" * 1, "1.0000000000000000D+3", 1)
    assert mesh_report(written(tmp_path / "a.unv", millimetres)).measure == pytest.approx(8e-3)
    assert fem.solid(written(tmp_path / "b.unv", text), STEEL, unit="1 mm").mass == pytest.approx(8e-3 * RHO)


def test_a_group_of_elements_is_a_region(tmp_path):
    mesh = box("hexahedron", (2, 1, 1), BAR)
    unv = deck("unv", mesh).replace(
        "  2467\n", "  2467\n" + f"{9:10d}" + f"{0:10d}" * 6 + f"{1:10d}\nEND\n" + f"{8:10d}{2:10d}{0:10d}{0:10d}\n"
    )
    cdb = deck("cdb", mesh).replace("CMBLOCK,ROOT", "CMBLOCK,END,ELEM, 1\n(8i10)\n         2\nCMBLOCK,ROOT")
    for form, text in (("unv", unv), ("cdb", cdb)):
        body = fem.solid(written(tmp_path / f"bar.{form}", text), STEEL, select="END")
        assert body.mass == pytest.approx(0.5 * RHO * np.prod(BAR))


def test_med_files_are_read(tmp_path):
    """By meshio, with h5py: cells and their numbers."""
    mesh = box("hexahedron", (2, 1, 1), BAR)
    plain = meshio.Mesh(mesh.points, mesh.cells, cell_data={"cell_tags": [np.array([-1, -2])]})
    plain.cell_tags = {-1: ["first"], -2: ["second", "last"]}
    meshio.write(tmp_path / "bar.med", plain)
    body = fem.solid(tmp_path / "bar.med", {"first": STEEL, "last": STEEL})
    assert body.mass == pytest.approx(RHO * np.prod(BAR))


CDB = deck("cdb", box("hexahedron", (1, 1, 1), BAR))
UNV = deck("unv", box("hexahedron", (1, 1, 1), BAR))
SYSTEM = (
    "    -1\n    -1\n  2420\n         1\nP\n         1         1         0\nC\n 1. 0. 0.\n 0. 1. 0.\n 0. 0. 1.\n"
    " 0. 0. 0.\n    -1\n    -1\n  2411"
)
BAD = {
    "script": (
        "cdb",
        CDB.replace("ET,  1", "/INPUT,other,inp\nET,  1"),
        r"/INPUT \(line 5\): /INPUT runs commands, and none",
    ),
    "loop": ("cdb", CDB.replace("ET,  1", "*DO,I,1,3\n*ENDDO\nET,  1"), r"\*DO runs commands"),
    "nodes": (
        "cdb",
        CDB.replace("N,R5.3", "N,99,1.,2.,3.\nN,R5.3"),
        r"line \d+: N is not run: write all nodes and elements",
    ),
    "other material": ("cdb", CDB + "MPCHG,2,ALL\n", "MPCHG is not run: write all nodes and elements"),
    "conditional": ("cdb", CDB.replace("NUMOFF,NODE,  10", "ET,1,186"), "line 3: ET is not run"),
    "format": ("cdb", CDB.replace("(19i9)", "(what)"), "must be formats such as"),
    "columns": ("cdb", CDB.replace("(19i9)", "(19i8)"), "coincide as in no wedge"),
    "no type": ("cdb", CDB.replace("ET,  1,185", ""), "element 1 must have a type that ET defines, got 1"),
    "short": (
        "cdb",
        CDB.replace("        8        0        1", "       20        0        1"),
        "element 1 must have 20 nodes, got 8",
    ),
    "lost node": (
        "cdb",
        CDB.replace("        1        0        0", "       99        0        0", 1),
        "must have nodes of the file, got 1",
    ),
    "range": (
        "cdb",
        CDB.replace("CMBLOCK,ROOT", "CMBLOCK,Q,NODE,2\n(8i10)\n         5        -2\nCMBLOCK,ROOT"),
        "-2 must end a range of at most",
    ),
    "temperatures": (
        "cdb",
        CDB.replace(
            "MPTEMP,R5.0, 1, 1,  0.00000000    ,\nMPDATA,R5.0, 1,EX", "MPTEMP,R5.0, 2, 1,  0., 9.,\nMPDATA,R5.0, 3,EX"
        ).replace("2.100000000E+11,", "2.1E+11,2E+11,1E11,"),
        "must have a temperature for each value",
    ),
    "cut": ("unv", UNV[: UNV.rindex("    -1")], "it is incomplete: the data set at line"),
    "no begin": ("unv", "hello\n" + UNV, "line 1: 'hello' must be -1"),
    "words": (
        "unv",
        UNV.replace("         1         1         1        11", "         1         x         1        11", 1),
        "must be whole numbers in columns of ten",
    ),
    "kind": ("unv", UNV.replace("       115", "       117"), "element.* 117|it must have volume"),
    "few": ("unv", UNV.replace("       115", "       111"), r"element 1 of type 111 must have 4 nodes, got \["),
    "twice": (
        "unv",
        UNV.replace("         2         1         1        11", "         1         1         1        11"),
        "node numbers must be unique, got 1 twice",
    ),
    "factor": (
        "unv",
        UNV.replace("1.0000000000000000E+0", "0.0000000000000000E+0", 1),
        "factor of lengths must be positive, got 0",
    ),
    "system": ("unv", UNV.replace("    -1\n    -1\n  2411", SYSTEM), "nodes must be in the global system, got some in"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused(name, tmp_path):
    form, text, message = BAD[name]
    assert text not in (CDB, UNV)
    with pytest.raises(ValueError, match=message):
        read_contents(written(tmp_path / f"bad.{form}", text))


LOST = {
    "spring": (
        "cdb",
        lambda t: t.replace("ET,  1,185", "ET,  1,185\nET,  2,14").replace(
            "(19i9)\n", "(19i9)\n" + "".join(f"{w:9d}" for w in (1, 2, 1, 1, 0, 0, 0, 0, 2, 0, 9, 1, 2)) + "\n"
        ),
        r"got 14 \(line \d+: such elements are not supported\)",
    ),
    "equation": ("cdb", lambda t: t + "CE,R5.0,DEFI, 2, 1, 0.\n", r"got CE \(line \d+\)"),
    "mass": (
        "unv",
        lambda t: t.replace(
            "  2412\n", "  2412\n" + "".join(f"{w:10d}" for w in (9, 161, 1, 1, 7, 1)) + "\n         1\n"
        ),
        r"got 161 \(line \d+: such elements",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_elements_that_are_not_read_are_named(name, tmp_path):
    form, changed, message = LOST[name]
    path = written(tmp_path / f"deck.{form}", changed({"cdb": CDB, "unv": UNV}[form]))
    with pytest.raises(ValueError, match=message):
        fem.solid(path, STEEL)
    omit = {"spring": "14", "equation": "CE", "mass": "161"}[name]
    assert fem.solid(path, STEEL, omit=(omit,)).mass == pytest.approx(RHO * np.prod(BAR))


def test_corners_that_coincide_as_in_no_cell(tmp_path):
    line = next(text for text in CDB.splitlines() if text.startswith("        1        1        1        1        0"))
    with pytest.raises(ValueError, match="element 1 of type 185 has corners that coincide as in no wedge"):
        read_contents(written(tmp_path / "bad.cdb", CDB.replace(line, line[:-9] + line[-36:-27])))


def test_moduli_by_temperature_and_of_an_orthotropic_material(tmp_path):
    table = CDB.replace(
        "MPTEMP,R5.0, 1, 1,  0.00000000    ,\nMPDATA,R5.0, 1,EX  ,       1, 1, 2.100000000E+11,",
        "MPTEMP,R5.0, 2, 1, 0., 100.,\nMPDATA,R5.0, 2,EX,1,1,2.1E11,1.9E11,",
    )
    table = table.replace("MPDATA,R5.0, 1,NUXY,       1, 1, 3.000000000E-01,", "MPDATA,R5.0, 1,NUXY,1,1,0.3,")
    with pytest.raises(ValueError, match="has isotropic at 2 temperatures from 0 to 100: give temperature="):
        fem.solid(written(tmp_path / "t.cdb", table))
    warm, twin = (
        fem.solid(tmp_path / "t.cdb", temperature=25.0, ports={"r": "ROOT"}, reference="r"),
        fem.solid(
            box("hexahedron", (1, 1, 1), BAR),
            fem.Material(young=2.05e11, density=RHO, poisson=0.3),
            ports={"r": "left"},
            reference="r",
        ),
    )
    np.testing.assert_allclose(*(eigenfrequencies(linear_body(b, "b"), 2) for b in (warm, twin)), rtol=1e-9)
    moduli = {
        "EX": 1e10,
        "EY": 2e10,
        "EZ": 3e10,
        "PRXY": 0.1,
        "PRYZ": 0.2,
        "PRXZ": 0.15,
        "GXY": 4e9,
        "GYZ": 5e9,
        "GXZ": 6e9,
    }
    wood = (
        CDB[: CDB.index("MPTEMP")]
        + "".join(f"MP,{label},1,{value}\n" for label, value in moduli.items())
        + "MP,DENS,1,700.\n"
    )
    given = read_contents(written(tmp_path / "w.cdb", wood)).materials["1"]
    own = fem.Orthotropic(young=(1e10, 2e10, 3e10), poisson=(0.1, 0.15, 0.2), shear=(4e9, 6e9, 5e9), density=700.0)
    np.testing.assert_allclose(given.stiffness, np.linalg.inv(own.compliance), rtol=1e-9, atol=1.0)
    assert fem.solid(tmp_path / "w.cdb").mass == pytest.approx(700.0 * np.prod(BAR))
