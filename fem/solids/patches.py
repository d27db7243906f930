"""Smooth fields of stresses: at each corner the linear field that fits the points of the cells around it best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array

from .model import SolidModel

FLAT = 1e-9
"""Moment of the points around a corner over the largest one below which no slope is taken along its direction."""
FAR = 30.0
"""Squared distance of a corner from the middle of the points around it, over their moments, above which it takes their
mean: a corner of one cell is up to 15 away."""


def smoothing(model: SolidModel, linear: list[Array], positions: Array, weights: Array) -> tuple[Any, Any, list[Array]]:
    """Functions of degree 1 (k, q, corners) at the points of the cells of each block, positions (p, d), volumes (p,).

    Returns spread (p, g), the values of corners at the points; gather (g, p), the values at corners by least squares
    over the cells around (O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 33 (1992)); and by blocks the
    corners (k, corners) among the g of each cell. Where cells of several materials meet, each has its own value.
    """
    mesh, kinds = model.mesh, len(model.materials)
    starts = mesh.starts
    keys = [
        kinds * block.corners() + model.material_of[starts[b] : starts[b + 1], None]
        for b, block in enumerate(mesh.blocks)
    ]
    distinct = np.unique(np.concatenate([k.ravel() for k in keys]))
    corners = [np.searchsorted(distinct, k) for k in keys]
    columns = np.concatenate(
        [np.broadcast_to(c[:, None], v.shape).ravel() for c, v in zip(corners, linear, strict=True)]
    )
    rows = np.repeat(np.arange(len(weights)), np.concatenate([np.full(v[..., 0].size, v.shape[2]) for v in linear]))
    shape = len(weights), len(distinct)
    spread = sparse.coo_array((np.concatenate([v.ravel() for v in linear]), (rows, columns)), shape=shape).tocsr()
    share = _fitted(mesh.points[distinct // kinds], positions, weights, points=rows, corners=columns)
    gather = sparse.coo_array((share, (columns, rows)), shape=shape[::-1]).tocsr()
    return spread, gather, corners


def _fitted(at: Array, positions: Array, weights: Array, *, points: Array, corners: Array) -> Array:
    """Share of each point in the value at a corner, of pairs (points, corners): (mean + slope · lever) by weights."""
    d, size = at.shape[1], len(at)
    summed = lambda v: np.bincount(corners, v, size)  # noqa: E731 - over the points of each corner
    w = weights[points]
    w = w / summed(w)[corners]
    middle = np.column_stack([summed(w * positions[points, i]) for i in range(d)])
    lever = positions[points] - middle[corners]
    moments = np.stack([np.stack([summed(w * lever[:, i] * lever[:, j]) for j in range(d)], 1) for i in range(d)], 1)
    slope = np.einsum("gij,gj->gi", np.linalg.pinv(moments, rcond=FLAT, hermitian=True), at - middle)
    slope[np.einsum("gi,gi->g", slope, at - middle) > FAR] = 0.0
    return w * (1.0 + np.einsum("ki,ki->k", slope[corners], lever))
