"""Blocks of compiled steps of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...mechanisms.model.accounts import Accounts
from ...numerics.arrays import Array
from ...numerics.compiling import announced
from .loops.steps import Parts, Rows, Table, run, settle
from .memory.data import Index
from .memory.memory import copied
from .workspace import packed

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
        self.memory, self.held, self.at, self.carried = copied(mechanism.once(packed))
        self.known = 0

    def put(self, c: Configuration, history: Array, defect: Array) -> None:
        """Set where the next step starts: positions and speeds, the last steps, and the velocity defect."""
        carried = self.carried
        for mine, value in zip(self.at, c, strict=False):
            mine[...] = value
        with announced():
            settle(self.memory, self.axes)
        self.known = len(history)
        carried.memory[len(carried.memory) - self.known :] = history
        carried.defect[:] = defect

    def remembered(self) -> Array:
        """The rows of memory that are filled."""
        memory = self.carried.memory
        return memory[len(memory) - self.known :].copy()

    def take(self, table: Table, save_every: int, count: int, rows: Rows, solved: Index) -> None:
        """Take the steps of a table; ``solved[0]`` counts those that are finished, and in ``rows``."""
        substeps, carried = len(self.parts.shares), self.carried
        carried.back_memory[:], carried.back_energy[:] = carried.memory, carried.energy
        carried.back_defect[:] = carried.defect
        try:
            with announced():
                run(self.memory, self.axes, table, self.parts, save_every, count, self.known, rows, solved)
        finally:
            if solved[0] < (len(table.times) - 1) // substeps:
                self._back()
            self.known = min(self.known + int(solved[0]) * substeps, self.parts.depth)

    def _back(self) -> None:
        """Return to the start of the step that was not solved."""
        carried = self.carried
        carried.memory[:], carried.energy[:] = carried.back_memory, carried.back_energy
        carried.defect[:] = carried.back_defect
