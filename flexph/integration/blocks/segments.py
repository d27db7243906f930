"""Segments of a run, equal numbers of steps whose starts are stored, so that they can be repeated bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array
from ..times.loop import Block, Run

if TYPE_CHECKING:
    from ..schemes.scheme import StepStart
    from .block_stepper import BlockStepper

See = Callable[[Array], None]


class Segments:
    """Segments of ``length`` steps of a run of a mechanism, the option ``RunOptions.segments``.

    The run saves the ends of segments; ``see`` is called with all states (k + 1, n) of each segment in turn.
    """

    def __init__(self, length: int, see: See) -> None:
        self.length, self.see = length, see
        self.starts: list[StepStart] = []

    def entries(self, run: Run, blocks: BlockStepper, grid: Array) -> Iterator[Block]:
        """Entries of all steps of a run, a block for each segment."""
        self.blocks, self.grid = blocks, grid
        for first in range(0, len(grid) - 1, self.length):
            times = grid[first : first + self.length + 1]
            steps = len(times) - 1
            run.begin_trial(float(times[0]), float(times[-1]))
            self.starts.append(run.start)
            rows = blocks.segment(run.start, times)
            self.see(np.vstack([run.start.x, rows.state[:steps]]))
            saved = np.arange(1, steps + 1) == steps
            end = blocks.end(float(times[-1]), rows.state[steps - 1].copy())
            yield Block(blocks.columns(times, rows, np.arange(1, steps + 1)), saved, end, steps)

    def again(self, k: int) -> tuple[Array, Array]:
        """Repeat segment k: returns its states (steps + 1, n) and the multipliers of its steps (steps, g)."""
        times = self.grid[k * self.length : (k + 1) * self.length + 1]
        start, steps = self.starts[k], len(times) - 1
        rows = self.blocks.segment(start, times)
        return np.vstack([start.x, rows.state[:steps]]), rows.stage[:steps]
