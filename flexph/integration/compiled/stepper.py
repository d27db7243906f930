"""Blocks of compiled steps of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...numerics.arrays import Array
from ...numerics.compiled.linking import code_of
from ...numerics.compiling import announced
from ...numerics.gauss_tableau import Tableau
from .gauss.scheme import StageMemories
from .gauss.steps import GaussTable, run_gauss
from .memory.data import Index, Motion
from .steps.run import Parts, Rows, Table, run, settle
from .workspace import memory, memory_of_redundant

if TYPE_CHECKING:
    from ...kernels.state import Configuration
    from ...mechanisms.model.model import Model


class Stepper:
    """The compiled steps of one mechanism: its memory, and the state between blocks."""

    entry: ClassVar[Callable[..., None]] = staticmethod(run)

    def __init__(self, mechanism: Model, accounts: Accounts, parts: Parts) -> None:
        layout = mechanism.layout
        self.axes, self.parts, self.depth = (0,) * layout.dim, parts, parts.depth
        self.substeps = self.remembered = len(parts.shares)
        rows, flows = layout.multipliers, accounts.flow_count
        self.widths = (layout.size, len(accounts.energy), rows, rows, flows, 7)
        self.memory = mechanism.once(memory_of_redundant if parts.redundant else memory).copy()
        self.known = 0
        self._code: Callable[..., None] | None = None

    def put(self, c: Configuration, history: Array, defect: Array) -> None:
        """Set where the next step starts: positions and speeds, the last steps, and the velocity defect."""
        m = self.memory
        for name, value in zip(Motion._fields, c, strict=False):
            getattr(m, f"at_{name}")[...] = value
        with announced():
            settle(self.memory, self.axes)
        self.known = len(history)
        m.run_history[len(m.run_history) - self.known :] = history
        m.run_defect[:] = defect

    def history(self) -> Array:
        """The rows of history that are filled."""
        memory = self.memory.run_history
        return memory[len(memory) - self.known :].copy()

    def take(self, table: Table | GaussTable, save_every: int, count: int, *, rows: Rows, solved: Index) -> None:
        """Take the steps of a table; ``solved[0]`` counts those that are finished, and in ``rows``."""
        m = self.memory
        m.run_back_history[:], m.run_back_energy[:] = m.run_history, m.run_energy
        m.run_back_defect[:] = m.run_defect
        try:
            with announced():
                self.entry(*self._arguments(table, save_every, count, rows=rows, solved=solved))
        finally:
            if solved[0] < (len(table.times) - 1) // self.substeps:
                self._back()
            self.known = min(self.known + int(solved[0]) * self.remembered, self.depth)

    def _arguments(self, table: Any, save_every: int, count: int, *, rows: Rows, solved: Index) -> tuple[Any, ...]:
        return self.memory, self.axes, table, self.parts, save_every, count, self.known, rows, solved

    def step(self, table: Table | GaussTable, rows: Rows, solved: Index) -> bool:
        """Take the one step of a table, and whether it is solved; its rows are written over."""
        solved[0] = 0
        rows.flow[...] = rows.audit[...] = 0.0
        arguments = self._arguments(table, 1, 0, rows=rows, solved=solved)
        if self._code is None:
            with announced():
                self._code = code_of(self.entry, arguments)
        self._code(*arguments)
        if not solved[0]:
            self._back()
            return False
        self.known = min(self.known + self.remembered, self.depth)
        return True

    def _back(self) -> None:
        """Return to the start of the step that was not solved."""
        m = self.memory
        m.run_history[:], m.run_energy[:] = m.run_back_history, m.run_back_energy
        m.run_defect[:] = m.run_back_defect


class GaussSteps(Stepper):
    """Those of Gauss collocation, with a memory for each stage; a step is remembered by as many rows."""

    entry = staticmethod(run_gauss)

    def __init__(self, mechanism: Model, accounts: Accounts, tableau: Tableau) -> None:
        super().__init__(mechanism, accounts, Parts(np.ones(1), np.ones(1), tableau.nodes.size))
        self.remembered, self.stages = tableau.nodes.size, StageMemories(self.memory, tableau)

    def _arguments(self, table: Any, save_every: int, count: int, *, rows: Rows, solved: Index) -> tuple[Any, ...]:
        return self.memory, self.axes, self.stages.scheme, table, save_every, count, self.known, rows, solved
