"""Sensors in model files: quantities of ports, bodies, contacts and joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Tag
from pydantic_core import PydanticCustomError

from flexph import sensors as make
from flexph.joints.rows.vectors import GROUND

from ...units.words import nearest, shown
from .entry import Builder, Entry
from .fields import TAG, Angle, Direction, End, Point, Port

WORDS = {"joint_angle": "angle", "joint_rate": "rate", "place_on_curve": "place"}
"""Words for sensors in files that differ from the names of their functions."""


def _sensors(*first: str) -> Mapping[str, Callable[..., Any]]:
    """Public functions of :mod:`flexph.sensors` with the first arguments ``first``, by their names in model files."""
    functions = {name: getattr(make, name) for name in dir(make) if name[0].islower()}
    chosen = {name: f for name, f in functions.items() if tuple(signature(f).parameters)[: len(first)] == first}
    return {WORDS.get(name, name): f for name, f in chosen.items()}


BETWEEN = _sensors("first", "second")
OF_PORTS, OF_CONTACTS = _sensors("port"), _sensors("contact")
OF_BODIES, OF_SECTIONS = _sensors("body", "field", "at"), _sensors("body", "section")
OF_JOINTS = {**_sensors("joint"), "place_rate": lambda joint: make.rate(make.place_on_curve(joint))}
Between, OfPort, OfContact, OfBody, OfSection, OfJoint = (
    Literal[tuple(words)] for words in (BETWEEN, OF_PORTS, OF_CONTACTS, OF_BODIES, OF_SECTIONS, OF_JOINTS)
)


class PairSensor(Entry):
    """A quantity between two ports, by default between a port and the ground.

    In space, angles and their rates need an ``axis``, which is fixed to ``port``; offsets need a ``direction``. Angles
    are measured from ``zero`` [rad]; ``second_axis`` is the same axis, given in the section of the second port.
    """

    measure: Between
    port: Port
    second: End = GROUND
    axis: Direction = None
    second_axis: Direction = None
    zero: Angle | None = None
    direction: Direction = None

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names. Raises Misfit for options that it does not have."""
        options = {name: getattr(self, name) for name in ("axis", "second_axis", "zero", "direction")}
        options = {name: value for name, value in options.items() if value is not None}
        for name in options.keys() - signature(BETWEEN[self.measure]).parameters.keys():
            raise builder.at(name).misfit(f"{self.measure!r} has no {name}: omit it")
        if self.measure == "offset" and self.direction is None:
            raise builder.misfit("direction is missing: add 'direction: [1, 0]'")
        with builder.refusals(self):
            return BETWEEN[self.measure](self.port, builder.of(self.second, "second"), **options)


class PortSensor(Entry):
    """A quantity of one port, in world axes."""

    measure: OfPort
    port: Port

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names."""
        with builder.refusals(self):
            return OF_PORTS[self.measure](self.port)


class BodySensor(Entry):
    """A stress or strain of a body by the name of its field, at a point, see :func:`flexph.sensors.stress`.

    For the field ``von_mises`` without a point, it is the largest value in the body.
    """

    measure: OfBody
    body: str
    field: str
    at: Point | None = None

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names."""
        if self.at is None and self.measure == "strain":
            raise builder.misfit("at, the point of the strain in the body, is missing: add 'at: [0.1, 0]'")
        with builder.refusals(self):
            return OF_BODIES[self.measure](self.body, self.field, None if self.at is None else tuple(self.at))


class SectionSensor(Entry):
    """Force and moment in a section of a body, see :func:`flexph.sensors.section_force`."""

    measure: OfSection
    body: str
    section: str

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names."""
        with builder.refusals(self):
            return OF_SECTIONS[self.measure](self.body, self.section)


class EnergySensor(Entry):
    """An energy of the run's energy ledger by its name there, such as ``kinetic rod``; ``total`` for the sum."""

    measure: Literal["energy"]
    of: str

    def build(self, builder: Builder) -> Any:
        """Build the sensor of the energy."""
        with builder.refusals(self):
            return make.energy(self.of)


class ContactSensor(Entry):
    """A quantity of a contact, or of dry friction in a joint, see :func:`flexph.sensors.normal_force`."""

    measure: OfContact
    contact: str

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names."""
        with builder.refusals(self):
            return OF_CONTACTS[self.measure](self.contact)


class JointSensor(Entry):
    """Force or torque of a joint, sticking state of its friction, or position of a port on its curve.

    See :func:`flexph.sensors.joint_force`, :func:`flexph.sensors.sticks` and :func:`flexph.sensors.place_on_curve`.
    """

    measure: OfJoint
    joint: str

    def build(self, builder: Builder) -> Any:
        """Build the sensor that the field ``measure`` names."""
        with builder.refusals(self):
            return OF_JOINTS[self.measure](self.joint)


_KINDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "pair": ("second", BETWEEN),
    "port": ("port", OF_PORTS),
    "body": ("field", OF_BODIES),
    "section": ("section", OF_SECTIONS),
    "energy": ("of", {"energy": None}),
    "contact": ("contact", OF_CONTACTS),
    "joint": ("joint", OF_JOINTS),
}
"""Kinds of sensors: a field that identifies the kind if its ``measure`` is missing, and its measures."""
_WORDS = [word for _, words in _KINDS.values() for word in words]


def _sensor_tag(given: Any) -> str:
    names = given.model_dump() if isinstance(given, Entry) else given if isinstance(given, dict) else {}
    measure = names.get("measure")
    by_measure = (kind for kind, (_, words) in _KINDS.items() if isinstance(measure, str) and measure in words)
    by_setting = (kind for kind, (setting, _) in _KINDS.items() if setting in names)
    return TAG + (next(by_measure, None) or next(by_setting, "pair"))


def _check_measure(given: Any) -> Any:
    """Data of a sensor, unchanged; raise an error for a measure that no kind of sensor has.

    This check precedes the choice of the kind, whose error would list the measures of one kind only.
    """
    measure = given.get("measure") if isinstance(given, dict) else None
    if isinstance(measure, str) and measure not in _WORDS:
        text = f"got {shown(measure)}: {nearest(measure, _WORDS)}"
        raise PydanticCustomError("model_file", "{text}", {"text": text, "name": "measure"})
    return given


SensorEntry = Annotated[
    Annotated[PairSensor, Tag(f"{TAG}pair")]
    | Annotated[PortSensor, Tag(f"{TAG}port")]
    | Annotated[BodySensor, Tag(f"{TAG}body")]
    | Annotated[SectionSensor, Tag(f"{TAG}section")]
    | Annotated[EnergySensor, Tag(f"{TAG}energy")]
    | Annotated[ContactSensor, Tag(f"{TAG}contact")]
    | Annotated[JointSensor, Tag(f"{TAG}joint")],
    Discriminator(_sensor_tag),
    BeforeValidator(_check_measure),
]
