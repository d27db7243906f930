"""Values and rates of functions of time."""

import math

import numpy as np
import pytest

from flexph.mechanisms.model.prescribed import SAMPLES, rate_after, rate_before, values_at

TIMES = np.linspace(0.0, 3.0, 1001)


def counted(function):
    """A function and the list of what it was asked for."""
    asked = []

    def count(t):
        asked.append(t)
        return function(t)

    return count, asked


@pytest.mark.parametrize("function", [lambda t: 3.0 * t, lambda t: np.sin(t) + t**2, lambda t: np.where(t > 1, t, 1.0)])
def test_a_function_that_takes_arrays_is_asked_once_and_at_some_times(function):
    counting, asked = counted(function)
    np.testing.assert_array_equal(values_at(counting, TIMES, 1)[0], [function(t) for t in TIMES.tolist()])
    assert len(asked) == 1 + SAMPLES


def overwriting(t):
    """Of an array, it changes what it was given."""
    if isinstance(t, np.ndarray):
        t[:] = 0.0
    return 2.0 * t


@pytest.mark.parametrize(
    "function",
    [
        lambda t: math.sin(t),
        lambda t: t if t < 1.0 else 1.0,
        lambda t: 3.0,
        lambda t: [3.0 * t],
        lambda t: 0.0 * t + np.max(t),
        overwriting,
    ],
    ids=["math", "branches", "constant", "list", "not pointwise", "overwriting"],
)
def test_others_are_asked_one_by_one(function):
    counting, asked = counted(function)
    np.testing.assert_array_equal(values_at(counting, TIMES, 1)[0], [np.ravel(function(t))[0] for t in TIMES.tolist()])
    assert len(asked) > TIMES.size


def test_functions_of_time_may_return_vectors():
    made = values_at(lambda t: (t, t * t, 1.0), TIMES, 3)
    np.testing.assert_array_equal(made, [TIMES, TIMES * TIMES, np.ones(TIMES.size)])


def test_the_rate_of_a_polynomial_of_fourth_degree_is_exact():
    """To round-off of the values times 93 over three steps: values of 2e-3 at steps of 1e-3 s, of 1 at 0.1 s, 6e-14."""
    counting, asked = counted(lambda t: -2.0 * t + t**4)
    assert rate_after(counting, 1, 0.0, "x") == pytest.approx([-2.0], abs=1e-13)
    assert len(asked) == 11  # the value there, and by the two differences alone
    assert rate_before(lambda t: 1.0 - 2.0 * t + t**4, 1, 0.5, 0.1) == pytest.approx([-1.5], abs=1e-13)


def test_the_rate_of_a_fast_oscillation_takes_the_adaptive_difference():
    """By the fourth-order difference within a millisecond off by 2e-2 of 2000/s."""
    rate = rate_after(lambda t: (math.sin(2000.0 * t), t), 2, 0.0, "x")
    assert rate == pytest.approx([2000.0, 1.0], rel=1e-9)


def test_a_jump_has_no_rate():
    with pytest.raises(ValueError, match=r"drive: the prescribed motion has no derivative at t = 0.0 s"):
        rate_after(lambda t: 0.0 if t == 0.0 else 1.0, 1, 0.0, "drive")
