"""Step size control: blocks of equal pairs of steps, accepted or rejected together, that meet the saved times.

A step of an index-2 system reverses the sign of the velocity defect. Single steps of changing length would increase the
defect and fall to first order. A pair of equal steps restores it (see :mod:`flexph.integration.schemes.scheme`), so
that the length may change after each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded
from .loop import Accepted, Memory, Run
from .step_size import StepControlFailed, StepSize, StepSizeControl, StepTooSmall


class Tried(NamedTuple):
    """Block of steps that was tried, and its error relative to the tolerance.

    ``steps`` has, for each step, the start, the result, and a function that repeats it from the start to an earlier
    time. ``cause`` names the reason if the error is too large, ``history`` is the state of the estimate for the next
    block. ``ended`` is set if the motion left the range of its model within the steps, as it may in steps that are too
    long.
    """

    steps: Sequence[tuple[Any, Any, Callable[[float], Any]]]
    error: float
    cause: str
    history: Any
    ended: MotionEnded | None = None


class ErrorEstimate(Protocol):
    """Protocol of an error estimate of blocks of steps; its state ``history`` is passed from block to block."""

    def initial(self, start: Any) -> Any:
        """State of the estimate at the start of a run."""

    def count(self, history: Any) -> int:
        """Even number of steps in the next block."""

    def attempt(self, run: Run, times: Array, history: Any) -> Tried:
        """Try the steps from the present state of the run through ``times``.

        The error is infinite if one of them cannot be solved.
        """


def controlled(
    run: Run,
    estimate: ErrorEstimate,
    control: StepSizeControl,
    grid: Array,
    save_every: int = 1,
    *,
    memory: Memory | None = None,
) -> Iterator[Accepted]:
    """Yield accepted steps of controlled length, such that they meet each time of ``grid``; raises StepControlFailed.

    A resumed run continues from its step size, the error of its last step, the state of the estimate, and the
    ``memory`` of the iteration.
    """
    size, history = control.first, estimate.initial(run.start)
    if run.restart:
        size, history = StepSize(*run.restart[0]), run.restart[1]
        if memory is not None:
            memory.restore(run.restart[2])
    for k, saved in enumerate(grid[run.reached + 1 :].tolist(), run.reached + 1):
        rejected = 0
        while run.start.time < saved:
            start, count = run.start.time, estimate.count(history)
            times = control.times(size, start, saved, count)
            h = float(times[-1] - start) / count
            tried = estimate.attempt(run, times, history)
            history = tried.history
            if not tried.error <= 1.0:
                try:
                    size = control.rejected(size, h, tried.error)
                except StepTooSmall as small:
                    if tried.ended is not None:
                        raise tried.ended from None
                    raise StepControlFailed(f"{small}: {tried.cause}", start) from None
                rejected += count
                continue
            size, run.longest = control.accepted(size, h, tried.error), max(run.longest, h)
            for i, step in enumerate(tried.steps, 1):
                reached, whole = step[1].end.time == saved, i == len(tried.steps)
                restart = partial(_restart_state, size, history, memory) if whole else None
                keeps = reached and k % save_every == 0
                yield Accepted(*step, saved=keeps, reached=int(reached), rejected=rejected, restart=restart)
                rejected = 0


def _restart_state(size: StepSize, history: Any, memory: Memory | None) -> tuple[Any, ...]:
    """Values from which step size control continues in a resumed run: step size, state of the estimate, memory."""
    return size, history, None if memory is None else memory.snapshot()
