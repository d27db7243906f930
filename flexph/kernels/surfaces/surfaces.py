"""Arrays of surfaces: boxes by their half sizes, meshes by their cells in a tree of bounding boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array

Index = np.ndarray
VALUE, GRADIENT, PLACES = 0, 5, 48
"""Indices of the value and of the gradient in the results, and number of entries of the results, of :mod:`.closest`."""


class Surfaces(NamedTuple):
    """Constant data of s surfaces: boxes and meshes.

    A box has its half sizes, of which some may be zero: a rectangle, a segment, a point. A mesh has cells, triangles or
    in the plane segments, in a tree of n nodes with bounding boxes. The nodes are in depth-first order from ``root`` on
    (−1 for a box); ``skip`` is the node after the subtree of a node, and ``cells`` are the first cell of a leaf and the
    one after its last, 0 and 0 for an inner node. Features are the planes, sides and corners of cells; they have
    directions ``outward``. t and f count the cells and features of all meshes.
    """

    half: Array  # (s, 3)
    root: Index  # (s,)
    signed: Index  # (s,), 1 for closed meshes, whose distance is negative inside
    low: Array  # (n, 3), bounding boxes
    high: Array
    skip: Index  # (n,)
    cells: Index  # (n, 2), first and end
    corner: Array  # (t, 3, 3)
    feature: Index  # (t, 7): plane, three sides, three corners
    outward: Array  # (f, 3)


def joined(parts: list[Surfaces]) -> Surfaces:
    """Arrays with the surfaces of all ``parts``, one after the other."""
    if not parts:
        return no_surfaces()
    shifted, nodes, cells, features = [], 0, 0, 0
    for part in parts:
        shifted.append(
            part._replace(
                root=np.where(part.root >= 0, part.root + nodes, -1),
                skip=part.skip + nodes,
                cells=part.cells + cells,
                feature=part.feature + features,
            )
        )
        nodes, cells, features = (
            n + len(x) for n, x in ((nodes, part.skip), (cells, part.corner), (features, part.outward))
        )
    return Surfaces(*(np.concatenate(arrays) for arrays in zip(*shifted, strict=True)))


def no_surfaces() -> Surfaces:
    """Surface arrays for zero surfaces."""
    none, whole = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    pairs, features = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 7), dtype=np.int64)
    return Surfaces(none, whole, whole, none, none, whole, pairs, np.zeros((0, 3, 3)), features, none)


def box_surface(half: tuple[float, ...]) -> Surfaces:
    """Arrays of one surface: a box with three half sizes [m], or in the plane a rectangle with two."""
    sizes, whole = np.zeros((1, 3)), np.zeros(1, dtype=np.int64)
    sizes[0, : len(half)] = half
    return no_surfaces()._replace(half=sizes, root=whole - 1, signed=whole + int(min(half) > 0.0))
