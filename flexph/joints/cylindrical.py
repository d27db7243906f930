"""Cylindrical joint."""

from collections.abc import Sequence

from .connection import Connection, Form, PortName, across, parallel_axes
from .directions import frame_about, spatial_axes, unit_axes


def cylindrical(
    first: str, second: PortName, *, axis: Sequence[float], second_axis: Sequence[float] | None = None
) -> Connection:
    """Both ports on one axis, along and about which they move: ``0 = x₂·(p₁ − p₂) = y₂·(p₁ − p₂) = a₁·x₂ = a₁·y₂``.

    ``axis`` in the first port's section, ``second_axis`` in the second's (world axes for GROUND), the same components
    if it is not given. Leaves two relative freedoms. The constraint force lies across the mean axes of the second
    section over a step: exchanging the ports changes the motion by the square of the step.
    """

    given = unit_axes(axis, second_axis)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a cylindrical joint")
        rows = (*across(first, second, frame_about(axes[1])), *parallel_axes(first, second, axes))
        return Form(rows, parallel=(axes,))

    return Connection("cylindrical", (first, second), make)
