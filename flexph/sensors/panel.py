"""Readings of many sensors at once, from the state of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..joints.rows.connection import Connection, Form, measures
from ..kernels.state import node_arms, node_velocities, product_changes, products, vectors
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Configuration, configuration
from ..numerics import checks as check
from ..numerics.arrays import Array
from .quantities import Quantity

Reading = float | Array


class Panel:
    """Sensors of a mechanism by name, read together.

    Their vectors and products are those of a mechanism of the same bodies whose only connections they are.
    """

    def __init__(self, mechanism: Model, sensors: Mapping[str, Quantity]) -> None:
        self.mechanism, self.sensors = mechanism, dict(sensors)
        dim, elements, counts = mechanism.layout.dim, [], []
        for name, quantity in self.sensors.items():
            if not isinstance(quantity, Quantity):
                raise ValueError(
                    f"sensor {name!r} must be a quantity such as joint_angle(…), got {check.shown(quantity)}"
                )
            try:
                own = tuple(replace(m, name=str(i)) for i, m in enumerate(quantity.make(dim)))
                elements.append(
                    Connection("sensor", quantity.ports, label=check.name("a sensor", name), form=Form(measures=own))
                )
            except ValueError as error:
                raise ValueError(f"sensor {name!r}: {error}") from None
            counts.append(len(own))
        try:
            self._arrays = Model(mechanism.bodies, tuple(elements), mechanism.gravity).network.arrays
        except ValueError as error:
            raise ValueError(f"sensors: {error}") from None
        order = {name: i for i, (name, _) in enumerate(measures(elements))}
        self._own = {
            name: np.array([order[f"{name}: {i}"] for i in range(count)])
            for (name, count) in zip(self.sensors, counts, strict=True)
        }
        rates = [name for name, quantity in self.sensors.items() if quantity.is_rate]
        self._has_rates = bool(rates)
        springs = self._arrays.springs
        self.angles = springs.length_product.size + springs.component_product.size

    @property
    def size(self) -> int:
        """Numbers that are measured."""
        return self._arrays.springs.stiffness.size

    def read(self, x: Array, near: Array | None = None) -> tuple[dict[str, Any], Array]:
        """Readings by name at a flat state, and all measures (size,), whose angles are those nearest to ``near``."""
        a, c = self._arrays, configuration(self.mechanism, x)
        arm = node_arms(a, c.R, c.u)
        vector = vectors(a, c.r, arm)
        product = products(a, vector)
        values = self._values(product)
        if near is not None:
            turn = near[self.angles :] - values[self.angles :]
            values[self.angles :] += 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        rates = self._rates(c, (arm, vector, product)) if self._has_rates else values
        return dict(self._named(values, rates)), values

    def _values(self, product: Array) -> Array:
        s = self._arrays.springs
        angles = np.arctan2(product[s.sine_product], product[s.cosine_product])
        return np.concatenate([np.sqrt(product[s.length_product]), product[s.component_product], angles])

    def _rates(self, c: Configuration, at: tuple[Array, Array, Array]) -> Array:
        """Rates of all measures, see :func:`flexph.kernels.continuous.spring_rates`."""
        a, (arm, vector, product) = self._arrays, at
        s = a.springs
        rate = product_changes(a, a.incidence @ node_velocities(a, c, c.R, arm), vector)
        length = 0.5 * rate[s.length_product] / np.sqrt(product[s.length_product])
        sine, cosine = product[s.sine_product], product[s.cosine_product]
        turning = (cosine * rate[s.sine_product] - sine * rate[s.cosine_product]) / (sine**2 + cosine**2)
        return np.concatenate([length, rate[s.component_product], turning])

    def _named(self, values: Array, rates: Array) -> Iterator[tuple[str, Reading]]:
        for name, quantity in self.sensors.items():
            own = (rates if quantity.is_rate else values)[self._own[name]]
            yield name, float(own[0]) if quantity.scalar else own


def histories(mechanism: Model, sensors: Mapping[str, Quantity], states: Array) -> dict[str, Array]:
    """Readings of sensors at many states (k, n) one after the other, (k,) or (k, d); angles count full turns."""
    panel, near, rows = Panel(mechanism, sensors), None, []
    for x in states:
        row, near = panel.read(x, near)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in sensors}
