"""Resistive relations: what a damper or a friction does against a rate ([rigid] definition 6 and eq. (8))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import checks as check
from .space import Array

PROBES = np.concatenate([-np.logspace(2, -6, 41), [0.0], np.logspace(-6, 2, 41)])
"""Rates at which the sign of a relation is checked, in its own unit [m/s] or [rad/s]."""
SMALL = 1e-6
"""Rate up to which the quotient of force and rate is the slope at zero."""
DIFFERENCE = 1e-6
"""Step of central differences, relative to a rate or to one."""


@dataclass(frozen=True)
class Relation:
    """``f = ρ(s)`` between a rate s [m/s or rad/s] and the force or torque f against it [N or N m], ``s ρ(s) ≥ 0``.

    The dissipated power s ρ(s) is then not negative at any rate, and with it R ⪰ 0. Made by :func:`viscous`,
    :func:`quadratic`, :func:`coulomb` and :func:`resistive`; ``parameters`` are those of the kind.
    """

    kind: Literal["viscous", "quadratic", "coulomb", "general"]
    parameters: tuple[float, ...] = ()
    function: Callable[[float], float] | None = None
    derivative: Callable[[float], float] | None = None

    def force(self, rate: Any) -> Any:
        """ρ(s), of one rate or of many."""
        s = np.asarray(rate, dtype=float)
        if self.kind == "viscous":
            return self.parameters[0] * s
        if self.kind == "quadratic":
            return self.parameters[0] * np.abs(s) * s
        if self.kind == "coulomb":
            level, _ = self._level(s)
            return level * np.tanh(s / self.parameters[1]) + self.parameters[4] * s
        assert self.function is not None
        return _each(self.function, s)

    def slope(self, rate: Any) -> Any:
        """ρ'(s), of one rate or of many; of a general relation without derivative by central differences."""
        s = np.asarray(rate, dtype=float)
        if self.kind == "viscous":
            return np.full_like(s, self.parameters[0])
        if self.kind == "quadratic":
            return 2.0 * self.parameters[0] * np.abs(s)
        if self.kind == "coulomb":
            level, change = self._level(s)
            smooth = np.tanh(s / self.parameters[1])
            return change * smooth + level * (1.0 - smooth**2) / self.parameters[1] + self.parameters[4]
        if self.derivative is not None:
            return _each(self.derivative, s)
        step = DIFFERENCE * np.maximum(np.abs(s), 1.0)
        return (self.force(s + step) - self.force(s - step)) / (2.0 * step)

    def resistance(self, rate: Any) -> Any:
        """ρ(s)/s ≥ 0, what R has of it ([dg] definition 2); at rest its limit ρ'(0)."""
        s = np.asarray(rate, dtype=float)
        safe = np.where(np.abs(s) > SMALL, s, 1.0)
        return np.where(np.abs(s) > SMALL, self.force(safe) / safe, self.slope(s))

    def _level(self, s: Array) -> tuple[Array, Array]:
        """Level of Coulomb friction, which falls from static to sliding, and its derivative."""
        sliding, _, static, stribeck, _ = self.parameters
        drop = (static - sliding) * np.exp(-((s / stribeck) ** 2))
        return sliding + drop, -2.0 * s / stribeck**2 * drop


def _each(function: Callable[[float], float], s: Array) -> Array:
    return np.array([float(function(float(value))) for value in s.ravel()]).reshape(s.shape)


def viscous(coefficient: float) -> Relation:
    """``ρ(s) = c s``, c ≥ 0 [N s/m or N m s/rad]."""
    return Relation("viscous", (check.not_negative("coefficient", coefficient),))


def quadratic(coefficient: float) -> Relation:
    """``ρ(s) = c |s| s``, c ≥ 0 [N s²/m² or N m s²/rad²]: drag of a fluid."""
    return Relation("quadratic", (check.not_negative("coefficient", coefficient),))


def coulomb(
    force: float,
    *,
    speed: float,
    static: float | None = None,
    stribeck: float | None = None,
    viscous: float = 0.0,
) -> Relation:
    """Dry friction made smooth: ``ρ(s) = (F + (F₀ − F) e^{−(s/v_s)²}) tanh(s/v) + c s``.

    ``force`` F ≥ 0 when sliding [N or N m], ``speed`` v > 0 [m/s or rad/s] below which it sticks by creeping: the
    smaller, the nearer to dry friction and the stiffer. ``static`` F₀ ≥ 0 (F if None) near rest, which falls to F
    beyond the Stribeck speed v_s (10 v if None); ``viscous`` c ≥ 0 is added.
    """
    sliding, width = check.not_negative("force", force), check.positive("speed", speed)
    at_rest = sliding if static is None else check.not_negative("static", static)
    falling = 10.0 * width if stribeck is None else check.positive("stribeck", stribeck)
    return Relation("coulomb", (sliding, width, at_rest, falling, check.not_negative("viscous", viscous)))


def resistive(function: Callable[[float], float], derivative: Callable[[float], float] | None = None) -> Relation:
    """Any function ρ of the rate with ``s ρ(s) ≥ 0``; its derivative spares the iterations differences.

    Raises ValueError, naming a rate, where it generates energy at one of 83 rates up to 100 of both signs, or pushes
    at rest; runs check it at the rates they meet.
    """
    made = Relation("general", (), function, derivative)
    for s in PROBES.tolist():
        check_dissipates(made, s)
    return made


def check_dissipates(relation: Relation, rate: float) -> None:
    """Raise ValueError unless ρ is finite and ``s ρ(s) ≥ 0`` at a rate."""
    force = float(relation.force(rate))
    if not np.isfinite(force):
        raise ValueError(f"a resistive relation must be finite, got {force} at the rate {rate:.3g}")
    if rate * force < 0.0 or (rate == 0.0 and abs(force) > 0.0):
        raise ValueError(
            f"a resistive relation must not generate energy, s ρ(s) >= 0: got ρ({rate:.3g}) = {force:.3g}, a power of "
            f"{rate * force:.3g} W"
        )
