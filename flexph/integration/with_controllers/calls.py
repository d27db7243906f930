"""Calls of sampled controllers before compiled steps, by Python or by the loops; and chunks of such steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.coupled_controllers import ControllersStep
from ...control.coupling_arrays import Call, FeedbackArrays, feedback_arrays
from ...control.loops.coupling import call_feedback_address
from ...control.loops.data import CALLED, HeldFeedback
from ...control.sampled import CalledLoop
from ...numerics.arrays import Array
from ...numerics.loops.callbacks import WHOLE, Callback, Struct
from ...sensors.quantities import LastStep
from ..blocks.block_stepper import BlockStepper
from ..loops.memory.structures import Rows
from ..times.controlled_runs import Plan
from ..times.loop import Block, Going

if TYPE_CHECKING:
    from ...control.coupling import CompiledCoupling


class Chunk:
    """Chunk of the steps of a run with controllers, and the rows of its results.

    ``held`` are the inputs that controllers hold in each step. Results of continuous controllers are in ``coupled``, by
    step, if Python solves them, else in ``controller_rows``, by column. ``done`` counts the finished steps; ``failed``
    is True if the next one is unsolved.
    """

    def __init__(self, run: Going, blocks: BlockStepper, loops: ControlLoops, which: tuple[Plan, int]) -> None:
        self.run, self.blocks, self.loops = run, blocks, loops
        self.plan, most = which
        self.times = self.plan.times[self.plan.next - 1 : self.plan.next + most]
        self.rows = Rows(*(np.zeros((self.times.size - 1, width)) for width in blocks.compiled.widths))
        self.held = np.zeros((self.times.size - 1, loops.held.size))
        self.coupled: list[ControllersStep] = []
        self.controller_rows: dict[str, Array] = {}
        self.done, self.failed = 0, False

    def last(self, k: int) -> LastStep:
        """Results of the step before step k, as controllers read them.

        If no controller reads results of steps, the results of the last step before the chunk are returned.
        """
        if not (k and self.loops.read_steps):
            return self.loops.last
        before = self.rows.state[k - 2] if k > 1 else self.run.start.x
        length = float(self.times[k] - self.times[k - 1])
        return LastStep(self.rows.multipliers[k - 1], self.rows.flow[k - 1], length, before)

    def table(self) -> Any:
        """Table of prescribed quantities over the chunk; its inputs do not include those that controllers hold."""
        held = self.loops.held.copy()
        self.loops.held[:] = 0.0
        try:
            return self.blocks.table(self.times)
        finally:
            self.loops.held[:] = held

    def own_inputs(self) -> Any:
        """Table as of :meth:`table`, with separate input rows for each step even if the inputs are constant."""
        table = self.table()
        if len(table.inputs) > 1:
            return table
        rows = (len(self.times) - 1) * self.blocks.points
        return table._replace(inputs=np.repeat(table.inputs, rows, axis=0))

    def block(self) -> Block:
        """Block of the finished steps with the values of controllers, to be recorded."""
        span = slice(self.plan.next, self.plan.next + self.done)
        last = self.last(self.done)
        self.loops.last = LastStep(last.multipliers.copy(), last.flows.copy(), last.length, last.before.copy())
        values = self.blocks.columns(self.times, self.rows, np.arange(1, self.done + 1))
        values["held"] = self.held[: self.done]
        if self.coupled:
            rows = [step.row() for step in self.coupled]
            self.controller_rows = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        values |= self.controller_rows
        end = self.blocks.end(float(self.times[self.done]), self.rows.state[self.done - 1].copy())
        return Block(
            values, self.plan.saved[span], end, int(self.plan.of_grid[span].sum()), restart=self.loops.snapshot()
        )


NO_PORTS = np.zeros(0, dtype=np.int64)


class CompiledCalls:
    """Calls of sampled controllers by the loops over steps, which receive ``address`` and ``data``.

    The loops read the sensors and call functions of feedback. For any other controller they call ``call_python`` with
    its number, and the time followed by its readings. An exception raised there is kept as ``error``.
    """

    def __init__(
        self,
        called: Sequence[CalledLoop],
        call_python: Callable[[int, list[float]], None],
        times: Array,
        states: tuple[Array, Array],
        *,
        held: Array,
        due: np.ndarray,
    ) -> None:
        (x, rows), self.due, self._call_python = states, due, call_python
        self._callback = Callback(self._call_controller, WHOLE, 0)
        self._arrays = [self._called(k, c, x) for k, c in enumerate(called)]
        addresses = np.array([block.address for block in self._arrays], dtype=np.int64)
        self._feedback = Struct(HeldFeedback(np.ascontiguousarray(times), x.copy(), rows, held, due, addresses))
        self.address, self.data = call_feedback_address(), self._feedback.address

    def _called(self, k: int, c: CalledLoop, x: Array) -> FeedbackArrays:
        if c.feedback is not None:
            return feedback_arrays(c.feedback, x, c.near)
        seen, near = c.panel.read(x, c.near)
        start = np.concatenate([np.zeros(0), *map(np.ravel, seen.values())])
        call = Call(self._callback.address, k, False, np.zeros(1), np.zeros(start.size), np.zeros(0), self._callback)
        return FeedbackArrays(c.panel, (start, near), NO_PORTS, call)

    def _call_controller(self, k: int) -> int:
        call = self._arrays[k].call
        self._call_python(k, [call.time.item(), *call.readings.tolist()])
        return 1

    @property
    def error(self) -> BaseException | None:
        """Exception raised by a controller, which ended the calls; else None."""
        return next((block.error for block in self._arrays if block.error is not None), None)

    def calls(self) -> list[tuple[int, list[float]]]:
        """For each controller: the number of its calls, and the values from which its angles are unwrapped next."""
        return [(int((due == CALLED).sum()), block.near) for due, block in zip(self.due.T, self._arrays, strict=True)]


def call(chunk: Chunk, k: int) -> None:
    """Call the controllers that are due at the start of step k of a chunk."""
    x = chunk.rows.state[k - 1] if k else chunk.run.start.x
    chunk.loops.call(float(chunk.times[k]), x, chunk.last(k))


class CallsByStep:
    """Calls of sampled controllers by Python, which reads all sensors.

    At the start of each step the loops call the function at ``address`` with the number of the step.
    """

    data = 0

    def __init__(self, chunk: Chunk, coupling: CompiledCoupling | None) -> None:
        def call_all(k: int) -> int:
            call(chunk, k)
            if coupling is not None:
                coupling.hold(k)
            return 0

        self._callback = Callback(call_all, WHOLE, 1)
        self.address = self._callback.address

    @property
    def error(self) -> BaseException | None:
        """Exception raised by a controller, which ended the calls; else None."""
        return self._callback.error

    def calls(self) -> list[tuple[int, list[float]]]:
        """Empty list, since Python has counted the calls itself."""
        return []


def calls_read_compiled(chunk: Chunk, due: np.ndarray, coupling: CompiledCoupling | None) -> CompiledCalls:
    """Calls of the controllers of a chunk by the loops, which read all sensors.

    ``due`` marks the controllers (columns) to be called at the start of each step (rows). ``coupling`` are
    controllers that are solved within steps.
    """

    loops, start = chunk.loops, chunk.run.start.x

    def call_python(k: int, seen: list[float]) -> None:
        loops.answer(k, seen)
        if coupling is not None:
            coupling.hold(int(np.searchsorted(chunk.times, seen[0])))

    answer = loops.answer if coupling is None else call_python
    return CompiledCalls(loops.called, answer, chunk.times, (start, chunk.rows.state), held=loops.held, due=due)
