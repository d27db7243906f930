"""Series and single numbers read from a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from flexph.numerics.arrays import Array

from .schema.entry import Builder, Entry
from .schema.runs import Measure, Reading
from .schema.sensors import OF_CONTACTS, OF_JOINTS

TAKE = {
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max_abs": lambda x: np.abs(x).max(),
    "rms": lambda x: np.sqrt(np.mean(x**2)),
    "mean": lambda x: x.mean(),
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
}
"""Reductions of a series (k,) to one number."""


def series_of(run: Any, reading: Reading | Entry) -> tuple[Array, Array]:
    """Times (k,) [s] and values (k, components) of a reading."""
    if isinstance(reading, Entry):
        values = run.measured(reading.build(Builder(Path())))
        return run.times, np.reshape(values, (len(values), -1))
    if reading.what == "reaction":
        reaction = run.reaction(reading.of)
        columns = [reaction.force, np.reshape(reaction.torque, (len(reaction.times), -1))]
        return reaction.times, np.hstack(columns)
    measures = {**OF_CONTACTS, **OF_JOINTS}
    if reading.what in measures:
        values = run.measured(measures[reading.what](reading.of))
        return run.times, np.reshape(values, (len(values), -1))
    views = {"displacement": "displacement", "position": "position", "velocity": "velocity", "spin": "spin"}
    values = run[reading.of] if reading.what == "state" else getattr(run, views[reading.what])(reading.of)
    return run.times[-len(values) :], np.reshape(values, (len(values), -1))


def headings(name: str, width: int) -> list[str]:
    """Headings of a column with one or several components."""
    return [name] if width == 1 else [f"{name} {i}" for i in range(width)]


def number_of(run: Any, measure: Measure) -> float:
    """Number that a measure takes from a run."""
    _, values = series_of(run, measure.of)
    if measure.component >= values.shape[1]:
        raise ValueError(
            f"component {measure.component} does not exist: the sensor has {values.shape[1]}, counted from 0"
        )
    return float(TAKE[measure.take](values[:, measure.component]))


def table_of(run: Any, columns: dict[str, Reading | Entry]) -> dict[str, Array]:
    """Columns of a table by heading: the common times, and each component of each reading."""
    table: dict[str, Array] = {}
    for name, reading in columns.items():
        times, values = series_of(run, reading)
        table.setdefault("t [s]", times)
        table |= dict(zip(headings(name, values.shape[1]), values.T, strict=True))
    return table
