"""Distances of contact gaps as functions of products of world vectors, for joints and springs that replace contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ...kernels.surfaces.surfaces import Surfaces
from .vectors import Product, Vector

DistanceKind = Literal["shape", "segments", "face"]
PAIRS = {
    "segments": ((0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (2, 2)),
    "face": ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)),
}
"""Pairs of the vectors V, W, U whose products determine the distances of segments and of faces."""


@dataclass(frozen=True)
class Distance:
    """Distance that a contact gap measures, with the products of world vectors of which it is a function.

    It is the distance to a surface ``shape``, between two segments, or to a face of moving corners, by its ``kind``.
    ``blend`` is the width of the blends between faces of a surface, ``reach`` [m] the distance at which bodies touch.
    """

    kind: DistanceKind
    products: tuple[Product, ...]
    shape: Surfaces | None = field(default=None, compare=False)
    blend: float = 0.0
    reach: float = 0.0


def distance_along(
    kind: DistanceKind,
    vectors: tuple[Vector, ...],
    shape: Surfaces | None = None,
    blend: float = 0.0,
    reach: float = 0.0,
) -> Distance:
    """Distance of a ``kind`` as a function of the products of the world vectors V, W, … of a gap."""
    if kind == "shape":
        return Distance(kind, tuple(Product(vectors[0], axis) for axis in vectors[1:]), shape, blend, reach)
    pairs = (pair for pair in PAIRS[kind] if max(pair) < len(vectors))
    return Distance(kind, tuple(Product(vectors[i], vectors[j]) for i, j in pairs), reach=reach)
