"""Functionals of a run: numbers computed from the readings of a sensor at all saved times."""

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
        """Value Φ of the functional for readings s (N + 1,) at the times (N + 1,) [s]."""

    @abstractmethod
    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ with respect to each reading, (N + 1,)."""


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
        """Value Φ = s_N: the last of the readings."""
        return float(readings[-1])

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,): one at the last time, else zero."""
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
        """Integral Φ of the readings by the trapezoidal rule."""
        return float(_weights(times) @ readings)

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,), the weights of the trapezoidal rule [s]."""
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
        """Mean square Φ of the readings minus the target."""
        return float(_weights(times) @ (readings - self.target) ** 2 / (times[-1] - times[0]))

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,) = 2 wₖ (sₖ − target)/T with the weights wₖ of the trapezoidal rule."""
        return _weights(times) * 2.0 * (readings - self.target) / (times[-1] - times[0])


@checked
class Increase(Functional):
    """Change from the first to the last time, Φ = s_N − s₀.

    For ``energy("total")`` it is the external work minus the dissipation of the run.

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
    >>> loss = Increase(energy("total"))  # negative without external work
    """

    def value(self, times: Array, readings: Array) -> float:
        """Value Φ = s_N − s₀: the last reading minus the first one."""
        return float(readings[-1] - readings[0])

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,): −1 at the first time, 1 at the last, else zero."""
        out = np.zeros_like(readings)
        out[0] -= 1.0
        out[-1] += 1.0
        return out


@checked
@dataclass(frozen=True)
class Peak(Functional):
    """Smooth bound of the largest reading, Φ = m + ln(Σ exp(ρ (sₖ − m)))/ρ with m = max sₖ and ρ = ln(n)/margin.

    For n readings max sₖ ≤ Φ ≤ max sₖ + margin, so that an upper limit of Φ is satisfied by all readings. The bound of
    the least reading is the negative bound of −s, min sₖ − margin ≤ Φ ≤ min sₖ; the bound of the size is that of s and
    −s together. :meth:`excess` is the distance of the bound from the extreme reading. (Kreisselmeier and Steinhauser,
    IFAC Proc. Vol. 12, 1979.)

    Attributes
    ----------
    quantity : Quantity
        Sensor of states (:mod:`flexph.sensors`).
    component : int
        Component of a sensor that is a vector.
    margin : float
        Largest distance of the bound from the extreme reading, in the unit of the sensor. Φ is smoother for a larger
        margin.
    side : "largest", "least" or "size"
        Extreme that is bounded: largest s, least s, or largest |s|.

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
        """Check that the margin is positive and the side is known."""
        check.positive("margin", self.margin)

    def value(self, times: Array, readings: Array) -> float:
        """Smooth bound Φ of the readings."""
        signed, _ = self._signed(readings)
        return (-1.0 if self.side == "least" else 1.0) * (float(signed.max()) + self.excess(readings))

    def slopes(self, times: Array, readings: Array) -> Array:
        """Derivatives ∂Φ/∂sₖ (N + 1,); their sum is one, except for the side "size"."""
        signed, rho = self._signed(readings)
        weights: Array = np.exp(rho * (signed - signed.max()))
        weights /= weights.sum()
        weights[weights < NEGLIGIBLE] = 0.0  # zero slopes, so that sensors are not differentiated at these states
        return weights[: len(readings)] - weights[len(readings) :] if self.side == "size" else weights

    def excess(self, readings: Array) -> float:
        """Distance between the bound and the extreme reading, from 0 to the margin."""
        signed, rho = self._signed(readings)
        return float(np.log(np.exp(rho * (signed - signed.max())).sum()) / rho)

    def _signed(self, readings: Array) -> tuple[Array, float]:
        """Values whose maximum is bounded (s, −s, or both, by the side), and the sharpness ρ of the bound."""
        sides = {"largest": [readings], "least": [-readings], "size": [readings, -readings]}
        signed = np.concatenate(sides[self.side])
        return signed, max(float(np.log(signed.size)), 1.0) / self.margin


def _weights(times: Array) -> Array:
    """Weights of the readings at given times in the trapezoidal rule, (N + 1,) [s]."""
    spans = np.diff(times)
    return 0.5 * (np.append(spans, 0.0) + np.append(0.0, spans))
