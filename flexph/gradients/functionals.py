"""Functionals of a run: one number from the readings of a sensor at all saved times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..sensors.quantities import Quantity

NEGLIGIBLE = 1e-14
"""Weight of a reading in a smooth bound that counts as zero."""


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


@checked
class Increase(Functional):
    """Change from the first to the last time, Φ = s_N − s₀.

    Of ``energy("total")`` it is the work that entered less what was dissipated, by the balance of the run.

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.

    Examples
    --------
    >>> from flexph.gradients import Increase
    >>> from flexph.sensors import energy
    >>> loss = Increase(energy("total"))  # negative, where nothing external acts
    """

    def value(self, times: Array, readings: Array) -> float:
        """Last reading minus the first one."""
        return float(readings[-1] - readings[0])

    def slopes(self, times: Array, readings: Array) -> Array:
        """Minus one at the first time, one at the last."""
        out = np.zeros_like(readings)
        out[0] -= 1.0
        out[-1] += 1.0
        return out


@checked
@dataclass(frozen=True)
class Peak(Functional):
    """Smooth bound of the largest reading, Φ = m + ln(Σ exp(ρ (sₖ − m)))/ρ with m = max sₖ and ρ = ln(n)/margin.

    With n readings max sₖ ≤ Φ ≤ max sₖ + margin: a limit for Φ holds at all times. The bound of the least reading is
    that of −s with the other sign, min sₖ − margin ≤ Φ ≤ min sₖ; that of the size is of both s and −s.
    :meth:`excess` is the distance of the bound from the reading. (Kreisselmeier and Steinhauser, IFAC Proc. Vol. 12,
    1979.)

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.
    margin : float
        Largest distance of the bound from the reading, in the unit of the sensor. A smaller one is less smooth.
    side : "largest", "least" or "size"
        Reading of which this is a bound: s, s from below, or |s|.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph.gradients import Peak
    >>> from flexph.sensors import position
    >>> peak = Peak(position("arm.tip"), component=1, margin=0.01)
    >>> times, heights = np.linspace(0.0, 1.0, 101), np.sin(np.linspace(0.0, 3.0, 101))
    >>> bool(heights.max() <= peak.value(times, heights) <= heights.max() + 0.01)
    True
    """

    margin: float = field(kw_only=True)
    side: Literal["largest", "least", "size"] = field(default="largest", kw_only=True)

    def __post_init__(self) -> None:
        """Check the margin."""
        check.positive("margin", self.margin)

    def value(self, times: Array, readings: Array) -> float:
        """Bound of the readings."""
        signed, _ = self._signed(readings)
        return (-1.0 if self.side == "least" else 1.0) * (float(signed.max()) + self.excess(readings))

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ; they add up to one, except for the side "size"."""
        signed, rho = self._signed(readings)
        weights: Array = np.exp(rho * (signed - signed.max()))
        weights /= weights.sum()
        weights[weights < NEGLIGIBLE] = 0.0  # states that do not matter need not be differentiated
        return weights[: len(readings)] - weights[len(readings) :] if self.side == "size" else weights

    def excess(self, readings: Array) -> float:
        """Distance between the bound and the reading that it bounds, from 0 to the margin."""
        signed, rho = self._signed(readings)
        return float(np.log(np.exp(rho * (signed - signed.max())).sum()) / rho)

    def _signed(self, readings: Array) -> tuple[Array, float]:
        """Numbers whose largest is bounded, and ρ."""
        sides = {"largest": [readings], "least": [-readings], "size": [readings, -readings]}
        signed = np.concatenate(sides[self.side])
        return signed, max(float(np.log(signed.size)), 1.0) / self.margin


def _weights(times: Array) -> Array:
    """Weights of the trapezoidal rule, (N + 1,) [s]."""
    spans = np.diff(times)
    return 0.5 * (np.append(spans, 0.0) + np.append(0.0, spans))
