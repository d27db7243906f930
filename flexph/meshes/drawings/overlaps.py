"""Overlaps of the solids of a drawing in the process of gmsh."""

from __future__ import annotations

from typing import Any

import numpy as np

PAIRS = 500
"""Largest number of pairs of solids that are intersected, those whose boxes share the most volume first."""
SHARED = 1e-6
"""Common volume, relative to the smaller solid, from which two solids overlap."""


def overlaps(gmsh: Any, solids: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs of solids that penetrate each other, with their common volume in units of the kernel.

    At most PAIRS pairs are tested, those whose bounding boxes have the largest common volume.
    """
    boxes = [np.reshape(gmsh.model.getBoundingBox(3, solid["tag"]), (2, 3)) for solid in solids]
    pairs = []
    for k, box in enumerate(boxes):
        for i, other in enumerate(boxes[:k]):
            edges = np.minimum(box[1], other[1]) - np.maximum(box[0], other[0])
            if edges.min() > 1e-3:  # mm; the boxes of the kernel are a little too large
                pairs.append((float(edges.prod()), solids[i], solids[k]))
    shared = []
    for _, one, two in sorted(pairs, key=lambda pair: -pair[0])[:PAIRS]:
        volume = _common(gmsh, one["tag"], two["tag"])
        if volume > SHARED * min(one["volume"], two["volume"]):
            shared.append({"first": one["tag"], "second": two["tag"], "volume": volume})
    return shared


def _common(gmsh: Any, one: int, two: int) -> float:
    """Common volume of two solids in units of the kernel; zero if the kernel cannot intersect them."""
    try:
        made, _ = gmsh.model.occ.intersect([(3, one)], [(3, two)], removeObject=False, removeTool=False)
    except Exception:  # gmsh raises bare Exception
        return 0.0
    volume = sum(gmsh.model.occ.getMass(*entity) for entity in made if entity[0] == 3)
    gmsh.model.occ.remove(made, recursive=True)
    return float(volume)
