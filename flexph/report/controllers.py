"""Report section on the controllers of a run: energy supplied, stored and dissipated, and inputs over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel, largest_of
from ..results.solution import Solution
from .page import Block, Chart, Table

UNITS = {"force": ("force", "N"), "torque": ("torque", "N m")}
"""Quantity and unit of each kind of input."""


def controllers_of(run: Solution) -> list[Block]:
    """Table of the controllers, and table and charts of their held inputs; an empty list without controllers."""
    ledger = run.ledger
    if not ledger.controllers or len(run.times) < 2:
        return []
    rows = [
        (name, float(given.sum()), _last(ledger.energy, f"stored {name}"), _sum(ledger.dissipation, name))
        for name, given in ledger.controllers.items()
    ]
    head = ("controller", "given to the mechanism [J]", "stored at the end [J]", "dissipated [J]")
    return [Table(head, rows), *_held(run)]


def _last(energies: Mapping[str, Array], name: str) -> float | str:
    return float(energies[name][-1]) if name in energies else ""


def _sum(losses: Mapping[str, Array], name: str) -> float | str:
    return float(losses[name].sum()) if name in losses else ""


def _held(run: Solution) -> list[Block]:
    """Table and charts against time of the inputs that sampled controllers and feedback hold."""
    kinds = {c.name: c.input.kind for c in run.mechanism.connections if c.input is not None}
    rows = []
    by_kind: dict[tuple[str, str], list[Curve]] = {}
    for port, values in run.controls.items():
        size = np.linalg.norm(values, axis=1)
        quantity, unit = UNITS.get(kinds.get(port, ""), ("input", ""))
        rows.append((port, float(size.max()), unit, float(run.times[1 + size.argmax()]) if size.any() else ""))
        curves = by_kind.setdefault((quantity, unit), [])
        names = [port] if values.shape[1] == 1 else [f"{port} {axis}" for axis in "xyz"[: values.shape[1]]]
        curves += [Curve(run.times[1:], own, name) for own, name in zip(values.T, names, strict=False) if own.any()]
    panels = [Panel(largest_of(curves), f"{kind[0]} held", kind[1]) for kind, curves in by_kind.items() if curves]
    table = [Table(("port", "largest input", "unit", "held up to t [s]"), rows)] if rows else []
    return [*table, *([Chart(panels)] if panels else [])]
