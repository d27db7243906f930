"""Interactive charts of panels, with their data in the page; their script is in the folder ``browser``.

``npm ci && npm run build`` there bundles the script with uPlot into ``charts.js.gz``, which reports contain.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel, short

MOST = 2000
"""Largest number of points of a curve; a longer one keeps minimum and maximum of each of half as many parts."""


HEIGHT, SHARES = 220.0, (0.7, 1.3)
"""Mean height of the panels [px], and limits of the height of a panel relative to it."""


def chart(panels: Sequence[Panel], name: str) -> str:
    """HTML of panels below each other, a ``<div>`` with the id ``name``; the page needs :func:`charts_script` once."""
    shares = np.array([panel.height for panel in panels])
    heights = HEIGHT * np.clip(shares / shares.mean(), *SHARES)
    told = [_panel(panel.prefixed(), height) for panel, height in zip(panels, heights.tolist(), strict=True)]
    listed = ", ".join(panel.quantity for panel in panels)
    data = json.dumps(told, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<div class="fx-chart" id="{name}"><script type="application/json">{data}</script>'
        f"<noscript>A chart of {listed}, which scripts draw.</noscript></div>"
    )


def charts_script() -> str:
    """HTML of the ``<script>`` that draws all charts of a page."""
    packed_script = files("flexph.report").joinpath("browser", "charts.js.gz").read_bytes()
    return f"<script>{gzip.decompress(packed_script).decode('utf-8')}</script>"


def packed(values: Array) -> dict[str, str]:
    """Numbers as base64 of their bytes, in single precision if it is exact to 1e-6 and merges no values."""
    single = values.astype(np.float32)
    fits = np.allclose(single, values, rtol=1e-6, atol=0.0, equal_nan=True) and len(np.unique(single)) == len(
        np.unique(values)
    )
    own, kind = (single, "f4") if fits else (values.astype(np.float64), "f8")
    return {"kind": kind, "data": base64.b64encode(np.ascontiguousarray(own).tobytes()).decode("ascii")}


def _panel(panel: Panel, height: float) -> dict[str, Any]:
    """Panel as values for JSON; the range of a logarithmic axis is given by its exponents of ten."""
    told = {"label": panel.label, "over": panel.over, "log": panel.log, "height": round(height)}
    ends = _decades(panel.curves) if "y" in panel.log else None
    return told | {"curves": [_curve(curve) for curve in panel.curves]} | ({"range": ends} if ends else {})


def _curve(curve: Curve) -> dict[str, Any]:
    x, y = thinned(np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float))
    order = np.argsort(x, kind="stable") if np.any(np.diff(x) < 0.0) else slice(None)
    told = {"label": short(curve.label), "style": curve.style, "color": curve.color or ""}
    return told | {"x": packed(x[order]), "y": packed(y[order])}


def _decades(curves: Sequence[Curve]) -> list[float] | None:
    """Range of a logarithmic axis in whole exponents of ten, at least one decade; None if no value is positive."""
    values = np.concatenate([np.asarray(curve.y, dtype=float) for curve in curves])
    values = values[np.isfinite(values) & (values > 0.0)]
    if not values.size:
        return None
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return [float(low), float(max(high, low + 1.0))]


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Curve thinned to at most MOST points: the minimum and maximum of each part, and the ends."""
    if len(x) <= MOST or not np.isfinite(y).all():
        return x, y
    parts = np.array_split(np.arange(len(x)), MOST // 2 - 1)
    kept = [part[0] + i for part in parts for i in sorted((int(y[part].argmin()), int(y[part].argmax())))]
    pick = np.unique([0, *kept, len(x) - 1])
    return x[pick], y[pick]
