"""Steps of a simulator under constant inputs and with controllers, equal to those of a run over the same times."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..control.control_loops import ControlLoops
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics.arrays import Array
from ..sensors.quantities import LastStep
from ..systems.inputs import Forcing
from .blocks.in_blocks import blocks_of
from .blocks.single_steps import StepTable
from .times.controlled_runs import ControlledForcing
from .times.loop import Accepted, Block, Going
from .with_controllers.sampled_steps import in_chunks

if TYPE_CHECKING:
    from .blocks.block_stepper import BlockStepper
    from .schemes.scheme import Scheme


MOST = 64
"""Largest number of equal steps for which drives are evaluated ahead."""


class HeldInputs(Forcing):
    """Inputs of a mechanism that stay constant until :meth:`hold` sets new ones."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._of = mechanism.network.input_slices, mechanism.layout.dim
        super().__init__(self._of[0], {}, self._of[1])
        self._none = self.values = super().at(0.0)

    def hold(self, inputs: Mapping[str, Any] | None) -> None:
        """Set the inputs of the steps that follow, by external port; ports not named get zero."""
        slices, dim = self._of
        self.values = Forcing(slices, inputs, dim).at(0.0) if inputs else self._none

    def at(self, time: float) -> Array:
        """Held inputs (m,), the same at all times."""
        return self.values

    def at_times(self, times: Array, ends: tuple[float, float] | None = None) -> Array:
        """Zeros (1, m) for the m inputs at any times, since the steps of a simulator add the held inputs themselves."""
        return np.zeros_like(self.values)[None]


class Steps(Protocol):
    """Protocol of the objects that take the steps of a simulator and store its current state."""

    @property
    def time(self) -> float:
        """Current time [s]."""

    @property
    def x(self) -> Array:
        """Current flat state."""

    @property
    def last(self) -> LastStep:
        """Multipliers, energy flows, length and initial flat state of the last step.

        Before the first step: multipliers of the start, and a length of zero.
        """

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """Take a step of h [s], or to the time ``end`` if given, under constant inputs; raises StepFailed."""

    def history(self) -> Array:
        """Rows of the last steps, from which the next one predicts the start of its iteration."""

    @property
    def controllers(self) -> Mapping[str, Any]:
        """States and memories of the controllers by name."""


class PlainSteps:
    """Steps of a simulator without controllers."""

    controllers: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, scheme: Scheme, start: State) -> None:
        self.blocks = blocks_of(scheme)
        begun = self.blocks.start(start)
        self.time, self.x, self.last = begun.time, begun.x, LastStep.none(start.multipliers, begun.x)
        self.ahead = _TablesAhead(self.blocks)
        self.rows, self.solved = self.blocks.compiled.row(), np.zeros(1, dtype=np.int64)

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """Take a step of h [s], or to the time ``end`` if given, under constant inputs; raises StepFailed."""
        table, end = self.ahead.step(self.time, h, inputs, end)
        if self.blocks.compiled.step(table, self.rows, self.solved):
            multipliers, flows = self.rows.multipliers[0].copy(), self.rows.flow[0].copy()
            self.last = LastStep(multipliers, flows, end - self.time, self.x)
            self.x = self.rows.state[0].copy()
        else:
            self._take_singly(end)
        self.time = end

    def _take_singly(self, end: float) -> None:
        """Take a step to the time ``end``, in several substeps if it cannot be solved in one.

        If it fails, raise StepFailed and stay at the start of the step.
        """
        start = self.blocks.end(self.time, self.x)
        try:
            result = self.blocks.step(start, end)
        except BaseException:
            self.blocks.put(start)
            raise
        self.last = LastStep(result.multipliers, result.flows, end - self.time, self.x)
        self.x = result.end.x

    def history(self) -> Array:
        """Rows of the last steps, from which the next one predicts the start of its iteration."""
        return self.blocks.compiled.history()


class _TablesAhead:
    """Tables of prescribed quantities such as drives, evaluated for several equal steps ahead."""

    def __init__(self, blocks: BlockStepper) -> None:
        self.blocks = blocks
        self.times: Array = np.zeros(1)
        self.h = 0.0
        self.next, self.count = 0, 0
        self.window: Any = None

    def step(self, time: float, h: float, inputs: Array, end: float | None = None) -> tuple[Any, float]:
        """Table of the step from ``time`` to ``end``, by default h [s] long, under ``inputs``; and its end time."""
        if end is not None:
            self._ask(time, h, np.array([time, end]))
        elif self.next == self.count or h != self.h or time != self.times[self.next]:
            self._ask(time, h)
        k, self.next = self.next, self.next + 1
        return self.window.at(k, inputs), float(self.times[k + 1])

    def _ask(self, time: float, h: float, times: Array | None = None) -> None:
        goes_on = times is None and h == self.h and time == self.times[-1]
        self.count = min(2 * self.count, MOST) if goes_on else 1
        self.h, self.next = h, 0
        self.times = time + h * np.arange(self.count + 1) if times is None else times
        try:
            table = self.blocks.table(self.times)
        except ValueError:  # of a drive that ends before the last step: evaluate it for one step
            self.count, self.times = 1, self.times[:2]
            table = self.blocks.table(self.times)
        self.window = StepTable(table, self.blocks.spans())


class OuterInputs(HeldInputs):
    """Constant inputs given to a simulator, which are added to the outputs that controllers hold."""

    def at_times(self, times: Array, ends: tuple[float, float] | None = None) -> Array:
        """Held inputs as one row (1, m), for any times."""
        return self.values[None]


class ControlledSteps:
    """Steps of a simulator with controllers, split at the times at which a controller is called, as in a run.

    A step that fails leaves the controllers unchanged.
    """

    def __init__(self, scheme: Scheme, start: State, loops: ControlLoops) -> None:
        self.loops, self.blocks = loops, blocks_of(scheme)
        loops.read_steps = True  # sensors of the simulator may
        self.going = Going(self.blocks.start(start))

    @property
    def time(self) -> float:
        """Current time [s]."""
        time: float = self.going.start.time
        return time

    @property
    def x(self) -> Array:
        """Current flat state."""
        x: Array = self.going.start.x
        return x

    @property
    def last(self) -> LastStep:
        """Multipliers, energy flows, length and initial flat state of the last step.

        Before the first step: multipliers of the start, and a length of zero.
        """
        return self.loops.last

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """Take a step of h [s], or to the time ``end`` if given, split at calls of controllers.

        ``inputs`` are ignored: they are in the forcing of the steps already (:func:`forcing_of`). Raises StepFailed.
        """
        before, start = self.loops.snapshot(), self.going.start
        times = np.array([start.time, start.time + h if end is None else end])
        try:
            for entry in in_chunks(self.going, self.blocks, self.loops, times, 1):
                assert isinstance(entry, Block | Accepted)
                self.going.start = entry.end if isinstance(entry, Block) else entry.result.end
        except BaseException:
            self.loops.restore(before)
            self.going.start = start
            raise

    def history(self) -> Array:
        """Rows of the last steps, from which the next one predicts the start of its iteration."""
        history: Array = self.going.start.history
        return history

    @property
    def controllers(self) -> Mapping[str, Any]:
        """States and memories of the controllers by name."""
        coupled = self.loops.coupled
        states = (
            {} if coupled is None else {c.name: x for c, x in zip(coupled.controllers, coupled.states, strict=True)}
        )
        return states | self.loops.memories()


def forcing_of(inputs: HeldInputs, loops: ControlLoops | None) -> Any:
    """Forcing of a simulator: the given inputs, plus the outputs that controllers hold if there are control loops."""
    return inputs if loops is None else ControlledForcing(inputs, loops)
