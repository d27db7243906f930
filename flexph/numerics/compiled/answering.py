"""Functions of Python that compiled code calls by their address."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator


class Answering:
    """A function of Python that compiled code calls by its ``address``, and the ``error`` that ended it.

    Compiled code is told ``well`` where there was no error, 0 or 1, and the other number where there was one. It is a
    generator: whatever is raised between its entry and its end, an interruption among it, is raised inside.
    """

    def __init__(self, answer: Callable[[int], None], *, well: int = 0) -> None:
        self.error: BaseException | None = None
        self._steps = self._answers(answer, well)
        next(self._steps)
        self._entry = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_ssize_t)(self._steps.send)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def _answers(self, answer: Callable[[int], None], well: int) -> Generator[int, int, None]:
        waits = True
        try:
            given = yield well
            while True:
                waits = False
                answer(given)
                waits = True
                given = yield well
        except BaseException as error:
            if waits and isinstance(error, GeneratorExit):  # nobody will call any more
                return
            self.error = error
        yield 1 - well
