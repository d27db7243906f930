"""Samples of parameters: full factorial grids, tables, and space-filling random points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.memo import read_only

SAMPLE = "sample"
"""Name of the dimension of a table's rows."""

Value = float | int | bool | str
"""Types of parameter values."""


@checked
@dataclass(frozen=True)
class Samples:
    """Samples of parameters: a grid with the values of each axis, or a table with a value for each row.

    Every sample has all parameters; the last one of a grid varies fastest. Numbers, texts and truth values may be
    mixed.

    Parameters
    ----------
    columns : mapping
        Values by parameter.
    is_grid : bool
        True if the columns are the axes of a grid.

    Raises
    ------
    ValueError
        If columns differ in length, an axis has a value twice, or there are no samples.
    """

    columns: Mapping[str, Sequence[Any]]
    is_grid: bool = False

    def __post_init__(self) -> None:
        columns = {name: _column(name, values) for name, values in self.columns.items()}
        lengths = {name: len(values) for name, values in columns.items()}
        if not columns or 0 in lengths.values():
            raise ValueError(f"columns must have at least one value each, got {check.shown(dict(self.columns))}")
        if not self.is_grid and len(set(lengths.values())) > 1:
            raise ValueError(f"columns of a table must be of one length, got {lengths}")
        for name, values in columns.items() if self.is_grid else ():
            if len(set(values)) < len(values):
                raise ValueError(f"values of {name!r} must differ from each other, got {check.shown(values)}")
        object.__setattr__(self, "columns", read_only(columns))

    @property
    def sizes(self) -> Mapping[str, int]:
        """Number of entries of each dimension: of each parameter of a grid, or of "sample" for a table."""
        if self.is_grid:
            return {name: len(values) for name, values in self.columns.items()}
        return {SAMPLE: len(next(iter(self.columns.values())))}

    def __len__(self) -> int:
        return math.prod(self.sizes.values())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the samples as dicts, one at a time."""
        rows = itertools.product(*self.columns.values()) if self.is_grid else zip(*self.columns.values(), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in rows)


@checked
def grid(values: Mapping[str, Sequence[Any]]) -> Samples:
    """All combinations of values by parameter; the parameters are dimensions of the results, in this order.

    Parameters
    ----------
    values : mapping
        Values by parameter.

    Returns
    -------
    Samples
        Samples for :func:`flexph.study`.
    """
    return Samples(values, is_grid=True)


@checked
def table(rows: Sequence[Mapping[str, Any]]) -> Samples:
    """Samples of a table: a list of dicts of values by parameter, all with the same parameters.

    Parameters
    ----------
    rows : sequence of mapping
        Values by parameter, for each sample.

    Returns
    -------
    Samples
        Samples for :func:`flexph.study`.
    """
    if not len(rows):
        raise ValueError("rows must have at least one sample, got none")
    for k, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ValueError(f"rows[{k}] must have the parameters {list(rows[0])} of the first, got {list(row)}")
    return Samples({name: [row[name] for row in rows] for name in rows[0]})


@checked
def latin_hypercube(count: int, bounds: Mapping[str, tuple[float, float]], *, seed: int = 0) -> Samples:
    """Random points in a box, one in each of ``count`` intervals of every parameter (scipy.stats.qmc.LatinHypercube).

    Parameters
    ----------
    count : int
        Number of samples.
    bounds : mapping
        Lower and upper bound by parameter.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Samples
        Samples for :func:`flexph.study`.
    """
    from scipy.stats import qmc

    points = qmc.LatinHypercube(len(bounds), rng=check.count("seed", seed, 0))
    return _scaled(points.random(check.count("count", count)), bounds)


@checked
def sobol(count: int, bounds: Mapping[str, tuple[float, float]], *, seed: int = 0) -> Samples:
    """Points of a scrambled Sobol sequence in a box (scipy.stats.qmc.Sobol); ``count`` is a power of two.

    Parameters
    ----------
    count : int
        Number of samples, a power of two.
    bounds : mapping
        Lower and upper bound by parameter.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Samples
        Samples for :func:`flexph.study`.
    """
    from scipy.stats import qmc

    if check.count("count", count) & (count - 1):
        raise ValueError(f"count must be a power of two, got {count}")
    return _scaled(qmc.Sobol(len(bounds), rng=check.count("seed", seed, 0)).random(count), bounds)


@checked
def box(bounds: Mapping[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds as arrays (n,); raises ValueError if there are none or a range is empty."""
    for name, (lower, upper) in bounds.items():
        if not lower < upper:
            raise ValueError(f"bounds of {name!r} must be (lower, upper) with lower < upper, got {(lower, upper)}")
    if not bounds:
        raise ValueError("bounds must have at least one parameter, got none")
    lower, upper = np.array([*bounds.values()], dtype=float).T
    return lower, upper


def _scaled(points: np.ndarray, bounds: Mapping[str, tuple[float, float]]) -> Samples:
    lower, upper = box(bounds)
    return Samples(dict(zip(bounds, (lower + (upper - lower) * points).T.tolist(), strict=True)))


def _column(name: str, values: Sequence[Any]) -> tuple[Value, ...]:
    """Checked values of a parameter as Python numbers, texts and truth values."""
    check.name("a parameter", name)
    if name == SAMPLE:
        raise ValueError(f"a parameter must not be named {SAMPLE!r}: this is the dimension of tables")
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    for k, value in enumerate(plain):
        if not isinstance(value, float | int | str) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"{name}[{k}] must be a finite number, a text or a truth value, got {check.shown(value)}")
    return plain
