"""Bulk data of Nastran is read as Nastran reads it, or refused by what it has."""

import numpy as np
import pytest
from deck_texts import CELLS, CORNERS, CYLINDER, GRIDS, HEXAS, bulk, grid, hexa

import fem
from fem.mesh_report import mesh_report
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files import read, read_contents

MATERIAL = "MAT1    7       2.1+11          .3      7850.\nPSOLID  1       7\n"
TURNED = "CORD2R  {:<8}{:<8}1.      0.      0.      1.      0.      1.      +\n+       1.      1.      0.\n"
LARGE = "GRID*   {:16d}{:16}{:16.9f}{:16.9f}{}\n*       {:16.9f}\n"
FREE = "CHEXA,1,1,1,5,6,2,4,8,+\n+,7,3\nCHEXA,2,1,5,9,10,6,8,12\n,11,7\n"
SAME = {
    "small": GRIDS + HEXAS,
    "lower case": (GRIDS + HEXAS).lower(),
    "byte order mark": "\ufeff" + bulk(GRIDS + HEXAS),
    "crlf": (GRIDS + HEXAS).replace("\n", "\r\n"),
    "blank continuations": GRIDS + "".join(hexa(k, cell, " ").replace(" \n", "\n") for k, cell in enumerate(CELLS, 1)),
    "marks of other first columns": GRIDS
    + "".join(hexa(k, cell, "+AB").replace("+AB\n", "KAB\n", 1) for k, cell in enumerate(CELLS, 1)),
    "named continuations": GRIDS + "".join(hexa(k, cell, f"+A{k}") for k, cell in enumerate(CELLS, 1)),
    "large": "".join(LARGE.format(k, "", *at[:2], "*", at[2]) for k, at in enumerate(CORNERS, 1)) + HEXAS,
    "large, blank mark": "".join(LARGE.format(k, "", *at[:2], "", at[2]) for k, at in enumerate(CORNERS, 1)) + HEXAS,
    "free": "".join(f"GRID,{k},,{x},{y},{z}\n" for k, (x, y, z) in enumerate(CORNERS, 1)) + FREE,
    "free, large": "".join(f"GRID*,{k},,{x},{y}\n*,{z}\n" for k, (x, y, z) in enumerate(CORNERS, 1)) + HEXAS,
    "tabs": "".join(f"GRID\t{k}\t\t{x}\t{y}\t{z}\n" for k, (x, y, z) in enumerate(CORNERS, 1)) + HEXAS,
    "exponents": "".join(f"GRID,{k},,{x}+0,{y}D0,{z}\n" for k, (x, y, z) in enumerate(CORNERS, 1)) + HEXAS,
    "comments": "$ a, b\n" + GRIDS.replace("\n", "  $ c\n", 3) + "\n$\n" + HEXAS,
}


@pytest.fixture
def deck(tmp_path):
    def written(body):
        (tmp_path / "deck.bdf").write_bytes((body if "ENDDATA" in body else bulk(body)).encode())
        return tmp_path / "deck.bdf"

    return written


@pytest.mark.parametrize("name", SAME)
def test_all_formats_of_fields_give_one_mesh(name, deck):
    mesh = read(deck(SAME[name]))
    np.testing.assert_allclose(mesh.points, CORNERS, rtol=0.0, atol=0.0)
    assert [(b.type, b.data.tolist()) for b in mesh.cells] == [("hexahedron", [[n - 1 for n in c] for c in CELLS])]


def test_systems_of_grid_points(deck):
    """Cylinder, default system, a chain of three, and one by grid points; θ of a sphere is from its pole."""
    assert mesh_report(deck(CYLINDER)).measure == pytest.approx(0.75, rel=1e-12)
    turned = TURNED.format(9, "")
    shift = [1.0, 0.0, 0.0]
    own = np.array(CORNERS) @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + shift
    np.testing.assert_allclose(read(deck(turned + "GRDSET          9\n" + GRIDS + HEXAS)).points, own, atol=1e-15)
    basic = "".join(grid(k, at, 0) for k, at in enumerate(CORNERS, 1))
    np.testing.assert_array_equal(read(deck(turned + "GRDSET          9\n" + basic + HEXAS)).points, CORNERS)
    round_z = "CORD2C  8       9       0.      0.      0.      0.      0.      1.      +\n+       1.      0.      0.\n"
    last = "CORD2R  7       8       1.      90.     0.      1.      90.     1.      +\n+       2.      90.     0.\n"
    chain = "".join(grid(k, at, 7) for k, at in enumerate(CORNERS, 1))  # a turn of 90° in each of the two outer ones
    np.testing.assert_allclose(
        read(deck(last + round_z + turned + chain + HEXAS)).points, np.array(CORNERS) * [-1.0, -1.0, 1.0], atol=1e-15
    )
    three = grid(101, (1, 1, 1)) + grid(102, (1, 1, 2)) + grid(103, (1, 2, 1))
    by_points = "CORD1R  5       101     102     103\n" + three
    placed = read(deck(by_points + "".join(grid(k, at, 5) for k, at in enumerate(CORNERS, 1)) + HEXAS)).points
    np.testing.assert_allclose(placed[8], [1.0, 3.0, 1.0], atol=1e-15)
    ball = "CORD2S  1       0       0.      0.      0.      0.      0.      1.      +\n+       1.      0.      0.\n"
    pole = ball + "".join(grid(k, (1.0 + k, 60.0, 90.0), 1) for k in range(1, 9)) + hexa(1, range(1, 9))
    np.testing.assert_allclose(read(deck(pole)).points[1], [0.0, 3.0 * np.sqrt(0.75), 1.5], atol=1e-15)


def test_included_files_are_read(deck, tmp_path):
    (tmp_path / "more.bdf").write_text(hexa(2, CELLS[1]))
    for statement in ("INCLUDE 'more.bdf'", "include more.bdf", 'Include "more.\nbdf"'):
        assert mesh_report(deck(bulk(GRIDS + hexa(1, CELLS[0]) + statement + "\n"))).measure == pytest.approx(2.0)


def test_bulk_data_without_other_sections_is_read(deck):
    """Without executive and case control, as gmsh writes it."""
    assert mesh_report(deck("$ Created by Gmsh\n" + GRIDS + HEXAS + "ENDDATA\n")).measure == pytest.approx(2.0)


def test_materials_and_point_masses(deck):
    mass = "CONM2   50      12              100.\n"
    assert mesh_report(deck(GRIDS + HEXAS + MATERIAL)).mass == pytest.approx(15700.0, rel=1e-12)
    body = fem.solid(deck(GRIDS + HEXAS + MATERIAL + mass))
    assert body.mass == pytest.approx(15800.0, rel=1e-12)
    assert body.inertia.first[0] == pytest.approx(15700.0 + 2.0 * 100.0, rel=1e-12)
    half = mesh_report(deck(GRIDS + HEXAS + MATERIAL + mass + "PARAM   WTMASS  .5\n"))
    assert half.mass == pytest.approx(7900.0, rel=1e-12)
    held = read_contents(deck(GRIDS + HEXAS + MATERIAL.replace(".3 ", "  ").replace("2.1+11  ", "2.1+11  8.4+10  ")))
    assert held.materials["7"].poisson == pytest.approx(0.25, rel=1e-12)


LOST = {
    "RBE2": ("RBE2    9       1       123     2       3\n", False),
    "RBE3": ("RBE3    9               1       123     1.      123     2\n", False),
    "RBAR": ("RBAR    9       1       2\n", False),
    "CELAS2": ("CELAS2  9       1.      1       1\n", False),
    "CMASS2": ("CMASS2  9       1.      1       1\n", True),
    "CWHAT": ("CWHAT   9       1.      1       1\n", True),
    "CONM2": ("CONM2   50      12              5.      1.\n", True),
    "CQUAD4": ("CQUAD4  9       5       1       2       3       4\nPSHELL  5       7       .1\n", True),
    "CBAR": ("CBAR    9       5       1       2       0.      0.      1.\nPBAR    5       7       .1\n", True),
    "CONROD": ("CONROD  9       1       2       7       .1\n", True),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_not_taken_is_named(name, deck):
    lines, heavy = LOST[name]
    path = deck(GRIDS + HEXAS + MATERIAL + lines)
    with pytest.raises(ValueError, match=rf"supported parts only, got {name} \(line 23.*omit=\('{name}',\)"):
        fem.solid(path)
    if heavy:
        with pytest.raises(ValueError, match=rf"got {name} \(line 23"):
            mesh_report(path)
    else:
        with pytest.warns(UserWarning, match=rf"left out here.*{name} \(line 23"):
            assert mesh_report(path).mass == pytest.approx(15700.0, rel=1e-12)
    assert fem.solid(path, omit=(name,)).mass == pytest.approx(15700.0, rel=1e-12)


def test_skins_without_a_property_are_regions(deck):
    path = deck(GRIDS + HEXAS + MATERIAL + "CQUAD4  9       5       1       2       3       4       30.     .1\n")
    assert fem.solid(path, ports={"skin": "5"}, reference="skin").mass == pytest.approx(15700.0, rel=1e-12)


def test_nodes_of_cells_of_second_degree(deck):
    """Nastran has the nodes along the height before those at the top, meshio behind them."""
    corners = [(x, y, z) for z in (0.0, 2.0) for x, y in ((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0))]
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4)]
    at = [*corners, *(tuple(0.5 * (a + b) for a, b in zip(corners[i], corners[j], strict=True)) for i, j in edges)]
    fields = [str(n) for n in range(1, 21)]
    rows = [fields[:6], fields[6:14], fields[14:]]
    cell = "CHEXA,1,1," + "\n,".join(",".join(row) for row in rows) + "\n"
    body = "".join(grid(k, x) for k, x in enumerate(at, 1)) + cell
    assert mesh_report(deck(body)).measure == pytest.approx(8.0, rel=1e-12)


REFUSED = {
    "circle": (TURNED.format(8, 9) + TURNED.format(9, 8), "coordinate system 9 must not be defined relative to itself"),
    "lost system": ("", "coordinate system 9 must be defined by CORD1 or CORD2 cards, there are none"),
    "line": (
        TURNED.format(9, "").replace("1.      1.      0.", "1.      0.      4."),
        "must not lie on one line",
    ),
    "grid": (grid(1, (5, 5, 5)), r"GRID \(line 6\) must not define grid point 1 a second time"),
    "system": (
        "CORD2R,7,,,,,,,1.\n,1.\nCORD2R,7,,,,,,,1.\n,,1.\n",
        "must not define coordinate system 7 a second time",
    ),
    "property": ("PSOLID,8,1\nPSOLID,8,2\n", r"PSOLID \(line 6\) must not define property 8 a second time"),
    "material": ("MAT1,8,1.,,.3\nMAT1,8,2.,,.3\n", r"MAT1 \(line 6\) must not define material 8 a second time"),
    "other folder": ("INCLUDE '../more.bdf'\n", "it names '../more.bdf', which is not in its folder"),
    "no file": ("INCLUDE 'no.bdf'\n", "line 5: INCLUDE names 'no.bdf', and there is no such file"),
    "itself": ("INCLUDE 'deck.bdf'\n", "it must include at most 200 files; does one include itself"),
    "continuation": (
        "CHEXA   5       1       1       5       6       2       4       8       +A\n+B\n",
        "'.B' must",
    ),
    "nodes": ("CHEXA   5       1       1       5       6       2\n", r"CHEXA .* must have 8 or 20 nodes, got 1 5 6 2"),
    "wedge": (
        "CPENTA  5       1       1       5       6       2       4       8\n        9       10      11\n",
        "must have 6 or 15 nodes, got 1 5 6 2 4 8 9 10 11",
    ),
    "number": ("GRID    90              x\n", r"GRID \(line 5\) must have a number in field 4, got 'x'"),
    "superelement": ("BEGIN SUPER=1\n", "line 5: BEGIN SUPER=1 begins a superelement"),
    "twice": (hexa(1, CELLS[0]), "element numbers must be unique, got 1 twice"),
}
INNER = {
    "number": ("GRID    90              x\n", r"GRID \(line 2 of 'parts/inner.bdf'\) must have a number in field 4"),
    "nodes": ("CHEXA   5       1       1       5\n", r"CHEXA \(line 2 of 'parts/inner.bdf'\) must have 8 or 20 nodes"),
    "nodes elsewhere": (hexa(5, [90] * 8), r"CHEXA \(line 2 of 'parts/inner.bdf'\) must have grid points of the file"),
    "free": (
        "GRID,1,,2,3,4,5,6,7,8,9,1\n",
        "line 2 of 'parts/inner.bdf': a line in free format must have at most 8 fields",
    ),
    "continuation": (hexa(5, CELLS[0], "+A").replace("\n+A", "\n+B"), "line 3 of 'parts/inner.bdf': the continuation"),
    "no file": ("INCLUDE 'no.bdf'\n", "line 2 of 'parts/inner.bdf': INCLUDE names 'no.bdf', and there is no such file"),
    "superelement": ("BEGIN SUPER=1\n", "line 2 of 'parts/inner.bdf': BEGIN SUPER=1"),
    "lost": ("RBE2    9       1       123     2\n", r"got RBE2 \(line 2 of 'parts/inner.bdf': its"),
    "heavy": (
        "CONM2   50      12              5.      1.\n",
        r"got CONM2 \(line 2 of 'parts/inner.bdf': it has an offset",
    ),
    "moduli": ("MAT1    7       2.1+11  9.+11   .3\n", r"contradict each other \(line 2 of 'parts/inner.bdf'\)"),
}


@pytest.mark.parametrize("name", INNER)
def test_places_in_included_files(name, deck, tmp_path):
    """The file that has the line, by its path from the deck; lines after it are those of the deck again."""
    lines, message = INNER[name]
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "inner.bdf").write_text("$ of a part\n" + lines)
    material = MATERIAL if name != "moduli" else MATERIAL.partition("\n")[2]
    with pytest.raises(ValueError, match=message):
        fem.solid(deck(GRIDS + HEXAS + "INCLUDE 'parts/inner.bdf'\n" + material))
    (tmp_path / "parts" / "inner.bdf").write_text("")
    with pytest.raises(ValueError, match=r"deck.bdf': GRID \(line 6\) must have a number"):
        read(deck("INCLUDE 'parts/inner.bdf'\n" + "GRID    90              x\n" + GRIDS + HEXAS))


@pytest.mark.parametrize("name", REFUSED)
def test_bulk_data_that_cannot_be_read_is_refused(name, deck):
    lines, message = REFUSED[name]
    grids = (
        "".join(grid(k, at, 9) for k, at in enumerate(CORNERS, 1))
        if name in ("circle", "lost system", "line")
        else GRIDS
    )
    with pytest.raises(ValueError, match=f"(?s)mesh cannot be read from '.*deck.bdf': .*{message}"):
        read(deck(lines + grids + HEXAS))


def test_a_file_that_is_cut(deck, tmp_path):
    text = bulk(GRIDS + HEXAS)
    (tmp_path / "cut.bdf").write_text(text[: text.index("ENDDATA") - 90])
    with pytest.raises(ValueError, match="ENDDATA is missing"):
        read(tmp_path / "cut.bdf")


def test_tables_by_temperature_replace_constants(deck):
    """E and ρ between two temperatures, ν constant; without a temperature the material is refused by its table."""
    tables = "MATT1,1,5,,,6\nTABLEM1,5\n,20.,2.0E11,220.,1.8E11,ENDT\nTABLEM1,6\n,20.,7800.,220.,7700.,ENDT\n"
    path = deck(GRIDS + HEXAS + "MAT1,1,1.0,,0.3,1.0\n" + tables)
    given = {t: read_contents(path, (), MeshRequest(temperature=t)).materials["1"] for t in (20.0, 120.0, 500.0)}
    assert "from 20 to 220, not at 500" in given[500.0].refused
    for t, young, density in ((20.0, 2e11, 7800.0), (120.0, 1.9e11, 7750.0)):
        assert given[t].young == pytest.approx(young, rel=1e-12) and given[t].poisson == 0.3
        assert given[t].density == pytest.approx(density, rel=1e-12)
    assert "at 2 temperatures from 20 to 220" in read_contents(path).materials["1"].tables()
    lost = deck(GRIDS + HEXAS + "MAT1,1,1.0,,0.3,1.0\nMATT1,1,9\n")
    assert "must name TABLEM1 cards of the file, got '9'" in read_contents(lost).materials["1"].refused
