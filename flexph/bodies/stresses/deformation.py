"""Deformation gradients of solids of finite strain, and stresses that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array
from ..nodal_body import NodalBody


@dataclass(frozen=True, eq=False)
class CurrentTensor:
    """Stress tensor at p points that depends on the deformation, ``of(F, σ)`` with F (k, p, d, d) and σ (k, m).

    The result (k, p, 6) has components (xx, yy, zz, xy, yz, xz). ``positions`` (p, d) [m] and volumes ``weights`` (p,)
    are those of the points; ``cell`` (p,) is the cell of each point, ``drawn`` (c,) the mesh cell of each drawn cell.
    """

    unit: str
    of: Callable[[Array, Array], Array]
    positions: Array
    weights: Array
    cell: Array
    drawn: Array

    def in_cells(self, values: Array) -> Array:
        """Means over the drawn cells, (k, c, …), of values at the points (k, p, …)."""
        volumes = np.bincount(self.cell, self.weights)
        means = np.zeros((volumes.size, *np.moveaxis(values, 1, 0).shape[1:]))
        share = (self.weights / volumes[self.cell]).reshape(-1, *[1] * (values.ndim - 1))
        np.add.at(means, self.cell, share * np.moveaxis(values, 1, 0))
        return np.moveaxis(means[self.drawn], 0, 1)


def deformation_gradients(body: NodalBody, centres: Array, rotations: Array) -> Array:
    """Deformation gradients F at the points of a solid, (k, p, d, d), from the centres and rotations of its nodes."""
    (k, _, d), turning = centres.shape, body.turning
    offsets = np.array([frame.centre for frame in body.frames[:turning]]).reshape(turning, d)
    R = rotations[:, :turning]
    origins = centres[:, :turning] - np.einsum("knij,nj->kni", R, offsets)
    own = np.concatenate([origins[:, :, None], R.transpose(0, 1, 3, 2)], axis=2).reshape(k, turning * (d + 1), d)
    places = np.concatenate([own, centres[:, turning:]], axis=1)
    columns = body.elasticity.vectors @ np.moveaxis(places, 1, 0).reshape(places.shape[1], k * d)
    return np.asarray(columns.reshape(-1, d, k, d).transpose(2, 0, 3, 1))
