"""Ports of bodies that are given by nodes: a node, or the mean motion of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .body import Port
from .space import Array, cross, spins

FLAT = 1e-8
"""Smallest over largest moment of the nodes of a port below which they lie on a line, or at one point."""


def node_list(name: str, given: Any, count: int) -> np.ndarray:
    """Numbers of nodes (k,), counted from 0, without repetition."""
    numbers = np.atleast_1d(np.asarray(given))
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a node number or a sequence of them, got {given!r}")
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    if wrong.size:
        raise ValueError(f"{name} must be node numbers from 0 to {count - 1}, got {int(wrong[0])}")
    if np.unique(numbers).size != numbers.size:
        raise ValueError(f"{name} must not name a node twice, got {given!r}")
    return numbers.astype(int)


def rigid_motions(points: Array, centre: Array) -> Array:
    """Displacements of points (N, d) by unit translations and by unit spins about a point, (N·d, d + s)."""
    count, dim = points.shape
    turned = np.einsum("aij,nj->nia", cross(dim), points - centre).reshape(count * dim, spins(dim))
    return np.hstack([np.tile(np.eye(dim), (count, 1)), turned])


def node_ports(ports: Mapping[str, Any], points: Array) -> dict[str, Port]:
    """Ports over the nodal displacements (N·d): shape the mean of their nodes, rotation their least-squares turn.

    The rigid motion ``ū + θ × (X − X̄)`` nearest to the displacements of the nodes, Σ|u_i − ū − θ × (X_i − X̄)|²
    least, gives ψ: θ = A⁻¹ Σ (X_i − X̄) × u_i, A = Σ |X_i − X̄|²1 − (X_i − X̄)(X_i − X̄)ᵀ. A force and a torque are
    then spread over the nodes without stiffening them. One node has no rotation.
    """
    if not isinstance(ports, Mapping):
        raise ValueError(f"ports must map names to nodes, got {type(ports).__name__}")
    return {name: _port(name, node_list(f"port {name!r}", given, len(points)), points) for name, given in ports.items()}


def _port(name: str, nodes: np.ndarray, points: Array) -> Port:
    count, dim = points.shape
    position = points[nodes].mean(axis=0)
    columns = (dim * nodes[:, None] + np.arange(dim)).ravel()

    def rows(values: Array) -> Any:
        spread = sparse.coo_array(values)
        return sparse.csr_array((spread.data, (spread.row, columns[spread.col])), shape=(len(values), count * dim))

    shape = rows(np.tile(np.eye(dim), len(nodes)) / len(nodes))
    if len(nodes) == 1:
        return Port(position, shape, None)
    levers = rigid_motions(points[nodes], position)[:, dim:].T  # row a: e_a × (X_i − X̄)
    gram = levers @ levers.T
    moments = np.linalg.eigvalsh(gram)
    if not moments[0] > FLAT * moments[-1]:
        where = "at one point" if dim == 2 else "on a line"
        raise ValueError(f"port {name!r} must have nodes that do not lie {where}: they show no rotation about it")
    return Port(position, shape, rows(np.linalg.solve(gram, levers)))
