"""The least value of a function within bounds, with constraints on any value of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, minimize

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from .evaluations import Evaluations, evaluations, told, value_of
from .execution.records import Record
from .execution.runs import Place
from .samples import box

FEASIBLE = 1e-6
"""Violation of a constraint, over the size of its limit, up to which a run meets it."""

Limits = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class Optimum(NamedFields):
    """The best run that meets all constraints: its ``parameters``, its ``values``, and all ``runs`` (a dataset).

    Attributes
    ----------
    parameters : mapping
        Values by name.
    values : mapping
        Those of the run.
    runs : Dataset
        All runs.
    """

    parameters: Mapping[str, float]
    values: Mapping[str, Array]
    runs: Any


@checked
def optimise(
    function: Callable[..., Any] | str,
    objective: str,
    bounds: Mapping[str, tuple[float, float]],
    *,
    constraints: Limits | None = None,
    start: Mapping[str, float] | None = None,
    most: int = 40,
    tolerance: float = 1e-3,
    out: Path | None = None,
    executor: Executor | str | None = None,
    resume: bool = False,
) -> Optimum:
    """Parameters within bounds with the least value of a run, by COBYQA, which needs no derivatives (scipy.optimize).

    Parameters are scaled by their bounds, values by those of the first run, constraints by their limits. Every run is
    recorded: with ``resume`` an optimisation that was killed goes on where it was. A run that fails counts as one that
    breaks the constraints.

    Parameters
    ----------
    function : callable or str
        A function of parameters by name that returns a dict of values, or the name of a case; see :func:`flexph.study`.
    objective : str
        The value that is to be least.
    bounds : dict
        (lower, upper) by parameter.
    constraints : dict, optional
        (least, largest) by value, None for no limit; all entries of arrays are held to them.
    start : dict, optional
        Where to begin; in the middle of the bounds by default.
    most : int
        How many runs there may be.
    tolerance : float
        Distance between parameters, over the width of their bounds, at which the search ends.
    out, executor, resume : optional
        As of :func:`flexph.study`; runs are made in this process by default.

    Returns
    -------
    Optimum
        The best run that meets the constraints, and all others.

    Raises
    ------
    ArithmeticError
        Where the search does not end within ``most`` runs, or no run meets the constraints.

    Examples
    --------
    >>> from flexph.studies import optimise
    >>> def bar(width):
    ...     return {"mass": width**2, "stress": 8.0 / width**3}
    >>> best = optimise(bar, "mass", {"width": (1.0, 4.0)}, constraints={"stress": (None, 1.0)})
    >>> round(best.parameters["width"], 2)
    2.0
    """
    lower, upper = box(bounds)
    for name, (least, largest) in (constraints or {}).items():
        if least is not None and largest is not None and least > largest:
            raise ValueError(f"constraints[{name!r}] must be (least, largest), got {(least, largest)}")
    check.positive("tolerance", tolerance)
    check.count("most", most, 2 + len(bounds))
    place = Place(out, executor, None if executor else 1, resume)
    with evaluations(function, list(bounds), place) as runs:
        search = _Search(runs, objective, dict(constraints or {}), tuple(bounds), lower, upper)
        search.first(_started(start, bounds))
        return search.finished(search.minimised(_started(start, bounds), most, tolerance), most)


@dataclass(frozen=True)
class _Search:
    """An optimisation in parameters that run from 0 to 1."""

    runs: Evaluations
    objective: str
    limits: Limits
    names: tuple[str, ...]
    lower: Array
    upper: Array

    def first(self, start: Mapping[str, float]) -> None:
        """Make the first run; raises for values that it does not have, and where it fails."""
        (values,) = self.runs.values([start])
        for name in (self.objective, *self.limits):
            value_of(values, name)
        if values[self.objective].size != 1:
            raise ValueError(f"objective must be the name of a number, {self.objective!r} is an array")
        if not np.isfinite(values[self.objective]).all():
            said = f"{self.objective!r} is {values[self.objective].item()} at {told(start)}, where the search begins"
            raise ArithmeticError(f"{said}: give a start where it is a finite number")

    def minimised(self, start: Mapping[str, float], most: int, tolerance: float) -> Any:
        """What scipy tells of the search."""
        x = (np.array([start[name] for name in self.names]) - self.lower) / (self.upper - self.lower)
        size = abs(self.value(x)) or 1.0
        held = [NonlinearConstraint(self.excess, -np.inf, 0.0)] if self.limits else []
        options = {"maxfev": most, "initial_tr_radius": max(0.25, tolerance), "final_tr_radius": tolerance}
        box_ = Bounds(np.zeros(x.size), np.ones(x.size))
        return minimize(
            lambda x: self.value(x) / size, x, method="COBYQA", bounds=box_, constraints=held, options=options
        )

    def finished(self, result: Any, most: int) -> Optimum:
        """The best run."""
        records = self.runs.records(self.runs.samples)
        meeting = [record for record in records if not record.error and self.largest_excess(record) <= FEASIBLE]
        if not meeting:
            raise ArithmeticError(f"none of {len(records)} runs meets the constraints: {self._nearest(records)}")
        best = min(meeting, key=self.rank)
        if not result.success:
            raise ArithmeticError(
                f"the search did not end within {most} runs; the best so far is {told(best.parameters)}, with "
                f"{self.objective} = {best.values[self.objective].item():.6g}: allow more runs, or a larger tolerance"
            )
        return Optimum(best.parameters, best.values, self.runs.dataset())

    def record(self, x: Array) -> Record:
        """The run at scaled parameters."""
        inside = np.clip(self.lower + (self.upper - self.lower) * x, self.lower, self.upper)
        return self.runs.records([dict(zip(self.names, inside.tolist(), strict=True))])[0]

    def value(self, x: Array) -> float:
        """The objective; NaN of a run that failed."""
        record = self.record(x)
        return float("nan") if record.error else value_of(record.values, self.objective).item()

    def rank(self, record: Record) -> float:
        """The objective of a run, infinity for NaN."""
        value = value_of(record.values, self.objective).item()
        return float("inf") if np.isnan(value) else value

    def excess(self, x: Array) -> Array:
        """By how much each limit is exceeded."""
        record = self.record(x)
        return np.full(2 * len(self.limits), np.nan) if record.error else self.excesses(record)

    def excesses(self, record: Record) -> Array:
        """By how much a run exceeds each limit, over its size."""
        parts = []
        for name, (least, largest) in self.limits.items():
            value, size = value_of(record.values, name), max(abs(least or 0.0), abs(largest or 0.0)) or 1.0
            parts += [-1.0 if least is None else (least - value.min()) / size]
            parts += [-1.0 if largest is None else (value.max() - largest) / size]
        return np.array(parts)

    def largest_excess(self, record: Record) -> float:
        """The largest of them; negative where all limits are met."""
        return float(self.excesses(record).max(initial=-1.0))

    def _nearest(self, records: list[Record]) -> str:
        done = [record for record in records if not record.error]
        nearest = min(done, key=self.largest_excess)
        worst = list(self.limits)[int(np.argmax(self.excesses(nearest))) // 2]
        values = value_of(nearest.values, worst)
        return f"at {told(nearest.parameters)}, {worst} runs from {values.min():.6g} to {values.max():.6g}"


def _started(start: Mapping[str, float] | None, bounds: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """The first parameters, within the bounds."""
    first = {name: 0.5 * (lower + upper) for name, (lower, upper) in bounds.items()}
    for name, value in (start or {}).items():
        lower, upper = check.lookup("parameter", name, bounds, "bounds")
        if not lower <= value <= upper:
            raise ValueError(f"start[{name!r}] must lie in its bounds {(lower, upper)}, got {value}")
        first[name] = float(value)
    return first
