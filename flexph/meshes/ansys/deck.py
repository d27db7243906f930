"""Reading of Ansys archives (.cdb) into meshes, components, materials and sections. No command is run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...numerics.arrays import Array
from ..cell_types import dimension
from ..contents import Change, LeftOut, MeshContents, Place
from ..numbered import Cells, NumberedMesh, numbered_mesh
from .commands import Command, commands
from .elements import FAMILIES, LOADS, STIFFNESS, cell_of
from .materials import Materials
from .real_constants import NAMES as REAL_NAMES
from .real_constants import SHELLS, RealConstants
from .shells import NAMES as SECTION_NAMES
from .shells import Sections
from .systems import Systems

HEADER = 11
"""Numbers before the nodes of an element: material, type, real constants, …, number of nodes, 0, element number."""
MOST = 10_000_000
"""Largest number of members of a component."""
MAKING = (
    *("N", "E", "EN", "NGEN", "EGEN", "ENGEN", "NSYM", "ESYM", "NSCALE", "NMODIF", "NWPAVE", "EMODIF", "NDELE"),
    *("EDELE", "VMESH", "AMESH", "LMESH", "VSWEEP", "BLOCK", "CYLIND", "K", "L", "A", "V", "VGEN", "TRANSFER"),
    *("TRNSF", "MOVE", "NUMMRG", "NUMCMP", "CDREAD", "NREAD", "EREAD", "UPGEOM", "UPCOORD", "MPCHG"),
)
"""Commands that make, move, change or delete nodes and elements."""
SCRIPTS = ("*DO", "*DOWHILE", "*REPEAT", "*USE", "*ULIB", "*CREATE", "/INPUT", "*GO", "/SYS", "/SYP", "~")
"""Commands that run other commands, or read other files."""
CONSTRAINTS = ("CE", "CP", "CEINTF", "CPINTF", "CERIG", "RBE3", "CPNGEN", "CPCYC", "CYCLIC")


def ansys_contents(path: Path, omit: Collection[str] = ()) -> MeshContents:
    """The contents of an archive that CDWRITE or a preprocessor has written.

    Components become regions of the same names. The elements of a material are the region ``MAT n``, of a type ``TYPE
    n``, of a section of shells ``SECT n``; shells whose thickness is a real constant are ``REAL n``, and elements of a
    material in one of several systems ``MAT n ESYS k``.

    ``omit``: commands, and numbers of element types such as ``21``. Raises ValueError, with the line, for blocks that
    cannot be read, and for commands that would have to be run.
    """
    deck = _Deck({word.upper() for word in omit})
    for command in commands(path):
        deck.add(command)
    return deck.contents()


class _Deck:
    """Commands of an archive, sorted into nodes, elements, components and materials."""

    def __init__(self, omit: set[str]) -> None:
        self.omit = omit
        self.nodes: list[tuple[Array, Array]] = []
        self.types: dict[int, int] = {}
        self.elements: list[tuple[list[int], list[int], Place]] = []
        self.components: dict[str, tuple[str, Array]] = {}
        self.materials = Materials()
        self.sections = Sections()
        self.real = RealConstants()
        self.systems = Systems()
        self.left_out: dict[str, LeftOut] = {}
        self.damping = [0.0, 0.0]
        self.of_solution = False

    def add(self, command: Command) -> None:
        """Sort a command into nodes, elements, components, materials, shell sections, systems or constraints.

        Constraints are unsupported. Other commands are ignored, unless the mesh depends on them.
        """
        name = command.name
        if name in self.omit:
            return
        self._refuse_running(command)
        if name in ("/SOLU", "/SOLUTION", "/POST1", "/POST26", "FINISH"):
            self.of_solution = name != "FINISH"
        elif name == "NBLOCK":
            self._add_nodes(command)
        elif name == "EBLOCK":
            self._add_elements(command)
        elif name == "CMBLOCK":
            self._add_component(command)
        elif name == "ET":
            word = command.field(1).upper().lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            if not word.isdecimal():
                raise ValueError(f"{command} must have the number of an element type, got {command.field(1)!r}")
            self.types[command.whole(0)] = int(word)
        elif name in ("ALPHAD", "BETAD"):
            self.damping[name == "BETAD"] = command.real(0)
        elif name in SECTION_NAMES:
            self.sections.add(command)
        elif name in REAL_NAMES:
            self.real.add(command)
        elif name == "LOCAL":
            self.systems.add(command)
        elif name in CONSTRAINTS:
            self.left_out.setdefault(name, LeftOut(name, command.place, "stiffness"))
        else:
            self.materials.add(command)

    def _refuse_running(self, command: Command) -> None:
        """Raise ValueError for commands on which the mesh depends, because commands are not run."""
        name = command.name.removeprefix("*IF ")
        inside = name != command.name
        ends = name == "N" and command.field(0).upper().startswith("R5") and command.field(2) == "-1"
        if any(name.startswith(word) if word == "~" else name == word for word in SCRIPTS):
            raise ValueError(f"{command}: {name} runs commands, and none is run: write the model by CDWRITE")
        made = name in MAKING and not ends and not self.of_solution
        if made or (inside and name in ("NBLOCK", "EBLOCK", "CMBLOCK", "ET", "MP", "MPDATA")):
            raise ValueError(f"{command.place}: {name} is not run: write all nodes and elements by CDWRITE")

    def _add_nodes(self, command: Command) -> None:
        columns = command.widths()
        whole = len([kind for kind, _ in columns if kind == "i"])
        numbers, at = [], np.zeros((len(command.rows), 3))
        for row in range(len(command.rows)):
            words = command.words(row, columns)
            try:
                numbers.append(int(words[0]))
                place = [float(word.upper().replace("D", "E")) if word else 0.0 for word in words[whole : whole + 3]]
            except (ValueError, IndexError):
                raise ValueError(
                    f"{command.at(row)}: {command.rows[row].strip()!r} must be a node in columns"
                ) from None
            at[row, : len(place)] = place
        _refuse_missing(command, "nodes", len(numbers))
        self.nodes.append((np.array(numbers, dtype=int), at))

    def _add_elements(self, command: Command) -> None:
        if command.field(1).upper() != "SOLID":
            raise ValueError(f"{command} must have the key SOLID, got {command.field(1)!r}: write it by CDWRITE")
        row, columns, before = 0, command.widths(), len(self.elements)
        while row < len(command.rows):
            first, values = row, self._whole(command, row, columns)
            if len(values) < HEADER:
                raise ValueError(f"{command.at(row)}: an element must have {HEADER} numbers before its nodes")
            count, nodes, row = values[8], values[HEADER:], row + 1
            while len(nodes) < count and row < len(command.rows):
                nodes += self._whole(command, row, columns)
                row += 1
            if len(nodes) < count:
                raise ValueError(f"{command.at(first)}: element {values[10]} must have {count} nodes, got {len(nodes)}")
            self.elements.append((values[:HEADER], nodes[:count] if count else nodes, command.at(first)))
        _refuse_missing(command, "elements", len(self.elements) - before)

    def _whole(self, command: Command, row: int, columns: list[tuple[str, int]]) -> list[int]:
        words = command.words(row, columns)
        try:
            return [int(word or "0") for word in words]
        except ValueError:
            raise ValueError(f"{command.at(row)}: {command.rows[row].strip()!r} must be whole numbers") from None

    def _add_component(self, command: Command) -> None:
        """Add a component by its numbers, in which −n ends a range from the number before it."""
        columns = command.widths()
        values = [value for row in range(len(command.rows)) for value in self._whole(command, row, columns)]
        count = command.whole(2)
        members, before, total = [np.zeros(0, dtype=int)], 0, 0
        for value in values[:count]:
            total += 1 if value >= 0 else -value - before
            if (value < 0 and not before < -value) or total > MOST:
                raise ValueError(
                    f"{command}: {value} must end a range of at most {MOST} numbers, got it after {before}"
                )
            members.append(np.arange(before + 1, -value + 1) if value < 0 else np.array([value]))
            before = abs(value)
        if len(values) < count:
            raise ValueError(f"{command} must have {count} numbers, got {len(values)}")
        self.components[command.field(0)] = (command.field(1).upper()[:4], np.concatenate(members))

    def contents(self) -> MeshContents:
        """The contents of the archive."""
        blocks: dict[str, list[tuple[int, list[int], Place]]] = {}
        of: dict[str, dict[int, list[int]]] = {"MAT": {}, "TYPE": {}, "SECT": {}, "REAL": {}}
        layers: dict[int, set[int]] = {}
        turned: dict[int, dict[int, list[int]]] = {}
        strange: list[tuple[str, Change, list[int], Place, int]] = []
        for head, nodes, place in self.elements:
            material, kind, number = head[0], head[1], head[10]
            name = self.types.get(kind)
            if name is None:
                raise ValueError(f"{place}: element {number} must have a type that ET defines, got {kind}")
            if str(name) in self.omit or name in LOADS:
                continue
            if name not in FAMILIES:
                strange.append((str(name), "stiffness" if name in STIFFNESS else "mass", nodes, place, -1))
                continue
            try:
                cell, corners = cell_of(FAMILIES[name], nodes)
            except ValueError as error:
                raise ValueError(f"{place}: element {number} of type {name} {error}") from None
            blocks.setdefault(cell, []).append((number, corners, place))
            of["MAT"].setdefault(material, []).append(number)
            of["TYPE"].setdefault(kind, []).append(number)
            turned.setdefault(material, {}).setdefault(head[4], []).append(number)
            if dimension(cell) == 2 and head[3] in self.sections.held:
                of["SECT"].setdefault(head[3], []).append(number)
                layers.setdefault(head[3], set()).add(material)
            elif name in SHELLS and head[2] in self.real.held:
                of["REAL"].setdefault(head[2], []).append(number)
            if dimension(cell) < 3:
                strange.append((str(name), "mass", corners, place, dimension(cell)))
        mesh = numbered_mesh(self.nodes, [_cells(kind, rows) for kind, rows in blocks.items()])
        contents = self._contents(mesh, of, turned, strange)
        if mesh.dim != 2:
            return contents
        shells = {f"SECT {n}": shell for n, shell in self.sections.sections(layers).items()}
        return replace(contents, shells=shells | {f"REAL {n}": self.real.section(n) for n in of["REAL"]})

    def _contents(
        self,
        mesh: NumberedMesh,
        of: dict[str, dict[int, list[int]]],
        turned: dict[int, dict[int, list[int]]],
        strange: list[tuple[str, Change, list[int], Place, int]],
    ) -> MeshContents:
        elements = {f"{word} {n}": np.array(numbers) for word, groups in of.items() for n, numbers in groups.items()}
        elements |= {name: numbers for name, (kind, numbers) in self.components.items() if kind == "ELEM"}
        nodes = {name: numbers for name, (kind, numbers) in self.components.items() if kind == "NODE"}
        solid = np.concatenate(
            [np.zeros(0, dtype=int), *(b.numbers for b in mesh.cells if dimension(b.kind) == mesh.dim)]
        )
        sections = {}
        for n, systems in turned.items():
            for system, numbers in systems.items():
                if np.isin(numbers, solid).any():
                    region = f"MAT {n}" if len(systems) == 1 else f"MAT {n} ESYS {system}"
                    elements[region], sections[region] = np.array(numbers), (n, system)
        alpha, beta = self.damping
        return MeshContents(
            mesh.mesh(elements, nodes),
            mesh.numbers,
            tuple(f"element type {n}" for n in dict.fromkeys(self.types.values())),
            self.materials.all(),
            tuple((region, str(n)) for region, (n, _) in sections.items()),
            left_out=(*self.left_out.values(), *_left_out(mesh, strange)),
            orientations={region: self.systems.axes(system) for region, (_, system) in sections.items()},
            damping=(alpha, beta) if alpha or beta else None,
        )


def _refuse_missing(command: Command, what: str, count: int) -> None:
    """Raise ValueError for a command that declares more rows than the ``count`` rows in the file, as in a cut file.

    ``what`` names the rows in the error.
    """
    if command.field(3) and command.whole(3) > count:
        raise ValueError(f"{command} must have {command.whole(3)} {what}, got {count}: the file is incomplete")


def _cells(kind: str, rows: list[tuple[int, list[int], Place]]) -> Cells:
    return Cells(kind, np.array([n for n, _, _ in rows]), np.array([nodes for _, nodes, _ in rows]), rows[0][2])


def _left_out(mesh: NumberedMesh, strange: list[tuple[str, Change, list[int], Place, int]]) -> list[LeftOut]:
    """Unsupported elements, and elements of lower dimension than the body, as entries for reports.

    There is one entry for each type and dimension. ``strange``: elements by type, effect on the body, nodes, place and
    dimension, which is −1 for types that are unsupported.
    """
    kept: dict[tuple[str, int], list[tuple[Change, list[int], Place]]] = {}
    for name, changes, nodes, place, dim in strange:
        if dim < mesh.dim:
            kept.setdefault((name, dim), []).append((changes, nodes, place))
    left_out = []
    for (name, dim), rows in kept.items():
        numbers = np.unique([n for _, nodes, _ in rows for n in nodes if n > 0]).astype(int)
        reach = mesh.rows(numbers)
        why = "such elements are not supported" if dim < 0 else "elements of lower dimension than the body"
        known = reach if len(reach) and np.all(reach >= 0) else None
        left_out.append(LeftOut(name, rows[0][2], rows[0][0], why, known, dim=dim))
    return left_out
