"""Rotations, positions and velocities of bodies in model files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Discriminator, Tag
from scipy.spatial.transform import Rotation

from ...units.quantities import read_quantity
from ...units.words import shown
from .entry import Builder, Entry
from .fields import TAG, Angle, Buildable, Direction, Matrix, Point, Reads, Spin, Velocity, by_shape


def turned(axis: Any, angle: float) -> Rotation:
    """Rotation by an angle [rad] about an axis (3,). Raises ValueError for a zero vector."""
    size = float(np.linalg.norm(axis))
    if len(axis) != 3 or size == 0.0:
        raise ValueError(f"axis must be three numbers that are not all zero, got {axis}")
    return Rotation.from_rotvec(angle / size * np.asarray(axis))


class AxisAngle(Entry):
    """A rotation about an axis."""

    axis: Direction
    angle: Angle

    def build(self, builder: Builder) -> Any:
        """Rotation about the axis by the angle, as a scipy Rotation."""
        with builder.refusals(self):
            return turned(self.axis, self.angle)


class EulerAngles(Entry):
    """Angles about a sequence of axes in scipy's notation: xyz fixed axes, XYZ rotating ones."""

    euler: str
    angles: list[Angle]

    def build(self, builder: Builder) -> Any:
        """Rotation by the sequence of angles, as a scipy Rotation."""
        with builder.refusals():
            return Rotation.from_euler(self.euler, self.angles)


def _kind(given: Any) -> str:
    is_euler = isinstance(given, EulerAngles) or (isinstance(given, dict) and "euler" in given)
    return f"{TAG}euler" if is_euler else f"{TAG}axis"


RotationValue = by_shape(
    "a rotation such as {axis: [0, 0, 1], angle: 30 deg} or a matrix",
    mapping=Annotated[
        Annotated[AxisAngle, Tag(f"{TAG}axis")] | Annotated[EulerAngles, Tag(f"{TAG}euler")],
        Discriminator(_kind),
    ],
    sequence=Matrix,
)


class SpatialPlace(Entry):
    """Position of a body's origin and rotation of the body."""

    position: Point = None
    rotation: RotationValue = None

    def build(self, builder: Builder) -> Any:
        """Position, rotation, or both, as an argument for ``assemble``."""
        if not self.model_fields_set:
            raise builder.misfit("got an empty mapping: write position, rotation, or both")
        position, rotation = builder.of(self.position, "position"), builder.of(self.rotation, "rotation")
        return rotation if position is None else position if rotation is None else (position, rotation)


class SpatialMotion(Entry):
    """Velocity of a body's origin and spin of the body, in world axes."""

    velocity: list[Velocity] = None
    spin: list[Spin]

    def build(self, builder: Builder) -> Any:
        """Spin, or velocity and spin, as an argument for ``consistent_state``."""
        return self.spin if self.velocity is None else (self.velocity, self.spin)


@dataclass(frozen=True)
class Coordinates(Buildable):
    """Two lengths and a third coordinate, which is an angle in the plane and a length in space."""

    values: tuple[float, ...]
    third: tuple[Any, ...]
    length: str
    angle: str

    def build(self, builder: Builder) -> list[float]:
        """Coordinates (3,) in SI units. Raises Misfit if the third is a length in the plane or an angle in space."""
        with builder.at(2).refusals():
            unit = self.angle if builder.dim == 2 else self.length
            return [*self.values, *(read_quantity(given, unit) for given in self.third)]


def _in_plane(length: str, angle: str) -> Any:
    """Field type of (x, y, angle) in the plane or (x, y, z) in space.

    ``length`` is the unit of x, y and z, ``angle`` that of the angle.
    """

    def read(given: Any) -> Coordinates:
        if not isinstance(given, list) or len(given) not in (2, 3):
            raise ValueError(f"got {shown(given)}: write [x, y, angle] in the plane, [x, y, z] in space")
        for third in given[2:]:
            read_quantity(third, length, angle)
        return Coordinates(tuple(read_quantity(x, length) for x in given[:2]), tuple(given[2:]), length, angle)

    return Annotated[Any, Reads(read, (("type", "array"), ("minItems", 2), ("maxItems", 3)))]


Place = by_shape(
    "an angle, [x, y, angle], [x, y, z], or {position: …, rotation: …}",
    scalar=Angle,
    sequence=_in_plane("m", "rad"),
    mapping=SpatialPlace,
)
Motion = by_shape(
    "a spin, [vx, vy, spin], or {velocity: …, spin: …}",
    scalar=Spin,
    sequence=_in_plane("m/s", "rad/s"),
    mapping=SpatialMotion,
)
