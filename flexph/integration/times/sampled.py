"""Runs with sampled controllers: steps end where a controller is called, and its answer holds until the next call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.sampled import ControlLoops
from ...numerics.arrays import Array
from ...systems.inputs import Forcing
from .loop import Accepted, Run


class ControlledForcing(Forcing):
    """Inputs as given, and those that controllers hold."""

    def __init__(self, given: Forcing, loops: ControlLoops) -> None:
        self.given, self.loops = given, loops

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


def plan_of(run: Run, loops: ControlLoops, grid: Array, save_every: int) -> Plan:
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


def one_by_one(run: Run, stepper: Any, loops: ControlLoops, grid: Array, save_every: int) -> Iterator[Accepted]:
    """One step after the other, by a stepper or by compiled loops."""
    plan = plan_of(run, loops, grid, save_every)
    for k in range(plan.next, plan.times.size):
        start, time = run.start, float(plan.times[k])
        run.trying(start.time, time)
        loops.call(start.time, start.x)
        held = Holding(stepper, loops.held.copy())
        step, shorter = held.step(start, time), partial(held.step, start)
        yield Accepted(start, step, shorter, bool(plan.saved[k]), reached=int(plan.of_grid[k]), then=loops.kept)
