"""Where a run keeps what is finished while it goes on, and the runs of a case that are kept one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from ...numerics import checks as check
from ...numerics.arguments import checked


class CheckpointWarning(RuntimeWarning):
    """A piece of a checkpoint could not be written; the run goes on."""


@checked
@dataclass(frozen=True)
class Checkpoint:
    """A folder in which a run keeps its finished steps, piece by piece, and how it stands there.

    A run that is killed at any moment loses what came after the last piece: what it did within ``every`` seconds, while
    the next piece was being written, and in the step (of compiled loops: the tenth of a second) under way. Such a run
    may be longer than memory: its finished rows go to temporary files in the folder, and the arrays of the solution are
    read from there as they are asked for.

    Another call than the one whose run is kept is refused: inputs are compared by their values at a few times, events,
    ``observe`` and controllers by the code of their functions and the constants that these hold (defaults, closures,
    arguments of ``partial``), not by what they look up in their modules, controllers also by sensors and memories.

    Parameters
    ----------
    path : path
        The folder.
    every : float
        Time of the run between two pieces, from the end of writing one to the next [s]: where a piece takes w seconds
        to reach the disk, pieces take w/(w + every) of the time at most.
    resume : bool
        The same call goes on from there, to the bits of a run that was not interrupted, and returns at once what has
        ended; it begins where there is nothing yet. Without, a folder in which a run is kept is refused.
    """

    path: str | Path
    every: float = 60.0
    resume: bool = False

    def __post_init__(self) -> None:
        check.not_negative("every", self.every, "s")


def as_checkpoint(given: Any) -> Checkpoint | None:
    """A checkpoint, its path, or None."""
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)


_NEXT: ContextVar[Iterator[Checkpoint] | None] = ContextVar("checkpoints of the runs of a case", default=None)


@contextmanager
def runs_kept(folder: Path, every: float) -> Iterator[None]:
    """Keep all runs that begin in the block, in folders that are numbered in their order, and go on with those there.

    It is for functions that integrate several times and do the same again when they are called again. Runs in other
    threads, and those that a function within a run begins, are not kept.
    """
    token = _NEXT.set(Checkpoint(folder / f"{k:04d}", every, resume=True) for k in count(1))
    try:
        yield
    finally:
        _NEXT.reset(token)


@contextmanager
def next_checkpoint() -> Iterator[Checkpoint | None]:
    """The checkpoint of a run that begins within :func:`runs_kept`, or None."""
    checkpoints = _NEXT.get()
    token = _NEXT.set(None)
    try:
        yield None if checkpoints is None else next(checkpoints)
    finally:
        _NEXT.reset(token)
