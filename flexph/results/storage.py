"""HDF5 files of values: a dataclass becomes a group of its fields, whole or not at all, with checksums.

Numbers and arrays are datasets, texts attributes; mappings and sequences are groups, with the names of their entries in
the attribute ``names``. An array of texts holds the indices of its entries in that attribute. No code is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import h5py
import numpy as np

from ..numerics.arrays import Array

NAMES = "names"


def write_whole(path: str | Path, write: Callable[[h5py.File], None]) -> None:
    """Write a file under another name and then put it in its place."""
    part = Path(path).with_name(Path(path).name + ".part")
    with h5py.File(part, "w", libver="v110") as file:  # from v110 on, all structures have checksums
        write(file)
    part.replace(path)


def write_fields(group: h5py.Group, value: Any, without: str = "") -> None:
    """Write the fields of a dataclass, but for one."""
    own: Any = type(value)
    for name, kind in _kinds(own).items():
        if name != without:
            _write(group, name, getattr(value, name), kind)


def read_fields(group: h5py.Group, kind: Any, given: Mapping[str, Any] | None = None) -> Any:
    """A dataclass from the fields in a group, and those that are given; raises KeyError where one is missing."""
    known = dict(given or {})
    return kind(**known, **{name: _read(group, name, own) for name, own in _kinds(kind).items() if name not in known})


@cache
def _kinds(kind: Any) -> dict[str, Any]:
    """Types of the fields of a dataclass."""
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def put_texts(group: h5py.Group | h5py.Dataset, name: str, values: Iterable[str]) -> None:
    """An attribute of texts of fixed length: their place in the file is covered by its checksums."""
    group.attrs[name] = np.array([text.encode() for text in values], dtype=bytes)


def get_texts(group: h5py.Group | h5py.Dataset, name: str) -> list[str]:
    """The texts of an attribute."""
    stored = group.attrs[name]
    return [text.decode() for text in np.atleast_1d(stored)] if np.size(stored) else []


def _write(group: h5py.Group, name: str, value: Any, kind: Any) -> None:
    """Write the value of a type annotation under a name."""
    origin = get_origin(kind)
    if kind is str:
        group.attrs[name] = value
    elif is_dataclass(kind):
        write_fields(group.create_group(name), value)
    elif origin in (Mapping, Sequence):
        entries = value if origin is Mapping else {str(i): entry for i, entry in enumerate(value)}
        part = group.create_group(name)
        put_texts(part, NAMES, entries)
        for key, entry in entries.items():
            _write(part, _escaped(key), entry, get_args(kind)[-1])
    else:
        _write_array(group, name, np.atleast_1d(value))


def _write_array(group: h5py.Group, name: str, values: Array) -> None:
    if values.dtype.kind == "U":
        texts, indices = np.unique(values, return_inverse=True)
        _write_array(group, name, indices)
        put_texts(group[name], NAMES, texts.tolist())
        return
    checked = {"chunks": True, "fletcher32": True} if values.size else {}
    group.create_dataset(name, data=values.astype(float), **checked)


def _read(group: h5py.Group, name: str, kind: Any) -> Any:
    """The value of a type annotation under a name."""
    origin = get_origin(kind)
    if kind is str:
        return str(group.attrs[name])
    if isinstance(kind, type) and is_dataclass(kind):
        return read_fields(group[name], kind)
    if origin in (Mapping, Sequence):
        part, of = group[name], get_args(kind)[-1]
        entries = {key: _read(part, _escaped(key), of) for key in get_texts(part, NAMES)}
        return entries if origin is Mapping else tuple(entries.values())
    stored = group[name]
    values: Array = stored[()]
    if kind is float:
        return float(values[0])
    if origin is tuple:
        return tuple(values.tolist())
    return np.array(get_texts(stored, NAMES))[values.astype(int)] if NAMES in stored.attrs else values


def _escaped(name: str) -> str:
    """A name as that of one group or dataset: a slash would begin another group."""
    escaped = name.replace("%", "%25").replace("/", "%2F")
    return "%2E" if escaped == "." else escaped
