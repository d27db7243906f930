"""Summary of a run in a few sentences, and report sections on its controllers and joints with dry friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..plot.panels import Curve, Panel, largest_of
from ..plot.stress_extremes import StressExtremes
from ..results.result import Result
from ..results.solution import Solution
from ..sensors.forces import sticks
from .page import Block, Chart, Table

NAMED = 5
"""Number of bodies up to which all are named."""
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class LargestForce(NamedTuple):
    """Largest force [N] of a joint, and its time [s]."""

    joint: str
    size: float
    time: float


def summary_of(run: Result, forces: Sequence[LargestForce] = (), stresses: Sequence[StressExtremes] = ()) -> str:
    """Summary of a run: bodies, times, largest stress and joint force, accuracy of energy and joints."""
    sentences = [_moved(run)]
    in_pascal = [own for own in stresses if own.unit == "Pa" and own.largest.any()]
    if in_pascal:
        worst = max(in_pascal, key=lambda own: float(own.largest.max()))
        quantity = worst.quantity.replace("_", " ").replace("von mises", "von Mises stress")
        size = quantity_text(float(worst.largest.max()), "Pa")
        sentences.append(f"The largest stress is {size}, the {quantity} of {worst.body} at {worst.time:.4g} s.")
    if forces:
        hardest = max(forces, key=lambda own: own.size)
        sentences.append(
            f"The largest force of a joint is {quantity_text(hardest.size, 'N')}, of {hardest.joint} at "
            f"{hardest.time:.4g} s."
        )
    if len(run.times) > 1:
        sentences.append(
            f"The account of energy closes to {run.ledger.largest_residual:.1e} of the energy between two saved times "
            f"and to {run.energy_drift():.1e} over the run."
        )
    if isinstance(run, Solution) and run.mechanism.layout.multipliers and run.ledger.position_residual.size:
        sentences.append(f"Joints keep together to {run.ledger.position_residual.max():.1e} m or rad.")
    return " ".join(sentences)


def quantity_text(value: float, unit: str) -> str:
    """Text of a number in a unit with a prefix."""
    factor, prefix = next((scale for scale in PREFIXES if abs(value) >= scale[0]), (1.0, ""))
    return f"{value / factor:.3g} {prefix}{unit}"


def _moved(run: Result) -> str:
    names = list(run.mechanism.bodies) if isinstance(run, Solution) else []
    first, last = np.asarray(run.times)[[0, -1]]
    span = f"from {first:.6g} to {last:.6g} s, saved at {len(run.times)} times"
    if not names:
        return f"The system runs {span}."
    if len(names) > NAMED:
        return f"{len(names)} bodies move {span}."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} move{'s' if len(names) == 1 else ''} {span}."


UNITS = {"force": ("force", "N"), "torque": ("torque", "N m")}
"""Quantity and unit of each kind of input."""


def controllers_of(run: Solution) -> list[Block]:
    """Table of controllers, and table and charts of their sampled outputs; an empty list without controllers."""
    ledger = run.ledger
    if not ledger.controllers or len(run.times) < 2:
        return []
    rows = [
        (name, float(given.sum()), _last(ledger.energy, f"stored {name}"), _sum(ledger.dissipation, name))
        for name, given in ledger.controllers.items()
    ]
    head = ("controller", "given to the mechanism [J]", "stored at the end [J]", "dissipated [J]")
    return [Table(head, rows), *_controller_inputs(run)]


def _last(energies: Mapping[str, Array], name: str) -> float | str:
    return float(energies[name][-1]) if name in energies else ""


def _sum(losses: Mapping[str, Array], name: str) -> float | str:
    return float(losses[name].sum()) if name in losses else ""


def _controller_inputs(run: Solution) -> list[Block]:
    """Table, and charts against time, of the inputs that sampled controllers and feedback give to the mechanism."""
    kinds = {c.name: c.input.kind for c in run.mechanism.connections if c.input is not None}
    rows = []
    by_kind: dict[tuple[str, str], list[Curve]] = {}
    for port, values in run.controls.items():
        size = np.linalg.norm(values, axis=1)
        quantity, unit = UNITS.get(kinds.get(port, ""), ("input", ""))
        rows.append((port, float(size.max()), unit, float(run.times[1 + size.argmax()]) if size.any() else ""))
        curves = by_kind.setdefault((quantity, unit), [])
        names = [port] if values.shape[1] == 1 else [f"{port} {axis}" for axis in "xyz"[: values.shape[1]]]
        curves += [
            Curve(run.times[1:], column, name) for column, name in zip(values.T, names, strict=False) if column.any()
        ]
    panels = [Panel(largest_of(curves), f"{kind[0]} held", kind[1]) for kind, curves in by_kind.items() if curves]
    table = [Table(("port", "largest input", "unit", "held up to t [s]"), rows)] if rows else []
    return [*table, *([Chart(panels)] if panels else [])]


def rubbing_of(run: Solution) -> list[Block]:
    """Table of the joints with load-dependent friction, and chart of their friction forces.

    An empty list without such joints.
    """
    names = [c.name for c in run.mechanism.connections if c.form.bearing is not None]
    if not names or len(run.times) < 2:
        return []
    rows: list[tuple[object, ...]] = []
    curves: list[Curve] = []
    lengths, middles = np.diff(run.times), 0.5 * (run.times[1:] + run.times[:-1])
    for name in names:
        pressing, friction = (run.ledger.impulses[f"{name}: {way}"] / lengths for way in ("pressing", "friction"))
        holds = lengths[run.measured(sticks(name))[1:]].sum() / lengths.sum()
        taken = float(run.ledger.dissipation[name].sum())
        rows.append((name, float(pressing.max()), float(friction.max()), taken, f"{100.0 * holds:.0f} %"))
        curves += [Curve(middles, friction, name)] if friction.any() else []
    head = ("joint", "pressed by at most [N]", "largest friction [N]", "dissipated [J]", "of the time it sticks")
    chart = [Chart([Panel(largest_of(curves), "friction at the radius", "N")])] if curves else []
    return [Table(head, rows), *chart]
