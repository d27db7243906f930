"""Folder of a study with its identity and records, locked by one process at a time."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...files.durable import leftovers, locked, remove, staged
from ...files.results_folder import FolderRefused
from .tasks import TOKEN

STUDY, RECORDS = "study.json", "samples"


@contextmanager
def study_folder(path: Path, identity: Mapping[str, Any], *, resume: bool) -> Iterator[Path]:
    """Context with the folder of a study's records, locked until its end.

    Raises FolderRefused for a folder with files unless the study is resumed, for a folder of another study, and while
    another process uses it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise FolderRefused(f"out must be a folder, got {str(path)!r}, which is a file") from None
    records = path / RECORDS
    if resume:
        _refuse_another(path, identity)
    elif any(path.iterdir()):
        going_on = "continue with --resume (resume=True), or " if (path / STUDY).is_file() else ""
        raise FolderRefused(f"{path} is not empty: {going_on}choose another folder")
    records.mkdir(exist_ok=True)
    try:
        with locked(records):
            for rest in leftovers(path):
                remove(rest)
            _write(path / STUDY, json.dumps(dict(identity), indent=1))
            if not (records / TOKEN).exists():
                _write(records / TOKEN, uuid.uuid4().hex)
            yield records.resolve()
    except BlockingIOError:
        raise FolderRefused(f"{path} is in use by another process") from None


def _write(path: Path, text: str) -> None:
    with staged(path) as part:
        part.write_text(text, encoding="utf-8")


def _refuse_another(path: Path, identity: Mapping[str, Any]) -> None:
    """Raise FolderRefused for a folder that belongs to another study or contains other files."""
    if not (path / STUDY).is_file():
        if foreign := {*path.iterdir()} - {*leftovers(path)} - {path / RECORDS}:
            names = ", ".join(sorted(entry.name for entry in foreign))
            raise FolderRefused(f"{path} is not the folder of a study ({names}): choose another folder")
        return
    try:
        there = json.loads((path / STUDY).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderRefused(f"{path / STUDY} is damaged: {error}") from None
    for name, value in identity.items():
        if there.get(name) != value:
            what = "source of the function" if name == "source" else name
            differs = f"its {what} was {there.get(name)!r}, and is {value!r} now"
            raise FolderRefused(f"{path} is another study: {differs}; choose another folder")
