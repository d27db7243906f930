"""Steps of a simulator under constant inputs, by NumPy kernels or compiled loops."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..mechanisms.mechanism import Mechanism
from ..numerics.arrays import Array
from ..numerics.threads import one_thread
from ..sensors.quantities import LastStep
from ..systems.inputs import Forcing
from .contact.steppers import blocks_with_contacts
from .exact.step import Stepper, StepStart

if TYPE_CHECKING:
    from .blocks.block_stepper import BlockStepper
    from .loops.memory.structures import Rows


MOST = 64
"""Largest number of equal steps for which drives are evaluated ahead."""


class HeldInputs(Forcing):
    """Constant inputs, until others are set."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._of = mechanism.network.input_slices, mechanism.layout.dim
        super().__init__(self._of[0], {}, self._of[1])
        self._none = self.values = super().at(0.0)

    def hold(self, inputs: Mapping[str, Any] | None) -> None:
        """Set the inputs."""
        slices, dim = self._of
        self.values = Forcing(slices, inputs, dim).at(0.0) if inputs else self._none

    def at(self, time: float) -> Array:
        """Constant inputs."""
        return self.values

    def over(self, times: Array) -> Array:
        """Zero inputs, as one row: steps receive the actual ones separately."""
        return np.zeros_like(self.values)[None]


class Steps(Protocol):
    """Steps from one state to the next."""

    @property
    def time(self) -> float:
        """Current time [s]."""

    @property
    def x(self) -> Array:
        """Current flat state."""

    @property
    def last(self) -> LastStep:
        """Record of the last step: before the first one, the multipliers of the start and zero length."""

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """Take a step of h [s], or to the time ``end`` if given; raises StepFailed."""

    def history(self) -> Array:
        """History from which the next step starts its iteration."""

    @property
    def controllers(self) -> Mapping[str, Any]:
        """States and memories of the controllers."""


class NumpySteps:
    """Steps by the NumPy kernels."""

    controllers: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, mechanism: Mechanism, stepper: Stepper, start: StepStart, multipliers: Array) -> None:
        self.mechanism, self.stepper, self.start = mechanism, stepper, start
        self.last = LastStep.none(multipliers, start.x)

    @property
    def time(self) -> float:
        """Current time [s]."""
        return self.start.time

    @property
    def x(self) -> Array:
        """Current flat state."""
        return self.start.x

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """See :meth:`Steps.take`."""
        start, end = self.start, self.start.time + h if end is None else end
        with one_thread(self.mechanism.largest_body):
            result = self.stepper.step(start, end)
        self.start, self.last = result.end, LastStep(result.multipliers, result.flows, end - start.time, start.x)

    def history(self) -> Array:
        """See :meth:`Steps.history`."""
        return self.start.history


class CompiledSteps:
    """Steps by compiled loops; the NumPy kernels take a step that these do not solve."""

    controllers: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, plain: NumpySteps) -> None:
        from .loops.memory.structures import Rows

        self.blocks = blocks_with_contacts(plain.mechanism, plain.stepper)
        start = self.blocks.put(plain.start)
        self.plain = NumpySteps(plain.mechanism, self.blocks.stepper, start, plain.last.multipliers)
        self.time, self.x, self.last = start.time, start.x, plain.last
        self.ahead = _TablesAhead(self.blocks)
        self.rows: Rows = Rows(*(np.zeros((1, width)) for width in self.blocks.compiled.widths))
        self.solved = np.zeros(1, dtype=np.int64)

    def take(self, h: float, inputs: Array, end: float | None) -> None:
        """See :meth:`Steps.take`."""
        table, end = self.ahead.step(self.time, h, inputs, end)
        if self.blocks.compiled.step(table, self.rows, self.solved):
            multipliers, flows = self.rows.multipliers[0].copy(), self.rows.flow[0].copy()
            self.last = LastStep(multipliers, flows, end - self.time, self.x)
            self.x = self.rows.state[0].copy()
        else:
            self.plain.start = self.blocks.end(self.time, self.x)
            try:
                self.plain.take(h, inputs, end)
            finally:
                self.blocks.put(self.plain.start)
            self.x, self.last = self.plain.x, self.plain.last
        self.time = end

    def history(self) -> Array:
        """See :meth:`Steps.history`."""
        return self.blocks.compiled.history()


class _TablesAhead:
    """Tables of prescribed quantities for several equal steps ahead."""

    def __init__(self, blocks: BlockStepper) -> None:
        self.blocks = blocks
        self.times: Array = np.zeros(1)
        self.h = 0.0
        self.next, self.count = 0, 0
        self.window: Any = None

    def step(self, time: float, h: float, inputs: Array, end: float | None = None) -> tuple[Any, float]:
        """Table of the step from a time, and its end time."""
        if end is not None:
            self._ask(time, h, np.array([time, end]))
        elif self.next == self.count or h != self.h or time != self.times[self.next]:
            self._ask(time, h)
        k, self.next = self.next, self.next + 1
        return self.window.at(k, inputs), float(self.times[k + 1])

    def _ask(self, time: float, h: float, times: Array | None = None) -> None:
        from .blocks.window import Window

        goes_on = times is None and h == self.h and time == self.times[-1]
        self.count = min(2 * self.count, MOST) if goes_on else 1
        self.h, self.next = h, 0
        self.times = time + h * np.arange(self.count + 1) if times is None else times
        try:
            table = self.blocks.table(self.times)
        except ValueError:  # of a drive that ends before the last step: evaluate it for one step
            self.count, self.times = 1, self.times[:2]
            table = self.blocks.table(self.times)
        self.window = Window(table, self.blocks.spans())
