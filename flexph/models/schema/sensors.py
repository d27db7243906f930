"""Sensors of controllers in model files: what they measure of ports, contacts and joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Tag
from pydantic_core import PydanticCustomError

from flexph import sensors as make
from flexph.joints.rows.vectors import GROUND

from ..reading.problems import nearest, shown
from .entry import Builder, Entry
from .fields import TAG, End, Port

MEASURES: Mapping[str, Callable[..., Any]] = {
    "angle": make.joint_angle,
    "rate": make.joint_rate,
    "distance": make.distance,
    "position": lambda port, second: make.position(port),
    "velocity": lambda port, second: make.velocity(port),
}
OF_CONTACTS: Mapping[str, Callable[[str], Any]] = {
    "gap": make.gap,
    "touches": make.touches,
    "normal_force": make.normal_force,
    "friction_force": make.friction_force,
}
OF_JOINTS: Mapping[str, Callable[[str], Any]] = {
    "joint_force": make.joint_force,
    "joint_torque": make.joint_torque,
    "place": make.place_on_curve,
    "place_rate": lambda joint: make.rate(make.place_on_curve(joint)),
}


class PortSensor(Entry):
    """What a controller reads between two ports, of one against the ground by default."""

    measure: Literal["angle", "rate", "distance", "position", "velocity"]
    port: Port
    second: End = GROUND

    def build(self, builder: Builder) -> Any:
        """The quantity."""
        with builder.refusals(self):
            return MEASURES[self.measure](self.port, builder.of(self.second, "second"))


class ContactSensor(Entry):
    """What a controller reads of a contact or stop by its name, see :func:`flexph.sensors.normal_force`."""

    measure: Literal["gap", "touches", "normal_force", "friction_force"]
    contact: str

    def build(self, builder: Builder) -> Any:
        """The quantity."""
        with builder.refusals(self):
            return OF_CONTACTS[self.measure](self.contact)


class JointSensor(Entry):
    """The force or torque of a joint by its name, or the place of a port on its curve and its rate.

    See :func:`flexph.sensors.joint_force` and :func:`flexph.sensors.place_on_curve`.
    """

    measure: Literal["joint_force", "joint_torque", "place", "place_rate"]
    joint: str

    def build(self, builder: Builder) -> Any:
        """The quantity."""
        with builder.refusals(self):
            return OF_JOINTS[self.measure](self.joint)


def _sensor_tag(given: Any) -> str:
    names = given.model_dump() if isinstance(given, Entry) else given if isinstance(given, dict) else {}
    measure = names.get("measure")
    kinds = {"contact": OF_CONTACTS, "joint": OF_JOINTS, "port": MEASURES}
    known = next((kind for kind, words in kinds.items() if isinstance(measure, str) and measure in words), None)
    return TAG + (known or next((kind for kind in kinds if kind in names), "port"))


def _known(given: Any) -> Any:
    """A sensor whose measure is one of all that there are: each kind of sensor knows its own alone."""
    measure, words = given.get("measure") if isinstance(given, dict) else None, [*MEASURES, *OF_CONTACTS, *OF_JOINTS]
    if isinstance(measure, str) and measure not in words:
        text = f"got {shown(measure)}: {nearest(measure, words)}"
        raise PydanticCustomError("model_file", "{text}", {"text": text, "name": "measure"})
    return given


SensorEntry = Annotated[
    Annotated[PortSensor, Tag(f"{TAG}port")]
    | Annotated[ContactSensor, Tag(f"{TAG}contact")]
    | Annotated[JointSensor, Tag(f"{TAG}joint")],
    Discriminator(_sensor_tag),
    BeforeValidator(_known),
]
