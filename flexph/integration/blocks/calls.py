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
    """Call those whose time has come where the k-th step begins."""
    x = chunk.rows.state[k - 1] if k else chunk.run.start.x
    chunk.loops.call(float(chunk.times[k]), x, chunk.last(k))


class CallsByStep:
    """Calls before steps, of which Python reads all sensors: their ``address`` is called with the number of a step."""

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
        """What ended the calls."""
        return self._answering.error

    def calls(self) -> list[tuple[int, list[float]]]:
        """What is to be booked, which is nothing."""
        return []


def calls_read_compiled(chunk: Chunk, due: np.ndarray, agreement: CompiledAgreement | None) -> CompiledCalls:
    """Calls before steps, of which the loops read all sensors."""
    from .compiled_calls import CompiledCalls

    loops, start = chunk.loops, chunk.run.start.x

    def answered(k: int, seen: list[float]) -> None:
        loops.answer(k, seen)
        if agreement is not None:
            agreement.hold(int(np.searchsorted(chunk.times, seen[0])))

    answer = loops.answer if agreement is None else answered
    return CompiledCalls(loops.called, answer, chunk.times, (start, chunk.rows.state), held=loops.held, due=due)
