"""Pairs of nodes that share a cell: the sparsity pattern for the assembly of all cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array

from .solid_mesh import SolidMesh


class NodePairs(NamedTuple):
    """Pairs of nodes that share a cell, ascending: second node of each (p,), first pair of each node.

    ``places``: by blocks the numbers of the pairs of the nodes of each cell, (k, n·n).
    """

    second: Array
    first: Array
    places: list[Array]

    def summed(self, block: int, cells: slice, values: Array) -> Array:
        """Sums (p, c) over the pairs of the values (k, n·n, c) of some cells of a block."""
        place = self.places[block][cells].ravel()
        entries = np.ones(len(place)), place, np.arange(len(place) + 1, dtype=np.int32)
        return sparse.csc_array(entries, shape=(len(self.second), len(place))) @ values.reshape(len(place), -1)

    def matrix(self, values: Array) -> Any:
        """Sparse matrix (N·d, N·d) with one block of ``values`` (p, d, d) for each pair."""
        size = values.shape[1] * (len(self.first) - 1)
        return sparse.csr_array(sparse.bsr_array((values, self.second, self.first), shape=(size, size)))


def node_pairs(mesh: SolidMesh) -> NodePairs:
    """The pairs of nodes of a mesh that share a cell."""
    count = len(mesh.points)
    keys = [(count * b.nodes[:, :, None] + b.nodes[:, None, :]).ravel() for b in mesh.blocks]
    pairs, places = np.unique(np.concatenate(keys), return_inverse=True)
    first, second = np.divmod(pairs, count)
    blocks = np.split(places.astype(np.int32), np.cumsum([len(k) for k in keys])[:-1])
    return NodePairs(
        second.astype(np.int32),
        np.searchsorted(first, np.arange(count + 1)).astype(np.int32),
        [own.reshape(len(b.nodes), -1) for own, b in zip(blocks, mesh.blocks, strict=True)],
    )
