"""Functions at addresses keep what they raise, and named tuples lie in memory as C structs of views."""

from __future__ import annotations

import ctypes
import signal
from typing import NamedTuple

import numpy as np
import pytest
from scipy import LowLevelCallable

from flexph.numerics.loops.callbacks import WHOLE, Callback, Struct, c_function, packed, struct_at
from flexph.numerics.loops.views import IVec, Mat, Vec, call_one


class Inner(NamedTuple):
    matrix: Mat
    count: IVec


class Outer(NamedTuple):
    time: Vec
    inner: Inner


def outer(matrix):
    return Outer(np.arange(3.0), Inner(matrix, np.array([7])))


def test_rows_are_addresses_and_lengths_in_the_order_of_fields():
    value = outer(np.zeros((2, 5)))
    rows, owners = packed(value)
    arrays = [value.time, value.inner.matrix, value.inner.count]
    assert all(own is array for own, array in zip(owners, arrays, strict=True))
    assert rows.tolist() == [
        [value.time.ctypes.data, 3, 1, 1],
        [value.inner.matrix.ctypes.data, 2, 5, 1],
        [value.inner.count.ctypes.data, 1, 1, 1],
    ]


def test_numbers_become_arrays_of_one_that_loops_may_write():
    rows, (real, whole) = packed((0.5, 3))
    assert (real.tolist(), whole.tolist()) == ([0.5], [3])
    assert (real.dtype, whole.dtype) == (np.float64, np.int64)
    assert rows[:, 1].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("matrix", "error", "told"),
    [
        (np.zeros((5, 2)).T, ValueError, "C order"),
        (np.zeros(4), TypeError, "Inner.matrix must be float64 with 2 dimensions, got float64 with 1"),
        (np.zeros((2, 2), dtype=int), TypeError, "Inner.matrix must be float64"),
        (np.zeros((2, 2), dtype=np.float32), TypeError, "Inner.matrix must be float64"),
    ],
)
def test_arrays_that_a_struct_would_misread_are_refused(matrix, error, told):
    with pytest.raises(error, match=told):
        Struct(outer(matrix))


def test_a_tuple_is_found_at_its_address_as_long_as_its_struct_lives():
    struct = Struct(outer(np.ones((1, 1))))
    address = struct.address
    assert struct_at(address) is struct.value
    del struct
    with pytest.raises(KeyError):
        struct_at(address)


def test_fields_that_are_no_views_are_refused():
    class Other(NamedTuple):
        name: str

    with pytest.raises(TypeError, match=r"Other\.name must be annotated with a view"):
        packed(Other(np.zeros(1)))


def interrupted(_):
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), GeneratorExit(), SystemExit(3)])
def test_what_a_function_raises_is_kept_and_loops_are_told(error):
    def raises(k):
        if k == 2:
            raise error
        return k + 10

    called = Callback(raises, WHOLE, -1)
    assert [call_one(called.address, k) for k in (1, 2, 3)] == [11, -1, 13]
    assert called.error is error


def test_the_first_exception_is_the_one_that_is_kept_and_answers_that_are_none_are_exceptions():
    called = Callback(lambda x: "text" if x > 0 else 1 / 0, WHOLE, 5)
    assert call_one(called.address, 1) == 5 and call_one(called.address, 0) == 5
    assert isinstance(called.error, ValueError)


def test_an_interruption_within_a_function_is_kept():
    called = Callback(interrupted, WHOLE, 5)
    assert call_one(called.address, 0) == 5
    assert isinstance(called.error, KeyboardInterrupt)


def test_c_functions_of_other_arguments_are_refused():
    own = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(lambda x, y: x)
    with pytest.raises(ValueError, match=r"must.*'double \(double\)' here, got 'double \(double, double\)'"):
        c_function(LowLevelCallable(own), "double (double)")


def test_pointers_fit_however_they_are_called_and_user_data_goes_with_the_function():
    for pointer in (ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)):
        own = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_void_p)(lambda x, data: 1)
        address, user_data = c_function(LowLevelCallable(own, ctypes.c_void_p(64)), "int (const double *, void *)")
        assert (address, user_data) == (ctypes.cast(own, ctypes.c_void_p).value, 64)
