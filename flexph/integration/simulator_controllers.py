"""Steps of a simulator with controllers, equal to those of a run over the same times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control.control_loops import ControlLoops
from ..mechanisms.model.state import State
from ..numerics.arrays import Array
from ..sensors.quantities import LastStep
from .blocks.of_scheme import blocks_of
from .simulator_steps import HeldInputs
from .times.loop import Accepted, Block, Going
from .times.sampled import ControlledForcing
from .with_controllers.sampled_steps import in_chunks

if TYPE_CHECKING:
    from .schemes.scheme import Scheme


class OuterInputs(HeldInputs):
    """Constant inputs in addition to the outputs that controllers hold."""

    def over(self, times: Array) -> Array:
        """Constant inputs, as one row."""
        return self.values[None]


class ControlledSteps:
    """Steps with controllers, split where a run would call one.

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
        """See :attr:`flexph.integration.simulator_steps.Steps.last`."""
        return self.loops.last

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """See :meth:`flexph.integration.simulator_steps.Steps.take`."""
        before, start = self.loops.kept(), self.going.start
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
