"""Records of samples on disk: one file per sample with named values, written atomically and never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...files.durable import PREFIX, replacing
from ...files.reading import refuse_misfits, refuse_missing
from ...numerics import checks as check

Arrays = dict[str, np.ndarray]


def plain_values(values: Any, parameters: Mapping[str, Any]) -> Arrays:
    """Named arrays of numbers, truth values or texts, from the return value of a function.

    ``{"a": {"b": 1.0}}`` becomes ``a.b``; a list of dicts becomes a column for each name; None becomes NaN; complex
    numbers become ``name.real`` and ``name.imag``. A value that is equal to a parameter with the same name is dropped.
    Raises ValueError for a value that differs from the parameter with the same name, and for other types of values.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"a function of a study must return a dict of values by name, got {check.shown(values)}")
    arrays = dict(_flat("", values))
    for name in arrays.keys() & parameters.keys():
        if arrays[name].shape or arrays[name].item() != parameters[name]:
            raise ValueError(f"the value {name!r} must be renamed: a parameter has this name")
        del arrays[name]
    return arrays


def _flat(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            checked_name = check.name("a value", key)
            yield from _flat(f"{name}.{checked_name}" if name else checked_name, entry)
        return
    if isinstance(value, list | tuple) and value and all(isinstance(row, Mapping) for row in value):
        for key in value[0]:
            yield from _flat(f"{name}.{key}", [row.get(key) for row in value])
        return
    array = _array(name, value)
    if array.dtype.kind == "c":
        yield from ((f"{name}.real", array.real), (f"{name}.imag", array.imag))
    else:
        yield name, array


def _array(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # None stands for a missing number
            array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "uib":
        return array if array.dtype.kind == "b" else array.astype(np.int64)
    if array.dtype.kind in "fc":
        return array.astype(complex if array.dtype.kind == "c" else float)
    if array.dtype.kind == "U":
        return array
    raise ValueError(f"the value {name!r} must be numbers, truth values or texts, got {check.shown(value)}")


SUFFIX = ".npz"
_HEAD = "record"
"""Entry of a record file with the status and a description of the sample; each named value is a further entry."""

Status = Literal["done", "failed"]


@dataclass(frozen=True)
class Record:
    """Record of a sample: its ``values`` or its ``error``, and its computing time in seconds."""

    parameters: Mapping[str, Any]
    values: Arrays = field(default_factory=dict)
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """Status of the sample, "done" or "failed"."""
        return "failed" if self.error else "done"


def key(parameters: Mapping[str, Any]) -> str:
    """Hash of the parameter values, equal in all processes."""
    text = json.dumps(dict(parameters), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def record_path(folder: Path, parameters: Mapping[str, Any]) -> Path:
    """Path of the record of a sample."""
    return folder / f"{key(parameters)}{SUFFIX}"


def write_record(folder: Path, record: Record) -> None:
    """Write a record atomically."""
    head = {
        "parameters": dict(record.parameters),
        "error": record.error,
        "traceback": record.traceback,
        "seconds": record.seconds,
        "values": {name: [array.dtype.kind, list(array.shape)] for name, array in record.values.items()},
    }
    arrays: dict[str, Any] = {f"value {k}": array for k, array in enumerate(record.values.values())}
    arrays[_HEAD] = np.array(json.dumps(head))
    with replacing(record_path(folder, record.parameters)) as part:
        np.savez(part, **arrays)


def read_head(path: Path) -> dict[str, Any]:
    """Description of a sample in a record file: its parameters and error, and kinds and shapes of its values.

    Raises OSError if the file is damaged.
    """
    with _entries(path) as file:
        return _head(file)


def read_record(path: Path) -> Record:
    """Record from a file; raises OSError if it is damaged."""
    with _entries(path) as file:
        head = _head(file)
        values = {name: file[f"value {k}"] for k, name in enumerate(head["values"])}
        return Record(head["parameters"], values, head["error"], head["traceback"], head["seconds"])


@contextmanager
def _entries(path: Path) -> Iterator[Any]:
    refuse_missing("record", path)
    try:
        refuse_misfits(path)
        with path.open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            yield file
    except Exception as error:  # damaged or malicious archives may raise anything
        raise OSError(f"{path} is damaged: {error}") from error


def _head(file: Any) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(file[_HEAD].item())
    kinds = {"parameters": dict, "values": dict, "error": str, "traceback": str, "seconds": float}
    if not (isinstance(head, dict) and all(isinstance(head.get(name), kind) for name, kind in kinds.items())):
        raise ValueError(f"its entry {_HEAD!r} must have {', '.join(kinds)}")
    return head


def tidy(folder: Path, *, failed: bool) -> None:
    """Remove unfinished files of killed processes and damaged records from a folder.

    With ``failed``, records of failed samples are removed, too.
    """
    for path in folder.iterdir():
        if path.name.startswith(PREFIX):
            path.unlink(missing_ok=True)
        elif path.suffix == SUFFIX and not _is_good(path, failed):
            path.unlink()


def _is_good(path: Path, failed: bool) -> bool:
    try:
        return not read_record(path).error or not failed
    except OSError:
        return False
