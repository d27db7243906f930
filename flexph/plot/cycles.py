"""Pictures of load cycles: ranges against the number of cycles with at least this range."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.fatigue import LoadCycles
from ..numerics.arguments import checked
from .axes import axes_of
from .panels import PREFIXES, prefix_of


@checked
def load_spectrum(cycles: LoadCycles, ax: Any = None) -> Any:
    """Plot the ranges of load cycles against the number of cycles at least as large, on a logarithmic axis.

    Parameters
    ----------
    cycles : LoadCycles
        Cycles of :func:`flexph.analysis.load_cycles`.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If there are no cycles.

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.load_spectrum(cycles)  # doctest: +SKIP
    """
    if not cycles.ranges.size:
        raise ValueError("cycles must contain a cycle, got none")
    (axes,) = axes_of(ax, 1, size=(6.0, 4.0))
    order = np.argsort(-cycles.ranges, kind="stable")
    ranges, count = cycles.ranges[order], np.cumsum(cycles.counts[order])
    prefix = prefix_of([ranges], cycles.unit) if cycles.unit else ""
    unit = f" [{prefix}{cycles.unit}]" if cycles.unit else ""
    axes.stairs(ranges / PREFIXES[prefix], np.append(0.5 * count[0], count), fill=True, alpha=0.25, color="C0")
    axes.stairs(ranges / PREFIXES[prefix], np.append(0.5 * count[0], count), color="C0", linewidth=1.2)
    axes.set(xlabel="cycles of at least this range", ylabel=f"range{unit}", xscale="log")
    axes.set_ylim(bottom=0.0)
    axes.grid(alpha=0.3, which="both")
    return axes
