"""Blocks of compiled steps of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiling import announced
from ..ledger import Accounts
from ..single import WOVEN
from ..space import Array
from .band import stored
from .data import Carried, Constants, Index, Motion, System, Trial, Unknowns, Workspace
from .lanes import kinds
from .memory import pack
from .steps import Parts, Rows, Table, run, settle

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..single import Station


class Stepper:
    """The compiled steps of one mechanism: its memory, and the state between blocks."""

    def __init__(self, mechanism: Mechanism, accounts: Accounts, depth: int, parts: Parts) -> None:
        layout, made = mechanism.layout, mechanism.flat
        self.axes, self.parts = (0,) * layout.dim, parts
        flows = len(accounts.work) + len(accounts.joint_work) + len(accounts.dissipation)
        self.widths = (layout.size, len(accounts.energy), layout.multipliers, layout.multipliers, flows, 7)
        self.memory, self.held, self.work = pack(made, _workspace(made, depth, len(accounts.energy), flows))
        self.known = 0

    def put(self, station: Station) -> None:
        """Set where the next step starts."""
        carried = self.work.carried
        for mine, value in zip(self.work.at, station.place.c, strict=False):
            mine[...] = value
        with announced():
            settle(self.memory, self.axes)
        self.known = len(station.memory)
        carried.memory[len(carried.memory) - self.known :] = station.memory
        carried.defect[:] = station.place.defect

    def remembered(self) -> Array:
        """The rows of memory that are filled."""
        memory = self.work.carried.memory
        return memory[len(memory) - self.known :].copy()

    def take(self, table: Table, save_every: int, count: int, rows: Rows, solved: Index) -> None:
        """Take the steps of a table; ``solved[0]`` counts those that are finished, and in ``rows``."""
        substeps, carried = len(self.parts.shares), self.work.carried
        carried.back_memory[:], carried.back_energy[:] = carried.memory, carried.energy
        carried.back_defect[:] = carried.defect
        try:
            with announced():
                run(self.memory, self.axes, table, self.parts, save_every, count, self.known, rows, solved)
        finally:
            if solved[0] < (len(table.times) - 1) // substeps:
                self._back()
            self.known = min(self.known + int(solved[0]) * substeps, len(carried.memory))

    def _back(self) -> None:
        """Return to the start of the step that was not solved."""
        carried = self.work.carried
        carried.memory[:], carried.energy[:] = carried.back_memory, carried.back_energy
        carried.defect[:] = carried.back_defect


def _workspace(k: Constants, depth: int, energies: int, flows: int) -> Workspace:
    """Space for everything that is overwritten."""
    b, d = k.inertia.weight.shape
    s, n, m = k.inertia.J.shape[1], int(k.inertia.first[-1]), k.elastic.body.size
    nodes, vectors, products, rows = (
        k.nodes.body.size,
        k.joints.plus.size,
        k.joints.first.size,
        k.border.l.size,
    )
    count, z = kinds(d), np.zeros
    springs = int(k.joints.state.max(initial=-1)) + 1

    def motion() -> Motion:
        return Motion(
            *(z((b, d)), z((b, d, d)), z(n), z((b, d)), z((b, s)), z(n), z(m), z(springs)),
            *(z((n, count)), z((n, count)), z((b, s)), z(n), z((nodes, d)), z((vectors, d)), z(products)),
        )

    def unknowns() -> Unknowns:
        return Unknowns(z((b, d)), z((b, s)), z(n), z(rows))

    entries, measured = k.elastic.col.size, k.joints.stiffness.size
    given: Any = (
        *(z((b, d, d)), z((n, count)), z((n, count)), z((b, d)), z(n), z(entries), z(m), z(m), z(m)),
        *(z((nodes, d)), z((vectors, d)), z(products), *(z(measured) for _ in range(4))),
        *(z((nodes, d)), z((vectors, d)), z((b, d)), z((b, s)), z(k.books.input.size)),
        *(z((k.loads.torque_body.size, s)), z(measured), z(measured)),
    )
    trial = Trial(*given)
    width = b * (d + s) + n + 2 * rows + 1
    carried = Carried(
        *(z((depth, width)), z((depth, width)), z(energies), z(energies), z(rows), z(rows), z(rows)),
        *(z(energies), z(flows), z(flows), z(rows), z(rows), z(7)),
        *(z(rows), z((2, d)), z((d, d)), z((nodes, d)), z((d, count)), z((WOVEN, WOVEN + 1))),
    )
    return Workspace(motion(), motion(), unknowns(), unknowns(), unknowns(), trial, _system(k), carried)


def _system(k: Constants) -> System:
    b, d = k.inertia.weight.shape
    s, n, z = k.inertia.J.shape[1], int(k.inertia.first[-1]), np.zeros
    size, width = (int(i) for i in k.border.size)
    inners, columns, vectors = k.border.inners, k.border.columns, k.border.vector_col.size
    entries, strains = k.inertia.col.size, k.elastic.col.size
    return System(
        *(z(k.stiffness.left_mean.size), z(entries), z(int(inners @ k.border.stored)), z(int(inners @ columns))),
        *(z((size, stored(width))), z(strains), z((n, s)), z((n, s)), z(n, dtype=np.int64)),
        *(z((b, d, d)), z((b, d, d)), z((s + d, int(columns.max()))), z(size, dtype=np.int64)),
        *(z((b, s, s)), z((b, d, d)), z((vectors, d)), z((vectors, d)), z((s, s)), z((s, s)), z((2, 2))),
        *(z(3), z(3), z(3), z(size), z(n)),
    )
