"""Friction of joints: as a relation between force and rate, or dry friction in proportion to the joint force."""

from __future__ import annotations

from typing import Any

from ...laws.resistive_relations import Relation, ScheduledRelation, friction_of, viscous
from .connection import Measure, PortName, Slip, relative_angle
from .friction import Bearing, CoulombFriction
from .vectors import Axes, Direction, Product, along, between

Friction = float | Relation | ScheduledRelation | CoulombFriction
Resistance = tuple[tuple[Measure, ...], Bearing | None]
"""Friction of a joint: its measures, and its sliding faces."""


def friction_of_turning(name: str, given: Any) -> Friction:
    """Friction of a joint that turns, after its check; raises ValueError for dry friction without a radius.

    ``name`` is that of the argument.
    """
    if isinstance(given, CoulombFriction) and given.radius is None:
        raise ValueError(f"{name} of a joint that turns needs the radius of its bearing: CoulombFriction(μ, radius=r)")
    return given if isinstance(given, (CoulombFriction, ScheduledRelation)) else friction_of(name, given)


def friction_of_sliding(name: str, given: Any) -> Friction:
    """Friction of a joint that slides, after its check; raises ValueError for dry friction with a radius.

    ``name`` is that of the argument.
    """
    if isinstance(given, CoulombFriction) and given.radius is not None:
        raise ValueError(f"{name} of a joint that slides has no radius: CoulombFriction(μ)")
    return given if isinstance(given, (CoulombFriction, ScheduledRelation)) else friction_of(name, given)


def resists_turning(
    first: str, second: PortName, axes: Axes | None, friction: Friction, *, pressing: int = 0, name: str = ""
) -> Resistance:
    """Friction of a joint against rotation about an axis: its measures and, if it is dry, its :class:`Bearing`.

    ``axes`` are None in the plane. Without friction there are no measures. The multipliers of the first ``pressing``
    rows of the joint are its force.
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
    """Friction of a joint against sliding along a direction of the second section: measures, and a :class:`Bearing`.

    The bearing is None unless the friction is dry. Without friction there are no measures. The multipliers of the first
    ``pressing`` rows of the joint are its force.
    """
    if friction == 0.0:
        return (), None
    offset = Product(between(first, second), along(second, direction))
    if isinstance(friction, CoulombFriction):
        return (Measure("component", (offset,), 0.0, 0.0, None, name, 1.0),), Bearing(friction, pressing)
    return (Measure("component", (offset,), 0.0, friction, None, name),), None


def resists_along_curve(friction: Friction, *, pressing: int) -> tuple[tuple[Slip, ...], Bearing | None]:
    """Friction of a port against sliding along its curve: slips or, for dry friction, a :class:`Bearing`.

    Without friction the results are () and None. The multipliers of the first ``pressing`` rows of the joint are its
    force.
    """
    if friction == 0.0:
        return (), None
    if isinstance(friction, CoulombFriction):
        return (), Bearing(friction, pressing, along_curve=True)
    if isinstance(friction, ScheduledRelation):
        raise ValueError(f"friction of a point on a curve is a Relation or CoulombFriction, got {friction}")
    return (Slip(((),), friction if isinstance(friction, Relation) else viscous(friction)),), None
