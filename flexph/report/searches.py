"""Report of an optimisation: optimum, history, active limits, and sensitivities as bars."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel
from .page import Block, Chart, Html, Section, Table, Text, write_page
from .reports import REPORT

COLOURS = {True: "#d62728", False: "#1f77b4"}
"""Colours of bars of positive and of negative derivatives."""
ROW, NAMES, BARS, NUMBERS = 22, 300, 420, 90
"""Height of a row of bars, and widths of its name, its bar and its number [px]."""


def write_search_report(folder: Path, title: str, best: Any, facts: Mapping[str, Any]) -> Path:
    """Write the report of an optimisation into its folder; return the path.

    ``best`` is a :class:`flexph.studies.Optimum`. ``facts`` contains the ``command`` of the optimisation, text ``said``
    on the optimum, the command ``run`` that computes the run with optimal settings, the text of the ``objective`` and
    its ``weights``, ``limits`` and ``bounds``.
    """
    command = [Text(facts["command"], "code")] if facts["command"] else []
    rerun = [Text("A run with the optimal settings:"), Text(facts["run"], "code")]
    sections = [
        Section("Optimum", [*command, Text(facts["said"]), _parameters(best, facts["bounds"]), *rerun]),
        Section("History", [Chart(_history(best.runs, facts))]),
        Section("Limits", _limits(best, facts["limits"])),
        Section("Sensitivities", _sensitivities(best, facts)),
    ]
    shown = [section for section in sections if section.blocks]
    return write_page(folder / REPORT, title, shown, subtitle=f"Least {facts['objective']} of a run.")


def _parameters(best: Any, bounds: Mapping[str, tuple[float, float]]) -> Table:
    """Table of the parameters with their bounds."""
    head = ("parameter", "optimum", "at the start", "lower bound", "upper bound", "at its bound")
    rows = [
        (name, float(value), float(best.runs[name].values[0]), *bounds[name], best.active.get(name, ""))
        for name, value in best.parameters.items()
    ]
    return Table(head, rows)


def _history(runs: Any, facts: Mapping[str, Any]) -> list[Panel]:
    """Panels with curves against the number of the run: objective, values with limits, and parameters.

    Values are divided by the larger of their limits; parameters are scaled to 0 and 1 at their bounds. ``runs`` are the
    recorded runs, ``facts`` as for :func:`write_search_report`.
    """
    numbers = np.arange(1, runs.sizes["sample"] + 1, dtype=float)
    objective = sum(weight * runs[name].values for name, weight in facts["weights"].items())

    def curve(values: Array, label: str) -> Curve:
        return Curve(numbers, np.asarray(values, dtype=float), label)

    panels = [Panel((curve(objective, facts["objective"]),), "objective", over="run")]
    over = []
    for name, (least, largest) in facts["limits"].items():
        size = max(abs(least or 0.0), abs(largest or 0.0)) or 1.0
        rows = runs[name].values.reshape(numbers.size, -1) / size
        over.append(curve(rows.min(axis=1) if largest is None else rows.max(axis=1), f"{name} / {size:.4g}"))
    panels += [Panel(tuple(over), "value over its limit", over="run")] if over else []
    inside = [curve((runs[name].values - low) / (up - low), name) for name, (low, up) in facts["bounds"].items()]
    return [*panels, Panel(tuple(inside), "parameter, 0 and 1 at its bounds", over="run")]


def _limits(best: Any, limits: Mapping[str, tuple[float | None, float | None]]) -> list[Block]:
    """Table of the values with limits at the optimum, and a text on them.

    For active limits the table has the derivatives of the optimal objective with respect to the limits; the text says
    how well these derivatives balance the gradient of the objective.
    """
    head = ("value", "at the optimum", "lower limit", "upper limit", "at its limit", "objective per unit of the limit")
    rows = []
    for name, ends in limits.items():
        limited, side = np.ravel(best.values[name]), best.active.get(name, "")
        value = float(limited.max() if side != "least" else limited.min())
        bounds = tuple("" if end is None else float(end) for end in ends)
        rows.append((name, value, *bounds, side, best.multipliers.get(name, "")))
    if not rows:
        return []
    balance = (
        ""
        if np.isnan(best.imbalance)
        else f" They balance the gradient of the objective to {best.imbalance:.1g} of it."
    )
    return [Table(head, rows), Text(f"{len(best.active)} limits and bounds are active.{balance}")]


def _sensitivities(best: Any, facts: Mapping[str, Any]) -> list[Block]:
    """Bar charts of the derivatives of objective and limited values with respect to the parameters, at the optimum.

    They are multiplied by the width between the bounds of the parameter, in per cent of the value.
    """
    if not best.derivatives:
        return [Text("The search uses no derivatives.")]
    words = "Derivatives times the widths of the bounds of the parameters, in per cent of the value."
    blocks: list[Block] = [Text(words)]
    names = {"The objective": facts["weights"], **{name: {name: 1.0} for name in facts["limits"]}}
    for name, weights in names.items():
        if any(np.size(best.values[other]) != 1 for other in weights):
            continue
        value = sum(weight * float(np.ravel(best.values[other])[0]) for other, weight in weights.items())
        shares = {
            key: 100.0 * (up - low) / (abs(value) or 1.0) * _sum(best.derivatives, weights, key)
            for key, (low, up) in facts["bounds"].items()
        }
        blocks += [Text(name), Html(bars(shares, "%"))]
    return blocks


def _sum(derivatives: Mapping[str, Mapping[str, Array]], weights: Mapping[str, float], parameter: str) -> float:
    """Derivative of a weighted sum of values with respect to a parameter.

    ``derivatives``: by value and parameter.
    """
    return float(sum(weight * np.ravel(derivatives[name][parameter])[0] for name, weight in weights.items()))


def bars(shares: Mapping[str, float], unit: str) -> str:
    """HTML of a bar chart of values by name: negative values to the left of a line, positive ones to the right.

    The largest magnitude is first; ``unit`` follows the numbers.
    """
    ordered = sorted(shares.items(), key=lambda item: -abs(item[1]))
    largest = max((abs(value) for value in shares.values()), default=0.0) or 1.0
    rows = "".join(_bar(k, name, value, largest, unit) for k, (name, value) in enumerate(ordered))
    width, height = NAMES + BARS + NUMBERS, ROW * len(ordered)
    middle = NAMES + 0.5 * BARS
    line = f'<line x1="{middle}" y1="0" x2="{middle}" y2="{height}" stroke="currentColor" stroke-width="1"/>'
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%" role="img" '
        f'font-size="13" fill="currentColor">{rows}{line}</svg>'
    )


def _bar(row: int, name: str, value: float, largest: float, unit: str) -> str:
    """SVG of the row with index ``row`` of a bar chart: name, bar and number.

    ``largest`` is the magnitude of a bar of full length.
    """
    size, y = 0.5 * BARS * abs(value) / largest, ROW * row
    start = NAMES + 0.5 * BARS - (size if value < 0.0 else 0.0)
    text = f'y="{y + 0.7 * ROW:.1f}"'
    return (
        f'<text x="{NAMES - 8}" {text} text-anchor="end">{escape(_shortened(name))}</text>'
        f'<rect x="{start:.1f}" y="{y + 3}" width="{size:.1f}" height="{ROW - 6}" fill="{COLOURS[value > 0.0]}"/>'
        f'<text x="{NAMES + BARS + 8}" {text}>{value:.3g} {escape(unit)}</text>'
    )


def _shortened(name: str, most: int = 42) -> str:
    """Name, shortened at its beginning if it is long, because paths differ at their ends."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
