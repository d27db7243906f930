"""Regions sampled on their cells, facets or nodes: means, moments, normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array, rows_at
from flexph.numerics.rotations import cross, spins

from ..meshes.cells import table
from ..meshes.regions import Region
from ..meshes.solid_mesh import facet_groups
from .model import SolidModel

THIN = 1e-8
"""Ratio of the smallest moment of the nodes of a region to the largest below which they are collinear or one point."""


@dataclass(frozen=True, eq=False)
class RegionSamples:
    """Sample points of a region: positions (k, d), weights (k,) with the sum one, shape functions ``values`` (k, N)."""

    region: Region
    at: Array
    weights: Array
    values: Any

    @property
    def centre(self) -> Array:
        """Weighted mean of the positions, (d,) [m]."""
        return self.weights @ self.at

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return int(self.at.shape[1])

    @property
    def levers(self) -> Array:
        """Displacements e_a × (x − x̄) of the k samples in unit rotations about the centre x̄, (s, k, d)."""
        return np.einsum("aij,kj->aki", cross(self.dim), self.at - self.centre)

    @property
    def gram(self) -> Array:
        """Second moments of the region, (s, s): weighted products of the displacements in two unit rotations."""
        return np.einsum("aki,bki,k->ab", self.levers, self.levers, self.weights)

    @property
    def spans(self) -> bool:
        """True if the region's samples determine rotations about all axes.

        In space they must not lie on a line, in the plane not at one point.
        """
        values = np.linalg.eigvalsh(self.gram)
        return bool(values[-1] > 0.0 and values[0] > THIN * values[-1])

    @property
    def shape(self) -> Any:
        """Sparse matrix (d, N·d) from the nodal displacements to the mean displacement of the region."""
        return sparse.kron(sparse.csr_array(self.weights[None, :]) @ self.values, sparse.eye_array(self.dim)).tocsr()

    def rotation(self, model: SolidModel) -> Any:
        """Sparse matrix (s, N·d) from nodal displacements to the rotation of the region's best-fitting rigid motion.

        If the region does not determine this motion, it is the mean rotation of the adjacent cells.
        """
        if not self.spans:
            touching = np.concatenate([np.isin(b.nodes, self.region.nodes).any(axis=1) for b in model.mesh.blocks])
            return model.turns(np.flatnonzero(touching), together=True)
        weighted = np.linalg.solve(self.gram, (self.levers * self.weights[None, :, None]).reshape(spins(self.dim), -1))
        spread = sparse.kron(self.values, sparse.eye_array(self.dim))
        return sparse.csr_array(weighted @ spread)


def measured(model: SolidModel, r: Region, weights: Sequence[float] | Array | None = None) -> RegionSamples:
    """Sample points of a region: quadrature points of its cells or facets, or else its nodes with equal weights.

    If ``weights`` are given, the samples are the nodes of the region with these weights. Raises ValueError unless there
    is one weight for each node.
    """
    mesh, count = model.mesh, len(model.mesh.points)
    if weights is not None:
        k, given = len(r.nodes), np.asarray(weights)
        if len(given) != k:
            raise ValueError(f"weights must be one for each of the {k} nodes of the region, got {len(given)}")
        values = sparse.csr_array((np.ones(k), (np.arange(k), r.nodes)), shape=(k, count))
        return RegionSamples(r, mesh.points[r.nodes], given / given.sum(), values)
    if r.kind == "nodes":
        k = len(r.nodes)
        values = sparse.csr_array((np.ones(k), (np.arange(k), r.nodes)), shape=(k, count))
        return RegionSamples(r, mesh.points[r.nodes], np.full(k, 1.0 / k), values)
    samples = _samples(model, r)
    values = sparse.vstack([rows_at(shapes, nodes, count) for nodes, shapes, _ in samples]).tocsr()
    whole = np.concatenate([weight.ravel() for *_, weight in samples])
    return RegionSamples(r, values @ mesh.points, whole / whole.sum(), values)


def _samples(model: SolidModel, r: Region) -> list[tuple[Array, Array, Array]]:
    """Quadrature points of a region's cells, weighted by mass, or of its facets, by area, in groups.

    A group of k cells or facets has nodes (k, n), shape functions (q, n) and weights (k, q).
    """
    mesh = model.mesh
    if r.kind == "volume":
        samples = []
        for b in np.unique(r.cells[:, 0]):
            cells = r.cells[r.cells[:, 0] == b, 1]
            points = mesh.at(int(b), mesh.blocks[b].kind.mass)
            weight = points.weights * model.densities(int(b))[:, None]
            samples.append((mesh.blocks[b].nodes[cells], points.shapes, weight[cells]))
        return samples
    return [(nodes, shapes, area) for nodes, shapes, area, _, _ in facet_samples(model, r.facets)]


def facet_samples(model: SolidModel, places: Array) -> list[tuple[Array, Array, Array, Array, Array]]:
    """Quadrature points of facets, in groups of one type of cell and one facet number.

    ``places`` (f, 3) are (block, cell, facet number). A group has nodes (k, n), shape functions (q, n), areas (k, q),
    indices of the facets (k,) and outward normals (k, q, d). In the plane areas are lengths.
    """
    samples = []
    for kind, nodes, pick in facet_groups(model.mesh, places):
        shapes, slopes, weights = table(kind.name, kind.mass)
        tangents = np.einsum("kni,njq->kqji", model.mesh.points[nodes], slopes)
        if model.dim == 3:
            normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
        else:
            normal = np.stack([tangents[:, :, 0, 1], -tangents[:, :, 0, 0]], axis=2)
        size = np.linalg.norm(normal, axis=2)
        samples.append((nodes, shapes.T, size * weights, pick, normal / size[:, :, None]))
    return samples
