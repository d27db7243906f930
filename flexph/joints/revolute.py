"""Revolute joint: the hinge of space under its kinematic name."""

from collections.abc import Sequence
from dataclasses import replace

from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation
from .hinge import hinge
from .rows.connection import Connection, PortName


@checked
def revolute(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    friction: Relation | None = None,
) -> Connection:
    """A joint with one point and one axis in common: ``0 = p₁ − p₂``, ``0 = a₁·x₂ = a₁·y₂``; one relative freedom.

    ``axis`` in the first port's section, ``second_axis`` in the second's (world axes for GROUND), the same components
    if it is not given; x₂, y₂ are perpendicular to it. ``friction`` is the torque [N m] against the relative
    spin [rad/s].
    """
    return replace(hinge(first, second, axis=axis, second_axis=second_axis, friction=friction), kind="revolute")
