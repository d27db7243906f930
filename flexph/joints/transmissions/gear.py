"""Gear pair: two shafts that turn in a constant ratio."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ..rows.connection import Connection, Form, PortName
from ..rows.signs import Solid
from ..rows.vectors import GROUND
from .coordinates import Directions, coupled, refuse_equal, shaft_axes, shaft_directions, turn_of


@checked
def gear(
    first: str,
    second: str,
    carrier: PortName = GROUND,
    *,
    ratio: float,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    carrier_axes: Directions | None = None,
    name: str | None = None,
) -> Connection:
    """Gear pair: two shafts turn in a constant ratio, ``0 = Δθ₁ − i Δθ₂``, counted from the assembled pose.

    Both angles are relative to a carrier, over any number of turns. Their increments are exact in every step, so that
    the ratio does not drift, and the torques λ and −iλ together do no work. In a planetary gear, sun and ring are each
    geared to the planet with the arm as carrier. Hinges must hold the shafts; a gear does not.

    Parameters
    ----------
    first, second : str
        Ports ``body.port`` whose sections turn, each about an axis of the carrier.
    carrier : str or Ground
        Port of the body that carries both shafts.
    ratio : float
        i = Δθ₁/Δθ₂, not zero: −z₂/z₁ for external teeth, z₂/z₁ if one wheel has internal teeth.
    axis : array_like, optional
        In space the axis in the section at the first port.
    second_axis : array_like, optional
        The axis of the second shaft in its own section; the same components by default.
    carrier_axes : pair of array_like, optional
        Both axes in the section of the carrier (world axes for GROUND), e.g. for bevel gears; by default the same
        components as in the sections of the shafts.

    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; its multiplier is the torque on the first shaft [N m].

    Raises
    ------
    ValueError
        For a ratio of zero, two ports of one body, and axes of the wrong dimension.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, gear, hinge
    >>> disc = lambda mass, inertia: rigid.body(mass, inertia=inertia, ports={"centre": (0.0, 0.0)})
    >>> shafts = {"motor": disc(0.5, 6e-4), "load": disc(2.0, 0.04)}
    >>> bearings = [hinge("motor.centre", GROUND.at(0.0, 0.0)), hinge("load.centre", GROUND.at(0.25, 0.0))]
    >>> train = connect(shafts, [*bearings, gear("motor.centre", "load.centre", ratio=-4.0)])
    >>> "freedoms 1" in train.describe()
    True
    """
    i = check.number("ratio", ratio)
    if i == 0.0:
        raise ValueError(f"ratio must not be zero, got {i}: it is the angle of the first shaft over that of the second")
    refuse_equal("gear", first, second, carrier)
    axes = shaft_axes(axis, second_axis, carrier_axes)

    def make(dim: int) -> Form:
        one = turn_of(first, carrier, dim, kind="a gear", axes=axes[0])
        other = turn_of(second, carrier, dim, kind="a gear", axes=axes[1], weight=-i)
        ends = zip((first, second), shaft_directions(axes), strict=True)
        signs = tuple(Solid("wheel", port, direction) for port, direction in ends)
        return Form((coupled("ratio", one, other, unit="N m"),), signs=signs)

    return Connection("gear", (first, second, carrier), make, label=name)
