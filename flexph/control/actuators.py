"""Non-ideal input and output of sampled controllers: delay, quantisation, limits of inputs and of their rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.memo import read_only
from .sampled import InvalidOutputError, Sampled, parts_of

Answer = dict[str, Any]


@checked
def delayed(controller: Sampled, calls: int) -> Sampled:
    """Delay the outputs of a controller by a number of calls; until the first outputs arrive, they are zero.

    Parameters
    ----------
    controller : Sampled
        Controller whose outputs are delayed.
    calls : int
        Delay in calls, at least 1.

    Returns
    -------
    Sampled
        Delayed controller with the same period and sensors.

    Raises
    ------
    ValueError
        If ``calls`` is less than 1.
    """
    check.count("calls", calls)

    def change(answer: Answer, waiting: list[Answer]) -> tuple[Answer, list[Answer]]:
        queue = [*waiting, answer]
        return (queue[0], queue[1:]) if len(queue) > calls else ({}, queue)

    return _filtered(controller, change, [])


@checked
def saturated(controller: Sampled, limits: Mapping[str, float]) -> Sampled:
    """Clip the outputs of a controller to ±limit, by port.

    Parameters
    ----------
    controller : Sampled
        Controller whose outputs are clipped.
    limits : dict
        Limits by port, in the units of the controller's outputs.

    Returns
    -------
    Sampled
        Limited controller with the same period and sensors.

    Raises
    ------
    ValueError
        If a limit is not positive; during the run, if the controller has no output for a limited port.
    """
    most = _positive("limits", limits)

    def change(answer: Answer, memory: Any) -> tuple[Answer, Any]:
        _refuse_unknown_ports("limits", most, answer)
        return {port: _clipped(value, most.get(port)) for port, value in answer.items()}, memory

    return _filtered(controller, change, 0)


@checked
def rate_limited(controller: Sampled, rates: Mapping[str, float]) -> Sampled:
    """Limit the rates of change [1/s] of a controller's outputs, by port, starting from zero.

    Parameters
    ----------
    controller : Sampled
        Controller whose output rates are limited.
    rates : dict
        Largest rates by port, in the units of the controller's outputs per second.

    Returns
    -------
    Sampled
        Limited controller with the same period and sensors.

    Raises
    ------
    ValueError
        If a rate is not positive; during the run, if the controller has no output for a limited port.
    """
    most = read_only({port: rate * controller.period for port, rate in _positive("rates", rates).items()})

    def change(answer: Answer, last: Answer) -> tuple[Answer, Answer]:
        _refuse_unknown_ports("rates", most, answer)
        steps = {port: np.asarray(value) - last.get(port, 0.0) for port, value in answer.items()}
        now = {port: last.get(port, 0.0) + _clipped(step, most.get(port)) for port, step in steps.items()}
        return now, now

    return _filtered(controller, change, {})


@checked
def quantised(controller: Sampled, steps: Mapping[str, float]) -> Sampled:
    """Round the readings of a controller to whole multiples of a step, by sensor, as encoders and converters do.

    Parameters
    ----------
    controller : Sampled
        Controller whose readings are rounded.
    steps : dict
        Quantisation steps by sensor, in the unit of the sensor.

    Returns
    -------
    Sampled
        Controller with rounded readings, the same period and the same sensors.

    Raises
    ------
    ValueError
        If a step is not positive or the controller has no sensor of that name.
    """
    unknown = sorted(set(steps) - set(controller.sensors))
    if unknown:
        check.lookup("sensor", unknown[0], controller.sensors, "the controller")
    parts = _positive("steps", steps)
    return replace(controller, function=_QuantisedController(controller.function, parts))


@dataclass(frozen=True, eq=False)
class _QuantisedController:
    """Wrapper of a controller function that first rounds the readings to multiples of their steps.

    ``parts`` are the quantisation steps by sensor name.
    """

    function: Callable[..., Any]
    parts: Mapping[str, float]

    def __call__(self, time: float, see: Mapping[str, Any], *memory: Any) -> Any:
        rounded = {name: part * np.round(np.asarray(see[name]) / part) for name, part in self.parts.items()}
        plain = {name: float(value) if value.ndim == 0 else value for name, value in rounded.items()}
        return self.function(time, {**see, **plain}, *memory)


@dataclass(frozen=True, eq=False)
class _OutputFilter:
    """Wrapper of a controller function that changes the outputs by the function ``change``.

    ``change`` receives the outputs and a memory, and returns the changed outputs and the memory for the next call. If
    ``remembers`` is True the wrapped function has a memory of its own.
    """

    function: Callable[..., Any]
    remembers: bool
    change: Callable[[Answer, Any], tuple[Answer, Any]]

    def __call__(self, time: float, see: Mapping[str, Any], memory: Mapping[str, Any]) -> tuple[Answer, dict[str, Any]]:
        given = (memory["inner"],) if self.remembers else ()
        answer, inner = parts_of(self.function(time, see, *given), remembers=self.remembers)
        changed, actuator_memory = self.change(
            {port: _number(port, value) for port, value in answer.items()}, memory["own"]
        )
        return changed, {"inner": inner, "own": actuator_memory} if self.remembers else {"own": actuator_memory}


def _filtered(controller: Sampled, change: Callable[[Answer, Any], tuple[Answer, Any]], own: Any) -> Sampled:
    remembers = controller.memory is not None
    memory = {"inner": controller.memory, "own": own} if remembers else {"own": own}
    return replace(controller, function=_OutputFilter(controller.function, remembers, change), memory=memory)


def _positive(name: str, values: Mapping[str, float]) -> Mapping[str, float]:
    return read_only({key: check.positive(f"{name}[{key!r}]", value) for key, value in values.items()})


def _number(port: str, value: Any) -> Any:
    """Value of a port's input as a float or an array of finite numbers; raises InvalidOutputError for others."""
    if type(value) is float and value - value == 0.0:
        return value
    try:
        given = check.numbers(f": the input of {port!r}", value)
    except ValueError as error:
        raise InvalidOutputError(str(error)) from None
    return float(given) if given.ndim == 0 else given


def _refuse_unknown_ports(name: str, values: Mapping[str, float], answer: Answer) -> None:
    """Raise InvalidOutputError if ``values`` names a port for which the controller returned no input."""
    unknown = sorted(set(values) - set(answer))
    if answer and unknown:  # before the first output of a delayed controller there are no outputs
        names = ", ".join(map(repr, answer))
        raise InvalidOutputError(f" has {name} for {unknown[0]!r}, but returns inputs for {names} only")


def _clipped(value: Any, most: float | None) -> Any:
    if most is None:
        return value
    given = np.clip(np.asarray(value, dtype=float), -most, most)
    return float(given) if given.ndim == 0 else given
