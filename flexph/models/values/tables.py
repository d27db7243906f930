"""Functions of time from tables of comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Callable
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
        raise ValueError(f"{path.name}, line {line}: {','.join(row)[:60]!r} lacks a number where one is due") from None
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"{path.name}, line {line}: numbers must be finite, got {','.join(row)[:60]!r}")
    return numbers


def function_of_table(
    path: Path, time: str, values: list[str], *, factors: tuple[float, float], interpolation: Interpolation
) -> Callable[[float], Any]:
    """Interpolated function of time [s] from a table; ``factors`` convert its times and values to SI units."""
    times, *columns = read_columns(path, [time, *values])
    given = factors[1] * np.array(columns).T
    scaled = factors[0] * times
    table = Table(scaled, given[:, 0] if len(columns) == 1 else given, path.name)
    if interpolation == "linear":
        return table
    from scipy.interpolate import CubicSpline

    return CubicSpline(table.times, table.values, extrapolate=False)
