"""The loop over the steps of a run: events, rows, progress, and what ends a run early.

What takes the steps is an iterator of accepted ones: prescribed, chosen by their error, in compiled blocks, or those of
the solver of a library. The loop looks for events in them and records them, and keeps what is finished in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ...files.progress import Bar, NoBar, progress
from ...numerics.arrays import Array
from ...numerics.step_failed import TimedError
from ...results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from .journal import Journal
from .observer import Observer
from .protocols import Entry, Finished, Memory, Stepper, StepStart, Watch
from .recorder import Recorder, Values
from .step_size import StepControlFailed


class Going:
    """Where steps have come to: the ``start`` of the next one, and the times that are being tried.

    ``then`` is what the source of steps goes on from, besides ``start``.
    """

    def __init__(self, start: StepStart) -> None:
        self.start: Any = start
        self.tried = (start.time, start.time)
        self.then: Any = None

    def trying(self, t0: float, t1: float) -> None:
        """Note the step that is tried next, for what is said where it fails."""
        self.tried = (t0, t1)


class Run(Going):
    """A run under way: rows of finished steps, the events that are looked for, the step that is being tried.

    ``observer`` is asked at saved times, ``after_step`` is called with time and state after each recorded step;
    ``longest`` is the longest accepted one [s]. ``reached`` counts the times of the run that are reached, and ``ended``
    says that an event ended the run.
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
        """Steps that are finished."""
        return self.recorder.steps

    def observe_last(self) -> None:
        """Ask the observer at the last row, saved or not."""
        if self.recorder.is_open:
            self.observer.saved(self.start.time, self.start.x)
        self.observer.settle()


class Accepted(NamedTuple):
    """A step that is accepted, unless an event ends the run within it.

    ``shorter`` takes the step from the same start to an earlier time; ``rejected`` counts the steps that were tried
    before it in vain, ``reached`` the times of the run that it reaches. ``then`` is what the source of steps goes on
    from, a nested value or a function that returns it; None where it cannot.
    """

    start: Any
    result: Any
    shorter: Callable[[float], Any]
    saved: bool
    reached: int = 1
    rejected: int = 0
    then: Any = ()

    def record(self, run: Run) -> bool:
        """Record the step, or a shorter one up to a terminal event in it, and whether there was one.

        States at events are those of a step of their own that ends there, as exact as any other.
        """
        start, end = self.start, self.result.end
        to = lru_cache(maxsize=1)(self.shorter)  # the step that ends at an event is taken as it was found
        at = lambda time: start.x if time == start.time else to(time).end.x  # noqa: E731
        stop = run.watch.look(start.time, end.time, end.x, at) if run.watch.active else None
        if stop is None or stop == end.time:
            keep(run, self.result, saved=self.saved or stop is not None, rejected=self.rejected)
        elif stop > start.time:
            keep(run, to(stop), saved=True, rejected=self.rejected)
        return stop is not None


def keep(run: Run, result: Any, *, saved: bool, rejected: int = 0) -> None:
    """Record a step, at whose end the next one starts."""
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
    """Many steps at once, without events: rows (k, …) by column, which of them are saved (k,), where they end.

    ``reached`` counts the steps; a row may be that of several, and ``carried`` are the columns of which the first one
    holds what the row under way held. ``then`` is what the source of steps goes on from.
    """

    rows: Values
    saved: Array
    end: Any
    reached: int
    carried: tuple[str, ...] = ()
    then: Any = ()

    def record(self, run: Run) -> bool:
        """Record the steps; none of them ends the run."""
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
    """What a run says where it ends early: of a step that ``failure`` ended, and of one that became too small.

    ``added`` is put after each message, ``finished`` says what the solution holds.
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
    """Record accepted steps until there are no more or an event ends the run; what is finished is kept in any case.

    The journal, if there is one, is that of the checkpoint of the run.
    """

    def finished() -> Any:
        if journal is not None:
            journal.write(run)
        with suppress(ValueError):  # it is another error that ends the run
            run.observe_last()
        return result()

    try:
        with bar:
            for entry in steps if journal is None or not run.ended else ():
                ended = entry.record(run) if journal is None else journal.record(run, entry)
                bar.update(entry.reached)
                if ended:
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
    """A bar that appears after a second, where it is wanted."""
    return NoBar() if not shown else progress(total=total, initial=done, delay=1.0, unit=unit)


def prescribed(
    run: Run, stepper: Stepper, grid: Array, save_every: int, *, memory: Memory | None = None
) -> Iterator[Accepted]:
    """One step from each time to the next, from where the run stands; ``memory`` is that of the iteration."""
    if memory is not None and run.then:
        memory.restore(run.then)
    then = () if memory is None else memory.kept
    for k, time in enumerate(grid[run.reached + 1 :].tolist(), run.reached + 1):
        start = run.start
        run.trying(start.time, time)
        step, shorter = stepper.step(start, time), partial(stepper.step, start)
        yield Accepted(start, step, shorter, saved=k % save_every == 0, then=then)
