"""Step size control: blocks of equal pairs of steps, accepted or rejected together, that meet the saved times.

A step of an index-2 system reverses the velocity defect. Single steps of changing length would increase it and fall to
first order. A pair of equal steps reproduces it (:mod:`flexph.integration.schemes.scheme`), so that the length may
change after each pair.
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
    """Block of steps (start, result, function for a shorter step), and its error relative to the tolerance.

    ``cause`` names the reason if the error is too large, ``known`` is the state of the next estimate. ``ended`` is set
    if the motion left the range of its model within the steps, as it may in steps that are too long.
    """

    steps: Sequence[tuple[Any, Any, Callable[[float], Any]]]
    error: float
    cause: str
    known: Any
    ended: MotionEnded | None = None


class ErrorEstimate(Protocol):
    """Error estimate of blocks of steps; ``known`` is its state, passed from block to block."""

    def known(self, start: Any) -> Any:
        """State of the estimate before the first step."""

    def count(self, known: Any) -> int:
        """Number of steps in the next block, even."""

    def attempt(self, run: Run, times: Array, known: Any) -> Tried:
        """Try the steps from the present state through the times; one that cannot be solved has an infinite error."""


def controlled(
    run: Run,
    estimate: ErrorEstimate,
    control: StepSizeControl,
    grid: Array,
    save_every: int = 1,
    *,
    memory: Memory | None = None,
) -> Iterator[Accepted]:
    """Yield accepted steps of controlled size from each time to the next; raises StepControlFailed.

    A resumed run continues from its step size, the error of its last step, the state of the estimate, and the
    ``memory`` of the iteration.
    """
    size, known = control.first, estimate.known(run.start)
    if run.restart:
        size, known = StepSize(*run.restart[0]), run.restart[1]
        if memory is not None:
            memory.restore(run.restart[2])
    for k, saved in enumerate(grid[run.reached + 1 :].tolist(), run.reached + 1):
        rejected = 0
        while run.start.time < saved:
            start, count = run.start.time, estimate.count(known)
            times = control.times(size, start, saved, count)
            h = float(times[-1] - start) / count
            tried = estimate.attempt(run, times, known)
            known = tried.known
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
                restart = partial(_restart_state, size, known, memory) if whole else None
                keeps = reached and k % save_every == 0
                yield Accepted(*step, saved=keeps, reached=int(reached), rejected=rejected, restart=restart)
                rejected = 0


def _restart_state(size: StepSize, known: Any, memory: Memory | None) -> tuple[Any, ...]:
    """State of the step size control for a resumed run."""
    return size, known, None if memory is None else memory.kept()
