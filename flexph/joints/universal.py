"""Universal (Cardan, Hooke) joint."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, Row, coincidence
from .rows.directions import fitting, unit
from .rows.laws import Offset
from .rows.signs import Solid
from .rows.vectors import Product, along


@checked
def universal(
    first: str, second: PortName, *, axis: Sequence[float], second_axis: Sequence[float], name: str | None = None
) -> Connection:
    """Universal joint at one point with two perpendicular axes: ``0 = p₁ − p₂``, ``0 = a₁·a₂``.

    Leaves two relative freedoms, the rotations about both axes of the cross.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    axis : array_like
        a₁ in the axes of the section at the first port.
    second_axis : array_like
        a₂ in the section at the second port, of ``GROUND`` in world axes.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    a1, a2 = unit("axis", axis), unit("second_axis", second_axis)

    def make(dim: int) -> Form:
        if dim == 2:
            raise ValueError("a universal joint exists in three dimensions only; in the plane use hinge(...)")
        axes = Product(along(first, fitting("axis", a1, 3)), along(second, fitting("second_axis", a2, 3)))
        row = Row("cross", Offset(axes), unit="N m")
        return Form((*coincidence(first, second, dim), row), signs=(Solid("cross", first, a1),))

    return Connection("universal", (first, second), make, label=name)
