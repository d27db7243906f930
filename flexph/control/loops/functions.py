"""Calls of users' C functions as feedback; Python functions go through numerics.loops.callbacks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from scipy import LowLevelCallable

from ...numerics.arrays import Array
from ...numerics.loops.callbacks import c_function

SIGNATURE = "int (double, double *, double *, void *)"
"""C signature: time, readings, inputs to write, user data; returns 1 on success."""
_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *(ctypes.c_void_p,) * 3)


def call_function(address: int, time: float, readings: Array, inputs: Array, user_data: int) -> bool:
    """Call a C function of type SIGNATURE at an address; True if it has written ``inputs``."""
    function = _C_TYPE(int(address))
    done: int = function(float(time), readings.ctypes.data, inputs.ctypes.data, int(user_data))
    return done == 1


def python_function(given: LowLevelCallable, inputs: int) -> Callable[[float, Array], Array]:
    """Python function (time, readings) that calls a C function and returns ``inputs`` numbers.

    Raises ValueError for a C function of another signature.
    """
    address, user_data = c_function(given, SIGNATURE)

    def called(time: float, readings: Array) -> Array:
        answer = np.zeros(inputs)
        if not call_function(address, time, np.ascontiguousarray(readings, dtype=float), answer, user_data):
            raise ArithmeticError("its LowLevelCallable did not return 1")
        return answer

    return called
