"""Report section on joints with load-dependent dry friction: pressing force, friction and dissipation."""

from __future__ import annotations

import numpy as np

from ..plot.panels import Curve, Panel, largest_of
from ..results.solution import Solution
from ..sensors.forces import sticks
from .page import Block, Chart, Table


def rubbing_of(run: Solution) -> list[Block]:
    """Table of the joints with load-dependent friction, and chart of their friction.

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
