"""Sections that are drawn along a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.arrays import Array


@dataclass(frozen=True, eq=False)
class SweptSection:
    """Section of a body that is drawn as a line along its x axis.

    Parameters
    ----------
    outline : array
        Corners (q, 2), (y, z) [m], of the section in order; z is out of the plane for planar bodies.
    rotation : matrix
        Sparse matrix (p·s, n): to first order the sections at the p points of the line turn by ψu.
    """

    outline: Array
    rotation: Any

    @property
    def corners(self) -> int:
        """Number of corners of the section."""
        return len(self.outline)

    def offsets(self, dim: int) -> tuple[Array, Array]:
        """Vectors (q, 3) from the line to the corners, and their derivatives (q, 3, s) by the turn ψ of the section."""
        y, z = self.outline.T
        none = np.zeros_like(y)
        vectors = np.column_stack([none, y, z])
        if dim == 2:
            return vectors, np.column_stack([-y, none, none])[:, :, None]
        turns = np.array([[none, z, -y], [-z, none, none], [y, none, none]])
        return vectors, np.moveaxis(turns, 2, 0)

    def sides(self, rings: int) -> Array:
        """Quadrilaterals ((rings − 1) q, 4) between the outlines at successive points of the line."""
        q = self.corners
        start, k = q * np.arange(rings - 1)[:, None], np.arange(q)
        a, b = start + k, start + (k + 1) % q
        return np.stack([a, b, b + q, a + q], axis=-1).reshape(-1, 4)

    def caps(self, rings: int) -> Array:
        """Triangles (2 (q − 2), 3) that close both ends."""
        k = np.arange(1, self.corners - 1)
        fan = np.column_stack([np.zeros_like(k), k, k + 1])
        return np.vstack([fan[:, ::-1], self.corners * (rings - 1) + fan])
