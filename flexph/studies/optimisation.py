"""Minimisation of a value of a function within bounds, with constraints on other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, OptimizeResult, linprog, minimize

from ..gradients.interior_point import InteriorPoint, SmoothProblem
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .differentiable import Slopes, recorded
from .execution.records import Record
from .execution.runs import StudyOptions, progress_bar
from .load_cases import Function
from .optimum import Conditions, Limits, Optimum, limit_size
from .parameter_study import Evaluations, evaluations, text_of, value_of
from .samples import box

STUCK, REDUCED = 2, 0.99
"""A search that uses derivatives and has found no feasible run ends after STUCK successive iterations in which a linear
estimate cannot reduce the largest violation below REDUCED times its value."""
FEASIBLE = 1e-6
"""Violation of a constraint, relative to the size of its limit, up to which a run is feasible."""


@checked
def optimise(
    function: Callable[..., Any] | str | Mapping[str, Callable[..., Any]],
    objective: str | Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
    *,
    constraints: Limits | None = None,
    start: Mapping[str, float] | None = None,
    method: Literal["auto", "COBYQA", "SLSQP", "trust-constr", "L-BFGS-B"] | InteriorPoint = "auto",
    step: float | None = None,
    most: int = 100,
    tolerance: float = 1e-3,
    out: Path | None = None,
    executor: Executor | str | None = None,
    jobs: int | None = 1,
    resume: bool = False,
    progress: bool = False,
) -> Optimum:
    """Minimise a value within parameter bounds by a method of scipy.optimize or an interior-point method.

    By default, a function with derivatives, such as :class:`flexph.gradients.Responses`, is minimised by SLSQP, and any
    other function by COBYQA, which needs no derivatives. Parameters are scaled by their bounds, the objective by its
    value in the first run, constraints by their limits. Every run is recorded: with ``resume`` an interrupted
    optimisation continues. For COBYQA a failed run counts as infeasible; all other methods end with an error.

    Parameters
    ----------
    function : callable, str or dict
        Function of named parameters that returns a dict of values, or the name of a case; see :func:`flexph.study`. A
        dict of such functions by name is for several load cases, which can run in parallel; their values have the names
        ``case.value``. The optimum does not depend on the number of processors.
    objective : str or dict
        Name of the value to minimise; or weights by value, whose weighted sum is minimised.
    bounds : dict
        (lower, upper) by parameter.
    constraints : dict, optional
        (least, largest) by value, None for no limit; they apply to all entries of arrays.
    start : dict, optional
        Initial parameters; by default the middle of the bounds.
    method : str or InteriorPoint
        Method of scipy.optimize; all except COBYQA use derivatives, and L-BFGS-B does not support constraints. Or
        :class:`flexph.gradients.InteriorPoint`, for many parameters and limits, which ends by its own tolerance.
    step : float, optional
        Step of central differences of runs, relative to each parameter, for methods that use derivatives and functions
        without derivatives.
    most : int
        Largest number of runs.
    tolerance : float
        Distance between successive parameters, relative to the width of their bounds, at which the search ends. SLSQP
        ends at a tenth of this distance, at feasible parameters. SLSQP and L-BFGS-B also end if the objective, relative
        to its first value, changes by less than 0.01 tolerance².
    out, executor, jobs, resume : optional
        Options of :func:`flexph.study`; by default runs are computed in this process. Load cases and differences of
        runs can use several processors.
    progress : bool
        True to show a progress bar in terminals, with the best objective so far.

    Returns
    -------
    Optimum
        Best feasible run, its active limits with their multipliers, and all runs.

    Raises
    ------
    ArithmeticError
        If the search does not converge within ``most`` runs, or if no run is feasible. Methods that use derivatives
        raise it as soon as no change of the parameters reduces the largest violation.

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
    recorded_function, chosen = _with_slopes(function, method, step, constraints)
    study_options = StudyOptions(out, executor, None if executor and jobs == 1 else jobs, resume)
    limits = dict(constraints or {})
    weights = {objective: 1.0} if isinstance(objective, str) else dict(objective)
    if not weights:
        raise ValueError("objective must be the name of a value, or weights by value, got none")
    conditions = Conditions(weights, limits, dict(bounds), tolerance)
    with evaluations(recorded_function, list(bounds), study_options) as runs, progress_bar(most, shown=progress) as bar:
        sizes = dict(zip(bounds, upper - lower, strict=True))
        slopes = None if chosen == "COBYQA" else Slopes(runs, step, sizes)
        search = _Search(runs, conditions, slopes, lower, upper)
        first = _started(start, bounds)
        search.first(first)
        runs.watch(lambda: search.show(bar))
        result = (
            search.minimised(first, chosen, (most, tolerance))
            if chosen == "COBYQA"
            else search.descended(first, chosen, (most, tolerance))
        )
        return search.finished(result, most)


def _with_slopes(
    function: Function, method: str | InteriorPoint, step: float | None, constraints: Limits | None
) -> tuple[Function, str | InteriorPoint]:
    """Choose the method, and wrap the function so that it records its derivatives if the method uses them.

    The function is not wrapped if a ``step`` is given, because its derivatives then are differences of runs. Raises
    ValueError if derivatives are needed and missing, or if the method does not support constraints.
    """
    recorded_function = recorded(function) if step is None else function
    knows = recorded_function is not function
    chosen = method if method != "auto" else "SLSQP" if knows or step is not None else "COBYQA"
    if step is not None:
        check.positive("step", step)
    if chosen == "COBYQA":
        return function, chosen
    if not knows and step is None:
        raise ValueError(
            f"method {method!r} needs derivatives, which function does not have: give flexph.gradients.Responses, a "
            "step of differences of runs, or method='COBYQA'"
        )
    if chosen == "L-BFGS-B" and constraints:
        raise ValueError("method 'L-BFGS-B' does not support constraints, use 'SLSQP' or 'trust-constr'")
    return recorded_function, chosen


class _Infeasible(Exception):
    """Signal that no run was feasible, and no change of parameters much reduces the largest violation of a limit."""


class _Settled(Exception):
    """Signal that SLSQP hardly changes the parameters, at a feasible run with the best objective so far."""


class _Exhausted(Exception):
    """Signal that the largest number of runs is reached."""


@dataclass(frozen=True)
class _Search:
    """Search for an optimum in parameters scaled to [0, 1], with a record of each run.

    ``lower`` and ``upper`` are the bounds of the parameters.
    """

    runs: Evaluations
    conditions: Conditions
    slopes: Slopes | None
    lower: Array
    upper: Array

    @property
    def limits(self) -> Limits:
        """Limits (least, largest) by value."""
        return self.conditions.limits

    def show(self, bar: Any) -> None:
        """Show the number of runs so far and the best feasible objective in a progress bar."""
        records = self.runs.finished
        bar.failed = sum(bool(record.error) for record in records)
        good = [self.rank(record) for record in records if self.is_feasible(record)]
        bar.set_postfix_str(f"{self.conditions.words} {min(good):.6g}" if good else "none feasible yet", refresh=False)
        bar.update(len(records) - bar.n)

    def first(self, start: Mapping[str, float]) -> None:
        """Compute the run at the initial parameters; raise an error if it fails, lacks a value or has no objective."""
        (values,) = self.runs.values([start])
        weights, words = self.conditions.weights, self.conditions.words
        for name in (*weights, *self.limits):
            value_of(values, name)
        for name in weights:
            if values[name].size != 1:
                raise ValueError(f"objective must be the name of a number, {name!r} is an array")
        objective = self.conditions.objective(values)
        if not np.isfinite(objective):
            said = f"{words!r} is {objective} at {text_of(start)}, the start of the search"
            raise ArithmeticError(f"{said}: give a start where it is a finite number")

    def scaled(self, start: Mapping[str, float]) -> Array:
        """Parameters (p,) scaled to [0, 1]."""
        return (np.array([start[name] for name in self.conditions.bounds]) - self.lower) / (self.upper - self.lower)

    def minimised(self, start: Mapping[str, float], method: str, ends: tuple[int, float]) -> Any:
        """Result of COBYQA, a search of scipy without derivatives.

        ``ends`` are the largest number of runs, and the final radius of the trust region in scaled parameters.
        """
        x, (most, tolerance) = self.scaled(start), ends
        size = abs(self.value(x)) or 1.0
        held = [NonlinearConstraint(self.excess, -np.inf, 0.0)] if self.limits else []
        options = {"maxfev": most, "initial_tr_radius": max(0.25, tolerance), "final_tr_radius": tolerance}
        box_ = Bounds(np.zeros(x.size), np.ones(x.size))
        return minimize(
            lambda x: self.value(x) / size, x, method=method, bounds=box_, constraints=held, options=options
        )

    def descended(self, start: Mapping[str, float], method: str | InteriorPoint, ends: tuple[int, float]) -> Any:
        """Result of a search with derivatives, by a method of scipy or by the interior-point method.

        ``ends`` are the largest number of runs and the tolerance of :func:`optimise`. The exceptions of this module,
        which end the search early, are handled here.
        """
        x, (most, tolerance) = self.scaled(start), ends
        size = abs(self.value(x)) or 1.0

        def within(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
            def of(x: Array) -> Any:
                if len(self.runs.samples) >= most and not self.runs.has(self.parameters(x)):
                    raise _Exhausted
                return function(x)

            return of

        width = self.upper - self.lower
        value = within(lambda x: self.conditions.objective(self.smooth(x)) / size)
        slope = within(lambda x: self.steepness(x) * width / size)
        held = self._scipy_constraints(within, width)
        last, stuck = [x], [0]

        def settle(x: Array, *_: Any) -> None:
            moved = float(np.abs(x - last[0]).max())
            last[0] = np.array(x)
            if self.largest_excess(self.record(x)) > FEASIBLE:
                stuck[0] = stuck[0] + 1 if self.is_stuck(x) else 0
                if stuck[0] >= STUCK and not any(map(self.is_feasible, self.runs.finished)):
                    raise _Infeasible
            elif method == "SLSQP" and moved <= 0.1 * tolerance and self.is_best(x):
                raise _Settled

        try:
            if isinstance(method, InteriorPoint):
                ended = method.minimised(_problem(x, (value, slope), held), x, settle if self.limits else None)
                return OptimizeResult(success=ended.success, reason=f" ({ended.message})")
            result = minimize(
                value,
                x,
                jac=slope,
                method=method,
                bounds=Bounds(np.zeros(x.size), np.ones(x.size)),
                constraints=held,
                options=_options(method, most, tolerance),
                callback=settle if method == "SLSQP" or self.limits else None,
            )
        except (_Exhausted, _Infeasible):
            return OptimizeResult(success=False)
        except _Settled:
            return OptimizeResult(success=True)
        return result

    def smooth(self, x: Array) -> Mapping[str, Array]:
        """Values of the run at scaled parameters; ArithmeticError if it failed."""
        (values,) = self.runs.values([self.parameters(x)])
        return values

    def slope(self, x: Array, name: str) -> Array:
        """Derivatives (entries, p) of a value with respect to the parameters in their units, at scaled parameters x."""
        assert self.slopes is not None
        return self.slopes(self.parameters(x), [name])[name]

    def steepness(self, x: Array) -> Array:
        """Derivatives (p,) of the objective with respect to the parameters in their units, at scaled parameters x."""
        weights = self.conditions.weights.items()
        return np.asarray(sum(weight * self.slope(x, name)[0] for name, weight in weights))

    def _scipy_constraints(self, within: Any, width: Array) -> list[NonlinearConstraint]:
        """Constraints for scipy, with derivatives: for each limited value, one for all of its entries.

        ``within`` wraps a function so that it ends the search after the largest number of runs; ``width`` (p,) are the
        widths of the bounds.
        """
        held = []
        for name, (least, largest) in self.limits.items():
            size = limit_size(least, largest)
            ends = (-np.inf if least is None else least / size, np.inf if largest is None else largest / size)
            value = within(lambda x, name=name, size=size: value_of(self.smooth(x), name).ravel() / size)
            slope = within(lambda x, name=name, size=size: self.slope(x, name) * width / size)
            held.append(NonlinearConstraint(value, *ends, jac=slope))
        return held

    def is_best(self, x: Array) -> bool:
        """True if the run at scaled parameters x has the least objective of all feasible runs so far."""
        rank = self.rank(self.record(x))
        return all(rank <= self.rank(record) for record in self.runs.finished if self.is_feasible(record))

    def is_stuck(self, x: Array) -> bool:
        """True if, to first order, no parameters within the bounds have a much smaller largest violation.

        A linear program finds the least t with c + C d ≤ t and x + d within the bounds, for the violations c and their
        derivatives C.
        """
        excess, width = self.excesses(self.record(x)), self.upper - self.lower
        rows, ends = [], []
        for name, (least, largest) in self.limits.items():
            size, slope = limit_size(least, largest), self.slope(x, name) * width
            values = value_of(self.smooth(x), name).ravel()
            if least is not None:
                rows.append(-slope / size)
                ends.append((least - values) / size)
            if largest is not None:
                rows.append(slope / size)
                ends.append((values - largest) / size)
        matrix, violated = np.vstack(rows), np.concatenate(ends)
        result = linprog(
            np.append(np.zeros(x.size), 1.0),
            A_ub=np.column_stack([matrix, -np.ones(len(matrix))]),
            b_ub=-violated,
            bounds=[*zip(-x, 1.0 - x, strict=True), (None, None)],
        )
        return bool(result.success and result.fun >= REDUCED * excess.max())

    def finished(self, result: Any, most: int) -> Optimum:
        """Optimum: the best feasible run after the search has ended.

        Raises ArithmeticError if no run is feasible, or if the search failed.
        """
        records = self.runs.records(self.runs.samples)
        meeting = [record for record in records if self.is_feasible(record)]
        if not meeting:
            raise ArithmeticError(f"none of {len(records)} runs satisfies the constraints: {self._nearest(records)}")
        best = min(meeting, key=self.rank)
        if not result.success:
            reason = result.get("reason", "")
            raise ArithmeticError(
                f"the search did not converge within {most} runs{reason}; the best so far is "
                f"{text_of(best.parameters)}, with {self.conditions.words} = {self.rank(best):.6g}: allow more runs, "
                "or a larger tolerance"
            )
        named = dict.fromkeys([*self.conditions.weights, *self.limits])
        slopes = None if self.slopes is None else self.slopes(best.parameters, list(named))
        return self.conditions.optimum(best, self.runs.dataset(), slopes)

    def record(self, x: Array) -> Record:
        """Record of the run at scaled parameters."""
        return self.runs.records([self.parameters(x)])[0]

    def parameters(self, x: Array) -> dict[str, float]:
        """Parameters by name from scaled ones, clipped to their bounds."""
        inside = np.clip(self.lower + (self.upper - self.lower) * x, self.lower, self.upper)
        return dict(zip(self.conditions.bounds, inside.tolist(), strict=True))

    def value(self, x: Array) -> float:
        """Objective at scaled parameters; NaN for a failed run."""
        record = self.record(x)
        return float("nan") if record.error else self.conditions.objective(record.values)

    def rank(self, record: Record) -> float:
        """Objective of a run for comparison with others; infinity if it is NaN."""
        value = self.conditions.objective(record.values)
        return float("inf") if np.isnan(value) else value

    def excess(self, x: Array) -> Array:
        """Violations of the limits at scaled parameters x, see :meth:`excesses`; all are NaN if the run fails."""
        record = self.record(x)
        return np.full(2 * len(self.limits), np.nan) if record.error else self.excesses(record)

    def excesses(self, record: Record) -> Array:
        """Violations (2 · values,) of the least and the largest limit of each limited value in a run.

        They are divided by :func:`limit_size`.

        For an array the worst entry counts. A satisfied limit has a negative violation, a missing limit −1.
        """
        parts = []
        for name, (least, largest) in self.limits.items():
            value, size = value_of(record.values, name), limit_size(least, largest)
            parts += [-1.0 if least is None else (least - value.min()) / size]
            parts += [-1.0 if largest is None else (value.max() - largest) / size]
        return np.array(parts)

    def largest_excess(self, record: Record) -> float:
        """Largest violation of a limit in a run; negative if all are satisfied."""
        return float(self.excesses(record).max(initial=-1.0))

    def is_feasible(self, record: Record) -> bool:
        """True for a run that did not fail and satisfies all limits within FEASIBLE, relative to :func:`limit_size`."""
        return not record.error and self.largest_excess(record) <= FEASIBLE

    def _nearest(self, records: list[Record]) -> str:
        done = [record for record in records if not record.error]
        nearest = min(done, key=self.largest_excess)
        worst = list(self.limits)[int(np.argmax(self.excesses(nearest))) // 2]
        values = value_of(nearest.values, worst)
        return f"at {text_of(nearest.parameters)}, {worst} runs from {values.min():.6g} to {values.max():.6g}"


def _options(method: str, most: int, tolerance: float) -> dict[str, float]:
    """Options for a scipy method that uses derivatives, from the largest number of runs and the tolerance."""
    fine = 1e-2 * tolerance**2
    return {
        "SLSQP": {"maxiter": most, "ftol": fine},
        "L-BFGS-B": {"maxiter": most, "ftol": fine, "gtol": 1e-2 * tolerance},
        "trust-constr": {"maxiter": most, "xtol": tolerance, "gtol": 1e-2 * tolerance},
    }[method]


def _problem(x: Array, objective: tuple[Any, Any], held: list[NonlinearConstraint]) -> SmoothProblem:
    """Problem for an interior-point search in parameters scaled to [0, 1].

    ``x`` is its start, ``objective`` the function and its gradient, ``held`` are the constraints.
    """
    sizes, none = [condition.fun(x).size for condition in held], np.zeros(0)
    return SmoothProblem(
        np.zeros(x.size),
        np.ones(x.size),
        *objective,
        least=np.concatenate([none, *(np.full(n, condition.lb) for n, condition in zip(sizes, held, strict=True))]),
        largest=np.concatenate([none, *(np.full(n, condition.ub) for n, condition in zip(sizes, held, strict=True))]),
        constraints=lambda x: np.concatenate([none, *(condition.fun(x) for condition in held)]),
        slopes=lambda x: np.vstack([np.zeros((0, x.size)), *(condition.jac(x) for condition in held)]),
    )


def _started(start: Mapping[str, float] | None, bounds: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Initial parameters by name: given ones, and for others the middle of their bounds.

    Raises ValueError for a given parameter that is unknown or outside of its bounds.
    """
    first = {name: 0.5 * (lower + upper) for name, (lower, upper) in bounds.items()}
    for name, value in (start or {}).items():
        lower, upper = check.lookup("parameter", name, bounds, "bounds")
        if not lower <= value <= upper:
            raise ValueError(f"start[{name!r}] must lie in its bounds {(lower, upper)}, got {value}")
        first[name] = float(value)
    return first
