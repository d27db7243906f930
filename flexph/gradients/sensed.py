"""Values of functionals of a run, and their derivatives with respect to states and multipliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..integration.loops.memory.data import Index
from ..integration.loops.memory.memory import ROW
from ..integration.methods.exact import Exact
from ..numerics.arrays import Array
from ..sensors.quantities import Quantity
from .functionals import Functional, Peak
from .runs.kept_steps import GradientRun, SegmentedRun
from .runs.problems import in_loops
from .runs.readings import readings_by_state
from .runs.step_readings import (
    Places,
    Steps,
    by_ends,
    by_multipliers,
    ends_of,
    middles,
    read_steps,
    steps_of_run,
)
from .runs.struck_runs import StruckRun


class SensedFunctional(NamedTuple):
    """Value of a functional of a run, and the states or steps on which it depends, ``places``.

    ``rows`` are the indices of ``places`` in the run, ``slopes`` the derivatives of the functional with
    respect to the readings there. ``readings`` are the readings at all states or in all steps.
    """

    value: float
    places: Places
    slopes: Array
    rows: Index
    readings: Array


def _without_checkpoints(functional: Functional, used: int, count: int) -> str:
    """Text of the error for a functional whose value depends on more states than checkpoints store."""
    if isinstance(functional, Peak):
        return (
            f"checkpoints need a functional of at most half of the states, Peak with margin {functional.margin:g} "
            f"depends on {used} of {count}: use a smaller margin, or leave checkpoints out"
        )
    return "checkpoints keep no states for a functional of all times: leave them out, or use Last or Peak"


def sensed_of(run: GradientRun, functional: Functional) -> SensedFunctional:
    """Value of a functional of a run, and its derivatives with respect to the readings of its sensor.

    Raises ValueError for sensors and methods that do not fit, and for checkpoints of which it would need too many
    states.
    """
    quantity, problem, times = functional.quantity, run.problem, run.times
    steps = None
    if quantity.of_steps is None:
        every = run.readings(quantity)
    elif not isinstance(problem.method, Exact):
        raise ValueError(f"the {quantity} has gradients in runs by Exact() only, got {problem.method}")
    elif isinstance(run, StruckRun):
        raise ValueError(f"the {quantity} has no gradients in runs with impacts: use a sensor of states")
    else:
        steps = steps_of_run(run.solution)
        times, every = steps.times, read_steps(problem, quantity, steps)
    values = component_of(functional.component, quantity, every)
    slopes = functional.slopes(times, values)
    rows = np.flatnonzero(slopes)
    rows = rows if rows.size else np.array([0])
    if isinstance(run, SegmentedRun) and rows.size > len(times) // 2:
        raise ValueError(_without_checkpoints(functional, rows.size, len(times)))
    places = run.states(rows) if steps is None else steps.select(rows)
    return SensedFunctional(functional.value(times, values), places, slopes[rows], rows, values)


def value_at_times(functional: Functional, own: SensedFunctional, times: Array) -> float:
    """Value of a functional for other times of the run, if its readings were unchanged."""
    return functional.value(middles(ends_of(times)) if isinstance(own.places, Steps) else times, own.readings)


def component_of(component: int, quantity: Quantity, values: Array) -> Array:
    """Readings (k,) of one component, from the readings ``values`` (k, components) of a sensor.

    Raises ValueError if the sensor does not have the component.
    """
    if not 0 <= component < values.shape[1]:
        raise ValueError(f"component must be below {values.shape[1]} for {quantity}, got {component}")
    return values[:, component]


def derivatives_by_run(
    run: GradientRun, functional: Functional, own: SensedFunctional
) -> tuple[tuple[Index, Array], Array | None]:
    """Derivatives of a functional with respect to states and unknowns of steps.

    The first value has the indices of times, and the derivatives with respect to the states at these times, in the
    layout of the loops. The second value has the derivatives with respect to the unknowns of all steps; it is None for
    sensors of states.
    """
    problem, by_unknown, k, rows = run.problem, None, functional.component, own.rows
    if isinstance(own.places, Steps):
        by_state = by_ends(problem, functional.quantity, own.places)
        forces = by_multipliers(problem, functional.quantity, own.places)[:, k]
        velocities = problem.memory.table[ROW["x_lam"], 0] - problem.memory.table[ROW["x_v"], 0]
        by_unknown = np.zeros((len(run.times) - 1, velocities + forces.shape[1]))
        by_unknown[rows, velocities:] = own.slopes[:, None] * forces
        rows = rows + 1
    else:
        by_state = readings_by_state(problem.mechanism, functional.quantity, own.places, run.magnitudes)
    weights = in_loops(problem.mechanism, own.slopes[:, None] * by_state[:, k], weights=True)
    return (rows, weights), by_unknown
