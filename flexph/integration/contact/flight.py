"""Steps of mechanisms with rigid contacts in compiled loops: all of them, or those in which contacts are open.

Loops take all steps, in which contacts strike and close, but of mechanisms that
:class:`flexph.integration.loops.near.NearPairs` leaves out. There they look at the gaps at both ends of each step,
and end before one at whose start a rigid contact touches, or in which a gap closes: :class:`RigidStepper` takes it.
What of its parts no contact holds are ways in loops, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.model.state import State
from ...numerics.arrays import Array
from ..blocks.block_stepper import BlockStepper
from ..exact.step import StepStart
from ..loops.between import AskedBetween
from ..loops.stepper import Stepper
from ..loops.strike_steps import StrikeSteps
from ..times.step_control import ErrorEstimate
from ..times.step_size import Tolerance
from .judged_pairs import JudgedPairs
from .parts import Part
from .stepper import RigidStepper

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism


class ContactBlocks(BlockStepper):
    """Many steps at once with rigid contacts; with a tolerance pairs of them are chosen by their error."""

    exact: RigidStepper

    def __init__(self, mechanism: Mechanism, stepper: RigidStepper, tolerance: Tolerance | None = None) -> None:
        self._tolerance = tolerance
        super().__init__(mechanism, stepper)

    def start(self, start: State) -> StepStart:
        """See :meth:`BlockStepper.start`; raises ValueError where bodies are in each other."""
        return self.put(self.exact.start(start))

    @property
    def estimate(self) -> ErrorEstimate | None:
        """See :attr:`BlockStepper.estimate`."""
        return None if self._tolerance is None else JudgedPairs(self.exact, self._tolerance, self)


class RigidBlocks(ContactBlocks):
    """Those in which all rigid contacts are open."""

    def __init__(self, mechanism: Mechanism, stepper: RigidStepper, tolerance: Tolerance | None = None) -> None:
        super().__init__(mechanism, stepper, tolerance)
        self.stepper = stepper.flying(CompiledFlight(self))


class StrikeBlocks(ContactBlocks):
    """Those in which contacts strike and close, too."""

    cost = 4.0  # of a step by NumPy, over that of one without contacts

    def _loops(self) -> Stepper:
        own = self.exact
        between = AskedBetween(self.mechanism, own.table, own.forcing)
        kinds = {"by_events": own.by_events, "least_norm": own.least_norm}
        return StrikeSteps(self.mechanism, own.accounts, between, **kinds, tell=own.tell_of_many)

    def start(self, start: State) -> StepStart:
        """See :meth:`BlockStepper.start`; raises ValueError where bodies are in each other."""
        return self.put(self.exact.start(start))


class CompiledFlight:
    """See :class:`flexph.integration.contact.parts.Flight`."""

    def __init__(self, blocks: BlockStepper) -> None:
        self._blocks, self._compiled = blocks, blocks.compiled
        self._rows, self._solved = self._compiled.row(), np.zeros(1, dtype=np.int64)
        self._from: tuple[StepStart, Any] | None = None
        self._table: Any = None

    def part(self, start: StepStart, time: float, closed: Array) -> Part | None:
        """See :meth:`Flight.part`."""
        if closed.size or not self._taken(start, time):
            return None
        state, _, stage, multipliers, flows, (audit,) = (rows.copy() for rows in self._rows)
        h, memory, none = time - start.time, self._compiled.memory, np.zeros(0)
        rubbed = memory.rub_force.reshape(memory.bearings_spring.shape).T
        friction = memory.bearings_friction
        pressing = np.divide(memory.rub_bound, friction, out=np.zeros_like(friction), where=friction > 0.0)
        impulses = h * np.vstack([pressing, rubbed])
        booked = flows[0], audit[:4], int(audit[4]), impulses.ravel(), none.astype(int), none.astype(bool)
        missed = audit[7] * float(memory.rub_scale[0]), float(memory.rub_scale[0])
        end, middle = self._blocks.end(time, state[0]), multipliers[0]
        return Part(end, h, stage[0], *booked, *missed, middle=middle, gaps=self._gaps())

    def gaps(self, start: StepStart, time: float, closed: Array) -> Array | None:
        """See :meth:`Flight.gaps`."""
        return self._gaps() if not closed.size and self._taken(start, time) else None

    def _gaps(self) -> Array:
        memory = self._compiled.memory
        gaps: Array = memory.touch_after[memory.contacts_rigid > 0]
        return gaps

    def _taken(self, start: StepStart, time: float) -> bool:
        """Whether the loops take the way from a start, which they may have taken to another time before."""
        compiled, times = self._compiled, np.array([start.time, time])
        if self._from is not None and self._from[0] is start:
            compiled.go_back(self._from[1])
        else:
            if start is not compiled.stands:
                self._blocks.put(start)
            self._from = start, compiled.kept()
        try:
            compiled.memory.touch_keeps_open[:] = 0.0
            return compiled.step(self._prescribed(times), self._rows, self._solved)
        finally:
            compiled.memory.touch_keeps_open[:] = 1.0

    def _prescribed(self, times: Array) -> Any:
        """What time prescribes between two times [s]; all but the inputs is asked for once where it is constant."""
        inputs = self._blocks.exact.forcing.at(float(0.5 * (times[0] + times[1])))[None]
        if self._table is None:
            between = self._blocks.table(np.linspace(times[0], times[1], 3))._replace(inputs=inputs)
            self._table = between if all(len(part) == 1 for part in between[1:]) else ()
        return (self._table or self._blocks.table(times))._replace(times=times, inputs=inputs)
