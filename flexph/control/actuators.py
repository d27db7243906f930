"""What stands between a sampled controller and its mechanism: delay, quantisation, limits of torque and of its rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.memo import read_only
from .sampled import Misanswered, Sampled, parts_of

Answer = dict[str, Any]


@checked
def delayed(controller: Sampled, calls: int) -> Sampled:
    """The controller whose answers act so many calls later; until then its ports stay at zero.

    Parameters
    ----------
    controller : Sampled
        What is called.
    calls : int
        How many calls later, one at least.

    Returns
    -------
    Sampled
        Of the same period and sensors.

    Raises
    ------
    ValueError
        For fewer than one call.
    """
    check.count("calls", calls)

    def change(answer: Answer, waiting: list[Answer]) -> tuple[Answer, list[Answer]]:
        queue = [*waiting, answer]
        return (queue[0], queue[1:]) if len(queue) > calls else ({}, queue)

    return _through(controller, change, [])


@checked
def saturated(controller: Sampled, limits: Mapping[str, float]) -> Sampled:
    """The controller whose answers stay between −limit and limit, by port.

    Parameters
    ----------
    controller : Sampled
        What is called.
    limits : dict
        Limits by port, in the units of its answers.

    Returns
    -------
    Sampled
        Of the same period and sensors.

    Raises
    ------
    ValueError
        For limits that are not positive; in the run, for ports that the controller does not answer for.
    """
    most = _positive("limits", limits)

    def change(answer: Answer, memory: Any) -> tuple[Answer, Any]:
        _among("limits", most, answer)
        return {port: _clipped(value, most.get(port)) for port, value in answer.items()}, memory

    return _through(controller, change, 0)


@checked
def rate_limited(controller: Sampled, rates: Mapping[str, float]) -> Sampled:
    """The controller whose answers change by no more than a rate [1/s], by port, from zero on.

    Parameters
    ----------
    controller : Sampled
        What is called.
    rates : dict
        Rates by port, in the units of its answers over seconds.

    Returns
    -------
    Sampled
        Of the same period and sensors.

    Raises
    ------
    ValueError
        For rates that are not positive; in the run, for ports that the controller does not answer for.
    """
    most = read_only({port: rate * controller.period for port, rate in _positive("rates", rates).items()})

    def change(answer: Answer, last: Answer) -> tuple[Answer, Answer]:
        _among("rates", most, answer)
        steps = {port: np.asarray(value) - last.get(port, 0.0) for port, value in answer.items()}
        now = {port: last.get(port, 0.0) + _clipped(step, most.get(port)) for port, step in steps.items()}
        return now, now

    return _through(controller, change, {})


@checked
def quantised(controller: Sampled, steps: Mapping[str, float]) -> Sampled:
    """The controller whose readings, by sensor, are whole multiples of a step: encoders and converters.

    Parameters
    ----------
    controller : Sampled
        What is called.
    steps : dict
        Steps by sensor, in its unit.

    Returns
    -------
    Sampled
        Of the same period and sensors.

    Raises
    ------
    ValueError
        For steps that are not positive, and sensors that the controller does not have.
    """
    unknown = sorted(set(steps) - set(controller.sensors))
    if unknown:
        check.lookup("sensor", unknown[0], controller.sensors, "the controller")
    parts = _positive("steps", steps)
    return replace(controller, function=_Quantised(controller.function, parts))


@dataclass(frozen=True, eq=False)
class _Quantised:
    """A function of readings that are rounded."""

    function: Callable[..., Any]
    parts: Mapping[str, float]

    def __call__(self, time: float, see: Mapping[str, Any], *memory: Any) -> Any:
        rounded = {name: part * np.round(np.asarray(see[name]) / part) for name, part in self.parts.items()}
        plain = {name: float(value) if value.ndim == 0 else value for name, value in rounded.items()}
        return self.function(time, {**see, **plain}, *memory)


@dataclass(frozen=True, eq=False)
class _Through:
    """A function whose answers go through a change with a memory of its own."""

    function: Callable[..., Any]
    remembers: bool
    change: Callable[[Answer, Any], tuple[Answer, Any]]

    def __call__(self, time: float, see: Mapping[str, Any], memory: Mapping[str, Any]) -> tuple[Answer, dict[str, Any]]:
        given = (memory["inner"],) if self.remembers else ()
        answer, inner = parts_of(self.function(time, see, *given), remembers=self.remembers)
        changed, own = self.change({port: _number(port, value) for port, value in answer.items()}, memory["own"])
        return changed, {"inner": inner, "own": own} if self.remembers else {"own": own}


def _through(controller: Sampled, change: Callable[[Answer, Any], tuple[Answer, Any]], own: Any) -> Sampled:
    remembers = controller.memory is not None
    memory = {"inner": controller.memory, "own": own} if remembers else {"own": own}
    return replace(controller, function=_Through(controller.function, remembers, change), memory=memory)


def _positive(name: str, values: Mapping[str, float]) -> Mapping[str, float]:
    return read_only({key: check.positive(f"{name}[{key!r}]", value) for key, value in values.items()})


def _number(port: str, value: Any) -> Any:
    """The input of a port, or Misanswered."""
    if type(value) is float and value - value == 0.0:
        return value
    try:
        given = check.numbers(f": the input of {port!r}", value)
    except ValueError as error:
        raise Misanswered(str(error)) from None
    return float(given) if given.ndim == 0 else given


def _among(name: str, values: Mapping[str, float], answer: Answer) -> None:
    """Raise Misanswered for ports that an answer, if there is one, does not have: nothing would be limited there."""
    unknown = sorted(set(values) - set(answer))
    if answer and unknown:  # before the first answer of a delay there is none
        names = ", ".join(map(repr, answer))
        raise Misanswered(f" has {name} for {unknown[0]!r}, and answers for {names}")


def _clipped(value: Any, most: float | None) -> Any:
    if most is None:
        return value
    given = np.clip(np.asarray(value, dtype=float), -most, most)
    return float(given) if given.ndim == 0 else given
