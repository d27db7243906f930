"""Knife edge: a port that moves along its edge and not across it."""

from collections.abc import Sequence

from ...numerics.arguments import checked
from ..rows.connection import Connection, Form, PortName, Row
from ..rows.directions import axis as world_axis
from ..rows.directions import fitting, unit
from ..rows.rate_laws import Rolling
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Direction, Ground, Product, Vector, Weighed, along, between
from .ground_plane import on_ground


@checked
def knife_edge(
    port: str, ground: PortName = GROUND, *, axis: Sequence[float] = (0.0, 1.0), name: str | None = None
) -> Connection:
    """Knife edge: no motion of the port along a direction fixed in its section, ``0 = (R a)·ṗ``; nonholonomic.

    In space the edge forbids one direction only (a skate may still jump). Over a step ``(R a)‾·Δp = 0`` with the mean
    axis of both ends; the force along it does no work. The multiplier is the force across the edge [N].

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    ground : str or Ground
        Plane on which the edge stands.
    axis : array_like
        a, the direction across the edge in the axes of the section; in space it has three components.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    across, floor = unit("axis", axis), on_ground("knife_edge", port, ground)

    def make(dim: int) -> Form:
        direction = fitting("axis", across, dim)
        return Form((no_motion_along(port, floor, direction),), signs=(Solid("blade", port, direction),))

    return Connection("knife_edge", (port, floor), make, label=name)


def no_motion_along(port: str, ground: Ground, direction: Direction) -> Row:
    """Row ``0 = (R a)·ṗ``, as a sum over the world axes."""
    place, turned = between(port, ground), along(port, direction)
    axes = [Vector(fixed=world_axis(i, len(direction))) for i in range(len(direction))]
    return Row("across", Rolling(tuple(Weighed(Product(place, e), Product(turned, e)) for e in axes)))
