"""Steps within one mode, up to its end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..integration.general.stepper import StepResult, StepStart, SystemStepper
from ..integration.times.events import PRECISION
from ..integration.times.loop import Accepted, Run
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from .branch import NEARLY
from .watch import Leaving

NEAR = 0.02
"""Relative distance from a predicted end of a branch at which it is searched for."""


class ModeStepper(SystemStepper):
    """Stepper of a mode that stays on one branch of its algebraic states."""

    def __init__(self, *system: Any, watch: Leaving) -> None:
        super().__init__(*system)
        self.watch, self.careful = watch, watch.branch.careful

    def step(self, start: StepStart, time: float, usual: float | None = None) -> StepResult:
        """Step from a start to a time [s]; raises StepFailed, also if it reached another branch."""
        result = super().step(start, time, usual)
        branch, x = self.watch.branch, result.end.x
        if self.careful and branch.strays(time, x, branch.at(time, x)):
            raise StepFailed("the step leaves the branch of its algebraic states", result.iterations, np.inf)
        return result


def steps_in_mode(run: Run, stepper: ModeStepper, grid: Array, kept: Array) -> Iterator[float]:
    """Steps from each time to the next until the mode is left or ends at an impasse; yields the times reached."""
    for t1, saved in zip(grid[1:].tolist(), np.isin(grid[1:], kept).tolist(), strict=True):
        while run.start.time < t1:
            start = run.start
            run.trying(start.time, t1)
            try:
                step = Accepted(start, stepper.step(start, t1), partial(stepper.step, start), saved=saved)
                left = step.record(run)
            except StepFailed as error:
                longest = _as_far_as_it_goes(run, stepper, t1, error)
                if longest is None:
                    return
                left = longest.record(run)
            if left:
                return
        yield t1


def state_at_end(run: Run, watch: Leaving) -> Array:
    """Last state, with algebraic states that solve the equations if they can be found."""
    if watch.active:
        return watch.branch.state
    try:
        return watch.branch.at(run.start.time, run.start.x)
    except StepFailed:
        return run.start.x


def _as_far_as_it_goes(run: Run, stepper: ModeStepper, t1: float, error: StepFailed) -> Accepted | None:
    """Step to the end of the branch, None if it starts there.

    Raises the error of the failed step if the branch does not end.
    """
    branch = stepper.watch.branch
    if not stepper.careful:
        raise error
    if branch.ends():
        return None
    longest = _furthest(run.start, stepper, t1)
    if longest is None and not branch.ends(NEARLY):
        raise error
    return longest


def _furthest(start: StepStart, stepper: ModeStepper, t1: float) -> Accepted | None:
    """Longest solvable step, to round-off; None if there is none.

    By bisection, accelerated by a prediction of the branch's end: beyond it steps take long to fail.
    """
    low, high, longest = start.time, t1, None
    width = max(PRECISION * (t1 - low), float(np.spacing(max(abs(low), abs(t1)))))
    branch = stepper.watch.branch
    room, end, side = branch.room(low, start.x), math.inf, -1.0
    while high - low > width:
        foreseen = end + side * NEAR * (end - low)
        middle, side = foreseen if low < foreseen < high else 0.5 * (low + high), -side
        if not low < middle < high:
            break
        try:
            result = stepper.step(start, middle)
        except StepFailed:
            high = middle
            continue
        left = branch.room(middle, result.end.x)
        end = middle + left * (middle - low) / (room - left) if room > left else math.inf
        low, room, longest = middle, left, Accepted(start, result, partial(stepper.step, start), saved=False)
    return longest  # another step would differ by round-off only, and might pass the end
