"""Tuples of arrays by their address: one whole number that compiled functions take in place of all of them.

To hand a tuple of twenty arrays to compiled code takes longer than a short loop; it is laid out once, as numba has it.
"""

from __future__ import annotations

import struct
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic


class Laid:
    """A tuple of arrays, numbers and such tuples, as it lies in the memory of compiled code from an ``address`` on."""

    def __init__(self, value: tuple[Any, ...]) -> None:
        self.value = value  # whose arrays are not let go before
        self._words = np.array(_words(value), dtype=np.int64)
        self.address = int(self._words.ctypes.data)


def taken_from(example: tuple[Any, ...]) -> Any:
    """A compiled function from the address of a tuple, all of whose types are those of an example, to the tuple."""
    kind = numba.typeof(example)

    @intrinsic
    def take(context: Any, address: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(builder.inttoptr(args[0], target.get_value_type(kind).as_pointer()))

        return kind(types.intp), build

    return take


def _words(value: Any) -> list[int]:
    """What compiled code has of a value, eight bytes each: arrays have no owner there, and are not counted."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("arrays must be in C order")
        return [0, 0, value.size, value.itemsize, int(value.ctypes.data), *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for own in value for word in _words(own)]
    return list(struct.unpack("q", struct.pack("d" if isinstance(value, float) else "q", value)))
