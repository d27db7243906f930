"""Axes of matplotlib, new or given: curves, legends, and picture files."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.durable import staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from .panels import Panel, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.2},
    "dashed": {"linestyle": "--", "linewidth": 1.2},
    "dashdot": {"linestyle": "-.", "linewidth": 1.2},
    "dotted": {"linestyle": ":", "linewidth": 1.2},
    "points": {"linestyle": "", "marker": ".", "markersize": 2.5},
}
ENDINGS = (".png", ".pdf", ".svg")
TIMELESS: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
"""Metadata left out of pictures, so that the same figure has the same bytes."""
MISSING = 'pictures need matplotlib, which is not installed: pip install "flexph[plot]"'
WIDTH = 95
"""Number of characters of a one-line legend above axes of 8 inches."""


def require_matplotlib() -> None:
    """Raise ImportError with the name of the extra if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError(MISSING)


def new_figure(width: float, height: float) -> Figure:
    """Empty figure without a window; width and height in inches."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def legend_above(axes: Axes, columns: int = 1, **options: Any) -> None:
    """Add a legend above axes, because curves may fill the whole frame."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
    axes.legend(**place, ncols=columns, fontsize="small", **options)
    axes.yaxis.get_offset_text().set_horizontalalignment("right")  # otherwise the power of ten overlaps the legend


def axes_of(ax: Any, count: int, *, size: tuple[float, float], **options: Any) -> list[Axes]:
    """List of ``count`` axes: the given ones ``ax``, or if that is None those of a new figure of ``size`` in inches.

    ``options`` are passed to ``Figure.subplots``; by default one column. Raises ValueError for a wrong number of axes.
    """
    require_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=size, layout="constrained", dpi=150)
        grid = {"nrows": count, "ncols": 1, "sharex": True} | options
        return list(figure.subplots(squeeze=False, **grid).ravel()[:count])
    given = [ax] if isinstance(ax, Axes) else list(np.ravel(ax))
    if len(given) != count or not all(isinstance(one, Axes) for one in given):
        what = "axes of matplotlib" if count == 1 else f"{count} axes of matplotlib"
        raise ValueError(f"ax must be {what} or None, got {ax!r}")
    return given


def draw(panels: Sequence[Panel], ax: Any, *, size: tuple[float, float]) -> list[Axes]:
    """Draw panels, each on its axes with a legend above; return the axes.

    ``ax``: given axes, one for each panel, or None for new ones one below another in a figure of ``size`` in inches.
    """
    heights = [panel.height for panel in panels]
    axes = axes_of(ax, len(panels), size=size, height_ratios=heights)
    for panel, axis in zip(panels, axes, strict=True):
        draw_panel(panel, axis)
        if ax is None and axis is not axes[-1] and panel.over == panels[-1].over:
            axis.set_xlabel("")
    return axes


def draw_panel(panel: Panel, axes: Axes) -> None:
    """Draw the curves of a panel on axes, with labels, a grid, and a legend if they have names."""
    shown = panel.prefixed()
    for curve in shown.curves:
        options = STYLES[curve.style] | ({"color": curve.color} if curve.color else {})
        axes.plot(curve.x, curve.y, label=short(curve.label) or None, **options)
    for axis in ("x", "y"):
        if axis in panel.log:
            axes.set(**{f"{axis}scale": "log"})
        else:  # an offset would overlap the legend
            axes.ticklabel_format(axis=axis, useOffset=False)
    axes.set(xlabel=shown.over, ylabel=shown.label)
    axes.grid(alpha=0.3)
    if "y" in panel.log:
        _whole_decades(axes)
    names = [short(curve.label) for curve in shown.curves if curve.label]
    if names:
        width = WIDTH * root_of(axes).get_figwidth() / 8.0
        columns = max(1, min(4, int(width / (max(map(len, names)) + 7))))
        legend_above(axes, columns, **({"markerscale": 4.0} if shown.curves[0].style == "points" else {}))


def _whole_decades(axes: Axes) -> None:
    """Set the limits of a logarithmic y axis to powers of ten if it has less than two decades.

    Labels between powers of ten are left out, as they would overlap.
    """
    from matplotlib.ticker import NullFormatter

    low, high = axes.get_ylim()
    if low * 100.0 > high > 0.0:
        axes.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def root_of(axes: Any) -> Figure:
    """Figure that contains axes: the outermost one if the axes are in a subfigure."""
    figure: Figure = axes.get_figure(root=True)
    return figure


@checked
def save(ax: Any, path: str | Path) -> Path:
    """Write the figure of axes as ``.png``, ``.pdf`` or ``.svg``, atomically, and close it; return the path.

    Parameters
    ----------
    ax : Axes or a sequence of them
        Axes returned by a function of :mod:`flexph.plot`.
    path : str or Path
        The file.

    Returns
    -------
    Path
        The path.
    """
    from matplotlib import pyplot

    check.choice("the ending of path", Path(path).suffix, ENDINGS)
    figure = root_of(np.ravel(ax)[0])
    try:
        with staged(path) as part, pyplot.rc_context({"svg.hashsalt": "flexph"}):
            figure.savefig(part, dpi=150, metadata=TIMELESS.get(part.suffix))
    finally:
        pyplot.close(figure)
    return Path(path)
