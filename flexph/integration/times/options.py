"""Options of a run that do not depend on its method: checkpoints, times and their checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ...control.control_loops import Controller
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...systems.inputs import Input
from .events import Event

Events = Mapping[str, Event | Callable[[float, Any], Any]]
"""Functions of (t, state) by name, see :class:`Event`."""
Observe = Callable[[float, Any], Any]
"""Function of (t, state) that returns a number, an array or None."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run that all methods share, see :func:`flexph.integrate`."""

    inputs: Mapping[str, Input] = field(default_factory=dict)
    events: Events = field(default_factory=dict)
    observe: Observe | None = None
    save_every: int = 1
    progress: bool = True
    checkpoint: Checkpoint | None = None
    controllers: Mapping[str, Controller] = field(default_factory=dict)
    follower: Any = None
    segments: Any = None

    @property
    def folder(self) -> Path | None:
        """Folder of the checkpoint; None without a checkpoint."""
        return None if self.checkpoint is None else Path(self.checkpoint.path)

    def __post_init__(self) -> None:
        check.count("save_every", self.save_every)
        if not isinstance(self.controllers, Mapping):
            raise ValueError(f"controllers must be a mapping of names to values, got {check.shown(self.controllers)}")
        if not (self.observe is None or callable(self.observe)) or isinstance(self.observe, type):
            raise ValueError(f"observe must be a function of (t, state), got {self.observe!r}")


class CheckpointWarning(RuntimeWarning):
    """Warning that a part of a checkpoint could not be written; the run continues."""


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
    """Checkpoint from a path or a checkpoint; None stays None."""
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


def next_checkpoint() -> AbstractContextManager[Checkpoint | None]:
    """Context that provides the checkpoint for a run started within :func:`runs_kept`, or None elsewhere."""
    checkpoints = _NEXT.get()
    return nullcontext() if checkpoints is None else _taken(checkpoints)


@contextmanager
def _taken(checkpoints: Iterator[Checkpoint]) -> Iterator[Checkpoint]:
    token = _NEXT.set(None)
    try:
        yield next(checkpoints)
    finally:
        _NEXT.reset(token)


SPACINGS = 4.0
"""Least length of a step, relative to the spacing of floating-point numbers at its times."""
SAME_TIME = 1e-9
"""Difference up to which two times are equal, relative to the step that begins there."""


def ascending(times: Sequence[float] | Array, shortest: float = 0.0) -> Array:
    """Return times as an array, after a check: two or more, ascending, in steps that :func:`refuse_short` accepts."""
    grid = check.array("times", times, (None,))
    if grid.size < 2:
        raise ValueError(f"times must have at least two entries, got {grid.size}")
    if _are_long(grid, shortest):
        return grid
    lengths = grid[1:] - grid[:-1]
    if not lengths.min() > 0.0:
        k = int(np.argmax(lengths <= 0.0))
        raise ValueError(
            f"times must ascend: step {k} from {grid[k]} s to {grid[k + 1]} s is {grid[k + 1] - grid[k]:.3g} s"
        )
    refuse_short(grid, shortest)
    return grid


def _are_long(grid: Array, shortest: float) -> bool:
    """True if all steps are at least ``shortest`` [s] long, and long enough for the resolution of the largest time."""
    latest = max(abs(float(grid[0])), abs(float(grid[-1])))
    return bool((grid[1:] - grid[:-1]).min() >= max(SPACINGS * math.ulp(latest), shortest))


def refuse_short(grid: Array, shortest: float = 0.0, what: str = "positions") -> None:
    """Raise ValueError for a step that double precision cannot resolve.

    Such a step is shorter than the resolution of its times, or than ``shortest`` [s], the resolution of the quantities
    ``what``.
    """
    if _are_long(grid, shortest):
        return
    lengths = grid[1:] - grid[:-1]
    known = SPACINGS * np.spacing(np.maximum(np.abs(grid[:-1]), np.abs(grid[1:])))
    short = lengths < np.maximum(known, shortest)
    if short.any():
        k = int(np.argmax(short))
        resolved, least = (what, shortest) if shortest > known[k] else ("times", known[k])
        raise ValueError(
            f"times must be at least {least:.2g} s apart, which {resolved} in double precision resolve: step {k} from "
            f"{grid[k]} s is {grid[k + 1] - grid[k]:.3g} s"
        )


def ascending_from(start: float, times: Sequence[float] | Array, shortest: float = 0.0) -> Array:
    """Times as an array, checked to ascend from ``start`` [s].

    If the first time differs from ``start`` by round-off, it is replaced by ``start``.
    """
    grid = ascending(times, shortest)
    if abs(grid[0] - start) > max(SAME_TIME * (grid[1] - grid[0]), 4.0 * np.spacing(abs(start))):
        raise ValueError(f"times must begin at the time of the start, {start} s, got {grid[0]} s")
    return grid if grid[0] == start else ascending(np.append(start, grid[1:]), shortest)


def saved_times(grid: Array, save_every: int) -> Array:
    """Times that are saved: the first, every ``save_every``-th after it, and the last one."""
    return grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
