"""Energies of capacitors and inductors as functions of charge or flux."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import scipy

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.differences import central
from ...numerics.memo import Remade

CURVATURE_STEP = 1e-5
"""Step of the differences for a missing H″, relative to a state or its scale."""
AGREES = 1e-6
"""Accepted relative difference of H′ from differences of H, which resolve it to about 1e-10."""
WIDEST = 60
"""Largest number of doublings of the search interval for the state of an effort, starting from the scale."""


@checked
@dataclass(frozen=True)
class Energy(Remade):
    """Energy ``H(s)`` of a charge Q [C] or flux φ [V s], with ``H′`` (voltage [V] or current [A]) and ``H″``.

    H′ must be increasing, so that each voltage or current has one state.

    Parameters
    ----------
    value : callable
        H as a function of s [J].
    slope : callable
        H′ as a function of s: voltage [V] or current [A].
    curvature : callable, optional
        H″ as a function of s.
    scale : float
        Typical positive state, at which the functions are checked.
    capacity : float, optional
        C [F] or L [H] if ``H = s²/(2 capacity)``.
    """

    value: Callable[[float], float]
    slope: Callable[[float], float]
    curvature: Callable[[float], float] | None = None
    scale: float = 1.0
    capacity: float | None = None

    def __post_init__(self) -> None:
        for name in ("value", "slope"):
            given = getattr(self, name)
            if not callable(given):
                raise ValueError(f"{name} of an energy must be a function of charge or flux, got {given!r}")
        check.positive("scale", self.scale)
        s, step = self.scale, CURVATURE_STEP * self.scale
        slope = check.number("the slope of the energy at its scale", self.slope(s))
        values = [check.number("the energy at its scale", self.value(s + part * step)) for part in (1.0, -1.0)]
        difference = (values[0] - values[1]) / (2.0 * step)
        if abs(difference - slope) > AGREES * max(abs(difference), abs(slope)) + 1e-10 * abs(values[0]) / s:
            raise ValueError(
                f"slope of an energy must be H′: at {s:.6g} it is {slope:.6g}, differences give {difference:.6g}"
            )

    def stiffness(self, s: float) -> float:
        """Second derivative H″(s), given or by central differences."""
        if self.curvature is not None:
            return float(self.curvature(s))
        step = CURVATURE_STEP * max(abs(s), self.scale)
        return float(central(self.slope, s, step) / step)

    def state(self, effort: float) -> float:
        """Charge of a voltage, or flux of a current. Raises ValueError if H′ does not reach that value."""
        if self.capacity is not None:
            return self.capacity * effort
        if self.slope(0.0) == effort:
            return 0.0
        width, excess = self.scale, lambda s: self.slope(s) - effort
        for _ in range(WIDEST):
            if excess(-width) * excess(width) <= 0.0:
                return float(scipy.optimize.brentq(excess, -width, width, xtol=1e-15 * self.scale))
            width *= 2.0
        raise ValueError(f"no state within {width:.1e} has the voltage or current {effort:.6g}")


@checked
def linear_energy(capacity: float) -> Energy:
    """Quadratic energy ``H = s²/(2 capacity)``.

    Parameters
    ----------
    capacity : float
        C [F] for a charge s, L [H] for a flux s.

    Returns
    -------
    Energy
        Energy with its derivatives.
    """
    c = capacity
    return Energy(lambda s: 0.5 * s * s / c, lambda s: s / c, lambda s: 1.0 / c, scale=c, capacity=c)
