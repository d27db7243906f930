"""Functions of model files from tables of comma-separated values, and by import path for trusted files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flexph.systems.inputs import Table

from ...units.words import nearest

Interpolation = Literal["linear", "cubic"]


def read_columns(path: Path, names: list[str]) -> list[np.ndarray]:
    """Columns (k,) of a file by the names in its first row. Raises ValueError with the line of an error."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, skipinitialspace=True)
            header = [name.strip() for name in next(rows, [])]
            for name in names:
                if name not in header:
                    raise ValueError(f"{path.name} has no column {name!r} in its first row: {nearest(name, header)}")
                if header.count(name) > 1:
                    raise ValueError(f"{path.name} has {header.count(name)} columns {name!r}: rename all but one")
            places = [header.index(name) for name in names]
            numbers = [_numbers(path, rows.line_num, row, places) for row in rows if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path.name} is no table of comma-separated values: {error}") from None
    if not numbers:
        raise ValueError(f"{path.name} has no rows of numbers below its first row")
    return list(np.array(numbers).T)


def _numbers(path: Path, line: int, row: list[str], places: list[int]) -> list[float]:
    try:
        numbers = [float(row[place]) for place in places]
    except (ValueError, IndexError):
        raise ValueError(f"{path.name}, line {line}: {','.join(row)[:60]!r} must be a number for each column") from None
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"{path.name}, line {line}: numbers must be finite, got {','.join(row)[:60]!r}")
    return numbers


def function_of_table(
    path: Path, time: str, values: list[str], *, factors: tuple[float, float], interpolation: Interpolation
) -> Callable[[float], Any]:
    """Function of time [s] that interpolates columns of a table: a number for one column, else an array (k,).

    ``time`` and ``values`` name columns of the file; ``factors`` convert the times and the values to SI units.
    """
    times, *columns = read_columns(path, [time, *values])
    given = factors[1] * np.array(columns).T
    scaled = factors[0] * times
    table = Table(scaled, given[:, 0] if len(columns) == 1 else given, path.name)
    if interpolation == "linear":
        return table
    from scipy.interpolate import CubicSpline

    return CubicSpline(table.times, table.values, extrapolate=False)


def trusted_function(path: str, folder: Path, *, trust: bool) -> Callable[..., Any]:
    """Function ``package.module:name`` of an installed module, or of one in the model file's folder.

    Raises ValueError if the file is not trusted or there is no such function.
    """
    if not trust:
        raise ValueError(f"{path!r} is code that would be run: give --trust only if you trust this file")
    module, _, name = path.partition(":")
    try:
        imported = _imported(module, folder.resolve())
    except Exception as error:  # user code may raise anything
        raise ValueError(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    local = (folder / f"{module.replace('.', '/')}.py").resolve()
    if local.is_file() and Path(getattr(imported, "__file__", None) or "").resolve() != local:
        raise ValueError(
            f"{module!r} is {imported!r}, and not {local.name!r} in the folder of the model file: rename the latter"
        )
    function = getattr(imported, name, None)
    if not callable(function):
        known = [word for word, value in vars(imported).items() if callable(value) and not word.startswith("_")]
        raise ValueError(f"{module!r} has no function {name!r}: {nearest(name, known)}")
    return function


def _imported(module: str, folder: Path) -> Any:
    """Import a module by name: an installed one, else one in a folder."""
    sys.path.append(str(folder))
    try:
        invalidate_caches()
        return import_module(module)
    finally:
        sys.path.remove(str(folder))
