"""Railway wheel: creep of a wheel with a conical tread on a rail."""

from __future__ import annotations

from collections.abc import Sequence

from ...laws.creep_laws import CreepLaw
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, PortName, relative_angle
from ..rows.directions import fitting, unit
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Ground, Product, Vector, Weighed, between, body_port, turning
from .slipping_wheel import in_space, slip


@quantities(radius="m")
@checked
def railway_wheel(
    wheel: str,
    chassis: str,
    rail: PortName = GROUND,
    *,
    radius: float,
    conicity: float,
    creep: CreepLaw,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    across: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Railway wheel with a conical tread that creeps on a straight rail: a force element of one wheel of a wheelset.

    With a the axle and n the normal in the section of the chassis (the axle box, which does not spin), f = a × n, a₀
    the direction across the rails in the world, and θ the angle of the wheel relative to the chassis, the wheel rolls
    with a radius that changes with its place across the rail:

        r = r₀ + γ a₀·(p − p_rail),    s = (f·ṗ − r θ̇, a·ṗ),    V = f·ṗ

    γ has opposite signs for the two wheels, so that the wheel that is nearer to its flange has the larger radius. The
    force is that of the creep law against s; over a step the slips are exact increments, and its work is never
    positive. Other joints carry the wheelset and keep it level: the geometry is that of small displacements on the
    treads, without the gravitational stiffness of the contacts; wheel load and friction are part of the law.

    Parameters
    ----------
    wheel : str
        Port at the centre of the wheel, on the body that spins.
    chassis : str
        Port of the body that carries the axle and does not spin.
    rail : Ground
        Place of the rail: the wheel is in the middle of its tread where its centre lies above it.
    radius : float
        Radius r₀ [m] in the middle of the tread.
    conicity : float
        γ, the slope of the radius along the axle.
    creep : CreepLaw
        Law of creep, see :func:`flexph.laws.creep`.
    axis : array_like, optional
        Axle a in the sections of chassis and wheel; y by default.
    normal : array_like, optional
        Normal n in the section of the chassis, perpendicular to the axle; z by default.
    across : array_like, optional
        a₀, in the world; by default it has the components of ``axis``.
    name : str, optional
        Name of the element.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`; the methods ``Exact`` and ``Decaying`` integrate it.

    Raises
    ------
    ValueError
        For a radius that is not positive, a rail without a place, and in the plane.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.joints import railway_wheel
    >>> from flexph.laws import creep
    >>> kalker = creep(longitudinal=1e7, lateral=9e6, limit=2e4)
    >>> left = railway_wheel(
    ...     "set.left", "box.axle", GROUND.at(0.0, 0.75, 0.0), radius=0.45, conicity=0.05, creep=kalker
    ... )
    >>> left.name
    'railway_wheel set.left–box.axle–GROUND at (0.0, 0.75, 0.0)'
    """
    r, slope = check.positive("radius", radius, "m"), check.number("conicity", conicity)
    axle = unit("axis", (0.0, 1.0, 0.0) if axis is None else axis)
    up = None if normal is None else unit("normal", normal)
    track = axle if across is None else unit("across", across)
    body_port(chassis)
    if not isinstance(rail, Ground) or rail.position is None:
        raise ValueError(f"rail of a railway_wheel must be a place GROUND.at(x, y, z), got {rail!r}")

    def make(dim: int) -> Form:
        if dim == 2:
            raise ValueError("a railway_wheel exists in three dimensions only")
        side = fitting("axis", axle, 3)
        along, across = in_space(wheel, chassis, side, of=(up, r, None))
        place = Product(between(wheel, rail), Vector(fixed=fitting("across", track, 3)))
        angle = relative_angle(wheel, chassis, 3, (side, side))
        cone = tuple(Weighed(t.product, t.by, t.weight, t.angular, also=place) for t in turning(*angle, -slope))
        rolling = slip(((*along, *cone), across), creep, travel=along[:3])
        return Form(slips=(rolling,), signs=(Solid("wheel", wheel, side, radius=r),))

    return Connection("railway_wheel", (wheel, chassis, rail), make, label=name)
