"""Friction of joints: relations to the rate of a measure, and dry friction under the force of the joint."""

from __future__ import annotations

from typing import Any

from ...systems.resistive_relations import Relation, friction_of, viscous
from .connection import Measure, PortName, Slip, relative_angle
from .directions import Axes, Direction
from .friction import Bearing, CoulombFriction
from .vectors import Product, along, between

Friction = float | Relation | CoulombFriction
Resistance = tuple[tuple[Measure, ...], Bearing | None]
"""What resists in a joint: its measures, and its faces that slip."""


def friction_of_turning(name: str, given: Any) -> Friction:
    """The friction of a joint that turns; raises ValueError for one without the radius that it needs."""
    if isinstance(given, CoulombFriction) and given.radius is None:
        raise ValueError(f"{name} of a joint that turns needs the radius of its bearing: CoulombFriction(μ, radius=r)")
    return given if isinstance(given, CoulombFriction) else friction_of(name, given)


def friction_of_sliding(name: str, given: Any) -> Friction:
    """The friction of a joint that slides; raises ValueError for one with a radius, as nothing turns."""
    if isinstance(given, CoulombFriction) and given.radius is not None:
        raise ValueError(f"{name} of a joint that slides takes no radius: CoulombFriction(μ)")
    return given if isinstance(given, CoulombFriction) else friction_of(name, given)


def resists_turning(
    first: str, second: PortName, axes: Axes | None, friction: Friction, *, pressing: int = 0, name: str = ""
) -> Resistance:
    """The friction of a joint that turns about an axis (None in the plane); nothing without friction.

    ``pressing`` is the number of its first rows that are its force.
    """
    if friction == 0.0:
        return (), None
    turn = relative_angle(first, second, 2 if axes is None else 3, axes)
    if isinstance(friction, CoulombFriction):
        assert friction.radius is not None
        return (Measure("angle", turn, 0.0, 0.0, None, name, friction.radius),), Bearing(friction, pressing)
    return (Measure("angle", turn, 0.0, friction, None, name),), None


def resists_sliding(
    first: str, second: PortName, direction: Direction, friction: Friction, *, pressing: int = 0, name: str = ""
) -> Resistance:
    """The friction of a joint that slides along a direction of the second section; nothing without friction."""
    if friction == 0.0:
        return (), None
    offset = Product(between(first, second), along(second, direction))
    if isinstance(friction, CoulombFriction):
        return (Measure("component", (offset,), 0.0, 0.0, None, name, 1.0),), Bearing(friction, pressing)
    return (Measure("component", (offset,), 0.0, friction, None, name),), None


def resists_along_curve(friction: Friction, *, pressing: int) -> tuple[tuple[Slip, ...], Bearing | None]:
    """The friction of a port along its curve; nothing without friction."""
    if friction == 0.0:
        return (), None
    if isinstance(friction, CoulombFriction):
        return (), Bearing(friction, pressing, along_curve=True)
    return (Slip(((),), friction if isinstance(friction, Relation) else viscous(friction)),), None
