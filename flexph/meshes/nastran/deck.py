"""Reading of Nastran bulk data into meshes, materials and masses; supported elements."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal, NamedTuple

import meshio
import numpy as np

from ...numerics.arrays import Array
from ..blocks import cell_blocks
from ..cell_types import dimension
from ..contents import LeftOut, MeshContents, PointMass, ShellSection
from ..materials import FileMaterial
from .cards import Card, bulk_cards, hold
from .constraints import Constraints
from .grids import Grids
from .materials import MATERIALS, file_material, tabled_material
from .shells import SHELL_SECTIONS, shell_section


def nastran_contents(path: Path, omit: Collection[str] = ()) -> MeshContents:
    """The contents of bulk data without the cards ``omit``.

    The elements of a property are a region, named by the number of the property. MAT1, MAT9, MAT11 and PSOLID give the
    materials of volume cells, PSHELL the material and thickness of shells. Raises ValueError, with line and card, for
    cards that cannot be read.
    """
    deck, omitted = Deck(), {word.upper() for word in omit}
    for card in bulk_cards(path):
        if card.name not in omitted:
            deck.add(card)
    return deck.contents()


class Deck:
    """Cards of a deck, sorted by type."""

    def __init__(self) -> None:
        self.grids = Grids()
        self.cells: dict[str, list[tuple[list[str], Card]]] = {}
        self.kinds: dict[str, None] = {}
        self.properties: dict[int, Card] = {}
        self.materials: dict[str, Card] = {}
        self.masses: list[Card] = []
        self.constraints: list[tuple[Card, Literal["mass", "stiffness"]]] = []
        self.tables: dict[str, Card] = {}
        self.curves: dict[str, Card] = {}
        self.parameters = {"WTMASS": 1.0, "ALPHA1": 0.0, "ALPHA2": 0.0}

    def add(self, card: Card) -> None:
        """Sort a card into elements, grid points, properties, materials, masses or unsupported parts."""
        if card.name in ELEMENTS:
            kind, nodes = cell_of(card)
            self.cells.setdefault(kind, []).append((nodes, card))
            self.kinds.setdefault(card.name)
        elif self.grids.add(card):
            pass
        elif card.name == "CONM2":
            self.masses.append(card)
        elif card.name in SECTIONS:
            hold(self.properties, card.whole(0), card, "property")
        elif card.name in MATERIALS:
            hold(self.materials, str(card.whole(0)), card, "material")
        elif card.name == "PARAM" and card.field(0).upper() in self.parameters:
            self.parameters[card.field(0).upper()] = card.real(1)
        elif card.name in ("MATT1", "MATT9", "MATT11"):
            hold(self.tables, str(card.whole(0)), card, "tables of material")
        elif card.name == "TABLEM1":
            hold(self.curves, str(card.whole(0)), card, "table")
        else:
            changes = change_of(card.name)
            if changes is not None:
                self.constraints.append((card, changes))

    def contents(self) -> MeshContents:
        """The contents of the deck, with a mesh of all supported elements."""
        if not self.cells:
            raise ValueError("it must have elements such as CTETRA, CHEXA or CTRIA3, got none")
        self._refuse_twice()
        numbers, points = self.grids.positions()
        blocks = [(kind, self._rows(kind, numbers)) for kind in self.cells]
        groups = [np.array([_group(card) for _, card in cells]) for cells in self.cells.values()]
        mesh = meshio.Mesh(
            points, cell_blocks(blocks), cell_data={"nastran:ref": groups} if any(g.any() for g in groups) else {}
        )
        top = max(dimension(kind) for kind in self.cells)
        body = np.unique(np.concatenate([nodes.ravel() for kind, nodes in blocks if dimension(kind) == top]))
        constraints = Constraints(numbers, points, body)
        for card, changes in self.constraints:
            constraints.add(card, changes)
        masses = self._masses(constraints)
        mesh.point_sets = dict(constraints.sets())
        materials = {name: self._material(card) for name, card in self.materials.items()}
        alpha, beta = self.parameters["ALPHA1"], self.parameters["ALPHA2"]
        sections = self._sections(blocks, groups)
        return MeshContents(
            *(mesh, numbers, tuple(self.kinds), materials, tuple((region, name) for region, name, _ in sections)),
            *(masses, (), (*constraints.left_out, *self._left_out_elements(top))),
            couplings=constraints.couplings,
            orientations={region: axes for region, _, axes in sections},
            damping=(alpha, beta) if alpha or beta else None,
            shells=self._shells(groups) if top == 2 else {},
        )

    def _shells(self, groups: list[Array]) -> dict[str, ShellSection]:
        """Sections of shells by the numbers of their property cards, which are the names of regions.

        ``groups``: property numbers of the cells in each block; only properties that occur there count.
        """
        used = {int(number) for numbers in groups for number in np.unique(numbers)}
        elements: dict[int, list[Card]] = {}
        for cells in self.cells.values():
            for _, card in cells:
                elements.setdefault(_group(card), []).append(card)
        cards = {n: c for n, c in self.properties.items() if c.name in SHELL_SECTIONS and n in used}
        return {str(n): shell_section(card, elements[n]) for n, card in cards.items()}

    def _refuse_twice(self) -> None:
        cards = [card for cells in self.cells.values() for _, card in cells]
        numbers, count = np.unique([card.whole(0) for card in cards], return_counts=True)
        if np.any(count > 1):
            raise ValueError(f"element numbers must be unique, got {numbers[count > 1][0]} twice")

    def _rows(self, kind: str, numbers: Array) -> Array:
        """Node indices (k, nodes) of the cells of the type ``kind``.

        ``numbers`` are those of all grid points, ascending. Raises ValueError for a node that is no grid point of the
        file.
        """
        cells = self.cells[kind]
        try:
            nodes = np.array([words for words, _ in cells], dtype=object).astype(np.int64)
        except ValueError:
            card = next(card for words, card in cells if not all(word.isdecimal() for word in words))
            raise ValueError(f"{card} must have numbers of grid points as nodes") from None
        rows = np.minimum(np.searchsorted(numbers, nodes), max(len(numbers) - 1, 0))
        lost = np.argwhere(numbers[rows] != nodes) if len(numbers) else np.zeros((1, 2), dtype=int)
        if len(lost):
            k, n = lost[0]
            raise ValueError(f"{cells[k][1]} must have grid points of the file, got {nodes[k, n]}")
        return rows[:, list(ORDER[kind])] if kind in ORDER else rows

    def _sections(self, blocks: list[tuple[str, Array]], groups: list[Array]) -> list[tuple[str, str, Array | str]]:
        """Name of each region with a material, name of this material, and its axes or why they are unknown.

        The regions are those of volume cells, or those of shells if there are no volume cells. ``groups`` are property
        numbers of the cells in each of the ``blocks``.
        """
        dims: dict[int, set[int]] = {}
        for (kind, _), numbers in zip(blocks, groups, strict=True):
            for number in np.unique(numbers).tolist():
                dims.setdefault(number, set()).add(dimension(kind))
        solid = {n: card for n, card in self.properties.items() if card.name == "PSOLID" and 3 in dims.get(n, ())}
        if not any(3 in dims_of_part for dims_of_part in dims.values()):
            shells = {n: c for n, c in self.properties.items() if c.name == "PSHELL" and 2 in dims.get(n, ())}
            return [(str(n), str(card.whole(1, 0)), ANGLES) for n, card in shells.items()]
        return [
            (str(n) if dims[n] == {3} else f"volume {n}", str(card.whole(1, 0)), self._axes(card))
            for n, card in solid.items()
        ]

    def _axes(self, card: Card) -> Array | str:
        """Axes (3, 3) of the anisotropic material of a PSOLID card, or the reason why they are unknown."""
        system = card.whole(2, 0)
        axes = self.grids.axes(system) if system >= 0 else None
        return f"CORDM {system} ({card}), which is no rectangular system" if axes is None else axes

    def _material(self, card: Card) -> FileMaterial:
        """Material of a card, with its density multiplied by WTMASS."""
        table = self.tables.get(str(card.whole(0)))
        if table is None:
            return file_material(card, self.parameters["WTMASS"])
        if table.name == card.name.replace("MAT", "MATT"):
            return tabled_material(card, table, self.curves, self.parameters["WTMASS"])
        return FileMaterial(refused=f"{table.name} ({table.place}), tables by temperature, which are not read")

    def _left_out_elements(self, top: int) -> list[LeftOut]:
        """Elements with properties and a lower dimension than ``top``, that of the body, as entries for ``left_out``.

        Such elements are shells on solids, or bars in solids. There is one entry for each name of a card.
        """
        why = "an element with properties, of lower dimension than the body"
        omissions: dict[str, LeftOut] = {}
        for kind, cells in self.cells.items():
            if dimension(kind) < top:
                for _, card in cells:
                    if card.name == "CONROD" or _group(card) in self.properties:
                        omissions.setdefault(card.name, LeftOut(card.name, card.place, "mass", why))
        return list(omissions.values())

    def _masses(self, constraints: Constraints) -> tuple[PointMass, ...]:
        """Masses CONM2 at nodes of the body.

        A mass with offset or inertia, or at another node, is unsupported, and added to ``left_out`` of ``constraints``.
        """
        rows = {int(constraints.numbers[row]): int(row) for row in constraints.body} if self.masses else {}
        masses = []
        for card in self.masses:
            grid, mass = card.whole(1), self.parameters["WTMASS"] * card.real(3)
            why = ""
            if any(card.real(k) for k in range(4, 7)) or any(card.real(k) for k in range(8, 14)):
                why = "it has an offset or moments of inertia, and nodes of a body have no rotations"
            elif grid not in rows:
                why = f"at grid point {grid}, which no cell of the body uses"
            elif mass:
                masses.append(PointMass(rows[grid], mass, "CONM2", card.place))
            if why:
                constraints.left_out.append(LeftOut("CONM2", card.place, "mass", why, constraints.reach(card)))
        return tuple(masses)


ANGLES = "angles of materials on shells (THETA, MCID) are not read"


def _group(card: Card) -> int:
    """Number of the property of an element, 0 if it has none."""
    return 0 if card.name == "CONROD" else card.whole(1, 0)


class Form(NamedTuple):
    """Type of elements: its cell types by number of nodes, and index of the first node in the fields of a card."""

    cells: dict[int, str]
    first: int = 2


_TRIANGLE, _QUAD, _LINE = Form({3: "triangle"}), Form({4: "quad"}), Form({2: "line"})
_PYRAMID = Form({5: "pyramid", 13: "pyramid13"})
ELEMENTS = {
    "CTETRA": Form({4: "tetra", 10: "tetra10"}),
    "CHEXA": Form({8: "hexahedron", 20: "hexahedron20"}),
    "CPENTA": Form({6: "wedge", 15: "wedge15"}),
    **dict.fromkeys(("CPYRAM", "CPYRA"), _PYRAMID),
    **dict.fromkeys(("CTRIA3", "CTRIAR"), _TRIANGLE),
    "CTRIA6": Form({3: "triangle", 6: "triangle6"}),
    **dict.fromkeys(("CQUAD4", "CQUADR", "CSHEAR"), _QUAD),
    "CQUAD8": Form({4: "quad", 8: "quad8"}),
    **dict.fromkeys(("CBAR", "CBEAM", "CROD", "CTUBE"), _LINE),
    "CONROD": Form({2: "line"}, 1),
}
ORDER = {
    "hexahedron20": (*range(12), *range(16, 20), *range(12, 16)),
    "wedge15": (*range(9), *range(12, 15), *range(9, 12)),
}
"""Nastran indices of the nodes in meshio order; Nastran has the nodes of vertical edges before those of the top."""
STIFFNESS = (
    *("RBE1", "RBE2", "RBE3", "RBAR", "RBAR1", "RROD", "RTRPLT", "RTRPLT1", "RSPLINE", "RSSCON", "RJOINT", "RBODY"),
    *("MPC", "MPCAX", "CELAS1", "CELAS2", "CELAS3", "CELAS4", "CBUSH", "CBUSH1D", "CBUSH2D", "CGAP", "CWELD", "CFAST"),
    *("CSEAM", "CJOINT", "GENEL", "CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4", "CVISC", "BGSET", "BCTSET", "TIE"),
)
MASS = (
    *("CMASS1", "CMASS2", "CMASS3", "CMASS4", "CONM1", "NSM", "NSM1", "NSML", "NSML1", "NSMADD", "DMIG", "DMIAX"),
    *("SEBULK", "CSUPER", "CSUPEXT", "EXTRN"),
)
SECTIONS = (
    *("PSHELL", "PCOMP", "PCOMPG", "PSHEAR", "PROD", "PBAR", "PBARL", "PBEAM", "PBEAML", "PBCOMP", "PTUBE", "PBEND"),
    *("PSOLID", "PLSOLID", "PCOMPS", "PLPLANE", "PRAC2D", "PRAC3D"),
)
"""Property cards of elements with stiffness and mass."""
OTHER = (
    *(
        "CORD1R",
        "CORD2R",
        "CAMPBELL",
        "CSSCHD",
        "CYAX",
        "CYJOIN",
        "CYSUP",
        "CYSYM",
        "CONV",
        "CONVM",
        "CHBDYE",
        "CHBDYG",
    ),
    *("CHBDYP", "CAERO1", "CAERO2", "CAERO3", "CAERO4", "CAERO5", "CREEP", "CLOAD", "CSET", "CSET1"),
)
"""Cards that begin with C and are not elements."""


def cell_of(card: Card) -> tuple[str, list[str]]:
    """Cell type and node numbers of an element. Raises ValueError, with the card, for missing nodes."""
    cells, first = ELEMENTS[card.name]
    words = card.fields[first : first + max(cells)]
    while words and words[-1] in ("", "0"):
        words.pop()
    kind = cells.get(len(words))
    if kind is None or "" in words or "0" in words:
        counts, got = " or ".join(map(str, cells)), " ".join(word or "-" for word in words)
        raise ValueError(f"{card} must have {counts} nodes, got {got or 'none'}")
    return kind, words


def change_of(name: str) -> Literal["mass", "stiffness"] | None:
    """Effect on a body if a card of this name is ignored; None for loads, output and other cards without effect."""
    if name in STIFFNESS:
        return "stiffness"
    unknown = name.startswith("C") and name not in OTHER and not name.startswith("CORD")
    return "mass" if name in MASS or unknown else None
