"""Data of surfaces for loops over recorded numbers, assembled from the fields of their memory."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ..memory.data import Index


class RecordedSurfaces(NamedTuple):
    """Fields of :class:`flexph.kernels.surfaces.surfaces.Surfaces`, with recorded numbers."""

    half: Array
    root: Index
    signed: Index
    low: Array
    high: Array
    skip: Index
    cells: Index
    corner: Array
    feature: Index
    outward: Array
