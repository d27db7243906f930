"""Figures of cases: their resolution and margins, and legends above their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, its sides in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def legend_above(axes: Axes, columns: int = 1, **options: Any) -> None:
    """A legend above axes whose curves may fill the whole frame."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
    axes.legend(**place, ncols=columns, fontsize="small", **options)
