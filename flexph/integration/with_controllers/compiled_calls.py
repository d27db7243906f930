"""Controllers that the loops call before steps, with sensors read by the loops."""

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
    """Sampled controllers for the loops over steps, which receive ``address`` and ``data``.

    The loops read the sensors and call functions of feedback. For any other controller they call ``answered`` with its
    number, the time and its readings. An exception raised there is kept as ``error``.
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
        """Exception that ended the calls, or None."""
        return next((own.error for own in self._laid if own.error is not None), None)

    def calls(self) -> list[tuple[int, list[float]]]:
        """Number of calls of each controller, and the reference values of its angles."""
        return [(int((due == CALLED).sum()), own.near) for due, own in zip(self.due.T, self._laid, strict=True)]
