"""Optimal inputs of a mechanism by direct single shooting, with the gradients of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, minimize

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import NamedFields, once
from ..sensors.quantities import Quantity
from ..systems.inputs import Table
from .adjoint import Gradient, gradients, made
from .functionals import Functional, Last

if TYPE_CHECKING:
    from ..results.solution import Solution

COST, END = "the cost", "end"
Ends = Mapping[str, tuple[Quantity, float | Sequence[float]]]
Limits = Mapping[str, tuple[Functional, float | None, float | None]]


@dataclass(frozen=True)
class OptimalControl(NamedFields):
    """Optimal inputs, the parameters that were optimised with them, and the run.

    Attributes
    ----------
    inputs : mapping
        Table of each port, times (k,) [s] and values (k, m), as :func:`flexph.integrate` takes it.
    parameters : mapping
        Parameters by name.
    cost : float
        Cost: functional and effort.
    misses : mapping
        Readings at the end less those that were asked for, by name.
    values : mapping
        Functionals that are limited, by name.
    solution : Solution
        The run.
    evaluations : int
        Number of runs.
    """

    inputs: Mapping[str, tuple[Array, Array]]
    parameters: Mapping[str, float]
    cost: float
    misses: Mapping[str, Array]
    values: Mapping[str, float]
    solution: Solution
    evaluations: int


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
    tolerance: float = 1e-8,
    most: int = 100,
) -> OptimalControl:
    """Minimise ``Φ + Σ w ∫ |u|² dt`` over tables of inputs, with end conditions, limits and bounds.

    The unknowns are the values u of piecewise linear tables at their nodes. The run and the gradients of cost, end
    conditions and limits by all nodes are those of :func:`gradients`: direct single shooting, solved by sequential
    quadratic programming (SLSQP of scipy). So the optimum is that of the discrete run, with its exact balances.

    Parameters
    ----------
    make : callable
        Function of the named ``parameters``, of nothing by default, that returns mechanism and start (:func:`gradient`).
    times : array
        Times of the run [s].
    inputs : dict
        First guess of the table of each port that is optimised: (times (k,) [s], values (k,) or (k, m)), from the
        first to the last time of the run.
    cost : Functional, optional
        Functional Φ of the run.
    effort : dict, optional
        Weight w of ∫ |u|² dt by port.
    ends : dict, optional
        By name a sensor and the reading that it has at the end.
    limits : dict, optional
        By name a functional with its least and largest value, None for no limit; :class:`Peak` for limits at all times.
    bounds : dict, optional
        (lower, upper) of the inputs by port, and of parameters by name.
    parameters : dict, optional
        First guess of parameters of ``make`` that are optimised as well.
    tolerance : float
        Change of the cost, relative to its first value, and violation of a condition, relative to its first one, at
        which the search ends.
    most : int
        Largest number of iterations.

    Returns
    -------
    OptimalControl
        Tables, parameters, cost, misses of the end conditions, and the run.

    Raises
    ------
    ValueError
        For ports or parameters that are unknown, no cost, and what :func:`gradient` refuses.
    ArithmeticError
        If the search does not converge.

    Examples
    --------
    A cart of 1 kg goes 1 m in 1 s from rest to rest: the least ∫ u² dt is 12.

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, force, slider
    >>> from flexph.gradients import optimal_control
    >>> from flexph.sensors import offset, rate
    >>> def cart():
    ...     rail = slider("cart.point", GROUND, direction=(1.0, 0.0), turning=True)
    ...     mechanism = connect({"cart": rigid.bar(0.1, 1.0)}, [])
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({}))
    """
    own = dict(parameters or {})
    if cost is None and not effort:
        raise ValueError("cost or effort must be given, got neither")
    check.positive("tolerance", tolerance), check.count("most", most)
    tables = {port: _table(port, given, times) for port, given in inputs.items()}
    for port in effort or {}:
        check.lookup("input", port, tables, "inputs")
    for name in bounds or {}:
        check.lookup("input or parameter", name, {**tables, **own}, "inputs and parameters")
    problem = _Problem(make, np.asarray(times, dtype=float), tables, own, cost, dict(effort or {}), dict(ends or {}), dict(limits or {}))
    return problem.solved(dict(bounds or {}), tolerance, most)


def _table(port: str, given: Any, times: Any) -> Table:
    """Table of a port over the run."""
    if not (isinstance(given, tuple) and len(given) == 2):
        raise ValueError(f"inputs[{port!r}] must be a table (times, values), got {check.shown(given)}")
    own = Table(*given, f"inputs[{port!r}]")
    if own.times[0] > min(times) or own.times[-1] < max(times):
        raise ValueError(f"inputs[{port!r}] must cover {min(times)} to {max(times)} s, got {own.times[0]} to {own.times[-1]} s")
    own.values = own.values.reshape(len(own.times), -1)
    return own


@dataclass(frozen=True, eq=False)
class _Problem:
    """Shooting problem in the values of all nodes, one table behind the other, and the parameters behind them."""

    make: Callable[..., Any]
    times: Array
    tables: Mapping[str, Table]
    parameters: Mapping[str, float]
    cost: Functional | None
    effort: Mapping[str, float]
    ends: Ends
    limits: Limits

    @property
    def first(self) -> Array:
        """First guess."""
        return np.concatenate([*(own.values.ravel() for own in self.tables.values()), [*self.parameters.values()]])

    @once
    def functionals(self) -> dict[str, Functional]:
        """Cost, components of end conditions, and limits."""
        own = {} if self.cost is None else {COST: self.cost}
        for name, (quantity, values) in self.ends.items():
            own |= {f"{END} {i} of {name}": Last(quantity, i) for i in range(np.size(values))}
        return own | {name: functional for name, (functional, _, _) in self.limits.items()}

    def split(self, x: Array) -> tuple[dict[str, Array], dict[str, float]]:
        """Values of tables and parameters."""
        values, start = {}, 0
        for port, own in self.tables.items():
            values[port] = x[start : start + own.values.size].reshape(own.values.shape)
            start += own.values.size
        return values, dict(zip(self.parameters, x[start:].tolist(), strict=True))

    def evaluated(self, x: Array) -> dict[str, Gradient]:
        """Gradients of all functionals at the unknowns."""
        values, parameters = self.split(x)

        def driven(**own: float) -> Any:
            mechanism, start, inputs = made(self.make, own)
            return mechanism, start, {**inputs, **{p: (self.tables[p].times, values[p]) for p in self.tables}}

        return gradients(driven, parameters, self.times, self.functionals)
