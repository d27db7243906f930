"""Slider: a port on a line."""

from collections.abc import Sequence

from ..laws.resistive_relations import Relation
from ..numerics.arguments import checked
from .rows.connection import (
    Connection,
    Form,
    PortName,
    across,
    angle_row,
    relative_angle,
    same_rotation,
)
from .rows.directions import fitting, frame_about, perpendicular, unit
from .rows.friction import CoulombFriction
from .rows.resistance import friction_of_sliding, resists_sliding
from .rows.signs import Rail, Solid


@checked
def slider(
    port: str,
    rail: PortName,
    *,
    direction: Sequence[float] = (1.0, 0.0),
    turning: bool = False,
    friction: Relation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Slider: the port moves on a line through the rail port, fixed in the rail's section or in the world.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ perpendicular to the direction.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    rail : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        Direction d in the section at the rail port, in world axes for ``GROUND``; three components in space.
    turning : bool
        False keeps the relative rotation as assembled: a prismatic joint with one relative freedom. True is a pin in a
        slot with two freedoms in the plane and four in space; point masses need it.
    friction : Relation or CoulombFriction, optional
        Force [N] against the sliding velocity [m/s] along the direction, or dry friction in proportion to the force
        across the line (:class:`flexph.joints.CoulombFriction`; a torque that the joint carries does not press).

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    along, resists = unit("direction", direction), friction_of_sliding("friction", friction)

    def make(dim: int) -> Form:
        d = fitting("direction", along, dim)
        rows = across(port, rail, (perpendicular(d),) if dim == 2 else frame_about(d))
        measures, bearing = resists_sliding(port, rail, d, resists, pressing=dim - 1)
        signs = (Rail(rail, port, d), Solid("sleeve", port, d, axes=rail))
        if turning:
            return Form(rows, measures, signs=signs, bearing=bearing)
        return Form((*rows, *fixed_rotation(port, rail, dim)), measures, signs=signs, bearing=bearing)

    return Connection("slider", (port, rail), make, label=name)


def fixed_rotation(first: str, second: PortName, dim: int) -> tuple:
    """Constraint rows that keep the relative rotation as assembled."""
    if dim == 2:
        return (angle_row(relative_angle(first, second, 2), None),)
    return same_rotation(first, second, None)
