"""Cylindrical joint."""

from collections.abc import Sequence

from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation, friction_of
from .rows.connection import Connection, Form, PortName, across, parallel_axes, resists_sliding, resists_turning
from .rows.directions import frame_about, spatial_axes, unit_axes
from .rows.signs import Rail, Solid


@checked
def cylindrical(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    turning_friction: Relation | None = None,
    sliding_friction: Relation | None = None,
) -> Connection:
    """A joint along and about one axis: ``0 = x₂·(p₁ − p₂) = y₂·(p₁ − p₂) = a₁·x₂ = a₁·y₂``.

    ``axis`` in the first port's section, ``second_axis`` in the second's (world axes for GROUND), the same components
    if it is not given. Leaves two relative freedoms. The constraint force lies across the mean axes of the second
    section over a step: exchanging the ports changes the motion by the square of the step. ``turning_friction`` is the
    torque [N m] against the relative spin [rad/s], ``sliding_friction`` the force [N] against the velocity [m/s] along
    the axis (:class:`flexph.systems.Relation`).
    """

    given = unit_axes(axis, second_axis)
    turns, slides = friction_of("turning_friction", turning_friction), friction_of("sliding_friction", sliding_friction)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a cylindrical joint")
        rows = (*across(first, second, frame_about(axes[1])), *parallel_axes(first, second, axes))
        turning = resists_turning(first, second, axes, turns, name="turning")
        sliding = resists_sliding(first, second, axes[1], slides, name="sliding")
        signs = (Rail(second, first, axes[1]), Solid("pin", first, axes[0]))
        return Form(rows, (*turning, *sliding), parallel=(axes,), signs=signs)

    return Connection("cylindrical", (first, second), make)
