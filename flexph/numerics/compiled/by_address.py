"""Tuples of arrays by their address: one whole number that compiled functions take in place of all of them.

To hand a tuple of twenty arrays to compiled code takes longer than a short loop; it is laid out once, as numba has it.
"""

from __future__ import annotations

import struct
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.cgutils import ir  # that of llvmlite
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


def address_of(dispatcher: Any, example: tuple[Any, ...]) -> int:
    """The address of an entry of whole numbers, such as those of an example, to a whole number; for `call_at`."""
    signature = tuple(map(numba.typeof, example))
    dispatcher.compile(signature)
    code = dispatcher.overloads[signature]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_cfunc_wrapper_name))


@intrinsic
def call_at(context: Any, address: Any, given: Any) -> Any:
    """Call the function at an address with a tuple of whole numbers; the whole number that it returns."""

    def build(target: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = target.get_value_type(types.intp)
        each = [builder.extract_value(args[1], i) for i in range(len(given))]
        function = ir.FunctionType(whole, [whole] * len(each))
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), each)

    return types.intp(types.intp, given), build


def _words(value: Any) -> list[int]:
    """What compiled code has of a value, eight bytes each: arrays have no owner there, and are not counted."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("arrays must be in C order")
        return [0, 0, value.size, value.itemsize, int(value.ctypes.data), *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for own in value for word in _words(own)]
    return list(struct.unpack("q", struct.pack("d" if isinstance(value, float) else "q", value)))
