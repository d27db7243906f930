"""Small matrices in one thread: what the user has set holds again afterwards, also where runs overlap or fail."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - brings the second library with threads
from threadpoolctl import threadpool_info, threadpool_limits

from flexph import LinearPHDAE, eigenfrequencies, integrate
from flexph.numerics.arguments import LARGE, one_thread


@pytest.fixture(autouse=True)
def two_threads():
    before = max(threads())
    set_threads(2)
    yield
    assert threads() == {2}
    set_threads(before)


def set_threads(count):
    """By a Python thread that ends: others could not limit what a living one has set."""
    setting = Thread(target=threadpool_limits, args=(count, "blas"))
    setting.start()
    setting.join()


def threads():
    """Threads of OpenBLAS in NumPy and SciPy; those of PARDISO and SUNDIALS may be loaded, too."""
    loaded = [library for library in threadpool_info() if library["internal_api"] == "openblas"]
    return {library["num_threads"] for library in loaded if "sundae" not in library["filepath"]}


def oscillator(n=1):
    J = np.block([[np.zeros((n, n)), -np.eye(n)], [np.eye(n), np.zeros((n, n))]])
    return LinearPHDAE(E=np.eye(2 * n), J=J, kinetic=np.arange(2 * n) < n)


def test_limits_within_limits_end_with_the_outer_one():
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_large_problems_keep_their_threads():
    with one_thread(LARGE):
        assert threads() == {2}


def test_limits_that_overlap_leave_what_was_set():
    """One begins within the other and ends after it."""
    meet, seen = Barrier(2, timeout=10.0), []

    def first():
        with one_thread():
            meet.wait()
            meet.wait()  # the second has begun
        meet.wait()

    def second():
        meet.wait()
        with one_thread():
            seen.append(threads())
            meet.wait()
            meet.wait()  # the first has ended

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for running in (one.submit(first), other.submit(second)):
            running.result()
        assert seen == [{1}]
        assert threads() == {2}
        assert one.submit(limited).result() == {1}  # OpenBLAS obeys the living thread that has set the number


def limited():
    with one_thread():
        return threads()


def test_a_run_and_what_it_calls_have_one_thread():
    seen = []
    integrate(oscillator(), (1.0, 0.0), [0.0, 0.1], observe=lambda t, x: seen.append(threads()), progress=False)
    assert seen == [{1}, {1}]


def test_threads_return_where_a_run_or_a_call_fails():
    def failing(t, x):
        raise RuntimeError("of the user")

    with pytest.raises(ValueError, match="of the user"):
        integrate(oscillator(), (1.0, 0.0), [0.0, 0.1], observe=failing, progress=False)
    assert threads() == {2}
    with pytest.raises(ValueError, match="dissipates"):
        eigenfrequencies(count=1, system=LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), R=np.eye(1)))
