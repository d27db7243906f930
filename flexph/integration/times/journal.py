"""Checkpoint of a run in progress, as numbered files in a folder, the pieces.

A piece holds the rows since the previous piece, and everything on which the next step depends. A resumed run continues
from the last piece.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...files.durable import leftovers, locked, remove
from ...files.trees import read_tree, write_tree
from ...numerics.arguments import warn
from .options import Checkpoint, CheckpointWarning
from .signature import Signature, difference

Tree = Mapping[str, Any]
DIGITS = 8
"""Digits of the number in the name of a piece."""


@dataclass(frozen=True)
class StartForm:
    """Functions that convert the start of a step to a nested value for files (``pack``) and back (``unpack``)."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class _Written(NamedTuple):
    """Counts of the final rows, of the observations, and of the occurrences of each event in the written pieces."""

    rows: int = 0
    observed: int = 0
    occurred: Mapping[str, int] = {}


class Journal:
    """Journal of a run (:class:`loop.Run`): writes its pieces, and restores the run from them."""

    def __init__(self, checkpoint: Checkpoint, signature: Signature, form: StartForm) -> None:
        self.folder, self.every, self.signature, self.form = Path(checkpoint.path), checkpoint.every, signature, form
        self._written, self._number, self._steps = _Written(), 0, -1
        self._clock, self._whole = time.monotonic(), True

    def restore(self, run: Any) -> None:
        """Restore a run at its start to the state of the last piece, if there is one."""
        observed: list[Any] = []
        occurred: dict[str, list[Any]] = {}
        last = None
        for piece in self._pieces():
            if last is not None:
                run.recorder.restore({name: values[: last["final"]] for name, values in last["rows"].items()})
            observed += _values(piece["observed"])
            for name, (times, states) in piece["occurred"].items():
                occurred.setdefault(name, []).extend(zip(times.tolist(), states, strict=True))
            self._number, last = self._number + 1, piece
        if last is None:
            return
        run.recorder.restore_last(last["rows"], is_open=last["open"], steps=last["steps"])
        run.observer.restore(observed, last["latest"])
        run.watch.restore(occurred, last["watch"])
        run.start, run.restart, run.longest = self.form.unpack(last["start"]), last["restart"], last["longest"]
        run.reached, run.ended = last["reached"], last["ended"]
        self._written, self._steps = self._progress(run), run.count

    def record(self, run: Any, entry: Any) -> bool:
        """Record accepted steps in the run, and write a piece when it is due; True if the steps end the run."""
        self._whole = False  # an interruption now would leave the run between two steps
        ended: bool = entry.record(run)
        restart = entry.restart() if callable(entry.restart) else entry.restart
        run.reached, run.restart, run.ended = run.reached + entry.reached, restart, ended
        self._whole = True
        if time.monotonic() - self._clock >= self.every:
            self.write(run)
        return ended

    def write(self, run: Any) -> None:
        """Write a piece with the steps finished since the last one; if that fails, warn and continue."""
        stands = run.ended or (run.restart is not None and run.count != self._steps)
        if not (self._whole and stands):
            return
        try:
            write_tree(self.folder / f"{self._number + 1:0{DIGITS}}.h5", self._piece(run))
        except OSError as error:
            warning = f"the checkpoint at t = {run.start.time:.6g} s could not be written: {error}; the run continues"
            warn(warning, CheckpointWarning)
            return
        finally:
            self._clock = time.monotonic()  # after writing, so that the run keeps its share if writing takes long
        self._number, self._written, self._steps = self._number + 1, self._progress(run), run.count

    def _progress(self, run: Any) -> _Written:
        occurred = {name: len(passed) for name, passed in run.watch.occurred.items()}
        return _Written(run.recorder.saved - 1, run.observer.count, occurred)

    def _piece(self, run: Any) -> Tree:
        """Content of the next piece: rows since the last piece, and the state of the run.

        The last saved row may still change, so that the next piece has it again.
        """
        done, recorder, watch = self._written, run.recorder, run.watch
        return {
            "signature": dict(self.signature),
            "first": done.rows,
            "final": recorder.saved - 1 - done.rows,
            "rows": recorder.rows(done.rows),
            "open": recorder.is_open,
            "steps": recorder.steps,
            "observed": run.observer.since(done.observed),
            "latest": run.observer.latest,
            "occurred": {name: _arrays(all_[done.occurred.get(name, 0) :]) for name, all_ in watch.occurred.items()},
            "watch": watch.memory(),
            "start": self.form.pack(run.start),
            "restart": run.restart,
            "longest": run.longest,
            "reached": run.reached,
            "ended": run.ended,
        }

    def _pieces(self) -> Iterator[Tree]:
        """Read all pieces in order; raises ValueError for damaged ones and for pieces of another run."""
        first = 0
        for k, path in enumerate(_paths(self.folder), 1):
            try:
                piece = read_tree(path)
                if (path.stem, piece["first"]) != (f"{k:0{DIGITS}}", first):
                    raise OSError("an earlier piece is missing")
                first += piece["final"]
            except (OSError, KeyError, TypeError) as error:
                raise ValueError(
                    f"the piece {str(path)!r} of a checkpoint cannot be read ({error}): remove it and those after it "
                    "to go on from the piece before"
                ) from error
            if defect := difference(piece["signature"], self.signature):
                raise ValueError(f"the checkpoint in {str(self.folder)!r} belongs to another run: {defect}")
            yield piece


@contextmanager
def opened(checkpoint: Checkpoint | None, signature: Callable[[], Signature], form: StartForm) -> Iterator[Any]:
    """Context whose value is the journal of a checkpoint, locked against other processes; None without a checkpoint.

    Raises ValueError for a folder that is in use, contains other files, or contains a run and ``resume`` is False.
    """
    if checkpoint is None:
        yield None
        return
    folder = Path(checkpoint.path)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder):
            _check_folder(folder, checkpoint)
            yield Journal(checkpoint, signature(), form)
    except BlockingIOError as error:
        raise ValueError(f"the checkpoint in {str(folder)!r} is being written by another process") from error


def _check_folder(folder: Path, checkpoint: Checkpoint) -> None:
    for rest in leftovers(folder):
        remove(rest)
    pieces = _paths(folder)
    foreign = sorted({*folder.iterdir()} - {*pieces})
    if foreign:
        raise ValueError(f"the folder of a checkpoint must contain no other files, but {str(foreign[0])!r} is there")
    if pieces and not checkpoint.resume:
        raise ValueError(
            f"{str(folder)!r} contains a run: continue it by Checkpoint(path, resume=True), or use another folder"
        )


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]" * DIGITS + ".h5"))


def _arrays(passed: list[Any]) -> tuple[Any, Any]:
    """Times (k,) and states (k, n) of k occurrences (time, state) of an event."""
    return np.array([t for t, _ in passed]), np.array([x for _, x in passed])


def _values(observed: Tree) -> list[Any]:
    """Observations in a piece, one for each saved time; None where there is none."""
    values = observed["values"]
    return [None] * observed["count"] if values is None else list(values)
