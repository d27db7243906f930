"""Controllers that loops call before steps, and whose sensors they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...control.agreement_arrays import Call, LaidFeedback, laid_feedback
from ...control.loops.agreement import ask_address
from ...control.loops.data import CALLED, Asked
from ...control.sampled import CalledLoop
from ...numerics.arrays import Array
from ...numerics.loops.callbacks import WHOLE, Callback, Struct

NO_PORTS = np.zeros(0, dtype=np.int64)


class CompiledCalls:
    """Those that are called before steps between some times, and hold: ``address`` and ``data`` for loops over steps.

    These read the sensors, call the functions of feedback, and have ``answered`` called with the number of any other
    controller and the time and numbers that it sees; what a function of these raises is the ``error``.
    """

    def __init__(
        self,
        called: Sequence[CalledLoop],
        answered: Callable[[int, list[float]], None],
        times: Array,
        states: tuple[Array, Array],
        *,
        held: Array,
        due: np.ndarray,
    ) -> None:
        (x, rows), self.due, self._answered = states, due, answered
        self._answering = Callback(self._answer, WHOLE, 0)
        self._laid = [self._called(k, c, x) for k, c in enumerate(called)]
        addresses = np.array([own.address for own in self._laid], dtype=np.int64)
        self._asked = Struct(Asked(np.ascontiguousarray(times), x.copy(), rows, held, due, addresses))
        self.address, self.data = ask_address(), self._asked.address

    def _called(self, k: int, c: CalledLoop, x: Array) -> LaidFeedback:
        if c.feedback is not None:
            return laid_feedback(c.feedback, x, c.near)
        seen, near = c.panel.read(x, c.near)
        start = np.concatenate([np.zeros(0), *map(np.ravel, seen.values())])
        call = Call(self._answering.address, k, False, np.zeros(1), np.zeros(start.size), np.zeros(0), self._answering)
        return LaidFeedback(c.panel, (start, near), NO_PORTS, call)

    def _answer(self, k: int) -> int:
        call = self._laid[k].call
        self._answered(k, [call.time.item(), *call.readings.tolist()])
        return 1

    @property
    def error(self) -> BaseException | None:
        """What ended the calls."""
        return next((own.error for own in self._laid if own.error is not None), None)

    def calls(self) -> list[tuple[int, list[float]]]:
        """How often each was called, and what its angles are next to."""
        return [(int((due == CALLED).sum()), own.near) for due, own in zip(self.due.T, self._laid, strict=True)]
