"""Steps of a simulator with controllers, equal to those of a run over the same times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..control.control_loops import ControlLoops
from ..numerics.arrays import Array
from ..numerics.threads import one_thread
from ..sensors.quantities import LastStep
from .contact.steppers import blocks_with_contacts
from .simulator_steps import HeldInputs, NumpySteps
from .times.loop import Block, Going
from .times.protocols import Entry
from .times.sampled import ControlledForcing, one_by_one


class OuterInputs(HeldInputs):
    """Constant inputs in addition to the outputs that controllers hold."""

    def over(self, times: Array) -> Array:
        """Constant inputs, as one row."""
        return self.values[None]


class ControlledSteps:
    """Steps with controllers, split where a run would call one.

    A step that fails leaves the controllers unchanged.
    """

    def __init__(self, plain: NumpySteps, loops: ControlLoops, *, compiled: bool) -> None:
        self.plain, self.loops = plain, loops
        loops.read_steps = True  # sensors of the simulator may
        self.blocks = blocks_with_contacts(plain.mechanism, plain.stepper) if compiled else None
        self.going = Going(plain.start if self.blocks is None else self.blocks.put(plain.start))

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
        """See :attr:`flexph.integration.simulator_steps.Steps.last`."""
        return self.loops.last

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """See :meth:`flexph.integration.simulator_steps.Steps.take`."""
        before, start = self.loops.kept(), self.going.start
        times = np.array([start.time, start.time + h if end is None else end])
        try:
            with one_thread(self.plain.mechanism.largest_body):
                for entry in self._entries(times):
                    self._go_on(entry)
        except BaseException:
            self.loops.restore(before)
            self.going.start = start
            raise

    def _entries(self, times: Array) -> Iterator[Entry]:
        if self.blocks is None:
            return one_by_one(self.going, self.plain.stepper, self.loops, times, 1)
        from .blocks.sampled_steps import in_chunks

        return in_chunks(self.going, self.blocks, self.loops, times, 1)

    def _go_on(self, entry: Any) -> None:
        self.going.start = entry.end if isinstance(entry, Block) else entry.result.end

    def history(self) -> Array:
        """See :meth:`flexph.integration.simulator_steps.Steps.history`."""
        history: Array = self.going.start.history
        return history

    @property
    def controllers(self) -> Mapping[str, Any]:
        """States and memories of the controllers."""
        joined = self.loops.joined
        states = {} if joined is None else {c.name: x for c, x in zip(joined.controllers, joined.states, strict=True)}
        return states | self.loops.memories()


def forcing_of(inputs: HeldInputs, loops: ControlLoops | None) -> Any:
    """Forcing of the inputs and of the outputs that controllers hold."""
    return inputs if loops is None else ControlledForcing(inputs, loops)
