"""Values and time derivatives of prescribed functions of time, such as drives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array

SAMPLES = 9
"""Number of times at which a vectorised evaluation is compared with single ones."""
REACH = 1e-3
"""First step [s] of the one-sided difference at a start. Shorter or longer ones follow if it does not suit the motion,
so that the rate does not depend on the unit of time."""
SHORTER, TRIALS = 8.0, 24
"""Quotient of successive steps, and their largest number."""
AGREEING = 1e-12
"""Relative difference of the rates by a step and half of it up to which they count as exact. It is round-off where the
values are small compared with the rate, as at the start of most drives."""
ROUND_OFF = 1e2 * np.finfo(float).eps
"""Round-off of a difference, relative to the values and times the step: the weights add up to forty."""
ACCURATE = 1e-7
"""Round-off, relative to the change of the values, above which a longer step is better."""
SETTLED = 1e-6
"""Round-off, relative to the change of the values, above which a shorter step is useless; and rate, relative to the
largest one by longer steps, that counts as zero if rates vanish with the step."""
_ENDING = np.array([25.0, -48.0, 36.0, -16.0, 3.0])
"""Weights, times 3h, of values at the end of a step and at each quarter before it, for the derivative at its end."""


def values_at(function: Callable[[Any], Any], times: Array, size: int) -> Array:
    """Values (size, times) of a function of time with ``size`` components at the given times (times,).

    A scalar function that accepts arrays is evaluated once for all times, and compared with single evaluations at some
    of them; all other functions are evaluated time by time.
    """
    if size == 1 and times.size > SAMPLES:
        values = _values_by_array(function, times)
        if values is not None:
            return values[None]
    return np.array([function(t) for t in times.tolist()], dtype=float).reshape(times.size, size).T


def _values_by_array(function: Callable[[Any], Any], times: Array) -> Array | None:
    """Values (times,) of a function that accepts arrays of times; None if it does not.

    A function accepts arrays if its values equal single evaluations bit by bit, as tested at some of the times.
    """
    some = np.linspace(0, times.size - 1, SAMPLES).astype(int)
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(times.copy()), dtype=float)
    except Exception:  # functions need not take arrays
        return None
    alone = [function(t) for t in times[some].tolist()]
    return values if values.shape == times.shape and np.array_equal(values[some], np.ravel(alone)) else None


def rate_before(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Time derivative (size,) of a function at the end ``time`` of a step, from five points within the step.

    The difference is of fourth order, and ``step`` [s] is the length of the step.
    """
    return _ENDING @ _samples(function, size, time, step) / (3.0 * step)


def _samples(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Values (5, size) of a function at the end ``time`` of a step, then at each quarter of the step before."""
    values = np.empty((5, size))
    for k in range(5):
        values[k] = function(time - 0.25 * k * step)
    return values


class _Difference(NamedTuple):
    """Rates of functions of time by finite differences, with error estimates; each array is (size,).

    ``rate`` is the difference quotient, ``apart`` its change if the step is halved, ``noise`` its round-off, and
    ``mean`` the largest mean rate.
    """

    rate: Array
    apart: Array
    noise: Array
    mean: Array

    @property
    def constant(self) -> Array:
        """True for each function whose values are equal within the step, up to round-off."""
        return self.noise >= self.mean

    @property
    def lost(self) -> Array:
        """True for each function whose motion within the step is hidden by round-off."""
        return (self.noise > SETTLED * self.mean) & ~self.constant

    @property
    def agrees(self) -> Array:
        """True for each function whose rate with the step and with half the step is the same."""
        close = self.apart <= np.maximum(self.noise, AGREEING * np.abs(self.rate))
        return self.constant | (close & ~self.lost)

    @property
    def coarse(self) -> Array:
        """True for each function for which a longer step would give a more accurate rate."""
        return (self.apart <= self.noise) & (self.noise > ACCURATE * self.mean) & (self.mean > 0.0)


def _difference(function: Callable[[float], Any], here: Array, time: float, reach: float) -> _Difference:
    """Rates of a function at a time, and their errors, by finite differences with the step ``reach`` [s].

    ``here`` are the values of the function at the time. Rates and errors are NaN if the function fails at a point of
    the difference.
    """

    def change(t: float) -> Array:  # the weights add up to zero only to round-off, and a constant must have rate zero
        return np.ravel(function(t)) - here

    try:
        with np.errstate(all="ignore"):
            long, short = (_samples(change, here.size, time, -distance) for distance in (reach, 0.5 * reach))
    except Exception:  # drives may be undefined outside the run
        return _Difference(*np.full((4, here.size), np.nan))
    rate, other = _ENDING @ long / (-3.0 * reach), _ENDING @ short / (-1.5 * reach)
    mean = np.abs(long).max(axis=0) / reach
    noise = ROUND_OFF * (np.abs(here) / reach + (1.0 + abs(time) / reach) * mean)
    return _Difference(rate, np.abs(rate - other), noise, mean)


def rate_after(function: Callable[[float], Any], size: int, time: float, name: str) -> Array:
    """Time derivative (size,) of a prescribed motion, from its values at the time and later.

    It is a fourth-order difference with a step whose half gives the same rate to round-off. A rate that vanishes with
    the step, such as that of |t|^(3/2) at t = 0, is zero. Raises ValueError, naming the motion, if there is no
    derivative.
    """
    here = np.ravel(function(time)).astype(float)
    first = _difference(function, here, time, REACH)
    rates = _rates_of_longer_steps(function, here, time, first) if np.any(first.coarse) else first.rate.copy()
    left, hidden = ~(first.agrees | first.coarse), np.zeros(size, dtype=bool)
    largest, reach, last = np.abs(first.rate), REACH, first
    best, apart = first.rate.copy(), first.apart.copy()
    for _ in range(TRIALS):
        reach /= SHORTER
        if not left.any() or ROUND_OFF * abs(time) > SETTLED * reach:
            break
        last = _difference(function, here, time, reach)
        hidden |= left & last.lost
        settled = left & last.agrees & ~hidden
        rates[settled] = last.rate[settled]
        left &= ~settled
        largest = np.fmax(largest, np.abs(last.rate))
        nearer = last.apart < apart
        best, apart = np.where(nearer, last.rate, best), np.where(nearer, last.apart, apart)
    near = left & (apart <= SETTLED * np.abs(best)) & ~hidden  # functions may lose more digits than their values show
    rates[near], left = best[near], left & ~near
    fades = left & (np.abs(last.rate) <= SETTLED * largest) & ~hidden
    rates[fades] = 0.0
    if np.any(left & ~fades):
        function(time + reach)  # raises the function's own error if it has no values at all
        error = float(np.nan_to_num(last.apart[left & ~fades], nan=np.inf).max())
        raise ValueError(f"{name}: the prescribed motion has no derivative at t = {time} s (error {error:.1e})")
    return rates


def rate_doubt(function: Callable[[float], Any], size: int, time: float) -> Array:
    """Error (size,) of the rates of :func:`rate_after` due to round-off, for motions that start at rest."""
    here = np.ravel(function(time)).astype(float)
    try:
        with np.errstate(all="ignore"):
            mean = np.abs(np.ravel(function(time + REACH)) - here) / REACH
    except Exception:  # drives may be undefined outside the run
        mean = np.zeros(size)
    noise = ROUND_OFF * (np.abs(here) / REACH + (1.0 + abs(time) / REACH) * mean)
    return np.where(np.isfinite(mean), noise + AGREEING * mean, 0.0)


def _rates_of_longer_steps(function: Callable[[float], Any], here: Array, time: float, first: _Difference) -> Array:
    """Rates by the longest step for which a step of half the length gives the same rate and the function has values.

    Only rates that are ``coarse`` by the ``first`` step are replaced; ``here`` are the values at the time.
    """
    rates, trial, reach = first.rate.copy(), first, REACH
    coarse = first.coarse
    for _ in range(TRIALS):
        reach *= SHORTER
        trial = _difference(function, here, time, reach)
        coarse &= trial.apart <= trial.noise
        rates[coarse] = trial.rate[coarse]
        coarse &= trial.coarse
        if not coarse.any():
            break
    return rates
