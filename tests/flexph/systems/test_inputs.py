"""Inputs of runs: at many times what they are at each of them, however functions return them."""

import numpy as np
import pytest

from flexph.systems.inputs import Forcing

SLICES = {"force": slice(0, 2), "torque": slice(2, 3), "load": slice(3, 9)}
TIMES = np.random.default_rng(3).uniform(0.0, 1.0, 12)


def written_again():
    """A function that writes to one array and returns it each time."""
    values = np.zeros(2)

    def force(t):
        values[:] = np.cos(t), t
        return values

    return force


INPUTS = {
    "constant": {"force": (1.0, 2.0), "load": (0.5, -1.0)},
    "numbers": {"torque": np.sin},
    "lists": {"force": lambda t: [t, t * t], "torque": lambda t: [2.0 * t]},
    "one array": {"force": written_again()},
    "one force for all elements": {"load": lambda t: (t, -t)},
    "table": {"force": ([0.0, 1.0], [[0.0, 1.0], [2.0, 3.0]]), "torque": 4.0},
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_at_many_times_are_those_at_each(name):
    forcing = Forcing(SLICES, INPUTS[name], dim=2)
    together = np.broadcast_to(forcing.at_times(TIMES), (TIMES.size, 9))
    np.testing.assert_array_equal(together, [forcing.at(t) for t in TIMES])


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda t: (1.0, np.nan) if t > 0.9 else (1.0, 2.0), r"input 'force' at t = 0.95 s must be finite"),
        (lambda t: (1.0,) if t > 0.9 else (1.0, 2.0), r"input 'force' must have 2 entries, got shape \(1,\)"),
        (lambda t: 1.0, r"input 'force' must have 2 entries, got shape \(\)"),
        (lambda t: "fast" if t > 0.9 else (1.0, 2.0), r"input 'force' must be numbers, got 'fast'"),
    ],
)
def test_what_is_wrong_at_one_of_many_times_is_told(function, told):
    with pytest.raises(ValueError, match=told):
        Forcing(SLICES, {"force": function}, dim=2).at_times(np.array([0.1, 0.95, 0.5]))
