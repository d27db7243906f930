"""Values and rates of prescribed functions of time, and free measures of springs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...joints.rows.connection import measures
from ...numerics import checks as check
from ...numerics.arrays import Array

if TYPE_CHECKING:
    from ...systems.inputs import Forcing
    from .model import Model

KEPT = 64
"""Number of calls of controllers of which the factors before are kept, for steps that are taken again."""
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
    """Values of a function of time at many times, (size, times).

    A scalar function that accepts arrays is evaluated once for all times, and compared with single evaluations at some
    of them; all other functions are evaluated time by time.
    """
    if size == 1 and times.size > SAMPLES:
        values = _at_once(function, times)
        if values is not None:
            return values[None]
    return np.array([function(t) for t in times.tolist()], dtype=float).reshape(times.size, size).T


def _at_once(function: Callable[[Any], Any], times: Array) -> Array | None:
    """Values of a function for an array of times, if bitwise equal to single evaluations; None otherwise."""
    some = np.linspace(0, times.size - 1, SAMPLES).astype(int)
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(times.copy()), dtype=float)
    except Exception:  # functions need not take arrays
        return None
    alone = [function(t) for t in times[some].tolist()]
    return values if values.shape == times.shape and np.array_equal(values[some], np.ravel(alone)) else None


def rate_before(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Fourth-order time derivative (size,) from five points within the step that ends at the time."""
    return _ENDING @ _samples(function, size, time, step) / (3.0 * step)


def _samples(function: Callable[[float], Any], size: int, time: float, step: float) -> Array:
    """Values (5, size) at the end of a step and at each quarter before it."""
    values = np.empty((5, size))
    for k in range(5):
        values[k] = function(time - 0.25 * k * step)
    return values


class _Difference(NamedTuple):
    """Difference rates with a step, their change with half of it, their round-off, and largest mean rates, (size,)."""

    rate: Array
    apart: Array
    noise: Array
    mean: Array

    @property
    def constant(self) -> Array:
        """True where all values are equal to round-off."""
        return self.noise >= self.mean

    @property
    def lost(self) -> Array:
        """True where round-off hides the motion."""
        return (self.noise > SETTLED * self.mean) & ~self.constant

    @property
    def agrees(self) -> Array:
        """True where both steps give the same rate."""
        close = self.apart <= np.maximum(self.noise, AGREEING * np.abs(self.rate))
        return self.constant | (close & ~self.lost)

    @property
    def coarse(self) -> Array:
        """True where a longer step would be more accurate."""
        return (self.apart <= self.noise) & (self.noise > ACCURATE * self.mean) & (self.mean > 0.0)


def _difference(function: Callable[[float], Any], here: Array, time: float, reach: float) -> _Difference:
    """Difference rates with a step; NaN if the function has no values there."""

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
    """Time derivative (size,) from points to the right of the time; raises ValueError if it does not exist.

    Fourth-order differences with a step whose half gives the same rate to round-off. A rate that vanishes with the
    step, as of |t|^(3/2) at t = 0, is zero.
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
    """Round-off (size,) of the rates of :func:`rate_after`, which matters for motions that start at rest."""
    here = np.ravel(function(time)).astype(float)
    try:
        with np.errstate(all="ignore"):
            mean = np.abs(np.ravel(function(time + REACH)) - here) / REACH
    except Exception:  # drives may be undefined outside the run
        mean = np.zeros(size)
    noise = ROUND_OFF * (np.abs(here) / REACH + (1.0 + abs(time) / REACH) * mean)
    return np.where(np.isfinite(mean), noise + AGREEING * mean, 0.0)


def _longer(function: Callable[[float], Any], here: Array, time: float, first: _Difference) -> Array:
    """Rates with longer steps, as long as they agree with half the step and the function has values there."""
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
    """Numbers, names and functions of springs whose reference is a function of time."""
    return [(i, name, m.free) for i, (name, m) in enumerate(measures(mechanism.connections)) if m.is_driven]


def _scheduled(mechanism: Model) -> list[tuple[int, str, object]]:
    """Numbers, names and factors of springs whose law has a factor of time."""
    names, pairs = [name for name, _ in measures(mechanism.connections)], mechanism.network.arrays.springs.scheduled
    return [(i, f"{names[i]}: the schedule", factor) for i, factor in pairs if factor is not None]


def controlled(mechanism: Model) -> list[tuple[int, int]]:
    """Numbers of springs whose stiffness an input sets, and of its entry among the inputs."""
    names, slices = [name for name, _ in measures(mechanism.connections)], mechanism.network.input_slices
    pairs = mechanism.network.arrays.springs.scheduled
    return [(i, slices[names[i]].start) for i, factor in pairs if factor is None]


def _of_strains(mechanism: Model) -> list[tuple[str, object]]:
    """Names and factors of the laws of rods and cables that depend on time."""
    names = [name for name, body in mechanism.bodies.items() for _ in body.scheduled_laws]
    factors = [part.factor for part in mechanism.network.arrays.strains.laws if part.factor is not None]
    return [(f"{name}: the schedule", factor) for name, factor in zip(names, factors, strict=True)]


def _of_flows(mechanism: Model) -> list[tuple[str, object]]:
    """Names and speeds of all flows."""
    names = list(mechanism.bodies)
    return [(f"{names[flow.body]}: the speed", flow.speed) for flow in mechanism.network.arrays.flows]


class References:
    """Prescribed quantities of the spring-dampers: free measures ``anchored`` (springs,), NaN for functions of time.

    A spring with a moving reference x₀ has the tension T = k(x − x₀) + c(ẋ − ẋ₀); moving x₀ does the work −∫T ẋ₀. Laws
    may have factors of time, as those of the strains of rods and cables. For each step there is a row: the changes of
    the references, (springs,), the factors of the springs at the beginning and at the end, and then those of the
    strains and the speeds of flows, if there are any.

    Factors that inputs set follow the ``forcing`` of a run. Controllers hold theirs; over the first step after a call
    the factor goes from the last value to the new one. ``_before`` has what they held before, by the time of the call.
    """

    def __init__(self, mechanism: Model, anchored: Array) -> None:
        self.anchored = anchored
        self._moving, self._scheduled = mechanism.once(_moving), mechanism.once(_scheduled)
        self._controlled = mechanism.once(controlled)
        self._still, self._flows = np.zeros(anchored.size), mechanism.once(_of_flows)
        self._timed = mechanism.once(_of_strains), self._flows
        varies = bool(self._scheduled or self._controlled or any(self._timed))
        self._factors, self._varies = np.ones(anchored.size if varies else 0), varies
        self.forcing: Forcing | None = None
        self._before: dict[float, Array] = {}

    @property
    def moves(self) -> bool:
        """True if a reference or a factor is a function of time."""
        return bool(self._moving or self._varies)

    @property
    def width(self) -> int:
        """Number of entries in the row of a step: changes of references, factors and speeds if there are any."""
        return self._still.size + 2 * (self._factors.size + sum(map(len, self._timed)))

    def at(self, time: float) -> Array:
        """Free measures at a time, (springs,)."""
        if not self._moving:
            return self.anchored
        values = self.anchored.copy()
        for i, name, function in self._moving:
            values[i] = _asked(f"{name}: the reference", function, time)
        return values

    def factors(self, time: float) -> Array:
        """Factors of the laws at a time, (springs,); empty if there are none."""
        values = self._factors
        if self._factors.size:
            values = values.copy()
            for i, name, function in self._scheduled:
                values[i] = _asked(name, function, time)
        if self._controlled and self.forcing is not None:
            inputs = self.forcing.at(time)
            values[[i for i, _ in self._controlled]] = 1.0 + inputs[[k for _, k in self._controlled]]
        return values

    def _first(self, time: float) -> Array:
        """Factors at the beginning of a step, at which a controller that was called there has no effect yet."""
        values = self.factors(time)
        held = None if self.forcing is None else self.forcing.held
        if not self._controlled or held is None:
            return values
        own, entries = [i for i, _ in self._controlled], [k for _, k in self._controlled]
        now = held[entries]
        values[own] += self._before.get(time, now) - now
        return values

    def begin(self, time: float) -> None:
        """Keep what controllers held before they are called at the beginning of a step."""
        held = None if self.forcing is None else self.forcing.held
        if self._controlled and held is not None:
            self._before[time] = held[[k for _, k in self._controlled]]
            while len(self._before) > KEPT:
                del self._before[next(iter(self._before))]

    def _with_factors(self, moved: Array, ends: tuple[float, float], factors: tuple[Array, Array]) -> Array:
        """Row of changes of the references with the factors and speeds at both ends."""
        timed = [[_asked(*own, t) for own in functions] for functions in self._timed for t in ends]
        return np.concatenate([moved, *factors, *timed])

    def held_at(self, time: float) -> Array:
        """Row of a step of length zero: no changes, and the factors at its time."""
        factors = self._first(time)
        return self._with_factors(self._still, (time, time), (factors, factors))

    def moved(self, t0: float, t1: float) -> Array:
        """Row of a step from t0 to t1: changes of the references, and factors at both ends."""
        moved = self._still
        if self._moving:
            moved = moved.copy()
            for i, name, function in self._moving:
                name = f"{name}: the reference"
                moved[i] = _asked(name, function, t1) - _asked(name, function, t0)
        return self._with_factors(moved, (t0, t1), (self._first(t0), self.factors(t1))) if self._varies else moved

    def rates(self, time: float) -> Array:
        """Time derivatives of the references to the right of a time, (springs,)."""
        rates = self._still.copy()
        for i, name, function in self._moving:
            rates[i] = rate_after(function, 1, time, name)[0]  # type: ignore[arg-type]
        return rates

    def over(self, times: Array) -> Array:
        """Rows of the steps between the times, (k, …); one row of zeros if nothing moves."""
        if not self.moves:
            return self._still[None]
        count = self._still.size
        rows = np.zeros((len(times) - 1, self.width))
        for i, name, function in self._moving:
            rows[:, i] = np.diff(_sampled(f"{name}: the reference", function, times))
        rows[:, count : count + 2 * self._factors.size] = 1.0
        if self._controlled:
            own = [i for i, _ in self._controlled]
            values = np.array([self.factors(t)[own] for t in times.tolist()])
            values[0] = self._first(float(times[0]))[own]
            rows[:, [count + i for i in own]], rows[:, [2 * count + i for i in own]] = values[:-1], values[1:]
        for i, name, function in self._scheduled:
            values = _sampled(name, function, times)
            rows[:, count + i], rows[:, 2 * count + i] = values[:-1], values[1:]
        column = 3 * count
        for functions in self._timed:
            for k, (name, function) in enumerate(functions, column):
                values = _sampled(name, function, times)
                rows[:, k], rows[:, k + len(functions)] = values[:-1], values[1:]
            column += 2 * len(functions)
        return rows


def _sampled(name: str, function: object, times: Array) -> Array:
    """Values of a function at the times, (k,)."""
    try:
        values = values_at(function, times, 1)[0]  # type: ignore[arg-type]
    except Exception:
        values = np.full(times.size, np.nan)  # evaluated one by one below, so that the error names the time
    if not np.all(np.isfinite(values)):
        values = np.array([_asked(name, function, t) for t in times.tolist()])
    return values


def _asked(name: str, function: object, time: float) -> float:
    """Value of a function at a time; raises ValueError unless it is a finite number."""
    given = check.asked(name, function, time)  # type: ignore[arg-type]
    return check.number(f"{name} at t = {time} s", given)
