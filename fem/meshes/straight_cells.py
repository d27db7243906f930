"""Lagrange functions at arbitrary points of cells with straight edges."""

from __future__ import annotations

import numpy as np

from flexph.meshes.cell_nodes import REFERENCE
from flexph.numerics.arrays import Array

from .solid_mesh import SolidMesh

SETTLED = 1e-14
"""Step of Newton's method, in reference coordinates, that counts as round-off."""


def lagrange(mesh: SolidMesh, block: int, cells: Array, points: Array) -> tuple[Array, Array]:
    """Shape functions (k, q, n) and gradients (k, q, n, 2) of cells (k,) at points (k, q, 2) in them.

    The values belong to points in body axes, not to reference points.
    """
    kind, corners = mesh.blocks[block].kind, mesh.points[mesh.blocks[block].corners()[cells]]
    at = _reference(corners, points)
    shapes, slopes = kind.shapes(at.reshape(-1, 2).T)
    values = shapes.T.reshape(*points.shape[:2], -1)
    own = np.moveaxis(slopes, -1, 0).reshape(*points.shape[:2], -1, 2)
    return values, np.einsum("kqnj,kqji->kqni", own, np.linalg.inv(_jacobian(corners, at)))


def _jacobian(corners: Array, at: Array) -> Array:
    """Jacobians ∂x/∂ξ of the map of corners (k, c, 2) at reference points (k, q, 2)."""
    if corners.shape[1] == 3:
        edges = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2)
        return np.broadcast_to(edges[:, None], (*at.shape, 2))
    a, b, c, d = (corners[:, None, i] for i in range(4))
    x, y = at[..., :1], at[..., 1:]
    return np.stack([(b - a) * (1.0 - y) + (c - d) * y, (d - a) * (1.0 - x) + (c - b) * x], axis=3)


def _reference(corners: Array, points: Array) -> Array:
    """Reference coordinates (k, q, 2) of points in straight-sided cells; in quadrilaterals by Newton's method."""
    at = np.broadcast_to(REFERENCE["triangle" if corners.shape[1] == 3 else "quad"].mean(axis=0), points.shape)
    for _ in range(1 if corners.shape[1] == 3 else 12):
        x, y = at[..., :1], at[..., 1:]
        weights = [1.0 - x - y, x, y]
        if corners.shape[1] == 4:
            weights = [(1.0 - x) * (1.0 - y), x * (1.0 - y), x * y, (1.0 - x) * y]
        here = sum(w * corners[:, None, i] for i, w in enumerate(weights))
        step = np.linalg.solve(_jacobian(corners, at), (points - here)[..., None])[..., 0]
        at = at + step
        if np.abs(step).max(initial=0.0) < SETTLED:
            break
    return at
