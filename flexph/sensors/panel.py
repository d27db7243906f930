"""Joint evaluation of many sensors from the state of a mechanism, and during a run also from its last step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..joints.rows.connection import Connection, Form, measures
from ..joints.rows.vectors import Ground
from ..kernels.state import Configuration, node_arms, node_velocities, product_changes, products, vectors
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.loops.callbacks import Struct
from .loops import measure_at
from .measure_gradient import gradients_at
from .panel_arrays import GradientMemory, PanelArrays, SensorMemory, panel_arrays
from .quantities import LastStep, Quantity, Reading

FULL = 2.0 * math.pi
"""Full turn [rad]."""
KEPT = 8
"""Number of sensor models that a mechanism caches."""


class Panel:
    """Several sensors of a mechanism, by name, that are evaluated together.

    Distances, offsets and angles of sensors are measures, evaluated as those of springs: a separate model of the bodies
    with ports of sensors has connections without forces as its only connections. It computes vectors between ports,
    and their scalar products. Other sensors are functions of the flat state.
    """

    def __init__(self, mechanism: Model, sensors: Mapping[str, Quantity]) -> None:
        self.mechanism, self.sensors = mechanism, dict(sensors)
        of_state: dict[str, Quantity] = {}
        measured: dict[str, Quantity] = {}
        for name, quantity in self.sensors.items():
            (measured if getattr(quantity, "of_state", None) is None else of_state)[name] = quantity
        elements, self._part = mechanism.once(_Models).of(measured)
        self._states = {name: _of_state(name, quantity, mechanism) for name, quantity in of_state.items()}
        self._arrays = self._part.network.arrays
        parts, size = mechanism.layout.parts, mechanism.layout.size
        self.entries = np.concatenate([np.arange(size)[parts[name]] for name in self._part.layout.parts])
        order = {name: i for i, (name, _) in enumerate(measures(elements))}
        springs, count = self._arrays.springs, len(order)
        self._readings: dict[str, int | list[int]] = {}  # among measures and, behind them, their rates
        for element, (name, quantity) in zip(elements, measured.items(), strict=True):
            places = [order[f"{name}: {i}"] + count * quantity.is_rate for i in range(len(element.form.measures))]
            self._readings[name] = places[0] if quantity.scalar else places
        self.angles = springs.length_product.size + springs.component_product.size
        self.size = springs.stiffness.size
        """Number of measures."""

    @cached_property
    def _loop(self) -> _Loop | None:
        """Compiled evaluation of all measures; None for large mechanisms, which are evaluated by NumPy.

        The loop does not support the arrays of large mechanisms, which store the mean displacements of bodies
        separately from the shape functions of nodes.
        """
        return _Loop(self._part) if self._arrays.mean is None else None

    @property
    def arrays(self) -> PanelArrays | None:
        """Arrays with which compiled loops evaluate the sensors; None if some of them can only be read in Python."""
        return None if self._loop is None or self._states else self._loop.arrays

    @property
    def places(self) -> dict[str, list[int]]:
        """Indices of the values of each sensor in the list of all measures followed by their rates."""
        return {name: place if isinstance(place, list) else [place] for name, place in self._readings.items()}

    def spans(self) -> tuple[tuple[str, ...], list[tuple[int, int | None]] | None]:
        """Names of the sensors that read measures, and the range of each in the list of all their values.

        A range is (start, end) for a sensor with an array, and (index, None) for one with a number. The ranges are None
        if all sensors have numbers.
        """
        names, ends = tuple(self._readings), np.cumsum([0, *map(len, self.places.values())]).tolist()
        if all(isinstance(place, int) for place in self._readings.values()):
            return names, None
        ends_of = zip(self._readings.values(), ends[:-1], ends[1:], strict=True)
        return names, [(i, None if isinstance(place, int) else j) for place, i, j in ends_of]

    def read(self, x: Array, near: Sequence[float] | None = None) -> tuple[dict[str, Any], list[float]]:
        """Readings by name at a flat state, and the values of all measures.

        Angles continue from the last values ``near`` of the measures, over any number of turns; by default they are
        within half a turn.
        """
        values, rates = self._measured(x) if self.size else ([], [])
        if near is not None:
            for i in range(self.angles, len(values)):
                if abs(near[i] - values[i]) > math.pi:
                    values[i] += FULL * round((near[i] - values[i]) / FULL)
        whole = values + rates
        readings: dict[str, Any] = {
            name: whole[place] if isinstance(place, int) else np.array([whole[i] for i in place])
            for name, place in self._readings.items()
        }
        for name, of_state in self._states.items():
            readings[name] = of_state(x)
        return readings, values

    def read_rows(self, states: Array) -> dict[str, Array]:
        """Readings by name at k unrelated flat states (k, n): (k,) or (k, …) each, with angles within half a turn."""
        part = states[:, self.entries]
        if not self.size:
            measured = np.zeros((len(states), 0))
        elif self._loop is None:
            measured = np.array([self._evaluated(x) for x in part]).reshape(len(states), -1)
        else:
            measured = self._loop.rows(part).reshape(len(states), -1)
        readings = {name: measured[:, columns] for name, columns in self._readings.items()}
        return readings | {name: np.array([read(x) for x in states]) for name, read in self._states.items()}

    def turned_rows(self, states: Array) -> dict[str, Array] | None:
        """Readings by name at k successive flat states (k, n), with angles over any number of turns.

        None if some sensors can only be read in Python.
        """
        if self._loop is None or self._states or not self.size:
            return None
        measured = self._loop.rows(states[:, self.entries])
        angles = measured[:, 0, self.angles :]
        angles[1:] -= FULL * np.cumsum(np.round(np.diff(angles, axis=0) / FULL), axis=0)
        whole = measured.reshape(len(states), -1)
        return {name: whole[:, columns] for name, columns in self._readings.items()}

    def gradients(self, name: str, component: int, states: Array) -> Array | None:
        """Gradients (k, n) of a component of the sensor ``name`` with respect to flat states (k, n).

        None if the sensor is read in Python.
        """
        if name not in self._readings or self._loop is None:
            return None
        out = np.zeros_like(states)
        out[:, self.entries] = self._loop.gradients(self.places[name][component], states[:, self.entries])
        return out

    def _measured(self, x: Array) -> list[list[float]]:
        """Values of all measures and their rates at a flat state, as two lists."""
        part = x.take(self.entries)
        return self._evaluated(part) if self._loop is None else self._loop(part)

    def _evaluated(self, x: Array) -> list[list[float]]:
        """Values of all measures and their rates at a flat state, as two lists, by NumPy."""
        a, c = self._arrays, configuration(self._part, x)
        arm = node_arms(a, c.R, c.u)
        vector = vectors(a, c.r, arm)
        product = products(a, vector)
        return [self._values(product).tolist(), self._rates(c, (arm, vector, product)).tolist()]

    def _values(self, product: Array) -> Array:
        s = self._arrays.springs
        angles = np.arctan2(product[s.sine_product], product[s.cosine_product])
        return np.concatenate([np.sqrt(product[s.length_product]), product[s.component_product], angles])

    def _rates(self, c: Configuration, at: tuple[Array, Array, Array]) -> Array:
        """Rates of all measures at a configuration, see :func:`flexph.kernels.continuous.spring_rates`.

        ``at`` are the arms of its nodes, its vectors and its products.
        """
        a, (arm, vector, product) = self._arrays, at
        s = a.springs
        rate = product_changes(a, a.incidence @ node_velocities(a, c, c.R, arm), vector)
        length = 0.5 * rate[s.length_product] / np.sqrt(product[s.length_product])
        sine, cosine = product[s.sine_product], product[s.cosine_product]
        turning = (cosine * rate[s.sine_product] - sine * rate[s.cosine_product]) / (sine**2 + cosine**2)
        return np.concatenate([length, rate[s.component_product], turning])


class _Models:
    """Cache of the models that measure sensors, as runs read the same sensors again."""

    def __init__(self, mechanism: Model) -> None:
        self._mechanism = mechanism
        self._last: dict[tuple[tuple[str, int], ...], tuple[list[Quantity], list[Connection], Model]] = {}

    def of(self, sensors: Mapping[str, Quantity]) -> tuple[list[Connection], Model]:
        """Connections that measure the given sensors, and the model that contains them.

        They come from the cache if the sensors are the same. Raises ValueError for invalid sensors.
        """
        key = tuple((name, id(quantity)) for name, quantity in sensors.items())
        known = self._last.get(key)
        if known is None:
            elements = [
                sensor_element(name, quantity, self._mechanism.layout.dim) for name, quantity in sensors.items()
            ]
            try:
                model = Model(_panel_bodies(self._mechanism, elements), tuple(elements), self._mechanism.gravity)
                _ = model.network
            except ValueError as error:
                raise ValueError(f"sensors: {error}") from None
            for oldest in list(self._last)[: max(len(self._last) - KEPT + 1, 0)]:
                self._last.pop(oldest, None)
            known = self._last[key] = list(sensors.values()), elements, model
        return known[1:]


def sensor_element(name: str, quantity: Quantity, dim: int) -> Connection:
    """Connection without forces that measures the ``quantity`` of a sensor in ``dim`` = 2 or 3 dimensions.

    Raises ValueError for an invalid sensor.
    """
    if not isinstance(quantity, Quantity):
        raise ValueError(f"sensor {name!r} must be a quantity such as joint_angle(…), got {check.shown(quantity)}")
    try:
        own = tuple(replace(m, name=str(i)) for i, m in enumerate(quantity.make(dim)))
        return Connection("sensor", quantity.ports, label=check.name("a sensor", name), form=Form(measures=own))
    except ValueError as error:
        raise ValueError(f"sensor {name!r}: {error}") from None


def _of_state(name: str, quantity: Quantity, mechanism: Model) -> Reading:
    """Function that reads the sensor ``name`` from a flat state; raises ValueError for an invalid one."""
    assert quantity.of_state is not None
    try:
        return quantity.of_state(mechanism)
    except ValueError as error:
        raise ValueError(f"sensor {check.name('a sensor', name)!r}: {error}") from None


def _panel_bodies(mechanism: Model, elements: Sequence[Connection]) -> dict[str, Any]:
    """Bodies with ports of sensors, by name: only these are needed in the model of the sensors.

    All bodies if no sensor has a port on a body, or if the body of a port is unknown (the model then reports it).
    """
    owners = {str(port).partition(".")[0] for e in elements for port in e.ports if not isinstance(port, Ground)}
    if not owners or not owners <= set(mechanism.bodies):
        return dict(mechanism.bodies)
    return {name: body for name, body in mechanism.bodies.items() if name in owners}


class _Loop:
    """Compiled evaluation of all measures of a mechanism at flat states, with their rates and gradients."""

    def __init__(self, model: Model) -> None:
        arrays, layout = model.network.arrays, model.layout
        self.arrays = panel_arrays(arrays, layout)
        self._state, self._out = np.zeros((1, layout.size)), np.zeros((1, 2, arrays.springs.stiffness.size))
        self._struct, self._measure = Struct(SensorMemory(self.arrays, self._state, self._out)), measure_at

    def __call__(self, x: Array) -> list[list[float]]:
        """Values of all measures and their rates at a flat state, as two lists."""
        self._state[0] = x
        self._measure(self._struct.address)
        values: list[list[float]] = self._out[0].tolist()
        return values

    def rows(self, x: Array) -> Array:
        """Values of the m measures and their rates at k flat states (k, n), (k, 2, m)."""
        memory = Struct(SensorMemory(self.arrays, np.ascontiguousarray(x), np.zeros((len(x), *self._out.shape[1:]))))
        self._measure(memory.address)
        return memory.value.out

    def gradients(self, index: int, states: Array) -> Array:
        """Gradients (k, n) of a measure or of its rate with respect to flat states (k, n).

        With m measures, an ``index`` below m is a measure, and m + i is the rate of the measure i.
        """
        count, arrays = self._out.shape[-1], self.arrays
        products, vectors, nodes = (np.zeros_like(part) for part in (arrays.value, arrays.vector, arrays.node))
        arm, by_arm = np.zeros((2, 4, arrays.position.shape[1]))
        which, out = np.array([index % count, index // count]), np.zeros(states.shape)
        x = np.ascontiguousarray(states)
        memory = Struct(GradientMemory(arrays, x, which, products, vectors, nodes, arm, by_arm, out))
        gradients_at(memory.address)
        return out


def histories(
    mechanism: Model, sensors: Mapping[str, Quantity], states: Array, panel: Panel | None = None
) -> dict[str, Array]:
    """Readings of sensors at k successive flat states (k, n), with angles over any number of turns.

    They are (k,) or (k, d) each. ``panel`` is an existing panel of these sensors, if there is one.
    """
    near: Any = None
    rows, panel = [], panel or Panel(mechanism, sensors)
    known = panel.turned_rows(states)
    if known is not None:
        return known
    for x in states:
        row, near = panel.read(x, near)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in sensors}


class StepPanel:
    """Sensors of a mechanism by name in a run: ``panel`` reads sensors of states, ``of_step`` sensors of the last step.

    ``anchors`` are the anchors of joints and springs at the start of the run.
    """

    def __init__(self, mechanism: Model, sensors: Mapping[str, Quantity], anchors: Anchors) -> None:
        of_step = {name: getattr(quantity, "of_step", None) for name, quantity in sensors.items()}
        self.panel = Panel(mechanism, {name: quantity for name, quantity in sensors.items() if of_step[name] is None})
        self.of_step = {
            name: quantity(mechanism, anchors) for name, quantity in of_step.items() if quantity is not None
        }

    def read(
        self, time: float, x: Array, last: LastStep, near: Sequence[float] | None
    ) -> tuple[dict[str, Any], list[float]]:
        """Readings by name at the end of a step, and the values of all measures.

        x is the flat state at the time [s], ``last`` the data of the step. Angles continue from the last values
        ``near``.
        """
        readings, measured = self.panel.read(x, near)
        for name, read in self.of_step.items():
            readings[name] = read(time, x, last)
        return readings, measured
