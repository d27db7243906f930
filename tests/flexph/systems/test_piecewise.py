"""Piecewise constant inputs: values at times, their change, and refusals."""

import numpy as np
import pytest

from flexph.systems import PiecewiseConstant
from flexph.systems.inputs import Forcing
from flexph.systems.piecewise import Adjustable, Recorded


def test_values_hold_from_their_time_on():
    given = PiecewiseConstant([0.0, 1.0, 3.0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    times = np.array([-1.0, 0.0, 0.9, 1.0, 2.0, 3.0, 9.0])
    assert given.at_times(times)[:, 0].tolist() == [1.0, 1.0, 1.0, 3.0, 3.0, 5.0, 5.0]
    assert given(2.0).tolist() == [3.0, 4.0]
    assert given.before(np.array([0.0, 1.0, 1.5, 3.0, 4.0]))[:, 0].tolist() == [1.0, 1.0, 3.0, 3.0, 5.0]
    record = Recorded(given.times, given.values)
    later = record.changed_at(3.0, np.array([7.0, 8.0]))
    assert later.times.tolist() == [0.0, 1.0, 3.0] and later.values[-1].tolist() == [7.0, 8.0]
    joined = record.followed_by(Recorded(np.array([2.0]), np.array([[9.0, 9.0]])))
    assert joined.times.tolist() == [0.0, 1.0, 2.0] and joined(2.5).tolist() == [9.0, 9.0]


def test_a_forcing_takes_all_times_at_once_as_it_takes_them_singly():
    given = PiecewiseConstant([0.0, 1.0], [1.0, 2.0])
    forcing = Forcing({"a": slice(0, 1), "b": slice(1, 3)}, {"a": given, "b": (4.0, 5.0)})
    times = np.array([0.5, 1.5])
    assert np.array_equal(forcing.at_times(times), [forcing.at(t) for t in times])
    own = Adjustable(Recorded(np.array([0.0]), np.array([[1.0]])))
    forcing = Forcing({"a": slice(0, 1)}, {"a": own})
    assert forcing.at_times(times).shape == (1, 1)
    own.set(1.0, np.array([3.0]))
    assert forcing.at_times(times).tolist() == [[1.0], [3.0]] and forcing.at_times(times[1:]).tolist() == [[3.0]]
    with pytest.raises(ValueError, match="input 'a' must have 1 entries"):
        Forcing({"a": slice(0, 1)}, {"a": PiecewiseConstant([0.0], [[1.0, 2.0]])}).at_times(times)


@pytest.mark.parametrize(
    "times, values, match",
    [
        ([], [], "times must be at least one"),
        ([0.0, 0.0], [1.0, 2.0], "ascending"),
        ([0.0, 1.0], [1.0], "one row for each of the 2 times"),
        ([0.0], [np.nan], "values"),
        ([0.0], [[[1.0]]], "one row"),
    ],
)
def test_what_is_refused(times, values, match):
    with pytest.raises(ValueError, match=match):
        PiecewiseConstant(times, values)
