"""Controllers that a loop of compiled steps calls before those of its steps that begin at one of their calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.core.cgutils import ir  # that of llvmlite
from numba.extending import intrinsic

from ....numerics.arrays import Array
from ..loops.motion import copy
from ..memory.data import Index
from ..memory.kernel import kernel


class Calls(NamedTuple):
    """Who is called before which of n steps, and what is held in them; none of it where there are no controllers."""

    address: int
    """Of a function of the number of a step, which returns zero where all is well and has set ``held``."""
    due: Index  # (n,), 1 before steps at whose start it is called
    held: Array  # (i,), inputs that go on until the next call
    booked: Array  # (n, i), what was held in each step


def no_calls() -> Calls:
    """Of steps under inputs that are known before."""
    return Calls(0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)))


@intrinsic
def call_at(context: Any, address: Any, step: Any) -> Any:
    """Call the function at an address with a whole number; the whole number that it returns."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = target.get_value_type(types.intp)
        function = builder.inttoptr(args[0], ir.FunctionType(whole, [whole]).as_pointer())
        return builder.call(function, [args[1]])

    return types.intp(types.intp, types.intp), build


@kernel
def hold(calls: Calls, inputs: Array, step: int, points: int) -> bool:
    """Call those whose time has come, and add what all hold to the inputs of a step; False where a call fails.

    Inputs have so many rows for each step.
    """
    if calls.due[step] and call_at(calls.address, step) != 0:
        return False
    for p in range(step * points, (step + 1) * points):
        for i in range(calls.held.size):
            inputs[p, i] += calls.held[i]
    copy(calls.held, calls.booked[step])
    return True


class Answering:
    """A function of Python that loops call by its ``address``, and the error that ended it.

    It is a generator: whatever is raised between its entry and its end, an interruption among it, is raised inside.
    """

    def __init__(self, answer: Callable[[int], None]) -> None:
        self.error: BaseException | None = None
        self._steps = self._answers(answer)
        next(self._steps)
        self._entry = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_ssize_t)(self._steps.send)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def _answers(self, answer: Callable[[int], None]) -> Generator[int, int, None]:
        try:
            step = yield 0
            while True:
                answer(step)
                step = yield 0
        except GeneratorExit:
            raise
        except BaseException as error:
            self.error = error
        yield 1
