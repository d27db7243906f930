"""Optimal inputs of a mechanism by direct single or multiple shooting, with gradients of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import NamedFields
from ...results.consecutive_runs import joined
from ...systems.inputs import Table
from ..functionals import Functional
from ..interior_point import InteriorPoint
from .duration import DURATION, Duration
from .multiple import MultipleShooting, SegmentedProblem, segmented
from .search import Condition, MatchingCondition, Search, dependent, opposed, smooth_problem
from .single import Ends, Limits, Problem, end_of, limit_of

if TYPE_CHECKING:
    from ...results.solution import Solution


CENTRED = 5
"""Largest number of searches, each with coordinates about the states that the one before has found."""
OPPOSED = 1e-6
"""Relative violation that remains of linearised conditions at best, above which they oppose each other."""


@dataclass(frozen=True)
class OptimalControl(NamedFields):
    """Optimal inputs and parameters, with the run.

    Attributes
    ----------
    inputs : mapping
        Table of each port, times (k,) [s] and values (k, m), an input for :func:`flexph.integrate`.
    parameters : mapping
        Parameters by name.
    cost : float
        Cost, the sum of functional and effort.
    end_errors : mapping
        Readings at the end minus the required readings, by name.
    values : mapping
        Values of the limited functionals, by name.
    solution : Solution
        Run; for multiple shooting the sequence of segments. At the start of each segment velocities are made
        consistent, so that a run without segments differs by these corrections, which grow along an unstable motion.
    evaluations : int
        Number of runs.
    gaps : mapping
        For multiple shooting, distances between segments by names ``gap at T s`` with the times T of the first guess.
        They are relative to the size of the mechanism, or of the motion that the conditions need if this is smaller.
    """

    inputs: Mapping[str, tuple[Array, Array]]
    parameters: Mapping[str, float]
    cost: float
    end_errors: Mapping[str, Array]
    values: Mapping[str, float]
    solution: Solution
    evaluations: int
    gaps: Mapping[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        """Duration of the run [s]."""
        return float(self.solution.times[-1] - self.solution.times[0])


@checked
def optimal_control(
    make: Callable[..., Any],
    times: Sequence[float] | Array,
    inputs: Mapping[str, Any],
    *,
    cost: Functional | None = None,
    effort: Mapping[str, float] | None = None,
    ends: Ends | None = None,
    limits: Limits | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    parameters: Mapping[str, float] | None = None,
    duration: Duration | None = None,
    shooting: MultipleShooting | None = None,
    method: InteriorPoint | None = None,
    tolerance: float = 1e-8,
    most: int = 100,
) -> OptimalControl:
    """Minimise ``Φ + Σ w ∫ |u|² dt + w T`` over tables of inputs, with end conditions, limits and bounds.

    The unknowns are the values u of piecewise linear tables at their nodes. :func:`gradients` computes the run and the
    gradients of cost, end conditions and limits with respect to all u: this is direct single shooting, solved by
    sequential quadratic programming (SLSQP of scipy) or an interior-point method. The optimum is therefore that of the
    discrete run, with its exact balances. For unstable motions, ``shooting=MultipleShooting(…)`` adds the states
    between segments of the run as unknowns.

    Parameters
    ----------
    make : callable
        Function of the named ``parameters``, by default without arguments, that returns mechanism and start, as for
        :func:`gradient`.
    times : array
        Times of the run [s]; of its first guess if the duration is free.
    inputs : dict
        First guess of the table of each optimised port: (times (k,) [s], values (k,) or (k, m)), from the first to the
        last time of the run.
    cost : Functional, optional
        Functional Φ of the run.
    effort : dict, optional
        Weight w of ∫ |u|² dt by port.
    ends : dict, optional
        End conditions by name: a sensor and its required reading at the end.
    limits : dict, optional
        Limits by name: a functional with its least and largest value, None for no limit; :class:`Peak` for limits at
        all times.
    bounds : dict, optional
        (lower, upper) of the inputs by port, and of parameters by name.
    parameters : dict, optional
        First guess of parameters of ``make`` that are also optimised.
    duration : Duration, optional
        Duration T of the run as an unknown with the cost w T, as for manoeuvres in minimum time.
    shooting : MultipleShooting, optional
        Segments of the run for multiple shooting, which needs functionals of sensors of states; by default single
        shooting.
    method : InteriorPoint, optional
        Search by Ipopt, for many unknowns; by default sequential quadratic programming, SLSQP of scipy.
    tolerance : float
        Change of the cost, relative to its first value, and violation of a condition, relative to its first one, at
        which the search ends; an interior-point search ends by its own tolerance.
    most : int
        Largest number of iterations; an interior-point search has its own.

    Returns
    -------
    OptimalControl
        Tables, parameters, cost, errors of the end conditions, and the run.

    Raises
    ------
    ValueError
        For unknown ports or parameters, without a cost, and as for :func:`gradient`.
    ArithmeticError
        If the search does not converge.

    Examples
    --------
    A cart of 1 kg moves 1 m in 1 s from rest to rest: the least ∫ u² dt is 12.

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import connect
    >>> from flexph.gradients import optimal_control
    >>> from flexph.joints import force
    >>> from flexph.sensors import position, velocity
    >>> def cart():
    ...     mechanism = connect({"cart": rigid.point(1.0)}, [force("cart.point", name="drive")])
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"cart": (0.0, 0.0, 0.0)}))
    >>> times = np.linspace(0.0, 1.0, 101)
    >>> best = optimal_control(cart, times, {"drive": (times[::5], np.zeros((21, 2)))}, effort={"drive": 1.0},
    ...                        ends={"place": (position("cart.point"), (1.0, 0.0)),
    ...                              "speed": (velocity("cart.point"), (0.0, 0.0))})
    >>> round(best.cost, 2)
    12.0
    """
    initial = dict(parameters or {})
    if cost is None and not effort and not (duration and duration.weight):
        raise ValueError("cost, effort or a duration with a weight must be given, got none")
    if cost is None and not ends and not limits:
        raise ValueError("ends, limits or cost must be given, got none: without them zero inputs are optimal")
    check.positive("tolerance", tolerance), check.count("most", most)
    tables = {port: _table(port, given, times) for port, given in inputs.items()}
    for port, weight in (effort or {}).items():
        check.lookup("input", port, tables, "inputs")
        check.not_negative(f"effort[{port!r}]", weight)
    for name, ends_of in (bounds or {}).items():
        check.lookup("input or parameter", name, {**tables, **initial}, "inputs and parameters")
        _refuse_reversed(f"bounds[{name!r}]", *ends_of)
    for name, (_, least, largest) in (limits or {}).items():
        _refuse_reversed(f"limits[{name!r}]", least, largest)
    grid = np.asarray(times, dtype=float)
    if duration is not None:
        duration.check_guess(grid)
        initial[DURATION] = float(grid[-1] - grid[0])
    problem = Problem(
        make,
        grid,
        tables,
        initial,
        cost,
        dict(effort or {}),
        dict(ends or {}),
        dict(limits or {}),
        duration,
    )
    whole = problem if shooting is None else segmented(problem, shooting)
    sides = dict(bounds or {})
    if duration is not None:
        sides[DURATION] = duration.shortest, duration.longest
    return _solved(whole, sides, (method, tolerance, most))


def _refuse_reversed(name: str, lower: float | None, upper: float | None) -> None:
    """Raise ValueError, with the name of the limits, if the ``lower`` one is above the ``upper`` one."""
    if lower is not None and upper is not None and lower > upper:
        raise ValueError(f"{name} must have the lower value first, got {lower:g} and {upper:g}")


def _table(port: str, given: Any, times: Any) -> Table:
    """Table of a port from times and values that a user gave; raises ValueError unless it covers the run."""
    if not (isinstance(given, tuple) and len(given) == 2):
        raise ValueError(f"inputs[{port!r}] must be a table (times, values), got {check.shown(given)}")
    table = Table(*given, f"inputs[{port!r}]")
    if table.times[0] > min(times) or table.times[-1] < max(times):
        raise ValueError(
            f"inputs[{port!r}] must cover {min(times)} to {max(times)} s, got {table.times[0]} to {table.times[-1]} s"
        )
    table.values = table.values.reshape(len(table.times), -1)
    return table


def _solved(
    problem: Problem | SegmentedProblem,
    bounds: Mapping[str, tuple[float, float]],
    how: tuple[InteriorPoint | None, float, int],
) -> OptimalControl:
    """Optimal control that solves a shooting problem; raises ArithmeticError if the search does not converge.

    ``how``: interior-point method or None for SLSQP, tolerance, and largest number of iterations.
    """
    base, tolerance = problem.base, how[1]
    first = base.joined({port: own.values for port, own in base.tables.items()}, base.parameters)
    free = (-np.inf, np.inf)
    ends = [
        base.joined(
            {port: np.full(own.values.shape, bounds.get(port, free)[i]) for port, own in base.tables.items()},
            {name: bounds.get(name, free)[i] for name in base.parameters},
        )
        for i in (0, 1)
    ]
    size = np.append(_sizes(base, first, ends), np.ones(problem.count - base.count))
    whole = [np.append(own, np.full(problem.count - base.count, free[i])) for i, own in enumerate(ends)]
    z = np.clip(np.append(first, np.zeros(problem.count - base.count)) / size, whole[0] / size, whole[1] / size)
    unknown = (z == 0.0) & np.isinf(whole[0]) & np.isinf(whole[1])
    search = Search(problem, size, (whole[0] / size, whole[1] / size))
    search.size_inputs(unknown, z)
    if isinstance(problem, SegmentedProblem):
        search.size_states(z)
    for _ in range(CENTRED):
        conditions = search.conditions(z)
        result = _minimised(search, conditions, z, how)
        apart = search.distances(result.x)
        if not result.success or max(apart.values(), default=0.0) <= 1e3 * tolerance or isinstance(problem, Problem):
            break
        problem = problem.centred(result.x * size)  # far from the guess its coordinates may miss a gap
        z = np.append(result.x[: base.count], np.zeros(problem.count - base.count))
        search = Search(problem, size, search.sides, search.evaluations)
    z = result.x
    violations = [_violation(own, search, z) for own in conditions]
    worst = max(violations, default=0.0)
    if worst <= 1e3 * tolerance < max(apart.values(), default=0.0):
        name = max(apart, key=lambda own: apart[own])
        raise ArithmeticError(
            f"multiple shooting closed the gaps in its coordinates only, there is a {name} of {apart[name]:.2g} of the "
            "size of the mechanism: give a guess nearer to the motion"
        )
    if not result.success or worst > 1e3 * tolerance:
        name = conditions[int(np.argmax(violations))].name if conditions else "none"
        raise ArithmeticError(
            f"the search for optimal inputs did not converge in {result.nit} iterations ({result.message}); the "
            f"largest relative violation is {max(worst, 0.0):.3g}, of {name!r}: {_remedy(conditions, search, z)}"
        )
    return _optimum(search.problem, search, z)


def _remedy(conditions: Sequence[Condition | MatchingCondition], search: Search, z: Array) -> str:
    """Advice after a search that did not converge, by the conditions at the scaled unknowns z where it ended.

    It names conditions that exclude or repeat each other, or asks for a better guess.
    """
    least, names = opposed(conditions, search, z) if conditions else (0.0, [])
    if least > OPPOSED:
        return (
            f"there, to first order, {' and '.join(map(repr, names))} cannot be met together within the bounds, "
            f"{least:.3g} is left at best: change these conditions, or give wider bounds or a better guess"
        )
    if same := dependent(conditions, search, z):
        return f"there, to first order, {' and '.join(map(repr, same))} depend on each other: leave one of them out"
    return "give a better guess, wider bounds, or more iterations"


def _minimised(
    search: Search,
    conditions: Sequence[Condition | MatchingCondition],
    z: Array,
    how: tuple[InteriorPoint | None, float, int],
) -> OptimizeResult:
    """Result of scipy of a search for the least cost under conditions, from the scaled unknowns z.

    ``how``: interior-point method or None for SLSQP, tolerance, and largest number of iterations.
    """
    scale, (method, tolerance, most) = _scale(search.problem.base, search, z), how
    if method is not None:
        return method.minimised(smooth_problem(search, conditions, scale, z), z)
    return minimize(
        lambda z: tuple(part / scale for part in search.cost(z)),
        z,
        jac=True,
        method="SLSQP",
        bounds=Bounds(*search.sides),
        constraints=[
            {
                "type": condition.kind,
                "fun": partial(condition.residual, search),
                "jac": partial(condition.slope, search),
            }
            for condition in conditions
        ],
        options={"maxiter": most, "ftol": tolerance},
    )


def _violation(condition: Condition | MatchingCondition, search: Search, z: Array) -> float:
    """Largest violation of a condition at the scaled unknowns z, negative or zero if it holds with a margin."""
    miss = np.atleast_1d(condition.residual(search, z))
    return float(np.abs(miss).max() if condition.kind == "eq" else (-miss).max())


def _optimum(problem: Problem | SegmentedProblem, search: Search, z: Array) -> OptimalControl:
    """Optimal control at the scaled unknowns z at which a search ended."""
    evaluation, base = search.evaluate(z), problem.base
    values, parameters = problem.split(z * search.size)
    end_errors = {
        name: np.array([evaluation.values[end_of(name, i)] - value for i, value in enumerate(np.ravel(wanted))])
        for name, (_, wanted) in base.ends.items()
    }
    return OptimalControl(
        {port: (base.stretched(table.times, parameters), values[port]) for port, table in base.tables.items()},
        {name: value for name, value in parameters.items() if name != DURATION},
        search.cost(z)[0],
        end_errors,
        {name: evaluation.values[limit_of(name)] for name in base.limits},
        evaluation.runs[0] if len(evaluation.runs) == 1 else joined(evaluation.runs, evaluation.runs[0].mechanism),
        search.evaluations,
        search.distances(z),
    )


def _sizes(problem: Problem, first: Array, ends: Sequence[Array]) -> Array:
    """Sizes (n,) by which the unknowns are divided: the size of their bounds, else of the first guess, else 1.

    The size of the duration is its first guess. ``first`` is the vector of unknowns of the guess, ``ends`` the lower
    and upper bounds.
    """
    values, parameters = problem.split(first)
    guess = problem.joined(
        {port: np.full(nodes.shape, np.abs(nodes).max()) for port, nodes in values.items()},
        {name: abs(value) for name, value in parameters.items()},
    )
    bound = np.maximum(*(np.where(np.isfinite(end), np.abs(end), 0.0) for end in ends))
    if problem.duration is not None:
        bound[-1] = first[-1]
    size = np.where(bound > 0.0, bound, guess)
    return np.where(size > 0.0, size, 1.0)


def _scale(problem: Problem, search: Search, z: Array) -> float:
    """Number by which the cost is divided.

    It is the largest curvature of the effort in scaled unknowns, or without effort the cost of the first guess.
    """
    curvature = 0.0
    start = 0
    for port, table in problem.tables.items():
        curvature = max(
            curvature, 2.0 * problem.effort.get(port, 0.0) * problem.masses[port].max() * search.size[start] ** 2
        )
        start += table.values.size
    return curvature or abs(search.cost(z)[0]) or 1.0
