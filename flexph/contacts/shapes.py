"""Shapes at ports that contacts join: spheres, edges, rims, planes, cylinders and holes.

Boxes, capsules and meshes are in :mod:`.surfaces`, faces of bodies that deform in :mod:`.skins`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ..joints.rows.signs import Sign
from ..joints.rows.vectors import Direction, Ground, fitting, unit
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .signs import Ball, Disc, Pipe, Slab, TouchingPort

ACROSS = 1e-9
"""Cosine of the angle between two directions up to which they are perpendicular."""


@dataclass(frozen=True)
class Shape(ABC):
    """Base class of the shapes at ports."""

    port: str | Ground

    def __post_init__(self) -> None:
        if isinstance(self.port, Ground) and self.port.position is None:
            raise ValueError(f"a {type(self).__name__.lower()} on the ground needs a position: GROUND.at(...)")

    @abstractmethod
    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the shape; ``touching`` are the ports in contact with it."""

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the shape about its centre, or its axis if it is long; 0 for points and planes."""
        return 0.0


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Sphere(Shape):
    """A ball centred at a port, in the plane a disc; with radius 0 a point.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    radius : float
        [m].

    Raises
    ------
    ValueError
        For a negative radius.
    """

    radius: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.not_negative("radius", self.radius, "m")

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the sphere; ``touching`` are the ports in contact with it."""
        return Ball(self.port, self.radius, dim)

    @property
    def reach(self) -> float:
        """Radius [m] of the sphere."""
        return self.radius


@dataclass(frozen=True)
class Spot(Sphere):
    """Ball at an ``offset`` [m] from a port, fixed in its section: a corner of a box, or an end of a capsule."""

    offset: Direction = ()


@dataclass(frozen=True)
class Edge(Shape):
    """Bar with round ends at an offset from a port: an edge of a box, or the axis of a capsule.

    Its centre is at an ``offset`` [m] and ``half`` leads from there to one of its ends, both fixed in the section.
    """

    offset: Direction
    half: Direction
    radius: float

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the edge about its centre."""
        return math.hypot(*self.half) + self.radius

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the edge; ``touching`` are the ports in contact with it."""
        return Ball(self.port, self.radius, dim)


@quantities(radius="m", crown="m")
@checked
@dataclass(frozen=True)
class Rim(Shape):
    """Rim of a thin disc about an axis through a port, or a tyre with a round section, in space; it touches planes.

    Its lowest point is at ``−r u − r_c n`` from its centre, with the normal n of the plane, the axis e and the
    direction ``u = (n − (n·e) e)/s`` up the disc, s = |n × e|; the gap is ``n·p − r s − r_c``, where p leads from the
    port of the plane to the centre.

    Parameters
    ----------
    port : str
        Centre of the disc, on a body.
    radius : float
        Radius r of the rim, or of the circle of the centres of the tyre's section [m].
    axis : sequence of float
        Direction of the axis in the section at the port.
    crown : float
        Radius r_c of the section of a tyre [m]; 0 for the sharp rim of a disc.

    Raises
    ------
    ValueError
        For a radius that is not positive, a negative crown, and an axis of length zero.
    """

    radius: float
    axis: Sequence[float]
    crown: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.positive("radius", self.radius, "m")
        check.not_negative("crown", self.crown, "m")
        object.__setattr__(self, "axis", unit("axis", self.axis))

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the rim; ``touching`` are the ports in contact with it."""
        return Disc(self.port, self.radius + self.crown, tuple(self.axis), self.crown)

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the rim about its port."""
        return self.radius + self.crown


@quantities(speed="m/s")
@checked
@dataclass(frozen=True)
class Plane(Shape):
    """A half space, in the plane a half plane, with its surface through a port.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    normal : sequence of float
        Outward normal, in the axes of the section at the port.
    speed : float or callable, optional
        Speed u of the surface in its own plane [m/s], such as that of a conveyor belt, or a function of time [s]. The
        plane itself does not move; friction acts against the slip relative to the surface, Δs − h u over a step h. The
        ledger records the work of the drive of the surface, done through friction, as ``NAME: surface``.
    direction : sequence of float, optional
        Direction of the speed, in the axes of the section at the port, perpendicular to the normal; in the plane by
        default the normal turned by −90°.
    driven : bool
        True for a speed that is an input [m/s] under the name of the contact, in addition to ``speed``; for compliant
        laws. The output of this port is the friction along the direction [N], and the ledger records its work.

    Raises
    ------
    ValueError
        For a direction that is not perpendicular to the normal, and a speed in space without one.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import KelvinVoigt, Plane, contact
    >>> belt = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0), speed=1.5)
    >>> contact("block.foot", belt, KelvinVoigt(1e6, friction=0.3), name="belt").name
    'belt'
    """

    normal: Sequence[float]
    _: KW_ONLY
    speed: float | Callable[[float], float] = 0.0
    direction: Sequence[float] | None = None
    driven: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = unit("normal", self.normal)
        object.__setattr__(self, "normal", normal)
        if not callable(self.speed):
            check.number("speed", self.speed)
        if self.direction is not None:
            along = fitting("direction", unit("direction", self.direction), len(normal))
            rises = sum(a * b for a, b in zip(along, normal, strict=True))
            if abs(rises) > ACROSS:
                raise ValueError(f"direction must be perpendicular to the normal {normal}, got {along}")
            object.__setattr__(self, "direction", along)
        elif self.is_moving and len(normal) == 3:
            raise ValueError("a plane in space with a speed needs the direction=(x, y, z) of it")

    @property
    def is_moving(self) -> bool:
        """True if the surface has a speed, also if an input sets it."""
        return callable(self.speed) or self.speed != 0.0 or self.driven

    @property
    def way(self) -> Direction:
        """Direction of the speed, in the axes of the section at the port."""
        return (self.normal[1], -self.normal[0]) if self.direction is None else tuple(self.direction)

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the plane; ``touching`` are the ports in contact with it."""
        return Slab(self.port, tuple(self.normal), touching)


@dataclass(frozen=True)
class Round(Shape):
    """Base class of long cylindrical surfaces about an axis; ``hollow`` is True if they are touched from inside."""

    hollow: ClassVar[bool] = False

    radius: float
    axis: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.positive("radius", self.radius, "m")
        if self.axis is not None:
            object.__setattr__(self, "axis", unit("axis", self.axis))

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the cylinder; ``touching`` are the ports in contact with it."""
        axis: Direction | None = None if self.axis is None else tuple(self.axis)
        return Pipe(self.port, self.radius, axis, touching, hollow=self.hollow)

    @property
    def reach(self) -> float:
        """Radius [m] of the cylindrical surface."""
        return self.radius


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Cylinder(Round):
    """A long cylinder about an axis through a port, touched from outside; in the plane a disc.

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
    """A long cylindrical hole about an axis through a port, touched from inside; in the plane a circular hole.

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
