"""Chunk of steps of a run with controllers, and its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.joined import JoinedStep
from ...numerics.arrays import Array
from ...sensors.quantities import LastStep
from ..blocks.block_stepper import BlockStepper
from ..loops.memory.structures import Rows
from ..times.loop import Block, Going
from ..times.sampled import Plan


class Chunk:
    """Chunk of the steps of a plan, and its rows.

    ``held`` are the inputs that controllers hold in each step. ``joined`` has the steps of continuous controllers, or
    ``agreed`` their rows. ``done`` counts the finished steps; ``failed`` is True if the loops do not solve the next.
    """

    def __init__(self, run: Going, blocks: BlockStepper, loops: ControlLoops, which: tuple[Plan, int]) -> None:
        self.run, self.blocks, self.loops = run, blocks, loops
        self.plan, most = which
        self.times = self.plan.times[self.plan.next - 1 : self.plan.next + most]
        self.rows = Rows(*(np.zeros((self.times.size - 1, width)) for width in blocks.compiled.widths))
        self.held = np.zeros((self.times.size - 1, loops.held.size))
        self.joined: list[JoinedStep] = []
        self.agreed: dict[str, Array] = {}
        self.done, self.failed = 0, False

    def last(self, k: int) -> LastStep:
        """Record of the step before the k-th one; that of the last chunk if no controller reads it."""
        if not (k and self.loops.read_steps):
            return self.loops.last
        before = self.rows.state[k - 2] if k > 1 else self.run.start.x
        length = float(self.times[k] - self.times[k - 1])
        return LastStep(self.rows.multipliers[k - 1], self.rows.flow[k - 1], length, before)

    def table(self) -> Any:
        """Table of prescribed quantities without the inputs that controllers hold."""
        held = self.loops.held.copy()
        self.loops.held[:] = 0.0
        try:
            return self.blocks.table(self.times)
        finally:
            self.loops.held[:] = held

    def own_inputs(self) -> Any:
        """Table of prescribed quantities with separate input rows for each step."""
        table = self.table()
        if len(table.inputs) > 1:
            return table
        rows = (len(self.times) - 1) * self.blocks.points
        return table._replace(inputs=np.repeat(table.inputs, rows, axis=0))

    def block(self) -> Block:
        """Block of the finished steps."""
        own = slice(self.plan.next, self.plan.next + self.done)
        last = self.last(self.done)
        self.loops.last = LastStep(last.multipliers.copy(), last.flows.copy(), last.length, last.before.copy())
        values = self.blocks.columns(self.times, self.rows, np.arange(1, self.done + 1))
        values["held"] = self.held[: self.done]
        if self.joined:
            rows = [step.row() for step in self.joined]
            self.agreed = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        values |= self.agreed
        end = self.blocks.end(float(self.times[self.done]), self.rows.state[self.done - 1].copy())
        return Block(values, self.plan.saved[own], end, int(self.plan.of_grid[own].sum()), then=self.loops.kept())
