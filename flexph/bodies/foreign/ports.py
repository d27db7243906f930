"""Ports given by nodes: a single node, or the mean motion of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...meshes.facets import Facets, samples
from ...numerics.arrays import Array, rows_at
from ...numerics.rotations import rigid_motions
from ..body import Port
from .nodes import ForeignNodes

FLAT = 1e-8
"""Ratio of the smallest to the largest moment of the nodes of a port below which they are collinear."""


def node_ports(ports: Mapping[str, Any], nodes: ForeignNodes) -> dict[str, Port]:
    """Ports as maps of nodal displacements (N·d): the mean displacement and least-squares rotation of their nodes.

    The rigid motion ``ū + θ × (x − x̄)`` nearest to the displacements, Σ w|u − ū − θ × (x − x̄)|² least, gives
    ``θ = A⁻¹ Σ w (x − x̄) × u``, ``A = Σ w (|x − x̄|²1 − (x − x̄)(x − x̄)ᵀ)``. If cells are known and the nodes are
    exactly those of boundary facets, the sums are integrals over these facets, w dA; otherwise all nodes have equal
    weight. Forces and torques are distributed without stiffening. A single node has no rotation.
    """
    if not isinstance(ports, Mapping):
        raise ValueError(f"ports must map names to nodes, got {type(ports).__name__}")
    return {name: _port(name, nodes.chosen(f"port {name!r}", given), nodes) for name, given in ports.items()}


def _port(name: str, rows: np.ndarray, nodes: ForeignNodes) -> Port:
    points, dim = nodes.points, nodes.points.shape[1]
    values, weights = _samples(points, _covering(rows, nodes.boundary), rows)
    at = values @ points
    position = weights @ at
    displacement = lambda v: sparse.csr_array(sparse.kron(v @ values, sparse.eye_array(dim)))  # noqa: E731
    shape = displacement(sparse.csr_array(weights[None, :]))
    if len(rows) == 1:
        return Port(position, shape, None)
    levers = rigid_motions(at - position).reshape(at.size, -1)[:, dim:].T  # row a: e_a × (x − x̄)
    weighted = levers * np.repeat(weights, dim)
    gram = levers @ weighted.T
    moments = np.linalg.eigvalsh(gram)
    if not moments[0] > FLAT * moments[-1]:
        where = "at one point" if dim == 2 else "on a line"
        raise ValueError(
            f"port {name!r} must have nodes that do not lie {where}, as these do not determine a rotation about it"
        )
    turn = sparse.csr_array(np.linalg.solve(gram, weighted))
    return Port(position, shape, sparse.csr_array(turn @ sparse.kron(values, sparse.eye_array(dim))))


def _covering(rows: np.ndarray, facets: list[Facets]) -> list[Facets]:
    """Facets with all nodes in a port, if together they contain all nodes of the port; else none."""
    own = [(kind, nodes[np.isin(nodes, rows).all(axis=1)]) for kind, nodes in facets]
    own = [(kind, nodes) for kind, nodes in own if len(nodes)]
    seen = np.unique(np.concatenate([np.zeros(0, dtype=int), *(nodes.ravel() for _, nodes in own)]))
    return own if len(seen) == len(rows) else []


def _samples(points: Array, facets: list[Facets], rows: np.ndarray) -> tuple[Any, Array]:
    """Interpolation (k, N) from nodes to the sample points of a port, and their weights (k,) with sum one."""
    count = len(points)
    if not facets:
        k = len(rows)
        return sparse.csr_array((np.ones(k), (np.arange(k), rows)), shape=(k, count)), np.full(k, 1.0 / k)
    sampled = [(*samples(points, (kind, nodes)), nodes) for kind, nodes in facets]
    values = sparse.vstack([rows_at(shapes, nodes, count) for shapes, _, nodes in sampled]).tocsr()
    whole = np.concatenate([areas.ravel() for _, areas, _ in sampled])
    return values, whole / whole.sum()
