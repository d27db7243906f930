"""Search for the unknowns of a shooting problem: scaled unknowns, cost and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog

from ...numerics.arrays import Array
from ...results.unfinished import IntegrationError
from ..interior_point import SmoothProblem
from ..runs.readings import readings
from .multiple import SegmentedProblem
from .single import COST, Evaluation, Problem, end_of, limit_of

MULTIPLIER = 1e-6
"""Multiplier of a linearised condition above which it is one of those that oppose each other; their sum is one."""
STATIONARY = 1e12
"""Size of an input, relative to its unit, from which the gradient that tells it is round-off."""
NEGLIGIBLE = 1e-9
"""Relative size of derivatives and of errors of conditions that may be round-off."""
DEPENDENT = 1e-10
"""Singular value of the derivatives of conditions, relative to the largest, that is zero."""


@dataclass(eq=False)
class Search:
    """Search for the least cost in unknowns divided by their sizes, with a cache of the last evaluation.

    ``sides`` are the lower and upper bounds of the scaled unknowns. ``found`` is the cached evaluation and ``at`` the
    scaled unknowns for which it was made.
    """

    problem: Problem | SegmentedProblem
    size: Array
    sides: tuple[Array, Array]
    evaluations: int = 0
    at: Array | None = None
    found: Evaluation | None = None
    failed: bool = False

    def evaluate(self, z: Array) -> Evaluation:
        """Functionals and gaps at the scaled unknowns z, from the cache if they were evaluated there.

        If the run fails at z, they are those of the last run that did not fail.
        """
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
        """Cost at the scaled unknowns z, and its derivatives with respect to these.

        The cost is infinite if the run fails, so that steps are shortened.
        """
        evaluation = self.evaluate(z)
        total, slope = self.problem.efforts(z * self.size)
        if self.failed:
            return np.inf, slope * self.size
        if COST in evaluation.values:
            total, slope = total + evaluation.values[COST], slope + evaluation.slopes[COST]
        return total, slope * self.size

    def condition(self, z: Array, name: str) -> tuple[float, Array]:
        """Value of the functional ``name`` at the scaled unknowns z, and its derivatives with respect to these."""
        evaluation = self.evaluate(z)
        return evaluation.values[name], evaluation.slopes[name] * self.size

    def gap(self, z: Array, name: str) -> tuple[Array, Array]:
        """Gap ``name`` between two segments at the scaled unknowns z, and its derivatives with respect to these."""
        value, slope = self.evaluate(z).gaps[name]
        return value, slope * self.size

    def conditions(self, z: Array) -> list[Condition | MatchingCondition]:
        """Conditions of the problem: closed gaps, end conditions and limits, each divided by a size.

        The size of an end condition is that of its gradient at the scaled unknowns z, or of its error there if that is
        larger. The size of a limit is that of its values.
        """
        rows: list[Condition | MatchingCondition] = [
            MatchingCondition(name, self.size_of_states) for name in self.evaluate(z).gaps
        ]
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

    @property
    def size_of_states(self) -> float:
        """Size of the coordinates of states between segments; 1 for single shooting."""
        return float(self.size[self.problem.base.count]) if self.size.size > self.problem.base.count else 1.0

    def distances(self, z: Array) -> dict[str, float]:
        """Distances between segments at the scaled unknowns z, divided by the size of states, by name of the gap."""
        return {
            name: distance / self.size_of_states for name, distance in self.problem.distances(self.evaluate(z)).items()
        }

    def size_inputs(self, unknown: Array, z: Array) -> None:
        """Set the sizes of those inputs for which neither bounds nor a first guess give one, as the guess is zero.

        For each condition that the guess violates, the least change of the table is computed that satisfies the
        condition to first order. The size of the table is the largest of these changes or, if they are negligible, the
        least change with which the cost would vanish. So a search does not depend on the units of its inputs.
        ``unknown`` is a mask of the unknowns without a size.
        """
        base, start = self.problem.base, 0
        for table in base.tables.values():
            part = np.arange(start, start + table.values.size)
            start = int(part[-1]) + 1
            if not unknown[part].all():
                continue
            evaluation = self.evaluate(z)
            size = self._needed(evaluation, part, slice(base.count))
            self.size[part] = size if 0.0 < size <= STATIONARY else 1.0

    def size_states(self, z: Array) -> None:
        """Set the size of the coordinates of states between segments to that of the motion, if this is less than one.

        It is the largest, over all conditions and gaps that the guess violates, of the least change of these states
        that meets the condition to first order. So gaps are small compared with a motion of 1 µm, too.
        """
        part = np.arange(self.problem.base.count, self.size.size)
        size = self._needed(self.evaluate(z), part, slice(self.problem.base.count, None))
        self.size[part] = min(size, 1.0) if size > 0.0 else 1.0

    def _needed(self, evaluation: Evaluation, part: Array, kind: slice) -> float:
        """Largest of the least changes of the unknowns ``part`` that meet a violated condition or gap to first order.

        Without violations it is the change by which the cost would vanish. A condition is left out if it hardly depends
        on these unknowns, compared with all unknowns in the slice ``kind``.
        """

        def least(miss: float, slope: Array) -> float:
            of_part, whole = float(np.linalg.norm(slope[part])), float(np.linalg.norm(slope[kind]))
            return abs(miss) / of_part if of_part > NEGLIGIBLE * whole else 0.0

        changes = [least(miss, evaluation.slopes[name]) for name, miss in self._misses(evaluation)]
        for values, slopes in evaluation.gaps.values():
            changes += [least(miss, slope) for miss, slope in zip(values, slopes, strict=True)]
        size = max(changes, default=0.0)
        if COST in evaluation.values:
            by_cost = least(evaluation.values[COST], evaluation.slopes[COST])
            size = by_cost if size <= NEGLIGIBLE * by_cost else size
        return size

    def _misses(self, evaluation: Evaluation) -> list[tuple[str, float]]:
        """Errors of all end conditions and limits, paired with the names of their functionals.

        The error of a limit that holds is zero.
        """
        rows = [
            (end_of(name, i), evaluation.values[end_of(name, i)] - value)
            for name, (_, values) in self.problem.base.ends.items()
            for i, value in enumerate(np.ravel(values))
        ]
        for name, (_, least, largest) in self.problem.base.limits.items():
            value = evaluation.values[limit_of(name)]
            allowed = np.clip(value, -np.inf if least is None else least, np.inf if largest is None else largest)
            rows.append((limit_of(name), value - float(allowed)))
        return rows

    def _refuse_other_size(self, name: str, values: Any, z: Array) -> None:
        """Raise ValueError for an end condition with another number of values than its sensor has components."""
        quantity = self.problem.base.ends[name][0]
        run = self.evaluate(z).runs[0]
        count = readings(run.mechanism, quantity, run.states[-1:]).shape[1]
        if count != np.size(values):
            raise ValueError(
                f"ends[{name!r}] must have {count} values for {quantity}, got {np.size(values)}: for a single one give "
                "Last with its component in limits"
            )


class Condition(NamedTuple):
    """Condition on the functional ``name``: sign·(Φ − value)/size = 0 if its kind is "eq", ≥ 0 if it is "ineq"."""

    name: str
    kind: Literal["eq", "ineq"]
    value: float
    sign: float
    size: float

    def residual(self, search: Search, z: Array) -> float:
        """Left-hand side sign·(Φ − value)/size at the scaled unknowns z."""
        return self.sign * (search.condition(z, self.name)[0] - self.value) / self.size

    def slope(self, search: Search, z: Array) -> Array:
        """Derivatives (n,) of the left-hand side with respect to the scaled unknowns z."""
        return self.sign * search.condition(z, self.name)[1] / self.size


class MatchingCondition(NamedTuple):
    """Condition that a segment begins at the end of the previous segment, where the gap ``name`` must vanish."""

    name: str
    size: float
    kind: Literal["eq", "ineq"] = "eq"

    def residual(self, search: Search, z: Array) -> Array:
        """Gap (2k,) between the segments at the scaled unknowns z, in coordinates of states, divided by ``size``."""
        return search.gap(z, self.name)[0] / self.size

    def slope(self, search: Search, z: Array) -> Array:
        """Derivatives (2k, n) of the residual with respect to the scaled unknowns z."""
        return search.gap(z, self.name)[1] / self.size


def opposed(conditions: Sequence[Condition | MatchingCondition], search: Search, z: Array) -> tuple[float, list[str]]:
    """Least violation of linearised conditions within the bounds, and names of the conditions that oppose each other.

    For residuals c and slopes C the violation is the least t ≥ 0 with ``|c + C d| ≤ t``, or ``c + C d ≥ −t`` of
    inequalities, by linear programming; conditions with a multiplier there oppose each other.
    """
    rows, ends, names = [], [], []
    for condition in conditions:
        value, slope = np.atleast_1d(condition.residual(search, z)), np.atleast_2d(condition.slope(search, z))
        for sign in (1.0, -1.0) if condition.kind == "eq" else (-1.0,):
            rows.append(sign * slope)
            ends.append(-sign * value)
            names += [condition.name] * value.size
    matrix, lower, upper = np.vstack(rows), search.sides[0] - z, search.sides[1] - z
    result = linprog(
        np.append(np.zeros(z.size), 1.0),
        A_ub=np.column_stack([matrix, -np.ones(len(matrix))]),
        b_ub=np.concatenate(ends),
        bounds=[*zip(lower, upper, strict=True), (0.0, None)],
    )
    if not result.success:
        return 0.0, []
    bound = np.flatnonzero(np.abs(result.ineqlin.marginals) > MULTIPLIER)
    return float(result.fun), list(dict.fromkeys(names[int(i)] for i in bound))


def dependent(conditions: Sequence[Condition | MatchingCondition], search: Search, z: Array) -> list[str]:
    """Names of end conditions and gaps whose derivatives are linearly dependent at the scaled unknowns z."""
    equal = [condition for condition in conditions if condition.kind == "eq"]
    slopes = [np.atleast_2d(condition.slope(search, z)) for condition in equal]
    if not slopes:
        return []
    names = [condition.name for condition, slope in zip(equal, slopes, strict=True) for _ in slope]
    left, sizes, _ = np.linalg.svd(np.vstack(slopes))
    sizes = np.append(sizes, np.zeros(len(names) - sizes.size))
    shares = np.abs(left[:, sizes <= DEPENDENT * sizes[0]]).max(axis=1, initial=0.0)
    return list(dict.fromkeys(name for name, share in zip(names, shares, strict=True) if share > MULTIPLIER))


def smooth_problem(
    search: Search, conditions: Sequence[Condition | MatchingCondition], scale: float, z: Array
) -> SmoothProblem:
    """Problem for :class:`InteriorPoint` in scaled unknowns, with the cost divided by ``scale``.

    z are unknowns at which the conditions are evaluated to count their values.
    """
    largest = [
        np.full(np.size(condition.residual(search, z)), 0.0 if condition.kind == "eq" else np.inf)
        for condition in conditions
    ]
    upper = np.concatenate([np.zeros(0), *largest])

    def residuals(z: Array) -> Array:
        return np.concatenate(
            [np.zeros(0), *(np.atleast_1d(condition.residual(search, z)) for condition in conditions)]
        )

    def slopes(z: Array) -> Array:
        return np.vstack(
            [np.zeros((0, z.size)), *(np.atleast_2d(condition.slope(search, z)) for condition in conditions)]
        )

    def solved(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
        def of(z: Array) -> Any:
            search.evaluate(z)
            if search.failed:
                raise ArithmeticError("the run failed")
            return function(z)

        return of

    return SmoothProblem(
        *search.sides,
        value=solved(lambda z: search.cost(z)[0] / scale),
        slope=solved(lambda z: search.cost(z)[1] / scale),
        least=np.zeros_like(upper),
        largest=upper,
        constraints=solved(residuals),
        slopes=solved(slopes),
    )
