"""Generated decks of all forms and kinds of cells: read right however they are written, and refused with a mistake.

Twenty of them are fast; the slow ones are 180 more.
"""

import re

import numpy as np
import pytest
from decks_of import FORMS, RHO, deck
from solid_meshes import box

import fem
from fem.mesh_report import mesh_report
from flexph.meshes.blocks import cell_blocks

BAR = (0.4, 0.2, 0.1)
COMMENT = {"inp": "** a remark\n", "bdf": "$ a remark\n", "cdb": "/COM, a remark\n"}
SPRING = {
    "inp": "*Element, type=SPRINGA, elset=K\n900, 1, 2\n",
    "bdf": "CELAS2,900,1.,1,1,2,1\n",
    "cdb": "CE,R5.0,DEFI,       2,       1, 0.\n",
    "unv": "",
}


# --- other ways to write a deck -------------------------------------------------------------------------------------


def line_ends(text, form, rng):
    return text.replace("\n", "\r\n")


def remarks(text, form, rng):
    """In front, as only there they stand in all forms; universal files have none."""
    return COMMENT.get(form, "") * 3 + text


def blanks(text, form, rng):
    """At the ends of lines."""
    return re.sub("\n", "   \n", text)


def cases(text, form, rng):
    return text if form == "unv" else text.upper() if form == "inp" else text


def exponents(text, form, rng):
    return re.sub(r"(\d)E([+-]\d)", r"\1D\2", text) if form in ("unv", "inp") else text


HARMLESS = [line_ends, remarks, blanks, cases, exponents]


# --- mistakes of the mesh -------------------------------------------------------------------------------------------


def of_cells(mesh, change):
    (block,) = mesh.cells
    mesh.cells = cell_blocks([(block.type, change(np.array(block.data)))])


def swapped(mesh, rng):
    """Two corners of one cell: it is turned inside out, or folded."""

    def change(cells):
        cells[0, [0, 1]] = cells[0, [1, 0]]
        return cells

    of_cells(mesh, change)


def unknown_node(mesh, rng):
    def change(cells):
        cells[rng.integers(len(cells)), rng.integers(cells.shape[1])] = len(mesh.points) + 7
        return cells

    of_cells(mesh, change)


def twin(mesh, rng):
    of_cells(mesh, lambda cells: np.vstack([cells, cells[rng.integers(len(cells))]]))


def far_node(mesh, rng):
    """A node of a cell at infinity."""
    mesh.points[mesh.cells[0].data[0, 0], 1] = np.inf


def flat(mesh, rng):
    mesh.points[:, 2] = 0.0


def apart(mesh, rng):
    """A second piece."""
    count = len(mesh.points)
    mesh.points = np.vstack([mesh.points, mesh.points + 9.0])
    of_cells(mesh, lambda cells: np.vstack([cells, cells + count]))


OF_MESH = [swapped, unknown_node, twin, far_node, flat, apart]


# --- mistakes of the text -------------------------------------------------------------------------------------------


def letter(text, form, rng):
    """In a coordinate of a node."""
    lines = text.split("\n")
    places = [
        k for k, line in enumerate(lines) if line.count(".") >= 2 and not line.startswith(("MAT1", "210000", "MP"))
    ]
    places = [k for k in places if form != "unv" or line_of_nodes(lines, k)]
    k = places[rng.integers(len(places))]
    at = lines[k].rindex(".")
    lines[k] = lines[k][:at] + "x" + lines[k][at + 1 :]
    return "\n".join(lines)


def line_of_nodes(lines, k):
    return len(lines[k - 1].split()) == 4 and lines[k - 1].split()[-1] == "11"


def cut(text, form, rng):
    """Behind the middle; a deck of Abaqus has no end, so it loses a node."""
    if form == "inp":
        lines = text.split("\n")
        return "\n".join(lines[:1] + lines[2:])
    end = text.rindex({"bdf": "ENDDATA", "cdb": "\n       -1\n", "unv": "    -1"}[form])
    return text[: end - int(rng.integers(1, 60))]


def spring(text, form, rng):
    """Something that changes the stiffness: in a universal file an element of data set 2412."""
    if form == "unv":
        rows = "".join(f"{w:10d}" for w in (900, 136, 1, 1, 7, 2)) + "\n" + f"{1:10d}{2:10d}\n"
        return text.replace("  2412\n", "  2412\n" + rows)
    return text.replace("PSOLID", SPRING[form] + "PSOLID") if form == "bdf" else text + SPRING[form]


def elsewhere(text, form, rng):
    """What would have to be read or run."""
    lines = {"inp": "*Include, input=/etc/passwd\n", "bdf": "INCLUDE '/etc/passwd'\n", "cdb": "/INPUT,/etc/passwd\n"}
    if form == "unv":
        return "what\n" + text
    start = "BEGIN BULK\n" if form == "bdf" else ""
    return start + lines[form] + text.removeprefix(start)


def twice(text, form, rng):
    """The number of the first element again."""
    if form == "inp":
        return re.sub(r"\n2, (?=\d+, \d+, \d+, \d+)", "\n1, ", text, count=1)
    if form == "bdf":
        return re.sub(r"\n(C[A-Z]+),2,", r"\n\g<1>,1,", text, count=1)
    if form == "unv":
        head, tail = text.split("  2412\n")
        return head + "  2412\n" + re.sub(r"(?m)^         2(?=       \d\d\d)", "         1", tail, count=1)
    head, tail = text.split("(19i9)\n")
    lines = tail.split("\n")
    second = next(k for k, line in enumerate(lines) if k and len(line.split()) >= 15 and line.split()[10] == "2")
    lines[second] = lines[second][:90] + f"{1:9d}" + lines[second][99:]
    return head + "(19i9)\n" + "\n".join(lines)


OF_TEXT = [letter, cut, spring, elsewhere, twice]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 200))])
def test_a_deck_is_read_right_or_refused(seed, tmp_path):
    rng = np.random.default_rng(seed)
    form = list(FORMS)[seed % len(FORMS)]
    kind = list(FORMS[form])[rng.integers(len(FORMS[form]))]
    mesh = box(kind, (2, 1, 1), BAR)
    mistake = None if seed % 3 == 0 else [*OF_MESH, *OF_TEXT][(seed // 3) % (len(OF_MESH) + len(OF_TEXT))]
    if mistake in OF_MESH:
        mistake(mesh, rng)
    text = deck(form, mesh)
    written = HARMLESS[rng.integers(len(HARMLESS))]
    if mistake in OF_TEXT:
        plain = text
        text = mistake(text, form, rng)
        assert text != plain
    else:
        text = written(text, form, rng)
    path = tmp_path / f"deck.{form}"
    path.write_bytes(text.encode())
    if mistake is None:
        report = mesh_report(path)
        assert report.measure == pytest.approx(np.prod(BAR), rel=1e-9), written.__name__
        assert report.mass == (None if form == "unv" else pytest.approx(RHO * np.prod(BAR), rel=1e-9))
        assert {"ROOT"} <= {r.name for r in report.regions} or form == "bdf"
    else:
        material = fem.Material(young=1.0, density=1.0, poisson=0.3)
        with pytest.raises(ValueError, match=r"deck\.|mesh must|points of the mesh") as refused:
            fem.solid(path, material)
        assert not re.search(r"index|KeyError|invalid literal|could not convert|broadcast|unpack", str(refused.value))
