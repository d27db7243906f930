"""Readings of a sensor along a run, and their derivatives with respect to the states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...integration.loops.memory.data import Index
from ...mechanisms.mechanism import Mechanism
from ...numerics.arrays import Array
from ...numerics.differences import ORDER_SIX
from ...sensors.panel import Panel, histories
from ...sensors.quantities import Quantity

AGREED = 1e-5
"""Largest difference between those of sixth and fourth order, relative to the larger one, of a smooth reading."""
SENSED = 1e-3
"""Step of differences of a sensor, relative to the size of the entries of the state."""
ROUNDED = 1e-12
"""Change of a reading, relative to the largest one, that is round-off."""
MARK = "sensor"
"""Name of the sensor in its panel."""


def panel_of(mechanism: Mechanism, quantity: Quantity) -> Panel:
    """Reader of a sensor, for :func:`readings`.

    Raises ValueError for sensors that are no smooth functions of a state.
    """
    _refuse_rough(quantity)
    return Panel(mechanism, {MARK: quantity})


def readings(mechanism: Mechanism, quantity: Quantity, states: Array, panel: Panel | None = None) -> Array:
    """Readings (k, c) of the components of a sensor at k successive states of a run; angles are unwrapped.

    Raises ValueError for sensors that are no smooth functions of a state.
    """
    _refuse_rough(quantity)
    return _columns(histories(mechanism, {MARK: quantity}, states, panel)[MARK])


def _refuse_rough(quantity: Quantity) -> None:
    """Raise ValueError for a sensor that needs a whole run or is the largest of several values."""
    if quantity.of_run is not None or not quantity.is_smooth:
        kind = "of runs" if quantity.is_smooth else "of largest values"
        raise ValueError(f"functional must have a smooth sensor of states, {quantity} is one {kind}")


def readings_apart(mechanism: Mechanism, quantity: Quantity, states: Array) -> Array:
    """Readings (k, c) of a sensor at k unrelated states; angles are between −π and π."""
    return _columns(Panel(mechanism, {MARK: quantity}).read_rows(states)[MARK])


def change(quantity: Quantity, after: Array, before: Array) -> Array:
    """Differences of the readings of a sensor, ``after`` minus ``before``.

    Differences of angles are between −π and π.
    """
    apart = after - before
    return apart - 2.0 * np.pi * np.round(apart / (2.0 * np.pi)) if quantity.unit == "rad" else apart


def readings_by_state(mechanism: Mechanism, quantity: Quantity, at: Array, magnitudes: Array) -> Array:
    """Derivatives (k, c, n) of readings with respect to the entries of states ``at`` (k, n).

    They are exact for measures and stresses, and finite differences for other sensors. ``magnitudes`` (n,): largest
    absolute values of the entries along the run.
    """
    panel = Panel(mechanism, {MARK: quantity})
    if quantity.of_state is None:
        every = (panel.gradients(MARK, i, at) for i in range(len(panel.places[MARK])))
        exact = [one for one in every if one is not None]
        if exact:
            return np.stack(exact, axis=1)
    read = lambda moved: _columns(panel.read_rows(moved)[MARK])  # noqa: E731
    known = None if quantity.slopes is None else quantity.slopes(mechanism)
    if known is None:
        return differences_by_state(read, quantity, magnitudes, at)
    derivative = known.at(at)
    if known.left.size:
        derivative += differences_by_state(read, quantity, magnitudes, at, known.left)
    return derivative


def differences_by_state(
    read: Callable[[Array], Array], quantity: Quantity, magnitudes: Array, at: Array, entries: Index | None = None
) -> Array:
    """Derivatives (k, c, n) of readings with respect to entries of states ``at`` (k, n), by finite differences.

    ``read`` returns readings (k, c) of states, ``magnitudes`` (n,) are the sizes of the entries; only the given
    ``entries`` have derivatives, by default all. Raises ValueError if the sensor is not smooth.
    """
    size = SENSED * np.maximum(magnitudes, 1e-3)

    def moved(j: int, by: float) -> Array:
        states = at.copy()
        states[:, j] += by * size[j]
        return read(states)

    here = read(at)
    noise = ROUNDED * np.abs(here).max(initial=0.0)
    derivative = np.zeros((*here.shape, at.shape[1]))
    for j in range(at.shape[1]) if entries is None else entries.tolist():
        first = moved(j, 1)
        if np.array_equal(first, here):  # the readings do not depend on this entry
            continue
        pairs = [(first, moved(j, -1)), *((moved(j, by), moved(j, -by)) for by in (2, 3))]
        changes = [change(quantity, *pair) for pair in pairs]
        second = [change(quantity, after, here) + change(quantity, before, here) for after, before in pairs]
        fine = sum(weight * of for weight, of in zip(ORDER_SIX.values(), changes, strict=True))
        coarse = (8.0 * changes[0] - changes[1]) / 12.0
        # second differences grow with the square of the step, except at kinks
        rough = np.maximum(np.abs(fine - coarse), np.abs(second[2] - 9.0 * second[0]))
        if rough.max(initial=0.0) > AGREED * np.abs(changes).max(initial=0.0) + noise:
            raise ValueError(f"the sensor of the functional, {quantity}, is not smooth along the run")
        derivative[:, :, j] = fine / size[j]
    return derivative


def _columns(values: Array) -> Array:
    """Readings (k, …) as an array with a column for each component."""
    return values.reshape(len(values), -1)
