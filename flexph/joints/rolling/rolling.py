"""Rolling without slip: a disc that is free to tilt, an upright wheel, and a knife edge, which moves along its edge."""

from collections.abc import Sequence

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, Row
from ..rows.laws import Contact, Rolling
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Direction, Ground, PortName, Product, Vector, Weighed, along, between, fitting, unit
from ..rows.vectors import axis as world_axis
from .ground_plane import Plane, given_normal, on_ground, on_surface, plane, rolling_names


@quantities(radius="m")
@checked
def rolling_disc(
    port: str,
    ground: PortName = GROUND,
    *,
    radius: float,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Thin disc that rolls without slip on the ground and is free to tilt; the port is its centre.

    In space let p be the centre, R the rotation of the disc, Ω its spin, r the radius, n the normal of the ground, e =
    R ``axis`` the axis of the disc in the world and s = |n × e|. The disc touches the ground at ``−r u`` from its
    centre, with ``u = (n − (n·e) e)/s``, at the height ``n·p = r s``. The contact does not slip along either tangent t:

        0 = s t·(ṗ + Ω × (−r u)) = (n·p/r) t·ṗ − r (n × t)·Ω + r (n·e) t·ė,    0 = ½((n·p)²/r + r (n·e)² − r).

    These are polynomials with exact increments, so that the height does not drift; the multipliers times s are the
    forces of the ground [N]. A disc that lies flat, s = 0, has no contact point: such a start raises ValueError, and a
    run ends when the disc lies flat. In two dimensions, seen from the side, the equations are ``0 = t·ṗ + r ω`` with t
    the normal turned by −90°, and ``n·p = r``; the plane may then belong to a moving body, with p and ω relative to
    this body.

    Parameters
    ----------
    port : str
        Centre of the disc; the section there must not turn relative to its body.
    ground : str or Ground
        Position of the plane on which it rolls: a place of the ground, in two dimensions also a port of a body.
    radius : float
        Radius r [m].
    axis : array_like, optional
        Axis of the disc in the axes of the section; in space only.
    normal : array_like, optional
        Unit normal n of the plane, in world axes or, on a body, in the axes of its section; by default y in two
        dimensions and z in space.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    floor, size, upward = (
        on_surface(port, ground),
        check.positive("radius", radius, "m"),
        given_normal(normal),
    )
    across = None if axis is None else unit("axis", axis)

    def make(dim: int) -> Form:
        on = plane(port, floor, upward, dim)
        if dim == 2:
            if across is not None:
                raise ValueError(
                    "a rolling_disc has no axis in the plane, where it is seen from the side: leave axis= out"
                )
            return Form((*on.rolling(size), on.level(size)), signs=(Solid("wheel", port, radius=size),))
        if not isinstance(floor, Ground):
            raise ValueError(f"a rolling_disc that may tilt rolls on GROUND, got {floor!r}: a wheel rolls on a body")
        if across is None:
            raise ValueError("a rolling_disc needs axis=(x, y, z) in space, in the axes of the port's section")
        direction = fitting("axis", across, 3)
        return Form(_tilting(on, direction, size), signs=(Solid("wheel", port, direction, radius=size),))

    return Connection("rolling_disc", (port, floor), make, label=name)


def _tilting(on: Plane, axis: Direction, radius: float) -> tuple[Row, ...]:
    turned = along(on.port, axis)
    tilt = Product(turned, Vector(fixed=on.normal))
    rows = [Row("height", Contact(on.height, tilt, radius))]
    for name, t in zip(rolling_names(3), on.tangents, strict=True):
        moved = Weighed(on.place(t), on.height, 1.0 / radius)
        leaned = Weighed(Product(turned, Vector(fixed=t)), tilt, radius)
        rows.append(Row(name, Rolling((moved, leaned), (on.turn(t, radius),))))
    return tuple(rows)


@checked
def knife_edge(
    port: str, ground: PortName = GROUND, *, axis: Sequence[float] = (0.0, 1.0), name: str | None = None
) -> Connection:
    """Knife edge: the port does not move along a direction a fixed in its section, ``0 = (R a)·ṗ``; nonholonomic.

    R is the rotation of the section and p the position of the port. In space the edge forbids one direction only (a
    skate may still jump). Over a step ``(R a)‾·Δp = 0`` with the mean of R a at both ends of the step; the constraint
    force along this mean direction does no work. The multiplier is the force across the edge [N].

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    ground : str or Ground
        Plane on which the edge stands.
    axis : array_like
        a, the direction across the edge in the axes of the section; in space it has three components.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    across, floor = unit("axis", axis), on_ground("knife_edge", port, ground)

    def make(dim: int) -> Form:
        direction = fitting("axis", across, dim)
        return Form((no_motion_along(port, floor, direction),), signs=(Solid("blade", port, direction),))

    return Connection("knife_edge", (port, floor), make, label=name)


def no_motion_along(port: str, ground: Ground, direction: Direction) -> Row:
    """Constraint row ``0 = (R a)·ṗ``: no velocity of the port p along a direction a fixed in its section R.

    It is written as a sum over the world axes.
    """
    place, turned = between(port, ground), along(port, direction)
    axes = [Vector(fixed=world_axis(i, len(direction))) for i in range(len(direction))]
    return Row("across", Rolling(tuple(Weighed(Product(place, e), Product(turned, e)) for e in axes)))


@quantities(radius="m")
@checked
def wheel(
    port: str,
    ground: PortName = GROUND,
    *,
    radius: float | None = None,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    height: bool = True,
    name: str | None = None,
) -> Connection:
    """Upright wheel, or ball, that rolls without slip; the port is its centre, on the body that spins.

    In two dimensions, seen from above, the wheel does not slip along its axle, ``0 = (R a)·ṗ``; its rolling is not part
    of the motion, and no radius is given.

    In space the point below the centre does not slip on the plane through the ground's position with the unit normal n,
    ``0 = t·(ṗ + Ω × (−r n))`` for both tangents t, and with ``height`` the centre stays at ``n·p = r``. Other joints
    must hold the axle parallel to the plane, so that no axis is given (a disc that may tilt is ``rolling_disc``); a
    ball needs no such joint. On a vehicle with four wheels one height is redundant, and on a common axle one of the
    sideways rows: set ``height=False`` where the vehicle holds the height, or let ``redundant="least_norm"`` share the
    forces. Multipliers are the forces of the ground on the wheel [N].

    The plane may belong to a body that keeps its normal, such as a turntable or a carriage: p and Ω are then relative
    to that body, and the reaction acts on it. A run ends when the body tilts.

    Parameters
    ----------
    port : str
        Centre of the wheel, on the body that spins.
    ground : str or Ground
        Position of the plane on which the wheel rolls: one of the ground, in space also a port of a body.
    radius : float, optional
        Radius r [m], in space only.
    axis : array_like, optional
        Axle a in the axes of the section, in two dimensions only; by default (0, 1).
    normal : array_like, optional
        Unit normal n of the plane, in space only; on a body its components in the section must be those in the world.
        By default z.
    height : bool
        True if the wheel holds the height of its centre.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    floor, upward = on_surface(port, ground), given_normal(normal)
    across = None if axis is None else unit("axis", axis)
    size = None if radius is None else check.positive("radius", radius, "m")

    def make(dim: int) -> Form:
        if dim == 2:
            if size is not None or upward is not None:
                raise ValueError(
                    "a wheel in the plane is seen from above and has no radius and no normal: leave them out"
                )
            axle = fitting("axis", across or (0.0, 1.0), 2)
            return Form(
                (no_motion_along(port, on_ground("wheel", port, floor), axle),), signs=(Solid("wheel", port, axle),)
            )
        if across is not None:
            raise ValueError("a wheel has no axis in space, where other joints hold its axle parallel to the ground")
        if size is None:
            raise ValueError("a wheel needs radius=... [m] in space")
        on = plane(port, floor, upward, dim)
        rows = (*on.rolling(size), on.level(size)) if height else on.rolling(size)
        return Form(rows, signs=(Solid("ball", port),))

    return Connection("wheel", (port, floor), make, label=name)
