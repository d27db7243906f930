"""Single shooting: functionals of a run as functions of the nodes of its input tables, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.memo import once
from ...sensors.quantities import Quantity
from ...systems.inputs import Table
from ..adjoint import Gradient, gradients
from ..functionals import Functional, Last
from ..runs.problems import Times, made
from .duration import DURATION, Duration

if TYPE_CHECKING:
    from ...results.solution import Solution

COST, END = "the cost", "end"
Ends = Mapping[str, tuple[Quantity, float | Sequence[float]]]
Limits = Mapping[str, tuple[Functional, float | None, float | None]]


class Evaluation(NamedTuple):
    """Results of runs at given unknowns: values of functionals by name, their derivatives (n,), and gaps.

    ``gaps``: for each junction of segments, by name, the gap (2k,) in coordinates of states and derivatives (2k, n).
    """

    values: Mapping[str, float]
    slopes: Mapping[str, Array]
    gaps: Mapping[str, tuple[Array, Array]]
    runs: Sequence[Solution]


@dataclass(frozen=True, eq=False)
class Problem:
    """Single shooting problem. Its vector of unknowns has the values of all tables at their nodes, then parameters.

    ``times`` and ``tables`` are the first guess. A free ``duration`` is the last of the parameters.
    """

    make: Callable[..., Any]
    times: Array
    tables: Mapping[str, Table]
    parameters: Mapping[str, float]
    cost: Functional | None
    effort: Mapping[str, float]
    ends: Ends
    limits: Limits
    duration: Duration | None = None

    @once
    def functionals(self) -> dict[str, Functional]:
        """Functionals of the run by name: the cost, each component of an end condition, and the limits."""
        functionals = {} if self.cost is None else {COST: self.cost}
        for name, (quantity, values) in self.ends.items():
            functionals |= {end_of(name, i): Last(quantity, i) for i in range(np.size(values))}
        return functionals | {limit_of(name): functional for name, (functional, _, _) in self.limits.items()}

    def split(self, x: Array) -> tuple[dict[str, Array], dict[str, float]]:
        """Split the vector x of unknowns into the values of the input tables, by port, and the parameters, by name."""
        values, start = {}, 0
        for port, table in self.tables.items():
            values[port] = x[start : start + table.values.size].reshape(table.values.shape)
            start += table.values.size
        return values, dict(zip(self.parameters, x[start:].tolist(), strict=True))

    def joined(self, values: Mapping[str, Any], parameters: Mapping[str, Any]) -> Array:
        """Vector of unknowns from values of tables, by port, and parameters, by name."""
        return np.concatenate([*(np.ravel(values[port]) for port in self.tables), [*parameters.values()]])

    @property
    def base(self) -> Problem:
        """Single shooting problem without states between segments: this problem itself."""
        return self

    @property
    def count(self) -> int:
        """Number of unknowns: the values at the nodes of all input tables, and the parameters."""
        return sum(table.values.size for table in self.tables.values()) + len(self.parameters)

    def evaluated(self, x: Array) -> Evaluation:
        """Functionals at the unknowns x, with their derivatives with respect to these."""
        values, parameters = self.split(x)

        def driven(**own: float) -> Any:
            mechanism, start, inputs = self.made(own)
            return mechanism, start, {**inputs, **self.driving(values, own)}

        found = gradients(driven, parameters, self.times_of_run(), self.functionals)
        run = next(iter(found.values())).solution
        slopes = {name: self.by_unknowns(own) for name, own in found.items()}
        return Evaluation({name: own.value for name, own in found.items()}, slopes, {}, [run])

    def distances(self, found: Evaluation) -> dict[str, float]:
        """Distances between segments: an empty mapping, as single shooting has none."""
        return {}

    def made(self, parameters: Mapping[str, float]) -> Any:
        """Mechanism, start and inputs that ``make`` returns for the given parameters, except the duration."""
        return made(self.make, {name: value for name, value in parameters.items() if name != DURATION})

    def stretched(self, times: Array, parameters: Mapping[str, float]) -> Array:
        """Times of a run, scaled about its start so that it lasts for the duration among the parameters.

        The ``times`` of the first guess are returned unchanged if the duration is not an unknown.
        """
        if self.duration is None:
            return times
        begin, end = float(self.times[0]), float(self.times[-1])
        return begin + parameters[DURATION] / (end - begin) * (times - begin)

    def times_of_run(self, first: int = 0, last: int | None = None) -> Times:
        """Times that bound the steps, from the index ``first`` to ``last``, both included.

        If the duration is free, the result is a function that returns them for given parameters.
        """
        times = self.times[first : None if last is None else last + 1]
        return times if self.duration is None else lambda **parameters: self.stretched(times, parameters)

    def driving(self, values: Mapping[str, Array], parameters: Mapping[str, float]) -> dict[str, Any]:
        """Tables of inputs (times, values) by port, with given values at their nodes.

        If the duration is free, the times of the nodes are scaled to its value among the parameters.
        """
        return {port: (self.stretched(table.times, parameters), values[port]) for port, table in self.tables.items()}

    def by_unknowns(self, own: Gradient) -> Array:
        """Derivatives (n,) of a functional with respect to all unknowns, from its gradient."""
        values = {port: self.shares[port].T @ own.by_input[port] for port in self.tables}
        return self.joined(values, own.by)

    @once
    def shares(self) -> dict[str, Array]:
        """Matrices (N, k), by port, that interpolate the k values of its input table at the midpoints of N steps."""
        middles = 0.5 * (self.times[1:] + self.times[:-1])
        return {port: hats(table.times, middles) for port, table in self.tables.items()}

    @once
    def masses(self) -> dict[str, Array]:
        """Matrices Q (k, k), by port, with ∫ u² dt = uᵀQu for the values u of each table at its nodes."""
        return {port: _mass(table.times) for port, table in self.tables.items()}

    def efforts(self, x: Array) -> tuple[float, Array]:
        """Effort Σ w ∫ |u|² dt plus the cost of the duration, and its derivatives with respect to all unknowns."""
        values, parameters = self.split(x)
        by = dict.fromkeys(parameters, 0.0)
        moved = {port: self.effort.get(port, 0.0) * self.masses[port] @ table for port, table in values.items()}
        total = sum(float(np.sum(table * moved[port])) for port, table in values.items())
        if self.duration is None:
            return total, 2.0 * self.joined(moved, by)
        duration, guessed = parameters[DURATION], float(self.times[-1] - self.times[0])
        by[DURATION] = total / guessed + self.duration.weight
        shares = {port: 2.0 * duration / guessed * table for port, table in moved.items()}
        return total * duration / guessed + self.duration.weight * duration, self.joined(shares, by)


def end_of(name: str, i: int) -> str:
    """Name of the functional of the component i of the end condition ``name``."""
    return f"{END} {i} of {name}"


def limit_of(name: str) -> str:
    """Name of the functional of the limit ``name``."""
    return f"limit of {name}"


def hats(nodes: Array, times: Array) -> Array:
    """Values (times, k) of the k piecewise linear functions that are one at one node and zero at all others."""
    return np.stack([np.interp(times, nodes, row) for row in np.eye(nodes.size)], axis=1)


def _mass(nodes: Array) -> Array:
    """Integrals (k, k) of the products of any two of the piecewise linear functions of :func:`hats`."""
    spans = np.diff(nodes)
    mass = np.diag(np.append(spans, 0.0) + np.append(0.0, spans)) / 3.0
    return mass + (np.diag(spans, 1) + np.diag(spans, -1)) / 6.0
