"""Blocks of compiled steps of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...kernels.state import Configuration
from ...mechanisms.model.accounts import Accounts
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau
from ...numerics.loops.built import warn_if_uncompiled
from .contacts import own_springs
from .entries import run, settle
from .gauss.scheme import InitialMemories, Scheme, StageMemories, before_runs
from .memory.data import Index
from .memory.memory import Memory
from .memory.relation_functions import failed_function
from .memory.step_space import Motion
from .memory.structures import (
    COLLOCATION,
    STEPS,
    Calls,
    Course,
    GaussTable,
    Pair,
    Parts,
    Rows,
    Table,
    Within,
    no_calls,
    no_pair,
)
from .near_pairs import MARGIN, WIDER, NearPairs
from .solids.laws import laws_of
from .wide.factor import Answers
from .workspace import banded_memory, memory, memory_of

if TYPE_CHECKING:
    from ...control.coupling import CompiledCoupling
    from ...mechanisms.model.model import Model


_MEMORIES = {steps: partial(memory_of, parts=steps) for steps in ((1, 0), (0, 1), (1, 1))} | {(0, 0): memory}
"""Builders of the memory of a mechanism by two flags: multipliers of least norm, steps that lose energy."""


_AT, _END = ([f"{at}_{name}" for name in Motion._fields[: len(Configuration._fields)]] for at in ("at", "end"))
_KEPT = "run_history", "run_energy", "run_defect"
"""Fields of a step start, which follow each other in the memory."""


class Stepper:
    """Compiled steps of one mechanism by the exact scheme, with its memory and its state between blocks."""

    kind: ClassVar[int] = STEPS
    _ends: ClassVar[list[str]] = _END

    def __init__(self, mechanism: Model, accounts: Accounts, parts: Parts) -> None:
        warn_if_uncompiled()
        layout = mechanism.layout
        self.dim, self.parts, self.depth = layout.dim, parts, parts.depth
        self.substeps = self.remembered = len(parts.shares)
        rows, flows = layout.multipliers, accounts.flow_count
        self.widths = (layout.size, len(accounts.energy), rows, rows, flows, 8)
        self.mechanism, self._margin = mechanism, 0.0
        self._near = mechanism.once(NearPairs) if parts.kinds.contact else None
        self.known, self._none = 0, no_calls()
        self.failure: Exception | None = None
        self._bind(self._memory())
        self._list_served, self.lists = False, 0  # True after a step with the list; number of lists
        self.stands: Any = None  # the caller's name for the state in the memory, until a step is taken
        self._is_astray = False  # True after a step that was not solved

    def _memory(self) -> Memory:
        """Memory for the steps of the mechanism, without listed pairs of contacts."""
        steps = self.parts.kinds.redundant, self.parts.kinds.decay
        changes = bool(self.mechanism.network.arrays.mass_factors)
        return self.mechanism.once(_MEMORIES[steps]).copy(with_constants=changes)

    def _bind(self, m: Memory) -> None:
        """Make ``m`` the memory of the steps."""
        self.memory = m
        is_asked = m.border_size[1] < 0 or m.solids_lawful.size > 0
        self._answers = Answers(self.mechanism, m, laws_of(self.mechanism, m)) if is_asked else None
        self._at = m.views(_AT)
        self._history, self._energy, self._defect = m.views(_KEPT)
        self._kept = m.reals[m.span("run_history", "run_defect")]
        self._before = m.reals[m.span("run_back_history", "run_back_defect")]

    @property
    def _parts(self) -> tuple[slice, slice]:
        """Two slices of the floats of the memory that together hold the start of the next step: motion, and history."""
        return self.memory.span("at_r", "at_product"), self.memory.span("run_history", "run_new_energy")

    @property
    def leaves_list(self) -> bool:
        """True if the last step was not recorded because a pair outside the list might touch in it."""
        return self._near is not None and bool(self.memory.touch_reach[2])

    def _list_near(self, c: Configuration, points_of: Callable[[], Array]) -> None:
        """Make a new list of near pairs, and a memory for it, unless the last list still holds.

        ``points_of`` returns the positions (k, d) of the nodes in the configuration ``c``.
        """
        near = self._near
        if near is None or not near.lists:
            return
        nodes, left, points = near.phase.nodes, self.leaves_list, points_of()
        reach, watched = float(self.memory.touch_reach[0]), points[nodes]
        away = np.linalg.norm(watched - self.memory.touch_listed[: nodes.size], axis=1)
        if reach > 0.0 and not left and (away <= reach).all():
            return
        wider = WIDER if left and not self._list_served else 1.0  # a first step went further than the list allows
        self._margin = max(wider * self._margin, MARGIN * near.phase.widest)
        share, steps = self.memory.decay_share.copy(), (self.parts.kinds.redundant, self.parts.kinds.decay)
        memory = memory_of(self.mechanism, steps, near.near(points, self._margin, c.spring))
        memory.decay_share[:] = share
        memory.touch_watched[: nodes.size], memory.touch_listed[: nodes.size] = nodes, watched
        memory.touch_reach[:] = 0.5 * self._margin * (1.0 - 1e-9), nodes.size, 0.0
        self._bind(memory)
        self.lists += 1
        self._list_served = False

    def put(
        self, c: Configuration, history: Array, defect: Array, points: Callable[[], Array], prescribed: Array
    ) -> None:
        """Write the start of the next step into the memory: configuration, history and velocity defect.

        ``points`` returns the positions (k, d) of the nodes there, ``prescribed`` are prescribed quantities of
        springs.
        """
        self._list_near(c, points)
        c = c._replace(spring=own_springs(self.mechanism, self.memory, c.spring))
        for field, value in zip(self._at, c, strict=True):
            field[...] = value
        self.memory.trial_moved[:] = prescribed
        settle(self.memory, self.dim, self.parts.kinds.contact > 0)
        self.known, rows = len(history), self._history
        rows[len(rows) - self.known :] = history
        self._defect[:] = defect
        self._is_astray = False

    def name(self, start: Any) -> None:
        """Note that the memory holds the state of ``start``, which is then not written again while it is unchanged."""
        self.stands = None if self._is_astray else start

    @property
    def motion(self) -> int:
        """Number of floats in the memory for positions, velocities and quantities derived from them."""
        motion = self._parts[0]
        return motion.stop - motion.start

    def history(self) -> Array:
        """Copy of the rows of the last steps."""
        rows = self._history
        return rows[len(rows) - self.known :].copy()

    def between(self) -> tuple[Array, Array]:
        """Copies of the velocity defect (g,) and the energies at the start of the next step."""
        return self._defect.copy(), self._energy.copy()

    def take(
        self,
        table: Table | GaussTable,
        save_every: int,
        count: int,
        *,
        rows: Rows,
        solved: Index,
        calls: Calls | None = None,
    ) -> None:
        """Take the steps of a table and record them in ``rows``; ``solved[0]`` counts the finished ones.

        One of ``save_every`` steps is saved; ``count`` is the number of earlier steps of the run. ``calls`` are calls
        of controllers.
        """
        self.stands = None
        self._before[:] = self._kept
        try:
            self._run(table, (save_every, count), calls or self._none, rows, solved)
        finally:
            if solved[0] < (len(table.times) - 1) // self.substeps:
                self._back()
            self._taken(int(solved[0]))
            self._raise(is_solved=bool(solved[0] == (len(table.times) - 1) // self.substeps))

    def take_controlled(
        self,
        table: Table,
        pair: Pair,
        save: tuple[int, int],
        *,
        rows: Rows,
        solved: Index,
        calls: Calls | None = None,
    ) -> None:
        """Take pairs of steps through the times of a table, with lengths chosen by their error (see steps.controlled).

        ``pair`` has the state of step size control. ``save`` are the arguments ``save_every`` and ``count`` of
        :meth:`take`.
        """
        self.stands = None
        before, self.parts = self.parts, self.parts._replace(pair=pair)
        try:
            self._run(table, save, calls or self._none, rows, solved)
        finally:
            self.parts = before
            self._taken(int(solved[0]))
            self._raise(is_solved=True)

    def _run(self, table: Any, save: tuple[int, int], calls: Calls, rows: Rows, solved: Index) -> None:
        """Take the steps of a table by the loops.

        ``save`` are the arguments ``save_every`` and ``count`` of :meth:`take`.
        """
        course = Course(self.parts, calls, rows, solved, *save, self.known)
        run(self.memory, self.dim, self.kind, self._own(calls), table, course)

    def _own(self, calls: Calls) -> Any:
        """Options of the loops that only steps with impacts or collocation have; None for the exact scheme."""
        return None

    def row(self) -> Rows:
        """Arrays of zeros for the results of one step."""
        return Rows(*(np.zeros((1, width)) for width in self.widths))

    def step(self, table: Table | GaussTable, rows: Rows, solved: Index) -> bool:
        """Take the single step of a table, and overwrite ``rows`` with its results; True if it is solved."""
        solved[0], self.stands = 0, None
        rows.flow[...] = rows.audit[...] = 0.0
        self._run(table, (1, 0), self._none, rows, solved)
        if not solved[0]:
            self._back()
        else:
            self._taken(1)
        self._raise(is_solved=bool(solved[0]))
        return bool(solved[0])

    def _raise(self, *, is_solved: bool) -> None:
        """Raise the exception that a Python callback of the loops raised, or an interruption of a user's function.

        Another error of a user's function becomes the ``failure`` of steps that are not solved.
        """
        error = self._answers.ended() if self._answers is not None else None
        failed = failed_function(is_solved=is_solved)
        self.failure = failed if isinstance(failed, Exception) else None
        error = error or (None if isinstance(failed, Exception) else failed)
        if error is not None:
            self._back()
            raise error

    def _taken(self, steps: int) -> None:
        """Update the number of filled rows of history after ``steps`` finished steps."""
        self.known = min(self.known + steps * self.remembered, self.depth)
        self._list_served |= steps > 0

    def reached(self) -> Configuration:
        """Configuration at the end of the last trial step, from its last iterate."""
        return Configuration(*(field.copy() for field in self.memory.views(self._ends)))

    def within(self, given: CompiledCoupling) -> Within:
        """Data for the loops to call controllers that are solved within steps, after each trial solution of a step."""
        under_way = self.memory.span("run_history", "run_step_audit")
        kept = np.zeros(self.motion), np.zeros(under_way.stop - under_way.start)
        return Within(given.address, given.data, given.state, given.output, given.inputs, 0.0 * given.inputs, *kept)

    def snapshot(self) -> tuple[list[Array], int]:
        """Copy of all that the memory has of the start of the next step."""
        return [self.memory.reals[part].copy() for part in self._parts], self.known

    def go_back(self, kept: tuple[list[Array], int]) -> None:
        """Restore the start of a step from a copy by :meth:`snapshot`."""
        values, self.known = kept
        for part, kept_values in zip(self._parts, values, strict=True):
            self.memory.reals[part] = kept_values

    def _back(self) -> None:
        """Restore history, energies and velocity defect after a step that failed.

        The failed step has overwritten positions and velocities, which :meth:`put` must write again.
        """
        self._is_astray = True
        self._kept[:] = self._before


def _before_runs(mechanism: Model) -> InitialMemories:
    """Copies of the memory of a mechanism for the stages of Gauss collocation, as they are before a run."""
    return before_runs(mechanism.once(banded_memory))


class GaussSteps(Stepper):
    """Compiled steps of Gauss collocation, with a memory and a row of history for each stage."""

    kind = COLLOCATION
    _ends = _AT

    def __init__(self, mechanism: Model, accounts: Accounts, tableau: Tableau) -> None:
        super().__init__(mechanism, accounts, Parts(np.ones(1), np.ones(1), tableau.nodes.size, no_pair()))
        self.remembered = tableau.nodes.size
        self.stages = StageMemories(self.memory, mechanism.once(_before_runs), tableau)

    def _memory(self) -> Memory:
        return self.mechanism.once(banded_memory).copy()

    def _own(self, calls: Calls) -> Scheme:
        return self.stages.scheme
