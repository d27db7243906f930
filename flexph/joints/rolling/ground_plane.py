"""The ground as a plane on which wheels and discs roll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..rows.connection import Row
from ..rows.directions import axis, fitting, frame_about, unit
from ..rows.laws import Offset
from ..rows.rate_laws import Rolling
from ..rows.vectors import Direction, Ground, PortName, Product, Turn, Vector, Weighed, between, body_port


@dataclass(frozen=True)
class Plane:
    """A plane (or, seen from the side, a line) of the ground with a unit normal, and the port that moves over it."""

    port: str
    ground: Ground
    normal: Direction

    @property
    def dim(self) -> int:
        """2 or 3."""
        return len(self.normal)

    @property
    def tangents(self) -> tuple[Direction, ...]:
        """Directions in the plane, one or two; with the normal they are right-handed."""
        n = self.normal
        return ((n[1], -n[0]),) if self.dim == 2 else frame_about(n)

    def place(self, direction: Direction) -> Product:
        """The component of the port's position, from the ground, along a direction of the world."""
        return Product(between(self.port, self.ground), Vector(fixed=direction))

    @property
    def height(self) -> Product:
        """The height of the port over the plane."""
        return self.place(self.normal)

    @property
    def one(self) -> Product:
        """The constant 1: n·n."""
        return Product(Vector(fixed=self.normal), Vector(fixed=self.normal))

    def turn(self, tangent: Direction, lever: float) -> Turn:
        """``t·(Ω × (−lever n)) = −lever (n × t)·Ω``."""
        n = self.normal
        across = (n[0] * tangent[1] - n[1] * tangent[0],) if self.dim == 2 else np.cross(n, tangent).tolist()
        return Turn(self.port, tuple(-lever * x for x in across))

    def rolling(self, lever: float) -> tuple[Row, ...]:
        """The point at −lever n from the port does not slip: ``t·(v + Ω × (−lever n)) = 0``."""
        return tuple(
            Row(name, Rolling((Weighed(self.place(t), self.one),), (self.turn(t, lever),)))
            for name, t in zip(rolling_names(self.dim), self.tangents, strict=True)
        )

    def level(self, height: float) -> Row:
        """The port stays at a height [m]."""
        return Row("height", Offset(self.height, height))


def rolling_names(dim: int) -> tuple[str, ...]:
    """Names of the rows that forbid slip."""
    return ("rolling",) if dim == 2 else ("rolling 1", "rolling 2")


def on_ground(kind: str, port: str, ground: PortName) -> Ground:
    """The ground that a joint is to; raises ValueError for anything else."""
    body_port(port)
    if not isinstance(ground, Ground):
        raise ValueError(
            f"a {kind} joint is between a port and the ground, got {ground!r}: take GROUND or GROUND.at(...)"
        )
    return ground


def given_normal(normal: Sequence[float] | None) -> Direction | None:
    """The normal as a unit vector, if there is one."""
    return None if normal is None else unit("normal", normal)


def plane(port: str, ground: Ground, normal: Direction | None, dim: int) -> Plane:
    """The plane in 2 or 3 dimensions; without a normal, y points up in the plane and z in space."""
    return Plane(port, ground, axis(dim - 1, dim) if normal is None else fitting("normal", normal, dim))
