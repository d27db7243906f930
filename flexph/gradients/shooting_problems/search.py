"""Search for the unknowns of a shooting problem: scaled unknowns, cost and conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...results.unfinished import IntegrationError
from ..runs.readings import readings
from .multiple import SegmentedProblem
from .single import COST, Evaluation, Problem, end_of, limit_of


@dataclass(eq=False)
class Search:
    """Search in unknowns divided by their sizes, with a cache of the last evaluation."""

    problem: Problem | SegmentedProblem
    size: Array
    sides: tuple[Array, Array]
    evaluations: int = 0
    at: Array | None = None
    found: Evaluation | None = None
    failed: bool = False

    def asked(self, z: Array) -> Evaluation:
        """Evaluation at the scaled unknowns z; if its run fails, the last successful evaluation."""
        if self.found is None or self.at is None or not np.array_equal(z, self.at):
            try:
                self.found, self.failed = self.problem.evaluated(z * self.size), False
            except (IntegrationError, ArithmeticError):
                if self.found is None:
                    raise
                self.failed = True
            self.at, self.evaluations = z.copy(), self.evaluations + 1
        return self.found

    def cost(self, z: Array) -> tuple[float, Array]:
        """Cost and its derivatives by the scaled unknowns; infinite for a failed run, so that steps are shortened."""
        found = self.asked(z)
        total, slope = self.problem.efforts(z * self.size)
        if self.failed:
            return np.inf, slope * self.size
        if COST in found.values:
            total, slope = total + found.values[COST], slope + found.slopes[COST]
        return total, slope * self.size

    def condition(self, z: Array, name: str) -> tuple[float, Array]:
        """Value of a functional and its derivatives by the scaled unknowns."""
        own = self.asked(z)
        return own.values[name], own.slopes[name] * self.size

    def gap(self, z: Array, name: str) -> tuple[Array, Array]:
        """Gap between two segments and its derivatives by the scaled unknowns."""
        value, slope = self.asked(z).gaps[name]
        return value, slope * self.size

    def conditions(self, z: Array) -> list[Condition | Closed]:
        """Conditions of the problem, scaled by the size of their gradients in scaled unknowns."""
        rows: list[Condition | Closed] = [Closed(name) for name in self.asked(z).gaps]
        for name, (_, values) in self.problem.base.ends.items():
            self._refuse_other_size(name, values, z)
            for i, value in enumerate(np.ravel(values)):
                reading, slope = self.condition(z, end_of(name, i))
                size = max(float(np.linalg.norm(slope)), abs(reading - value)) or 1.0
                rows.append(Condition(end_of(name, i), "eq", float(value), 1.0, size))
        for name, (_, least, largest) in self.problem.base.limits.items():
            size = max(abs(least or 0.0), abs(largest or 0.0)) or 1.0
            rows += [] if least is None else [Condition(limit_of(name), "ineq", least, 1.0, size)]
            rows += [] if largest is None else [Condition(limit_of(name), "ineq", largest, -1.0, size)]
        return rows

    def _refuse_other_size(self, name: str, values: Any, z: Array) -> None:
        """Raise ValueError for an end condition whose sensor has more components than values."""
        quantity = self.problem.base.ends[name][0]
        run = self.asked(z).runs[0]
        count = readings(run.mechanism, quantity, run.states[-1:]).shape[1]
        if count != np.size(values):
            raise ValueError(
                f"ends[{name!r}] must have {count} values for {quantity}, got {np.size(values)}: for a single one give "
                "Last with its component in limits"
            )


class Condition(NamedTuple):
    """Condition sign·(Φ − value)/size = 0 or ≥ 0."""

    name: str
    kind: Literal["eq", "ineq"]
    value: float
    sign: float
    size: float

    def residual(self, search: Search, z: Array) -> float:
        """Value of the left-hand side at the scaled unknowns z."""
        return self.sign * (search.condition(z, self.name)[0] - self.value) / self.size

    def slope(self, search: Search, z: Array) -> Array:
        """Derivatives of the left-hand side by the scaled unknowns."""
        return self.sign * search.condition(z, self.name)[1] / self.size


class Closed(NamedTuple):
    """Condition that a segment begins at the end of the previous segment."""

    name: str
    kind: Literal["eq", "ineq"] = "eq"

    def residual(self, search: Search, z: Array) -> Array:
        """Gap (2k,) in coordinates at the scaled unknowns."""
        return search.gap(z, self.name)[0]

    def slope(self, search: Search, z: Array) -> Array:
        """Derivatives (2k, n) of the gap by the scaled unknowns."""
        return search.gap(z, self.name)[1]
