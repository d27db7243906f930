"""Transmissions, which couple two joint coordinates in a constant ratio: gears, belts, racks, coupled joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .rows.connection import Connection, Form, Row, planar_or_about
from .rows.laws import Transmission
from .rows.signs import Solid
from .rows.vectors import (
    GROUND,
    Axes,
    Direction,
    PortName,
    Product,
    Vector,
    Weighed,
    along,
    between,
    fitting,
    turning,
    unit,
    unit_axes,
)

Directions = Sequence[Sequence[float]]


def shaft_axes(
    axis: Sequence[float] | None, second_axis: Sequence[float] | None, carrier_axes: Directions | None
) -> tuple[Axes | None, Axes | None]:
    """Axes of two shafts, from what a user gave: for each shaft its axis in its own section and in that of the carrier.

    The results of both shafts are None without ``axis``, as in the plane.
    """
    if axis is None:
        if second_axis is not None or carrier_axes is not None:
            raise ValueError(
                "second_axis and carrier_axes were given without axis: give axis=(x, y, z), too (in space only)"
            )
        return None, None
    first = unit("axis", axis)
    second = first if second_axis is None else unit("second_axis", second_axis)
    if carrier_axes is None:
        return (first, first), (second, second)
    if len(carrier_axes) != 2:
        raise ValueError(f"carrier_axes must be two directions, one for each shaft, got {len(carrier_axes)}")
    directions = [unit("carrier_axes", direction) for direction in carrier_axes]
    return (first, directions[0]), (second, directions[1])


def turn_of(
    port: str, carrier: PortName, dim: int, *, kind: str, axes: Axes | None, weight: float = 1.0
) -> tuple[Weighed, Weighed]:
    """Two constraint terms whose sum is w θ̇, with w = ``weight``; in space they are about ``axes``.

    θ is the angle of the section at ``port`` relative to that at ``carrier``.
    """
    sine, cosine = planar_or_about(port, carrier, dim, kind=kind, axes=axes)
    return turning(sine, cosine, weight)


def coupled(name: str, *terms: tuple[Weighed, ...], unit: str = "N") -> Row:
    """Constraint row of a transmission: the sum of weighted increments, ``terms``, stays zero."""
    return Row(name, Transmission(tuple(term for of_shaft in terms for term in of_shaft)), unit)


def refuse_equal(kind: str, *ports: PortName) -> None:
    """Raise ValueError, with the kind of the joint, if two of the ports are on the same body."""
    bodies = [port.partition(".")[0] if isinstance(port, str) else port for port in ports]
    for i, body in enumerate(bodies):
        if body in bodies[:i]:
            first, same = ports[bodies.index(body)], ports[i]
            raise ValueError(f"a {kind} joins different bodies, got {first!r} and {same!r} of {body!r}")


def shaft_directions(axes: tuple[Axes | None, Axes | None]) -> tuple[Direction | None, Direction | None]:
    """Axis of each shaft in its own section, for pictures; None in the plane."""
    return tuple(None if axis_pair is None else axis_pair[0] for axis_pair in axes)  # type: ignore[return-value]


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
    """Gear pair: two shafts turn in a constant ratio i, ``0 = Δθ₁ − i Δθ₂``, counted from the assembled pose.

    Both angles are relative to a carrier, over any number of turns. Their increments Δθ are exact in every step, so
    that the ratio does not drift. The torques on the shafts, λ and −iλ with the multiplier λ, together do no work. In a
    planetary gear, sun and ring are each geared to the planet with the arm as carrier. Hinges must hold the shafts; a
    gear does not.

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


@quantities(radii="m")
@checked
def belt(
    first: str,
    second: str,
    carrier: PortName = GROUND,
    *,
    radii: Sequence[float],
    crossed: bool = False,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    carrier_axes: Directions | None = None,
    name: str | None = None,
) -> Connection:
    """Belt over two pulleys, or chain over two sprockets, without slip and stretch: ``0 = r₁ Δθ₁ ∓ r₂ Δθ₂``.

    Both angles are relative to the carrier. A belt is a :func:`flexph.gear` with i = ±r₂/r₁.

    Parameters
    ----------
    first, second : str
        Ports ``body.port`` of the pulleys.
    carrier : str or Ground
        Port of the body that carries both pulleys.
    radii : sequence of float
        Radii r₁ and r₂ [m], or numbers of teeth.
    crossed : bool
        True for a crossed belt: the pulleys then turn in opposite senses.
    axis, second_axis, carrier_axes : array_like, optional
        In space the axes, as for :func:`flexph.gear`.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; its multiplier is the torque on the first pulley [N m].

    Raises
    ------
    ValueError
        For radii that are not positive, and as for :func:`flexph.gear`.
    """
    if len(radii) != 2:
        raise ValueError(f"radii must be two numbers, one for each pulley, got {len(radii)}")
    r1, r2 = (check.positive(f"radii[{k}]", r, "m") for k, r in enumerate(radii))
    ratio = -r2 / r1 if crossed else r2 / r1
    meshed = gear(
        first, second, carrier, ratio=ratio, name=name, axis=axis, second_axis=second_axis, carrier_axes=carrier_axes
    )
    return replace(meshed, kind="belt")


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

    The rack moves with the pitch circle of the pinion. s = d·(p_rack − p_housing) is its displacement along a direction
    of the housing, θ the angle of the pinion relative to the housing, over any number of turns. The increments of both
    are exact in every step, so that they do not drift apart. A slider and a hinge must hold the parts. A rope on a drum
    that lifts a load has the same constraint.

    Parameters
    ----------
    rack : str
        Port ``body.port`` of the rack.
    pinion : str
        Port ``body.port`` of the pinion.
    housing : str or Ground
        Port of the body that carries rack and pinion, or a position of the ground.
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


class Turning(NamedTuple):
    """Joint coordinate: the angle [rad] of the section at a port relative to the section of its carrier."""

    port: str
    carrier: PortName
    axes: Axes

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """Terms of ``weight`` times the rate of the angle, in 2 or 3 dimensions."""
        return turn_of(self.port, self.carrier, dim, kind="a gear", axes=self.axes, weight=weight)


class Sliding(NamedTuple):
    """Joint coordinate: the offset [m] of a port from a port of its carrier, along a direction of the section there."""

    port: str
    carrier: PortName
    direction: Direction

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """Terms of ``weight`` times the rate of the offset, in 2 or 3 dimensions."""
        one = Vector(fixed=self.direction)
        offset = Product(between(self.port, self.carrier), along(self.carrier, self.direction))
        return (Weighed(offset, Product(one, one), weight),)


def coupled_joints(
    first: Turning | Sliding, second: Turning | Sliding | None, *, ratio: float = 0.0, name: str
) -> Connection:
    """Couple two joint coordinates by ``0 = Δq₁ − i Δq₂``, counted from the assembled pose.

    Without a ``second`` coordinate the first one is constant, ``0 = Δq₁``.

    The rows are those of :func:`flexph.gear`, but each coordinate has its own carrier. The multiplier is the torque [N
    m] or force [N] on the first coordinate.
    """
    both = [(first, 1.0)] if second is None else [(first, 1.0), (second, -ratio)]
    signs = tuple(
        Solid("wheel", coupling.port, coupling.axes[0]) for coupling, _ in both if isinstance(coupling, Turning)
    )

    def make(dim: int) -> Form:
        terms = [coupling.terms(dim, weight) for coupling, weight in both]
        return Form((coupled("ratio", *terms, unit="N m" if isinstance(first, Turning) else "N"),), signs=signs)

    ports = (*(coupling.port for coupling, _ in both), *(coupling.carrier for coupling, _ in both))
    return Connection("gear", ports, make, label=name)
