"""Readings of sensors in the middles of steps, such as joint forces, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...integration.loops.memory.data import Index
from ...numerics.arrays import Array
from ...sensors.quantities import Quantity
from .problems import Problem
from .readings import differences_by_state, readings_apart

if TYPE_CHECKING:
    from ...mechanisms.model.state import State
    from ...results.solution import Solution


class Steps(NamedTuple):
    """Some k steps of a run: times ``ends`` (k, 2), flat states (k, n) at their ends, multipliers (k, g).

    ``rows`` (k,) are their indices among all steps.
    """

    ends: Array
    states: Array
    multipliers: Array
    rows: Index

    @property
    def times(self) -> Array:
        """Times of the middles of the steps, (k,) [s]."""
        return middles(self.ends)

    def select(self, rows: Index) -> Steps:
        """Part of these steps, selected by the indices ``rows``."""
        return Steps(*(part[rows] for part in self))


Places = Array | Steps
"""States (k, n), or steps, at which a sensor is read."""


def steps_of_run(solution: Solution) -> Steps:
    """All steps of a run: for each its first and last time, the state at its end and its multipliers."""
    times = solution.times
    return Steps(ends_of(times), solution.states[1:], solution.stage_multipliers, np.arange(len(times) - 1))


def ends_of(times: Array) -> Array:
    """Times of the start and end of each of N steps, (N, 2) [s], from the N + 1 times that bound them."""
    return np.stack([times[:-1], times[1:]], axis=1)


def middles(ends: Array) -> Array:
    """Times of the middles of steps, (k,) [s], from their starts and ends (k, 2)."""
    return 0.5 * (ends[:, 0] + ends[:, 1])


def read_steps(problem: Problem, quantity: Quantity, steps: Steps) -> Array:
    """Readings (k, c) of a sensor that is read in the middles of steps, such as a joint force."""
    assert quantity.of_steps is not None
    start: State = problem.start
    lengths = steps.ends[:, 1] - steps.ends[:, 0]
    return quantity.of_steps(problem.mechanism, start.anchors)(
        middles(steps.ends), lengths, steps.states, steps.multipliers
    )


def read_at(problem: Problem, quantity: Quantity, places: Places) -> Array:
    """Readings (k, c) of a sensor at states or in steps, ``places``; the times of steps are taken from the problem."""
    if isinstance(places, Steps):
        return read_steps(problem, quantity, places._replace(ends=ends_of(problem.times)[places.rows]))
    return readings_apart(problem.mechanism, quantity, places)


def by_ends(problem: Problem, quantity: Quantity, steps: Steps) -> Array:
    """Derivatives (k, c, n) of readings in steps with respect to the states at their ends.

    Raises ValueError if the readings are not smooth.
    """

    def read(states: Array) -> Array:
        return read_steps(problem, quantity, steps._replace(states=states))

    return differences_by_state(read, quantity, np.abs(steps.states).max(axis=0), steps.states)


def by_multipliers(problem: Problem, quantity: Quantity, steps: Steps) -> Array:
    """Derivatives (k, c, g) of readings in steps with respect to the multipliers, in which forces are linear."""
    count, rows = steps.multipliers.shape
    units = (np.broadcast_to(unit, (count, rows)) for unit in np.eye(rows))
    return np.stack(
        [read_steps(problem, quantity, steps._replace(multipliers=multipliers)) for multipliers in units], axis=-1
    )
