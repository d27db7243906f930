"""Steps chosen by their error: blocks of equal pairs of steps, accepted or rejected as one, that meet the saved times.

Single steps of changing length would feed the velocity defect that a step of an index-2 system reflects and fall to
first order; a pair of equal steps returns it (:mod:`flexph.integration.exact.composition`), so that the length may
change after each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded
from .loop import Accepted, Run
from .protocols import Memory
from .step_size import StepControlFailed, StepSize, StepSizeControl, StepTooSmall


class Tried(NamedTuple):
    """Steps (start, result, how to take it up to an earlier time) that are tried, and their error over the tolerance.

    ``cause`` says what to blame if that is too large; ``known`` is what the next estimate takes over. ``ended`` is
    where the motion comes to the end of its model in them, as it may in steps that are too long.
    """

    steps: Sequence[tuple[Any, Any, Callable[[float], Any]]]
    error: float
    cause: str
    known: Any
    ended: MotionEnded | None = None


class ErrorEstimate(Protocol):
    """Blocks of steps with an estimate of their error; ``known`` is what it takes over from those before."""

    def known(self, start: Any) -> Any:
        """What is known before the first step."""

    def count(self, known: Any) -> int:
        """Steps of the next block, an even number."""

    def attempt(self, run: Run, times: Array, known: Any) -> Tried:
        """Steps from where a run stands through the times; of one that cannot be solved the error is infinite."""


def controlled(
    run: Run,
    estimate: ErrorEstimate,
    control: StepSizeControl,
    grid: Array,
    save_every: int = 1,
    *,
    memory: Memory | None = None,
) -> Iterator[Accepted]:
    """Steps that their error allows, from each time to the next; raises StepControlFailed.

    A run that goes on does so from its step size, the error of its last step, what is known, and the ``memory`` of the
    iteration.
    """
    size, known = control.first, estimate.known(run.start)
    if run.then:
        size, known = StepSize(*run.then[0]), run.then[1]
        if memory is not None:
            memory.restore(run.then[2])
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
                then = partial(_then, size, known, memory) if whole else None
                keeps = reached and k % save_every == 0
                yield Accepted(*step, saved=keeps, reached=int(reached), rejected=rejected, then=then)
                rejected = 0


def _then(size: StepSize, known: Any, memory: Memory | None) -> tuple[Any, ...]:
    """What the next step is chosen from."""
    return size, known, None if memory is None else memory.kept()
