"""Assembly of the instances of an Abaqus input file to one mesh with points, cells and named regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import meshio
import numpy as np

from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..axes import Axes
from ..blocks import cell_blocks
from ..cell_types import FACET_SHAPE, SHAPE, dimension
from ..contents import LeftOut, MeshContents, ShellSection
from ..materials import FileMaterial
from .constraints import Constraints
from .elements import FACES
from .instances import Instance, has_set
from .keywords import Block
from .masses import Masses, rows_by_number
from .parts import Elements, Part, Surface
from .shells import shell_section

SHELL_FACES = ("SPOS", "SNEG")


class Builder:
    """Builder of a mesh from instances: collects blocks of cells and the members of named sets."""

    def __init__(self, instances: list[Instance], assembly: Part) -> None:
        self.instances, self.assembly, self.surfaces = instances, assembly, assembly.surfaces
        nodes = [one.part.all_nodes() for one in instances]
        self.numbers = [numbers for numbers, _ in nodes]
        self.points = [Axes(one.shift, one.turn).placed(at) for one, (_, at) in zip(instances, nodes, strict=True)]
        _refuse_twice(instances)
        self.first_node = np.cumsum([0, *(len(numbers) for numbers in self.numbers)])
        self.first_block = np.cumsum([0, *(len(one.part.elements) for one in instances)])
        self.blocks = [self._block(k, elements) for k, one in enumerate(instances) for elements in one.part.elements]
        self.dim = max((dimension(kind) for kind, _ in self.blocks), default=0)
        of_dimension = [nodes.ravel() for kind, nodes in self.blocks if dimension(kind) == self.dim]
        self.of_body = np.unique(np.concatenate([np.zeros(0, dtype=int), *of_dimension]))
        self.node_sets: dict[str, list[Array]] = {}
        self.cell_sets: dict[str, dict[int, list[Array]]] = {}
        self.left_out: list[LeftOut] = []
        self.orientations: dict[str, Array | str] = {}
        self.shells: dict[str, ShellSection] = {}

    def model(self, materials: Mapping[str, FileMaterial]) -> MeshContents:
        """The contents of the file: mesh with regions, materials, section assignments and masses."""
        sections: list[tuple[str, str]] = []
        for k, one in enumerate(self.instances):
            sections += self._sets(k, one.part, partial(self.called, one))
            self._sets(k, one.outer, str)
        for k, one in enumerate(self.instances):
            for name, surface in one.part.surfaces.items():
                self._surface(self.called(one, name), surface, [(k, one.part)])
        for name, surface in self.surfaces.items():
            self._surface(name, surface, [(k, one.outer) for k, one in enumerate(self.instances)])
        constraints = self._add_constraints()
        masses = Masses(self, constraints.hung)
        aliases = self._instance_regions()
        mesh = meshio.Mesh(
            np.vstack(self.points),
            cell_blocks(self.blocks),
            point_sets={name: _joined(nodes) for name, nodes in self.node_sets.items()},
            cell_sets={
                name: [_joined(chosen.get(b, [])) for b in range(len(self.blocks))]
                for name, chosen in self.cell_sets.items()
            },
        )
        types = dict.fromkeys(e.kind for one in self.instances for e in one.part.elements)
        counted = self.numbers[0] if len(self.numbers) == 1 else np.arange(1, len(mesh.points) + 1)
        return MeshContents(
            *(mesh, counted, tuple(types), dict(materials), tuple(sections)),
            *(tuple(masses.points), tuple(masses.spread)),
            (*constraints.left_out, *self.left_out, *masses.left_out),
            couplings=constraints.couplings,
            aliases=aliases,
            orientations=self.orientations,
            shells=self.shells,
        )

    def _add_constraints(self) -> Constraints:
        """Create the constraints of the file, and add regions of the points of couplings.

        No region is added for a coupling whose points are a region already.
        """
        constraints = Constraints(self)
        for name, coupling in constraints.couplings.items():
            if coupling.region == name:
                self.node_sets.setdefault(name, []).append(coupling.points)
        return constraints

    def _instance_regions(self) -> dict[str, str]:
        """Add a region of all cells for each of several instances; return names of instances by the name of their part.

        The returned mapping has only parts with a single instance. A region is not added if its name is in use.
        """
        if len(self.instances) < 2:
            return {}
        names = {name.upper() for name in self.cell_sets}
        for k, one in enumerate(self.instances):
            if one.name.upper() not in names:
                blocks = range(int(self.first_block[k]), int(self.first_block[k + 1]))
                self.cell_sets[one.name] = {b: [np.arange(len(self.blocks[b][1]))] for b in blocks}
        parts = [one.part.name for one in self.instances]
        return {one.part.name: one.name for one in self.instances if parts.count(one.part.name) == 1}

    def rows(self, k: int, numbers: Array) -> Array:
        """Indices of the points of the mesh for the nodes with ``numbers`` (n,) in the instance with index ``k``.

        Unknown numbers are left out.
        """
        return self._nodes(k, numbers)

    def position(self, k: int | None, number: int) -> Array | None:
        """Position (3,) of the node ``number`` of instance k, or of the assembly if k is None.

        None if there is no such node.
        """
        if k is None:
            numbers, points = self.assembly.all_nodes()
        else:
            numbers, points = self.numbers[k], self.points[k]
        row = int(rows_by_number(numbers, np.array([number]))[0])
        return None if row < 0 else points[row]

    def region(self, name: str) -> tuple[str, Array] | None:
        """Name and point indices (k,) of the region called ``name``, regardless of upper and lower case.

        The returned name is as written in the file. The region can be a set of cells, facets or nodes. None if there is
        no such region.
        """
        for name_of_set, members in self.cell_sets.items():
            if name_of_set.upper() == name.upper():
                nodes = [self.blocks[b][1][_joined(cells)].ravel() for b, cells in members.items()]
                return name_of_set, _joined(nodes)
        for name_of_set, sets in self.node_sets.items():
            if name_of_set.upper() == name.upper():
                return name_of_set, _joined(sets)
        return None

    def row(self, k: int, number: int) -> int | None:
        """Index of the point of the mesh for the node ``number`` of instance k.

        None if no cell of the body uses the node.
        """
        index = int(rows_by_number(self.numbers[k], np.array([number]))[0])
        row = int(self.first_node[k]) + index
        return row if index >= 0 and row in self.of_body else None

    def _block(self, k: int, elements: Elements) -> tuple[str, Array]:
        """Cell type and node indices of elements of instance k; raises ValueError for nodes that are not defined."""
        rows = rows_by_number(self.numbers[k], elements.nodes)
        if np.any(rows < 0):
            i, n = np.argwhere(rows < 0)[0]
            raise ValueError(
                f"{elements.place}: element {elements.numbers[i]} of type {elements.kind} must have nodes of the file, "
                f"got node {elements.nodes[i, n]}"
            )
        return elements.cell, int(self.first_node[k]) + rows

    def called(self, one: Instance, name: str) -> str:
        """Name of the region for the set or surface ``name`` of an instance's part.

        The name of the instance comes before it if there are several instances, or a set of the assembly has this name.
        """
        taken = {n.upper() for n in (*self.surfaces, *one.outer.node_sets, *one.outer.element_sets)}
        return f"{one.name}.{name}" if len(self.instances) > 1 or name.upper() in taken else name

    def _sets(self, k: int, part: Part, called: Callable[[str], str]) -> list[tuple[str, str]]:
        """Add the sets of instance k in ``part`` as regions; return the section assignments in ``part``.

        An assignment is the name of a region and that of its material.

        ``part`` is the part of the instance, or the sets of the assembly with members in the instance; ``called`` gives
        the region name of a set.
        """
        used = {elset.upper() for elset, *_ in part.sections} | {b.name("ELSET").upper() for b in part.masses}
        used |= {block.name("ELSET").upper() for block in self.assembly.masses}
        hidden = {name for name in part.internal if name.upper() not in used}
        for name in part.node_sets:
            if name not in hidden:
                self.node_sets.setdefault(called(name), []).append(self._nodes(k, part.node_numbers(name)))
        for name in part.element_sets:
            if name not in hidden:
                self._cells(called(name), k, part.element_numbers(name))
        names = {name.upper(): name for name in part.element_sets}
        sections = []
        seen = np.zeros(0, dtype=int)
        for elset, material, block in part.sections:
            dims = self._section(k, elset, block)
            numbers = part.element_numbers(elset)
            if np.isin(numbers, seen).any():
                warn(f"*{block.keyword} ({block.place}): elements of {elset!r} have another section before, now void")
            seen = np.union1d(seen, numbers)
            if block.keyword.startswith("SHELL") and self.dim == 2:
                self.shells[called(names.get(elset.upper(), elset))] = shell_section(block)
            if material and self.dim in dims:
                sections.append((called(names.get(elset.upper(), elset)), material))
                self.orientations[sections[-1][0]] = self._axes(k, block.parameters.get("ORIENTATION", ""))
        return sections

    def _axes(self, k: int, name: str) -> Array | str:
        """Material axes (3, 3) for the orientation ``name`` of a section of instance k, or why there are none."""
        one = self.instances[k]
        if not name:
            turned = not np.array_equal(one.turn, np.eye(3))
            return f"no ORIENTATION in the turned instance {one.name!r}" if turned else np.eye(3)
        known = {key.upper(): axes for key, axes in {**self.assembly.orientations, **one.part.orientations}.items()}
        axes = known.get(name.upper(), f"ORIENTATION={name}, which is not defined")
        return axes if isinstance(axes, str) else one.turn @ axes

    def _section(self, k: int, elset: str, block: Block) -> set[int]:
        """Dimensions (1, 2 or 3) of the elements of the set ``elset`` of instance k, which have the section ``block``.

        Elements of a lower dimension than the body are added to ``left_out``, as their mass is missing.
        """
        part, heavy, place = self.instances[k].part, "DENSITY" in block.parameters, block.place
        numbers, dims = part.element_numbers(elset), set()
        for elements in part.elements:
            if not np.isin(elements.numbers, numbers).any():
                continue
            dims.add(dimension(elements.cell))
            if dimension(elements.cell) < self.dim and (heavy or block.keyword != "SURFACE SECTION"):
                why = f"elements of {elset!r} of lower dimension than the body"
                reach = self._nodes(k, part.nodes_of(np.intersect1d(elements.numbers, numbers)))
                self.left_out.append(LeftOut(elements.kind, place, "mass", why, reach, dim=dimension(elements.cell)))
        return dims

    def _nodes(self, k: int, numbers: Array) -> Array:
        rows = rows_by_number(self.numbers[k], numbers)
        return int(self.first_node[k]) + rows[rows >= 0]

    def _cells(self, name: str, k: int, numbers: Array) -> None:
        for i, elements in enumerate(self.instances[k].part.elements):
            picked = np.flatnonzero(np.isin(elements.numbers, numbers))
            if picked.size:
                members = self.cell_sets.setdefault(name, {})
                members.setdefault(int(self.first_block[k]) + i, []).append(picked)

    def _surface(self, name: str, surface: Surface, parts: list[tuple[int, Part]]) -> None:
        """Add a surface as a region of facets, of cells of shells or of nodes.

        An unsupported surface is left out with a warning. ``parts`` are the numbers of instances and the parts in which
        the names of its sets are looked up.
        """
        facets: list[Array] = []
        for member, face in surface.members:
            owners = [(k, part) for k, part in parts if surface.on_nodes or _has(part, member)]
            if surface.on_nodes:
                nodes = [self._nodes(k, part.node_numbers(member)) for k, part in owners if _has_nodes(part, member)]
                self.node_sets.setdefault(name, []).extend(nodes)
            elif face in SHELL_FACES:
                for k, part in owners:
                    self._cells(name, k, part.element_numbers(member))
            elif surface.kind != "ELEMENT" or not owners or not self._facets_of(owners, member, face, facets):
                text = (
                    f"surface {name!r} is left out: {surface.place} has {surface.kind}, {member!r} with face "
                    f"{face!r}, which is not supported"
                )
                warn(text)
                return
        self._add_facets(name, facets)

    def _facets_of(self, owners: Iterable[tuple[int, Part]], member: str, face: str, facets: list[Array]) -> bool:
        """Add to ``facets`` the faces ``face`` of the elements ``member``; return False for an unknown face.

        ``member`` is a set or the number of an element. ``face`` is S1, S2, …, or empty for all faces that belong to
        one element only. ``owners``: number and part of each instance with such elements.
        """
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
        """Select the facets that belong to only one cell of the mesh.

        ``facets`` and the result are lists of arrays, with a row of corner nodes, (k, 3) or (k, 4), for each facet.
        """
        free = []
        for facet in facets:
            width = facet.shape[1]
            known = [
                nodes[:, list(f)]
                for kind, nodes in self.blocks[: int(self.first_block[-1])]
                for f in FACES.get(SHAPE[kind], ())
                if len(f) == width
            ]
            keys = np.sort(np.vstack([facet, *known]), axis=1)
            _, label, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
            free.append(facet[count[label.ravel()[: len(facet)]] == 2])  # once in `facet` and once in `known`
        return free

    def _add_facets(self, name: str, facets: list[Array]) -> None:
        """Add a region ``name`` of facets, given as arrays of their corners, which become cells of the mesh."""
        for size, kind in FACET_SHAPE.items():
            of_size = [f for f in facets if f.shape[1] == size and len(f)]
            if of_size:
                self.cell_sets.setdefault(name, {})[len(self.blocks)] = [np.arange(sum(map(len, of_size)))]
                self.blocks.append((kind, np.vstack(of_size)))


def _refuse_twice(instances: list[Instance]) -> None:
    """Raise ValueError if two elements of a part have the same number."""
    for one in instances:
        held = [elements.numbers for elements in one.part.elements]
        numbers, count = np.unique(np.concatenate([np.zeros(0, dtype=int), *held]), return_counts=True)
        if np.any(count > 1):
            raise ValueError(f"element numbers must be unique, got {numbers[count > 1][0]} twice")


def _has(part: Part, member: str) -> bool:
    return member.isdecimal() or has_set(part, member, nodes=False)


def _has_nodes(part: Part, member: str) -> bool:
    return member.isdecimal() or has_set(part, member, nodes=True)


def _joined(parts: list[Array]) -> Array:
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *parts]))
