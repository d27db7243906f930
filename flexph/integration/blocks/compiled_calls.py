"""Controllers that compiled loops call before steps, and whose sensors they read; needs numba."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...control.agreement_arrays import LaidFeedback, feedback_arrays, laid_feedback
from ...control.compiled.data import Asked
from ...control.compiled.loops import CALLED, ask
from ...control.sampled import CalledLoop
from ...numerics.arrays import Array
from ...numerics.compiled.announcing import announced
from ...numerics.compiled.answering import Answering
from ...numerics.compiled.by_address import Laid, address_of

NO_PORTS = np.zeros(0, dtype=np.int64)


class CompiledCalls:
    """Those that are called before steps between some times, and hold: ``address`` and ``data`` for compiled loops.

    These read the sensors, call compiled feedback, and have ``answered`` called with the number of any other one and
    the time and numbers that it sees; what that raises is the ``error``.
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
        self._answering, self._time = Answering(self._answer, well=1), float(times[0])
        self._laid = [self._called(k, c, x) for k, c in enumerate(called)]
        addresses = np.array([own.address for own in self._laid], dtype=np.int64)
        self._asked = Laid(Asked(np.ascontiguousarray(times), x.copy(), rows, held, due, addresses))
        self.data = self._asked.address
        with announced():
            self.address = address_of(ask, (0, 0))

    def _called(self, k: int, c: CalledLoop, x: Array) -> LaidFeedback:
        if c.compiled is not None:
            return laid_feedback(c.compiled, x, self._time, c.near)
        seen, near = c.panel.read(x, c.near)
        start = np.concatenate([np.zeros(0), *map(np.ravel, seen.values())])
        given = np.zeros(1 + start.size)
        call = Laid((given[:1], given[1:], np.zeros(0)))
        return LaidFeedback(
            given, feedback_arrays(c.panel, (start, near), call, (self._answering.address, k, NO_PORTS)), call
        )

    def _answer(self, k: int) -> None:
        self._answered(k, self._laid[k].given.tolist())

    @property
    def error(self) -> BaseException | None:
        """What ended the calls."""
        return self._answering.error

    def calls(self) -> list[tuple[int, list[float]]]:
        """How often each was called, and what its angles are next to."""
        return [(int((due == CALLED).sum()), own.near) for due, own in zip(self.due.T, self._laid, strict=True)]
