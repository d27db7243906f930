"""Functionals of a run: one number from the readings of a sensor at all saved times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..sensors.quantities import Quantity


@dataclass(frozen=True)
class Functional(ABC):
    """Number Φ(s₀, …, s_N) of the readings sₖ of a sensor at the times tₖ.

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.
    """

    quantity: Quantity
    component: int = 0

    @abstractmethod
    def value(self, times: Array, readings: Array) -> float:
        """Φ of readings (N + 1,)."""

    @abstractmethod
    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,)."""


@checked
class Last(Functional):
    """Reading at the last time, Φ = s_N.

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.

    Examples
    --------
    >>> from flexph.gradients import Last
    >>> from flexph.sensors import position
    >>> height = Last(position("arm.tip"), component=1)
    """

    def value(self, times: Array, readings: Array) -> float:
        """Last reading."""
        return float(readings[-1])

    def slopes(self, times: Array, readings: Array) -> Array:
        """One at the last time, else zero."""
        out = np.zeros_like(readings)
        out[-1] = 1.0
        return out


@checked
class Integral(Functional):
    """Integral Φ = ∫ s dt by the trapezoidal rule over the steps.

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.

    Examples
    --------
    >>> from flexph.gradients import Integral
    >>> from flexph.sensors import joint_angle
    >>> area = Integral(joint_angle("arm.root"))
    """

    def value(self, times: Array, readings: Array) -> float:
        """Sum of readings and weights."""
        return float(_weights(times) @ readings)

    def slopes(self, times: Array, readings: Array) -> Array:
        """Weights of the rule."""
        return _weights(times)


@checked
@dataclass(frozen=True)
class MeanSquare(Functional):
    """Mean square Φ = ∫ (s − target)² dt / T by the trapezoidal rule over the steps.

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.
    target : float
        Value from which the readings are measured.

    Examples
    --------
    >>> from flexph.gradients import MeanSquare
    >>> from flexph.sensors import position
    >>> error = MeanSquare(position("arm.tip"), component=1, target=0.2)
    """

    target: float = 0.0

    def value(self, times: Array, readings: Array) -> float:
        """Mean square of readings."""
        return float(_weights(times) @ (readings - self.target) ** 2 / (times[-1] - times[0]))

    def slopes(self, times: Array, readings: Array) -> Array:
        """Weights of the rule times twice the deviations."""
        return _weights(times) * 2.0 * (readings - self.target) / (times[-1] - times[0])


def _weights(times: Array) -> Array:
    """Weights of the trapezoidal rule, (N + 1,) [s]."""
    spans = np.diff(times)
    return 0.5 * (np.append(spans, 0.0) + np.append(0.0, spans))
