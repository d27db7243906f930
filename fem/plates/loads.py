"""Distributed loads on plates: force per area on cells, force per length on edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.body import LoadPort
from flexph.numerics.arrays import Array

from ..meshes.regions import Region, region
from ..solids.loads import Load
from .coordinates import point_by_point
from .model import MASS, PlateModel
from .regions import edge_samples


def load_port(model: PlateModel, shapes: Any, name: str, given: Any) -> LoadPort:
    """Load port of a region in the coordinates u, with the normals of the upper face.

    Raises ValueError if the region has no cells or edges.
    """
    load = given if isinstance(given, Load) else Load(given)
    if load.on == "volume":
        raise ValueError(f"load {name!r} on a plate must be on='surface' or None: it has cells and edges, no volume")
    loaded = region(model.mesh, f"load {name!r}", load.region)
    if loaded.kind == "nodes":
        raise ValueError(f"load {name!r} must be on a region with cells or edges, got none")
    owner, measures, rows, at = _means(model, loaded, load.uniform)
    mean = sparse.coo_array((measures, (owner, np.arange(len(owner)))), (int(owner.max()) + 1, len(owner))).tocsr()
    whole = np.asarray(mean.sum(axis=1)).ravel()
    mean = sparse.diags_array(1.0 / whole) @ mean
    values = point_by_point([sparse.csr_array(mean @ r) for r in rows])
    positions = np.pad(mean @ at, [(0, 0), (0, 1)])
    top = np.tile([0.0, 0.0, 1.0], (len(whole), 1)) if loaded.kind == "volume" else None
    return LoadPort(positions, sparse.csr_array(values @ shapes), whole, top)


def _means(model: PlateModel, loaded: Region, uniform: bool) -> tuple[Array, Array, list[Any], Array]:
    """Samples of cells or edges: the element of each, area or length, matrix of its displacement, and position.

    All samples belong to one element if the load is ``uniform``.
    """
    owner, measures, rows, at, start = [], [], [], [], 0
    samples = _cells(model, loaded) if loaded.kind == "volume" else edge_samples(model, loaded.facets)
    for b, cells, points, measure in samples:
        if not len(cells):
            continue
        fields = model.sampled(b, cells, points)
        owner.append(np.repeat(start + np.arange(len(cells)), measure.shape[1]))
        start += len(cells)
        measures.append(measure.ravel())
        rows.append((fields.x, fields.y, fields.w))
        at.append(points.reshape(-1, 2))
    of = np.concatenate(owner)
    stacked = [sparse.vstack([r[i] for r in rows]).tocsr() for i in range(3)]
    return np.zeros_like(of) if uniform else of, np.concatenate(measures), stacked, np.vstack(at)


def _cells(model: PlateModel, loaded: Region) -> list[Any]:
    chosen = [loaded.cells[loaded.cells[:, 0] == b, 1] for b in range(len(model.mesh.blocks))]
    samples = []
    for b, cells, points, area in model.pieces(MASS):
        mine = np.isin(cells, chosen[b])
        samples.append((b, cells[mine], points[mine], area[mine]))
    return samples
