"""Outlines of a body for drawing: pieces of a line, cells of a surface, boundary of a solid."""

from __future__ import annotations

from ..bodies.fields import View
from ..meshes.cell_nodes import EDGES, FACETS, SHAPE
from ..meshes.facets import boundary
from ..numerics.arrays import Array


def outlines(view: View) -> list[Array]:
    """Node indices (k, n) of outlines, as points of the view: ends of line pieces (n = 2) or corners of faces in order.

    Empty for views of points alone.
    """
    if view.cells.shape[1] == 1:  # points alone
        return []
    shape = SHAPE[view.cell_type]
    if shape == "line":
        return [view.cells[:, :2]]
    if len(EDGES[shape]) == len(FACETS[shape]):  # a surface
        return [view.cells[:, : len(EDGES[shape])]]
    facets = boundary([(view.cell_type, view.cells)])
    return [nodes[:, : len(EDGES[SHAPE[kind]])] for kind, nodes in facets]
