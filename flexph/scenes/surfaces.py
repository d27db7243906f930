"""Surfaces of bodies from their views: drawn points and triangles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..bodies.fields import View
from ..drawing.shapes import sphere_shape
from ..joints.rows.signs import tube
from ..numerics.arrays import Array
from ..numerics.factors.low_rank import some_rows
from ..numerics.rotations import spins

FACETS = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2, 3),),
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}
"""Corners of the facets of cells, counterclockwise seen from outside."""


class Surface(NamedTuple):
    """Drawn surface of a body: points X (p, d) in body axes [m], and triangles (t, 3), the indices of their corners.

    ``heights`` (p,) [m] are those above the plane in two dimensions. ``shape`` (p·d, n) is the displacement matrix; for
    a nodal body of N nodes it contains the weights (p, N) of the nodes.
    """

    points: Array
    heights: Array
    shape: Any
    triangles: Array


def surface_of(view: View, size: float) -> Surface:
    """Surface of a body from its view; ``size`` [m] is the thickness of mass points and of lines without a section."""
    if view.sweep is not None:
        return _swept(view)
    if view.cell_type in ("vertex", "line"):
        return _thin(view, size)
    triangles = outer_triangles(view.cells, view.cell_type)
    used, numbers = np.unique(triangles, return_inverse=True)
    each = view.shape.shape[0] // len(view.points)  # rows of each point: d displacements, or weights of the nodes
    rows = (each * used[:, None] + np.arange(each)).ravel()
    heights = view.heights[used] if view.heights.size else np.zeros(len(used))
    return Surface(view.points[used], heights, some_rows(view.shape, rows), numbers.reshape(-1, 3))


def outer_triangles(cells: Array, cell_type: str) -> Array:
    """Triangles (t, 3), as node indices, of the outer surface of cells: of all facets that belong to one cell only."""
    facets = FACETS[cell_type.rstrip("0123456789")]
    triangles = []
    for corners in (3, 4):
        of_shape = [cells[:, facet] for facet in facets if len(facet) == corners]
        if not of_shape:
            continue
        rings = np.vstack(of_shape)
        _, first, count = np.unique(np.sort(rings, axis=1), axis=0, return_index=True, return_counts=True)
        rings = rings[first[count == 1]]
        triangles += [rings[:, [0, k, k + 1]] for k in range(1, corners - 1)]
    return np.vstack(triangles)


def _swept(view: View) -> Surface:
    sweep, (rings, d) = view.sweep, view.points.shape
    assert sweep is not None
    q, s = sweep.corners, spins(d)
    vectors, turns = sweep.offsets(d)
    points = (view.points[:, None] + vectors[:, :d]).reshape(-1, d)
    heights = np.tile(vectors[:, 2] if d == 2 else np.zeros(q), rings)
    along = sparse.kron(sparse.eye_array(rings), np.tile(np.eye(d), (q, 1))) @ view.shape
    across = sparse.kron(sparse.eye_array(rings), turns[:, :d].reshape(q * d, s)) @ sweep.rotation
    sides = sweep.sides(rings)
    triangles = np.vstack([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]], sweep.caps(rings)])
    return Surface(points, heights, sparse.csr_array(along + across), triangles)


def _thin(view: View, size: float) -> Surface:
    """Surface of a view of mass points, drawn as balls, or of lines without a section, drawn as bars.

    Balls and bars do not deform; ``size`` [m] is that of symbols.
    """
    d = view.points.shape[1]
    places = np.pad(view.points, [(0, 0), (0, 3 - d)])
    shapes = [sphere_shape(0.9 * size, centre=x) for x in places[np.unique(view.cells)]] if _is_mass(view) else []
    bars = [] if _is_mass(view) else [tube(places[cell][None], 0.45 * size) for cell in view.cells]
    surfaces = [(s.points, s.triangles) for s in shapes] + [(b.points[0], b.triangles) for b in bars]
    starts = np.cumsum([0, *(len(points) for points, _ in surfaces)])
    points = np.vstack([p for p, _ in surfaces])
    triangles = np.vstack([t + start for (_, t), start in zip(surfaces, starts, strict=False)])
    if view.shape.shape[0] == len(view.points) < len(view.points) * d:  # of a body of nodes: both ends of a bar
        ends = np.concatenate(
            [np.asarray(_nearer(bar.points[0], places[c])) for bar, c in zip(bars, view.cells, strict=True)]
        )
        own_ends = np.repeat(view.cells, [len(bar.points[0]) for bar in bars], axis=0)
        rows = sparse.csr_array(view.shape)[own_ends[np.arange(len(ends)), ends]]
        return Surface(points[:, :d], points[:, 2] if d == 2 else np.zeros(len(points)), rows, triangles)
    rows = sparse.csr_array((len(points) * d, view.shape.shape[1]))
    return Surface(points[:, :d], points[:, 2] if d == 2 else np.zeros(len(points)), rows, triangles)


def _nearer(points: Array, ends: Array) -> Array:
    """Index, 0 or 1, of the nearer one of two ends (2, 3) for each point (p, 3)."""
    return np.linalg.norm(points[:, None] - ends, axis=2).argmin(axis=1)


def _is_mass(view: View) -> bool:
    return view.cell_type == "vertex"
