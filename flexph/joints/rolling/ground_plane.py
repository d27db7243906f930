"""Plane on which wheels and discs roll, fixed to the ground or to a moving body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..rows.connection import Row
from ..rows.laws import Offset, Rolling
from ..rows.vectors import (
    Direction,
    Ground,
    PortName,
    Product,
    Turn,
    Vector,
    Weighed,
    along,
    axis,
    between,
    body_port,
    fitting,
    frame_about,
    unit,
)


@dataclass(frozen=True)
class Plane:
    """Plane through the port ``ground`` over which the port ``port`` moves; in two dimensions a line.

    Its unit normal is fixed in the section of ``ground``. In space the normal of a moving body must keep its direction
    in the world.
    """

    port: str
    ground: PortName
    normal: Direction

    @property
    def dim(self) -> int:
        """Number of dimensions, 2 or 3."""
        return len(self.normal)

    @property
    def tangents(self) -> tuple[Direction, ...]:
        """Unit vectors in the plane, one in two dimensions and two in space; with the normal they are right-handed."""
        n = self.normal
        return ((n[1], -n[0]),) if self.dim == 2 else frame_about(n)

    def place(self, direction: Direction) -> Product:
        """Offset of ``port`` from ``ground`` along a direction fixed in the section of ``ground``, as a product."""
        return Product(between(self.port, self.ground), along(self.ground, direction))

    @property
    def height(self) -> Product:
        """Height of ``port`` over the plane, as a product."""
        return self.place(self.normal)

    @property
    def one(self) -> Product:
        """Constant 1 in the form of a product: n·n."""
        return Product(Vector(fixed=self.normal), Vector(fixed=self.normal))

    @property
    def upright(self) -> Product | None:
        """Cosine of the tilt, in space, of the moving body that has the plane, as a product; 1 without tilt.

        None for a plane on the ground and in two dimensions.
        """
        if self.dim == 2 or isinstance(self.ground, Ground):
            return None
        return Product(along(self.ground, self.normal), Vector(fixed=self.normal))

    def turn(self, tangent: Direction, lever: float) -> Turn:
        """Constraint term for the velocity along a tangent t that a spin gives to the point at −lever n from the port.

        Ω is the spin of the port's body, n the normal of the plane: ``t·(Ω × (−lever n)) = −lever (n × t)·Ω``.
        """
        return Turn(self.port, tuple(-lever * x for x in self._across(tangent)))

    def _across(self, tangent: Direction) -> list[float]:
        n = self.normal
        return [n[0] * tangent[1] - n[1] * tangent[0]] if self.dim == 2 else np.cross(n, tangent).tolist()

    def rolling(self, lever: float) -> tuple[Row, ...]:
        """Constraint rows that forbid slip of the point at −lever n from the port: ``t·(v + Ω × (−lever n)) = 0``.

        There is a row for each tangent t; n is the normal. On a moving body, v is the rate of the position in the
        section of that body and Ω the spin relative to it.
        """
        rows = []
        for name, t in zip(rolling_names(self.dim), self.tangents, strict=True):
            turns = [self.turn(t, lever)]
            if not isinstance(self.ground, Ground):
                turns.append(Turn(self.ground, tuple(lever * x for x in self._across(t))))
            rows.append(Row(name, Rolling(self._rates(t), tuple(turns), upright=self.upright)))
        return tuple(rows)

    def _rates(self, tangent: Direction) -> tuple[Weighed, ...]:
        """Velocity of the port relative to the plane along a tangent, as terms of a constraint.

        On the ground, and on any body in two dimensions, this is one term. On a moving body in space the tangent is
        fixed in the world, and there is one term for each of the two directions fixed in the body.
        """
        if self.upright is None:
            return (Weighed(self.place(tangent), self.one),)
        fixed = Vector(fixed=tangent)
        return tuple(Weighed(self.place(d), Product(along(self.ground, d), fixed)) for d in self.tangents)

    def level(self, height: float) -> Row:
        """Constraint row that keeps the port at a height [m] over the plane."""
        return Row("height", Offset(self.height, height))


def rolling_names(dim: int) -> tuple[str, ...]:
    """Names of the constraint rows that forbid slip, in 2 or 3 dimensions."""
    return ("rolling",) if dim == 2 else ("rolling 1", "rolling 2")


def on_ground(kind: str, port: str, ground: PortName) -> Ground:
    """Check that a rolling joint is on the ground, and return the ground; raises ValueError for a port of a body.

    ``kind`` is the name of the joint in the message.
    """
    body_port(port)
    if not isinstance(ground, Ground):
        raise ValueError(f"ground of a {kind} joint must be GROUND or GROUND.at(...), got {ground!r}")
    return ground


def given_normal(normal: Sequence[float] | None) -> Direction | None:
    """Unit vector along a normal that a user gave; None if none was given."""
    return None if normal is None else unit("normal", normal)


def on_surface(port: str, surface: PortName) -> PortName:
    """Check the port ``surface`` of the plane on which a body rolls, and return it.

    Raises ValueError if it is on the body that rolls.
    """
    body_port(port)
    if isinstance(surface, str) and surface.partition(".")[0] == port.partition(".")[0]:
        raise ValueError(f"a body cannot roll on itself: both ports are of {port.partition('.')[0]!r}")
    return surface


def plane(port: str, ground: PortName, normal: Direction | None, dim: int) -> Plane:
    """Plane through ``ground`` in 2 or 3 dimensions; its normal is by default y in two and z in three."""
    return Plane(port, ground, axis(dim - 1, dim) if normal is None else fitting("normal", normal, dim))
