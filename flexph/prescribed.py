"""Values and rates of what is prescribed as a function of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.differentiate import derivative

from .space import Array

SAMPLES = 9
"""Times at which a function asked for all times at once is asked one by one too."""
REACH = 1e-3
"""Time to the right of a start within which the rate there is found [s]."""
AGREEING = 1e-12
"""Difference of two rates of fourth order, by long and by half as long distances, up to which they are exact: that of
round-off where the values are small beside the rate, as at the start of most drives."""
ROUND_OFF = 1e1 * np.finfo(float).eps
"""What differences of a value lose, over the value."""
SETTLED = 1e-6
"""Error of a rate over the rate up to which an adaptive difference that has not settled will do."""
_ENDING = np.array([25.0, -48.0, 36.0, -16.0, 3.0])
"""Weights of the derivative at the end of a step, over 3h, of values at its end and each quarter before."""


def values_at(function: Callable[[Any], Any], times: Array, size: int) -> Array:
    """Values of a function of time at many times, (size, times).

    A number that takes arrays of times too is asked once, which is checked at some of them; all others one by one.
    """
    if size == 1 and times.size > SAMPLES:
        made = _at_once(function, times)
        if made is not None:
            return made[None]
    return np.array([function(t) for t in times.tolist()], dtype=float).reshape(times.size, size).T


def _at_once(function: Callable[[Any], Any], times: Array) -> Array | None:
    """What a function gives for an array of times, where it is bit by bit what it gives for each of them."""
    some = np.linspace(0, times.size - 1, SAMPLES).astype(int)
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(function(times.copy()), dtype=float)
    except Exception:  # functions need not take arrays
        return None
    alone = [function(t) for t in times[some].tolist()]
    return made if made.shape == times.shape and np.array_equal(made[some], np.ravel(alone)) else None


def rate_before(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Time derivative, (size,), of fourth order, from five points within the step that ends at the time."""
    values = np.empty((5, size))
    for k in range(5):
        values[k] = function(time - 0.25 * k * step)
    made: Array = _ENDING @ values / (3.0 * step)
    return made


def rate_after(function: Callable[[float], Any], size: int, time: float, name: str) -> Array:
    """Time derivative, (size,), from points to the right of the time; ValueError where there is none.

    By an adaptive difference of eighth order; where two fourth-order ones agree to round-off, by these.
    """
    here = np.ravel(function(time))

    def change(t: float) -> Array:  # weights sum to zero only to round-off: a constant must have no rate
        made: Array = np.ravel(function(t)) - here
        return made

    long, short = (rate_before(change, size, time, -reach) for reach in (REACH, 0.5 * REACH))
    noise = ROUND_OFF * np.abs(here) / REACH
    if np.all(np.abs(long - short) <= np.maximum(noise, AGREEING * np.abs(short))):
        return long
    rates = np.zeros(size)
    for k in range(size):
        part = np.vectorize(lambda t, k=k: change(t)[k], otypes=[float])
        found = derivative(part, time, initial_step=REACH, step_direction=1)
        if not found.success and not found.error <= max(SETTLED * abs(found.df), float(noise[k])):
            raise ValueError(
                f"{name}: the prescribed motion has no derivative at t = {time} s (error {found.error:.1e})"
            )
        rates[k] = float(found.df)
    return rates
