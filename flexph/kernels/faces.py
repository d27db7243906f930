"""Follower loads on faces of nodal bodies: tangential tractions and pressure, per area of the deformed face.

At each quadrature point of a face, with tangents a = ∂x/∂s₁ and, in space, b = ∂x/∂s₂ by orthonormal directions of the
undeformed face, and n = a × b, the outward normal times the ratio of areas,

    df = (τ₁ |n| a/|a| + τ₂ n × a/|a| + σ n) dA₀,    in the plane  df = (τ a + σ n) dA₀,  n = a turned by −90°.

A step uses a and b at the mean positions of its ends. The resultant and, about the mean positions, the moment of σ n
over a closed surface are then zero. The work of a uniform σ = −p is −p (ΔV − ¼ V[Δx]) in space, V[Δx] = ⅓∮Δx·Δa × Δb,
since the volume is a cubic form of the positions; in the plane, where it is quadratic, −p ΔV.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array
from ..numerics.rotations import skew

Index = np.ndarray


class Faces(NamedTuple):
    """Quadrature points of loaded faces, with their areas and their inputs.

    ``points``, ``along`` and ``across`` are sparse matrices (q, k) from the positions of the k nodes to the positions
    of the q points and to the tangents a and b there.
    """

    points: Any
    along: Any
    across: Any  # in the plane zero
    areas: Array  # (q,), of the undeformed faces
    input: Index  # (q, d), inputs along both tangents, in the plane one, and along the outward normal


def _tangents(f: Faces, places: Array) -> tuple[Array, Array]:
    return f.along @ places, f.across @ places


def _axes(f: Faces, places: Array) -> Array:
    """Forces on the quadrature points for unit inputs, (q, d, d): the row [q, i] is the force of input i of point q.

    ``places`` (k, d) are the positions of the nodes.
    """
    a, b = _tangents(f, places)
    if places.shape[1] == 2:
        axes = np.stack([a, np.stack([a[:, 1], -a[:, 0]], axis=1)], axis=1)
    else:
        normal, length = np.cross(a, b), np.linalg.norm(a, axis=1)[:, None]
        area = np.linalg.norm(normal, axis=1)[:, None]
        axes = np.stack([area * a / length, np.cross(normal, a) / length, normal], axis=1)
    return np.asarray(f.areas[:, None, None] * axes)


def face_forces(f: Faces, places: Array, inputs: Array) -> Array:
    """Forces (k, d) [N] on all nodes, from node positions ``places`` (k, d) and the inputs (i,) [N/m²]."""
    return np.asarray(f.points.T @ np.einsum("qc,qcd->qd", inputs[f.input], _axes(f, places)))


def face_matrix(f: Faces, places: Array, inputs: int) -> Any:
    """Sparse matrix (k·d, i) from the inputs to the forces on all nodes, whose positions are ``places`` (k, d).

    ``inputs`` is the number i of inputs of the mechanism.
    """
    axes, d = _axes(f, places), places.shape[1]
    rows = np.broadcast_to(d * np.arange(len(axes))[:, None, None] + np.arange(d), axes.shape)
    columns = np.broadcast_to(f.input[:, :, None], axes.shape)
    shape = (d * len(axes), inputs)
    on = sparse.csr_array((axes.ravel(), (rows.ravel(), columns.ravel())), shape=shape)
    return sparse.kron(f.points.T, sparse.eye_array(d)) @ on


def face_tangent(f: Faces, places: Array, inputs: Array) -> Any:
    """Derivative of the forces on all nodes with respect to node positions, at constant inputs; sparse (k·d, k·d)."""
    d, identity = places.shape[1], sparse.eye_array(places.shape[1])
    by_tangents = zip(_slopes(f, places, inputs[f.input]), (f.along, f.across), strict=False)
    changed = sum(_diagonal(slope) @ sparse.kron(tangent, identity) for slope, tangent in by_tangents)
    return sparse.csr_array(sparse.kron(f.points.T, sparse.eye_array(d)) @ changed)


def _diagonal(blocks: Array) -> Any:
    count, d, _ = blocks.shape
    return sparse.bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(count * d, count * d))


def _slopes(f: Faces, places: Array, given: Array) -> list[Array]:
    """Derivatives of the forces on quadrature points with respect to the tangents a and, in space, b, (q, d, d) each.

    ``given`` (q, d) are the inputs of the points.
    """
    a, b = _tangents(f, places)
    weighted = f.areas[:, None] * given
    if places.shape[1] == 2:
        turned = np.array([[0.0, 1.0], [-1.0, 0.0]])
        return [weighted[:, :1, None] * np.eye(2) + weighted[:, 1:, None] * turned]
    normal, length, unit = np.cross(a, b), np.linalg.norm(a, axis=1), np.eye(3)
    area, (first, second, out) = np.linalg.norm(normal, axis=1), weighted.T[:, :, None, None]
    by_normal = out * unit  # ∂(force)/∂n
    by_normal = by_normal + first * np.einsum("qi,qj,q->qij", a, normal, 1.0 / (area * length))
    by_normal = by_normal - second * skew(a, 3) / length[:, None, None]
    along = a / length[:, None]
    project = (unit - np.einsum("qi,qj->qij", along, along)) / length[:, None, None]  # ∂(a/|a|)/∂a
    by_along = (first * area[:, None, None] * unit + second * skew(normal, 3)) @ project
    return [by_along - by_normal @ skew(b, 3), by_normal @ skew(a, 3)]
