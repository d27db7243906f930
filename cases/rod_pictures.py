"""Pictures of the case solid-crank-slider: deflection and peak stress of solid rod and beam, stresses on its side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flexph import Solution
from flexph.bodies import View, tensors, von_mises
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .connecting_rod import Peaks
from .crank_slider import ROD

CORNERS = {"tetra10": 4, "hexahedron27": 8}
EDGES = [{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}]
"""Corners between which the other nodes of a tetra10 lie."""
FANS = {4: [(0, 1, 2), (0, 2, 3)], 6: [(0, 1, 5), (1, 2, 3), (3, 4, 5), (1, 3, 5)]}
"""Triangles of a facet by its number of nodes in order."""
EYE = 15.0
"""Distance from the pins within which the ends are shown on separate scales [mm]."""


def draw_midpoint(times: Array, solid: Array, beam: Array, path: Path) -> None:
    """Draw the deflections of the middle of solid and beam, divided by the length, and their difference."""
    figure = new_figure(9.0, 5.6)
    both, apart = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    both.plot(times, 100.0 * solid, linewidth=1.2, label="solid")
    both.plot(times, 100.0 * beam, "k--", linewidth=1.0, label="Euler-Bernoulli beam, linear strain")
    both.set_ylabel("deflection of the middle\n[% of the length]")
    legend_above(both, 2)
    apart.plot(times, 100.0 * (solid - beam) / np.abs(beam).max(), linewidth=1.0)
    apart.set_ylabel("difference\n[% of the largest]")
    apart.set_xlabel("t [s]")
    _save(figure, times, path)


def draw_peaks(times: Array, peaks: Peaks, beam: Array, path: Path) -> None:
    """Draw the largest von Mises stress over time and its position, with the beam's |N/A − M y/I| at this position."""
    figure = new_figure(9.0, 5.6)
    stress, where = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    stress.plot(times, 1e-6 * peaks.stress, linewidth=1.2, label="solid: largest von Mises stress at its points")
    stress.plot(times, 1e-6 * beam, "k--", linewidth=0.9, label="beam: |N/A − M y/I| at the same place")
    stress.set_ylabel("stress [MPa]")
    stress.set_ylim(bottom=0.0)
    legend_above(stress, 2)
    where.plot(times, peaks.places[:, 0], ".", markersize=2.5)
    where.set_ylim(0.0, ROD)
    where.set_ylabel("from the crank pin\n[m]")
    where.set_xlabel("t [s]")
    _save(figure, times, path)


def _save(figure: Any, times: Array, path: Path) -> None:
    for axes in figure.axes:
        axes.set_xlim(times[0], times[-1])
        axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_rod(solution: Solution, instant: int, path: Path) -> None:
    """Draw the von Mises stress on the flat side of the deformed rod at a saved time, and both ends enlarged.

    The two ends share one colour scale, the whole rod has another.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.tri import Triangulation

    side = flat_side(solution, instant)
    figure = new_figure(10.0, 4.8)
    frame = figure.subplot_mosaic([["rod", "rod"], ["crank", "slider"]], height_ratios=(1.0, 2.2))
    mesh = Triangulation(side.x, side.y, side.triangles)
    ends = {"crank": 0.0, "slider": 1e3 * ROD}
    near = np.min([np.abs(side.x - place) for place in ends.values()], axis=0) < EYE
    for name, axes in frame.items():
        top = side.stress[near].max() if name in ends else side.stress.max()
        drawn = axes.tripcolor(mesh, side.stress, shading="gouraud", vmin=0.0, vmax=top)
        axes.set_aspect("equal")
        axes.set_xlabel("x [mm]")
        if name in ends:
            axes.add_collection(PolyCollection(side.outlines, facecolors="none", edgecolors="k", linewidths=0.3))
            axes.set_xlim(ends[name] - 2.0 * EYE, ends[name] + 2.0 * EYE)
            axes.set_ylim(-EYE, EYE)
        if name != "crank":
            panels = ["crank", "slider"] if name in ends else [name]
            figure.colorbar(drawn, ax=[frame[k] for k in panels], label="von Mises stress [MPa]")
    for name in ("rod", "crank"):
        frame[name].set_ylabel("y [mm]")
    figure.suptitle(f"t = {1e3 * solution.times[instant]:.2f} ms, deflection to scale")
    figure.savefig(path)


class Side(NamedTuple):
    """Picture of one side of the rod, with stresses and the outlines of facets.

    ``x`` and ``y`` are points [mm] with the ``stress`` [MPa] there, ``triangles`` are indices of points.
    """

    x: Array
    y: Array
    stress: Array
    triangles: Array
    outlines: list[Array]


def flat_side(solution: Solution, instant: int) -> Side:
    """Picture of the side of largest z of the rod at the saved time ``instant``, with the pin of the crank as origin.

    Stresses jump between cells, as in the state.
    """
    body = solution.mechanism.bodies["rod"]
    view = body.view
    assert view is not None
    moved = view.points + (view.shape @ solution.deformation("rod")[instant]).reshape(-1, 3)
    moved = 1e3 * (moved - body.ports["crank"].position)[:, :2]
    nodes, stress = corner_stresses(view, solution["rod.stress"][instant])
    places, values, triangles, count = [], [], [], 0
    for cell, corners in _facets(view):
        at_corners = stress[cell, np.searchsorted(nodes[cell], corners)]
        middles = _middles(view, cell, corners)
        places += [moved[corners]] if middles is None else [_alternating(moved[corners], moved[middles])]
        values += (
            [at_corners]
            if middles is None
            else [_alternating(at_corners, 0.5 * (at_corners + np.roll(at_corners, -1, axis=0)))]
        )
        triangles.append(count + np.array(FANS[len(places[-1])]))
        count += len(places[-1])
    x, y = np.vstack(places).T
    return Side(x, y, 1e-6 * von_mises(np.vstack(values)), np.vstack(triangles), places)


def corner_stresses(view: View, sigma: Array) -> tuple[Array, Array]:
    """Node numbers (c, k) of the corners of each cell, ascending, and the stress there (c, k, 6) [Pa] from this cell.

    A function that is linear in each direction, fitted by least squares to the points of the cell, extrapolates to its
    corners. ``sigma`` are the stress coordinates.
    """
    field = view.tensors["stress"]
    used = np.unique(view.cells[:, : CORNERS[view.cell_type]])
    spread = field.spread.sorted_indices()
    shapes = spread.data.reshape(len(view.cells), -1, CORNERS[view.cell_type])
    nodes = used[spread.indices.reshape(shapes.shape)[:, 0]]
    at_points = tensors(field.at, sigma).reshape(*shapes.shape[:2], 6)
    return nodes, np.linalg.pinv(shapes) @ at_points


def _facets(view: View) -> Iterator[tuple[int, Array]]:
    """Yield the number of each cell with a facet on the side of largest z, and the facet's corners in cyclic order."""
    z = view.points[:, 2]
    for cell, nodes in enumerate(view.cells[:, : CORNERS[view.cell_type]]):
        on = nodes[z[nodes] > z.max() - 1e-6 * np.ptp(z)]
        if len(on) >= 3:
            lever = view.points[on, :2] - view.points[on, :2].mean(axis=0)
            yield cell, on[np.argsort(np.arctan2(lever[:, 1], lever[:, 0]))]


def _middles(view: View, cell: int, corners: Array) -> Array | None:
    """Nodes in the middle of the edges of a triangular facet of degree 2, in the order of its edges.

    For a quadrilateral facet the result is None. ``cell`` is the number of the cell with the facet.
    """
    if len(corners) == 4:
        return None
    local = {int(node): k for k, node in enumerate(view.cells[cell])}
    pairs = zip(corners, np.roll(corners, -1), strict=True)
    return view.cells[cell][[4 + EDGES.index({local[int(a)], local[int(b)]}) for a, b in pairs]]


def _alternating(corners: Array, middles: Array) -> Array:
    """Corners and mid-edge nodes of a facet in alternation, along its boundary."""
    return np.stack([corners, middles], axis=1).reshape(2 * len(corners), -1)
