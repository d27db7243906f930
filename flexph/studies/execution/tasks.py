"""Tasks: one sample in a worker, computed and recorded once, even if the engine repeats the call."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .records import Record, plain_values, record_path, write_record

TOKEN = "token"
"""File in the folder of the records by which a worker recognises the study's folder."""


class NotStored(Exception):
    """Error of a record that cannot be written; it ends the study, because results would be lost."""


class NotLoaded(Exception):
    """Error of a worker that cannot load the function of the study, so that no sample can be computed."""


@dataclass(frozen=True)
class Task:
    """Sample for a worker, with the ``function``, pickled for other processes, and the folder of its record."""

    function: bytes | Callable[..., Any]
    parameters: Mapping[str, Any]
    folder: Path
    token: str
    attempt: int = 0


class Outcome(NamedTuple):
    """Outcome of a sample: its error, and its record if the worker cannot access the folder of the study."""

    error: str
    record: Record | None


def perform(task: Task) -> Outcome:
    """Compute a sample unless it has a record, store it, and return its outcome."""
    stores = _can_access_folder(task)
    if stores and record_path(task.folder, task.parameters).exists():
        return Outcome("", None)  # an engine may repeat a call whose result was lost
    function = _unpickled(task.function) if isinstance(task.function, bytes) else task.function
    record = computed(function, task.parameters)
    if stores:
        store(task.folder, record)
    return Outcome(record.error, None if stores else record)


def computed(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Record:
    """Record of a call; an exception of the function becomes its error."""
    clock = time.perf_counter()
    try:
        values = plain_values(function(**parameters), parameters)
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        lines = "".join(traceback.format_exception(error))
        return Record(parameters, error=said, traceback=lines, seconds=time.perf_counter() - clock)
    return Record(parameters, values, seconds=time.perf_counter() - clock)


def store(folder: Path, record: Record) -> None:
    """Write a record; raises NotStored if that fails."""
    try:
        write_record(folder, record)
    except OSError as error:
        raise NotStored(f"the record of a sample cannot be written to {folder}: {error}") from None


def _can_access_folder(task: Task) -> bool:
    """True if this worker can access the folder of the study."""
    try:
        return (task.folder / TOKEN).read_text(encoding="utf-8") == task.token
    except OSError:
        return False


@lru_cache(maxsize=4)
def _unpickled(function: bytes) -> Callable[..., Any]:
    """Unpickled function, cached in each worker, so that caches of the function persist between samples."""
    try:
        loaded: Callable[..., Any] = pickle.loads(function)
    except Exception as error:  # an import may raise anything
        raise NotLoaded(f"a worker cannot load the function: {type(error).__name__}: {error}") from None
    return loaded
