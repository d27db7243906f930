"""Sampled controllers in model files, with delay, quantisation and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from flexph import sensors as make
from flexph.control.actuators import delayed, quantised, rate_limited, saturated
from flexph.control.linear.compensator import pid
from flexph.control.sampled import Sampled
from flexph.joints.rows.vectors import GROUND, unit

from ..reading.functions import trusted_function
from .entry import Builder, Entry
from .fields import Direction, End, Number, Port, Time, by_shape, quantity
from .functions import FORMULA, FunctionMapping, as_function, formula_of
from .sensors import SensorEntry

Stiff, Damped = quantity("N*m/rad", "N/m"), quantity("N*m*s/rad", "N*s/m")
Reference = by_shape(FORMULA, scalar=formula_of("rad", "m"), mapping=FunctionMapping)
Given, Quick = quantity("N*m", "N", "V", ""), quantity("N*m/s", "N/s", "V/s", "1/s")


class Actuated(Entry):
    """A controller that is called every ``period``, with outputs delayed by ``delay`` calls."""

    period: Time
    delay: Annotated[int, Field(ge=0)] = 0

    def _through(self, loop: Sampled, marks: Any, limits: Any, rates: Any) -> Sampled:
        """Sampled controller with delay, quantised readings, and limits of outputs and of their rates added."""
        loop = quantised(loop, marks) if marks else loop
        loop = delayed(loop, self.delay) if self.delay else loop
        loop = saturated(loop, limits) if limits else loop
        return rate_limited(loop, rates) if rates else loop


class _OfAnAngle(Actuated):
    """Fields shared by controllers of an angle; in space ``axis`` is the axis of the angle and of the torque."""

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
        loop = self._through(loop, marks, limits, rates)
        if self.axis is None:
            return loop
        along = _Along(loop.function, unit("axis", self.axis))
        return Sampled(function=along, period=loop.period, sensors=loop.sensors, memory=loop.memory)


@dataclass(frozen=True)
class _Along:
    """Function of a controller whose scalar outputs act along an axis."""

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
    """Control law τ = K_p (q_d − q) − K_d q̇ at a port, as a function of time and readings."""

    port: str
    stiffness: float
    damping: float
    reference: Callable[[float], Any]

    def __call__(self, time: float, see: Mapping[str, float]) -> dict[str, float]:
        torque = self.stiffness * (float(self.reference(time)) - see["angle"]) - self.damping * see["rate"]
        return {self.port: torque}


class PDController(_OfAnAngle):
    """A sampled PD controller of an angle: K_p (q_d − q) − K_d q̇."""

    kind: Literal["pd"]
    proportional: Stiff
    derivative: Damped = 0.0

    def build(self, builder: Builder) -> Sampled:
        """Build the controller."""
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
        """Build the controller."""
        reference = as_function(builder.of(self.reference, "reference"))
        with builder.refusals(self):
            law = pid(self.proportional, integral=self.integral, derivative=self.derivative, lag=self.lag)
            seen = {"angle": self._sensors(builder)["angle"]}
            return self._driving(law.sampled(self.period, sensors=seen, ports=[self.port], reference=reference))


class FunctionController(Actuated):
    """A function of time and sensors by its import path, called every period; see :class:`flexph.control.Sampled`.

    ``limits`` and ``rate_limits`` are by port, ``resolution`` is by sensor.
    """

    kind: Literal["function"]
    function: str
    sensors: dict[str, SensorEntry] = Field(default_factory=dict)
    memory: by_shape("a number, or a list of numbers", scalar=Number, sequence=list[Number]) = None
    limits: dict[str, Given] = Field(default_factory=dict)
    rate_limits: dict[str, Quick] = Field(default_factory=dict)
    resolution: dict[str, quantity("rad", "m", "")] = Field(default_factory=dict)

    def build(self, builder: Builder) -> Sampled:
        """Build the controller."""
        with builder.at("function").refusals():
            function = trusted_function(self.function, builder.folder, trust=builder.trust)
        with builder.refusals(self):
            sensors = builder.of(self.sensors, "sensors")
            loop = Sampled(function=function, period=self.period, sensors=sensors, memory=self.memory)
            return self._through(loop, self.resolution, self.limits, self.rate_limits)
