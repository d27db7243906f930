"""Planar joint."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from .rows.connection import Connection, Form, PortName, across, parallel_axes
from .rows.directions import spatial_axes, unit_axes
from .rows.signs import Solid


@checked
def planar(
    first: str, second: PortName, *, normal: Sequence[float], second_normal: Sequence[float] | None = None
) -> Connection:
    """The first section glides on a plane of the second: ``0 = n₂·(p₁ − p₂) = n₁·x₂ = n₁·y₂``.

    ``normal`` n₁ in the first port's section, ``second_normal`` n₂ in the second's (world axes for GROUND), the same
    components if it is not given. Leaves three relative freedoms.
    """

    given = unit_axes(normal, second_normal, "normal")

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a planar joint", "normal")
        rows = (*across(first, second, axes[1:]), *parallel_axes(first, second, axes))
        signs = (Solid("plate", second, axes[1]), Solid("ball", first))
        return Form(rows, parallel=(axes,), signs=signs)

    return Connection("planar", (first, second), make)
