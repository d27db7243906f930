"""Values and rates of what is prescribed as a function of time, and the free measures of springs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...joints.rows.connection import measures
from ...numerics import checks as check
from ...numerics.arrays import Array

if TYPE_CHECKING:
    from .model import Model

SAMPLES = 9
"""Times at which a function asked for all times at once is asked one by one too."""
REACH = 1e-3
"""Time to the right of a start within which the rate there is first looked for: where it is short or long compared
with the motion, shorter or longer ones follow. The rate does not depend on its unit."""
SHORTER, TRIALS = 8.0, 24
"""Quotient of one such time and the next, and how many there are."""
AGREEING = 1e-12
"""Difference of two rates of fourth order, by long and by half as long distances, up to which they are exact: that of
round-off where the values are small compared with the rate, as at the start of most drives."""
ROUND_OFF = 1e2 * np.finfo(float).eps
"""What rates by differences of values lose, over the values and times the distance: their weights add up to forty."""
ACCURATE = 1e-7
"""Round-off over the change of the values above which a longer distance is better."""
SETTLED = 1e-6
"""Round-off over the change of the values above which a shorter distance tells nothing; and the rate, over the largest
one by longer distances, that is zero where rates fade with the distance."""
_ENDING = np.array([25.0, -48.0, 36.0, -16.0, 3.0])
"""Weights of the derivative at the end of a step, over 3h, of values at its end and each quarter before."""


def values_at(function: Callable[[Any], Any], times: Array, size: int) -> Array:
    """Values of a function of time at many times, (size, times).

    A number that takes arrays of times too is asked once, which is checked at some of them; all others one by one.
    """
    if size == 1 and times.size > SAMPLES:
        values = _at_once(function, times)
        if values is not None:
            return values[None]
    return np.array([function(t) for t in times.tolist()], dtype=float).reshape(times.size, size).T


def _at_once(function: Callable[[Any], Any], times: Array) -> Array | None:
    """What a function gives for an array of times, where it is bit by bit what it gives for each of them."""
    some = np.linspace(0, times.size - 1, SAMPLES).astype(int)
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(times.copy()), dtype=float)
    except Exception:  # functions need not take arrays
        return None
    alone = [function(t) for t in times[some].tolist()]
    return values if values.shape == times.shape and np.array_equal(values[some], np.ravel(alone)) else None


def rate_before(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Time derivative, (size,), of fourth order, from five points within the step that ends at the time."""
    return _ENDING @ _samples(function, size, time, step) / (3.0 * step)


def _samples(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Values at the end of a step and each quarter before, (5, size)."""
    values = np.empty((5, size))
    for k in range(5):
        values[k] = function(time - 0.25 * k * step)
    return values


class _Difference(NamedTuple):
    """Rates over a distance, how those over half of it differ, their round-off, and the mean rates in size, (size,)."""

    rate: Array
    apart: Array
    noise: Array
    mean: Array

    @property
    def constant(self) -> Array:
        """Where all values are the same to round-off."""
        return self.noise >= self.mean

    @property
    def lost(self) -> Array:
        """Where round-off hides the motion."""
        return (self.noise > SETTLED * self.mean) & ~self.constant

    @property
    def agrees(self) -> Array:
        """Where both distances have the same rate."""
        close = self.apart <= np.maximum(self.noise, AGREEING * np.abs(self.rate))
        return self.constant | (close & ~self.lost)

    @property
    def coarse(self) -> Array:
        """Where a longer distance is more accurate, as far as these values tell."""
        return (self.apart <= self.noise) & (self.noise > ACCURATE * self.mean) & (self.mean > 0.0)


def _difference(function: Callable[[float], Any], here: Array, time: float, reach: float) -> _Difference:
    """Rates over a distance; NaN where the function has no values that far."""

    def change(t: float) -> Array:  # weights sum to zero only to round-off: a constant must have no rate
        return np.ravel(function(t)) - here

    try:
        with np.errstate(all="ignore"):
            long, short = (_samples(change, here.size, time, -distance) for distance in (reach, 0.5 * reach))
    except Exception:  # drives need not be defined beyond a run
        return _Difference(*np.full((4, here.size), np.nan))
    rate, other = _ENDING @ long / (-3.0 * reach), _ENDING @ short / (-1.5 * reach)
    mean = np.abs(long).max(axis=0) / reach
    noise = ROUND_OFF * (np.abs(here) / reach + (1.0 + abs(time) / reach) * mean)
    return _Difference(rate, np.abs(rate - other), noise, mean)


def rate_after(function: Callable[[float], Any], size: int, time: float, name: str) -> Array:
    """Time derivative, (size,), from points to the right of the time; ValueError where there is none.

    By differences of fourth order over a distance at which that of half the length agrees to round-off. A rate that
    fades with the distance, as of |t|^(3/2) at rest, is zero.
    """
    here = np.ravel(function(time)).astype(float)
    first = _difference(function, here, time, REACH)
    rates = _longer(function, here, time, first) if np.any(first.coarse) else first.rate.copy()
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
    near = left & (apart <= SETTLED * np.abs(best)) & ~hidden  # values lose more digits inside than they show
    rates[near], left = best[near], left & ~near
    fades = left & (np.abs(last.rate) <= SETTLED * largest) & ~hidden
    rates[fades] = 0.0
    if np.any(left & ~fades):
        function(time + reach)  # says what is wrong where the function has no values at all
        error = float(np.nan_to_num(last.apart[left & ~fades], nan=np.inf).max())
        raise ValueError(f"{name}: the prescribed motion has no derivative at t = {time} s (error {error:.1e})")
    return rates


def rate_doubt(function: Callable[[float], Any], size: int, time: float) -> Array:
    """Round-off of the rates of :func:`rate_after`, (size,), which counts where a motion starts at rest."""
    here = np.ravel(function(time)).astype(float)
    try:
        with np.errstate(all="ignore"):
            mean = np.abs(np.ravel(function(time + REACH)) - here) / REACH
    except Exception:  # drives need not be defined beyond a run
        mean = np.zeros(size)
    noise = ROUND_OFF * (np.abs(here) / REACH + (1.0 + abs(time) / REACH) * mean)
    return np.where(np.isfinite(mean), noise + AGREEING * mean, 0.0)


def _longer(function: Callable[[float], Any], here: Array, time: float, first: _Difference) -> Array:
    """Rates over longer distances, as long as these agree with half their length and the function has values there."""
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


def _moving(mechanism: Model) -> list[tuple[int, str, object]]:
    """Springs whose reference is a function of time: their numbers, names and these."""
    return [(i, name, m.free) for i, (name, m) in enumerate(measures(mechanism.connections)) if m.is_driven]


class References:
    """Free measures of the spring-dampers: ``anchored`` (springs,), NaN where a function of time gives them.

    A spring whose reference x₀ moves has the tension k(x − x₀) + c(ẋ − ẋ₀), and whoever moves x₀ does the work −∫T ẋ₀.
    """

    def __init__(self, mechanism: Model, anchored: Array) -> None:
        self.anchored = anchored
        self._moving = mechanism.once(_moving)
        self._still = np.zeros(anchored.size)

    @property
    def moves(self) -> bool:
        """Whether one of them is a function of time."""
        return bool(self._moving)

    def at(self, time: float) -> Array:
        """Free measures at a time, (springs,)."""
        if not self._moving:
            return self.anchored
        values = self.anchored.copy()
        for i, name, function in self._moving:
            values[i] = _asked(name, function, time)
        return values

    def moved(self, t0: float, t1: float) -> Array:
        """How far the references move from one time to another, (springs,)."""
        moved = self._still
        if self._moving:
            moved = moved.copy()
            for i, name, function in self._moving:
                moved[i] = _asked(name, function, t1) - _asked(name, function, t0)
        return moved

    def rates(self, time: float) -> Array:
        """Their time derivatives to the right of a time, (springs,)."""
        rates = self._still.copy()
        for i, name, function in self._moving:
            rates[i] = rate_after(function, 1, time, name)[0]  # type: ignore[arg-type]
        return rates

    def over(self, times: Array) -> Array:
        """How far they move between the times, (k, springs), one row of zeros where none moves."""
        if not self._moving:
            return self._still[None]
        moved = np.zeros((len(times) - 1, self._still.size))
        for i, name, function in self._moving:
            try:
                values = values_at(function, times, 1)[0]  # type: ignore[arg-type]
            except Exception:
                values = np.full(times.size, np.nan)  # asked one by one below, which says what is wrong, and when
            if not np.all(np.isfinite(values)):
                values = np.array([_asked(name, function, t) for t in times.tolist()])
            moved[:, i] = np.diff(values)
        return moved


def _asked(name: str, function: object, time: float) -> float:
    """The reference of a spring at a time; raises ValueError where it is no finite number."""
    given = check.asked(f"{name}: the reference", function, time)  # type: ignore[arg-type]
    return check.number(f"{name}: the reference at t = {time} s", given)
