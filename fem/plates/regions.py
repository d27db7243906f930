"""Regions of a plate with their nodes and edges, and sample points in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array
from flexph.numerics.gauss_tableau import gauss_points

from ..meshes.regions import Region, region
from .model import MASS, PlateModel

EDGE_POINTS = 4


class PlateRegion(NamedTuple):
    """A region of a plate with the numbers of all its nodes (k,) and of all its edges (e,)."""

    region: Region
    nodes: Array
    edges: Array


def place_of(model: PlateModel, name: str, given: Any) -> PlateRegion:
    """Region of a plate with its nodes and edges, from a name, node numbers or a function of positions.

    ``name`` names it in error messages.
    """
    chosen, mesh = region(model.mesh, name, given), model.mesh
    edges, nodes = [np.zeros(0, dtype=int)], [chosen.nodes]
    for b, block in enumerate(mesh.blocks):
        of = model.edges_of(b)
        facets = chosen.facets[chosen.facets[:, 0] == b]
        cells = chosen.cells[chosen.cells[:, 0] == b, 1]
        edges += [of[facets[:, 1], facets[:, 2]], of[cells].ravel()]
        nodes.append(block.nodes[cells].ravel())
    numbers = np.unique(np.concatenate(edges))
    every = np.unique(np.concatenate([*nodes, model.middles[numbers], model.edges[numbers].ravel()]))
    return PlateRegion(chosen, every, numbers)


def samples(model: PlateModel, place: PlateRegion) -> list[tuple[int, Array, Array, Array]]:
    """Sample points of a region with weights, from which its means are computed.

    They are a list of (block, cells (k,), points (k, q, 2), weights (k, q)). Weights are by mass in cells, by length on
    edges, and equal at nodes.
    """
    region, mesh = place.region, model.mesh
    if region.kind == "volume":
        chosen = [np.sort(region.cells[region.cells[:, 0] == b, 1]) for b in range(len(mesh.blocks))]
        sampled = []
        for b, cells, points, area in model.pieces(MASS):
            mine = np.isin(cells, chosen[b])
            number = model.numbered(b, cells[mine])
            mass = area[mine] * (model.densities * model.thickness)[number][:, None]
            sampled.append((b, cells[mine], points[mine], mass))
        return sampled
    if region.kind == "surface":
        return edge_samples(model, region.facets)
    return node_samples(model, place.nodes)


def edge_samples(model: PlateModel, places: Array) -> list[tuple[int, Array, Array, Array]]:
    """Gauss points on edges, with lengths as weights: a list of (block, cells (k,), points (k, q, 2), weights (k, q)).

    ``places`` (k, 3) are (block, cell, number of the edge in the cell).
    """
    share, weights = gauss_points(EDGE_POINTS)
    sampled = []
    for b in np.unique(places[:, 0]):
        in_block = places[places[:, 0] == b]
        corners = model.mesh.blocks[b].corners()[in_block[:, 1]]
        k, c = np.arange(len(in_block)), corners.shape[1]
        start, end = (model.mesh.points[corners[k, (in_block[:, 2] + i) % c]] for i in range(2))
        points = start[:, None] + share[:, None] * (end - start)[:, None]
        length = np.linalg.norm(end - start, axis=1)
        sampled.append((int(b), in_block[:, 1], points, length[:, None] * weights))
    return sampled


def node_samples(model: PlateModel, nodes: Array) -> list[tuple[int, Array, Array, Array]]:
    """Nodes as sample points of weight one, each in one of its cells, which is enough as all fields are continuous.

    The samples are a list of (block, cells (k,), points (k, 1, 2), weights (k, 1)).
    """
    left, sampled = np.array(nodes), []
    for b, block in enumerate(model.mesh.blocks):
        cell, place = np.nonzero(np.isin(block.nodes, left))
        numbers, first = np.unique(block.nodes[cell, place], return_index=True)
        sampled.append((b, cell[first], model.mesh.points[numbers][:, None], np.ones((len(numbers), 1))))
        left = np.setdiff1d(left, numbers)
    return sampled


def centre_of(model: PlateModel, place: PlateRegion) -> Array:
    """Centre (3,) [m] of a region: the weighted mean of its sample points, in the middle surface."""
    sampled = samples(model, place)
    total = sum(w.sum() for *_, w in sampled)
    centre = sum(np.einsum("kq,kqi->i", w, x) for _, _, x, w in sampled) / total
    return np.append(centre, 0.0)
