"""Optimum of a search: the best run, its active limits, and their multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..numerics.arrays import Array
from ..numerics.memo import NamedFields
from ..units.words import weighted_sum
from .execution.records import Record
from .parameter_study import value_of

Limits = Mapping[str, tuple[float | None, float | None]]
Side = Literal["least", "largest"]


@dataclass(frozen=True)
class Optimum(NamedFields):
    """Best feasible run of a search, with its active limits and their multipliers.

    At an optimum the gradients of objective f and active limits g are in balance, ∇f + Σ λ ∇g = 0, with multipliers λ
    of one sign (Karush, Kuhn and Tucker). The multipliers are computed by least squares.

    Attributes
    ----------
    parameters : mapping
        Values by name.
    values : mapping
        Values of the run.
    objective : float
        Minimised value, or weighted sum of values.
    runs : Dataset
        All runs.
    active : mapping
        "least" or "largest" by constraint or parameter that is equal to this limit within the tolerance of the search.
    derivatives : mapping
        Derivatives of the objective and of constraints by parameter, ``derivatives[value][parameter]``; empty for
        COBYQA.
    multipliers : mapping
        Derivative of the optimal objective by each active limit: λ for a least limit, −λ for a largest one; for an
        array by the common limit of its entries.
    imbalance : float
        Norm of ∇f + Σ λ ∇g relative to that of ∇f, in parameters scaled by their bounds: zero at an optimum, NaN for
        COBYQA.
    """

    parameters: Mapping[str, float]
    values: Mapping[str, Array]
    objective: float
    runs: Any
    active: Mapping[str, Side] = field(default_factory=dict)
    derivatives: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    multipliers: Mapping[str, float] = field(default_factory=dict)
    imbalance: float = float("nan")


def limit_size(least: float | None, largest: float | None) -> float:
    """Unit of the violations of a limit: the larger of |least| and |largest|, or 1 if both are zero or None."""
    return max(abs(least or 0.0), abs(largest or 0.0)) or 1.0


class Conditions(NamedTuple):
    """Objective as weights by value, limits of values, and bounds (lower, upper) of parameters of a search."""

    weights: Mapping[str, float]
    limits: Limits
    bounds: Mapping[str, tuple[float, float]]
    tolerance: float

    @property
    def words(self) -> str:
        """Text of the objective as a weighted sum of values."""
        return weighted_sum(self.weights)

    def objective(self, values: Mapping[str, Array]) -> float:
        """Weighted sum of the values of a run."""
        return float(sum(weight * value_of(values, name).item() for name, weight in self.weights.items()))

    def optimum(self, best: Record, runs: Any, slopes: Mapping[str, Array] | None) -> Optimum:
        """Create the optimum from its run; ``slopes``: derivatives (entries, p) by value, None if unknown."""
        at_bounds = {
            name: side
            for name, (lower, upper) in self.bounds.items()
            if (side := self._side(best.parameters[name], lower, upper, upper - lower))
        }
        rows = {name: self._active_entries(name, value_of(best.values, name).ravel()) for name in self.limits}
        active: dict[str, Side] = {name: of_limit[0][1] for name, of_limit in rows.items() if of_limit} | at_bounds
        if slopes is None:
            return Optimum(best.parameters, best.values, self.objective(best.values), runs, active)
        by = {
            name: {key: slope[:, k].reshape(np.shape(best.values[name])) for k, key in enumerate(self.bounds)}
            for name, slope in slopes.items()
        }
        multipliers, imbalance = self._balanced(rows, at_bounds, slopes)
        objective = self.objective(best.values)
        return Optimum(best.parameters, best.values, objective, runs, active, by, multipliers, imbalance)

    def _side(self, value: float, least: float | None, largest: float | None, size: float) -> Side | None:
        """Limit, "least" or "largest", that a value reaches within the tolerance; None if it reaches neither.

        ``size`` is the unit of the tolerance, see :func:`limit_size`.
        """
        if largest is not None and value >= largest - self.tolerance * size:
            return "largest"
        return "least" if least is not None and value <= least + self.tolerance * size else None

    def _active_entries(self, name: str, values: Array) -> list[tuple[int, Side]]:
        """Entries of a value that reach a limit: for each its index, and "least" or "largest"."""
        least, largest = self.limits[name]
        sides = [self._side(float(value), least, largest, limit_size(least, largest)) for value in values]
        return [(i, side) for i, side in enumerate(sides) if side is not None]

    def _balanced(
        self, rows: Mapping[str, list[tuple[int, Side]]], at_bounds: Mapping[str, Side], slopes: Mapping[str, Array]
    ) -> tuple[dict[str, float], float]:
        """Multipliers of all active limits, as in :class:`Optimum`, and the imbalance ‖∇f + Σ λ ∇g‖/‖∇f‖.

        ``rows`` are the active entries of values, ``at_bounds`` the active bounds of parameters, ``slopes`` the
        derivatives (entries, p) by value. Multipliers of values are a least-squares solution with the required signs.
        """
        widths = np.array([upper - lower for lower, upper in self.bounds.values()])
        free = np.array([name not in at_bounds for name in self.bounds])
        slope = np.asarray(sum(weight * slopes[name][0] for name, weight in self.weights.items())) * widths
        listed = [(name, i, side) for name, entries in rows.items() for i, side in entries]
        signs = np.array([1.0 if side == "largest" else -1.0 for _, _, side in listed])
        sizes = np.array([limit_size(*self.limits[name]) for name, _, _ in listed])
        normals = np.array([slopes[name][i] for name, i, _ in listed]).reshape(-1, widths.size) * widths
        scaled = (normals * (signs / sizes)[:, None]).T if listed else np.zeros((widths.size, 0))
        amounts = nnls(scaled[free], -slope[free])[0] if listed and free.any() else np.zeros(len(listed))
        rest = slope + scaled @ amounts
        multipliers: dict[str, float] = {}
        for (name, _, _), amount, sign, size in zip(listed, amounts, signs, sizes, strict=True):
            multipliers[name] = multipliers.get(name, 0.0) - float(sign * amount / size)
        for k, name in enumerate(self.bounds):
            if name in at_bounds:
                multipliers[name] = float(rest[k] / widths[k])
        wrong = np.where(free, rest, 0.0)
        return multipliers, float(np.linalg.norm(wrong) / (np.linalg.norm(slope) or 1.0))
