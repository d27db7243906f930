"""Slipping wheels (plain, mecanum, tyres, railway): friction or creep force against the slip at the contact."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...laws.creep_laws import CreepLaw
from ...laws.resistive_relations import Relation
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, Row, Slip, relative_angle
from ..rows.signs import Solid
from ..rows.vectors import (
    GROUND,
    Direction,
    Ground,
    PortName,
    Product,
    Vector,
    Weighed,
    along,
    between,
    body_port,
    fitting,
    turning,
    unit,
)
from ..rows.vectors import axis as world_axis
from .ground_plane import Plane


@quantities(radius="m", roller="rad")
@checked
def slipping_wheel(
    wheel: str,
    chassis: PortName = GROUND,
    *,
    radius: float,
    friction: Relation | CreepLaw,
    axis: Sequence[float] | None = None,
    normal: Sequence[float] | None = None,
    roller: float | None = None,
    ground: PortName | None = None,
    ground_normal: Sequence[float] | None = None,
    contact: str | None = None,
    name: str | None = None,
) -> Connection:
    """Wheel with friction against its slip on the ground: a force element (:func:`flexph.joints.wheel` forbids slip).

    With a the axle, n the normal of the ground, f = a × n and θ the angle of the wheel relative to the chassis, the
    point of contact has the velocity s and the force

        s = (f·ṗ − r θ̇) f + (a·ṗ) a,    force −ρ(|s|) s/|s|

    for a wheel that grips along and across. The rollers of a mecanum wheel turn freely about e = cos γ a + sin γ f:
    then s = e·ṗ − r sin γ θ̇, with a force along e alone. A creep law is that of a tyre or of a wheel on a rail: its
    force depends on the slip relative to the rolling speed f·ṗ (:func:`flexph.laws.creep`). Over a step slips are exact
    increments, so that friction always dissipates; the ledger shows its loss under the name of the element. Other
    joints must hold the wheel on the chassis and the chassis level; the wheel load N is part of the relation,
    ``coulomb(μN, speed=...)``.

    A wheel on soft ground has a compliant ``contact`` without friction, such as a ball or a rim on a plane: its mean
    normal force N over a step limits the friction of ``creep(..., friction=μ)``. A wheel that has left the ground has
    no friction.

    With a ``ground`` instead of a contact, a constraint keeps the centre of the wheel at the height ``n·p = r``, and
    its multiplier N, the wheel load, limits the friction of a creep law: ``creep(..., friction=μ)`` saturates at μN,
    and has no force while N pulls. With a ground and with a contact, forces act at the point of contact: in space s has
    the spin θ̇ + α̇ of the wheel and the roll of the chassis, with the pitch α and the roll β of the chassis against
    the ground,

        s = (f·ṗ − r (θ̇ + α̇)) f + (a·ṗ + r β̇) a

    Parameters
    ----------
    wheel : str
        Port ``body.port`` at the centre of the wheel.
    chassis : str or Ground
        Port of the body that carries the wheel; axle and normal are fixed in its section.
    radius : float
        Radius r [m].
    friction : Relation or CreepLaw
        ρ, the force [N] against the slip velocity [m/s] (:func:`flexph.laws.coulomb`, :func:`flexph.laws.viscous`), or
        a law of creep (:func:`flexph.laws.creep`, :func:`flexph.laws.magic_formula`).
    axis : array_like, optional
        Axle a in the sections of chassis and wheel; y by default, in space only.
    normal : array_like, optional
        Normal n in the section of the chassis, perpendicular to the axle; by default z, and y in two dimensions (seen
        from the side).
    roller : float, optional
        Roller angle γ [rad] of a mecanum wheel, usually ±π/4; None for a wheel without rollers.
    ground : Ground, optional
        Position of the ground on which the wheel stands, for a creep law with ``friction=μ``.
    ground_normal : array_like, optional
        Normal of the ground in the world, by default with the components of ``normal``.
    contact : str, optional
        Name of the compliant contact of the wheel with its ground that gives its load, in place of ``ground``.
    name : str, optional
        Name of the element.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`; the methods ``Exact`` and ``Decaying`` integrate it.

    Raises
    ------
    ValueError
        For a radius that is not positive, an axle that is not perpendicular to the normal, rollers in the plane,
        rollers with a creep law, a ground or contact without a creep law that depends on the wheel load, and such a law
        without a ground or contact; on connecting, for a contact that is unknown, rigid or has friction.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.laws import coulomb
    >>> from flexph.joints import slipping_wheel
    >>> slipping_wheel("wheel.centre", "robot.axle", radius=0.05, friction=coulomb(12.0, speed=1e-3)).name
    'slipping_wheel wheel.centre–robot.axle'
    """
    r = check.positive("radius", radius, "m")
    angle = None if roller is None else check.number("roller", roller)
    axle = None if axis is None else unit("axis", axis)
    up = None if normal is None else unit("normal", normal)
    if angle is not None and isinstance(friction, CreepLaw):
        raise ValueError(f"a wheel with rollers takes a Relation for its friction, got {friction}")
    check_load("friction", friction, ground, contact)
    level = up if ground_normal is None else unit("ground_normal", ground_normal)

    def make(dim: int) -> Form:
        if dim == 2:
            if axle is not None or angle is not None:
                raise ValueError("a wheel in the plane, seen from the side, takes neither axis nor roller")
            if isinstance(friction, CreepLaw) and friction.spins:
                raise ValueError(f"a wheel in the plane, seen from the side, has no spin, got {friction}")
            if not isinstance(chassis, Ground):
                raise ValueError(f"a wheel in the plane, seen from the side, slips against GROUND, got {chassis!r}")
            n = (0.0, 1.0) if up is None else fitting("normal", up, 2)
            along_ground = (component(wheel, chassis, (n[1], -n[0]), turns=(r, None)),)
            return Form(
                rows=height(wheel, ground, fitting("ground_normal", level or n, 2), r),
                slips=(slip(along_ground, friction, travel=along_ground[0][:2], contact=contact),),
                signs=(Solid("wheel", wheel, radius=r),),
            )
        side = (0.0, 1.0, 0.0) if axle is None else fitting("axis", axle, 3)
        slips = in_space(wheel, chassis, side, of=(up, r, angle))
        spins = isinstance(friction, CreepLaw) and friction.spins
        turned = (spin(chassis, side, up),) if spins else ()
        if ground is not None or contact is not None:
            upright = fitting("ground_normal", level or (0.0, 0.0, 1.0), 3)
            slips = tuple(a + b for a, b in zip(slips, tilts(chassis, side, (up, upright), r), strict=True))
        rolling = slip((*slips, *turned), friction, travel=slips[0][:3], contact=contact)
        rows = height(wheel, ground, fitting("ground_normal", level or (0.0, 0.0, 1.0), 3), r)
        return Form(rows, slips=(rolling,), signs=(Solid("wheel", wheel, side, radius=r),))

    return Connection("slipping_wheel", (wheel, chassis), make, label=name)


def check_load(name: str, law: Relation | CreepLaw, ground: PortName | None, contact: str | None) -> None:
    """Raise ValueError if a law depends on the wheel load and nothing gives the load, or the other way round.

    The load is given by a ``ground`` or a ``contact``; ``name`` is that of the argument with the law.
    """
    by_load = isinstance(law, CreepLaw) and law.by_load
    if ground is not None and contact is not None:
        raise ValueError(f"give ground or contact, as both define the wheel load, got ground and contact={contact!r}")
    if by_load and ground is None and contact is None:
        raise ValueError(
            f"{name} by the wheel load needs ground=GROUND.at(...) on which the wheel stands, or the name of its "
            f"contact, got {law}"
        )
    if not by_load and (ground is not None or contact is not None):
        given = "ground" if contact is None else "contact"
        raise ValueError(f"{name} of a wheel with {given}= must be creep(..., friction=μ), got {law}: or omit {given}=")
    if ground is not None and not (isinstance(ground, Ground) and ground.position):
        raise ValueError(f"ground of a slipping_wheel must be a place GROUND.at(...), got {ground!r}")


def height(wheel: str, ground: PortName | None, normal: Direction, radius: float) -> tuple[Row, ...]:
    """Constraint rows that hold the centre of a wheel at its radius [m] over the ground; no rows without a ground."""
    return () if ground is None else (Plane(wheel, ground, normal).level(radius),)


def slip(
    components: tuple[tuple[Weighed, ...], ...],
    friction: Relation | CreepLaw,
    *,
    travel: tuple[Weighed, ...],
    contact: str | None = None,
) -> Slip:
    """Slip of a wheel with the given velocity ``components``, and its friction law.

    A creep law has the rolling speed ``travel`` as an additional last component, and may depend on the wheel load: that
    of the ``contact`` or, without one, the multiplier of the element's first constraint row.
    """
    if not isinstance(friction, CreepLaw):
        return Slip(components, friction)
    return Slip((*components, travel), friction, 0 if friction.by_load and contact is None else None, contact)


def in_space(
    wheel: str, chassis: PortName, side: Direction, *, of: tuple[Direction | None, float, float | None]
) -> tuple[tuple[Weighed, ...], ...]:
    """Components of the slip of a wheel in space, each as a sum of terms: along and across the wheel.

    A wheel with rollers has one component, along their axes. ``side`` is the axle, ``of`` are the normal, the radius
    and the roller angle.
    """
    up, r, roller = of
    n = (0.0, 0.0, 1.0) if up is None else fitting("normal", up, 3)
    if abs(float(np.dot(side, n))) > 1e-9:
        raise ValueError(f"axis must be perpendicular to the normal of the ground, got {side} and {n}")
    forward = np.cross(side, n)
    if roller is not None:
        e = math.cos(roller) * np.array(side) + math.sin(roller) * forward
        return (component(wheel, chassis, tuple(e.tolist()), turns=(-r * math.sin(roller), side)),)
    first = component(wheel, chassis, tuple(forward.tolist()), turns=(-r, side))
    return first, component(wheel, chassis, side, turns=(0.0, side))


def tilts(
    chassis: PortName, side: Direction, normals: tuple[Direction | None, Direction], radius: float
) -> tuple[tuple[Weighed, ...], tuple[Weighed, ...]]:
    """Contributions −r α̇ and r β̇ of pitch α and roll β of a chassis to the slip of a wheel, each as a sum of terms.

    ``side`` is the axle, ``normals`` are those of the chassis and of the ground, ``radius`` is r. Both are empty if
    the ``chassis`` is the ground.
    """
    if isinstance(chassis, Ground):
        return (), ()
    up, ground = normals
    n, fixed = (0.0, 0.0, 1.0) if up is None else fitting("normal", up, 3), Vector(fixed=ground)
    back = tuple(np.cross(n, side).tolist())
    cosine = Product(along(chassis, n), fixed)
    pitch, roll = (Product(along(chassis, direction), fixed) for direction in (back, side))
    return turning(pitch, cosine, -radius), turning(roll, cosine, radius)


def spin(chassis: PortName, side: Direction, up: Direction | None) -> tuple[Weighed, ...]:
    """Rate ω·n = a·ḟ at which a chassis turns about the normal n, as a sum of terms.

    a = ``side`` is the axle, n = ``up`` by default z, and f = a × n, all fixed in the chassis.
    """
    if isinstance(chassis, Ground):
        raise ValueError("a creep law with spin needs a chassis that turns about the normal, got GROUND")
    n = (0.0, 0.0, 1.0) if up is None else fitting("normal", up, 3)
    forward, across = along(chassis, tuple(np.cross(side, n).tolist())), along(chassis, side)
    axes = [Vector(fixed=world_axis(i, 3)) for i in range(3)]
    return tuple(Weighed(Product(forward, e), Product(across, e)) for e in axes)


def component(
    wheel: str, chassis: PortName, direction: Direction, *, turns: tuple[float, Direction | None]
) -> tuple[Weighed, ...]:
    """Component ``d·ṗ + w θ̇`` of the slip of a wheel, as a sum of terms.

    p is the port of the wheel, d = ``direction`` is fixed in the chassis, θ is the angle of the wheel relative to the
    chassis. ``turns`` are w and the axle.
    """
    dim, place, turned = len(direction), between(wheel, GROUND), along(chassis, direction)
    axes = [Vector(fixed=world_axis(i, dim)) for i in range(dim)]
    terms = tuple(Weighed(Product(place, e), Product(turned, e)) for e in axes)
    weight, axle = turns
    if not weight:
        return terms
    angle = relative_angle(wheel, chassis, dim, None if axle is None else (axle, axle))
    return (*terms, *turning(*angle, weight))


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

        r = r₀ + γ a₀·(p − p_rail),    s = (f·ṗ − r θ̇, a·ṗ),    V = f·ṗ,    spin  ω·n − γ θ̇

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
        Position of the rail. Where the centre of the wheel is above it, the wheel touches the rail with the middle of
        its tread.
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
        For a radius that is not positive, a rail without a place, in the plane, and for a creep law that depends on
        the wheel load, which this element does not compute: give ``limit=μN``.

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
    if creep.by_load:
        raise ValueError(f"a railway_wheel does not carry its load: give creep(..., limit=μN), got {creep}")
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
        turned = ((*spin(chassis, side, up), *turning(*angle, -slope)),) if creep.spins else ()
        rolling = slip(((*along, *cone), across, *turned), creep, travel=along[:3])
        return Form(slips=(rolling,), signs=(Solid("wheel", wheel, side, radius=r),))

    return Connection("railway_wheel", (wheel, chassis, rail), make, label=name)
