"""The run of a mechanism: steps from each time to the next, events in between, and what ends it early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from ...mechanisms.model.constraints import check_consistent, refuse_redundant, start_table
from ...mechanisms.model.state import State
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.compiling import AVAILABLE, timed
from ...results.solution import Solution
from ...results.state_view import MechanismView
from ...results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from ...results.validity import warn_of_doubts
from ...systems.inputs import Forcing, Input
from ..general.run import ascending_from
from ..methods import Exact, MechanismMethod
from ..times.events import Event, Watch
from ..times.step_size import NoPace
from .composition import Composed
from .newton import NoConvergence
from .pairs_of_steps import Pace, Pairs
from .record import Record
from .step import Method, Single, Station, Step
from .steppers import Given, stepper_of

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from .compiled_run import CompiledRun

ON_ZERO = 1e-9
"""Value of an event at the start of a run, over that after a step, up to which it starts there: far above round-off."""


@dataclass(frozen=True)
class Options:
    """What a run may be told, see :func:`flexph.integrate`."""

    method: MechanismMethod = field(default_factory=Exact)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    events: Mapping[str, Event | Callable[[float, Array], Any]] = field(default_factory=dict)
    save_every: int = 1
    progress: bool = True

    def __post_init__(self) -> None:
        check.count("save_every", self.save_every)


def run_mechanism(mechanism: Mechanism, start: State, times: Sequence[float] | Array, options: Options) -> Solution:
    """See :func:`flexph.integrate`."""
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    grid = _grid(times, start)
    forcing = Forcing(mechanism.network.input_slices, options.inputs, mechanism.layout.dim)
    table = start_table(mechanism, start)
    checked = check_consistent(mechanism, start, table=table)
    if options.method.redundant == "refuse":
        refuse_redundant(mechanism, checked.matrix)
    stepper = stepper_of(options.method, Given(mechanism, start, forcing, table, checked))
    if _compiles(mechanism, options):
        from .compiled_run import CompiledRun

        assert isinstance(stepper, Single | Composed)
        run: _Run | CompiledRun = CompiledRun(mechanism, start, stepper)
        solution = _march(run, grid, options)
    else:
        run = _Run(mechanism, start, stepper, options.events)
        if isinstance(stepper, Pairs):
            run.pace = Pace(stepper, run.station, grid)
        with timed("runs of mechanisms"):
            solution = _march(run, grid, options)
    warn_of_doubts(solution, run.longest(grid), level=3)
    return solution


def _compiles(mechanism: Mechanism, options: Options) -> bool:
    """Whether the steps are taken by compiled kernels; ValueError where that is asked for and cannot be."""
    compiled = options.method.compiled
    reasons = {
        "numba is not installed (pip install 'flexph[fast]')": not AVAILABLE,
        "events are not": bool(options.events),
        "a large body about mean axes is not: reduce it": any(b.unshifted for b in mechanism.bodies.values()),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if compiled and found:
        raise ValueError(f"compiled=True cannot be had: {found[0]}")
    if found or not options.method.may_compile:
        return False
    from ..compiled.loops.relations import compile_relations
    from .compiled_run import is_wide

    try:
        compile_relations(mechanism)
    except ValueError:
        if compiled:
            raise
        return False
    return bool(compiled) or not is_wide(mechanism)


def _grid(times: Sequence[float] | Array, start: State) -> Array:
    return ascending_from(start.time, times)


def _march(run: _Run | CompiledRun, grid: Array, options: Options) -> Solution:
    """From each time to the next, until the last one or a terminal event."""
    try:
        with tqdm(total=len(grid) - 1, delay=1.0, disable=None if options.progress else True, unit="step") as bar:
            run.march(grid, bar, options.save_every)
    except NoConvergence as error:
        raise IntegrationError(_explain(run, error), run.solution()) from error
    except NoPace as error:
        raise IntegrationError(_explain_pace(run, error), run.solution()) from error
    except KeyboardInterrupt:
        done = run.solution()
        message = f"interrupted at t = {done.times[-1]:.6g} s; the finished steps are in .solution"
        raise IntegrationInterrupted(message, done) from None
    except Exception as error:  # drives, inputs and events may raise anything: the finished steps are kept
        t0, t1 = run.under_way
        raise InputError(f"between t = {t0:.6g} s and {t1:.6g} s: {error}", run.solution()) from error
    return run.solution()


def _explain(run: _Run | CompiledRun, error: NoConvergence) -> str:
    t0, t1 = error.span
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved: {error} after "
        f"{error.iterations} iterations, last correction {error.defect:.1e} of the motion; try a smaller step, check "
        "the drives and loads at this time, and look for a singular pose or redundant joints. "
        f"{run.count} steps before it are finished and kept in .solution"
    )


def _explain_pace(run: _Run | CompiledRun, error: NoPace) -> str:
    return (
        f"{error} at t = {error.time:.6g} s; where a drive, load or event lets velocities jump, end the run and begin "
        "another, else look for a singular pose or raise the tolerance. "
        f"{run.count} steps before it are finished and kept in .solution"
    )


class _Watch(Watch):
    """Events of a run that may go on where one of them ended the last: a zero up to round-off has been passed there."""

    fresh = True

    def look(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """See :meth:`Watch.look`."""
        if self.fresh and self.events:
            for name, value in self._values(t1, end).items():
                if abs(self._last[name]) <= ON_ZERO * abs(value):
                    self._last[name] = 0.0
        self.fresh = False
        return super().look(t0, t1, end, at)


class _Run:
    """Where a run is, what it has kept, and the events it watches for."""

    def __init__(
        self,
        mechanism: Mechanism,
        start: State,
        method: Method,
        events: Mapping[str, Event | Callable[[float, Array], Any]],
    ) -> None:
        self.method, self.station = method, method.first(start)
        self.pace: Pace | None = None
        self.record = Record(mechanism, method.accounts, start, self.station)
        self.watch = _Watch(events, start.time, start.x, partial(MechanismView, mechanism))
        self.under_way = (start.time, start.time)

    def march(self, grid: Array, bar: Any, save_every: int) -> None:
        """From each time to the next, until the last one or a terminal event; saves every so many steps."""
        for k, time in enumerate(grid[1:].tolist(), 1):
            self.under_way = (self.under_way[1], time)
            ended = self.advance(time)
            if ended or k % save_every == 0:
                self.record.save()
            if ended:
                return
            bar.update()

    @property
    def count(self) -> int:
        """Steps of the scheme that are finished."""
        return self.record.count

    def longest(self, grid: Array) -> float:
        """The longest step of the run, of those that were taken [s]."""
        return self.pace.longest if self.pace else self.method.longest * float(np.diff(grid).max())

    def advance(self, time: float) -> bool:
        """Steps up to a time, or to a terminal event before it, and whether there was one."""
        if self.pace is None:
            return self._book(self.station, None, time) is None
        self.pace.advance(self.station, time, lambda start, pair: self._book(start, pair, pair.end.time))
        return self.station.time < time

    def _book(self, start: Station, step: Step | None, time: float) -> Station | None:
        """Keep the step to a time, or a shorter one up to a terminal event in it: then None.

        States at events are those of a step of their own that ends there, as exact as any other.
        """

        @lru_cache(maxsize=1)  # the step that ends at an event is taken as it was found
        def to(at: float) -> Step:
            return self.method.to(start, at)

        whole = to(time) if step is None else step
        stop = self.watch.look(start.time, time, whole.end.x, lambda t: start.x if t == start.time else to(t).end.x)
        if stop is None or stop == time:
            self._keep(whole)
        elif stop > start.time:
            self._keep(to(stop))
        return None if stop is not None else self.station

    def _keep(self, step: Step) -> None:
        self.record.keep(step)
        self.station = step.end

    def solution(self) -> Solution:
        """The finished steps."""
        return self.record.solution(self.watch.occurrences())
