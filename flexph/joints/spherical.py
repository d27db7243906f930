"""Spherical joint."""

from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, coincidence
from .rows.signs import Solid


@checked
def spherical(first: str, second: PortName, *, name: str | None = None) -> Connection:
    """Spherical joint (ball joint) at one point: ``0 = p₁ − p₂`` ([flex] eq. (41)); three relative freedoms.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    def make(dim: int) -> Form:
        if dim == 2:
            raise ValueError("a spherical joint exists in three dimensions only; in the plane use hinge(...)")
        return Form(coincidence(first, second, dim), signs=(Solid("ball", first),))

    return Connection("spherical", (first, second), make, label=name)
