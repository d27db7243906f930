"""Shooting problems: functionals of a run as functions of the nodes of its input tables, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.memo import once
from ..results.unfinished import IntegrationError
from ..sensors.quantities import Quantity
from ..systems.inputs import Table
from .adjoint import Gradient, gradients
from .functionals import Functional, Last
from .runs.problems import made
from .runs.readings import readings

COST, END = "the cost", "end"
Ends = Mapping[str, tuple[Quantity, float | Sequence[float]]]
Limits = Mapping[str, tuple[Functional, float | None, float | None]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Shooting problem in the values of all nodes, one table behind the other, and the parameters behind them."""

    make: Callable[..., Any]
    times: Array
    tables: Mapping[str, Table]
    parameters: Mapping[str, float]
    cost: Functional | None
    effort: Mapping[str, float]
    ends: Ends
    limits: Limits

    @once
    def functionals(self) -> dict[str, Functional]:
        """Cost, components of end conditions, and limits."""
        own = {} if self.cost is None else {COST: self.cost}
        for name, (quantity, values) in self.ends.items():
            own |= {end_of(name, i): Last(quantity, i) for i in range(np.size(values))}
        return own | {limit_of(name): functional for name, (functional, _, _) in self.limits.items()}

    def split(self, x: Array) -> tuple[dict[str, Array], dict[str, float]]:
        """Values of tables and parameters."""
        values, start = {}, 0
        for port, own in self.tables.items():
            values[port] = x[start : start + own.values.size].reshape(own.values.shape)
            start += own.values.size
        return values, dict(zip(self.parameters, x[start:].tolist(), strict=True))

    def joined(self, values: Mapping[str, Any], parameters: Mapping[str, Any]) -> Array:
        """Vector of values of tables and parameters."""
        return np.concatenate([*(np.ravel(values[port]) for port in self.tables), [*parameters.values()]])

    def gradients(self, x: Array) -> dict[str, Gradient]:
        """Gradients of all functionals."""
        values, parameters = self.split(x)

        def driven(**own: float) -> Any:
            mechanism, start, inputs = made(self.make, own)
            return mechanism, start, {**inputs, **{p: (self.tables[p].times, values[p]) for p in self.tables}}

        return gradients(driven, parameters, self.times, self.functionals)

    def by_unknowns(self, own: Gradient) -> Array:
        """Derivatives of a functional by all unknowns: those by the inputs of steps, which nodes share."""
        values = {port: self.shares[port].T @ own.by_input[port] for port in self.tables}
        return self.joined(values, own.by)

    @once
    def shares(self) -> dict[str, Array]:
        """Shares (N, k) of the nodes of each table in the inputs of steps, which are those in their middle."""
        middles = 0.5 * (self.times[1:] + self.times[:-1])
        return {port: _hats(own.times, middles) for port, own in self.tables.items()}

    @once
    def masses(self) -> dict[str, Array]:
        """Matrices (k, k) of ∫ u² dt of each table."""
        return {port: _mass(own.times) for port, own in self.tables.items()}

    def efforts(self, x: Array) -> tuple[float, Array]:
        """Effort and its derivatives."""
        values, parameters = self.split(x)
        moved = {port: self.effort.get(port, 0.0) * self.masses[port] @ own for port, own in values.items()}
        total = sum(float(np.sum(own * moved[port])) for port, own in values.items())
        return total, 2.0 * self.joined(moved, dict.fromkeys(parameters, 0.0))


def end_of(name: str, i: int) -> str:
    """Name of the functional of a component of an end condition."""
    return f"{END} {i} of {name}"


def limit_of(name: str) -> str:
    """Name of the functional of a limit."""
    return f"limit of {name}"


def _hats(nodes: Array, times: Array) -> Array:
    """Piecewise linear functions (times, k) that are one at a node each."""
    return np.stack([np.interp(times, nodes, row) for row in np.eye(nodes.size)], axis=1)


def _mass(nodes: Array) -> Array:
    """Integrals (k, k) of products of the piecewise linear functions."""
    spans = np.diff(nodes)
    mass = np.diag(np.append(spans, 0.0) + np.append(0.0, spans)) / 3.0
    return mass + (np.diag(spans, 1) + np.diag(spans, -1)) / 6.0


@dataclass(eq=False)
class Search:
    """Search in unknowns divided by their sizes; the last evaluation is kept."""

    problem: Problem
    size: Array
    sides: tuple[Array, Array]
    evaluations: int = 0
    at: Array | None = None
    found: dict[str, Gradient] = field(default_factory=dict)
    failed: bool = False

    def asked(self, z: Array) -> dict[str, Gradient]:
        """Gradients at scaled unknowns; if the run fails, those of the last successful one."""
        if self.at is None or not np.array_equal(z, self.at):
            try:
                self.found, self.failed = self.problem.gradients(z * self.size), False
            except IntegrationError:
                if not self.found:
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
        if self.problem.cost is not None:
            own = found[COST]
            total, slope = total + own.value, slope + self.problem.by_unknowns(own)
        return total, slope * self.size

    def condition(self, z: Array, name: str) -> tuple[float, Array]:
        """Value of a functional and its derivatives by the scaled unknowns."""
        own = self.asked(z)[name]
        return own.value, self.problem.by_unknowns(own) * self.size

    def conditions(self, z: Array) -> list[Condition]:
        """Conditions of the problem, scaled by their change with all unknowns by their sizes."""
        rows = []
        for name, (_, values) in self.problem.ends.items():
            self._refuse_other_size(name, values, z)
            for i, value in enumerate(np.ravel(values)):
                reading, slope = self.condition(z, end_of(name, i))
                size = max(float(np.linalg.norm(slope)), abs(reading - value)) or 1.0
                rows.append(Condition(end_of(name, i), "eq", float(value), 1.0, size))
        for name, (_, least, largest) in self.problem.limits.items():
            size = max(abs(least or 0.0), abs(largest or 0.0)) or 1.0
            rows += [] if least is None else [Condition(limit_of(name), "ineq", least, 1.0, size)]
            rows += [] if largest is None else [Condition(limit_of(name), "ineq", largest, -1.0, size)]
        return rows

    def _refuse_other_size(self, name: str, values: Any, z: Array) -> None:
        """Raise ValueError for a sensor with more components than values at the end."""
        quantity = self.problem.ends[name][0]
        run = next(iter(self.asked(z).values())).solution
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
        """Value of the left-hand side at scaled unknowns."""
        return self.sign * (search.condition(z, self.name)[0] - self.value) / self.size

    def slope(self, search: Search, z: Array) -> Array:
        """Derivatives of the left-hand side by the scaled unknowns."""
        return self.sign * search.condition(z, self.name)[1] / self.size
