"""Reading of universal files into meshes with groups, in the unit of length of the file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from ...numerics.arrays import Array
from ..cell_types import NODES
from ..contents import LeftOut, MeshContents, Place
from ..numbered import Cells, numbered_mesh
from .datasets import DataSet, data_sets
from .elements import BEAM_OF_THREE, BEAMS, FORMS, MASSLESS

NODE_SETS = (15, 781, 2411)
GROUPS = (2435, 2452, 2467, 2477)
ELEMENTS = 2412
UNITS = 164
SYSTEMS = 2420
NODE, ELEMENT = 7, 8
"""Types of the members of groups."""
GLOBAL = np.vstack([np.eye(3), np.zeros(3)])


def universal_contents(path: Path, omit: Collection[str] = ()) -> MeshContents:
    """The contents of a universal file: nodes, elements, groups, and the unit of length [m].

    ``omit``: numbers of elements such as ``136`` to leave out. Materials are not read. Raises ValueError, with the
    line, for data sets that cannot be read.
    """
    deck = _Deck({word for word in omit})
    for data in data_sets(path):
        deck.add(data)
    return deck.contents()


class _Deck:
    """Data sets of a file, sorted into nodes, elements and groups."""

    def __init__(self, omit: set[str]) -> None:
        self.omit = omit
        self.nodes: list[tuple[Array, Array]] = []
        self.systems: set[int] = set()
        self.cells: dict[tuple[int, str], list[tuple[int, list[int], Place]]] = {}
        self.left_out: list[tuple[LeftOut, list[int]]] = []
        self.groups: dict[str, dict[int, list[int]]] = {}
        self.turned: dict[int, Place] = {}
        self.unit: float | None = None
        self.others: dict[int, None] = {}

    def add(self, data: DataSet) -> None:
        """Add the contents of a data set to the nodes, elements, groups, unit or systems of the deck, by its number.

        Of a data set with another number, only the number is kept.
        """
        if data.number in NODE_SETS:
            self._add_nodes(data)
        elif data.number == ELEMENTS:
            self._add_elements(data)
        elif data.number in GROUPS:
            self._add_groups(data)
        elif data.number == UNITS:
            factor = data.real(1, 1)[0]
            if not factor > 0.0:
                raise ValueError(f"{data.at(1)}: the factor of lengths must be positive, got {factor:g}")
            self.unit = 1.0 / factor
        elif data.number == SYSTEMS:
            self._add_systems(data)
        else:
            self.others.setdefault(data.number)

    def contents(self) -> MeshContents:
        """Mesh of the nodes and elements with its groups, unsupported parts, and unit of the file.

        The notes name the data sets that are not read. Raises ValueError for nodes in a coordinate system that is not
        the global one.
        """
        wrong = sorted(self.systems & set(self.turned))
        if wrong:
            raise ValueError(
                f"nodes must be in the global system, got some in system {wrong[0]} ({self.turned[wrong[0]]})"
            )
        mesh = numbered_mesh(self.nodes, [self._block(kind) for kind in self.cells])
        elements = {name: np.array(members[ELEMENT]) for name, members in self.groups.items() if ELEMENT in members}
        nodes = {name: np.array(members[NODE]) for name, members in self.groups.items() if NODE in members}
        left_out = []
        for part, numbers in self.left_out:
            rows = mesh.rows(np.array(numbers, dtype=int))
            reach = rows if len(rows) and np.all(rows >= 0) else None
            left_out.append(LeftOut(part.name, part.place, part.changes, part.why, reach))
        unread = f"data sets {', '.join(map(str, self.others))} are not read" if self.others else ""
        units = () if self.unit is None else (f"unit of length of the file: {self.unit:g} m",)
        return MeshContents(
            mesh.mesh(elements, nodes),
            mesh.numbers,
            tuple(f"element {kind}" for kind, _ in self.cells),
            left_out=tuple(left_out),
            notes=(*units, *([unread] if unread else [])),
            unit=self.unit,
        )

    def _add_nodes(self, data: DataSet) -> None:
        numbers, at, k = [], [], 0
        while k < len(data.lines):
            if data.number == 15:
                words = data.real(k, 7)
                head, place, k = [int(words[0]), int(words[1])], words[4:], k + 1
            else:
                head, place, k = data.whole(k), data.real(k + 1, 3), k + 2
            numbers.append(head[0])
            self.systems.add(head[1] if len(head) > 1 else 0)
            at.append(place)
        self.nodes.append((np.array(numbers, dtype=int), np.array(at).reshape(-1, 3)))

    def _add_systems(self, data: DataSet) -> None:
        """Record the coordinate systems that differ from the global one, in which nodes are not supported."""
        k = 2
        while k < len(data.lines):
            number, kind = data.whole(k)[:2]
            matrix = np.array([data.real(k + 2 + i, 3) for i in range(4)])
            if kind != 0 or not np.array_equal(matrix, GLOBAL):
                self.turned[number] = data.at(k)
            k += 6

    def _add_elements(self, data: DataSet) -> None:
        k = 0
        while k < len(data.lines):
            head = data.whole(k)
            if len(head) < 6 or head[5] < 0:
                raise ValueError(f"{data.at(k)}: an element must have six numbers, got {len(head)}")
            number, kind, count, place = head[0], head[1], head[5], data.at(k)
            k += 2 if kind in BEAMS else 1
            nodes: list[int] = []
            while len(nodes) < count:
                nodes += data.whole(k)
                k += 1
            self._add_element(number, kind, nodes, place)

    def _add_element(self, number: int, kind: int, nodes: list[int], place: Place) -> None:
        if str(kind) in self.omit:
            return
        form = BEAM_OF_THREE if kind in BEAMS and len(nodes) == 3 else FORMS.get(kind)
        if form is None:
            part = LeftOut(str(kind), place, "stiffness" if kind in MASSLESS else "mass", "such elements are not read")
            self.left_out.append((part, nodes))
        elif len(nodes) != len(NODES[form.cell]):
            raise ValueError(
                f"{place}: element {number} of type {kind} must have {len(NODES[form.cell])} nodes, got {nodes}"
            )
        else:
            ordered = nodes if form.order is None else [nodes[i] for i in form.order]
            self.cells.setdefault((kind, form.cell), []).append((number, ordered, place))

    def _block(self, kind: tuple[int, str]) -> Cells:
        rows = self.cells[kind]
        nodes = np.array([nodes for _, nodes, _ in rows])
        return Cells(kind[1], np.array([number for number, _, _ in rows]), nodes, rows[0][2])

    def _add_groups(self, data: DataSet) -> None:
        k = 0
        while k < len(data.lines):
            head = data.whole(k)
            if len(head) < 8:
                raise ValueError(f"{data.at(k)}: a group must have eight numbers, got {len(head)}")
            name, count, k = data.lines[k + 1].strip() if k + 1 < len(data.lines) else "", head[7], k + 2
            members = self.groups.setdefault(name or f"group {head[0]}", {})
            held = 0
            while held < count:
                row = data.whole(k)
                if not row or len(row) % 4:
                    raise ValueError(f"{data.at(k)}: members of a group must have four numbers each")
                for i in range(0, len(row), 4):
                    members.setdefault(row[i], []).append(row[i + 1])
                held, k = held + len(row) // 4, k + 1
