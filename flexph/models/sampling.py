"""Samples of a model file's studies, and parameters of its optimisations, checked before anything is run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..units.quantities import read_quantity, read_size
from ..units.words import nearest
from .measures import units_of
from .reading.tree import ModelError, Tree, read_text
from .schema.entry import Builder
from .schema.runs import Frequencies, InverseDynamicsRun, Measure
from .schema.studies import Optimisation, Study
from .settings import setting_at, with_settings
from .validation import validated

BETWEEN = 0.381966
"""Share of an interval at which a number is tried; it is no round number, so that integer settings are detected."""


def check_study(study: Study, tree: Tree, runs: Sequence[str], here: Builder) -> None:
    """Raise Misfit for an unknown run, and for sampled settings that do not exist or have values the file refuses."""
    if study.run not in runs:
        raise here.at("run").misfit(f"no run {study.run!r}: {nearest(study.run, runs)}")
    for path, values in (study.vary or {}).items():
        _try([{path: value} for value in values], tree, here.at("vary", path))
    for k, row in enumerate(study.samples or []):
        _refuse_ragged(row, study.samples[0], here.at("samples", k))
        _try([row], tree, here.at("samples", k))
    if study.table is not None:
        _try(rows_of(study, here), tree, here.at("table"))
    sampler = here.at("latin_hypercube" if study.latin_hypercube else "sobol")
    for path, ends in study.bounds.items():
        _check_bounds(path, ends, tree, sampler.at("bounds", path))


def _check_bounds(path: str, ends: Sequence[Any], tree: Tree, here: Builder) -> tuple[float, float]:
    """Bounds of a setting in SI units; raise Misfit unless the file accepts both bounds and a number between them."""
    _try([{path: end} for end in ends], tree, here)
    with here.refusals():
        lower, upper = ends_of(ends)
    _try([{path: lower + BETWEEN * (upper - lower)}], tree, here)
    return lower, upper


def check_optimisation(search: Optimisation, tree: Tree, runs: Mapping[str, Any], here: Builder) -> None:
    """Raise Misfit for an unknown run or measure, and for parameters that do not exist or have refused bounds."""
    if search.run not in runs:
        raise here.at("run").misfit(f"no run {search.run!r}: {nearest(search.run, runs)}")
    known = _figures(runs[search.run])
    places = {name: here.at("objective") for name in search.weights}
    for name, place in ({name: here.at("constraints", name) for name in search.constraints} | places).items():
        if name not in known:
            raise place.misfit(f"run {search.run!r} has no measure {name!r}: {nearest(name, known)}")
    _check_units(search, tree, runs[search.run], here)
    for path, ends in search.parameters.items():
        _check_bounds(path, ends, tree, here.at("parameters", path))
    with here.at("parameters").refusals():
        start_of(search, tree)


def _check_units(search: Optimisation, tree: Tree, run: Any, here: Builder) -> None:
    """Raise Misfit for limits with the unit of another quantity than the sensor of their measure."""
    given = tree.data["optimisations"][here.path[-1]].get("constraints") or {}
    for name in () if isinstance(run, Frequencies) else search.constraints:
        units = _units_of(run.outputs.measures.get(name))
        for k, limit in enumerate(given[name] if units else ()):
            if isinstance(limit, str):
                with here.at("constraints", name, k).refusals():
                    read_quantity(limit, *units)


def _units_of(measure: Measure | None) -> tuple[str, ...]:
    """Units that limits of a measure may have; empty if they are unknown."""
    units = () if measure is None else units_of(measure.of)
    return tuple(f"{unit} s" for unit in units) if measure is not None and measure.take == "integral" else units


def _figures(run: Any) -> list[str]:
    """Names of the summary numbers of a run that an optimisation can minimise or limit."""
    if isinstance(run, Frequencies):
        return [f"omega{i + 1}_rad_s" for i in range(run.count)]
    largest = [f"largest {name}" for name in run.motion] if isinstance(run, InverseDynamicsRun) else []
    return [*run.outputs.measures, *largest]


def start_of(search: Optimisation, tree: Tree) -> dict[str, float]:
    """Initial value of each parameter of an optimisation in SI units: that of the file, else the middle of its bounds.

    Raises ValueError for a setting that is no number, or lies outside of its bounds.
    """
    start = {}
    for path, ends in search.parameters.items():
        lower, upper = ends_of(ends)
        given = setting_at(tree, path)
        value = 0.5 * (lower + upper) if given is None else read_size(given)
        if not lower <= value <= upper:
            raise ValueError(f"{path} must start within its bounds {ends[0]} and {ends[1]}, got {given} in the file")
        start[path] = value
    return start


def check_grid(grid: Mapping[str, Iterable[Any]], tree: Tree) -> None:
    """Raise ModelError if the file refuses one of the values, which ``grid`` lists by path of a setting."""
    for path, values in grid.items():
        for value in values:
            validated(with_settings(tree, {path: value}))


def ends_of(given: Sequence[Any]) -> tuple[float, float]:
    """Lower and upper bound in SI units, from two texts or numbers. Raises ValueError unless the first is smaller."""
    lower, upper = map(read_size, given)
    if not lower < upper:
        raise ValueError(f"got {given[0]} and {given[1]}: write the lower end first, then the upper one")
    return lower, upper


def rows_of(study: Study, here: Builder) -> list[dict[str, Any]]:
    """Settings by path of each listed sample, from the study itself or from its table. Raises Misfit."""
    if study.table is None:
        return list(study.samples or [])
    path: Path = here.of(study.table, "table")
    with here.at("table").refusals():
        return _read_rows(path)


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, skipinitialspace=True)
            header = [name.strip() for name in next(rows, [])]
            if "" in header or len(set(header)) < len(header):
                raise ValueError(f"{path.name}: the paths in its first row must be distinct and not empty")
            read = [_row(path, rows.line_num, header, row) for row in rows if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path.name} is no table of comma-separated values: {error}") from None
    if not read:
        raise ValueError(f"{path.name} has no rows below its first row, which has paths such as bodies.rod.length")
    return read


def _row(path: Path, line: int, header: list[str], row: list[str]) -> dict[str, Any]:
    if len(row) != len(header) or not all(entry.strip() for entry in row):
        raise ValueError(f"{path.name}, line {line}: it must have a value for each of {', '.join(header)}")
    return {name: read_text(entry, f"{path.name}, line {line}").data for name, entry in zip(header, row, strict=True)}


def _refuse_ragged(row: Mapping[str, Any], first: Mapping[str, Any], here: Builder) -> None:
    if row.keys() != first.keys():
        raise here.misfit(f"all samples must have the settings of the first, {', '.join(first)}; got {', '.join(row)}")


def _try(rows: Iterable[Mapping[str, Any]], tree: Tree, here: Builder) -> None:
    """Raise Misfit if the file does not accept one of the ``rows``, each of which is settings by path."""
    for row in rows:
        try:
            validated(with_settings(tree, row))
        except ModelError as error:
            problem = error.problems[0]
            settings = ", ".join(f"{name}={value}" for name, value in row.items())
            raise here.misfit(f"{settings}: {problem.text}" if len(row) > 1 else problem.text) from None
