"""The HDF5 codec: a value is read back from its fields, whatever they are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import h5py
import numpy as np
import pytest

from flexph.files.hdf5 import write_hdf5
from flexph.files.storage import write_fields
from flexph.files.stored_fields import read_fields
from flexph.numerics.arrays import Array


@dataclass(frozen=True)
class Point:
    place: Array
    name: str


@dataclass(frozen=True)
class Everything:
    numbers: Array
    one: float
    pair: tuple[float, float]
    words: Array
    by_name: Mapping[str, Array]
    points: Mapping[str, Point]
    row: Sequence[Point]
    system: object


VALUES = {
    "full": Everything(
        numbers=np.arange(6.0).reshape(2, 3),
        one=0.1,
        pair=(-1.5, 1e300),
        words=np.array(["open", "ä, b", "open"]),
        by_name={"z": np.ones(2), "a/b": np.zeros((2, 1)), "a": np.array([np.nan]), ".": np.ones(1), "%2F": np.ones(3)},
        points={"hinge a.b–c/d: x": Point(np.zeros(0), "ω")},
        row=(Point(np.zeros(2), "one"), Point(np.ones(1), "two")),
        system=None,
    ),
    "empty": Everything(np.zeros((0, 3)), 0.0, (0.0, 0.0), np.array([], dtype=str), {}, {}, (), None),
}


def same(a, b):
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return (
            a.shape == b.shape
            and (a.dtype.kind == "U" or np.array_equal(a, b, equal_nan=True))
            and (a.dtype.kind != "U" or a.tolist() == b.tolist())
        )
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return same(vars(a), vars(b)) if isinstance(a, Point | Everything) else a == b


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_read_back(value, tmp_path):
    write_hdf5(tmp_path / "value.h5", lambda file: write_fields(file, value, without=("system",)))
    assert not (tmp_path / "value.h5.part").exists()
    with h5py.File(tmp_path / "value.h5") as file:
        assert "system" not in file
        again = read_fields(file, Everything, {"system": None})
    assert same(value, again)


def test_a_field_that_is_missing_is_named(tmp_path):
    write_hdf5(tmp_path / "value.h5", lambda file: write_fields(file, VALUES["full"], without=("system",)))
    with h5py.File(tmp_path / "value.h5", "a") as file:
        del file["row/1/place"]
        with pytest.raises(OSError, match="/row/1/place is missing"):
            read_fields(file, Everything, {"system": None})
