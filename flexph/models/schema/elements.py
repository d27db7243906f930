"""Drives, springs and external forces in model files."""

from __future__ import annotations

from typing import ClassVar, Literal

from flexph import joints as make

from .contacts import CONTACTS
from .entry import Entry, one_of
from .fields import Angle, Direction, End, Length, Matrix, Name, Point, Port, Stiffness, Torsional, by_shape
from .functions import (
    EACH,
    AngleFunction,
    Driven,
    LengthFunction,
    PlaceFunction,
    Turned,
    damping,
)
from .joints import JOINTS
from .laws import SpringLaw, SpringLaws
from .rotations import RotationValue

Damper, Dampers = damping("N*s/m")
TorsionalDamper, TorsionalDampers = damping("N*m*s/rad")
Stiffnesses, Torsionals = (by_shape(EACH, scalar=one, sequence=list[one]) for one in (Stiffness, Torsional))
Axes = by_shape("an angle, or a rotation", scalar=Angle, sequence=Matrix, mapping=RotationValue)


class RotationDrive(Entry):
    """A rotation about an axis by an angle that is a function of time."""

    makes: ClassVar = Turned
    axis: Direction
    angle: AngleFunction


class Drive(Driven):
    """A prescribed motion as a function of time."""

    makes: ClassVar = staticmethod(make.drive)
    motions: ClassVar = ("angle", "displacement", "position", "rotation")
    kind: Literal["drive"]
    port: Port
    reference: End = None
    angle: AngleFunction = None
    displacement: LengthFunction = None
    position: PlaceFunction = None
    rotation: RotationDrive = None
    axis: Direction = None
    second_axis: Direction = None
    zero: Angle = 0.0
    direction: Direction = None
    name: Name = None


class SpringDamper(Entry):
    """A massless spring and damper between two points."""

    makes: ClassVar = staticmethod(make.spring_damper)
    kind: Literal["spring_damper"]
    first: Port
    second: End
    stiffness: Stiffness = 0.0
    law: SpringLaw = None
    damping: Damper = 0.0
    length: Length = None
    direction: Direction = None
    name: Name = None


class TorsionSpring(Entry):
    """A torsional spring and damper."""

    makes: ClassVar = staticmethod(make.torsion_spring)
    kind: Literal["torsion_spring"]
    first: Port
    second: End
    stiffness: Torsional = 0.0
    law: SpringLaw = None
    damping: TorsionalDamper = 0.0
    angle: Angle = None
    axis: Direction = None
    second_axis: Direction = None
    zero: Angle = 0.0
    name: Name = None


class CartesianSpringDamper(Entry):
    """Springs and dampers along directions that are fixed in the world."""

    makes: ClassVar = staticmethod(make.cartesian_spring_damper)
    kind: Literal["cartesian_spring_damper"]
    first: Port
    second: End
    stiffness: Stiffnesses = 0.0
    damping: Dampers = 0.0
    offset: Point = None
    axes: Axes = None
    name: Name = None


class Bushing(Entry):
    """Springs and dampers along and about the axes of the second section."""

    makes: ClassVar = staticmethod(make.bushing)
    kind: Literal["bushing"]
    first: Port
    second: End
    stiffness: Stiffnesses = 0.0
    damping: Dampers = 0.0
    torsional_stiffness: Torsionals = 0.0
    torsional_damping: TorsionalDampers = 0.0
    law: SpringLaws = None
    torsional_law: SpringLaws = None
    name: Name = None


class ForceEntry(Entry):
    """An external force; runs refer to it by its name."""

    makes: ClassVar = staticmethod(make.force)
    kind: Literal["force"]
    port: Port
    axes: Literal["world", "section"] = "world"
    name: Name = None


class TorqueEntry(Entry):
    """An external torque; runs refer to it by its name."""

    makes: ClassVar = staticmethod(make.torque)
    kind: Literal["torque"]
    port: Port
    against: Port | None = None
    axes: Literal["world", "section"] = "world"
    name: Name = None


class DistributedLoad(Entry):
    """A force density on a load port; runs refer to it by its name."""

    makes: ClassVar = staticmethod(make.distributed_load)
    kind: Literal["distributed_load"]
    port: Port
    axes: Literal["world", "body", "face"] = "world"
    name: Name = None


ELEMENTS = (
    Drive,
    SpringDamper,
    TorsionSpring,
    CartesianSpringDamper,
    Bushing,
    ForceEntry,
    TorqueEntry,
    DistributedLoad,
)
CONNECTIONS = (*JOINTS, *ELEMENTS, *CONTACTS)
Connection = one_of(CONNECTIONS)
