"""Controllers in model files: built-in ones, and functions of the user, which are called with --trust only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ... import sensors as make
from ...control.actuators import delayed, quantised, rate_limited, saturated
from ...control.continuous import Continuous
from ...control.drive_train import gearbox, motor
from ...control.hydraulics import hydraulic_cylinder
from ...control.linear.compensator import pid
from ...control.port_control import port_spring
from ...control.sampled import Sampled
from ...control.state_feedback import StateFeedback
from ...joints.rows.vectors import GROUND, unit
from ...units.words import nearest
from ..reading.functions import trusted_function
from .entry import Builder, Entry, one_of
from .fields import Direction, End, Inertia, Length, Number, Port, Stress, Time, by_shape, quantity
from .functions import (
    FORMULA,
    FunctionMapping,
    as_function,
    as_input,
    damping,
    formula_of,
    mapping_of,
    refuse_undefined,
)
from .sensors import SensorEntry

Stiff, Damped = quantity("N*m/rad", "N/m"), quantity("N*m*s/rad", "N*s/m")
Reference = by_shape(FORMULA, scalar=formula_of("rad", "m"), mapping=FunctionMapping)
Given, Quick = quantity("N*m", "N", "V", ""), quantity("N*m/s", "N/s", "V/s", "1/s")


class Actuated(Entry):
    """A controller that is called every ``period``, with outputs delayed by ``delay`` calls."""

    period: Time
    delay: Annotated[int, Field(ge=0)] = 0

    def _with_imperfections(self, loop: Sampled, marks: Any, limits: Any, rates: Any) -> Sampled:
        """Controller ``loop`` with imperfections of actuators and sensors added.

        Readings are quantised to steps ``marks`` by sensor, outputs delayed by the field ``delay``, and outputs and
        their rates of change limited to ``limits`` and ``rates`` by port. Empty mappings add nothing.
        """
        loop = quantised(loop, marks) if marks else loop
        loop = delayed(loop, self.delay) if self.delay else loop
        loop = saturated(loop, limits) if limits else loop
        return rate_limited(loop, rates) if rates else loop


class _OfAnAngle(Actuated):
    """Fields shared by controllers of an angle.

    In space ``axis`` is the axis of the angle and of the torque.
    """

    port: str
    angle: Port
    second: End = GROUND
    axis: Direction = None
    reference: Reference = 0.0
    limit: Given = None
    rate_limit: Quick = None
    resolution: quantity("rad") = None

    def _sensors(self, builder: Builder) -> dict[str, Any]:
        ends = self.angle, builder.of(self.second, "second")
        angle = make.joint_angle(*ends, axis=self.axis)
        return {"angle": angle, "rate": make.rate(angle)}

    def _driving(self, loop: Sampled) -> Sampled:
        marks, limits, rates = (
            {} if value is None else {name: value}
            for name, value in (("angle", self.resolution), (self.port, self.limit), (self.port, self.rate_limit))
        )
        loop = self._with_imperfections(loop, marks, limits, rates)
        if self.axis is None:
            return loop
        along = _Along(loop.function, unit("axis", self.axis))
        return Sampled(function=along, period=loop.period, sensors=loop.sensors, memory=loop.memory)


@dataclass(frozen=True)
class _Along:
    """Controller function that turns the scalar outputs of another function to vectors along an axis."""

    function: Callable[..., Any]
    axis: Any

    def __call__(self, *given: Any) -> Any:
        answer = self.function(*given)
        if isinstance(answer, tuple):
            return self._vectors(answer[0]), answer[1]
        return self._vectors(answer)

    def _vectors(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {port: np.multiply(self.axis, value) for port, value in answer.items()}


@dataclass(frozen=True)
class _Proportional:
    """Control law τ = K_p (q_d − q) − K_d q̇ for the torque at a port, from the readings of an angle q and its rate q̇.

    ``stiffness`` is K_p, ``damping`` K_d, and ``reference`` the function q_d of time.
    """

    port: str
    stiffness: float
    damping: float
    reference: Callable[[float], Any]

    def __call__(self, time: float, see: Mapping[str, float]) -> dict[str, float]:
        torque = self.stiffness * (float(self.reference(time)) - see["angle"]) - self.damping * see["rate"]
        return {self.port: torque}


class PDController(_OfAnAngle):
    """A sampled PD controller of an angle q: torque K_p (q_d − q) − K_d q̇ with the reference q_d."""

    kind: Literal["pd"]
    proportional: Stiff
    derivative: Damped = 0.0

    def build(self, builder: Builder) -> Sampled:
        """Build the controller from the fields of the entry."""
        reference = as_function(builder.of(self.reference, "reference"))
        law = _Proportional(self.port, self.proportional, self.derivative, reference)
        with builder.refusals(self):
            return self._driving(Sampled(function=law, period=self.period, sensors=self._sensors(builder)))


class PIDController(_OfAnAngle):
    """A sampled PID controller of an angle, see :func:`flexph.control.pid`."""

    kind: Literal["pid"]
    proportional: Stiff
    integral: quantity("N*m/rad/s", "N/m/s") = 0.0
    derivative: Damped = 0.0
    lag: Time = 1e-3

    def build(self, builder: Builder) -> Sampled:
        """Build the controller from the fields of the entry."""
        reference = as_function(builder.of(self.reference, "reference"))
        with builder.refusals(self):
            law = pid(self.proportional, integral=self.integral, derivative=self.derivative, lag=self.lag)
            seen = {"angle": self._sensors(builder)["angle"]}
            return self._driving(law.sampled(self.period, sensors=seen, ports=[self.port], reference=reference))


class FunctionController(Actuated):
    """A function of time and sensors by its import path, called every period; see :class:`flexph.control.Sampled`.

    ``limits`` and ``rate_limits`` are mappings by port, ``resolution`` is a mapping by sensor.
    """

    kind: Literal["function"]
    function: str
    sensors: dict[str, SensorEntry] = Field(default_factory=dict)
    memory: by_shape("a number, or a list of numbers", scalar=Number, sequence=list[Number]) = None
    limits: dict[str, Given] = Field(default_factory=dict)
    rate_limits: dict[str, Quick] = Field(default_factory=dict)
    resolution: dict[str, quantity("rad", "m", "")] = Field(default_factory=dict)

    def build(self, builder: Builder) -> Sampled:
        """Build the controller from the fields of the entry."""
        with builder.at("function").refusals():
            function = trusted_function(self.function, builder.folder, trust=builder.trust)
        with builder.refusals(self):
            sensors = builder.of(self.sensors, "sensors")
            loop = Sampled(function=function, period=self.period, sensors=sensors, memory=self.memory)
            return self._with_imperfections(loop, self.resolution, self.limits, self.rate_limits)


Drag, _ = damping("N*m*s/rad")


class PortController(Entry):
    """A spring and damper at an external port, solved within the steps; see :func:`flexph.control.port_spring`."""

    kind: Literal["port"]
    port: str
    stiffness: Stiff
    damping: Damped = 0.0
    width: Annotated[int, Field(ge=1)] = 1
    reference: Reference = None

    def build(self, builder: Builder) -> Continuous:
        """Build the controller from the fields of the entry."""
        moved: dict[str, Any] = {}
        if self.reference is not None:
            moved["spring"] = as_function(builder.of(self.reference, "reference"))
        with builder.refusals(self):
            system = port_spring(self.stiffness, self.damping or None, width=self.width)
            return Continuous(system=system, ports={"spring": self.port}, references=moved)


class _DriveTrain(Entry):
    """Fields shared by motors and gearboxes: the port of the shaft, inertia, friction and elasticity."""

    port: str
    ratio: Number = 1.0
    inertia: Inertia = 0.0
    friction: Drag = 0.0
    dry_friction: quantity("N*m") = 0.0
    stiffness: quantity("N*m/rad") = None
    damping: quantity("N*m*s/rad") = 0.0
    axis: Direction = None

    def _joined(self, builder: Builder, system: Any, supplied: str) -> Continuous:
        """Continuous controller with the drive ``system``, whose shaft turns the port of this entry.

        ``supplied`` names the field with the supply, such as a voltage, which is also the name of the system's input.
        """
        given = as_input(builder.of(getattr(self, supplied), supplied))
        return Continuous(system=system, ports={"shaft": self.port}, inputs={supplied: given})

    def _options(self, builder: Builder) -> dict[str, Any]:
        friction = builder.of(self.friction, "friction")
        shared = {"ratio": self.ratio, "inertia": self.inertia, "axis": self.axis}
        shared |= {"stiffness": self.stiffness, "damping": self.damping}
        return {**shared, "friction": friction, "dry_friction": self.dry_friction}


class MotorController(_DriveTrain):
    """A motor with gearbox and supply voltage, solved within the steps; see :func:`flexph.control.motor`."""

    kind: Literal["motor"]
    supply: by_shape(FORMULA, scalar=formula_of("V"), mapping=mapping_of("V")) = 0.0
    constant: quantity("N*m/A", "V*s/rad")
    resistance: quantity("ohm")
    inductance: quantity("H") = 0.0
    torque_limit: quantity("N*m") = None

    def build(self, builder: Builder) -> Continuous:
        """Build the controller from the fields of the entry."""
        with builder.refusals(self):
            system = motor(
                constant=self.constant,
                resistance=self.resistance,
                inductance=self.inductance,
                torque_limit=self.torque_limit,
                **self._options(builder),
            )
            return self._joined(builder, system, "supply")


class GearboxController(_DriveTrain):
    """A gearbox with a driving torque, solved within the steps; see :func:`flexph.control.gearbox`."""

    kind: Literal["gearbox"]
    drive: by_shape(FORMULA, scalar=formula_of("N*m"), mapping=mapping_of("N*m")) = 0.0

    def build(self, builder: Builder) -> Continuous:
        """Build the controller from the fields of the entry."""
        with builder.refusals(self):
            return self._joined(builder, gearbox(**self._options(builder)), "drive")


class HydraulicCylinderController(Entry):
    """A hydraulic cylinder, solved within the steps; see :func:`flexph.control.hydraulic_cylinder`.

    ``rod`` and ``foot`` name external ports of the mechanism; ``valve`` and ``pump`` are functions of time.
    """

    kind: Literal["hydraulic_cylinder"]
    rod: str
    foot: str = None
    vector: list[Length]
    areas: list[quantity("m^2")]
    length: Length
    stroke: Length
    rated_flow: quantity("m^3/s")
    relief: Stress
    rated_drop: Stress = 3.5e6
    pressures: list[Stress] = Field(default_factory=lambda: [0.0, 0.0])
    bulk_modulus: Stress = 1.4e9
    dead_volume: quantity("m^3") = 2e-5
    line_volume: quantity("m^3") = 1e-3
    leakage: quantity("m^3/s/Pa") = 0.0
    transition: Stress = 1e4
    overload: quantity("m^3/s/Pa") = 1e-9
    lag: Time = 0.01
    coil: quantity("W") = 10.0
    valve: by_shape(FORMULA, scalar=formula_of(""), mapping=mapping_of("")) = 0.0
    pump: by_shape(FORMULA, scalar=formula_of("m^3/s"), mapping=mapping_of("m^3/s")) = 0.0

    def build(self, builder: Builder) -> Continuous:
        """Build the controller from the fields of the entry."""
        others = ("kind", "rod", "foot", "vector", "areas", "pressures", "valve", "pump")
        given = {name: getattr(self, name) for name in type(self).model_fields if name not in others}
        with builder.refusals(self):
            pairs: dict[str, Any] = {name: tuple(getattr(self, name)) for name in ("areas", "pressures")}
            system = hydraulic_cylinder(self.vector, **pairs, **given)
            inputs = {name: as_input(builder.of(getattr(self, name), name)) for name in ("valve", "pump")}
            ports = {"rod": self.rod} | ({} if self.foot is None else {"foot": self.foot})
            return Continuous(system=system, ports=ports, inputs=inputs)


class FeedbackController(Entry):
    """A function u = f(t, y) of the time t and sensors y by its import path, which gives the inputs u at ports.

    It is evaluated within the steps, see :class:`flexph.control.StateFeedback`. With a ``period`` it is called once per
    period, and its output is constant in between.
    """

    kind: Literal["feedback"]
    function: str
    sensors: dict[str, SensorEntry]
    ports: list[str]
    period: Time = None

    def build(self, builder: Builder) -> StateFeedback:
        """Build the controller from the fields of the entry."""
        with builder.at("function").refusals():
            function = trusted_function(self.function, builder.folder, trust=builder.trust)
        sensors = builder.of(self.sensors, "sensors")
        with builder.refusals(self):
            return StateFeedback(function=function, sensors=sensors, ports=self.ports, period=self.period)


Controller = one_of(
    (
        PortController,
        PDController,
        PIDController,
        MotorController,
        GearboxController,
        HydraulicCylinderController,
        FunctionController,
        FeedbackController,
    )
)


def check_references(given: Mapping[str, Any], here: Builder, times: Any) -> None:
    """Raise Misfit for references and supplies of controllers with a wrong size, or no value at the start or end.

    ``given``: entries of the controllers by name; ``times`` (k,) [s]: times of the run.
    """
    for name, entry in given.items():
        for field in ("reference", "supply", "drive", "valve", "pump"):
            place = here.at("controllers", name, field)
            function = place.of(getattr(entry, field, None))
            if callable(function):
                last = 0.5 * (times[-2] + times[-1]) - getattr(entry, "period", 0.0)  # the last sample is not earlier
                size = entry.width if isinstance(entry, PortController) else 1
                _refuse_size(function, size, place, (float(times[0]), max(float(last), float(times[0]))))


def _refuse_size(function: Any, size: int, place: Builder, span: tuple[float, float]) -> None:
    """Raise Misfit for a function whose values at both times of ``span`` are not ``size`` finite numbers.

    ``place`` is the position of the function in the file.
    """
    with place.refusals():
        for time, when in zip(span, ("the start", "the end"), strict=True):
            refuse_undefined(function, time, when)
            if np.size(function(time)) != size:
                raise place.misfit(f"it must be {size} number{'s' * (size > 1)}, got {np.size(function(time))}")


def check_driven_ports(
    known: Mapping[str, slice], given: Mapping[str, Any], controllers: Mapping[str, Any], here: Builder
) -> None:
    """Raise Misfit if the port of a PD or PID controller does not exist, or has not as many components as its output.

    The port may be an external port of the mechanism (``known``: components by name) or a port of one of the continuous
    ``controllers``, such as a motor. ``given``: entries of the controllers by name.
    """
    free = [
        f"{name}: {port}" for name, c in controllers.items() if isinstance(c, Continuous) for port in c.system.ports
    ]
    for name, entry in given.items():
        if isinstance(entry, PDController | PIDController) and entry.port not in (ports := [*known, *free]):
            message = f"no external port {entry.port!r}: {nearest(entry.port, ports)}"
            raise here.at("controllers", name, "port").misfit(message)
        if isinstance(entry, PDController | PIDController) and entry.port in known:
            part, width = known[entry.port], 1 if entry.axis is None else len(entry.axis)
            if part.stop - part.start != width:
                message = f"{entry.port!r} has {part.stop - part.start} components, but the controller has {width}"
                raise here.at("controllers", name, "port").misfit(message)
