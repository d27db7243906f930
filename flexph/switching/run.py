"""Time integration of switching systems: its start, and the steps within one mode."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..consistency.conditions import Undetermined
from ..consistency.equations import with_algebraic
from ..integration.general.one_step import one_step_method
from ..integration.general.stepper import StepResult, StepStart, SystemStepper, start_at
from ..integration.general.system_run import SystemRun
from ..integration.methods.general import Library
from ..integration.methods.method import GeneralMethod
from ..integration.methods.names import call_of
from ..integration.times.events import PRECISION, Observer
from ..integration.times.loop import UNFOLLOWED, Accepted, Messages, Run, follow, progress_bar
from ..integration.times.options import RunOptions, ascending, saved_times
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from ..results.state_view import StateView
from ..systems.inputs import Forcing
from .arrival import Arrival, DrivenSystem, Instant, violated_conditions
from .branch import NEARLY
from .record import Record
from .switches import Switches
from .system import SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory
from .transition import Impasse, SwitchFailed
from .watch import ModeWatch


def start_of(driven: DrivenSystem, time: float, x0: Array, *, mode: str | None, step: float) -> Instant:
    """Start in the given mode, or else in the first mode that is consistent and still valid after a small step.

    ``step`` [s] is the usual step length. Raises ValueError if there is no such mode.
    """
    names = list(driven.system.modes) if mode is None else [check.choice("mode", mode, driven.system.modes)]
    reasons = []
    for name in names:
        system = driven.system.system(name)
        system.check(x0)
        try:
            branch = driven.branch(name, time, x0)
        except ArithmeticError as error:
            reasons.append(str(error))
            continue
        size = with_algebraic(system, branch.state, np.maximum(np.abs(branch.state), system.floor(branch.state)))
        start = Instant(time, name, branch.state, size)
        if mode is not None:
            return start
        reason = violated_conditions(driven, Arrival(_no_change(driven, start), branch), size, step)
        if not reason:
            return start
        reasons.append(f"{name!r}: {reason}")
    raise ValueError(f"no consistent start at t = {time} s. {'; '.join(reasons)}; see flexph.consistency.consistent")


def _no_change(driven: DrivenSystem, at: Instant) -> ModeChange:
    """Change from a mode to itself, without effect, for testing whether the mode is valid."""
    energy, zero = float(driven.system.H(at.state)), np.zeros(driven.system.size)
    return ModeChange(
        time=at.time,
        source=at.mode,
        target=at.mode,
        cause="",
        before=at.state,
        after=at.state,
        energy=(energy, energy),
        work={},
        lost=0.0,
        impulse=zero,
        free=zero[None, :0],
        kept={},
    )


CLOSE = 16.0
"""Largest difference of two equal times, in units of floating-point spacing, as grids and pulses are rounded
differently."""

FOLLOWS = ("gonzalez", "mean_value", "invariants", "midpoint")
"""Methods with one stage, whose algebraic states identify the branch of a step; two stages may lie on two branches."""


def integrate_switching(
    system: SwitchingPHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    options: RunOptions,
    mode: str | None = None,
) -> SwitchingTrajectory:
    """Integrate a switching system; see :func:`flexph.integrate`."""
    _check_method(system, method, options)
    x0 = np.array(check.array("start", start, (system.size,)))
    grid = ascending(times)
    driven = DrivenSystem(system, _forcings(system, options), float(grid[-1]))
    first = start_of(driven, float(grid[0]), x0, mode=mode, step=float(grid[1] - grid[0]))
    observer = Observer(options.observe, partial(StateView, system.parts), start=(first.time, first.state))
    run = SwitchingRun(driven, grid, method, Record(system, first, method.name, observer))
    bar = progress_bar(grid.size - 1, shown=options.progress)
    steps = run.steps(first, saved_times(grid, options.save_every))

    def finished() -> SwitchingTrajectory:
        steps.close()  # type: ignore[attr-defined]  # what is under way is recorded
        return run.record.trajectory()

    messages = Messages(
        (StepFailed, SwitchFailed, Undetermined),
        run.explain,
        lambda error: str(error),
        where=lambda _: f"in mode {run.record.mode!r} after t = {run.record.time:.6g} s",
    )
    trajectory: SwitchingTrajectory = follow(run, steps, finished, messages, bar=bar)
    return trajectory


def _check_method(system: SwitchingPHDAE, method: GeneralMethod, options: RunOptions) -> None:
    """Raise ValueError for a method or option that switching systems do not support."""
    if isinstance(method, Library):
        raise ValueError(f"a switching system needs steps prescribed by times, but {method} chooses its steps")
    refused = {"tolerance": method.tolerance, "completion": method.completion}
    for name, value in (refused | {"events": options.events}).items():
        if value:
            raise ValueError(f"a switching system does not support {name}, got {value!r}")
    if method.name not in FOLLOWS and any(isinstance(t.when, Impasse) for t in system.transitions):
        takers = ", ".join(map(call_of, FOLLOWS))
        raise ValueError(f"a system with Impasse() needs a method of one stage ({takers}), got {method}")


def _forcings(system: SwitchingPHDAE, options: RunOptions) -> dict[str, Forcing]:
    """Inputs of each mode."""
    for name in options.inputs:
        check.lookup("external port", name, system.ports)
    return {
        name: Forcing(one.system.ports, {port: u for port, u in options.inputs.items() if port in one.system.ports})
        for name, one in system.modes.items()
    }


class GridTimesReached(NamedTuple):
    """Report to the loop over steps, with the number ``reached`` of further grid times.

    The steps are recorded already.
    """

    reached: int

    def record(self, run: Any) -> bool:
        """Do nothing and return False: steps are already recorded, and no event ends the run."""
        return False


class SwitchingRun:
    """Run of a switching system: steps within a mode, then the switches at its end, and so on.

    ``tried`` are the start and end time [s] of the last attempted step.
    """

    follower = UNFOLLOWED

    def __init__(self, driven: DrivenSystem, grid: Array, method: GeneralMethod, record: Record) -> None:
        self.driven, self.grid, self.method, self.record = driven, grid, method, record
        self.tried = (float(grid[0]), float(grid[0]))
        self.close = CLOSE * float(np.spacing(np.abs(grid).max()))

    def observe_last(self) -> None:
        """Call the observer at the last instant."""
        self.record.observer.settle()

    def steps(self, at: Instant, kept: Array) -> Iterator[GridTimesReached]:
        """Take the steps of all modes up to the last time, and yield the progress.

        ``kept`` are the times of saved states.
        """
        switches, passed = Switches(self.driven, self.record, grid=self.grid, close=self.close), 0
        at = switches.settled(at, None)
        while at.time < self.grid[-1] - self.close:
            due = min((when.after(at.time + self.close) for _, when in switches.timed(at.mode)), default=math.inf)
            end = self._end_of(due)
            later = self.grid[(self.grid > at.time + self.close) & (self.grid < end - self.close)]
            run, stepper = self._segment(at, end, kept, switches)
            try:
                for time in steps_in_mode(run, stepper, np.array([at.time, *later, end]), kept):
                    passed, before = self._passed(time), passed
                    yield GridTimesReached(passed - before)
            finally:
                self.tried, state = run.tried, state_at_end(run, stepper.watch)
                self.record.segment(run, at.mode, state)
            impasse = run.start.time < end and switches.watch.fired is None
            at = Instant(run.start.time, at.mode, state, run.start.sizes)
            at = switches.settled(at, switches.from_impasse(at) if impasse else switches.cause(at, due))

    def _passed(self, time: float) -> int:
        """Number of grid intervals that have ended at a time [s]."""
        return int(np.searchsorted(self.grid, time + self.close)) - 1

    def _end_of(self, due: float) -> float:
        last = float(self.grid[-1])
        return min(due, last) if abs(due - last) > self.close else last

    def _segment(self, at: Instant, end: float, kept: Array, switches: Switches) -> tuple[SystemRun, ModeStepper]:
        """Run and stepper for the steps within the mode of ``at`` up to a time ``end`` [s].

        ``kept`` are the times of saved states, ``switches`` contains the conditions that end the mode.
        """
        system, watch, usual = self.driven.system.system(at.mode), switches.watch, switches.usual(at.time)
        steps, forcing = one_step_method(self.method, system), self.driven.forcings[at.mode]
        stepper = ModeStepper(system, steps, forcing, lambda time: usual, watch=watch)
        start = start_at(system, at.time, watch.branch.state)
        start = start._replace(sizes=np.maximum(start.sizes, at.size))
        expected = int(np.count_nonzero((kept > at.time) & (kept <= end))) + 1
        return SystemRun(system, start, expected, watch=watch, observer=self.record.observer), stepper

    def explain(self, error: ArithmeticError, tried: tuple[float, float]) -> str:
        """Message for a failed step or switch; ``tried`` are the start and end time [s] of the step."""
        if not isinstance(error, StepFailed):
            return f"{error}. The finished steps are in .solution"
        t0, t1 = tried
        return (
            f"the step from t = {t0:.9g} s to {t1:.9g} s in mode {self.record.mode!r} could not be solved by "
            f"{self.method.name!r}: {error} after {error.iterations} iterations; try a smaller step, a guard or "
            "Impasse() where the mode ends, and look for an index above 2. The finished steps are in .solution"
        )


NEAR = 0.02
"""Distance around a predicted end of a branch in which the end is searched, relative to the distance of the
prediction."""


class ModeStepper(SystemStepper):
    """Stepper of a mode that stays on one branch of its algebraic states."""

    def __init__(self, *system: Any, watch: ModeWatch) -> None:
        super().__init__(*system)
        self.watch, self.careful = watch, watch.branch.careful

    def step(self, start: StepStart, time: float, usual: float | None = None) -> StepResult:
        """Step from a start to a time [s]; ``usual`` is the usual step length [s].

        Raises StepFailed if the equations are not solved, or if the algebraic states reach another branch.
        """
        result = super().step(start, time, usual)
        branch, x = self.watch.branch, result.end.x
        if self.careful and branch.leaves_branch(time, x, branch.at(time, x)):
            raise StepFailed("the step leaves the branch of its algebraic states", result.iterations, np.inf)
        return result


def steps_in_mode(run: Run, stepper: ModeStepper, grid: Array, kept: Array) -> Iterator[float]:
    """Take the steps from each time of ``grid`` to the next, and yield the times that are reached.

    It ends if the mode is left or ends at an impasse. Steps to times in ``kept`` are saved.
    """
    for t1, saved in zip(grid[1:].tolist(), np.isin(grid[1:], kept).tolist(), strict=True):
        while run.start.time < t1:
            start = run.start
            run.begin_trial(start.time, t1)
            try:
                step = Accepted(start, stepper.step(start, t1), partial(stepper.step, start), saved=saved)
                left = step.record(run)
            except StepFailed as error:
                longest = _step_to_end_of_branch(run, stepper, t1, error)
                if longest is None:
                    return
                left = longest.record(run)
            if left:
                return
        yield t1


def state_at_end(run: Run, watch: ModeWatch) -> Array:
    """State at the end of the steps of a mode, with algebraic states that solve its equations.

    If none are found, it has the algebraic states of the last step.
    """
    if watch.active:
        return watch.branch.state
    try:
        return watch.branch.at(run.start.time, run.start.x)
    except StepFailed:
        return run.start.x


def _step_to_end_of_branch(run: Run, stepper: ModeStepper, t1: float, error: StepFailed) -> Accepted | None:
    """Longest step towards the time t1 that ends on the branch, after the whole step has failed.

    None if the state is at the end of the branch already. Raises ``error``, the failure, if no branch ends.
    """
    branch = stepper.watch.branch
    if not stepper.careful:
        raise error
    if branch.ends():
        return None
    longest = _longest_step(run.start, stepper, t1)
    if longest is None and not branch.ends(NEARLY):
        raise error
    return longest


def _longest_step(start: StepStart, stepper: ModeStepper, t1: float) -> Accepted | None:
    """Longest solvable step, to round-off; None if there is none.

    The step is found by bisection. As steps beyond the end of the branch need many iterations to fail, that end is
    predicted, and the step tried next is near the prediction.
    """
    low, high, longest = start.time, t1, None
    width = max(PRECISION * (t1 - low), float(np.spacing(max(abs(low), abs(t1)))))
    branch = stepper.watch.branch
    before, end, side = branch.squared_regularity(low, start.x), math.inf, -1.0
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
        after = branch.squared_regularity(middle, result.end.x)
        end = middle + after * (middle - low) / (before - after) if before > after else math.inf
        low, before, longest = middle, after, Accepted(start, result, partial(stepper.step, start), saved=False)
    return longest  # another step would differ by round-off only, and might pass the end
