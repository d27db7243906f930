"""Block stepper for Gauss collocation, which takes many steps in one call of the compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...control.coupling import EvaluationPoints
from ...numerics.arrays import Array
from ..loops.memory.structures import GaussTable
from ..loops.stepper import GaussSteps
from .block_stepper import BlockStepper

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


class GaussBlocks(BlockStepper):
    """Block stepper that takes steps of Gauss collocation."""

    def __init__(self, scheme: Scheme) -> None:
        assert scheme.tableau is not None
        self.scheme, self.mechanism, self.tableau = scheme, scheme.mechanism, scheme.tableau
        self.compiled = GaussSteps(scheme.mechanism, scheme.accounts, scheme.tableau)
        self.points = len(self.tableau.nodes)
        self.limit = self.limited(2 * (len(self.tableau.given) + 1))

    @property
    def _divides(self) -> bool:
        return True

    @property
    def evaluation(self) -> EvaluationPoints:
        """Gauss points of a step, at which feedback that acts in it is evaluated."""
        return EvaluationPoints(self.tableau.nodes, self.tableau.weights, 1.0)

    def table(self, times: Array) -> GaussTable:
        """Table of prescribed quantities such as drives and inputs, for the collocation steps between ``times``."""
        rk, table, length = self.tableau, self.scheme.table, np.diff(times)
        steps, points = length.size, times[:-1, None] + length[:, None] * rk.given[None, :-1]
        ends, given = table.at_times(times), np.append(points, times[-1])
        coefficient, offset = (self._at_nodes(values, steps) for values in table.along(given))
        nodes = times[:-1, None] + length[:, None] * rk.nodes
        fields = (times, *ends, *coefficient, offset[1], self.scheme.forcing.at_times(nodes.ravel()))
        references, factors = table.references.along(given, times)
        moved = self._at_nodes(references, steps)[1]
        if len(moved) > 1:
            moved = moved / np.repeat(length, self.points)[:, None]
        timed = moved, *self._at_points(factors, steps), factors[:: self.points]
        return GaussTable(*map(np.ascontiguousarray, (*fields, *timed)))

    def spans(self) -> dict[str, tuple[int, int]]:
        """For each field of a table: number of rows from one step to the next, and number of rows that a step uses."""
        stages = self.tableau.nodes.size
        at_nodes = dict.fromkeys(("stage_coefficient", "stage_rate", "stage_offset", "moved"), (stages, stages))
        at_points = dict.fromkeys(("factor", "factor_rate"), (2 * stages, 2 * stages))
        return super().spans() | at_nodes | at_points | {"factor_end": (1, 2)}

    def _at_nodes(self, values: Array, steps: int) -> tuple[Array, Array]:
        """Values, and rates times h, of a prescribed quantity at the Gauss points of all steps.

        ``values`` are given at the Gauss-Lobatto points of each step.
        """
        return self._interpolated(values, steps, (self.tableau.value, self.tableau.rate))

    def _at_points(self, values: Array, steps: int) -> tuple[Array, Array]:
        """Values, and rates times h, of a prescribed quantity where spring laws are evaluated, at points of all steps.

        ``values`` are given at the Gauss-Lobatto points of each step.
        """
        return self._interpolated(values, steps, (self.tableau.point_value, self.tableau.point_rate))

    def _interpolated(self, values: Array, steps: int, by: tuple[Array, Array]) -> tuple[Array, Array]:
        """Values and rates times h of the polynomials through ``values`` at the Gauss-Lobatto points of each step.

        ``by`` are two matrices, which map the values in a step to values and rates at its points of evaluation.
        """
        if len(values) == 1:
            return values, np.zeros_like(values)
        rows = self.points * np.arange(steps)[:, None] + np.arange(self.points + 1)
        nodes = values[rows].reshape(steps, self.points + 1, -1)
        value, rate = ((weights @ nodes).reshape(steps * len(weights), values.shape[1]) for weights in by)
        return value, rate
