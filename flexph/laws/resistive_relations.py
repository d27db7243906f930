"""Resistive relations between a rate and the force against it ([rigid] definition 6 and eq. (8))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import central
from ..units.arguments import quantities

PROBES = np.concatenate([-np.logspace(2, -6, 41), [0.0], np.logspace(-6, 2, 41)])
"""Rates [m/s or rad/s] at which the sign of a relation is checked."""
SMALL = 1e-6
"""Rate up to which the quotient of force and rate is approximated by the slope."""
NEAR = 1e-4
"""Rate up to which the derivative of this quotient is approximated, as it loses more digits."""
KINDS = ("viscous", "quadratic", "coulomb", "general")
"""Kinds of a relation."""
DIFFERENCE = 1e-6
"""Step of central differences, relative to a rate or to one."""


@dataclass(frozen=True)
class Relation:
    """Resistive relation f = ρ(s) of a rate s [m/s or rad/s] and the force or torque f against it [N or N m].

    The dissipated power must not be negative, ``s ρ(s) ≥ 0``: then the dissipation matrix R of a system, with entries
    ρ(s)/s, is ⪰ 0. Relations are made by :func:`viscous`, :func:`quadratic`, :func:`coulomb` and :func:`resistive`.

    Parameters
    ----------
    kind : {"viscous", "quadratic", "coulomb", "general"}
        Kind of the relation.
    parameters : tuple of float
        Parameters of the kind.
    function : callable, optional
        ρ(s) of the general kind.
    derivative : callable, optional
        dρ/ds of the general kind.
    """

    kind: Literal["viscous", "quadratic", "coulomb", "general"]
    parameters: tuple[float, ...] = ()
    function: Callable[[float], float] | None = None
    derivative: Callable[[float], float] | None = None
    remedy: ClassVar[str] = "e.g. coulomb(force, speed=...), see resistive(function)"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            known = f"one of {', '.join(map(repr, KINDS))}"
            raise ValueError(
                f"kind must be {known}, got {check.shown(self.kind)}: of a function write resistive(function)"
            )

    def force(self, rate: Any) -> Any:
        """Force ρ(s) at one rate or many."""
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
        """Derivative ρ'(s) at one rate s or many; by central differences for a general relation without derivative."""
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
        return central(self.force, s, step) / step

    def resistance(self, rate: Any) -> Any:
        """Quotient ρ(s)/s ≥ 0 at one rate s or many, an entry of the matrix R ([dg] definition 2).

        At rest it is the limit ρ'(0).
        """
        s = np.asarray(rate, dtype=float)
        unit = self._unit
        moving = np.abs(s) > SMALL * unit
        safe = np.where(moving, s, unit)
        return np.where(moving, self.force(safe) / safe, self.slope(s))

    def resistance_slope(self, rate: Any) -> Any:
        """Derivative of ρ(s)/s with respect to s, at one rate s or many.

        It is zero at rest, as for every odd smooth relation.
        """
        s = np.asarray(rate, dtype=float)
        unit = self._unit
        moving = np.abs(s) > NEAR * unit
        safe = np.where(moving, s, unit)
        near = 2.0 * self._curvature() * s
        return np.where(moving, (self.slope(safe) - self.force(safe) / safe) / safe, near)

    @property
    def _unit(self) -> float:
        """Rate s over which ρ'(s) changes noticeably.

        It is the smaller one of the two speeds of Coulomb friction, and 1 for other kinds.
        """
        return min(self.parameters[1], self.parameters[3]) if self.kind == "coulomb" else 1.0

    def _curvature(self) -> float:
        """Half the second derivative of ρ(s)/s with respect to s at rest for Coulomb friction; 0 for other kinds."""
        if self.kind != "coulomb":
            return 0.0
        sliding, width, static, stribeck, _ = self.parameters
        return -static / (3.0 * width**3) - (static - sliding) / (width * stribeck**2)

    @property
    def is_nothing(self) -> bool:
        """True if the force is always zero."""
        if self.kind == "coulomb":
            sliding, _, static, _, rest = self.parameters
            return sliding == static == rest == 0.0
        return self.kind in ("viscous", "quadratic") and self.parameters[0] == 0.0

    def __str__(self) -> str:
        if self.kind == "general":
            return f"resistive({getattr(self.function, '__name__', 'function')})"
        if self.kind != "coulomb":
            return f"{self.kind}({self.parameters[0]:.9g})"
        names = ("speed", "static", "stribeck", "viscous")
        rest = ", ".join(f"{n}={p:.9g}" for n, p in zip(names, self.parameters[1:], strict=True))
        return f"coulomb({self.parameters[0]:.9g}, {rest})"

    def _level(self, s: Array) -> tuple[Array, Array]:
        """Magnitude F + (F₀ − F) e^{−(s/v_s)²} of Coulomb friction at rates s, and its derivative with respect to s.

        It falls from the static friction F₀ to the sliding friction F.
        """
        sliding, _, static, stribeck, _ = self.parameters
        drop = (static - sliding) * np.exp(-((s / stribeck) ** 2))
        return sliding + drop, -2.0 * s / stribeck**2 * drop


Factor = Callable[[float], float] | Literal["input"]
"""Factor of a friction: a function of time, or 1 + u of an input u."""


def check_factor(name: str, given: Any) -> None:
    """Raise ValueError unless a factor, of a relation or of a mass, is None, a function or "input"."""
    if not (given is None or given == "input" or callable(given)):
        raise ValueError(f'{name} must be a function of time or "input", got {check.shown(given)}')


@dataclass(frozen=True)
class ScheduledRelation:
    """Resistive relation with a factor, f = a ρ(s), a ≥ 0; made by :func:`scheduled` and :func:`controlled`.

    Parameters
    ----------
    relation : Relation
        ρ(s).
    factor : callable or "input"
        a(t) of the time [s], or 1 + u of the input u.
    """

    relation: Relation
    factor: Factor

    def __str__(self) -> str:
        if self.factor == "input":
            return f"controlled({self.relation})"
        named = getattr(self.factor, "__name__", "factor")
        return f"scheduled({self.relation}, {'function' if named == '<lambda>' else named})"


def _each(function: Callable[[float], float], s: Array) -> Array:
    return np.array([_checked_value(function, value) for value in s.ravel().tolist()]).reshape(s.shape)


def _checked_value(function: Callable[[float], float], rate: float) -> float:
    """Value of a function at a rate; an exception that it raises becomes a ValueError that names the rate."""
    try:
        return float(function(rate))
    except Exception as error:
        raise ValueError(
            f"a resistive relation at the rate {rate:.3g} raised {type(error).__name__}: {error}"
        ) from error


@quantities(coefficient=("N*s/m", "N*m*s/rad"))
@checked
def viscous(coefficient: float) -> Relation:
    """Viscous relation ``ρ(s) = c s``, c ≥ 0.

    Parameters
    ----------
    coefficient : float
        c [N s/m or N m s/rad].

    Returns
    -------
    Relation
        Relation for ``friction=``, ``damping=`` and resistive relations of systems.
    """
    return Relation("viscous", (check.not_negative("coefficient", coefficient),))


@quantities(coefficient=("N*s^2/m^2", "N*m*s^2/rad^2"))
@checked
def quadratic(coefficient: float) -> Relation:
    """Quadratic relation ``ρ(s) = c |s| s``, c ≥ 0, e.g. drag of a fluid.

    Parameters
    ----------
    coefficient : float
        c [N s²/m² or N m s²/rad²].

    Returns
    -------
    Relation
        Relation for ``friction=``, ``damping=`` and resistive relations of systems.
    """
    return Relation("quadratic", (check.not_negative("coefficient", coefficient),))


@quantities(
    force=("N", "N*m"),
    speed=("m/s", "rad/s"),
    static=("N", "N*m"),
    stribeck=("m/s", "rad/s"),
    viscous=("N*s/m", "N*m*s/rad"),
)
@checked
def coulomb(
    force: float,
    *,
    speed: float,
    static: float | None = None,
    stribeck: float | None = None,
    viscous: float = 0.0,
) -> Relation:
    """Smoothed dry friction ``ρ(s) = (F + (F₀ − F) e^{−(s/v_s)²}) tanh(s/v) + c s``.

    A smaller speed v is closer to dry friction, but stiffer: docs/guide/friction.md shows which step lengths resolve
    it.

    Parameters
    ----------
    force : float
        Sliding friction F ≥ 0 [N or N m].
    speed : float
        Speed v > 0 [m/s or rad/s] below which friction is viscous: contact points creep instead of sticking.
    static : float, optional
        Static friction F₀ ≥ 0 near rest [N or N m]; F by default.
    stribeck : float, optional
        Stribeck speed v_s [m/s or rad/s] over which the force falls from F₀ to F; 10 v by default.
    viscous : float
        Additional viscous coefficient c ≥ 0 [N s/m or N m s/rad].

    Returns
    -------
    Relation
        Relation for ``friction=`` of joints, ``damping=`` of force elements and resistive relations of systems.
    """
    sliding, width = check.not_negative("force", force), check.positive("speed", speed)
    at_rest = sliding if static is None else check.not_negative("static", static)
    falling = 10.0 * width if stribeck is None else check.positive("stribeck", stribeck)
    return Relation("coulomb", (sliding, width, at_rest, falling, check.not_negative("viscous", viscous)))


@checked
def resistive(function: Callable[[float], float], derivative: Callable[[float], float] | None = None) -> Relation:
    """General relation by a function ρ of the rate with ``s ρ(s) ≥ 0``.

    Parameters
    ----------
    function : callable
        ρ(s) [N or N m] of the rate s [m/s or rad/s].
    derivative : callable, optional
        dρ/ds; by differences if left out.

    Returns
    -------
    Relation
        Relation for ``friction=``, ``damping=`` and resistive relations of systems.

    Raises
    ------
    ValueError
        If ρ generates energy at one of 83 rates up to ±100, or is not zero at rest; runs check it at their rates.
    """
    if not callable(function) or not (derivative is None or callable(derivative)):
        wrong = derivative if callable(function) else function
        raise ValueError(
            f"a resistive relation and its derivative must be functions of the rate, got {check.shown(wrong)}"
        )
    relation = Relation("general", (), function, derivative)
    for s in PROBES.tolist():
        check_dissipates(relation, s)
    return relation


def damping_of(name: str, given: Any) -> float | Relation | ScheduledRelation:
    """Damping of a spring from the argument ``name``: a coefficient or a relation, which may have a factor of time."""
    return given if isinstance(given, ScheduledRelation) else resisting(name, given)


def resisting(name: str, given: Any) -> float | Relation:
    """Damping or friction, a coefficient or a relation, from the argument ``name``, after its check.

    A viscous relation becomes its coefficient.
    """
    if isinstance(given, Relation):
        return given.parameters[0] if given.kind == "viscous" else 0.0 if given.is_nothing else given
    if callable(given):
        raise ValueError(f"{name} must be a number or a Relation, got a function: see resistive(function)")
    return check.not_negative(name, given)


def friction_of(name: str, given: Any) -> float | Relation:
    """Friction of a joint from the argument ``name``: a relation or its viscous coefficient, 0 for None.

    Raises ValueError for anything else.
    """
    if given is not None and not isinstance(given, Relation):
        raise ValueError(
            f"{name} must be a Relation, e.g. coulomb(force, speed=...) or viscous(c), got {check.shown(given)}"
        )
    return 0.0 if given is None else resisting(name, given)


def check_dissipates(relation: Relation, rate: float, name: str = "a resistive relation") -> None:
    """Raise ValueError, with the given name, unless ρ is finite and ``s ρ(s) ≥ 0`` at the rate s."""
    force = float(relation.force(rate))
    if not np.isfinite(force):
        raise ValueError(f"{name} must be finite, got {force} at the rate {rate:.3g}")
    if rate * force < 0.0 or (rate == 0.0 and abs(force) > 0.0):
        raise ValueError(
            f"{name} must not generate energy, s ρ(s) >= 0: got ρ({rate:.3g}) = {force:.3g}, a power of "
            f"{rate * force:.3g} W"
        )
