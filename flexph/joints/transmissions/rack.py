"""Rack and pinion."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, PortName
from ..rows.directions import fitting, unit, unit_axes
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Product, Vector, Weighed, along, between
from .coordinates import coupled, refuse_equal, turn_of


@quantities(radius="m")
@checked
def rack(
    rack: str,
    pinion: str,
    housing: PortName = GROUND,
    *,
    radius: float,
    direction: Sequence[float] = (1.0, 0.0),
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Rack and pinion: ``0 = Δs − r Δθ``, counted from the assembled pose.

    The rack moves with the pitch circle of the pinion:

    s = d·(p_rack − p_housing) along a direction of the housing, θ the angle of the pinion relative to the housing, over
    any number of turns. The increments of both are exact in every step, so that they do not drift apart. A slider and a
    hinge must hold the parts. A rope on a drum that lifts a load has the same constraint.

    Parameters
    ----------
    rack : str
        Port ``body.port`` of the rack.
    pinion : str
        Port ``body.port`` of the pinion.
    housing : str or Ground
        Port of the body that carries both, or a position of the ground.
    radius : float
        Radius r [m] of the pitch circle.
    direction : array_like
        Direction d of the rack for a positive angle of the pinion, in the section of the housing (world axes for
        GROUND); three components in space.
    axis, second_axis : array_like, optional
        In space the axis of the pinion in its own section and in that of the housing; the same components by default.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; its multiplier is the force on the rack [N].

    Raises
    ------
    ValueError
        For a radius that is not positive, one port given twice, and directions of the wrong dimension.
    """
    r = check.positive("radius", radius, "m")
    refuse_equal("rack", rack, pinion, housing)
    line, axes = unit("direction", direction), unit_axes(axis, second_axis)

    def make(dim: int) -> Form:
        way = along(housing, fitting("direction", line, dim))
        one = Vector(fixed=line)
        moved = Weighed(Product(between(rack, housing), way), Product(one, one))
        turned = turn_of(pinion, housing, dim, kind="a rack", axes=axes, weight=-r)
        sign = Solid("wheel", pinion, None if axes is None else axes[0], radius=r)
        return Form((coupled("travel", (moved,), turned),), signs=(sign,))

    return Connection("rack", (rack, pinion, housing), make, label=name)
