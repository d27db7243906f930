"""Joints in model files; each has the arguments of the function of the same name."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from flexph import joints as make

from .entry import Entry
from .fields import Angle, Direction, End, Ground, Length, Name, Number, Port
from .functions import CoulombFriction, Driven, Friction, LengthFunction, Relation
from .rotations import RotationValue


class Hinge(Entry):
    """A joint at one point with free rotation about an axis."""

    makes: ClassVar = staticmethod(make.hinge)
    kind: Literal["hinge"]
    first: Port
    second: End
    axis: Direction = None
    second_axis: Direction = None
    friction: Friction = None
    name: Name = None


class Revolute(Entry):
    """A hinge in space under its kinematic name."""

    makes: ClassVar = staticmethod(make.revolute)
    kind: Literal["revolute"]
    first: Port
    second: End
    axis: Direction
    second_axis: Direction = None
    friction: Friction = None
    name: Name = None


class Spherical(Entry):
    """A joint at one point with free rotation."""

    makes: ClassVar = staticmethod(make.spherical)
    kind: Literal["spherical"]
    first: Port
    second: End
    name: Name = None


class Universal(Entry):
    """A joint at one point with the two axes of its cross perpendicular."""

    makes: ClassVar = staticmethod(make.universal)
    kind: Literal["universal"]
    first: Port
    second: End
    axis: Direction
    second_axis: Direction
    name: Name = None


class Cylindrical(Entry):
    """A joint with free motion along and about one axis."""

    makes: ClassVar = staticmethod(make.cylindrical)
    kind: Literal["cylindrical"]
    first: Port
    second: End
    axis: Direction
    second_axis: Direction = None
    turning_friction: Relation = None
    sliding_friction: Relation = None
    friction: CoulombFriction = None
    name: Name = None


class Planar(Entry):
    """A joint whose first section slides on a plane of the second."""

    makes: ClassVar = staticmethod(make.planar)
    kind: Literal["planar"]
    first: Port
    second: End
    normal: Direction
    second_normal: Direction = None
    name: Name = None


class Slider(Entry):
    """A port that slides on a line through the rail port."""

    makes: ClassVar = staticmethod(make.slider)
    kind: Literal["slider"]
    port: Port
    rail: End
    direction: Direction = None
    turning: bool = False
    friction: Friction = None
    name: Name = None


class Prismatic(Entry):
    """A port that slides on a line without rotation."""

    makes: ClassVar = staticmethod(make.prismatic)
    kind: Literal["prismatic"]
    port: Port
    rail: End
    direction: Direction
    friction: Friction = None
    name: Name = None


class Weld(Entry):
    """A rigid connection."""

    makes: ClassVar = staticmethod(make.weld)
    kind: Literal["weld"]
    first: Port
    second: End
    angle: Angle = None
    rotation: RotationValue = None
    name: Name = None


class Distance(Entry):
    """A massless rod between two ports."""

    makes: ClassVar = staticmethod(make.distance)
    kind: Literal["distance"]
    first: Port
    second: End
    length: Length = None
    name: Name = None


class KnifeEdge(Entry):
    """A port that moves along its edge, not across it."""

    makes: ClassVar = staticmethod(make.knife_edge)
    kind: Literal["knife_edge"]
    port: Port
    ground: Ground = None
    axis: Direction = None
    name: Name = None


class Wheel(Entry):
    """An upright wheel that rolls without slip."""

    makes: ClassVar = staticmethod(make.wheel)
    kind: Literal["wheel"]
    port: Port
    ground: Ground = None
    radius: Length = None
    axis: Direction = None
    normal: Direction = None
    height: bool = True
    name: Name = None


class RollingDisc(Entry):
    """A thin disc that rolls without slip and may tilt."""

    makes: ClassVar = staticmethod(make.rolling_disc)
    kind: Literal["rolling_disc"]
    port: Port
    ground: Ground = None
    radius: Length
    axis: Direction = None
    normal: Direction = None
    name: Name = None


class Gear(Entry):
    """Two shafts with a constant speed ratio."""

    makes: ClassVar = staticmethod(make.gear)
    kind: Literal["gear"]
    first: Port
    second: Port
    carrier: End = None
    ratio: Number
    axis: Direction = None
    second_axis: Direction = None
    carrier_axes: list[Direction] = None
    name: Name = None


class Belt(Entry):
    """Two pulleys on a belt that does not slip."""

    makes: ClassVar = staticmethod(make.belt)
    kind: Literal["belt"]
    first: Port
    second: Port
    carrier: End = None
    radii: list[Length]
    crossed: bool = False
    axis: Direction = None
    second_axis: Direction = None
    carrier_axes: list[Direction] = None
    name: Name = None


class Rack(Entry):
    """A rack on the pitch circle of a pinion."""

    makes: ClassVar = staticmethod(make.rack)
    kind: Literal["rack"]
    rack: Port
    pinion: Port
    housing: End = None
    radius: Length
    direction: Direction = None
    axis: Direction = None
    second_axis: Direction = None
    name: Name = None


class Screw(Entry):
    """A joint along and about one axis that advances by its lead per turn."""

    makes: ClassVar = staticmethod(make.screw)
    kind: Literal["screw"]
    first: Port
    second: End
    lead: Length
    axis: Direction
    second_axis: Direction = None
    name: Name = None


class SlippingWheel(Entry):
    """A wheel with friction against its slip, with or without the rollers of a mecanum wheel."""

    makes: ClassVar = staticmethod(make.slipping_wheel)
    kind: Literal["slipping_wheel"]
    wheel: Port
    chassis: End = None
    radius: Length
    friction: Relation
    axis: Direction = None
    normal: Direction = None
    roller: Angle = None
    name: Name = None


class PointOnCurve(Driven):
    """A port that slides along a curve through ports of a flexible body."""

    makes: ClassVar = staticmethod(make.point_on_curve)
    motions: ClassVar = ("place",)
    kind: Literal["point_on_curve"]
    port: Port
    curve: Annotated[list[End], Field(min_length=2)]
    degree: Annotated[int, Field(ge=1)] = None
    at: list[Number] = None
    friction: Friction = None
    motor: bool = False
    place: LengthFunction = None
    name: Name = None


JOINTS = (
    *(Hinge, Revolute, Spherical, Universal, Cylindrical, Planar, Slider, Prismatic, Weld, Distance),
    *(KnifeEdge, Wheel, RollingDisc, Gear, Belt, Rack, Screw, SlippingWheel, PointOnCurve),
)
