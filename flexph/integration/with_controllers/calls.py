"""Calls of controllers before compiled steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.loops.callbacks import WHOLE, Callback
from .chunk import Chunk

if TYPE_CHECKING:
    from ...control.agreement import CompiledAgreement
    from .compiled_calls import CompiledCalls


def call(chunk: Chunk, k: int) -> None:
    """Call the controllers that are due at the start of the k-th step."""
    x = chunk.rows.state[k - 1] if k else chunk.run.start.x
    chunk.loops.call(float(chunk.times[k]), x, chunk.last(k))


class CallsByStep:
    """Controller calls by Python, which reads all sensors; the loops call ``address`` with the number of a step."""

    data = 0

    def __init__(self, chunk: Chunk, agreement: CompiledAgreement | None) -> None:
        def answer(k: int) -> int:
            call(chunk, k)
            if agreement is not None:
                agreement.hold(k)
            return 0

        self._answering = Callback(answer, WHOLE, 1)
        self.address = self._answering.address

    @property
    def error(self) -> BaseException | None:
        """Exception that ended the calls, or None."""
        return self._answering.error

    def calls(self) -> list[tuple[int, list[float]]]:
        """Calls to be recorded: none, as Python has recorded them."""
        return []


def calls_read_compiled(chunk: Chunk, due: np.ndarray, agreement: CompiledAgreement | None) -> CompiledCalls:
    """Controller calls by the loops, which read all sensors."""
    from .compiled_calls import CompiledCalls

    loops, start = chunk.loops, chunk.run.start.x

    def answered(k: int, seen: list[float]) -> None:
        loops.answer(k, seen)
        if agreement is not None:
            agreement.hold(int(np.searchsorted(chunk.times, seen[0])))

    answer = loops.answer if agreement is None else answered
    return CompiledCalls(loops.called, answer, chunk.times, (start, chunk.rows.state), held=loops.held, due=due)
