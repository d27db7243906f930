"""Meshes from numbered nodes, numbered elements, and groups of nodes and elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import meshio
import numpy as np

from ..numerics.arrays import Array
from .blocks import cell_blocks
from .cell_types import dimension
from .contents import Place


class Cells(NamedTuple):
    """Elements of one cell type: numbers (k,), node numbers (k, n), and ``place`` of the first one in its file."""

    kind: str
    numbers: Array
    nodes: Array
    place: Place


@dataclass(frozen=True, eq=False)
class NumberedMesh:
    """Mesh with numbered nodes, numbers (n,) ascending and positions (n, 3), and elements by type."""

    numbers: Array
    points: Array
    cells: tuple[Cells, ...]

    @property
    def dim(self) -> int:
        """Highest dimension of the elements."""
        return max((dimension(block.kind) for block in self.cells), default=0)

    def rows(self, numbers: Array) -> Array:
        """Indices (k,) in the mesh of the nodes with the given numbers (k,); −1 for unknown ones."""
        if not len(self.numbers):
            return np.full(np.shape(numbers), -1)
        rows = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[rows] == numbers, rows, -1)

    def mesh(self, element_groups: Mapping[str, Array], node_groups: Mapping[str, Array]) -> meshio.Mesh:
        """Mesh with groups, which are given by the numbers of their elements or nodes.

        Unknown members are left out. Raises ValueError for an element with an unknown node.
        """
        blocks = [(block.kind, self._nodes(block)) for block in self.cells]
        sets = {
            name: [np.flatnonzero(np.isin(block.numbers, members)) for block in self.cells]
            for name, members in element_groups.items()
        }
        points = {name: self.rows(members) for name, members in node_groups.items()}
        return meshio.Mesh(
            self.points,
            cell_blocks(blocks),
            cell_sets={name: cells for name, cells in sets.items() if any(map(len, cells))},
            point_sets={name: np.unique(rows[rows >= 0]) for name, rows in points.items() if np.any(rows >= 0)},
        )

    def _nodes(self, block: Cells) -> Array:
        rows = self.rows(block.nodes)
        lost = np.argwhere(rows < 0)
        if len(lost):
            i, n = lost[0]
            raise ValueError(
                f"element {block.numbers[i]} of type {block.kind} must have nodes of the file, got {block.nodes[i, n]}"
            )
        return rows


def numbered_mesh(nodes: Iterable[tuple[Array, Array]], cells: Iterable[Cells]) -> NumberedMesh:
    """Create a mesh from blocks of nodes (numbers, positions) and blocks of elements.

    Raises ValueError if there are no volume or surface elements, and for a number that is given twice.
    """
    nodes, kept = list(nodes), [block for block in cells if len(block.numbers)]
    numbers = np.concatenate([np.zeros(0, dtype=int), *(numbers_of_nodes for numbers_of_nodes, _ in nodes)])
    points = np.vstack([np.zeros((0, 3)), *(at for _, at in nodes)])
    order = np.argsort(numbers, kind="stable")
    _refuse_twice("node", numbers)
    _refuse_twice("element", np.concatenate([np.zeros(0, dtype=int), *(block.numbers for block in kept)]))
    mesh = NumberedMesh(numbers[order], points[order], tuple(kept))
    if mesh.dim < 2:
        raise ValueError("it must have volume or surface elements, got none that are supported")
    return mesh


def _refuse_twice(what: str, numbers: Array) -> None:
    distinct, count = np.unique(numbers, return_counts=True)
    if np.any(count > 1):
        raise ValueError(f"{what} numbers must be unique, got {distinct[count > 1][0]} twice")
