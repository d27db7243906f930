"""Results of a study in one NetCDF file, written in parts of limited size to bound the memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..files.hdf5 import write_hdf5
from .execution.records import read_head, read_record, record_path
from .execution.subjects import StudyFunction
from .samples import Samples

STATUS, ERROR, SECONDS = "sample_status", "sample_error", "sample_seconds"
"""Names of the variables that a dataset has for every study, besides the values of its runs."""

SLAB = 1 << 25
"""Largest size, in bytes, of the part of a variable that is in memory while a dataset is written."""


@dataclass(frozen=True)
class Variable:
    """Variable of the dataset: its kind ("f" for real, "i" for integer, "b" or "U" for text) and its shape.

    The shape is the largest one in any sample.
    """

    kind: str
    shape: tuple[int, ...]

    def joined(self, other: Variable) -> Variable:
        """Variable whose kind and shape include the values of this variable and of another."""
        kind = self.kind if self.kind == other.kind else "U" if "U" in (self.kind, other.kind) else "f"
        axes = max(len(self.shape), len(other.shape))
        shapes = [(1,) * (axes - len(v.shape)) + v.shape for v in (self, other)]
        return Variable(kind, tuple(map(max, *shapes)) if axes else ())

    @property
    def blank(self) -> Any:
        """Placeholder for a sample without a value."""
        return {"f": math.nan, "i": 0, "b": False, "U": ""}[self.kind]

    @property
    def dtype(self) -> Any:
        """NumPy type of its entries in memory."""
        return {"f": float, "i": np.int64, "b": np.int8, "U": object}[self.kind]


def write_dataset(
    path: Path, folder: Path, samples: Samples, study_function: StudyFunction, units: Mapping[str, str]
) -> None:
    """Write the records of all samples to a file; parameters are coordinates, and dimensions for a full grid.

    Missing values become NaN or an empty text; shorter arrays are padded. Integers and truth values keep their type
    only if all samples have them.
    """
    variables = _variables(folder, samples)

    def write(file: h5py.File) -> None:
        import h5netcdf

        with h5netcdf.File(file, "w") as dataset:
            dataset.attrs.update(_attributes(study_function, samples))
            _add_coordinates(dataset, samples, units)
            for name, variable in variables.items():
                _add(dataset, name, tuple(samples.sizes), variable, units)
            _fill(dataset, folder, samples, variables)

    write_hdf5(path, write)


def _variables(folder: Path, samples: Samples) -> dict[str, Variable]:
    """Variables of all records by name, from the kinds and shapes of their values."""
    variables: dict[str, Variable] = {}
    counts: dict[str, int] = {}
    for sample in samples:
        for name, (kind, shape) in read_head(record_path(folder, sample))["values"].items():
            variable = Variable(kind, tuple(shape))
            variables[name] = variables[name].joined(variable) if name in variables else variable
            counts[name] = counts.get(name, 0) + (variables[name].shape == variable.shape)
    for name in variables:
        if counts[name] < len(samples) and variables[name].kind in "ib":
            variables[name] = Variable("f", variables[name].shape)
    extra = {STATUS: Variable("U", ()), ERROR: Variable("U", ()), SECONDS: Variable("f", ())}
    return dict(sorted(variables.items())) | extra


def _add_coordinates(dataset: Any, samples: Samples, units: Mapping[str, str]) -> None:
    dataset.dimensions = dict(samples.sizes)
    for name, values in samples.columns.items():
        array = _column(values)
        variable = Variable(array.dtype.kind, ())
        dims = (name,) if samples.is_grid else tuple(samples.sizes)
        dataset.create_variable(name, dims, dtype=_stored(variable), data=array.astype(variable.dtype))
        _describe(dataset[name], variable, units.get(name, ""))
    if not samples.is_grid:
        dataset.attrs["coordinates"] = " ".join(samples.columns)


def _column(values: Any) -> np.ndarray:
    """Values of a parameter as an array of numbers or truth values, or else of texts.

    They are texts if one of them is a text, or if truth values and numbers are mixed.
    """
    kinds = {type(value) for value in values}
    if str in kinds or (bool in kinds and len(kinds) > 1):
        return np.array([str(value) for value in values])
    return np.array(values, dtype=float if float in kinds else None)


def _add(dataset: Any, name: str, dims: tuple[str, ...], variable: Variable, units: Mapping[str, str]) -> None:
    axes = [f"{name}_{axis}" for axis in range(len(variable.shape))]
    for dim, size in zip(axes, variable.shape, strict=True):
        dataset.dimensions[dim] = size
    fill = math.nan if variable.kind == "f" else None
    dataset.create_variable(name, (*dims, *axes), dtype=_stored(variable), fillvalue=fill)
    _describe(dataset[name], variable, units.get(name, ""))


def _stored(variable: Variable) -> Any:
    return h5py.string_dtype() if variable.kind == "U" else variable.dtype


def _describe(stored: Any, variable: Variable, unit: str) -> None:
    if unit:
        stored.attrs["units"] = unit
    if variable.kind == "b":
        stored.attrs["dtype"] = "bool"  # the attribute by which xarray marks truth values


def _fill(dataset: Any, folder: Path, samples: Samples, variables: Mapping[str, Variable]) -> None:
    """Copy the values of all records into the dataset in parts of limited size."""
    size = sum(8 * math.prod(v.shape) for v in variables.values())
    rows = iter(samples)
    for place, shape in parts_of_array(tuple(samples.sizes.values()), max(1, SLAB // size)):
        count = math.prod(shape)
        blocks = {name: np.full((count, *v.shape), v.blank, dtype=v.dtype) for name, v in variables.items()}
        for k in range(count):
            for name, value in _entries(folder, next(rows)).items():
                blocks[name][k, ...] = _filled(value, variables[name])
        for name, block in blocks.items():
            dataset[name][place] = block.reshape(*shape, *block.shape[1:])


def _entries(folder: Path, sample: Mapping[str, Any]) -> dict[str, Any]:
    record = read_record(record_path(folder, sample))
    entries = {STATUS: record.status, ERROR: record.error, SECONDS: record.seconds}
    return record.values | {name: np.array(value) for name, value in entries.items()}


def _filled(value: np.ndarray, variable: Variable) -> np.ndarray:
    """Value of one sample, padded to the shape of its variable."""
    full = np.full(variable.shape, variable.blank, dtype=variable.dtype)
    widened = value.reshape((1,) * (full.ndim - value.ndim) + value.shape)
    part: Any = (*map(slice, widened.shape), ...)
    full[part] = widened.astype(str) if variable.kind == "U" else widened
    return full


def parts_of_array(shape: tuple[int, ...], most: int) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """Yield the parts of an array with at most ``most`` entries each, in order.

    A part is given by its indices in the array and by its shape.
    """
    axis = next(k for k in range(len(shape)) if math.prod(shape[k + 1 :]) <= most)
    rows = max(1, most // math.prod(shape[axis + 1 :]))
    for lead in np.ndindex(shape[:axis]):
        for first in range(0, shape[axis], rows):
            last = min(first + rows, shape[axis])
            yield (*lead, slice(first, last)), (last - first, *shape[axis + 1 :])


def _attributes(study_function: StudyFunction, samples: Samples) -> dict[str, Any]:
    packages = ("flexph", "numpy", "scipy")
    fixed = {f"parameter_{k}": v for k, v in study_function.defaults.items() if k not in samples.columns}
    return {
        "function": study_function.name,
        **{f"{name}_version": version(name) for name in packages},
        **{name: str(value) if isinstance(value, bool) else value for name, value in fixed.items()},
    }
