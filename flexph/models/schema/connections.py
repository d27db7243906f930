"""Connections of model files: every public function of :mod:`flexph.joints` and the contacts.

Their fields follow from the signatures. Only arguments are listed here whose annotation does not determine how they are
written in a file.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from flexph import joints as make

from .contacts import CONTACTS
from .entry import Entry, one_of
from .fields import Angle, Direction, End, Length, Matrix, by_shape
from .from_signature import entry_of
from .functions import AngleFunction, Driven, LengthFunction, PlaceFunction, Turned
from .rotations import RotationValue


class RotationDrive(Entry):
    """A rotation about an axis by an angle that is a function of time."""

    makes: ClassVar = Turned
    axis: Direction
    angle: AngleFunction


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
    "spring_damper": {"length": Length},
    "torsion_spring": {"angle": Angle},
}
"""Field types and settings of arguments by the name of the function."""
MAKERS = sorted((name for name in make.__all__ if name[0].islower()), key=lambda name: (name != "hinge", name))
"""Names of the functions; the hinge comes first, as errors give it as an example."""
CONNECTIONS = (*(entry_of(getattr(make, name), **SPECIAL.get(name, {})) for name in MAKERS), *CONTACTS)
Connection = one_of(CONNECTIONS)
