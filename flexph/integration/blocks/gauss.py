"""Compiled blocks of steps of Gauss collocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...control.agreement import Answered
from ...numerics.arrays import Array
from ..loops.memory.structures import GaussTable
from ..loops.stepper import GaussSteps
from .block_stepper import BlockStepper

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


class GaussBlocks(BlockStepper):
    """Block stepper of Gauss collocation."""

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
    def answered(self) -> Answered:
        """See :attr:`BlockStepper.answered`."""
        return Answered(self.tableau.nodes, self.tableau.weights, 1.0)

    def table(self, times: Array) -> GaussTable:
        """Table of prescribed quantities over the steps between the times."""
        rk, table, length = self.tableau, self.scheme.table, np.diff(times)
        steps, points = length.size, times[:-1, None] + length[:, None] * rk.given[None, :-1]
        ends = table.over(times)
        given = [self._at_nodes(values, steps) for values in table.along(np.append(points, times[-1]))]
        nodes = times[:-1, None] + length[:, None] * rk.nodes
        stages = given[0][0], given[0][1], given[1][1]
        return GaussTable(*map(np.ascontiguousarray, (times, *ends, *stages, self.scheme.forcing.over(nodes.ravel()))))

    def spans(self) -> dict[str, tuple[int, int]]:
        """See :meth:`BlockStepper.spans`."""
        stages = self.tableau.nodes.size
        known = {name: span for name, span in super().spans().items() if name != "moved"}
        return known | dict.fromkeys(("stage_coefficient", "stage_rate", "stage_offset"), (stages, stages))

    def _at_nodes(self, values: Array, steps: int) -> tuple[Array, Array]:
        """Values and rates at the nodes of all steps, by the interpolant through the Gauss-Lobatto points of each."""
        rk, stages = self.tableau, self.tableau.nodes.size
        if len(values) == 1:
            return values, np.zeros_like(values)
        rows = stages * np.arange(steps)[:, None] + np.arange(stages + 1)
        own = values[rows].reshape(steps, stages + 1, -1)
        return tuple((weights @ own).reshape(steps * stages, -1) for weights in (rk.value, rk.rate))
