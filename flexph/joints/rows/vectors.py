"""World vectors of bodies: what constraints and spring measures are products of.

A *body vector* is the position of a point of a body or a direction fixed in one of its sections; a *vector* is a
difference of body vectors (or a vector fixed in the world); a *product* is V·W of two vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...numerics import checks as check
from ...units.arguments import in_si

Direction = tuple[float, ...]


@dataclass(frozen=True)
class Ground:
    """The inertial frame as a port that never moves.

    ``GROUND`` itself attaches a joint wherever the port of the body is when the mechanism is assembled;
    ``GROUND.at(x, y)`` or, in space, ``GROUND.at(x, y, z)`` is a stated position [m].
    """

    misplaced: ClassVar[str] = "the first port of a joint must belong to a body; GROUND comes second"

    position: tuple[float, ...] | None = None

    def at(self, *position: float) -> Ground:
        """The ground at a position [m]."""
        return Ground(tuple(check.number("ground position", in_si("ground position", x, "m")) for x in position))

    def __str__(self) -> str:
        return "GROUND" if self.position is None else f"GROUND at {self.position}"


GROUND = Ground()
PortName = str | Ground


@dataclass(frozen=True)
class BodyVector:
    """A point of a body (direction None), or a direction fixed in the section at a port."""

    port: str
    direction: Direction | None = None


@dataclass(frozen=True)
class Vector:
    """plus − minus + fixed, in world axes."""

    plus: BodyVector | None = None
    minus: BodyVector | None = None
    fixed: Direction | None = None


@dataclass(frozen=True)
class Product:
    """V·W."""

    first: Vector
    second: Vector


@dataclass(frozen=True)
class Weighed:
    """A term w Π_by Π̇ of a constraint on velocities: over a step w Π̄_by ΔΠ, its force acts on Π alone.

    Where it is ``angular``, over ρ² = Π² + Π_by²: one of the two terms of an angle, see :func:`turning`.
    """

    product: Product
    by: Product
    weight: float = 1.0
    angular: bool = False


@dataclass(frozen=True)
class Turn:
    """A term a·Ω of a constraint on velocities: Ω the world spin of the body of a port, a fixed in the world (s,)."""

    port: str
    axis: Direction


def turning(sine: Product, cosine: Product, weight: float) -> tuple[Weighed, Weighed]:
    """The terms of w θ̇ with θ of this sine and cosine: over a step w Δθ, counted on over any number of turns."""
    return Weighed(sine, cosine, weight, angular=True), Weighed(cosine, sine, -weight, angular=True)


def body_port(first: PortName) -> str:
    """The first port of a joint, which must belong to a body."""
    if isinstance(first, Ground):
        raise ValueError("the first port of a joint must belong to a body; GROUND comes second")
    return first


def between(first: PortName, second: PortName) -> Vector:
    """The vector from the second port to the first; bare GROUND counts as the origin."""
    first = body_port(first)
    if isinstance(second, Ground):
        at = second.position
        return Vector(plus=BodyVector(first), fixed=None if at is None else tuple(-x for x in at))
    return Vector(plus=BodyVector(first), minus=BodyVector(second))


def along(port: PortName, direction: Direction) -> Vector:
    """A direction fixed in the section at a port, or in the world."""
    return Vector(fixed=direction) if isinstance(port, Ground) else Vector(plus=BodyVector(port, direction))
