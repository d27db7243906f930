"""Interior-point search with gradients, by Ipopt (extra ``ipopt``)."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array

NO_BOUND = 2e19
"""Number that means infinity to Ipopt."""
SOLVED = 0
"""Status of a search that has met its tolerance."""
ENDS = {
    0: "solved",
    2: "no point nearby meets all limits",
    3: "steps became too small",
    4: "the unknowns diverge",
    -1: "the largest number of iterations is reached",
    -2: "no point with a smaller violation of the limits was found",
    -3: "no step could be computed",
    -13: "a value is not a number",
}
"""Meaning of a status."""
VIOLATION = 1e-8
"""Largest violation of a scaled constraint at the end."""


class SmoothProblem(NamedTuple):
    """Functions and limits of a minimisation of f(x) subject to lower ≤ x ≤ upper and least ≤ c(x) ≤ largest.

    ``value`` and ``slope`` (n,) are f and its derivatives with respect to x (n,), ``constraints`` (m,) and ``slopes``
    (m, n) are c and its derivatives. The functions raise ArithmeticError where they have no value; then steps are
    shortened.
    """

    lower: Array  # (n,)
    upper: Array
    value: Callable[[Array], float]
    slope: Callable[[Array], Array]
    least: Array  # (m,)
    largest: Array
    constraints: Callable[[Array], Array]
    slopes: Callable[[Array], Array]  # (m, n)


@checked
@dataclass(frozen=True)
class InteriorPoint:
    """Interior-point method for searches with many unknowns and limits, by Ipopt.

    The minimum of f(x) within bounds and limits is approached by minima of f(x) − μ Σ ln of the distances from these,
    μ → 0, by Newton's method with a line search that filters steps; second derivatives are approximated from the last
    gradients (L-BFGS). It needs the package ipyopt (``pip install "flexph[ipopt]"``).
    (Wächter and Biegler, Math. Program. 106, 25-57, 2006.)

    Attributes
    ----------
    tolerance : float
        Largest defect of the scaled conditions of optimality at which the search ends.
    memory : int
        Number of past steps from which second derivatives are approximated.
    barrier : float
        First value of μ, for scaled unknowns and values.
    most : int
        Largest number of iterations.

    Examples
    --------
    >>> from flexph.gradients import InteriorPoint
    >>> InteriorPoint(tolerance=1e-8).memory
    20
    """

    tolerance: float = 1e-6
    memory: int = 20
    barrier: float = 0.1
    most: int = 500

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("tolerance", "barrier"):
            check.positive(name, getattr(self, name))
        check.count("memory", self.memory), check.count("most", self.most)

    def minimised(self, problem: SmoothProblem, x: Array, settle: Callable[[Array], Any] | None = None) -> Any:
        """Search for the minimum of a problem from x; returns a result of scipy.

        ``settle`` is called with the unknowns after each iteration. Exceptions of the functions, except
        ArithmeticError, are raised.
        """
        calls = _Calls(problem, settle)
        rows, columns = (index.ravel() for index in np.indices((problem.least.size, x.size)))
        search = _ipopt().Problem(
            x.size,
            *_finite(problem.lower, problem.upper),
            problem.least.size,
            *_finite(problem.least, problem.largest),
            (rows, columns),
            (np.zeros(0, dtype=int), np.zeros(0, dtype=int)),
            calls.value,
            calls.slope,
            calls.constraints,
            calls.slopes,
            intermediate_callback=calls.goes_on,
            ipopt_options={
                "print_level": 0,
                "sb": "yes",
                "hessian_approximation": "limited-memory",
                "limited_memory_max_history": self.memory,
                "tol": self.tolerance,
                "constr_viol_tol": VIOLATION,
                "mu_init": self.barrier,
                "max_iter": self.most,
                "bound_relax_factor": 0.0,
                "acceptable_iter": 0,
            },
        )
        found, value, status = search.solve(np.array(x, dtype=float))
        if calls.raised is not None:
            raise calls.raised
        return OptimizeResult(
            x=found,
            fun=value,
            success=status == SOLVED,
            nit=search.stats["n_iter"],
            message=f"Ipopt: {ENDS.get(status, f'status {status}')}",
        )


class _Calls:
    """Functions of a problem in the form in which Ipopt calls them.

    The first exception, except ArithmeticError, is stored as ``raised``, and ends the search.
    """

    def __init__(self, problem: SmoothProblem, settle: Callable[[Array], Any] | None) -> None:
        self.problem, self.settle = problem, settle
        self.raised: Exception | None = None
        self.last = np.zeros(0)

    def value(self, x: Array) -> float:
        """Value of the objective f at x; NaN where it has none."""
        return float(self._evaluated(self.problem.value, x, np.array(np.nan)))

    def slope(self, x: Array, out: Array) -> Array:
        """Derivatives (n,) of f with respect to x, written to ``out``; NaN where f has none."""
        self.last = np.array(x)
        out[:] = self._evaluated(self.problem.slope, x, np.full_like(out, np.nan))
        return out

    def constraints(self, x: Array, out: Array) -> Array:
        """Write the values c (m,) of the constraints at x into ``out`` and return it; NaN where they have none."""
        out[:] = self._evaluated(self.problem.constraints, x, np.full_like(out, np.nan))
        return out

    def slopes(self, x: Array, out: Array) -> Array:
        """Derivatives of c with respect to x, written row by row to ``out``; NaN where c has none."""
        out[:] = np.ravel(self._evaluated(self.problem.slopes, x, np.full_like(out, np.nan)))
        return out

    def goes_on(self, *_: Any) -> bool:
        """Call ``settle`` with the last x at which f was differentiated.

        False if an exception was raised, to end the search.
        """
        if self.settle is not None and self.last.size:
            self._evaluated(self.settle, self.last, np.array(np.nan))
        return self.raised is None

    def _evaluated(self, function: Callable[[Array], Any], x: Array, nothing: Array) -> Any:
        """Value of a function at x; ``nothing`` if it raises an exception, or an earlier one did."""
        if self.raised is None:
            try:
                return function(np.array(x))
            except ArithmeticError:
                pass
            except Exception as error:
                self.raised = error
        return nothing


def _finite(*ends: Array) -> list[Array]:
    """Bounds with infinite numbers replaced by the numbers that mean infinity to Ipopt."""
    return [np.clip(end, -NO_BOUND, NO_BOUND).astype(float) for end in ends]


def _ipopt() -> Any:
    """Module of Ipopt, imported on the first use; raises an error with advice if it is not installed."""
    try:
        return importlib.import_module("ipyopt")
    except ImportError:
        raise ModuleNotFoundError('InteriorPoint() needs ipyopt: pip install "flexph[ipopt]"', name="ipyopt") from None
