"""HDF5 files of values: a dataclass becomes a group of its fields, with checksums.

Numbers and arrays are datasets, texts attributes; mappings and sequences are groups, with the names of their entries in
the attribute ``names``. An array of texts holds the indices of its entries in that attribute. No code is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import h5py
import numpy as np

from ..numerics.arrays import Array

NAMES = "names"


def write_fields(group: h5py.Group, value: Any, without: str = "") -> None:
    """Write the fields of a dataclass, but for one."""
    own: Any = type(value)
    for name, kind in kinds_of(own).items():
        if name != without:
            _write(group, name, getattr(value, name), kind)


@cache
def kinds_of(kind: Any) -> dict[str, Any]:
    """Types of the fields of a dataclass."""
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def put_text(group: h5py.Group, name: str, value: str) -> None:
    """An attribute of one text of fixed length: those of variable length lie on a heap without checksums."""
    group.attrs[name] = np.array(value.encode(), dtype=bytes)


def put_texts(group: h5py.Group | h5py.Dataset, name: str, values: Iterable[str]) -> None:
    """An attribute of texts of fixed length: their place in the file is covered by its checksums."""
    group.attrs[name] = np.array([text.encode() for text in values], dtype=bytes)


def _write(group: h5py.Group, name: str, value: Any, kind: Any) -> None:
    """Write the value of a type annotation under a name."""
    origin = get_origin(kind)
    if kind is str:
        put_text(group, name, value)
    elif is_dataclass(kind):
        write_fields(group.create_group(name), value)
    elif origin in (Mapping, Sequence):
        entries = value if origin is Mapping else {str(i): entry for i, entry in enumerate(value)}
        part = group.create_group(name)
        put_texts(part, NAMES, entries)
        for key, entry in entries.items():
            _write(part, escaped(key), entry, get_args(kind)[-1])
    else:
        _write_array(group, name, np.atleast_1d(value))


def _write_array(group: h5py.Group, name: str, values: Array) -> None:
    if values.dtype.kind == "U":
        texts, indices = np.unique(values, return_inverse=True)
        _write_array(group, name, indices)
        put_texts(group[name], NAMES, texts.tolist())
        return
    checked = {"chunks": True, "fletcher32": True} if values.size else {}
    group.create_dataset(name, data=np.asarray(values, dtype=float), **checked)


def escaped(name: str) -> str:
    """A name as that of one group or dataset: a slash would begin another group."""
    escaped = name.replace("%", "%25").replace("/", "%2F")
    return "%2E" if escaped == "." else escaped
