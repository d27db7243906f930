"""Steps of runs with controllers: outputs of sampled ones are held, continuous ones are solved within the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.coupled_controllers import CompiledStep, ControllersStep
from ...numerics.arrays import Array
from ...systems.inputs import Forcing
from .loop import Accepted, Going


class ControlledForcing(Forcing):
    """Inputs of a run: the given ones, plus the outputs that controllers hold."""

    def __init__(self, given: Forcing, loops: ControlLoops) -> None:
        self.given, self.loops = given, loops

    @property
    def varying(self) -> Array:
        """Mask (m,) of the given inputs that are functions of time."""
        return self.given.varying

    @property
    def jumping(self) -> Array:
        """Mask (m,) of the given inputs that may jump, see :attr:`flexph.systems.inputs.Forcing.jumping`."""
        return self.given.jumping

    def at(self, time: float) -> Array:
        """Inputs (m,) at a time [s], with the outputs that the controllers now hold."""
        return self.given.at(time) + self.loops.held

    def before(self, times: Array) -> Array:
        """Inputs (k, m) just before they change at the k times.

        Controllers are called at the first of the times only: the first row has their previous outputs, the later rows
        have the present ones.
        """
        given, first = self.given.before(times), self.loops.held_before(float(times[0]))
        return np.vstack([given[:1] + first, given[1:] + self.loops.held])

    def at_times(self, times: Array, ends: tuple[float, float] | None = None) -> Array:
        """Inputs at the given times, (k, m) or (1, m), with the outputs that the controllers now hold."""
        return self.given.at_times(times, ends) + self.loops.held


class Plan(NamedTuple):
    """Steps of a run with controllers.

    ``times`` are the ends of steps and the calls of controllers; ``of_grid`` marks the times that were given for the
    run, ``saved`` the times at which the state is saved. ``next`` is the index of the end of the next step.
    """

    times: Array
    of_grid: Array
    saved: Array
    next: int


def plan_of(run: Going, loops: ControlLoops, grid: Array, save_every: int) -> Plan:
    """Plan the remaining steps of a run, which end at its times ``grid`` and at calls of controllers.

    If the run is resumed, the state of its controllers is restored first.
    """
    if run.restart:
        loops.restore(run.restart)
    times, of_grid = loops.grid(grid)
    saved = of_grid & ((np.cumsum(of_grid) - 1) % save_every == 0)
    return Plan(times, of_grid, saved, int(np.searchsorted(times, run.start.time)) + 1)


class Holding(NamedTuple):
    """Stepper of a mechanism under constant ``inputs`` of controllers, which it records with each step."""

    stepper: Any
    inputs: Array

    def step(self, start: Any, time: float) -> HeldStep:
        """Take a step from a start to a time [s] under the held inputs; raises StepFailed."""
        return HeldStep(self.stepper.step(start, time), self.inputs)


class HeldStep(NamedTuple):
    """Result of a step, with the inputs (m,) that controllers held in it."""

    result: Any
    inputs: Array

    @property
    def end(self) -> Any:
        """End of the step, as the start of the next one."""
        return self.result.end

    def row(self) -> Any:
        """Row of the recorder for the step, by the names of its columns."""
        return {**self.result.row(), "held": self.inputs}


class CoupledSteps(NamedTuple):
    """Stepper that solves a mechanism and continuous controllers together.

    ``inputs`` are the constant outputs of sampled controllers, ``states`` the states of the continuous ones at the
    start of the step.
    """

    stepper: Any
    loops: ControlLoops
    inputs: Array
    states: list[Array]

    def step(self, start: Any, time: float) -> CoupledResult:
        """Repeat the step from a start to a time [s] until mechanism and controllers agree; raises StepFailed."""
        coupled = self.loops.coupled
        assert coupled is not None

        def take(answers: Array) -> tuple[Any, Array, Array]:
            self.loops.held[:] = self.inputs + answers
            try:
                result = self.stepper.step(start, time)
            finally:
                self.loops.held[:] = self.inputs
            return result, result.end.x, result.output

        result, controllers = coupled.step(start.x, (start.time, time), take, states=self.states)
        balance = self.stepper.accounts.balance(start.energy, result.end.energy, result.flows)
        return CoupledResult(result, self.inputs + controllers.held, controllers, abs(balance + controllers.error))


def held_steps(stepper: Any, loops: ControlLoops) -> Holding | CoupledSteps:
    """Stepper with the inputs that sampled controllers hold now, and with continuous controllers if there are any."""
    held = loops.held.copy()
    return Holding(stepper, held) if loops.coupled is None else CoupledSteps(stepper, loops, held, loops.coupled.states)


class CoupledResult(NamedTuple):
    """Results of the mechanism and of the controllers in a common step.

    ``balance`` is the defect of the energy balance of both [J], ``inputs`` the inputs that the controllers set.
    """

    result: Any
    inputs: Array
    controllers: ControllersStep | CompiledStep
    balance: float

    @property
    def end(self) -> Any:
        """End of the step, as the start of the next one."""
        return self.result.end

    def row(self) -> Any:
        """Row of the recorder for the step, by the names of its columns."""
        row, controllers = self.result.row(), self.controllers
        residuals = np.append(self.balance, row["residuals"][1:])
        return {**row, "residuals": residuals, "held": self.inputs, **controllers.row()}


def one_by_one(
    run: Going,
    stepper: Any,
    loops: ControlLoops,
    grid: Array,
    save_every: int,
    *,
    held_by: Callable[[Any, ControlLoops], Any] = held_steps,
) -> Iterator[Accepted]:
    """Call the controllers and take a step, in turn, and yield the steps.

    ``held_by`` makes the stepper for the outputs that the controllers hold in the step.
    """
    plan = plan_of(run, loops, grid, save_every)
    for k in range(plan.next, plan.times.size):
        start, time = run.start, float(plan.times[k])
        run.begin_trial(start.time, time)
        loops.call(start.time, start.x, loops.last)
        held = held_by(stepper, loops)
        step, shorter = held.step(start, time), partial(held.step, start)
        if loops.coupled is not None and isinstance(step, CoupledResult):
            loops.coupled.commit(step.controllers)
        loops.follow(step, time, start)
        yield Accepted(start, step, shorter, bool(plan.saved[k]), reached=int(plan.of_grid[k]), restart=loops.snapshot)
