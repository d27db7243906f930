"""Least-squares fits of parameters to measured values, with their covariance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, Numbers
from ..numerics.memo import NamedFields
from .differentiable import Slopes, recorded
from .execution.runs import StudyOptions
from .parameter_study import Evaluations, evaluations, text_of, value_of
from .samples import box

DETERMINED = 1e-10
"""Ratio of the smallest to the largest singular value of the scaled Jacobian above which parameters are
identifiable."""
STATIONARY = 1e-3
"""Largest relative Gauss-Newton step, at the end of a search in which runs failed, up to which the end counts as a
minimum."""


@dataclass(frozen=True)
class Fit(NamedFields):
    """Fitted ``parameters`` with their ``covariance`` (n, n), in the order of the parameters.

    Attributes
    ----------
    parameters : mapping
        Values by name.
    covariance : array
        (n, n), in the order of the parameters.
    noise : float
        Standard deviation of the residuals: relative to the given standard deviations, or in the unit of the values if
        none are given.
    values : mapping
        Values of the run at the fitted parameters.
    runs : Dataset
        All runs.
    """

    parameters: Mapping[str, float]
    covariance: Array
    noise: float
    values: Mapping[str, Array]
    runs: Any

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviations by parameter."""
        return dict(zip(self.parameters, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))


@checked
def fit(
    function: Callable[..., Any] | str,
    measured: Mapping[str, Numbers],
    start: Mapping[str, float],
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    deviations: Mapping[str, Numbers] | None = None,
    step: float = 1e-4,
    tolerance: float = 1e-8,
    most: int = 50,
    out: Path | None = None,
    executor: Executor | str | None = None,
    jobs: int | None = 1,
    resume: bool = False,
) -> Fit:
    """Fit parameters by least squares, ``Σ ((f(p) − y)/σ)²`` for measured y (scipy.optimize.least_squares).

    The Jacobian J is that of a function with derivatives, such as :class:`flexph.gradients.Responses`; otherwise it is
    computed by central differences. The covariance is ``s² (JᵀJ)⁻¹``, with s = 1 if the standard
    deviations σ are given, otherwise s² = Σ r²/(m − n) with m residuals and n parameters. It assumes independent noise
    of the numbers, so small that the function is linear in this range.

    Parameters
    ----------
    function : callable or str
        Function of named parameters that returns a dict of values, or the name of a case; see :func:`flexph.study`.
    measured : dict
        Measured numbers or arrays by the name of the value.
    start : dict
        Initial values of the parameters, which also scale them, and so must not be zero.
    bounds : dict, optional
        (lower, upper) by parameter.
    deviations : dict, optional
        Standard deviation of the measurement by name: one number, or one for each entry.
    step : float
        Step of differences, relative to the size of each parameter.
    tolerance : float
        Relative change of the parameters at which the search ends.
    most : int
        Largest number of iterations. An iteration has one run for the values and two runs for each parameter, or one
        run for values and derivatives.
    out, executor, jobs, resume : optional
        Options of :func:`flexph.study`; by default runs are computed in this process.

    Returns
    -------
    Fit
        Parameters, covariance, and all runs.

    Raises
    ------
    ArithmeticError
        If the run at the start fails, the search does not converge, it ends next to runs that fail, a parameter ends at
        a bound, or the measurement does not identify the parameters. Steps to other runs that fail are shortened.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph.studies import fit
    >>> t = np.linspace(0.0, 1.0, 50)
    >>> def decay(rate, height):
    ...     return {"y": height * np.exp(-rate * t)}
    >>> noise = 0.01 * np.random.default_rng(1).standard_normal(50)
    >>> found = fit(decay, {"y": 2.0 * np.exp(-3.0 * t) + noise}, {"rate": 1.0, "height": 1.0})
    >>> abs(found.parameters["rate"] - 3.0) < 3.0 * found.deviations["rate"]
    True
    """
    for name, value in start.items():
        if value == 0.0:
            raise ValueError(f"start[{name!r}] must not be zero: parameters are scaled by it")
    check.positive("step", step), check.positive("tolerance", tolerance), check.count("most", most)
    recorded_function = recorded(function)
    with evaluations(recorded_function, list(start), StudyOptions(out, executor, jobs, resume)) as runs:
        sizes = {name: abs(value) for name, value in start.items()}
        slopes = Slopes(runs, step if recorded_function is function else None, sizes)
        problem = _Problem(runs, _measured(measured, deviations), dict(start), slopes)
        result = problem.solved(bounds or {}, tolerance, most)
        covariance, noise = problem.covariance(result, given=deviations is not None)
        parameters = problem.named(result.x)
        return Fit(parameters, covariance, noise, runs.values([parameters])[0], runs.dataset())


@dataclass(frozen=True)
class _Problem:
    """Least-squares problem: residuals as a function of parameters that are scaled by their initial values."""

    runs: Evaluations
    measured: Mapping[str, tuple[Array, Array]]
    """Measured values and their standard deviations."""
    start: Mapping[str, float]
    slopes: Slopes

    def named(self, x: Array) -> dict[str, float]:
        return {name: float(first * factor) for (name, first), factor in zip(self.start.items(), x, strict=True)}

    def residuals(self, x: Array) -> Array:
        """Residuals (values of the run − measured)/deviation at scaled parameters x, as one vector.

        They are NaN for a run that fails, whereupon scipy shortens the step. If the first run fails, its error is
        raised.
        """
        (record,) = self.runs.records([self.named(x)])
        if record.error and len(self.runs.finished) > 1:
            return np.full(sum(wanted.size for wanted, _ in self.measured.values()), np.nan)
        (values,) = self.runs.values([self.named(x)])
        parts = []
        for name, (wanted, deviation) in self.measured.items():
            value = value_of(values, name)
            if value.shape != wanted.shape:
                raise ValueError(
                    f"measured[{name!r}] must have the shape {value.shape} of the value, got {wanted.shape}"
                )
            parts.append(np.ravel((value - wanted) / deviation))
        return np.concatenate(parts)

    def jacobian(self, x: Array) -> Array:
        slopes = self.slopes(self.named(x), list(self.measured))
        rows = [
            slopes[name] / np.broadcast_to(sigma, wanted.shape).reshape(-1, 1)
            for name, (wanted, sigma) in self.measured.items()
        ]
        return np.concatenate(rows) * np.array([*self.start.values()])

    def solved(self, bounds: Mapping[str, tuple[float, float]], tolerance: float, most: int) -> Any:
        """Result of ``scipy.optimize.least_squares`` from the initial parameters.

        Raises ValueError for a start outside of the bounds, ArithmeticError if the search does not converge or ends
        next to runs that fail.
        """
        for name in bounds:
            check.lookup("parameter", name, self.start, "start")
        if bounds:
            box(bounds)
        ends = [bounds.get(name, (-np.inf, np.inf)) for name in self.start]
        scaled = [sorted((lower / s, upper / s)) for (lower, upper), s in zip(ends, self.start.values(), strict=True)]
        for name, (lower, upper) in zip(self.start, scaled, strict=True):
            if not lower < 1.0 < upper:
                raise ValueError(f"start[{name!r}] must lie within its bounds {bounds[name]}, got {self.start[name]}")
        sides = np.transpose(scaled)
        try:
            result = least_squares(
                self.residuals, np.ones(len(ends)), self.jacobian, sides, xtol=tolerance, max_nfev=most
            )
        except ArithmeticError as error:
            if len(self.runs.finished) == 1 or not (failure := self._failure(bounds)):
                raise
            raise ArithmeticError(f"a derivative of the fit could not be computed{failure}") from error
        if result.status <= 0:
            raise ArithmeticError(
                f"the fit did not converge within {most} steps; it ended at {text_of(self.named(result.x))}"
                f"{self._failure(bounds)}"
            )
        if (failure := self._failure(bounds)) and not _is_stationary(result, tolerance):
            raise ArithmeticError(f"the fit ended at {text_of(self.named(result.x))} next to runs that fail{failure}")
        for name, active in zip(self.start, result.active_mask, strict=True):
            if active:
                raise ArithmeticError(
                    f"the parameter {name!r} ends at its bound: widen the bound, or remove the parameter"
                )
        return result

    def _failure(self, bounds: Mapping[str, tuple[float, float]]) -> str:
        """Text on the last run that failed, with advice to give bounds or narrower bounds; empty if no run failed."""
        failed = [record for record in self.runs.finished if record.error]
        if not failed:
            return ""
        free = [name for name in self.start if name not in bounds]
        remedy = f": give bounds of {', '.join(map(repr, free))}" if free else ": give narrower bounds"
        return f"; the run at {text_of(failed[-1].parameters)} failed: {failed[-1].error}{remedy}"

    def covariance(self, result: Any, *, given: bool) -> tuple[Array, float]:
        """Covariance (n, n) of the parameters, and the standard deviation of the residuals.

        ``given`` is True if the user gave deviations of the measurement. Otherwise the covariance is scaled by the
        variance of the residuals. Raises ArithmeticError if the measurement does not determine all parameters.
        """
        m, n = result.jac.shape
        if m <= n:
            raise ArithmeticError(f"{n} parameters need more than {n} measured numbers, got {m}")
        _, values, right = np.linalg.svd(result.jac, full_matrices=False)
        if values[-1] <= DETERMINED * values[0]:
            weights = {name: abs(weight) for name, weight in zip(self.start, right[-1], strict=True)}
            names = [name for name, weight in weights.items() if weight > 0.1]
            raise ArithmeticError(f"the measurement does not determine these parameters: {', '.join(names)}")
        noise = float(np.sqrt(2.0 * result.cost / (m - n)))
        spread = (right.T / values) * np.array([*self.start.values()])[:, None] * (1.0 if given else noise)
        return spread @ spread.T, noise


def _is_stationary(result: Any, tolerance: float) -> bool:
    """True if a Gauss-Newton step from the end of a search hardly changes the parameters.

    The largest relative change is then at most STATIONARY, or ``tolerance`` if that is larger.
    """
    step = np.linalg.lstsq(result.jac, -result.fun)[0]
    return bool(np.abs(step / result.x).max() <= max(STATIONARY, tolerance))


def _measured(measured: Mapping[str, Any], deviations: Mapping[str, Any] | None) -> dict[str, tuple[Array, Array]]:
    """Measured values with their standard deviations, by name."""
    if not measured:
        raise ValueError("measured must have at least one value, got none")
    pairs = {}
    for name, values in measured.items():
        array = check.numbers(f"measured[{name!r}]", values)
        given = 1.0 if deviations is None else check.lookup("standard deviation", name, deviations)
        sigma = check.broadcast(f"deviations[{name!r}]", given, array.shape)
        if np.any(sigma <= 0.0):
            raise ValueError(f"deviations[{name!r}] must be positive, got {check.shown(given)}")
        pairs[name] = array, sigma
    return pairs
