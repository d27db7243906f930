"""Jacobians of readings about a state at rest, for positions, velocities, stresses and spring forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration, flat
from ..numerics.arrays import Array
from ..numerics.rotations import cayley
from .panel import Panel
from .quantities import Quantity, rate_of

SMALL = 1e-6
"""Displacement [m, rad] of central differences."""


class Slopes(NamedTuple):
    """Derivatives of p readings with respect to parts of the flat state, one row for each reading.

    Attributes
    ----------
    place : array
        (p, v), with respect to displacements along the velocities (ṙ, ω, u̇) of the flat state.
    velocity : array
        (p, v), with respect to these velocities.
    force : array
        (p, f), with respect to stresses and spring forces, in the order of the flat state.
    """

    place: Array
    velocity: Array
    force: Array


def slopes(mechanism: Model, x: Array, sensors: Mapping[str, Quantity]) -> Slopes:
    """Derivatives of the readings of ``sensors`` with respect to the flat state, at a flat state x at rest.

    Derivatives of measures are exact, those of other sensors are central differences.
    """
    if not sensors:
        raise ValueError("sensors must have at least one quantity by name, got none")
    every = [
        (_of_measure if quantity.of_state is None else _of_state)(mechanism, x, name, quantity)
        for name, quantity in sensors.items()
    ]
    return Slopes(*(np.vstack(rows) for rows in zip(*every, strict=True)))


def _of_measure(mechanism: Model, x: Array, name: str, quantity: Quantity) -> Slopes:
    """Jacobians of a sensor that is a measure or its rate.

    Their columns are rates of the measure at unit velocities, as its rate is linear in the velocities. Raises
    ValueError if a distance vanishes.
    """
    motion = mechanism.layout.parts_of_motion
    panel = Panel(mechanism, {name: quantity if quantity.is_rate else rate_of(quantity)})
    rows = _columns(lambda change: panel.read(x + change)[0][name], x.size, motion)
    if not np.isfinite(rows).all():
        raise ValueError(f"sensor {name!r} has no rate at this state: distances must not vanish")
    none, force = np.zeros_like(rows), np.zeros((len(rows), x.size - motion.stop))
    return Slopes(none, rows, force) if quantity.is_rate else Slopes(rows, none, force)


def _of_state(mechanism: Model, x: Array, name: str, quantity: Quantity) -> Slopes:
    """Jacobians of a sensor of states by central differences, which are exact for linear and quadratic readings.

    Raises ValueError for a sensor that cannot be linearised.
    """
    if not quantity.is_smooth:
        raise ValueError(
            f"sensor {name!r} is the largest of several values and cannot be linearised: use a field at a point"
        )
    panel, motion = Panel(mechanism, {name: quantity}), mechanism.layout.parts_of_motion
    force = slice(motion.stop, x.size)
    size = max(1.0, float(np.abs(x[force]).max(initial=0.0)))

    def read(at: Array) -> Array:
        return np.ravel(panel.read(at)[0][name])

    def place(change: Array) -> Array:
        ends = [read(_displaced(mechanism, x + by * change)) for by in (SMALL, -SMALL)]
        if quantity.unit == "rad" and np.abs(ends[0] - ends[1]).max() > 1.0:
            raise ValueError(f"sensor {name!r} is at its jump of half a turn: use joint_angle(…)")
        return np.asarray((ends[0] - ends[1]) / (2.0 * SMALL))

    def state(change: Array) -> Array:
        return (read(x + size * change) - read(x - size * change)) / (2.0 * size)

    columns = [_columns(f, x.size, part) for f, part in ((place, motion), (state, motion), (state, force))]
    width = np.size(read(x))
    return Slopes(*(column.reshape(width, -1) for column in columns))


def _columns(change: Any, size: int, part: slice) -> Array:
    """Matrix with a column ``change(e)`` for each unit vector e (size,) along an entry of the ``part`` of the state."""
    rows = [np.ravel(change(np.bincount([j], minlength=size).astype(float))) for j in range(part.start, part.stop)]
    return np.array(rows).T


def _displaced(mechanism: Model, x: Array) -> Array:
    """Flat state at rest that is reached in a unit time with the (small) velocities of x."""
    c = configuration(mechanism, x)
    moved = c._replace(r=c.r + c.v, R=c.R @ cayley(0.5 * c.omega, mechanism.layout.dim), u=c.u + c.du)
    return flat(mechanism, moved._replace(**{name: np.zeros_like(getattr(c, name)) for name in ("v", "omega", "du")}))
