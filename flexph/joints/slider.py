"""Slider: a port on a line."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation, friction_of
from .rows.connection import (
    Connection,
    Form,
    PortName,
    across,
    angle_row,
    relative_angle,
    resists_sliding,
    same_rotation,
)
from .rows.directions import fitting, frame_about, perpendicular, unit
from .rows.signs import Rail, Solid


@checked
def slider(
    port: str,
    rail: PortName,
    *,
    direction: Sequence[float] = (1.0, 0.0),
    turning: bool = False,
    friction: Relation | None = None,
) -> Connection:
    """The port moves on a line through the rail port, along a direction fixed in the rail's section or in the world.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ across the direction.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    rail : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        d in the section at the rail port, of ``GROUND`` in world axes; in space three components.
    turning : bool
        False keeps the relative rotation as assembled (a prismatic joint, one relative freedom); True is a pin in a
        slot, two freedoms in the plane and four in space, and what a point mass needs.
    friction : Relation, optional
        Force [N] against the sliding velocity [m/s] along the direction.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    along, resists = unit("direction", direction), friction_of("friction", friction)

    def make(dim: int) -> Form:
        d = fitting("direction", along, dim)
        rows = across(port, rail, (perpendicular(d),) if dim == 2 else frame_about(d))
        measures = resists_sliding(port, rail, d, resists)
        signs = (Rail(rail, port, d), Solid("sleeve", port, d, axes=rail))
        if turning:
            return Form(rows, measures, signs=signs)
        return Form((*rows, *fixed_rotation(port, rail, dim)), measures, signs=signs)

    return Connection("slider", (port, rail), make)


def fixed_rotation(first: str, second: PortName, dim: int) -> tuple:
    """Rows that keep the relative rotation as assembled."""
    if dim == 2:
        return (angle_row(relative_angle(first, second, 2), None),)
    return same_rotation(first, second, None)
