"""Pictures of stress extremes over a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..results.solution import Solution
from .axes import axes_of, root_of
from .panels import PREFIXES, prefix_of
from .stress_extremes import StressExtremes, quantities, stress_extremes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def stress_envelope(solution: Solution, body: str, quantity: str | None = None, ax: Any = None) -> Any:
    """Range of a stress quantity along a beam over all saved times, or its largest size in each cell of a solid.

    Parameters
    ----------
    solution : Solution
        A run of a mechanism.
    body : str
        One of its bodies with stresses.
    quantity : str, optional
        One of ``view.stresses``, or a stress tensor of the body (its von Mises stress is drawn), or the sensor names
        ``von_mises`` or ``axial_size`` for the largest of each cell; by default the latter, otherwise the first
        quantity in Pa, otherwise the first.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.stress_envelope(solution, "rod")  # doctest: +SKIP
    """
    asked = check.lookup("body", body, solution.mechanism.bodies)
    known, view = quantities(asked), asked.view
    if not known or view is None:
        raise ValueError(f"body {body!r} has no stresses to be drawn")
    if quantity is None:
        quantity = next((k for k, own in known.items() if own.unit == "Pa"), next(iter(known)))
    extremes = stress_extremes(solution, body, quantity)
    (axes,) = axes_of(ax, 1, size=(8.0, 4.0))
    (_along if view.cell_type.startswith("line") else _over)(axes, extremes)
    axes.grid(alpha=0.3)
    return axes


def _label(extremes: StressExtremes) -> tuple[float, str]:
    """Factor from SI units to the drawn ones, and the drawn unit."""
    prefix = prefix_of([extremes.largest], extremes.unit)
    return 1.0 / PREFIXES[prefix], prefix + extremes.unit


def _worst(extremes: StressExtremes) -> str:
    factor, unit = _label(extremes)
    return f"{factor * extremes.largest.max():.4g} {unit} at t = {extremes.time:.4g} s"


def _along(axes: Axes, extremes: StressExtremes) -> None:
    """Draw the band between the lowest and highest values along the axis of a line."""
    factor, unit = _label(extremes)
    x, low, high = extremes.places[:, 0], factor * extremes.lowest, factor * extremes.highest
    axes.fill_between(x, low, high, alpha=0.25, linewidth=0.0)
    axes.plot(x, high, color="C0", label="highest")
    axes.plot(x, low, color="C0", linestyle="--", label="lowest")
    worst = extremes.worst
    y = high[worst] if high[worst] >= -low[worst] else low[worst]
    axes.plot(x[worst], y, "ko", markersize=4, label=_worst(extremes))
    axes.set(xlabel=f"x along {extremes.body} [m]", ylabel=f"{extremes.quantity.replace('_', ' ')} [{unit}]")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", ncols=3, frameon=False)


def _over(axes: Axes, extremes: StressExtremes) -> None:
    """Draw cells seen along the shortest side of the body, coloured by the largest size, the largest on top."""
    factor, unit = _label(extremes)
    sizes = factor * np.maximum(np.abs(extremes.lowest), np.abs(extremes.highest))
    places = extremes.places
    a, b = np.sort(np.argsort(np.ptp(places, axis=0))[::-1][:2])
    order = np.argsort(sizes)
    points = axes.scatter(places[order, a], places[order, b], c=sizes[order], s=9.0, cmap="viridis", vmin=0.0)
    axes.plot(*places[extremes.worst, [a, b]], "r+", markersize=12, label=_worst(extremes))
    label = f"largest {extremes.quantity.replace('_', ' ')} [{unit}]"
    root_of(axes).colorbar(points, ax=axes, label=label, location="bottom", aspect=40, shrink=0.8)
    axes.set(xlabel=f"{'xyz'[a]} of {extremes.body} [m]", ylabel=f"{'xyz'[b]} [m]", aspect="equal")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", frameon=False)
