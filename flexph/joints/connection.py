"""What joints and force elements are made of: world vectors of bodies and products of two of them.

A *place* is a point of a body or a direction fixed in one of its sections; a *vector* is a difference of places (or a
vector fixed in the world); a *product* is V·W of two vectors. Constraints and spring measures are functions of
products: their increments over a step are then exact, and both momenta are kept ([dg] sec. 6.3, invariants).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import checks as check

TimeFunction = Callable[[float], float]
Direction = tuple[float, ...]


@dataclass(frozen=True)
class Ground:
    """The inertial frame as a port that never moves.

    ``GROUND`` itself attaches a joint wherever the port of the body is when the mechanism is assembled;
    ``GROUND.at(x, y)`` is a stated position [m].
    """

    position: tuple[float, ...] | None = None

    def at(self, *position: float) -> Ground:
        """The ground at a position [m]."""
        return Ground(tuple(check.number("ground position", x) for x in position))

    def __str__(self) -> str:
        return "GROUND" if self.position is None else f"GROUND at {self.position}"


GROUND = Ground()
PortName = str | Ground


@dataclass(frozen=True)
class Place:
    """A point of a body (direction None), or a direction fixed in the section at a port."""

    port: str
    direction: Direction | None = None


@dataclass(frozen=True)
class Vector:
    """plus − minus + fixed, in world axes."""

    plus: Place | None = None
    minus: Place | None = None
    fixed: Direction | None = None


@dataclass(frozen=True)
class Product:
    """V·W."""

    first: Vector
    second: Vector


@dataclass(frozen=True)
class Offset:
    """The law ``0 = Π − κ``: κ a number, a function of time, or None for the value at the assembled pose."""

    product: Product
    value: float | TimeFunction | None = 0.0


@dataclass(frozen=True)
class Angle:
    """The law ``0 = s cos θ − c sin θ`` with s, c the products that are sine and cosine of an angle.

    θ [rad] a number, a function of time, or None for the angle at the assembled pose.
    """

    sine: Product
    cosine: Product
    value: float | TimeFunction | None = None


@dataclass(frozen=True)
class Length:
    """The law ``0 = (V·V/L − L)/2``, scaled so that its multiplier is the tension [N]. L [m] or None: as assembled."""

    product: Product
    value: float | None = None


Law = Offset | Angle | Length


@dataclass(frozen=True)
class Row:
    """One scalar constraint of a joint: what it fixes, its law, the unit of its multiplier."""

    name: str
    law: Law
    unit: str = "N"


@dataclass(frozen=True)
class Measure:
    """What a spring-damper feels: the length √Π of a vector, or an angle given by its sine and cosine.

    ``free`` is the length [m] or angle [rad] without force, None for that at the assembled pose.
    """

    products: tuple[Product, ...]
    stiffness: float
    damping: float
    free: float | None


@dataclass(frozen=True)
class Input:
    """An external port: ``force`` (world axes, at a point), ``torque``, or ``load`` (per length, on a load port)."""

    kind: str
    port: str


@dataclass(frozen=True)
class Connection:
    """A joint or force element between two ports, ready for :func:`flexph.connect`."""

    kind: str
    ports: tuple[PortName, ...]
    rows: tuple[Row, ...] = ()
    measure: Measure | None = None
    input: Input | None = None
    label: str | None = None

    @property
    def name(self) -> str:
        """A name that says what it is and where, e.g. ``hinge crank.tip–rod.root``."""
        return self.label or f"{self.kind} {'–'.join(map(str, self.ports))}"

    @property
    def is_driven(self) -> bool:
        """Whether time enters its constraints."""
        return any(not isinstance(row.law, Length) and callable(row.law.value) for row in self.rows)


def axis(index: int) -> Direction:
    """Unit direction of the plane."""
    return (1.0, 0.0) if index == 0 else (0.0, 1.0)


def perpendicular(direction: Direction) -> Direction:
    """A direction of the plane turned by +90°."""
    return (-direction[1], direction[0])


def _body_first(first: PortName) -> str:
    if isinstance(first, Ground):
        raise ValueError("the first port of a joint must belong to a body; GROUND comes second")
    return first


def between(first: PortName, second: PortName) -> Vector:
    """The vector from the second port to the first; bare GROUND counts as the origin."""
    first = _body_first(first)
    if isinstance(second, Ground):
        at = second.position
        return Vector(plus=Place(first), fixed=None if at is None else tuple(-x for x in at))
    return Vector(plus=Place(first), minus=Place(second))


def along(port: PortName, direction: Direction) -> Vector:
    """A direction fixed in the section at a port, or in the world."""
    return Vector(fixed=direction) if isinstance(port, Ground) else Vector(plus=Place(port, direction))


def offset_at(second: PortName) -> float | None:
    """Offset of a position constraint: zero, or as assembled where the ground is not placed."""
    return None if second == GROUND else 0.0


def coincidence(first: PortName, second: PortName) -> tuple[Row, ...]:
    """Both ports at one point: two rows, world axes."""
    gap = between(first, second)
    return tuple(Row("xy"[i], Offset(Product(gap, Vector(fixed=axis(i))), offset_at(second))) for i in range(2))


def relative_angle(first: PortName, second: PortName) -> tuple[Product, Product]:
    """Sine and cosine of the angle of the first section relative to the second."""
    _body_first(first)
    x = along(first, axis(0))
    return Product(x, along(second, axis(1))), Product(x, along(second, axis(0)))


def ordered_springs(connections: Sequence[Connection]) -> list[Connection]:
    """Spring-dampers in the order of the kernels: lengths first, then angles."""
    with_measure = [c for c in connections if c.measure is not None]
    return sorted(with_measure, key=lambda c: len(c.measure.products) if c.measure else 0)
