"""Checkpoints: folders that hold the finished steps of a run in progress, and those of the runs of a case."""

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
    """Folder for the finished steps of a run, written in pieces, from which the run can be resumed.

    A run that is killed loses only the steps after the last piece: ``every`` seconds of work, the time to write the
    next piece, and the current step (with compiled loops a tenth of a second). The run may be longer than memory: its
    finished rows go to temporary files in the folder, from which the arrays of the solution are read on demand.

    A folder can only be resumed by the call that began it: inputs are compared by their values at a few times; events,
    ``observe`` and controllers by the code of their functions and the constants in it (defaults, closures, arguments of
    ``partial``), but not by global names; controllers also by their sensors and memories.

    Parameters
    ----------
    path : path
        Folder of the checkpoint.
    every : float
        Time between two pieces [s], from the end of one write to the next: if writing takes w seconds, checkpoints take
        at most w/(w + every) of the run's time.
    resume : bool
        True to continue from the folder: the result is equal, to the last bit, to that of an uninterrupted run. A
        finished run is returned at once, an empty folder starts a new run. If False, a folder with a run is refused.
    """

    path: str | Path
    every: float = 60.0
    resume: bool = False

    def __post_init__(self) -> None:
        check.not_negative("every", self.every, "s")


def as_checkpoint(given: Any) -> Checkpoint | None:
    """Checkpoint of a path or of a checkpoint; None stays None."""
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)


_NEXT: ContextVar[Iterator[Checkpoint] | None] = ContextVar("checkpoints of the runs of a case", default=None)


@contextmanager
def runs_kept(folder: Path, every: float) -> Iterator[None]:
    """Write checkpoints of all runs started in the block, in numbered folders, and resume the runs found there.

    For functions that integrate several times, in the same order at each call. Runs in other threads, and runs started
    by a function within a run, have no checkpoint.
    """
    token = _NEXT.set(Checkpoint(folder / f"{k:04d}", every, resume=True) for k in count(1))
    try:
        yield
    finally:
        _NEXT.reset(token)


@contextmanager
def next_checkpoint() -> Iterator[Checkpoint | None]:
    """Provide the checkpoint of a run that starts within :func:`runs_kept`, or None."""
    checkpoints = _NEXT.get()
    token = _NEXT.set(None)
    try:
        yield None if checkpoints is None else next(checkpoints)
    finally:
        _NEXT.reset(token)
