"""Moments of bodies made of plane-faced cells: exact integrals of polynomials over tetrahedra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from flexph.numerics.arrays import Array

Face = tuple[int, ...]
SURFACE: Mapping[str, tuple[Face, ...]] = {"triangle": ((0, 1, 2),), "quad": ((0, 1, 2, 3),)}
"""Corners of surface cells, counterclockwise seen from outside."""

VOLUME: Mapping[str, tuple[Face, ...]] = {
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}
"""Faces of volume cells with positive volume, counterclockwise seen from outside."""

SPLIT: Mapping[str, tuple[Face, ...]] = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "tetra": ((0, 1, 2, 3),),
    "hexahedron": ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)),
    "wedge": ((0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3)),
    "pyramid": ((0, 1, 2, 4), (0, 2, 3, 4)),
}
"""Simplices that draw a cell if a mesh mixes cell types."""


class Moments(NamedTuple):
    """Signed volumes of cells (k,), sum of the magnitudes of all tetrahedra, ∫X (3,) and ∫XXᵀ (3, 3) of the whole."""

    volumes: Array
    magnitude: float
    first: Array
    second: Array


def of_cells(points: Array, cells: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of volume cells (k, corners), each split into tetrahedra between its faces and its mean corner."""
    corners = points[cells]
    return _over(corners, corners.mean(axis=1), faces)


def of_surface(points: Array, cells: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of the space between surface cells and the origin; those of a closed surface are the moments of the body.

    By the divergence theorem: ``3∫1 = ∮X·n``, ``4∫X = ∮X (X·n)``, ``5∫XXᵀ = ∮XXᵀ(X·n)``.
    """
    return _over(points[cells], np.zeros(3), faces)


def _over(corners: Array, apex: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of the tetrahedra between the faces of cells and an ``apex``.

    A tetrahedron of volume V has ``∫X = V s/4``, ``∫XXᵀ = V (Σ p pᵀ + s sᵀ)/20``, with corners p relative to the origin
    and their sum s.
    """
    volumes, magnitude = np.zeros(len(corners)), 0.0
    first, second = np.zeros(3), np.zeros((3, 3))
    apex = np.broadcast_to(apex, (len(corners), 3))
    for a, b, c in _triangles(corners, faces):
        v = np.einsum("ki,ki->k", a - apex, np.cross(b - apex, c - apex)) / 6.0
        total = apex + a + b + c
        first += v @ total / 4.0
        for p in (apex, a, b, c, total):
            second += p.T @ (v[:, None] * p) / 20.0
        volumes += v
        magnitude += float(np.abs(v).sum())
    return Moments(volumes, magnitude, first, second)


def _triangles(corners: Array, faces: tuple[Face, ...]) -> Iterator[tuple[Array, Array, Array]]:
    """Corners (k, 3) of the triangles of each face of all cells; a quadrilateral has four around its mean point.

    Neighbours share them. They are exact for plane faces; for a warped face they bound the same volume as the bilinear
    surface.
    """
    for face in faces:
        ring = [corners[:, i] for i in face]
        if len(ring) == 3:
            yield ring[0], ring[1], ring[2]
            continue
        middle = sum(ring[1:], ring[0]) / 4.0
        for i in range(4):
            yield ring[i], ring[(i + 1) % 4], middle
