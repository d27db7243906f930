"""Rigid motions fitted to moving points."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array
from ..scenes.scene import Part

MOST = 400
"""Largest number of pieces into which a part is split."""


class RigidMotion(NamedTuple):
    """Rigid motion x(t) ≈ c(t) + R(t) X that is fitted to p moving points of a body at k times.

    It has ``rotations`` R (k, 3, 3) from the axes of the body to those of the world, ``centres`` c (k, 3), and
    ``base``, the points X (p, 3) relative to the centre in the axes of the body.
    """

    rotations: Array
    centres: Array
    base: Array

    def in_body(self, vectors: Array) -> Array:
        """World vectors (k, p, 3) expressed in the axes of the body."""
        return np.asarray(np.swapaxes(self.rotations[:, None], -1, -2) @ vectors[..., None])[..., 0]

    def rest(self, points: Array) -> Array:
        """Deviations of points (k, p, 3) from the rigid motion, in the axes of the body."""
        return (points - self.centres[:, None]) @ self.rotations - self.base

    @property
    def largest_turn(self) -> float:
        """Largest rotation angle between successive times [rad]."""
        cosines = 0.5 * (np.einsum("kij,kij->k", self.rotations[1:], self.rotations[:-1]) - 1.0)
        return float(np.arccos(np.clip(cosines, -1.0, 1.0)).max(initial=0.0))


def rigid_motion(points: Array) -> RigidMotion:
    """Rigid motion with the least squared deviation from points (k, p, 3).

    Its points X are the given ones at the first time, relative to their centre. W. Kabsch, A solution for the best
    rotation to relate two sets of vectors, Acta Crystallogr. A 32 (1976).
    """
    centres = points.mean(axis=1)
    relative = points - centres[:, None]
    u, _, vt = np.linalg.svd(np.swapaxes(relative[:1], 1, 2) @ relative)
    signs = np.ones((len(points), 3))
    signs[:, 2] = np.sign(np.linalg.det(u @ vt))
    return RigidMotion(np.swapaxes(vt, 1, 2) @ (signs[:, :, None] * np.swapaxes(u, 1, 2)), centres, relative[0])


def quaternions(rotations: Array) -> Array:
    """Unit quaternions (…, k, 4), scalar last, of rotations (…, k, 3, 3), with signs that make them continuous in k."""
    products = _quaternion_products(rotations)
    largest = np.einsum("...ii->...i", products).argmax(axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    turned = np.einsum("...i,...i->...", q[..., 1:, :], q[..., :-1, :]) < 0.0
    return q * np.cumprod(np.insert(np.where(turned, -1.0, 1.0), 0, 1.0, axis=-1), axis=-1)[..., None]


def _quaternion_products(rotations: Array) -> Array:
    """Matrices 4 q qᵀ (…, 4, 4) of unit quaternions q, scalar last, from rotation matrices (…, 3, 3) (S. W. Shepperd).

    Their entries are linear in those of the rotation matrix.
    """
    trace = np.trace(rotations, axis1=-2, axis2=-1)
    products = np.empty((*rotations.shape[:-2], 4, 4))
    products[..., :3, :3] = rotations + np.swapaxes(rotations, -1, -2) + (1.0 - trace)[..., None, None] * np.eye(3)
    skew = rotations - np.swapaxes(rotations, -1, -2)
    products[..., 3, :3] = products[..., :3, 3] = skew[..., (2, 0, 1), (1, 2, 0)]
    products[..., 3, 3] = 1.0 + trace
    return products


def rigid_pieces(part: Part, tolerance: float) -> list[Part]:
    """Connected pieces of a part that is a joint symbol, if they move relative to each other; else the part alone.

    They move relative to each other if a point of the part deviates by more than ``tolerance`` [m] from the rigid
    motion that is fitted to all of its points.
    """
    if not part.moves or part.kind in ("body", "arrow") or part.point_fields:
        return [part]
    count, piece = connected_pieces(part.cells, part.points.shape[1])
    if not 1 < count <= MOST or np.abs(rigid_motion(part.undeformed).rest(part.undeformed)).max() <= tolerance:
        return [part]
    return [_piece(part, np.flatnonzero(piece == number), tolerance) for number in np.unique(piece[part.cells[:, 0]])]


def _piece(part: Part, own: Array, tolerance: float) -> Part:
    """Part with the points of indices ``own`` only.

    It has a single time if none of these points moves by more than ``tolerance`` [m] and none has a deformation.
    """
    cells = part.cells[np.isin(part.cells[:, 0], own)]
    points, deformation = (
        part.points[:, own],
        part.deformation[:, own] if part.deformation.shape[1] else part.deformation,
    )
    if np.ptp(points, axis=0).max() <= tolerance and not deformation.any():
        points, deformation = points[:1], deformation[:1]
    return replace(part, points=points, deformation=deformation, cells=np.searchsorted(own, cells))


def connected_pieces(cells: Array, count: int) -> tuple[int, Array]:
    """Number of connected pieces of a mesh of cells, and the index of the piece of each of its ``count`` points."""
    first, second = cells.ravel(), np.roll(cells, 1, axis=1).ravel()
    edges = coo_array((np.ones(first.size), (first, second)), shape=(count, count))
    number, piece = connected_components(edges, directed=False)
    return int(number), np.asarray(piece)
