"""Records of samples on disk: one file per sample, written atomically by its worker and never changed."""

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
from ...files.npz import refuse_misfits
from ...files.reading import refuse_missing
from .values import Arrays

SUFFIX = ".npz"
_HEAD = "record"
"""Entry of a file with the description of the sample; each value is a further entry."""

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
    """Hash of the parameter values, the same in all processes."""
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
    """Description of a record with the kinds and shapes of its values; raises OSError if it is damaged."""
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
        raise ValueError(f"its entry {_HEAD!r} must tell {', '.join(kinds)}")
    return head


def tidy(folder: Path, *, failed: bool) -> None:
    """Remove leftovers of killed processes and damaged records, and with ``failed`` the records of failed samples."""
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
