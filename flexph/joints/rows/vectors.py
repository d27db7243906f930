"""World vectors of bodies; constraints and spring measures are functions of their products.

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
    """The inertial frame, as a port that never moves.

    ``GROUND`` itself attaches a joint at the position that the port of the body has in the assembled pose;
    ``GROUND.at(x, y)`` or, in space, ``GROUND.at(x, y, z)`` is a given position [m].
    """

    misplaced: ClassVar[str] = "the first port of a joint must belong to a body; GROUND comes second"

    position: tuple[float, ...] | None = None

    def at(self, *position: float) -> Ground:
        """Port of the ground at a position [m]."""
        return Ground(tuple(check.number("ground position", in_si("ground position", x, "m")) for x in position))

    def __str__(self) -> str:
        return "GROUND" if self.position is None else f"GROUND at {self.position}"


GROUND = Ground()
PortName = str | Ground


@dataclass(frozen=True)
class BodyVector:
    """Position of a port (direction None), or a direction fixed in the section at a port."""

    port: str
    direction: Direction | None = None


@dataclass(frozen=True)
class Vector:
    """World vector ``plus − minus + fixed``."""

    plus: BodyVector | None = None
    minus: BodyVector | None = None
    fixed: Direction | None = None


@dataclass(frozen=True)
class Product:
    """Scalar product V·W of two world vectors."""

    first: Vector
    second: Vector


@dataclass(frozen=True)
class Weighed:
    """Weighted term w Π_by Π̇ of a constraint on velocities; over a step w Π̄_by ΔΠ, with the mean of Π_by.

    Its force acts on Π alone. An ``angular`` term is divided by ρ² = Π² + Π_by²: one of the two terms of an angle, see
    :func:`turning`. In terms of slips the weight may have a further factor, the mean of the product ``also``.
    """

    product: Product
    by: Product
    weight: float = 1.0
    angular: bool = False
    also: Product | None = None


@dataclass(frozen=True)
class Turn:
    """Term a·Ω of a constraint on velocities: Ω the world spin of the body of a port, a (s,) fixed in the world."""

    port: str
    axis: Direction


def turning(sine: Product, cosine: Product, weight: float) -> tuple[Weighed, Weighed]:
    """Pair of terms that make up w θ̇, for an angle θ given by two products proportional to its sine and cosine.

    Over a step the terms add up to exactly w Δθ if |Δθ| < π; over a run θ may make any number of turns.
    """
    return Weighed(sine, cosine, weight, angular=True), Weighed(cosine, sine, -weight, angular=True)


def body_port(first: PortName) -> str:
    """Return the first port of a joint; raises ValueError unless it belongs to a body."""
    if isinstance(first, Ground):
        raise ValueError("the first port of a joint must belong to a body; GROUND comes second")
    return first


def between(first: PortName, second: PortName) -> Vector:
    """Vector from the second port to the first; GROUND without a position counts as the origin."""
    first = body_port(first)
    if isinstance(second, Ground):
        at = second.position
        return Vector(plus=BodyVector(first), fixed=None if at is None else tuple(-x for x in at))
    return Vector(plus=BodyVector(first), minus=BodyVector(second))


def along(port: PortName, direction: Direction) -> Vector:
    """Direction fixed in the section at a port, or in the world for GROUND."""
    return Vector(fixed=direction) if isinstance(port, Ground) else Vector(plus=BodyVector(port, direction))
