"""Smooth stress fields: at each corner the linear field that best fits the points of the adjacent cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array

from .model import SolidModel

FLAT = 1e-9
"""Relative moment of the points around a corner below which no slope along its direction is fitted."""
FAR = 30.0
"""Squared distance of a corner from the centre of the points around it, divided by their moments, above which their
mean is taken: a corner of a single cell has up to 15."""


def smoothing(model: SolidModel, linear: list[Array], positions: Array, weights: Array) -> tuple[Any, Any, list[Array]]:
    """Matrices for a smooth stress field: ``spread`` (p, g) from corner values to points, ``gather`` (g, p) back.

    ``linear`` (k, q, corners) by blocks, ``positions`` (p, d) and volumes ``weights`` (p,) belong to the points. gather
    fits by least squares over the adjacent cells (O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 33 (1992)).
    Also returned by blocks: the numbers (k, corners) of the corners of each cell among the g. At an interface of
    materials each has a separate value.
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
    """Weight of a point in the value at a corner, for pairs (points, corners), from a weighted linear fit.

    The value is the mean plus slope · lever, with the lever from the mean position to the corner.
    """
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
