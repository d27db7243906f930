"""Hinge (revolute joint)."""

from collections.abc import Sequence

from ..systems.resistive_relations import Relation, friction_of
from .rows.connection import Connection, Form, PortName, coincidence, parallel_axes, resists_turning
from .rows.directions import spatial_axes, unit_axes


def hinge(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    friction: Relation | None = None,
) -> Connection:
    """Both ports at one point, free to turn about an axis: ``0 = p₁ − p₂`` ([flex] eq. (41)), in space axes parallel.

    Leaves one relative freedom. In space ``axis`` is the axis in the first port's section, ``second_axis`` that in the
    second's (in world axes for GROUND), the same components if it is not given; in the plane there is none to give.
    ``friction`` is the torque [N m] against the relative spin [rad/s] (:class:`flexph.Relation`).
    """

    given, resists = unit_axes(axis, second_axis), friction_of("friction", friction)

    def make(dim: int) -> Form:
        rows = coincidence(first, second, dim)
        if dim == 2:
            if given is not None:
                raise ValueError("a hinge takes no axis in the plane")
            return Form(rows, resists_turning(first, second, None, resists))
        axes = spatial_axes(given, dim, "a hinge")
        measures = resists_turning(first, second, axes, resists)
        return Form((*rows, *parallel_axes(first, second, axes)), measures, parallel=(axes,))

    return Connection("hinge", (first, second), make)
