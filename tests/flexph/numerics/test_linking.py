"""Functions compiled into those that call them: the same values as in numba's own way, from memory and from disk."""

import importlib.util

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from flexph.numerics.compiled import linking  # noqa: E402
from flexph.numerics.compiled.functions import compiled_function  # noqa: E402

WAYS = [linking.TRIED, ((0, 0), (0, 0))]


@pytest.fixture(params=WAYS, ids=["linked", "numba's own"])
def way(request, monkeypatch):
    """Both ways to compile."""
    monkeypatch.setattr(linking, "TRIED", request.param)


def nested():
    """An entry over two levels of inner functions, one of which is reached twice."""
    square = linking.inner(lambda x: x * x)
    shifted = linking.inner(lambda x: square(x) + 1.0)
    return square, linking.entry(lambda x: shifted(x) / square(x))


def test_values_are_the_same_in_both_ways(way):
    _, whole = nested()
    assert whole(3.0) == (3.0 * 3.0 + 1.0) / (3.0 * 3.0)
    assert whole(7.0) == (7.0 * 7.0 + 1.0) / (7.0 * 7.0)


def entries(a, b, column, whole):
    """Entries by signed and unsigned numbers, from the end, of rows, and of what is not contiguous."""
    i = np.uint8(1)
    a[-1, i] = whole[-2]
    a[i, -2] += b[i, -1, 0]
    row = a[-2]
    row[0] = column[-1]
    return a[0, 0] + a[i, -1] * b[-1, 0, i] + row[-1]


def test_entries_of_arrays_are_those_of_python(way):
    given = [np.arange(6.0).reshape(2, 3), np.arange(8, dtype=np.float32).reshape(2, 2, 2)]
    given += [np.arange(9.0)[::2], np.arange(4)]
    wanted = entries(*(own := [np.copy(value) for value in given]))
    assert linking.entry(entries)(*given) == wanted
    np.testing.assert_array_equal(given[0], own[0])


def test_an_inner_function_is_not_for_python(way):
    square, whole = nested()
    whole(2.0)
    with pytest.raises(TypeError, match="is called by compiled functions only"):
        square(2.0)
    assert square.py_func(2.0) == 4.0


def test_inner_functions_have_no_machine_code():
    square, whole = nested()
    whole(2.0)
    (inner,), (entry,) = square.overloads.values(), whole.overloads.values()
    assert inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name) == 0
    assert entry.library.get_pointer_to_function(entry.fndesc.llvm_cpython_wrapper_name) != 0


def test_without_a_compiler_functions_are_those_of_python(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    square, whole = nested()
    assert square(3.0) == 9.0 and whole(3.0) == 10.0 / 9.0


def test_errors_say_what_inner_functions_say(way):
    def check(x):
        if x < 0.0:
            raise ValueError("x is negative")
        return x

    check = linking.inner(check)
    whole = linking.entry(lambda x: check(x) + 1.0)
    assert whole(1.0) == 2.0
    with pytest.raises(ValueError, match="x is negative"):
        whole(-1.0)


RECURSIVE = """
def is_even(n):
    return 1.0 if n < 0.5 else is_odd(n - 1.0)
def is_odd(n):
    return 0.0 if n < 0.5 else is_even(n - 1.0)
"""


def test_functions_that_call_each_other(tmp_path, monkeypatch):
    """They work, and nothing of them is kept on disk: read from there, numba's own code of them ends the process."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "recursive.py"
    path.write_text(RECURSIVE)
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("recursive", path))
    spec.loader.exec_module(module)
    function = compiled_function("z", module.is_even, (numba.float64,), numba.float64)
    assert [function(float(n)) for n in range(4)] == [1.0, 0.0, 1.0, 0.0]
    assert not list(tmp_path.rglob("*.nbc"))
