"""World vectors of bodies, whose scalar products are the arguments of constraint rows; directions fixed in sections.

A *body vector* is the position of a point of a body or a direction fixed in one of its sections; a *vector* is a
difference of body vectors (or a vector fixed in the world); a *product* is V·W of two vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

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
    """Position of a port (direction None), or a direction fixed in the section at a port.

    A position may be at an ``offset`` from the port, fixed in its section [m].
    """

    port: str
    direction: Direction | None = None
    offset: Direction | None = None


@dataclass(frozen=True)
class Vector:
    """World vector ``plus − minus + fixed``, of two body vectors and one fixed in the world.

    Each of the three may be None, which counts as zero.
    """

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
    """Term w Π_by Π̇ of a constraint on velocities, with a product Π_by as a weight; over a step w Π̄_by ΔΠ.

    Π̄_by is the mean of the values at both ends of the step. The force of the term acts on Π alone. An ``angular`` term
    is divided by ρ² = Π² + Π_by²: one of the two terms of an angle, see :func:`turning`. A term of a slip may have one
    more factor, the mean of the product ``also``.
    """

    product: Product
    by: Product
    weight: float = 1.0
    angular: bool = False
    also: Product | None = None


@dataclass(frozen=True)
class Turn:
    """Term a·Ω of a constraint on velocities, with the world spin Ω of the body of a port.

    a (s,) is fixed in the world.
    """

    port: str
    axis: Direction


def turning(sine: Product, cosine: Product, weight: float) -> tuple[Weighed, Weighed]:
    """Pair of terms that make up w θ̇, for an angle θ given by two products proportional to its sine and cosine.

    Over a step the terms add up to exactly w Δθ if |Δθ| < π; over a run θ may make any number of turns.
    """
    return Weighed(sine, cosine, weight, angular=True), Weighed(cosine, sine, -weight, angular=True)


def body_port(first: PortName) -> str:
    """Return the first port of a joint; raises ValueError if it is on the ground instead of a body."""
    if isinstance(first, Ground):
        raise ValueError("the first port of a joint must belong to a body; GROUND comes second")
    return first


def between(first: PortName, second: PortName) -> Vector:
    """World vector from the second port to the first; GROUND without a position counts as the origin."""
    first = body_port(first)
    if isinstance(second, Ground):
        at = second.position
        return Vector(plus=BodyVector(first), fixed=None if at is None else tuple(-x for x in at))
    return Vector(plus=BodyVector(first), minus=BodyVector(second))


def along(port: PortName, direction: Direction) -> Vector:
    """World vector of a direction fixed in the section at a port; for GROUND it is fixed in the world."""
    return Vector(fixed=direction) if isinstance(port, Ground) else Vector(plus=BodyVector(port, direction))


def axis(index: int, dim: int) -> Direction:
    """Unit vector along the coordinate axis ``index`` (0, 1, 2) in ``dim`` dimensions."""
    return tuple(1.0 if i == index else 0.0 for i in range(dim))


def unit(name: str, direction: Sequence[float]) -> Direction:
    """Unit vector along a direction that a user gave as the argument ``name``.

    Raises ValueError unless it has 2 or 3 components and is not zero.
    """
    given = check.array(name, direction, (None,))
    if given.size not in (2, 3):
        raise ValueError(f"{name} must have 2 components in the plane or 3 in space, got {given.size}")
    size = math.sqrt(float(given @ given))
    if size == 0.0:
        raise ValueError(f"{name} must not be zero, got {tuple(given.tolist())}")
    return tuple((given / size).tolist())


def fitting(name: str, direction: Direction, dim: int) -> Direction:
    """Return a direction; raises ValueError, with the argument ``name``, unless it has ``dim`` components."""
    if len(direction) != dim:
        place = "the plane" if dim == 2 else "space"
        raise ValueError(f"{name} must have {dim} components in {place}, got {len(direction)}")
    return direction


def perpendicular(direction: Direction) -> Direction:
    """Vector of two components, turned by +90°."""
    return (-direction[1], direction[0])


def frame_about(direction: Direction) -> tuple[Direction, Direction]:
    """Unit vectors x and y in space with which a direction is the third axis of a right-handed frame.

    For e_z they are e_x and e_y. x is the projection of the coordinate axis that is most nearly perpendicular to the
    direction.
    """
    n = np.array(direction)
    nearest = np.eye(3)[np.argmin(np.abs(n))]
    x = nearest - (nearest @ n) * n
    x /= np.linalg.norm(x)
    return tuple(x.tolist()), tuple(np.cross(n, x).tolist())


def transported_frame(first: Direction, second: Direction, zero: float = 0.0) -> tuple[Direction, Direction]:
    """Directions x and y of the frame about ``first``, carried along as ``first`` rotates to ``second``.

    See :func:`frame_about` for this frame. The rotation is the smallest one; for opposite directions, that by π about
    x. The frame is then turned about the second direction by ``zero`` [rad], so that an angle measured from it is
    smaller by ``zero``.
    """
    x, y = (np.array(d) for d in frame_about(first))
    a, b = np.array(first), np.array(second)
    turn = np.cross(a, b)
    size, c = float(np.linalg.norm(turn)), float(a @ b)
    if size < 1e-14:
        return turned_by(zero, tuple(x.tolist()), tuple((y if c > 0.0 else -y).tolist()))
    carry = scipy.spatial.transform.Rotation.from_rotvec(turn * (math.atan2(size, c) / size))
    return turned_by(zero, tuple(carry.apply(x).tolist()), tuple(carry.apply(y).tolist()))


def turned_by(angle: float, x: Direction, y: Direction) -> tuple[Direction, Direction]:
    """Perpendicular directions x, y turned by an angle [rad] in their plane, from x to y."""
    if angle == 0.0:
        return x, y
    c, s = math.cos(angle), math.sin(angle)
    turned = [tuple(c * a + s * b for a, b in zip(*pair, strict=True)) for pair in ((x, y), (y, tuple(-a for a in x)))]
    return turned[0], turned[1]


Axes = tuple[Direction, Direction]


def unit_axes(
    first: Sequence[float] | None, second: Sequence[float] | None, name: str = "axis"
) -> tuple[Direction, Direction] | None:
    """Unit vectors along the axis of a joint in the sections of both ports, from what a user gave.

    None if nothing was given. The second one has the same components by default. ``name`` is that of the argument.
    """
    if first is None:
        if second is not None:
            raise ValueError(
                f"second_{name} was given without {name}: give the direction in the sections of both ports"
            )
        return None
    n = unit(name, first)
    return n, n if second is None else unit(f"second_{name}", second)


def spatial_axes(axes: Axes | None, dim: int, kind: str, name: str = "axis", *, instead: str = "") -> Axes:
    """Check the axes of a joint in space, in the sections of both ports, and return them.

    Raises ValueError in the plane, where the message names the joint to use ``instead``, and if ``axes`` is None.
    ``kind`` is the name of the joint, ``name`` that of the argument.
    """
    if dim != 3:
        cure = f"; in the plane use {instead}" if instead else ""
        raise ValueError(f"{kind} exists in three dimensions only, and this mechanism is planar{cure}")
    if axes is None:
        raise ValueError(f"{kind} needs {name}=(x, y, z) in space, in the axes of the first port's section")
    return fitting(name, axes[0], 3), fitting(f"second_{name}", axes[1], 3)
