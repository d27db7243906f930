"""Results folder of a run: a summary, written last, and a checkpoint until then."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .durable import deferred_signals, leftovers, locked, publish, remove, staged

SUMMARY, CHECKPOINT, RUN = "summary.json", "checkpoint", "run.json"
UNFINISHED = ("unfinished", "unfinished.h5")
"""Results of a run that ended early."""


class FolderRefused(ValueError):
    """Error of a folder that cannot be used for the results of a run."""


@dataclass(frozen=True)
class ResultsFolder:
    """Folder ``path`` for the results of a run.

    ``run`` describes the run by values of JSON types.
    """

    path: Path
    run: Mapping[str, Any]

    @property
    def checkpoint(self) -> Path:
        """Path of the folder with the checkpoint of an unfinished run."""
        return self.path / CHECKPOINT

    @property
    def is_kept(self) -> bool:
        """True if the folder contains the checkpoint of an unfinished run."""
        return (self.checkpoint / RUN).is_file()

    def claim(self, *, force: bool, resume: bool) -> bool:
        """Prepare the folder for a run: create it and remove temporary files of killed runs.

        Returns True if it has the results of the run already, which is only possible with ``resume``. Raises
        FolderRefused for a folder with files unless ``force`` or ``resume`` is set, and with ``resume`` for results of
        another run.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if resume:
            return self._resume()
        if any(self.path.iterdir()) and not force:
            raise FolderRefused(self._refusal())
        self._clear(CHECKPOINT)
        return False

    def _resume(self) -> bool:
        """Prepare the folder to start or continue the run; return True if it has the results of the run already.

        Raises FolderRefused for the results of another run, and for a folder with other files.
        """
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
        """Context manager that locks the folder for a run with checkpoints, and yields the interval between them [s].

        The interval is ``every``; without it, the one of the run to be continued. Without either, it yields None and
        locks nothing. Raises FolderRefused if another process uses the folder.
        """
        description = self.checkpoint / RUN
        if every is None and not self.is_kept:
            yield None
            return
        self.checkpoint.mkdir(exist_ok=True)
        try:
            with locked(self.checkpoint):
                for rest in leftovers(self.checkpoint):
                    remove(rest)
                every = _read(description)["every"] if every is None else every
                with staged(description) as part:
                    part.write_text(json.dumps({**self.run, "every": every}, indent=1), encoding="utf-8")
                yield every
        except BlockingIOError:
            raise FolderRefused(f"{self.path} is in use by another process") from None

    def publish(self, source: Path) -> list[Path]:
        """Move the files of a folder to the results, the summary last; return their paths.

        The folder has no summary while it contains old and new files. Ctrl-C is deferred until all files are moved.
        """
        with deferred_signals():
            remove(self.path / SUMMARY)
            written = publish(source, self.path, last=[SUMMARY])
            self._clear(CHECKPOINT, *(UNFINISHED if self.checkpoint.exists() else ()))
        return written

    def _clear(self, *names: str) -> None:
        if CHECKPOINT in names and self.is_kept:  # first, so that no run continues from an incomplete checkpoint
            remove(self.checkpoint / RUN)
        for path in [*(self.path / name for name in names), *leftovers(self.path)]:
            remove(path)

    def _refusal(self) -> str:
        left = [path.name for path in leftovers(self.path)]
        left += [name for name in (CHECKPOINT, *UNFINISHED) if (self.path / name).exists()]
        files = f" ({', '.join(left)}: left by a run that ended early)" if left else ""
        resume = "continue the run with --resume, " if self.is_kept else ""
        return f"{self.path} is not empty{files}: {resume}choose another folder, or replace its files with --force"

    def _refuse_another(self, name: str) -> None:
        there = _read(self.path / name)
        for key, value in _flat(self.run).items():
            other = _flat(there).get(key)
            if other != value:
                raise FolderRefused(f"{self.path} has results of another run: its {key} is {other!r}, not {value!r}")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderRefused(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict):
        raise FolderRefused(f"{path} is damaged: it must contain an object")
    return content


def _flat(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of a JSON object and of nested objects in one dict."""
    parts = [value if isinstance(value, dict) else {key: value} for key, value in entries.items()]
    return {key: value for part in parts for key, value in part.items()}
