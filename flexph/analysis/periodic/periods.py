"""Periods of mechanisms: start, steps, and checks that drives, inputs and motions repeat themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...joints.rows.connection import measures
from ...kernels.state import Configuration, displacement_sizes, lever
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.constraints import velocities_of
from ...mechanisms.model.state import State
from ...mechanisms.model.time_table import TimeTable
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...results.solution import Solution
from ...systems.inputs import Forcing

REPEATED = 1e-6
"""Relative change of a prescribed function of time over one period up to which it is periodic."""
LATER = (0.0, 0.381966)
"""Times at which periodicity is checked, as shares of the period."""


class Period(NamedTuple):
    """Period of a motion: the state at its start, and the ends of its steps."""

    start: State
    times: Array

    @property
    def period(self) -> float:
        """Length T [s] of the period."""
        return float(self.times[-1] - self.times[0])

    @property
    def pace(self) -> float:
        """Angular frequency 2π/T [rad/s]."""
        return 2.0 * np.pi / self.period


def read_period(mechanism: Mechanism, about: State | Solution, period: float | None, steps: int) -> Period:
    """Period that starts at a state, or that a run covers."""
    if isinstance(about, State):
        if period is None:
            raise ValueError("period must be given [s] for a state; a run over one period defines it")
        length = check.positive("period", period, "s")
        return Period(about, about.time + length * np.linspace(0.0, 1.0, check.count("steps", steps) + 1))
    if about.mechanism is not mechanism and type(about).signature(about.mechanism) != type(about).signature(mechanism):
        raise ValueError("about must be a run of this mechanism, got one of another")
    if period is not None:
        raise ValueError("period must be left out for a run: its own length is the period")
    if about.controls or about.controller_states:
        raise ValueError("about must be a run without controllers: they have no linearised steps")
    rows = np.zeros(mechanism.layout.multipliers)
    return Period(State(float(about.times[0]), about.states[0], rows, about.anchors), np.asarray(about.times))


def refuse_aperiodic(mechanism: Mechanism, table: TimeTable, forcing: Forcing, run: Period) -> None:
    """Raise ValueError if drives, inputs or factors of laws have changed after one period."""
    now = run.start.time + run.period * np.array(LATER)

    def changed(of: Callable[[float], Array]) -> Array:
        before, after = (np.array([of(float(t)) for t in times]) for times in (now, now + run.period))
        size = max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0))
        return np.flatnonzero(np.any(np.abs(after - before) > REPEATED * size, axis=0))

    again = f"must repeat itself after the period {run.period:.6g} s"
    inputs = changed(forcing.at)
    if inputs.size:
        own = next(name for name, at in mechanism.network.input_slices.items() if at.start <= inputs[0] < at.stop)
        raise ValueError(f"input {own!r} {again}")
    terms, rows = changed(lambda t: table.at(t)[0]), changed(lambda t: table.at(t)[1])
    driven = [*rows, *mechanism.network.arrays.term_row[terms]]
    if driven:
        raise ValueError(f"{mechanism.constraint_names[driven[0]]!r} {again}")
    if changed(table.references.at).size:
        raise ValueError(f"the free length of a spring {again}")
    if (factors := changed(table.references.factors)).size:
        name, measure = list(measures(mechanism.connections))[factors[0]]
        raise ValueError(f"the factor of {measure.law} of {name} {again}")


def is_autonomous(mechanism: Mechanism, forcing: Forcing) -> bool:
    """True if no drive, input or law depends on time."""
    driven = any(c.is_driven for c in mechanism.connections)
    driven = driven or any(m.is_driven or m.is_scheduled for _, m in measures(mechanism.connections))
    return not driven and not forcing.varying.any()


def closure_of(mechanism: Mechanism, first: Configuration, last: Configuration, pace: float) -> float:
    """Distance between the configurations at the ends of a period, relative to the size of the mechanism."""
    a = mechanism.network.arrays
    sizes, length = displacement_sizes(a, lever(a)), lever(a)
    faster = (velocities_of(mechanism, last) - velocities_of(mechanism, first)) / (sizes * pace)
    parts = [(last.r - first.r) / length, last.R - first.R, faster]
    if first.u.size:
        parts.append((last.u - first.u) / sizes[-first.u.size :])
    return float(max(np.abs(part).max(initial=0.0) for part in parts))
