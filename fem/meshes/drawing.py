"""Drawing of cells, as they are or as simplices if a mesh mixes types, and stresses at their nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flexph.bodies.fields import NodeValues
from flexph.meshes.blocks import NO_CELL_BLOCK
from flexph.numerics.arrays import Array

from .cells import DRAWN, Cell
from .solid_mesh import SolidMesh


class Piece(NamedTuple):
    """A part of each cell of a block that is drawn as a cell of its own.

    ``local`` are the indices of the nodes of the part among those of the cell.
    """

    block: int
    local: tuple[int, ...]


class Drawing(NamedTuple):
    """Cells (c, n) of one type to draw, over the nodes ``used`` (p,) of a mesh.

    ``drawn`` (c,) is the mesh cell of which each is a part, ``pieces`` are these parts for each block.
    """

    name: str
    used: Array
    cells: Array
    drawn: Array
    pieces: tuple[Piece, ...]


def drawing(mesh: SolidMesh) -> Drawing:
    """Cells of a mesh to be drawn: as they are, or as simplices if types are mixed or meshio lacks the type."""
    if len(mesh.blocks) == 1 and mesh.blocks[0].kind.name not in NO_CELL_BLOCK:
        kind = mesh.blocks[0].kind
        name, pieces = kind.name, [Piece(0, tuple(range(len(kind.nodes))))]
    else:
        name = "triangle" if mesh.dim == 2 else "tetra"
        pieces = [Piece(b, local) for b, block in enumerate(mesh.blocks) for local in DRAWN[block.kind.shape]]
    cells = np.vstack([mesh.blocks[p.block].nodes[:, list(p.local)] for p in pieces])
    drawn = np.concatenate([np.arange(mesh.starts[p.block], mesh.starts[p.block + 1]) for p in pieces])
    used = np.unique(cells)
    return Drawing(name, used, np.searchsorted(used, cells), drawn, tuple(pieces))


def node_values(mesh: SolidMesh, shown: Drawing, own: list[Array], *, firsts: Array, corners: list[Array]) -> tuple:
    """Maps from stresses at the stress points to stresses at the nodes of the drawn cells, one map for each piece.

    A piece is a part of the cells of a block. ``own``, ``firsts`` and ``corners`` have one entry for each block.
    ``own`` (nodes, q) or (k, nodes, q) are the values, at all nodes of a cell, of the Lagrange polynomials of its
    stress points. ``firsts`` is the number of the first stress point of the block. ``corners`` (k, corners) are the
    numbers of the corner values of the smooth field; at other nodes the field is a mean of these.
    """
    values = []
    for b, local in shown.pieces:
        pick = list(local)
        means = corner_means(mesh.blocks[b].kind)[pick]
        values.append(NodeValues(int(firsts[b]), own[b][..., pick, :], corners[b], means))
    return tuple(values)


def corner_means(kind: Cell) -> Array:
    """Weights (nodes, corners) by which each node of a cell is a mean of the cell's corners."""
    means = np.zeros((len(kind.nodes), kind.corners))
    for i, of in enumerate(kind.nodes):
        means[i, list(of)] = 1.0 / len(of)
    return means
