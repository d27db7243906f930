"""Shapes at ports that touch each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..joints.rows.directions import unit
from ..joints.rows.signs import Sign
from ..joints.rows.vectors import Direction, Ground
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .signs import Ball, Pipe, Slab, Touching


@dataclass(frozen=True)
class Shape(ABC):
    """What touches at a port; what it looks like it says of itself."""

    port: str | Ground

    def __post_init__(self) -> None:
        if isinstance(self.port, Ground) and self.port.position is None:
            raise ValueError(f"a {type(self).__name__.lower()} on the ground needs a position: GROUND.at(...)")

    @abstractmethod
    def sign(self, dim: int, touching: tuple[Touching, ...]) -> Sign:
        """What it looks like in the plane or in space, with the ports that touch it."""

    @property
    def reach(self) -> float:
        """How far it reaches from its port [m]; 0 of what has no end."""
        return 0.0


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Sphere(Shape):
    """A ball about a port, in the plane a disc; of radius 0 the point itself.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    radius : float
        [m].
    """

    radius: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.not_negative("radius", self.radius, "m")

    def sign(self, dim: int, touching: tuple[Touching, ...]) -> Sign:
        """See :class:`Shape`."""
        return Ball(self.port, self.radius, dim)

    @property
    def reach(self) -> float:
        """See :class:`Shape`."""
        return self.radius


@checked
@dataclass(frozen=True)
class Plane(Shape):
    """A half space (of the plane a half plane) below a port.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    normal : sequence of float
        Direction out of it, in the axes of the section.
    """

    normal: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "normal", unit("normal", self.normal))

    def sign(self, dim: int, touching: tuple[Touching, ...]) -> Sign:
        """See :class:`Shape`."""
        return Slab(self.port, tuple(self.normal), touching)


@dataclass(frozen=True)
class Round(Shape):
    """What is long and round about an axis through a port, seen from outside or, ``hollow``, from inside."""

    hollow: ClassVar[bool] = False

    radius: float
    axis: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.positive("radius", self.radius, "m")
        if self.axis is not None:
            object.__setattr__(self, "axis", unit("axis", self.axis))

    def sign(self, dim: int, touching: tuple[Touching, ...]) -> Sign:
        """See :class:`Shape`."""
        axis: Direction | None = None if self.axis is None else tuple(self.axis)
        return Pipe(self.port, self.radius, axis, touching, hollow=self.hollow)

    @property
    def reach(self) -> float:
        """See :class:`Shape`."""
        return self.radius


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Cylinder(Round):
    """A long cylinder about an axis through a port, seen from outside; in the plane a disc.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    radius : float
        [m].
    axis : sequence of float, optional
        Direction of the axis in the section at the port; none in the plane.
    """


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Hole(Round):
    """A long hole about an axis through a port, seen from inside; in the plane a round one.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    radius : float
        [m].
    axis : sequence of float, optional
        Direction of the axis in the section at the port; none in the plane.
    """

    hollow: ClassVar[bool] = True
