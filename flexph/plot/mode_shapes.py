"""Pictures of mode shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bodies.fields import View
from ..export.modes import ModeShapes, mode_displacements
from ..linear.eigenmodes.modes import Eigenmodes
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import Pose, State
from ..meshes.cell_types import EDGES, FACETS, SHAPE
from ..meshes.facets import boundary
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .axes import axes_of
from .panels import PREFIXES, prefix_of


def outlines(view: View) -> list[Array]:
    """Point indices (k, n) of the outlines of a view: ends of lines (n = 2), or corners of faces in order.

    The list is empty for views that only have points.
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


MOST = 6
"""Number of drawn modes unless axes are given."""


@checked
def modes(mechanism: Mechanism, about: Pose | State, modes: Eigenmodes, ax: Any = None, *, scale: float = 0.1) -> Any:
    """Draw mode shapes on the mechanism at rest, each with its frequency and the scale of its displacements.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of bodies with a view.
    about : Pose or State
        Pose or state at rest.
    modes : Eigenmodes
        Modes from :func:`flexph.modes` of ``mechanism.linearize(about)``.
    ax : Axes or a sequence of them, optional
        Axes for each mode, with the projection ``3d`` for a spatial mechanism; by default up to six in a new figure.
    scale : float, optional
        Largest displacement of each drawn mode, relative to the size of the mechanism.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> import flexph
    >>> from flexph import plot
    >>> lowest = flexph.modes(mechanism.linearize(pose), 3)  # doctest: +SKIP
    >>> axes = plot.modes(mechanism, pose, lowest)  # doctest: +SKIP
    """
    check.positive("scale", scale)
    shapes = mode_displacements(mechanism, about, modes)
    if not shapes.shown:
        raise ValueError("mechanism has no body with a view")
    flat = mechanism.layout.dim == 2
    count = min(len(modes.frequencies), MOST if ax is None else np.size(ax))
    columns = min(count, 3)
    axes = axes_of(
        ax,
        count,
        size=(3.8 * columns, 3.6 * math.ceil(count / columns)),
        nrows=math.ceil(count / columns),
        ncols=columns,
        sharex=False,
        subplot_kw={} if flat else {"projection": "3d"},
    )
    at_rest = np.vstack(shapes.points)
    length = scale * float(np.ptp(at_rest, axis=0).max())
    prefix = prefix_of([np.array([length])], "m")
    for k, axis in enumerate(axes):
        (_draw_in_plane if flat else _draw_in_space)(axis, shapes, k, length)
        frequency = f"{modes.frequencies[k]:.5g} rad/s, {modes.frequencies[k] / (2.0 * math.pi):.4g} Hz"
        scaled = f"largest displacement drawn as {length / PREFIXES[prefix]:.3g} {prefix}m"
        axis.set_title(f"mode {k + 1}: {frequency}\n{scaled}", fontsize="small")
        axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    if flat and len(axes):  # panels of one size
        limits = np.array([[axis.get_xlim(), axis.get_ylim()] for axis in axes])
        (left, bottom), (right, top) = limits[:, :, 0].min(axis=0), limits[:, :, 1].max(axis=0)
        for axis in axes:
            axis.set(xlim=(left, right), ylim=(bottom, top))
    return axes


def _moved(shapes: ModeShapes, mode: int, length: float) -> list[tuple[Array, list[Array], Array, Array]]:
    """Points at rest, outlines, displaced points, and sizes of the displacements of each body in a mode.

    ``mode`` is the index of the mode. The largest displacement is drawn with ``length`` [m]; the sizes (p,) are
    relative to it.
    """
    return [
        (points, outlines(view), points + length * moved, np.linalg.norm(moved, axis=1))
        for (*_, view), points, moved in zip(shapes.shown, shapes.points, shapes.displacements[mode], strict=True)
    ]


def _draw_in_plane(axes: Any, shapes: ModeShapes, mode: int, length: float) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    for k, (rest, pieces, moved, size) in enumerate(_moved(shapes, mode, length)):
        for corners in pieces:
            if corners.shape[1] == 2:
                axes.add_collection(LineCollection(list(rest[corners]), colors="0.75", linewidths=1.0))
                axes.add_collection(LineCollection(list(moved[corners]), colors=f"C{k}", linewidths=1.8))
                continue
            outline = PolyCollection(list(rest[corners]), facecolors="none", edgecolors="0.8", linewidths=0.4)
            axes.add_collection(outline)
            faces = PolyCollection(list(moved[corners]), array=size[corners].mean(axis=1), cmap="viridis")
            faces.set_clim(0.0, 1.0)
            axes.add_collection(faces)
    axes.autoscale_view()
    axes.grid(alpha=0.3)


def _draw_in_space(axes: Any, shapes: ModeShapes, mode: int, length: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    for k, (rest, pieces, moved, size) in enumerate(_moved(shapes, mode, length)):
        for corners in pieces:
            if corners.shape[1] == 2:
                axes.add_collection3d(Line3DCollection(rest[corners], colors="0.75", linewidths=1.0))
                axes.add_collection3d(Line3DCollection(moved[corners], colors=f"C{k}", linewidths=1.8))
                continue
            faces = Poly3DCollection(moved[corners], array=size[corners].mean(axis=1), cmap="viridis")
            faces.set_clim(0.0, 1.0)
            axes.add_collection3d(faces)
    whole = np.vstack([*shapes.points, *(moved for *_, moved, _ in _moved(shapes, mode, length))])
    low, high = whole.min(axis=0), whole.max(axis=0)
    half = 0.5 * max(float((high - low).max()), 1e-300)
    least = np.maximum(high - low, 0.3 * half)
    middle = 0.5 * (low + high)
    limits = {f"{axis}lim": (m - 0.5 * s, m + 0.5 * s) for axis, m, s in zip("xyz", middle, least, strict=True)}
    axes.set(zlabel="z [m]", **limits)
