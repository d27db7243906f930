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
    """Plane of the ground (in two dimensions a line) with a unit normal, and the port that moves over it."""

    port: str
    ground: Ground
    normal: Direction

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return len(self.normal)

    @property
    def tangents(self) -> tuple[Direction, ...]:
        """One or two directions in the plane, right-handed together with the normal."""
        n = self.normal
        return ((n[1], -n[0]),) if self.dim == 2 else frame_about(n)

    def place(self, direction: Direction) -> Product:
        """Component of the port's position, from the ground, along a world direction."""
        return Product(between(self.port, self.ground), Vector(fixed=direction))

    @property
    def height(self) -> Product:
        """Height of the port over the plane."""
        return self.place(self.normal)

    @property
    def one(self) -> Product:
        """The constant 1 as a product, n·n."""
        return Product(Vector(fixed=self.normal), Vector(fixed=self.normal))

    def turn(self, tangent: Direction, lever: float) -> Turn:
        """Term ``t·(Ω × (−lever n)) = −lever (n × t)·Ω``."""
        n = self.normal
        across = (n[0] * tangent[1] - n[1] * tangent[0],) if self.dim == 2 else np.cross(n, tangent).tolist()
        return Turn(self.port, tuple(-lever * x for x in across))

    def rolling(self, lever: float) -> tuple[Row, ...]:
        """Rows that forbid slip of the point at −lever n from the port: ``t·(v + Ω × (−lever n)) = 0``."""
        return tuple(
            Row(name, Rolling((Weighed(self.place(t), self.one),), (self.turn(t, lever),)))
            for name, t in zip(rolling_names(self.dim), self.tangents, strict=True)
        )

    def level(self, height: float) -> Row:
        """Row that keeps the port at a height [m]."""
        return Row("height", Offset(self.height, height))


def rolling_names(dim: int) -> tuple[str, ...]:
    """Names of the rows that forbid slip."""
    return ("rolling",) if dim == 2 else ("rolling 1", "rolling 2")


def on_ground(kind: str, port: str, ground: PortName) -> Ground:
    """Return the ground of a rolling joint; raises ValueError for a port of a body."""
    body_port(port)
    if not isinstance(ground, Ground):
        raise ValueError(f"ground of a {kind} joint must be GROUND or GROUND.at(...), got {ground!r}")
    return ground


def given_normal(normal: Sequence[float] | None) -> Direction | None:
    """Unit normal, or None."""
    return None if normal is None else unit("normal", normal)


def plane(port: str, ground: Ground, normal: Direction | None, dim: int) -> Plane:
    """Plane of the ground in 2 or 3 dimensions; the default normal is y in two and z in three."""
    return Plane(port, ground, axis(dim - 1, dim) if normal is None else fitting("normal", normal, dim))
