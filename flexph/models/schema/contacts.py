"""Contacts and stops of model files; the arguments are those of :mod:`flexph.contacts`."""

from __future__ import annotations

from typing import ClassVar, Literal

from flexph import contacts as make

from .entry import Entry, one_of
from .fields import Angle, Direction, End, Length, Name, Number, Port, Stiffness, Velocity, by_shape, quantity

PerLength, PerAngle = quantity("N/m", "N*m/rad"), quantity("N*s/m", "N*m*s/rad")


class Sphere(Entry):
    """A ball about a port; a disc in the plane."""

    makes: ClassVar = make.Sphere
    kind: Literal["sphere"]
    port: End
    radius: Length = 0.0


class Plane(Entry):
    """A half space below a port."""

    makes: ClassVar = make.Plane
    kind: Literal["plane"]
    port: End
    normal: Direction


class Cylinder(Entry):
    """A long cylinder about an axis; a disc in the plane."""

    makes: ClassVar = make.Cylinder
    kind: Literal["cylinder"]
    port: End
    radius: Length
    axis: Direction = None


class Hole(Entry):
    """A long cylindrical hole about an axis; a round one in the plane."""

    makes: ClassVar = make.Hole
    kind: Literal["hole"]
    port: End
    radius: Length
    axis: Direction = None


class Hertz(Entry):
    """Hertzian contact of round bodies; the stiffness is a plain number in N/m^(3/2)."""

    makes: ClassVar = make.Hertz
    kind: Literal["hertz"]
    stiffness: Number
    loss: quantity("s/m") = 0.0
    friction: Number = 0.0
    tangential_stiffness: Stiffness = None
    slip_velocity: Velocity = None


class KelvinVoigt(Entry):
    """Spring and damper that act while bodies touch."""

    makes: ClassVar = make.KelvinVoigt
    kind: Literal["kelvin_voigt"]
    stiffness: PerLength
    damping: PerAngle = 0.0
    friction: Number = 0.0
    tangential_stiffness: Stiffness = None
    slip_velocity: Velocity = None


class Rigid(Entry):
    """A unilateral constraint with restitution and Coulomb friction."""

    makes: ClassVar = make.Rigid
    kind: Literal["rigid"]
    restitution: Number = 0.0
    friction: Number = 0.0


SHAPES, LAWS = (Sphere, Plane, Cylinder, Hole), (Hertz, KelvinVoigt, Rigid)
Law = one_of(LAWS)
_SHAPE = one_of(SHAPES)
Shape = by_shape("a port, which is a point, or a shape", scalar=Port, mapping=_SHAPE)
Shapes = by_shape("a port, a shape, or a list of them", scalar=Port, mapping=_SHAPE, sequence=list[Shape])


class Contact(Entry):
    """Contact between shapes; of two lists each first shape touches each second one."""

    makes: ClassVar = staticmethod(make.contact)
    kind: Literal["contact"]
    first: Shapes
    second: Shapes
    law: Law
    name: Name = None


class MutualContact(Entry):
    """Contact of each pair in a group of shapes."""

    makes: ClassVar = staticmethod(make.mutual_contact)
    kind: Literal["mutual_contact"]
    shapes: list[Shape]
    law: Law
    name: Name = None


class Stop(Entry):
    """End stops of the angle of a hinge, or of an offset along a direction."""

    makes: ClassVar = staticmethod(make.stop)
    kind: Literal["stop"]
    first: Port
    second: End
    law: Law
    lower: quantity("rad", "m") = None
    upper: quantity("rad", "m") = None
    along_axis: Direction = None
    axis: Direction = None
    second_axis: Direction = None
    zero: Angle = 0.0
    name: Name = None


CONTACTS = (Contact, MutualContact, Stop)
