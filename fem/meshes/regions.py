"""Regions of a mesh: by name, by node numbers, or by a function of positions."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed

from .solid_mesh import NamedSet, SolidMesh, facet_groups

_NO_CELLS, _NO_FACETS = np.zeros((0, 2), dtype=int), np.zeros((0, 3), dtype=int)


def node_numbers(name: str, given: object, mesh: SolidMesh) -> Array:
    """Indices (k,) of nodes of ``mesh`` from their numbers in the mesh from which it was made.

    ``name`` is what error messages call the region. Raises ValueError for numbers that no cell has, and for anything
    other than integers.
    """
    numbers = np.unique(np.atleast_1d(np.asarray(given)))
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be the name of a region, node numbers or a function of x, got {reprlib.repr(given)}"
        )
    lost = numbers[~np.isin(numbers, mesh.numbers)]
    if lost.size:
        raise ValueError(
            f"{name} must have node numbers from {mesh.numbers[0]} to {mesh.numbers[-1]}, got {listed(lost)}, which no "
            "cell has"
        )
    return np.searchsorted(mesh.numbers, numbers)


@dataclass(frozen=True, eq=False)
class Region:
    """A region of a mesh: all of its nodes, and its cells or facets, over which means and loads are integrated."""

    name: str
    nodes: Array
    cells: Array  # (k, 2): block, cell
    facets: Array  # (k, 3): block, cell, number

    @property
    def kind(self) -> str:
        """Kind of the region by what it is integrated over: "volume", "surface" or, for nodes alone, "nodes"."""
        return "volume" if len(self.cells) else "surface" if len(self.facets) else "nodes"


def region(mesh: SolidMesh, name: str, given: object) -> Region:
    """Region from a name, from node numbers, or from a function of positions x (d, N) that is true on it.

    ``name`` is the name in error messages. A function selects nodes; facets on the boundary, and cells, belong to the
    region if all of their nodes do. Raises ValueError for an unknown name (the message lists the known ones), and
    for a region without nodes.
    """
    if isinstance(given, Region):
        return given
    if isinstance(given, str):
        named = check.lookup("region", given, mesh.sets, f"{name}: the mesh")
        return _from_set(mesh, given, named)
    if callable(given):
        mask = np.asarray(check.value_of(name, given, mesh.points.T))
        if mask.shape != (len(mesh.points),) or mask.dtype != bool:
            raise ValueError(
                f"{name} must be a function of x ({mesh.dim}, N) that returns N truth values, got {mask.dtype} of "
                f"shape {mask.shape}"
            )
        numbers = np.flatnonzero(mask)
        if not numbers.size:
            low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
            raise ValueError(f"{name} must be true at some node: the mesh reaches from {low} to {high} m")
        return _from_nodes(mesh, name, numbers)
    return _from_nodes(mesh, name, node_numbers(name, given, mesh))


def region_of_cells(mesh: SolidMesh, kind: str, names: Iterable[str]) -> Array:
    """Index of the named region of each cell, (cells,). Raises ValueError unless each cell has exactly one.

    ``kind`` names the assigned quantity in error messages.
    """
    of = np.full(int(mesh.starts[-1]), -1)
    for k, name in enumerate(names):
        cells = region(mesh, kind, name).cells
        if not len(cells):
            raise ValueError(f"{kind} {name!r} must belong to a region of cells, {name!r} has none")
        numbers = mesh.numbered(cells)
        twice = numbers[of[numbers] >= 0]
        if twice.size:
            raise ValueError(f"{kind} must be unique for every cell, got two for cells {listed(np.sort(twice))}")
        of[numbers] = k
    bare = np.flatnonzero(of < 0)
    if bare.size:
        raise ValueError(f"{kind} must be given for all cells, missing for cells {listed(bare)}")
    return of


def _from_nodes(mesh: SolidMesh, name: str, nodes: Array) -> Region:
    """Region of given nodes: with those cells and boundary facets whose nodes all belong to it."""
    inside = np.zeros(len(mesh.points) + 1, dtype=bool)  # the last entry is for the padding −1
    inside[nodes], inside[-1] = True, True
    cells = [
        np.column_stack([np.full(int(all_in.sum()), b), np.flatnonzero(all_in)])
        for b, block in enumerate(mesh.blocks)
        for all_in in [inside[block.nodes].all(axis=1)]
    ]
    f = mesh.facets
    places = f.places[f.boundary & inside[f.corners].all(axis=1)]
    return Region(name, nodes, np.vstack(cells), places)


def _from_set(mesh: SolidMesh, name: str, given: NamedSet) -> Region:
    words = ("cells of the body", "facets", "edges or points")
    held = [word for word, part in zip(words, given, strict=True) if len(part)]
    if len(held) > 1:
        raise ValueError(f"region {name!r} must have cells of one dimension, got mixed dimensions: {', '.join(held)}")
    if len(given.cells):
        nodes = [mesh.blocks[b].nodes[given.cells[given.cells[:, 0] == b, 1]].ravel() for b in range(len(mesh.blocks))]
        return Region(name, np.unique(np.concatenate(nodes)), given.cells, _NO_FACETS)
    if len(given.facets):
        return _from_facets(mesh, name, given.facets)
    if not len(given.nodes):
        raise ValueError(f"region {name!r} of the mesh must have cells, facets or nodes in use, got none")
    return _from_nodes(mesh, name, given.nodes)


def _from_facets(mesh: SolidMesh, name: str, corners: Array) -> Region:
    """Region of facets, given by their ``corners`` (k, 4); of the two cells at an inner facet it takes the first.

    Raises ValueError for a facet that no cell of the mesh has.
    """
    f = mesh.facets
    keys, inverse = np.unique(np.vstack([f.corners, corners]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    owner = np.full(len(keys), -1)
    owner[inverse[: len(f.corners)][::-1]] = np.arange(len(f.corners))[::-1]
    owners = owner[inverse[len(f.corners) :]]
    lost = np.flatnonzero(owners < 0)
    if lost.size:
        raise ValueError(
            f"region {name!r} must have facets of cells of the mesh, got {lost.size} of {len(corners)} that are none, "
            f"the first with points at {mesh.points[corners[lost[0]][corners[lost[0]] >= 0]].tolist()} m"
        )
    places = f.places[np.unique(owners)]
    return Region(
        name,
        np.unique(np.concatenate([nodes.ravel() for _, nodes, _ in facet_groups(mesh, places)])),
        _NO_CELLS,
        places,
    )
