"""Segments of a run, each of equally many steps, whose starts are stored so that they can be repeated bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array
from ..loops.memory.structures import Table
from ..times.loop import Block, Run

if TYPE_CHECKING:
    from ..schemes.scheme import StepStart
    from .block_stepper import BlockStepper

See = Callable[[Array], None]
Steps = tuple[Array, Array]
"""States (k + 1, n) between steps, and the multipliers (k, g) of these."""


class Segments:
    """Option of a run of a mechanism: to take its steps in segments of ``length`` steps, which can be repeated.

    The run saves the ends of segments. ``see`` is called with the states (k + 1, n) of each segment of k steps in
    turn.
    """

    def __init__(self, length: int, see: See) -> None:
        self.length, self.see = length, see
        self.starts: list[StepStart] = []
        self._known: Steps | None = None  # steps of the last segment, the first to be asked for again

    def entries(self, run: Run, blocks: BlockStepper, grid: Array) -> Iterator[Block]:
        """Take all steps of a run, and yield a block for each segment."""
        table = blocks.table(grid)
        assert isinstance(table, Table)
        self.blocks, self.table = blocks, table
        for k in range(-(-(len(grid) - 1) // self.length)):
            of_segment = self._table(k)
            times, steps = of_segment.times, len(of_segment.times) - 1
            run.begin_trial(float(times[0]), float(times[-1]))
            self.starts.append(run.start)
            rows = blocks.segment(run.start, of_segment)
            self._known = np.vstack([run.start.x, rows.state[:steps]]), rows.stage[:steps]
            self.see(self._known[0])
            saved = np.arange(1, steps + 1) == steps
            end = blocks.end(float(times[-1]), rows.state[steps - 1].copy())
            yield Block(blocks.columns(times, rows, np.arange(1, steps + 1)), saved, end, steps)

    def again(self, k: int) -> Steps:
        """States and multipliers of segment ``k``: stored ones if it is the last one, else by repeating its steps.

        The states are (s + 1, n) at the ends of s steps, the multipliers (s, g) are means over the steps.
        """
        if k == len(self.starts) - 1 and self._known is not None:
            return self._known
        self._known = None
        table, start = self._table(k), self.starts[k]
        rows, steps = self.blocks.segment(start, table), len(table.times) - 1
        return np.vstack([start.x, rows.state[:steps]]), rows.stage[:steps]

    def _table(self, k: int) -> Table:
        """Table of prescribed quantities over the steps of segment ``k``."""
        first = k * self.length
        return self.table.part(first, min(self.length, len(self.table.times) - 1 - first))
