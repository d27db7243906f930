"""Measures of a run: numbers computed from its readings, and functionals with the same values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flexph import sensors as make
from flexph.bodies.stresses import LABELS
from flexph.gradients.functionals import Functional, Increase, Integral, Last, Peak
from flexph.numerics.arrays import Array
from flexph.sensors.quantities import Quantity

from ..units.quantities import read_quantity, read_size
from .schema.entry import Builder, Entry
from .schema.runs import Measure, Reading
from .schema.sensors import OF_CONTACTS, OF_JOINTS, BodySensor

MEASURED: Mapping[str, Callable[..., Quantity]] = {**OF_CONTACTS, **OF_JOINTS}
"""Sensors by the words of readings that are measured by them."""
SENSORS = {**MEASURED, "position": make.position, "velocity": make.velocity}
"""Sensors by the words of readings that have one."""
UNITS = {"mass": ("kg",), "displacement": ("m",), "spin": ("rad/s",), "reaction": ("N", "N*m")}
"""Units of readings that are no sensors."""
SIDES: Mapping[str, Literal["largest", "least", "size"]] = {"max": "largest", "min": "least", "max_abs": "size"}
"""Sides of smooth bounds by the extreme that they replace."""
EXTREMES: Mapping[str, Callable[[Array], Any]] = {"max": np.max, "min": np.min, "max_abs": lambda x: np.abs(x).max()}
"""Extremes of a series (k,), which are no smooth functions of it."""


@dataclass(frozen=True)
class First(Functional):
    """Functional Φ of the readings sₖ of a sensor at n times: the reading at the first time, Φ = s₀."""

    def value(self, times: Array, readings: Array) -> float:
        """Value Φ of the first reading."""
        return float(readings[0])

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (n,): one for the first reading, else zero."""
        out = np.zeros_like(readings)
        out[0] = 1.0
        return out


@dataclass(frozen=True)
class Mean(Functional):
    """Functional Φ of the readings sₖ of a sensor at n times: their mean, Φ = Σ sₖ/n."""

    def value(self, times: Array, readings: Array) -> float:
        """Value Φ of the mean."""
        return float(readings.mean())

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ = 1/n (n,)."""
        return np.full_like(readings, 1.0 / readings.size)


@dataclass(frozen=True)
class RootMeanSquare(Functional):
    """Functional Φ of the readings sₖ of a sensor at n times: their root mean square, Φ² = Σ sₖ²/n."""

    def value(self, times: Array, readings: Array) -> float:
        """Value Φ of the root mean square."""
        return float(np.sqrt(np.mean(readings**2)))

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ = sₖ/(n Φ) (n,); zero if Φ = 0."""
        return np.asarray(readings / (readings.size * (self.value(times, readings) or 1.0)))


@dataclass(frozen=True)
class Shifted(Functional):
    """Functional that evaluates another functional, ``of``, at the readings minus a target."""

    of: Functional = field(kw_only=True)
    target: float = field(kw_only=True)

    def value(self, times: Array, readings: Array) -> float:
        """Value of the functional ``of`` at the differences (n,) of readings and target."""
        return self.of.value(times, readings - self.target)

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives (n,) of the value with respect to the readings (n,)."""
        return self.of.slopes(times, readings - self.target)


FUNCTIONALS: Mapping[str, Callable[[Quantity, int], Functional]] = {
    **{"first": First, "last": Last, "mean": Mean},
    **{"rms": RootMeanSquare, "increase": Increase, "integral": Integral},
}
"""Functionals of measures that are smooth functions of the readings."""
NO_SENSOR = make.energy("total")
"""Sensor of functionals that are given their readings."""


def quantity_of(reading: Reading | Entry) -> Quantity | None:
    """Sensor that gives a reading; None if there is none, as for a displacement or a reaction."""
    if isinstance(reading, Entry):
        built: Quantity = reading.build(Builder(Path()))
        return built
    return SENSORS[reading.what](reading.of) if reading.what in SENSORS else None


def units_of(reading: Reading | Entry) -> tuple[str, ...]:
    """Units in which targets and margins of a reading may be given, such as m.

    Empty if the unit is unknown, as for resultants and parts of the state.
    """
    if isinstance(reading, Reading) and reading.what in UNITS:
        return UNITS[reading.what]
    if isinstance(reading, BodySensor) and reading.measure == "stress" and _is_stress(reading.field):
        return ("Pa",)
    quantity = quantity_of(reading)
    unit = "" if quantity is None else quantity.unit
    try:
        read_quantity(f"1 {unit}", unit)
    except ValueError:
        return ()
    return (unit,) if unit else ()


def _is_stress(field: str) -> bool:
    """True for the name of a field of a body whose unit is pascal, such as a stress at faces or von Mises stress."""
    return "stress" in field or field in LABELS


def level_of(measure: Measure, given: float | str) -> float:
    """Convert ``given``, the target or the margin of a measure, to SI units.

    A number without unit is in SI units already. Raises ValueError for the unit of another quantity.
    """
    units = units_of(measure.of) if isinstance(given, str) else ()
    return read_quantity(given, *units) if units else read_size(given)


def functional_of(measure: Measure, quantity: Quantity = NO_SENSOR) -> Functional | None:
    """Functional with the value of a measure of a run, for the readings of the sensor ``quantity``.

    None for an extreme of the readings, which has no derivatives, unless the measure has a margin, which makes it
    smooth.
    """
    if measure.take in FUNCTIONALS:
        functional = FUNCTIONALS[measure.take](quantity, measure.component)
    elif measure.margin is None:
        return None
    else:
        margin = level_of(measure, measure.margin)
        functional = Peak(quantity, measure.component, margin=margin, side=SIDES[measure.take])
    target = level_of(measure, measure.target)
    return Shifted(quantity, measure.component, of=functional, target=target) if target else functional


def number_of(run: Any, measure: Measure) -> float:
    """Value of a measure of a finished run."""
    times, values = series_of(run, measure.of)
    if measure.component >= values.shape[1]:
        raise ValueError(
            f"component {measure.component} does not exist: the sensor has {values.shape[1]}, counted from 0"
        )
    functional, readings = functional_of(measure), values[:, measure.component]
    if functional is None:
        return float(EXTREMES[measure.take](readings - level_of(measure, measure.target)))
    return functional.value(times, readings)


def series_of(run: Any, reading: Reading | Entry) -> tuple[Array, Array]:
    """Times (k,) [s] and values (k, components) of a reading."""
    if isinstance(reading, Reading) and reading.what == "mass":
        return run.times, np.full((len(run.times), 1), run.mechanism.bodies[reading.of].mass)
    if isinstance(reading, Reading) and reading.what == "reaction":
        reaction = run.reaction(reading.of)
        columns = [reaction.force, np.reshape(reaction.torque, (len(reaction.times), -1))]
        return reaction.times, np.hstack(columns)
    if isinstance(reading, Entry) or reading.what in MEASURED:
        values = run.measured(quantity_of(reading))
        return run.times, np.reshape(values, (len(values), -1))
    values = run[reading.of] if reading.what == "state" else getattr(run, reading.what)(reading.of)
    return run.times[-len(values) :], np.reshape(values, (len(values), -1))
