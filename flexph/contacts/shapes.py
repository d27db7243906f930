"""Shapes at ports that touch each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..joints.rows.directions import unit
from ..joints.rows.vectors import Direction, Ground, PortName
from ..numerics import checks as check
from ..numerics.arguments import checked


def _placed(port: PortName, what: str) -> None:
    if isinstance(port, Ground) and port.position is None:
        raise ValueError(f"{what} on the ground needs a position: GROUND.at(...)")


@checked
@dataclass(frozen=True)
class Sphere:
    """A ball about a port, in the plane a disc; of radius 0 the point itself.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    radius : float
        [m].
    """

    port: str | Ground
    radius: float = 0.0

    def __post_init__(self) -> None:
        _placed(self.port, "a sphere")
        check.not_negative("radius", self.radius, "m")


@checked
@dataclass(frozen=True)
class Plane:
    """A half space (of the plane a half plane) below a port.

    Parameters
    ----------
    port : str or Ground
        Port of a body, or a place of the world.
    normal : sequence of float
        Direction out of it, in the axes of the section.
    """

    port: str | Ground
    normal: Sequence[float]

    def __post_init__(self) -> None:
        _placed(self.port, "a plane")
        object.__setattr__(self, "normal", unit("normal", self.normal))


@checked
@dataclass(frozen=True)
class Cylinder:
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

    port: str | Ground
    radius: float
    axis: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _placed(self.port, "a cylinder")
        check.positive("radius", self.radius, "m")
        object.__setattr__(self, "axis", _axis(self.axis))


@checked
@dataclass(frozen=True)
class Hole:
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

    port: str | Ground
    radius: float
    axis: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _placed(self.port, "a hole")
        check.positive("radius", self.radius, "m")
        object.__setattr__(self, "axis", _axis(self.axis))


Shape = Sphere | Plane | Cylinder | Hole


def _axis(given: Sequence[float] | None) -> Direction | None:
    return None if given is None else unit("axis", given)
