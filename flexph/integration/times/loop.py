"""Loop over the steps of a run: events, recorded rows, progress, and early ends.

The steps come from an iterator of accepted steps: prescribed ones, steps chosen by their error, compiled blocks, or
steps of a library's solver. The loop detects events, records the steps, and keeps the finished ones in any case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol

from ...display.bars import Bar, NoBar, progress
from ...numerics.arrays import Array
from ...numerics.step_failed import TimedError
from ...results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from .events import Observer
from .journal import Journal
from .recorder import Recorder, Values
from .step_size import StepControlFailed


class Watch(Protocol):
    """Protocol of event detection: it inspects the steps of a run and may end it."""

    @property
    def active(self) -> bool:
        """True if there are events."""

    def locate(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Time at which an event in the step from t0 to t1 ends the run, or None.

        ``end`` is the state at t1; ``at`` returns the state at a time between.
        """

    def occurrences(self) -> dict[str, Any]:
        """Occurrences by name of the event."""


class StepStart(Protocol):
    """Protocol of the start of a step."""

    @property
    def time(self) -> float:
        """Time of the start [s]."""

    @property
    def x(self) -> Array:
        """Flat state (n,) at the start."""


class StepResult(Protocol):
    """Protocol of the result of a step."""

    @property
    def end(self) -> Any:
        """End of the step, as the start of the next one."""

    def row(self) -> Values:
        """Recorded values of the step."""


class Stepper(Protocol):
    """Protocol of a stepper: a one-step method of a system, without memory between steps."""

    def step(self, start: Any, time: float) -> Any:
        """Take a step from a start to a time [s]; raises StepFailed."""


class Memory(Protocol):
    """Protocol of the memory of an iteration between steps, which can be saved as a nested value and restored."""

    def snapshot(self) -> Any:
        """Return the memory as a nested value."""

    def restore(self, saved: Any) -> None:
        """Restore the memory from a value of :meth:`snapshot`."""


class Finished(Protocol):
    """Protocol of a run that is complete or was stopped early."""

    @property
    def tried(self) -> tuple[float, float]:
        """Start and end time [s] of the last step that was tried."""

    def observe_last(self) -> None:
        """Call the observer at the last state of the run."""


class Entry(Protocol):
    """Protocol of one or more accepted steps, to be recorded in a run."""

    @property
    def reached(self) -> int:
        """Number of the times given for the run that the steps reach."""

    def record(self, run: Any) -> bool:
        """Record the steps in a run; True if they end it."""


class Follower(Protocol):
    """Protocol of a follower of a run in progress, such as a window: sees finished steps, may pause or end the run."""

    def of(self, mechanism: Any, accounts: Any) -> Follower:
        """Prepare for a run of a mechanism with the energy accounts ``accounts``; return the follower."""

    def before(self, run: Any) -> None:
        """Look at a run before its first step; the call may last until the user continues."""

    def block_limit(self, times: Array, reached: int) -> int:
        """Largest number of steps in the next block, which begins at ``times[reached]``.

        If steps are chosen by their error, this is the largest number of tries.
        """

    def after(self, run: Any) -> bool:
        """Look at the steps that were finished since the last call; return True to end the run."""


class Unfollowed:
    """Follower that does nothing, for a run without a display."""

    def of(self, mechanism: Any, accounts: Any) -> Follower:
        """Return this follower."""
        return self

    def before(self, run: Any) -> None:
        """Return at once, without waiting for a user."""

    def block_limit(self, times: Array, reached: int) -> int:
        """Largest possible integer, as blocks of steps have no limit."""
        return sys.maxsize

    def after(self, run: Any) -> bool:
        """Return False, so that the run continues."""
        return False


UNFOLLOWED = Unfollowed()


class Going:
    """Progress of the steps of a run.

    ``start`` is the start of the next step, ``tried`` start and end time [s] of the step that is being tried.
    ``restart`` is the further state from which the iterator of steps continues, ``follower`` observes the run.
    """

    follower: Follower = UNFOLLOWED

    def __init__(self, start: StepStart) -> None:
        self.start: Any = start
        self.tried = (start.time, start.time)
        self.restart: Any = None

    def begin_trial(self, t0: float, t1: float) -> None:
        """Store the times t0 and t1 [s] of the step that is tried next, for the message if it fails."""
        self.tried = (t0, t1)


class Run(Going):
    """State of a run in progress: recorder of finished steps, event detection, and the step that is being tried.

    ``observer`` is called at saved times, ``after_step`` with time and state after each recorded step. ``longest`` is
    the longest accepted step [s], ``reached`` the number of times reached, ``ended`` True after an event that ends
    it.
    """

    def __init__(
        self,
        recorder: Recorder,
        watch: Watch,
        start: StepStart,
        *,
        observer: Observer,
        after_step: Callable[[float, Array], None] | None = None,
    ) -> None:
        super().__init__(start)
        self.recorder, self.watch, self.observer, self.after_step = recorder, watch, observer, after_step
        self.longest, self.reached, self.ended = 0.0, 0, False

    @property
    def count(self) -> int:
        """Number of finished steps."""
        return self.recorder.steps

    def observe_last(self) -> None:
        """Call the observer at the last recorded state, saved or not."""
        if self.recorder.is_open:
            self.observer.saved(self.start.time, self.start.x)
        self.observer.settle()


class Accepted(NamedTuple):
    """Accepted step, to be recorded, which an event may still shorten.

    The step goes from ``start`` to ``result``; ``shorter`` repeats it from the same start to an earlier time.
    ``rejected`` counts the rejected steps before it, ``reached`` the times of the run that it reaches. The iterator of
    steps continues from ``restart``, a nested value or a function that returns one; None if it cannot continue from
    here.
    """

    start: Any
    result: Any
    shorter: Callable[[float], Any]
    saved: bool
    reached: int = 1
    rejected: int = 0
    restart: Any = ()

    def record(self, run: Run) -> bool:
        """Record the step, or a shorter one up to an event that ends the run; True if there was one.

        The state at an event is the end of a separate step to its time, as exact as any other step.
        """
        start, end = self.start, self.result.end
        to = lru_cache(maxsize=1)(self.shorter)  # the step to an event is taken once, when the event is located
        at = lambda time: start.x if time == start.time else to(time).end.x  # noqa: E731
        stop = run.watch.locate(start.time, end.time, end.x, at) if run.watch.active else None
        if stop is None or stop == end.time:
            keep(run, self.result, saved=self.saved or stop is not None, rejected=self.rejected)
        elif stop > start.time:
            keep(run, to(stop), saved=True, rejected=self.rejected)
        return stop is not None


def keep(run: Run, result: Any, *, saved: bool, rejected: int = 0) -> None:
    """Record the result of a step in a run, and make its end the start of the next step."""
    row, end = result.row(), result.end
    if not run.recorder.is_open:
        if "state_before" in row:
            run.observer.redefine(row["state_before"])
        run.observer.settle()
    run.recorder.add(row, saved=saved, rejected=rejected)
    run.start = end
    if saved:
        run.observer.saved(end.time, end.x)
    if run.after_step is not None:
        run.after_step(end.time, end.x)


class Block(NamedTuple):
    """Many accepted steps without events, to be recorded at once.

    ``rows`` (k, …) are the k rows by column, ``saved`` (k,) marks those that are saved, ``end`` is the start of the
    next step. ``reached`` counts the steps, of which a row may merge several. The first row of the columns
    ``carried`` includes the values of the row that was open before. ``restart`` is the state from which the iterator
    of steps continues.
    """

    rows: Values
    saved: Array
    end: Any
    reached: int
    carried: tuple[str, ...] = ()
    restart: Any = ()

    def record(self, run: Run) -> bool:
        """Record the steps in a run; return False, as none of them ends it."""
        run.recorder.extend(self.rows, self.saved, self.carried)
        run.start = self.end
        if run.after_step is not None or run.observer.active:
            for time, x, saved in zip(self.rows["time"][:, 0].tolist(), self.rows["state"], self.saved, strict=True):
                if run.after_step is not None:
                    run.after_step(time, x)
                if saved:
                    run.observer.saved(time, x)
        return False


@dataclass(frozen=True)
class Messages:
    """Messages of a run that ends early: a step failed, or step size control demanded too short steps.

    A step fails with the exception ``failure``. ``of_step`` and ``of_step_size`` return the messages of the two cases,
    to which ``added`` is appended; ``finished`` names the contents of the solution, ``where`` returns a text on the
    time at which a function of the user failed.
    """

    failure: type[ArithmeticError] | tuple[type[ArithmeticError], ...]
    of_step: Callable[[Any, tuple[float, float]], str]
    of_step_size: Callable[[StepControlFailed], str]
    finished: str = "the finished steps are"
    where: Callable[[Finished], str] = lambda run: "between t = {:.6g} s and {:.6g} s".format(*run.tried)
    added: Callable[[], str] = lambda: ""


def follow(
    run: Any,
    steps: Iterator[Entry],
    result: Callable[[], Any],
    messages: Messages,
    *,
    bar: Bar,
    journal: Journal | None = None,
) -> Any:
    """Record accepted steps until there are no more, or an event or the follower ends the run; return ``result()``.

    If a step fails or the run is interrupted, the error raised has the result of the finished steps. The journal, if
    given, writes the checkpoint of the run.
    """

    def finished() -> Any:
        if journal is not None:
            journal.write(run)
        with suppress(ValueError):  # the run ends with another error
            run.observe_last()
        return result()

    try:
        with bar:
            run.follower.before(run)
            for entry in steps if journal is None or not run.ended else ():
                ended = entry.record(run) if journal is None else journal.record(run, entry)
                bar.update(entry.reached)
                if run.follower.after(run) or ended:
                    break
        if journal is not None:
            journal.write(run)
        run.observe_last()
    except KeyboardInterrupt:
        done = finished()
        message = f"interrupted at t = {done.times[-1]:.6g} s; {messages.finished} in .solution"
        raise IntegrationInterrupted(message, done) from None
    except messages.failure as error:
        raise IntegrationError(messages.of_step(error, run.tried) + messages.added(), finished()) from error
    except StepControlFailed as error:
        raise IntegrationError(messages.of_step_size(error) + messages.added(), finished()) from error
    except Exception as error:  # drives, inputs, events and matrix functions may raise anything
        where = "" if isinstance(error, TimedError) else f"{messages.where(run)}: "
        raise InputError(f"{where}{error}{messages.added()}", finished()) from error
    return result()


def progress_bar(total: int, unit: str = "step", *, shown: bool, done: int = 0) -> Bar:
    """Progress bar that appears after a second; one that shows nothing if not ``shown``."""
    return NoBar() if not shown else progress(total=total, initial=done, delay=1.0, unit=unit)


def prescribed(
    run: Run, stepper: Stepper, grid: Array, save_every: int, *, memory: Memory | None = None
) -> Iterator[Accepted]:
    """Take one step from each time to the next, from the current state of the run on, and yield them.

    ``memory`` is the memory of the iteration between steps, which a resumed run restores.
    """
    if memory is not None and run.restart:
        memory.restore(run.restart)
    restart = () if memory is None else memory.snapshot
    for k, time in enumerate(grid[run.reached + 1 :].tolist(), run.reached + 1):
        start = run.start
        run.begin_trial(start.time, time)
        step, shorter = stepper.step(start, time), partial(stepper.step, start)
        yield Accepted(start, step, shorter, saved=k % save_every == 0, restart=restart)
