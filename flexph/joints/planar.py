"""Planar joint."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, across, parallel_axes
from .rows.directions import spatial_axes, unit_axes
from .rows.signs import Solid


@checked
def planar(
    first: str,
    second: PortName,
    *,
    normal: Sequence[float],
    second_normal: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Planar joint: the first section glides on a plane of the second, ``0 = n₂·(p₁ − p₂) = n₁·x₂ = n₁·y₂``.

    Leaves three relative freedoms.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    normal : array_like
        n₁ in the axes of the section at the first port.
    second_normal : array_like, optional
        n₂ in the section at the second port, of ``GROUND`` in world axes; the same components by default.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    given = unit_axes(normal, second_normal, "normal")

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a planar joint", "normal")
        rows = (*across(first, second, axes[1:]), *parallel_axes(first, second, axes))
        signs = (Solid("plate", second, axes[1]), Solid("ball", first))
        return Form(rows, parallel=(axes,), signs=signs)

    return Connection("planar", (first, second), make, label=name)
