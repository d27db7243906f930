"""Runs of a model file: start, method, inputs and outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from flexph.changes.change import Change, rupture
from flexph.integration.methods.names import NAMES, by_name

from ...units.quantities import read_size
from ...units.words import nearest, shown
from .connections import Connection
from .controllers import Controller
from .entry import Builder, Entry, one_of
from .fields import DeckName, Number, Point, Reads, ResultName, Spin, TableName, Time, by_shape, quantity, wrong
from .functions import FORMULA, FunctionMapping, InputValue, LengthFunction, as_function, as_input, formula_of
from .rotations import Motion, Place
from .sensors import SensorEntry


class PoseEntry(Entry):
    """Positions of bodies: prescribed ones in ``fixed``, and initial values for the assembly of a pose in ``guess``."""

    fixed: dict[str, Place] = Field(default_factory=dict)
    guess: dict[str, Place] = Field(default_factory=dict)


class Start(PoseEntry):
    """Initial pose and velocities of a run.

    ``elastic`` sets deformations, ``joints`` velocities of joints.
    """

    velocities: dict[str, Motion] = Field(default_factory=dict)
    elastic: Literal["undeformed", "quasi_static"] = "undeformed"
    joints: Literal["free", "at rest"] | None = None
    time: Time = 0.0


def _method_name(given: Any) -> str:
    if given not in NAMES:
        raise ValueError(f"got {shown(given)}: {nearest(given, NAMES)}")
    return str(given)


class MethodEntry(Entry):
    """A method of :mod:`flexph.methods` by name, with its options."""

    name: Annotated[str, Reads(_method_name, (("enum", list(NAMES)),))]
    tolerance: by_shape("a number, or [rtol, atol]", scalar=Number, sequence=list[Number]) = None
    redundant: Literal["refuse", "least_norm"] = None
    radius: Number = None
    completion: Literal["new", "old", "mean"] = None
    contact: Literal["events", "steps"] = None

    def build(self, builder: Builder) -> Any:
        """Build the method from its name and options."""
        given = {name: getattr(self, name) for name in self.model_fields_set - {"name"}}
        if isinstance(given.get("tolerance"), list):
            given["tolerance"] = tuple(given["tolerance"])
        known = {*signature(NAMES[self.name]).parameters, "tolerance"}
        for option in given:
            if option not in known:
                raise builder.at(option).misfit(f"method {self.name!r} has no such option: {nearest(option, known)}")
        with builder.refusals(self):
            return by_name(self.name, **given)


_WORDS = "displacement|position|velocity|reaction|spin|state|gap|normal_force|friction_force|place|place_rate|mass"
EXTREMES = ("max", "min", "max_abs")
"""Extremes of a reading, which have smooth bounds."""
READING = re.compile(rf"({_WORDS}) of (\S.*)")


@dataclass(frozen=True)
class Reading:
    """A reading of a run, for example ``displacement of rod.middle`` or ``reaction of hinge crank.tip–rod.root``."""

    what: str
    of: str


def _reading(given: Any) -> Reading:
    match = READING.fullmatch(given.strip()) if isinstance(given, str) else None
    if match is None:
        raise ValueError(
            f"got {shown(given)}: write e.g. 'displacement of rod.middle', 'position of' or 'velocity of' a port, "
            "'spin of' a body, 'reaction of' a joint, 'gap of' a contact, 'normal_force of' or 'friction_force of' a "
            "contact or a joint with CoulombFriction, "
            "'place of' or 'place_rate of' a point_on_curve, 'mass of' a body, 'state of' a part of the state such as "
            "rod.stress, or a "
            "sensor such as {measure: stress, body: rod, field: axial_stress_upper, at: [0.1, 0]}"
        )
    return Reading(*match.groups())


_Text = Annotated[Reading, Reads(_reading, (("type", "string"), ("pattern", READING.pattern)))]
ReadingText: Any = by_shape("such as 'position of rod.tip', or a sensor", scalar=_Text, mapping=SensorEntry)


def _size(given: Any) -> float:
    return read_size(given)


Size = Annotated[float, Reads(_size, (("type", ["number", "string"]),))]
"""Number with any unit, in SI units."""


def _value(given: Any) -> float | str:
    """Check that a value is a number, or the text of a number with any unit; return it unchanged.

    The quantity of the unit is checked once the sensor is known.
    """
    read_size(given)
    value: float | str = given
    return value


ReadingValue = Annotated[float | str, Reads(_value, (("type", ["number", "string"]),))]


class Measure(Entry):
    """One number of a run, for its summary, studies and optimisations: an extreme or a mean of one component.

    The field ``of`` is a reading such as ``position of rod.tip``, a sensor as in controllers, or the ``mass of`` a
    body. ``target`` is subtracted from the readings. With a ``margin``, extremes are replaced by smooth bounds that
    exceed them by the margin at most (:class:`flexph.gradients.Peak`). Target and margin are in the unit of the
    readings.
    """

    of: ReadingText
    component: Annotated[int, Field(ge=0)] = 0
    take: Literal["max", "min", "max_abs", "rms", "mean", "first", "last", "increase", "integral"] = "max"
    target: ReadingValue = 0.0
    margin: ReadingValue = None

    @model_validator(mode="after")
    def _check_margin(self) -> Self:
        if self.margin is not None and self.take not in EXTREMES:
            raise wrong(f"margin needs take: {', '.join(EXTREMES)}")
        if self.margin is not None and not read_size(self.margin) > 0.0:
            raise wrong(f"margin must be positive, got {self.margin}")
        return self


class LoadsEntry(Entry):
    """Output of the loads on a body at some times as an input file for static finite-element analyses.

    See :func:`flexph.exchange.write_load_steps`.
    """

    body: str
    at: Annotated[list[Time], Field(min_length=1)]


class Outputs(Entry):
    """Files to write besides the run, its energy balance and its summary."""

    tables: dict[TableName, dict[str, ReadingText]] = Field(default_factory=dict)
    measures: dict[str, Measure] = Field(default_factory=dict)
    series: ResultName = None
    bodies: list[str] = Field(default_factory=list)
    loads: dict[DeckName, LoadsEntry] = Field(default_factory=dict)


class TimedRun(Entry):
    """A run in time: ``steps`` equal steps to ``end``, or the given ``times``."""

    start: Start = None
    end: Time = None
    steps: Annotated[int, Field(ge=1, le=100_000_000)] = None
    times: Annotated[list[Time], Field(min_length=2)] = None
    method: MethodEntry = None
    inputs: dict[str, InputValue] = Field(default_factory=dict)
    outputs: Outputs = Field(default_factory=Outputs)

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if (self.times is None) == (self.end is None or self.steps is None):
            raise wrong("no times given: write end and steps, or a list of times")
        first = self.start.time if self.start is not None else 0.0
        if self.end is not None and not self.end > first:
            raise wrong(f"end must come after the start at {first:.6g} s, got {self.end:.6g} s")
        if self.times is not None and not all(a < b for a, b in pairwise(self.times)):
            raise wrong("times must ascend")
        return self


class ChangeEntry(Entry):
    """A joint that locks or is released, or a part that breaks, during a run: :mod:`flexph.changes`.

    ``lock`` is the name of a joint, or a joint to be added; ``rupture`` names a spring, or a rod or cable, which breaks
    at the arc length ``s``. The change happens at the time ``at``, or once the sensor ``when`` reaches the value
    ``reaches``; a rupture may happen at a ``tension`` instead.
    """

    lock: by_shape("the name of a joint, or a joint", scalar=str, mapping=Connection) = None
    release: str = None
    rupture: str = None
    s: quantity("m") = None
    tension: quantity("N") = None
    at: Time = None
    when: SensorEntry = None
    reaches: ReadingValue = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if [self.lock, self.release, self.rupture].count(None) != 2:
            raise wrong("write either lock, a joint, or release, the name of a joint, or rupture, the name of a part")
        if self.rupture is None and (self.s is not None or self.tension is not None):
            raise wrong("s and tension are for a rupture: add rupture, or omit them")
        return self

    def build(self, builder: Builder) -> Change:
        """Build the lock, release or rupture."""
        if self.rupture is not None:
            sensor = builder.of(self.when, "when")
            with builder.refusals(self):
                return rupture(
                    self.rupture, self.s, tension=self.tension, at=self.at, when=sensor, reaches=self.reaches
                )
        kind: Literal["lock", "release"] = "lock" if self.release is None else "release"
        joint, when = builder.of(getattr(self, kind), kind), builder.of(self.when, "when")
        with builder.refusals(self):
            return Change(kind, joint, self.at, when, self.reaches)


class LiveEntry(Entry):
    """Options of the page that shows the run under ``flexph run --live``, see :class:`flexph.view.Live`."""

    sliders: dict[str, Annotated[list[Number], Field(min_length=2, max_length=2)]] = Field(default_factory=dict)
    pace: Number = None
    paused: bool = False
    field: str = None

    def build(self, builder: Builder) -> Any:
        """Build the live view."""
        from flexph.view.live.live import Live

        given = {name: getattr(self, name) for name in self.model_fields_set - {"sliders"}}
        sliders = {name: (low, high) for name, (low, high) in self.sliders.items()}
        with builder.refusals(self):
            return Live(sliders=sliders, **given)


class Integrate(TimedRun):
    """A run in time, see :func:`flexph.integrate`."""

    kind: Literal["integrate"] = "integrate"
    controllers: dict[str, Controller] = Field(default_factory=dict)
    changes: list[ChangeEntry] = Field(default_factory=list)
    save_every: Annotated[int, Field(ge=1)] = 1
    live: LiveEntry = None


MovedPort = by_shape(
    f"{FORMULA} of an angle, or a list of them for a place",
    scalar=formula_of("rad"),
    sequence=list[LengthFunction],
    mapping=FunctionMapping,
)


class InverseDynamicsRun(TimedRun):
    """Forces at ports that make the mechanism follow a motion, see :func:`flexph.inverse_dynamics`.

    The initial pose is that of ``start``; initial velocities follow from the motion.
    """

    kind: Literal["inverse_dynamics"]
    motion: Annotated[dict[str, MovedPort], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_start(self) -> Self:
        if self.start is not None and self.start.velocities:
            raise wrong("velocities follow from the motion: omit those of the start")
        return self


class Equilibrium(Entry):
    """A state of rest or of steady rotation near the pose of the start, see ``Mechanism.equilibrium``."""

    kind: Literal["equilibrium"]
    start: Start = None
    inputs: dict[str, InputValue] = Field(default_factory=dict)
    spin: by_shape("a spin, or a vector in space", scalar=Spin, sequence=list[Spin]) = None
    about: Point = None
    redundant: Literal["refuse", "least_norm"] = "refuse"
    outputs: Outputs = Field(default_factory=Outputs)


class Frequencies(Entry):
    """The lowest eigenfrequencies at rest in one or more unloaded poses, see ``Mechanism.eigenfrequencies``."""

    kind: Literal["frequencies"]
    count: Annotated[int, Field(ge=1)]
    poses: Annotated[list[PoseEntry], Field(min_length=1)] = None


Run = one_of((Integrate, InverseDynamicsRun, Equilibrium, Frequencies), Integrate)


def inputs_of(run: Any, builder: Builder) -> dict[str, Any]:
    """Inputs that the file gives for a run, by external port: functions of time or constant numbers."""
    return {name: as_input(value) for name, value in builder.of(run.inputs, "inputs").items()}


def motion_of(run: InverseDynamicsRun, builder: Builder) -> dict[str, Any]:
    """Prescribed motion of a run by external port, as functions of time."""
    return {name: as_function(value) for name, value in builder.of(run.motion, "motion").items()}
