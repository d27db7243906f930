"""Interactive plotly charts of panels, with their data in the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel, short

MOST = 2000
"""Largest number of points of a curve; longer ones keep the minimum and maximum of half as many parts."""
DASHES = {"line": "solid", "dashed": "dash", "dashdot": "dashdot", "dotted": "dot", "points": "solid"}
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf")
HEIGHT = 240
"""Height of a panel [px]."""


def chart(panels: Sequence[Panel], name: str) -> str:
    """Chart of panels below each other, as a ``<div>`` with the id ``name``."""
    from plotly.io import to_html

    shown = [panel.prefixed() for panel in panels]
    heights = np.array([panel.height for panel in shown])
    share = heights / heights.sum()
    gap = 0.08 if len(shown) > 1 else 0.0
    tops = 1.0 - np.concatenate([[0.0], np.cumsum(share)])
    traces: list[Any] = []
    layout: dict[str, Any] = {}
    for k, panel in enumerate(shown):
        number = "" if k == 0 else str(k + 1)
        domain = [max(tops[k + 1] + (gap if k + 1 < len(shown) else 0.0), 0.0), max(tops[k], 0.0)]
        layout |= _axes(panel, number, domain, first=shown[0])
        if k + 1 < len(shown) and panel.over == shown[k + 1].over:  # share the label of the panel below
            del layout[f"xaxis{number}"]["title"]
        traces += [_trace(curve, i, number, group=k) for i, curve in enumerate(panel.curves)]
    tall = HEIGHT * len(shown) + 90
    figure = {"data": traces, "layout": layout | _look(tall)}
    config = {"displaylogo": False, "responsive": True}
    # bypass plotly's validation of each value, the slowest part
    return str(to_html(figure, config, full_html=False, include_plotlyjs=False, div_id=name, validate=False))


def packed(values: Array) -> dict[str, str]:
    """Numbers in the base64 form that plotly.js reads without parsing."""
    kind = {"float32": "f4", "float64": "f8", "int32": "i4"}[values.dtype.name]
    return {"dtype": kind, "bdata": base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")}


def _look(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 70, "r": 20, "t": 20, "b": 50},
        "legend": {"tracegroupgap": 20},
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def _axes(panel: Panel, number: str, domain: list[float], *, first: Panel) -> dict[str, Any]:
    kinds = {axis: "log" if axis in panel.log else "linear" for axis in "xy"}
    x: dict[str, Any] = {"title": {"text": panel.over}, "type": kinds["x"], "anchor": f"y{number}"}
    y: dict[str, Any] = {
        "title": {"text": panel.label},
        "type": kinds["y"],
        "domain": domain,
        "exponentformat": "power",
    }
    if number and panel.over == first.over:  # zoomed together
        x["matches"] = "x"
    if "y" in panel.log:
        y |= _decades(panel.curves)
    return {f"xaxis{number}": x, f"yaxis{number}": y | {"anchor": f"x{number}"}}


def _decades(curves: Sequence[Curve]) -> dict[str, Any]:
    """Range of a logarithmic axis, in whole powers of ten, and the number of powers between two labels."""
    values = np.concatenate([np.asarray(curve.y, dtype=float) for curve in curves])
    values = values[np.isfinite(values) & (values > 0.0)]
    if not values.size:
        return {}
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return {"range": [float(low), float(max(high, low + 1.0))], "dtick": max(1, round((high - low) / 6.0))}


def _trace(curve: Curve, place: int, number: str, *, group: int) -> dict[str, Any]:
    x, y = thinned(np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float))
    color = {"color": curve.color or COLORS[place % len(COLORS)]}
    points = curve.style == "points"
    return {
        "type": "scatter",
        "x": packed(x),
        "y": packed(y),
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "name": short(curve.label),
        "showlegend": bool(curve.label),
        "legendgroup": str(group),
        "mode": "markers" if points else "lines",
        "line": color | {"width": 1.5, "dash": DASHES[curve.style]},
        "marker": color | {"size": 3},
    }


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Curve thinned to at most MOST points: the minimum and maximum of each part, and the ends."""
    if len(x) <= MOST or not np.isfinite(y).all():
        return x, y
    parts = np.array_split(np.arange(len(x)), MOST // 2 - 1)
    kept = [part[0] + i for part in parts for i in sorted((int(y[part].argmin()), int(y[part].argmax())))]
    pick = np.unique([0, *kept, len(x) - 1])
    return x[pick], y[pick]
