"""One sample in a worker: computed once, and its record stored at once, whatever the engine runs again."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .records import Record, record_path, write_record
from .values import plain_values

TOKEN = "token"
"""File in the folder of the records, by which a worker knows that it sees the folder of the study itself."""


class NotStored(Exception):
    """A record could not be written: the study ends, for it would lose what it computes."""


class NotLoaded(Exception):
    """A worker cannot load the function of the study: no sample could be computed."""


@dataclass(frozen=True)
class Task:
    """A sample for a worker: the ``function``, pickled for others than this process, and where its record goes."""

    function: bytes | Callable[..., Any]
    parameters: Mapping[str, Any]
    folder: Path
    token: str
    attempt: int = 0


class Outcome(NamedTuple):
    """How a sample ended; with its record where the worker does not see the folder of the study."""

    error: str
    record: Record | None


def perform(task: Task) -> Outcome:
    """Compute a sample unless its record is there, and store it."""
    stores = _sees(task)
    if stores and record_path(task.folder, task.parameters).exists():
        return Outcome("", None)  # an engine that ran it already lost the answer
    function = _unpickled(task.function) if isinstance(task.function, bytes) else task.function
    record = computed(function, task.parameters)
    if stores:
        store(task.folder, record)
    return Outcome(record.error, None if stores else record)


def computed(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Record:
    """The record of a call; what the function raises becomes its error."""
    clock = time.perf_counter()
    try:
        values = plain_values(function(**parameters), parameters)
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        lines = "".join(traceback.format_exception(error))
        return Record(parameters, error=said, traceback=lines, seconds=time.perf_counter() - clock)
    return Record(parameters, values, seconds=time.perf_counter() - clock)


def store(folder: Path, record: Record) -> None:
    """Write a record; raises NotStored where that fails."""
    try:
        write_record(folder, record)
    except OSError as error:
        raise NotStored(f"the record of a sample cannot be written to {folder}: {error}") from None


def _sees(task: Task) -> bool:
    """Whether the folder of the study is on a disk of this worker."""
    try:
        return (task.folder / TOKEN).read_text(encoding="utf-8") == task.token
    except OSError:
        return False


@lru_cache(maxsize=4)
def _unpickled(function: bytes) -> Callable[..., Any]:
    """The function, once a worker: what it keeps from one sample to the next stays."""
    try:
        loaded: Callable[..., Any] = pickle.loads(function)
    except Exception as error:  # whatever an import raises
        raise NotLoaded(f"a worker cannot load the function: {type(error).__name__}: {error}") from None
    return loaded
