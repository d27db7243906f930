"""The folder of the results of one run: its summary, which comes last, and what is kept until it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .durable import leftovers, locked, publish, remove, staged
from .interrupts import deferred_signals

SUMMARY, CHECKPOINT, RUN = "summary.json", "checkpoint", "run.json"
UNFINISHED = ("unfinished", "unfinished.h5")
"""What is written of a run that ends early."""


class FolderRefused(ValueError):
    """A folder that is not for these results."""


@dataclass(frozen=True)
class ResultsFolder:
    """A folder ``path`` for the results of what ``run`` says: texts and numbers, as JSON has them."""

    path: Path
    run: Mapping[str, Any]

    @property
    def checkpoint(self) -> Path:
        """The folder in which the run is kept while it goes on."""
        return self.path / CHECKPOINT

    @property
    def is_kept(self) -> bool:
        """Whether a run is kept there."""
        return (self.checkpoint / RUN).is_file()

    def claim(self, *, force: bool, resume: bool) -> bool:
        """Make the folder, and clear away what killed runs left; whether its results are there already.

        Raises FolderRefused for a folder with files, unless ``force``; with ``resume`` for results of another run.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if resume:
            return self._resume()
        if any(self.path.iterdir()) and not force:
            raise FolderRefused(self._refusal())
        self._clear(CHECKPOINT)
        return False

    def _resume(self) -> bool:
        """Whether the results are there; otherwise the run goes on, or begins."""
        for name in (f"{CHECKPOINT}/{RUN}", SUMMARY):
            if (self.path / name).is_file():
                self._refuse_another(name)
                self._clear(*(() if name != SUMMARY else (CHECKPOINT, *UNFINISHED)))
                return name == SUMMARY
        foreign = {*self.path.iterdir()} - {*leftovers(self.path)}
        if any(path.name not in (CHECKPOINT, *UNFINISHED) for path in foreign):
            raise FolderRefused(self._refusal())
        self._clear(CHECKPOINT, *UNFINISHED)
        return False

    @contextmanager
    def kept(self, every: float | None) -> Iterator[float | None]:
        """Hold the checkpoint of the run until the end of the block; its pieces are ``every`` so many seconds apart.

        Where none are given, those of the run that goes on, or None without one.
        """
        told = self.checkpoint / RUN
        if every is None and not self.is_kept:
            yield None
            return
        self.checkpoint.mkdir(exist_ok=True)
        try:
            with locked(self.checkpoint):
                for rest in leftovers(self.checkpoint):
                    remove(rest)
                every = _read(told)["every"] if every is None else every
                with staged(told) as part:
                    part.write_text(json.dumps({**self.run, "every": every}, indent=1), encoding="utf-8")
                yield every
        except BlockingIOError:
            raise FolderRefused(f"{self.path} is in use by another process") from None

    def publish(self, source: Path) -> list[Path]:
        """Put the files of a folder in their places, the summary last; there is none while some are old, some new.

        Ctrl-C waits until all of them are there.
        """
        with deferred_signals():
            remove(self.path / SUMMARY)
            written = publish(source, self.path, last=[SUMMARY])
            self._clear(CHECKPOINT, *(UNFINISHED if self.checkpoint.exists() else ()))
        return written

    def _clear(self, *names: str) -> None:
        if CHECKPOINT in names and self.is_kept:  # first what says that a run is kept: none goes on from half of it
            remove(self.checkpoint / RUN)
        for path in [*(self.path / name for name in names), *leftovers(self.path)]:
            remove(path)

    def _refusal(self) -> str:
        left = [path.name for path in leftovers(self.path)]
        left += [name for name in (CHECKPOINT, *UNFINISHED) if (self.path / name).exists()]
        told = f" ({', '.join(left)}: what a run left that ended early)" if left else ""
        going_on = "go on with --resume, " if self.is_kept else ""
        return f"{self.path} is not empty{told}: {going_on}choose another folder, or replace its files with --force"

    def _refuse_another(self, name: str) -> None:
        there = _read(self.path / name)
        for key, value in _flat(self.run).items():
            other = _flat(there).get(key)
            if other != value:
                raise FolderRefused(f"{self.path} belongs to another run: {key} is {other!r} there, {value!r} here")


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderRefused(f"{path} is damaged: {error}") from None
    if not isinstance(told, dict):
        raise FolderRefused(f"{path} is damaged: it must hold an object")
    return told


def _flat(told: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of an object and of the objects in it."""
    parts = [value if isinstance(value, dict) else {key: value} for key, value in told.items()]
    return {key: value for part in parts for key, value in part.items()}
