"""Rigid bodies in model files."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from flexph.models.schema.bodies import BodyEntry
from flexph.models.schema.document import Kinds
from flexph.models.schema.fields import Density, File, Inertia, Length, Mass, Name, Point, by_shape

from .bodies.bodies import bar, body, box, cylinder, point, sphere
from .bodies.solid import solid

Ports = dict[str, Point]


class Bar(BodyEntry):
    """A planar rigid bar with the ports root, middle and tip."""

    makes: ClassVar = staticmethod(bar)
    kind: Literal["bar"]
    length: Length
    mass: Mass
    inertia: Inertia = None


class RigidBody(BodyEntry):
    """A rigid body of given mass and inertia."""

    makes: ClassVar = staticmethod(body)
    kind: Literal["rigid_body"]
    mass: Mass
    inertia: by_shape(
        "a number (plane), three moments or a matrix (space)",
        scalar=Inertia,
        sequence=list[by_shape("a number", scalar=Inertia, sequence=list[Inertia])],
    )
    ports: Ports
    centre: Point = None
    about: Point = None


class PointMass(BodyEntry):
    """A point mass with the port point."""

    makes: ClassVar = staticmethod(point)
    kind: Literal["point"]
    mass: Mass
    dim: Literal[2, 3] = 2


class Box(BodyEntry):
    """A homogeneous box with the port centre."""

    makes: ClassVar = staticmethod(box)
    kind: Literal["box"]
    size: Point
    density: Density
    ports: Ports = None


class Cylinder(BodyEntry):
    """A homogeneous cylinder or tube along x with the ports root, middle and tip."""

    makes: ClassVar = staticmethod(cylinder)
    kind: Literal["cylinder"]
    length: Length
    radius: Length
    density: Density
    inner_radius: Length = 0.0
    ports: Ports = None


class Sphere(BodyEntry):
    """A homogeneous sphere with the port centre."""

    makes: ClassVar = staticmethod(sphere)
    kind: Literal["sphere"]
    radius: Length
    density: Density
    ports: Ports = None


class RigidSolid(BodyEntry):
    """A homogeneous rigid body that fills a mesh, or a part of a drawing."""

    makes: ClassVar = staticmethod(solid)
    kind: Literal["rigid_solid"]
    mesh: File
    density: Density = None
    ports: dict[str, by_shape("a place [x, y, z], or the name of a port of the drawing", scalar=Name, sequence=Point)]
    omit: list[str] = Field(default_factory=list)
    select: Name = None
    unit: Length = None


KINDS = Kinds(bodies=(Bar, RigidBody, PointMass, Box, Cylinder, Sphere, RigidSolid))
