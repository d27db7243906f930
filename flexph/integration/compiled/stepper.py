"""Blocks of compiled steps of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...mechanisms.model.accounts import Accounts
from ...numerics.arrays import Array
from ...numerics.compiling import announced
from .loops.steps import Parts, Rows, Table, run, settle
from .memory.data import Index, Motion
from .workspace import memory

if TYPE_CHECKING:
    from ...kernels.state import Configuration
    from ...mechanisms.model.model import Model


class Stepper:
    """The compiled steps of one mechanism: its memory, and the state between blocks."""

    def __init__(self, mechanism: Model, accounts: Accounts, parts: Parts) -> None:
        layout = mechanism.layout
        self.axes, self.parts = (0,) * layout.dim, parts
        flows = len(accounts.work) + len(accounts.joint_work) + len(accounts.dissipation)
        self.widths = (layout.size, len(accounts.energy), layout.multipliers, layout.multipliers, flows, 7)
        self.memory = mechanism.once(memory).copy()
        self.known = 0

    def put(self, c: Configuration, history: Array, defect: Array) -> None:
        """Set where the next step starts: positions and speeds, the last steps, and the velocity defect."""
        m = self.memory
        for name, value in zip(Motion._fields, c, strict=False):
            getattr(m, f"at_{name}")[...] = value
        with announced():
            settle(self.memory, self.axes)
        self.known = len(history)
        m.carried_memory[len(m.carried_memory) - self.known :] = history
        m.carried_defect[:] = defect

    def remembered(self) -> Array:
        """The rows of memory that are filled."""
        memory = self.memory.carried_memory
        return memory[len(memory) - self.known :].copy()

    def take(self, table: Table, save_every: int, count: int, rows: Rows, solved: Index) -> None:
        """Take the steps of a table; ``solved[0]`` counts those that are finished, and in ``rows``."""
        substeps, m = len(self.parts.shares), self.memory
        m.carried_back_memory[:], m.carried_back_energy[:] = m.carried_memory, m.carried_energy
        m.carried_back_defect[:] = m.carried_defect
        try:
            with announced():
                run(self.memory, self.axes, table, self.parts, save_every, count, self.known, rows, solved)
        finally:
            if solved[0] < (len(table.times) - 1) // substeps:
                self._back()
            self.known = min(self.known + int(solved[0]) * substeps, self.parts.depth)

    def _back(self) -> None:
        """Return to the start of the step that was not solved."""
        m = self.memory
        m.carried_memory[:], m.carried_energy[:] = m.carried_back_memory, m.carried_back_energy
        m.carried_defect[:] = m.carried_back_defect
