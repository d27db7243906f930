"""Partition of the cells of a solid over ranks by recursive coordinate bisection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array

from ..meshes.solid_mesh import Block, SolidMesh
from ..solids.model import SolidModel


@dataclass(frozen=True, eq=False)
class Part:
    """Cells of one rank, with their nodes and the coordinates that move them.

    ``shapes`` (N·d, n) are the displacements of the N nodes for unit values of these n coordinates, ``coordinates``
    (n,) the numbers of the coordinates in the whole system. ``cells`` are the numbers of the cells, counted through all
    blocks of the mesh.
    """

    model: SolidModel
    shapes: Any
    coordinates: Array
    cells: Array


class RankShare(NamedTuple):
    """Data that rank 0 sends to each rank: its part of the solid, and the rows that the rank owns.

    ``starts`` are the first coordinates of all ranks and, as the last entry, the number of all coordinates. The rows
    are for each coordinate that the rank owns: ``held`` (own,), True if it is held; ``linear`` (own,), True if it moves
    corners of cells; ``rigid`` (own, r), the rigid motions of the solid; ``loads`` (own, k), the loads of the static
    responses.
    """

    part: Part
    starts: Array
    held: Array
    linear: Array
    rigid: Array
    loads: Array


@dataclass(frozen=True, eq=False)
class Partition:
    """Parts of a solid, one for each rank; its n coordinates are renumbered so that each rank owns a contiguous range.

    ``order`` (n,) has the old number of each coordinate, ``starts`` the first coordinate of each rank and, as the last
    entry, n.
    """

    parts: tuple[Part, ...]
    order: Array
    starts: Array

    def split(self, rows: Array) -> list[Array]:
        """Split rows (n, k) for all coordinates of the solid into the rows that each rank owns."""
        return np.split(rows[self.order], self.starts[1:-1])

    def joined(self, own: list[Array]) -> Array:
        """Join the rows that each rank owns to rows (n, k) for all coordinates of the solid."""
        rows = np.empty((len(self.order), own[0].shape[1]))
        rows[self.order] = np.concatenate(own)
        return rows


def cut(model: SolidModel, basis: Any, count: int) -> Partition:
    """Partition of a solid into ``count`` parts.

    ``basis`` (N·d, n) are the displacements of the N nodes of the solid for unit values of its n coordinates.
    """
    mesh, d = model.mesh, model.dim
    centres = np.vstack([mesh.points[b.corners()].mean(axis=1) for b in mesh.blocks])
    rank = bisected(centres, count)
    blocks = [np.split(rank, mesh.starts[1:-1])[b] for b in range(len(mesh.blocks))]
    rows = sparse.csr_array(basis)
    pieces, touched = [], []
    for r in range(count):
        picks = [np.flatnonzero(of == r) for of in blocks]
        nodes = np.unique(np.concatenate([b.nodes[p].ravel() for b, p in zip(mesh.blocks, picks, strict=True)]))
        owned = rows[(d * nodes[:, None] + np.arange(d)).ravel()]
        pieces.append((picks, nodes, owned))
        touched.append(np.unique(owned.indices))
    owner = _owners(touched, rows.shape[1], d)
    order = np.argsort(owner, kind="stable")
    numbers = np.argsort(order)
    parts = [
        Part(_submodel(model, picks, nodes), owned[:, columns], numbers[columns], np.flatnonzero(rank == r))
        for r, ((picks, nodes, owned), columns) in enumerate(zip(pieces, touched, strict=True))
    ]
    return Partition(tuple(parts), order, np.searchsorted(owner[order], np.arange(count + 1)))


def linear_coordinates(model: SolidModel, basis: Any) -> Array:
    """Mask (n,) of the coordinates that move corners of cells, not only a node between corners."""
    corner = np.zeros(len(model.mesh.points), dtype=bool)
    for block in model.mesh.blocks:
        corner[block.corners()] = True
    columns = sparse.csc_array(basis)
    linear = np.ones(basis.shape[1], dtype=bool)
    single = np.flatnonzero(np.diff(columns.indptr) == 1)
    linear[single] = corner[columns.indices[columns.indptr[single]] // model.dim]
    return linear


def bisected(centres: Array, count: int) -> Array:
    """Rank of each cell from its centre: the cells are halved across their longest extent, recursively."""
    rank = np.zeros(len(centres), dtype=int)
    _bisect(centres, np.arange(len(centres)), range(count), rank)
    return rank


def _bisect(centres: Array, cells: Array, ranks: range, rank: Array) -> None:
    rank[cells] = ranks.start
    if len(ranks) > 1:
        half = len(ranks) // 2
        longest = np.ptp(centres[cells], axis=0).argmax()
        sorted_cells = cells[np.argsort(centres[cells, longest], kind="stable")]
        first = len(cells) * half // len(ranks)
        _bisect(centres, sorted_cells[:first], ranks[:half], rank)
        _bisect(centres, sorted_cells[first:], ranks[half:], rank)


def _owners(touched: list[Array], size: int, dim: int) -> Array:
    """Rank that owns each coordinate, (size,): the lowest rank with a cell that the coordinate moves.

    ``touched`` has, for each rank, the numbers of the coordinates that move its cells. If there are ``dim`` coordinates
    for each node, those of a node have the same owner; this is assumed if ``dim`` divides ``size``.
    """
    owner = np.full(size, len(touched))
    for r in reversed(range(len(touched))):
        owner[touched[r]] = r
    return owner if size % dim else np.repeat(owner.reshape(-1, dim).min(axis=1), dim)


def _submodel(model: SolidModel, picks: list[Array], nodes: Array) -> SolidModel:
    """Model of part of the cells, with indices ``picks`` in each block, and of their nodes ``nodes`` only."""
    mesh, start = model.mesh, model.mesh.starts
    used = [(b, block, picked) for b, (block, picked) in enumerate(zip(mesh.blocks, picks, strict=True)) if len(picked)]
    blocks = tuple(Block(block.kind, np.searchsorted(nodes, block.nodes[picked])) for _, block, picked in used)
    of = np.concatenate([model.material_of[start[b] + picked] for b, _, picked in used])
    own_mesh = SolidMesh(mesh.points[nodes], blocks, {}, mesh.numbers[:0])
    added = None if model.added is None else np.concatenate([model.added[start[b] + picked] for b, _, picked in used])
    return SolidModel(own_mesh, model.materials, of, model.plane, model.thickness, added)
