"""Runs with controllers: steps end where one is called whose answer is held; others answer within the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.joined import AgreedStep, JoinedStep
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ...systems.inputs import Forcing
from .loop import Accepted, Going


class ControlledForcing(Forcing):
    """Inputs as given, and those that controllers hold."""

    def __init__(self, given: Forcing, loops: ControlLoops) -> None:
        self.given, self.loops = given, loops

    @property
    def varying(self) -> Array:
        """Which of the inputs given are functions of time, (m,)."""
        return self.given.varying

    def at(self, time: float) -> Array:
        """The inputs at a time [s]."""
        return self.given.at(time) + self.loops.held

    def over(self, times: Array) -> Array:
        """The inputs at many times, as if controllers held what they hold now."""
        return self.given.over(times) + self.loops.held


class Plan(NamedTuple):
    """Times of steps, which of them are times of the run, and which are saved; the step that comes next."""

    times: Array
    of_grid: Array
    saved: Array
    next: int


def plan_of(run: Going, loops: ControlLoops, grid: Array, save_every: int) -> Plan:
    """The steps that are left of a run, whose controllers go on from where they stood."""
    if run.then:
        loops.restore(run.then)
    times, of_grid = loops.grid(grid)
    saved = of_grid & ((np.cumsum(of_grid) - 1) % save_every == 0)
    return Plan(times, of_grid, saved, int(np.searchsorted(times, run.start.time)) + 1)


class Holding(NamedTuple):
    """Steps under inputs that are held, which they tell of."""

    stepper: Any
    inputs: Array

    def step(self, start: Any, time: float) -> HeldStep:
        """See :class:`flexph.integration.times.protocols.Stepper`."""
        return HeldStep(self.stepper.step(start, time), self.inputs)


class HeldStep(NamedTuple):
    """What a step leaves, and the inputs that were held in it."""

    result: Any
    inputs: Array

    @property
    def end(self) -> Any:
        """Where the next step starts."""
        return self.result.end

    def row(self) -> Any:
        """What is recorded of the step."""
        return {**self.result.row(), "held": self.inputs}


class JoinedSteps(NamedTuple):
    """Steps of a mechanism with continuous controllers, under inputs that are held beside theirs."""

    stepper: Any
    loops: ControlLoops
    inputs: Array
    states: list[Array]

    def step(self, start: Any, time: float) -> JoinedResult:
        """The step on which mechanism and controllers agree, from the same states again; raises StepFailed."""
        joined = self.loops.joined
        assert joined is not None

        def take(answers: Array) -> tuple[Any, Array, Array | None]:
            self.loops.held[:] = self.inputs + answers
            try:
                result = self.stepper.step(start, time)
            finally:
                self.loops.held[:] = self.inputs
            if self.loops.in_loops and result.output is None:
                raise StepFailed("the compiled loops, which alone have such a controller, do not solve it", 0, np.nan)
            return result, result.end.x, result.output

        result, agreed = joined.step(start.x, (start.time, time), take, states=self.states)
        balance = self.stepper.accounts.balance(start.energy, result.end.energy, result.flows)
        return JoinedResult(result, self.inputs + agreed.held, agreed, abs(balance + agreed.error))


def held_steps(stepper: Any, loops: ControlLoops) -> Holding | JoinedSteps:
    """Steps under what controllers hold now, and with those that answer within the step."""
    held = loops.held.copy()
    return Holding(stepper, held) if loops.joined is None else JoinedSteps(stepper, loops, held, loops.joined.states)


class JoinedResult(NamedTuple):
    """What a step of mechanism and controllers leaves, and the error of the balance of both."""

    result: Any
    inputs: Array
    agreed: JoinedStep | AgreedStep
    balance: float

    @property
    def end(self) -> Any:
        """Where the next step starts."""
        return self.result.end

    def row(self) -> Any:
        """What is recorded of the step."""
        row, agreed = self.result.row(), self.agreed
        residuals = np.append(self.balance, row["residuals"][1:])
        return {**row, "residuals": residuals, "held": self.inputs, **agreed.row()}


def one_by_one(
    run: Going,
    stepper: Any,
    loops: ControlLoops,
    grid: Array,
    save_every: int,
    *,
    held_by: Callable[[Any, ControlLoops], Any] = held_steps,
) -> Iterator[Accepted]:
    """One step after the other, by a stepper or by compiled loops, with ``held_by`` under what controllers hold."""
    plan = plan_of(run, loops, grid, save_every)
    for k in range(plan.next, plan.times.size):
        start, time = run.start, float(plan.times[k])
        run.trying(start.time, time)
        loops.call(start.time, start.x, loops.last)
        held = held_by(stepper, loops)
        step, shorter = held.step(start, time), partial(held.step, start)
        if loops.joined is not None and isinstance(step, JoinedResult):
            loops.joined.commit(step.agreed)
        loops.follow(step, time, start)
        yield Accepted(start, step, shorter, bool(plan.saved[k]), reached=int(plan.of_grid[k]), then=loops.kept)
