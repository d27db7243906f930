"""HDF5 files of values read back: what a file declares is checked before any of it is taken into memory.

Links, storage and filters that lead out of the file, or expand what is in it, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import h5py
import numpy as np

from ..numerics.arrays import Array
from .storage import NAMES, escaped, kinds_of

SIGNATURE = b"\x89HDF\r\n\x1a\n"
CHECKSUMMED = 3
"""Version of the superblock from which on all structures of a file have checksums."""
EXPANSION = 64
"""Memory of the values over the size of their file that is believed: texts of modes are stored as numbers."""

Leaf = Callable[[h5py.Dataset], Array]
"""What is taken of a dataset: its values, or its shape alone."""


def open_checksummed(path: str | Path) -> h5py.File:
    """A file whose structures have checksums, for reading; OSError for any other."""
    with open(path, "rb") as file:
        start = file.read(len(SIGNATURE) + 1)
    if not start.startswith(SIGNATURE):
        raise OSError("it is no HDF5 file")
    if start[len(SIGNATURE)] < CHECKSUMMED:
        raise OSError("it is an HDF5 file without checksums")
    return h5py.File(path, "r")


def values_of(dataset: h5py.Dataset) -> Array:
    """All values of a dataset."""
    values: Array = dataset[()]
    return values


class Declared:
    """Arrays of the declared shapes that take no memory, and the memory that the values would take."""

    def __init__(self, size: int) -> None:
        self.limit, self.declared = EXPANSION * size, 0

    def __call__(self, dataset: h5py.Dataset) -> Array:
        """Zeros in the shape of a dataset; OSError where the file declares more than it can hold."""
        wide = max(map(len, get_texts(dataset, NAMES)), default=0) if NAMES in dataset.attrs else 0
        self.declared += dataset.size * (8 + 4 * wide)
        if self.declared > self.limit:
            raise OSError(f"it declares {self.declared} bytes of values, more than it can hold")
        return np.broadcast_to(0.0, dataset.shape)


def get_texts(group: h5py.Group | h5py.Dataset, name: str) -> list[str]:
    """The texts of an attribute of fixed length."""
    if name not in group.attrs:
        raise OSError(f"{_place(group, name)} is missing")
    kind = group.attrs.get_id(name).get_type()
    if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str():
        raise OSError(f"{_place(group, name)} must be texts of fixed length")
    stored = group.attrs[name]
    return [text.decode() for text in np.atleast_1d(stored)] if np.size(stored) else []


def read_fields(group: h5py.Group, kind: Any, given: Mapping[str, Any] | None = None, leaf: Leaf = values_of) -> Any:
    """A dataclass from the fields in a group, and those that are given; ``leaf`` says what is taken of each dataset.

    Raises OSError that names the field for one that is missing or of another kind.
    """
    known = dict(given or {})
    own = {name: kind for name, kind in kinds_of(kind).items() if name not in known}
    return kind(**known, **{name: _read(group, name, of, leaf) for name, of in own.items()})


def _read(group: h5py.Group, name: str, kind: Any, leaf: Leaf) -> Any:
    """The value of a type annotation under a name."""
    origin = get_origin(kind)
    if kind is str:
        return _one(group, name, get_texts(group, name))
    if isinstance(kind, type) and is_dataclass(kind):
        return read_fields(_member(group, name, h5py.Group), kind, leaf=leaf)
    if origin in (Mapping, Sequence):
        return _read_entries(_member(group, name, h5py.Group), kind, leaf)
    stored = _dataset(group, name)
    if kind is float or origin is tuple:
        return _numbers(stored, kind)
    values = leaf(stored)
    return _texts(stored, values) if NAMES in stored.attrs and not isinstance(leaf, Declared) else values


def _read_entries(group: h5py.Group, kind: Any, leaf: Leaf) -> Any:
    """A mapping or a sequence."""
    names, of = get_texts(group, NAMES), get_args(kind)[-1]
    if len(set(names)) != len(names):
        raise OSError(f"{_place(group, NAMES)} names an entry twice")
    entries = {key: _read(group, escaped(key), of, leaf) for key in names}
    return entries if get_origin(kind) is Mapping else tuple(entries.values())


def _numbers(stored: h5py.Dataset, kind: Any) -> Any:
    """One number, or a tuple of them."""
    count = 1 if kind is float else len(get_args(kind))
    if stored.shape != (count,):
        raise OSError(f"{stored.name} has shape {stored.shape}, expected ({count},)")
    values = values_of(stored)
    if not np.all(np.isfinite(values)):
        raise OSError(f"{stored.name} holds what is no number")
    return float(values[0]) if kind is float else tuple(values.tolist())


def _texts(stored: h5py.Dataset, values: Array) -> Array:
    """The texts that an array of indices stands for."""
    texts = np.array(get_texts(stored, NAMES), dtype=str)
    if not np.all((values >= 0) & (values < texts.size) & (values == np.floor(values))):
        raise OSError(f"{stored.name} must hold indices of its {texts.size} names")
    return texts[values.astype(int)]


def _member(group: h5py.Group, name: str, kind: type[h5py.HLObject]) -> Any:
    """An entry of a group, in the same file and under this name alone."""
    link = group.get(name, getlink=True, default=None)
    if link is None:
        raise OSError(f"{_place(group, name)} is missing")
    if not isinstance(link, h5py.HardLink):
        raise OSError(f"{_place(group, name)} is a link to another place")
    member: Any = group[name]
    if not isinstance(member, kind):
        raise OSError(f"{_place(group, name)} must be a {kind.__name__.lower()}")
    if h5py.h5o.get_info(member.id).rc != 1:
        raise OSError(f"{_place(group, name)} has a second name")
    return member


def _dataset(group: h5py.Group, name: str) -> h5py.Dataset:
    """A dataset of doubles all of whose bytes are in the file, as they are."""
    dataset = _member(group, name, h5py.Dataset)
    if dataset.shape is None or dataset.dtype != np.dtype("<f8"):
        raise OSError(f"{dataset.name} must hold doubles")
    properties = dataset.id.get_create_plist()
    if dataset.is_virtual or dataset.external:
        raise OSError(f"{dataset.name} has its values in another file")
    filters = {properties.get_filter(i)[0] for i in range(properties.get_nfilters())}
    if filters - {h5py.h5z.FILTER_FLETCHER32}:
        raise OSError(f"{dataset.name} is stored through filters, which are not read")
    stored = dataset.id.get_storage_size()
    if not 8 * dataset.size <= stored <= group.file.id.get_filesize():
        raise OSError(f"{dataset.name} declares {dataset.size} numbers, and the file has {stored} bytes of them")
    return dataset


def _one(group: h5py.Group, name: str, texts: list[str]) -> str:
    if len(texts) != 1:
        raise OSError(f"{_place(group, name)} must be one text")
    return texts[0]


def _place(group: h5py.Group | h5py.Dataset, name: str) -> str:
    return f"{group.name.rstrip('/')}/{name}"
