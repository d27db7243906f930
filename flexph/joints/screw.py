"""Screw: a joint that advances along its axis as it turns."""

import math
from collections.abc import Sequence
from dataclasses import replace

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .cylindrical import cylindrical
from .rows.connection import Connection, Form, PortName
from .rows.directions import spatial_axes, unit_axes
from .rows.vectors import Product, Vector, Weighed, along, between
from .transmissions.coordinates import coupled, turn_of


@quantities(lead="m")
@checked
def screw(
    first: str,
    second: PortName,
    *,
    lead: float,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Screw joint in space, which advances by its lead in each turn; one relative freedom.

    Its rows are those of :func:`flexph.cylindrical` and ``0 = Δs − (lead/2π) Δθ``, counted from the assembled pose over
    any number of turns. The increments of offset s and angle θ are exact in every step, so that they do not drift
    apart.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    lead : float
        Advance [m] of the first port along the axis of the second in a positive turn; negative for left-hand threads.
    axis : array_like
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, of ``GROUND`` in world axes; the same components by
        default.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; the multiplier of its last row is the force along the axis [N].

    Raises
    ------
    ValueError
        For a lead of zero, which would be a hinge, and in the plane.
    """
    advance = check.number("lead", lead) / (2.0 * math.pi)
    if advance == 0.0:
        raise ValueError("lead must not be zero: a screw without advance is a revolute(...) or hinge(...)")
    given, held = unit_axes(axis, second_axis), cylindrical(first, second, axis=axis, second_axis=second_axis)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a screw")
        one = Vector(fixed=axes[1])
        moved = Weighed(Product(between(first, second), along(second, axes[1])), Product(one, one))
        turned = turn_of(first, second, dim, kind="a screw", axes=axes, weight=-advance)
        form = held.formed(dim).form
        return replace(form, rows=(*form.rows, coupled("advance", (moved,), turned)))

    return Connection("screw", (first, second), make, label=name)
