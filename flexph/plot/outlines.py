"""What is drawn of a body: the pieces of a line, the cells of a surface, the boundary of a solid."""

from __future__ import annotations

from ..bodies.fields import View
from ..meshes.cell_nodes import EDGES, FACETS, SHAPE
from ..meshes.facets import boundary
from ..numerics.arrays import Array


def outlines(view: View) -> list[Array]:
    """Points of the view (k, n) that are the ends of k pieces of a line (n = 2), or corners of k faces in turn.

    None of points alone.
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
