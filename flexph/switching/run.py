"""Time integration of switching systems."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from ..consistency.equations import with_algebraic
from ..integration.general.cautions import Cautions
from ..integration.general.record import recorder_of, trajectory_of
from ..integration.general.run import METHODS
from ..integration.general.stepper import start_at
from ..integration.methods import GeneralMethod
from ..integration.methods.names import call_of
from ..integration.times.events import ascending
from ..integration.times.loop import Run
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from ..results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from ..systems.inputs import Forcing, Input
from .arrival import Arrival, DrivenSystem, Instant, switched, violated
from .branch import Branch
from .record import Record
from .segment import ModeStepper, state_at_end, steps_in_mode
from .system import SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory
from .transition import Transition
from .triggers import At, Every, Impasse
from .watch import Bound, Leaving, bounds

CLOSE = 16.0
"""Spacings between numbers up to which two times are one: instants of a grid and of a pulse are rounded differently."""

FOLLOWS = ("gonzalez", "mean_value", "invariants", "midpoint")
"""Methods with one stage, whose algebraic states say on which branch a step is; two stages may lie on two branches."""


def integrate_switching(
    system: SwitchingPHDAE,
    start: Any,
    times: Sequence[float] | Array,
    *,
    mode: str | None = None,
    method: GeneralMethod,
    inputs: Mapping[str, Input] | None = None,
    save_every: int = 1,
    progress: bool = True,
) -> SwitchingTrajectory:
    """See :func:`flexph.integrate`."""
    if any(isinstance(t.when, Impasse) for t in system.transitions):
        _check_follows(method)
    x0 = np.array(check.array("start", start, (system.size,)))
    grid = ascending(times)
    check.count("save_every", save_every)
    given = inputs or {}
    for name in given:
        check.lookup("external port", name, system.ports)
    forcings = {
        name: Forcing(one.system.ports, {port: u for port, u in given.items() if port in one.system.ports})
        for name, one in system.modes.items()
    }
    kept = grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
    return _Journey(DrivenSystem(system, forcings, float(grid[-1])), grid, kept, method.name).run(x0, mode, progress)


def _check_follows(method: GeneralMethod) -> None:
    if method.name not in FOLLOWS:
        takers = ", ".join(map(call_of, FOLLOWS))
        raise ValueError(f"a system with Impasse() takes methods of one stage, {takers}, got {method}")


class _Journey:
    """A run under way."""

    def __init__(self, world: DrivenSystem, grid: Array, kept: Array, method: str) -> None:
        self.world, self.system, self.grid, self.kept, self.method = world, world.system, grid, kept, method
        self.close = CLOSE * float(np.spacing(np.abs(grid).max()))
        self.recent: list[ModeChange] = []  # within one step of the grid
        self.tried: tuple[float, float] | None = None

    def run(self, x0: Array, mode: str | None, progress: bool) -> SwitchingTrajectory:
        """From the first to the last time; what is finished is kept in any case."""
        at = self._start(x0, mode)
        record = self.record = Record(self.system, at, self.method)
        journey = self._through(at)
        bar = tqdm(total=self.grid.size - 1, delay=1.0, disable=None if progress else True, unit="step")
        try:
            with bar:
                for reached in journey:
                    bar.update(int(np.searchsorted(self.grid, reached, side="right")) - 1 - bar.n)
        except KeyboardInterrupt:
            journey.close()
            done = record.trajectory()
            message = f"interrupted at t = {done.times[-1]:.6g} s; the finished steps are in .solution"
            raise IntegrationInterrupted(message, done) from None
        except StepFailed as error:
            t0, t1 = self.tried or (record.time, record.time)
            raise IntegrationError(
                f"the step from t = {t0:.9g} s to {t1:.9g} s in mode {record.mode!r} could not be solved by "
                f"{self.method!r}: {error} after {error.iterations} iterations; try a smaller step, a guard or "
                "Impasse() where the mode ends, and look for an index above 2. What is finished is kept in .solution",
                record.trajectory(),
            ) from error
        except ArithmeticError as error:
            if type(error) is not ArithmeticError:  # division by zero and the like, in a function that was given
                raise self._of_function(error) from error
            message = f"{error}. What is finished is kept in .solution"
            raise IntegrationError(message, record.trajectory()) from error
        except Exception as error:  # inputs, guards and matrix functions may raise anything
            raise self._of_function(error) from error
        return record.trajectory()

    def _of_function(self, error: Exception) -> InputError:
        record = self.record
        return InputError(f"in mode {record.mode!r} after t = {record.time:.6g} s: {error}", record.trajectory())

    def _start(self, x0: Array, mode: str | None) -> Instant:
        time = float(self.grid[0])
        names = list(self.system.modes) if mode is None else [check.choice("mode", mode, self.system.modes)]
        reasons = []
        for name in names:
            system = self.system.system(name)
            system.check(x0)
            try:
                branch = self.world.branch(name, time, x0)
            except ArithmeticError as error:
                reasons.append(str(error))
                continue
            size = with_algebraic(system, branch.state, np.maximum(np.abs(branch.state), system.floor(branch.state)))
            at, reason = Instant(time, name, branch.state, size), ""
            if mode is None:
                arrival = Arrival(_nothing(self.system, at), branch)
                reason = violated(self.world, arrival, size, self._usual(time))
            if not reason:
                return at
            reasons.append(f"{name!r}: {reason}")
        raise ValueError(
            f"no consistent start at t = {time} s. {'; '.join(reasons)}; see flexph.consistency.consistent"
        )

    def _through(self, at: Instant) -> Generator[float, None, None]:
        """Modes and switches in turn; yields times that are reached."""
        at = self._settled(at, self._at_once(at, None))
        while True:
            if at.time >= self.grid[-1] - self.close:
                return
            due = min((when.after(at.time + self.close) for _, when in self._timed(at.mode)), default=math.inf)
            end = self._end_of(due)
            later = self.grid[(self.grid > at.time + self.close) & (self.grid < end - self.close)]
            run, stepper = self._segment(at, end)
            try:
                impasse = yield from steps_in_mode(run, stepper, np.array([at.time, *later, end]), self.kept)
            finally:
                self.tried, state = run.tried, state_at_end(run, stepper.watch)
                self.record.segment(trajectory_of(stepper.system, run.recorder, self.method, {}), at.mode, state)
            at = Instant(run.start.time, at.mode, state, run.start.sizes)
            at = self._settled(at, self._from_impasse(at) if impasse else self._cause(at, due))
            yield at.time

    def _end_of(self, due: float) -> float:
        last = float(self.grid[-1])
        return min(due, last) if abs(due - last) > self.close else last

    def _segment(self, at: Instant, end: float) -> tuple[Run, ModeStepper]:
        """The run and the steps within a mode."""
        system, watch = self.system.system(at.mode), self.watch
        usual = self._usual(at.time)
        stepper = ModeStepper(
            system, METHODS[self.method](system), self.world.forcings[at.mode], lambda time: usual, watch=watch
        )
        start = start_at(system, at.time, watch.branch.state)
        start = start._replace(sizes=np.maximum(start.sizes, at.size))
        cautions = Cautions(system)
        cautions.look(start.time, start.x)
        expected = int(np.count_nonzero((self.kept > at.time) & (self.kept <= end))) + 1
        return Run(recorder_of(system, start, expected), watch, start, cautions.look), stepper

    def _usual(self, time: float) -> float:
        """The length of steps of the grid at a time."""
        k = min(int(np.searchsorted(self.grid, time, side="right")), self.grid.size - 1)
        return float(self.grid[k] - self.grid[k - 1])

    def _timed(self, mode: str) -> list[tuple[Transition, At | Every]]:
        return [(t, t.when) for t in self.system.leaving(mode) if isinstance(t.when, At | Every)]

    def _cause(self, at: Instant, due: float) -> Bound | Transition | None:
        """What has ended the steps within a mode."""
        if self.watch.fired is not None:
            return self.watch.fired
        return self._due(at, []) if abs(at.time - due) <= self.close else None

    def _from_impasse(self, at: Instant) -> Transition:
        for transition in self.system.leaving(at.mode):
            if isinstance(transition.when, Impasse) and _allows(transition, at):
                return transition
        raise ArithmeticError(f"mode {at.mode!r} ends at an impasse point at t = {at.time:.9g} s, x = {at.state}")

    def _due(self, at: Instant, used: list[Transition]) -> Transition | None:
        """The first transition of this instant that has not been taken."""
        for transition, when in self._timed(at.mode):
            moment = when.after(at.time - self.close)
            if transition not in used and abs(moment - at.time) <= self.close and _allows(transition, at):
                return transition
        return None

    def _at_once(
        self, at: Instant, used: list[Transition] | None, branch: Branch | None = None
    ) -> Bound | Transition | None:
        """What takes a mode away as soon as it is entered; no times (``used`` is None) where a run begins."""
        branch = branch or self.world.branch(at.mode, at.time, at.state, entered=False)
        self.watch = Leaving(bounds(self.system, at.mode), branch, at.time, at.size)
        return (None if used is None else self._due(at, used)) or self.watch.at_once(at.time)

    def _settled(self, at: Instant, cause: Bound | Transition | None) -> Instant:
        """After all switches of an instant."""
        used: list[Transition] = []
        if cause is None:
            cause = self._at_once(at, None)
        while cause is not None:
            transition = cause.transition if isinstance(cause, Bound) else cause
            if transition is None:
                assert isinstance(cause, Bound)
                name, targets, reset = f"not valid: {cause.name}", self.system.following(at.mode), None
            else:
                name, targets, reset = transition.name, tuple(transition.target), transition.reset
                used.append(transition)
            only = transition is not None and len(targets) == 1  # what is not valid there leads on to another one
            step = None if only else self._usual(at.time)
            switch, branch = switched(self.world, at, targets, cause=name, reset=reset, step=step)  # type: ignore[arg-type]
            self._count(switch)
            self.record.switch(switch)
            at = Instant(at.time, switch.target, switch.after, np.maximum(at.size, np.abs(switch.after)))
            cause = self._at_once(at, used, branch)
        return at

    def _count(self, switch: ModeChange) -> None:
        k = np.searchsorted(self.grid, switch.time, side="right")
        if self.recent and np.searchsorted(self.grid, self.recent[0].time, side="right") != k:
            self.recent = []
        self.recent.append(switch)
        if len(self.recent) > self.system.limit:
            last = ", ".join(f"{s.source!r} to {s.target!r} at {s.time:.12g} s" for s in self.recent[-3:])
            raise ArithmeticError(
                f"switches accumulate (Zeno): more than limit = {self.system.limit} of them between two times of the "
                f"run, from t = {self.recent[0].time:.12g} s on, the last ones {last}. Give a mode for what they tend "
                "to, or a larger limit"
            )


def _allows(transition: Transition, at: Instant) -> bool:
    return transition.condition is None or bool(transition.condition(at.time, at.state))


def _nothing(system: SwitchingPHDAE, at: Instant) -> ModeChange:
    """A switch that does nothing, to ask whether the mode is valid."""
    energy, zero = float(system.H(at.state)), np.zeros(system.size)
    return ModeChange(
        at.time, at.mode, at.mode, "", at.state, at.state, (energy, energy), {}, 0.0, zero, zero[None, :0], {}
    )
