"""Points, cells and named regions of the instances of an Abaqus input file, counted through as one mesh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import meshio
import numpy as np

from ..numerics.arguments import warn
from ..numerics.arrays import Array
from .abaqus_elements import FACES
from .abaqus_instances import Instance
from .abaqus_parts import Elements, Part, Surface
from .cell_nodes import FACET_SHAPE, SHAPE
from .contents import FileMaterial, MeshContents

SHELL_FACES = ("SPOS", "SNEG")


class Builder:
    """The mesh under way: blocks of cells, and the members of sets by name."""

    def __init__(self, instances: list[Instance], surfaces: Mapping[str, Surface]) -> None:
        self.instances, self.surfaces = instances, surfaces
        self.first_node = np.cumsum([0, *(len(one.part.nodes) for one in instances)])
        self.first_block = np.cumsum([0, *(len(one.part.elements) for one in instances)])
        self.rows = [
            {number: int(first) + i for i, number in enumerate(one.part.nodes)}
            for one, first in zip(instances, self.first_node[:-1], strict=True)
        ]
        self.blocks = [self._block(k, elements) for k, one in enumerate(instances) for elements in one.part.elements]
        self.node_sets: dict[str, list[Array]] = {}
        self.cell_sets: dict[str, dict[int, list[Array]]] = {}

    def model(self, materials: Mapping[str, FileMaterial]) -> MeshContents:
        """The mesh with its regions, materials and section assignments."""
        sections: list[tuple[str, str]] = []
        for k, one in enumerate(self.instances):
            sections += self._sets(k, one.part, partial(self._called, one))
            self._sets(k, one.outer, str)
        for k, one in enumerate(self.instances):
            for name, surface in one.part.surfaces.items():
                self._surface(self._called(one, name), surface, [(k, one.part)])
        for name, surface in self.surfaces.items():
            self._surface(name, surface, [(k, one.outer) for k, one in enumerate(self.instances)])
        numbers = [np.array(list(one.part.nodes), dtype=int) for one in self.instances]
        mesh = meshio.Mesh(
            np.vstack([_points(one) for one in self.instances]),
            self.blocks,
            point_sets={name: _joined(nodes) for name, nodes in self.node_sets.items()},
            cell_sets={
                name: [_joined(chosen.get(b, [])) for b in range(len(self.blocks))]
                for name, chosen in self.cell_sets.items()
            },
        )
        types = dict.fromkeys(e.kind for one in self.instances for e in one.part.elements)
        counted = numbers[0] if len(numbers) == 1 else np.arange(1, len(mesh.points) + 1)
        return MeshContents(mesh, counted, tuple(types), dict(materials), tuple(sections))

    def _block(self, k: int, elements: Elements) -> tuple[str, Array]:
        """Cells of an instance by rows of points."""
        lost = np.setdiff1d(elements.nodes, list(self.rows[k]))
        if lost.size:
            raise ValueError(f"elements of type {elements.kind} must have nodes of the file, got node {lost[0]}")
        return elements.cell, np.vectorize(self.rows[k].__getitem__, otypes=[int])(elements.nodes)

    def _called(self, one: Instance, name: str) -> str:
        """The name of a set or surface of a part."""
        taken = {n.upper() for n in (*self.surfaces, *one.outer.node_sets, *one.outer.element_sets)}
        return f"{one.name}.{name}" if len(self.instances) > 1 or name.upper() in taken else name

    def _sets(self, k: int, part: Part, called: Callable[[str], str]) -> list[tuple[str, str]]:
        """Take the sets of a part of instance k; returns its section assignments."""
        assigned = {elset.upper() for elset, _ in part.sections}
        hidden = {name for name in part.internal if name.upper() not in assigned}
        for name in part.node_sets:
            if name not in hidden:
                self.node_sets.setdefault(called(name), []).append(self._nodes(k, part.node_numbers(name)))
        for name in part.element_sets:
            if name not in hidden:
                self._cells(called(name), k, part.element_numbers(name))
        names = {name.upper(): name for name in part.element_sets}
        return [(called(names.get(elset.upper(), elset)), material) for elset, material in part.sections]

    def _nodes(self, k: int, numbers: Array) -> Array:
        return np.array([self.rows[k][n] for n in numbers.tolist() if n in self.rows[k]], dtype=int)

    def _cells(self, name: str, k: int, numbers: Array) -> None:
        members = self.cell_sets.setdefault(name, {})
        for i, elements in enumerate(self.instances[k].part.elements):
            picked = np.flatnonzero(np.isin(elements.numbers, numbers))
            if picked.size:
                members.setdefault(int(self.first_block[k]) + i, []).append(picked)

    def _surface(self, name: str, surface: Surface, parts: list[tuple[int, Part]]) -> None:
        """A surface as facets in blocks of their own, as cells of shells, or as nodes."""
        facets: list[Array] = []
        for member, face in surface.members:
            owners = [(k, part) for k, part in parts if surface.on_nodes or _has(part, member)]
            if surface.on_nodes:
                nodes = [self._nodes(k, part.node_numbers(member)) for k, part in owners]
                self.node_sets.setdefault(name, []).extend(nodes)
            elif face in SHELL_FACES:
                for k, part in owners:
                    self._cells(name, k, part.element_numbers(member))
            elif surface.kind != "ELEMENT" or not owners or not self._facets_of(owners, member, face, facets):
                text = (
                    f"surface {name!r} is left out: line {surface.line} has {surface.kind}, {member!r} with face "
                    f"{face!r}, which is not read"
                )
                warn(text)
                return
        self._take_facets(name, facets)

    def _facets_of(self, owners: Iterable[tuple[int, Part]], member: str, face: str, facets: list[Array]) -> bool:
        """Take the corners of a face S1, S2, … of elements, or of all their free faces; false for another label."""
        for k, part in owners:
            numbers = part.element_numbers(member)
            for i, elements in enumerate(part.elements):
                kind, cells = self.blocks[int(self.first_block[k]) + i]
                cells = cells[np.isin(elements.numbers, numbers)]
                if not len(cells):
                    continue
                faces = FACES.get(SHAPE[kind], ())
                if not face:
                    facets += self._free([cells[:, list(f)] for f in faces])
                elif face[0] == "S" and face[1:].isdigit() and 1 <= int(face[1:]) <= len(faces):
                    facets.append(cells[:, list(faces[int(face[1:]) - 1])])
                else:
                    return False
        return True

    def _free(self, facets: list[Array]) -> list[Array]:
        """Those facets that only one cell of the mesh has."""
        count: dict[tuple[int, ...], int] = {}
        for kind, nodes in self.blocks:
            for f in FACES.get(SHAPE[kind], ()):
                for key in map(tuple, np.sort(nodes[:, list(f)], axis=1).tolist()):
                    count[key] = count.get(key, 0) + 1
        return [c[[count[tuple(key)] == 1 for key in np.sort(c, axis=1).tolist()]] for c in facets]

    def _take_facets(self, name: str, facets: list[Array]) -> None:
        """Name facets, as blocks of lines, triangles and quadrilaterals."""
        for size, kind in FACET_SHAPE.items():
            own = [f for f in facets if f.shape[1] == size and len(f)]
            if own:
                self.cell_sets.setdefault(name, {})[len(self.blocks)] = [np.arange(sum(map(len, own)))]
                self.blocks.append((kind, np.vstack(own)))


def _points(one: Instance) -> Array:
    return np.array(list(one.part.nodes.values())).reshape(-1, 3) @ one.turn.T + one.shift


def _has(part: Part, member: str) -> bool:
    return member.isdigit() or member.upper() in {name.upper() for name in part.element_sets}


def _joined(parts: list[Array]) -> Array:
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *parts]))
