"""Writing HDF5 files: whole or not at all, with checksums, without code in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import h5py
import numpy as np

from ..numerics.arrays import Array


def write_whole(path: str | Path, write: Callable[[h5py.File], None]) -> None:
    """Write a file beside its place and then put it there."""
    beside = Path(path).with_name(Path(path).name + ".part")
    with h5py.File(beside, "w", libver="v110") as file:  # from v110 on, all structures have checksums
        write(file)
    beside.replace(path)


def put(file: h5py.File, name: str, value: Array) -> h5py.Dataset:
    """A dataset of numbers with a checksum."""
    value = np.asarray(value, dtype=float)
    if value.size == 0:
        return file.create_dataset(name, data=value)
    return file.create_dataset(name, data=value, chunks=True, fletcher32=True)


def texts(names: Iterable[str]) -> Array:
    """Texts of fixed length: their place in the file is covered by its checksums."""
    return np.array([name.encode() for name in names], dtype=bytes)
