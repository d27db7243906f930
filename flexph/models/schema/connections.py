"""Connections of model files: one entry for each public function of :mod:`flexph.joints`, and the contacts.

The fields of an entry follow from the signature of its function. This module lists only arguments whose annotation
does not determine how they are written in a file.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Field, Tag

from ... import contacts, joints
from ...contacts import laws, shapes
from .entry import Entry, one_of
from .fields import TAG, Angle, Direction, End, File, Matrix, Port, by_shape
from .from_signature import entry_of
from .functions import AngleFunction, Driven, FactorOrInput, LengthFunction, PlaceFunction, SpeedFunction, Turned
from .laws import ELASTIC
from .rotations import RotationValue

MADE = {name: getattr(contacts, name) for name in dir(contacts)}
OF_SHAPES: dict[str, dict[str, Any]] = {
    "Plane": {"speed": SpeedFunction},
    "Mesh": {"mesh": File, "closed": bool | None},
    "Skin": {"ports": list[Port], "cells": list[list[int]]},
}
"""Field types of arguments of shapes by the name of the shape."""
SHAPES = tuple(
    entry_of(makes, **OF_SHAPES.get(makes.__name__, {}))
    for makes in MADE.values()
    if isinstance(makes, type) and issubclass(makes, shapes.Shape)
)
OF_LAWS: dict[str, dict[str, Any]] = {name: {"friction_factor": FactorOrInput} for name in ("Hertz", "KelvinVoigt")}
LAWS = tuple(
    entry_of(makes, **OF_LAWS.get(makes.__name__, {}))
    for makes in MADE.values()
    if isinstance(makes, type) and issubclass(makes, laws.ContactLaw)
)
Law = one_of(LAWS)
_SHAPE = one_of(SHAPES)
Shape = by_shape("a port, which is a point, or a shape", scalar=Port, mapping=_SHAPE)
Shapes = by_shape("a port, a shape, or a list of them", scalar=Port, mapping=_SHAPE, sequence=list[Shape])
CONTACTS = (
    entry_of(contacts.contact, first=Shapes, second=Shapes, law=Law),
    entry_of(contacts.mutual_contact, shapes=list[Shape], law=Law),
    entry_of(contacts.stop, law=one_of((*LAWS, *ELASTIC))),
)


class RotationDrive(Entry):
    """A rotation about an axis by an angle that is a function of time."""

    makes: ClassVar = Turned
    axis: Direction
    angle: AngleFunction


SHEAVE = entry_of(joints.Sheave)


def _rope_point(given: Any) -> str:
    """Tag by which pydantic chooses the type of a point on a rope: a sheave, or an end at a port or ground point."""
    is_sheave = isinstance(given, SHEAVE) or (isinstance(given, dict) and "ground" not in given)
    return f"{TAG}{'sheave' if is_sheave else 'end'}"


ROPE_POINT = Annotated[
    Annotated[End, Tag(f"{TAG}end")] | Annotated[one_of((SHEAVE,)), Tag(f"{TAG}sheave")], Discriminator(_rope_point)
]
SPECIAL: dict[str, dict[str, Any]] = {
    "drive": {
        "base": Driven,
        "motions": ("angle", "displacement", "position", "rotation"),
        "angle": AngleFunction,
        "displacement": LengthFunction,
        "position": PlaceFunction,
        "rotation": RotationDrive,
    },
    "point_on_curve": {
        "base": Driven,
        "motions": ("place",),
        "place": LengthFunction,
        "curve": Annotated[list[End], Field(min_length=2)],
        "degree": Annotated[int, Field(ge=1)],
    },
    "weld": {"rotation": RotationValue},
    "cartesian_spring_damper": {
        "axes": by_shape("an angle, or a rotation", scalar=Angle, sequence=Matrix, mapping=RotationValue),
    },
    "rope": {"path": Annotated[list[ROPE_POINT], Field(min_length=2)], "length": LengthFunction},
    "spring_damper": {"length": LengthFunction},
    "torsion_spring": {"angle": AngleFunction},
}
"""Field types and settings of arguments by the name of the function."""
MAKERS = sorted((name for name in joints.__all__ if name[0].islower()), key=lambda name: (name != "hinge", name))
"""Names of the functions; the hinge comes first, as errors give it as an example."""
CONNECTIONS = (*(entry_of(getattr(joints, name), **SPECIAL.get(name, {})) for name in MAKERS), *CONTACTS)
Connection = one_of(CONNECTIONS)
