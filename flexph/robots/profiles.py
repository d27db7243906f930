"""Motions by polynomials, trapezoidal velocities and splines, and sequences of motions.

B. Siciliano, L. Sciavicco, L. Villani, G. Oriolo, Robotics, Springer (2009), sec. 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..units.arguments import quantities
from .motions import Motion

Values = Mapping[str, float] | Sequence[float] | Array | float
"""A number, or numbers by name or in a sequence."""
SAME = 1e-9
"""Jump of a motion where two parts meet, or deviation of times, relative to its size, that is round-off."""


def _numbers(what: str, given: Values | None, like: Coordinates) -> Array:
    """Values of the coordinates as an array (n,), from a number for all, numbers by name, or an array; None is zero.

    ``like`` has number and names of the coordinates; ``what`` names the values in errors.
    """
    names, size = like.names, like.size
    if given is None:
        return np.zeros(size)
    if isinstance(given, Mapping):
        for name in given:
            check.lookup("coordinate", name, dict.fromkeys(names), what)
        return np.array([check.number(f"{what}[{name!r}]", given.get(name, 0.0)) for name in names])
    if np.ndim(np.asarray(given)) == 0:
        return np.full(size, check.number(what, given))
    return check.array(what, given, (size,))


@dataclass(frozen=True)
class Coordinates:
    """Number and names of the coordinates of a motion.

    ``scalar``: True for one coordinate given by a number.
    """

    size: int
    names: tuple[str, ...]
    scalar: bool


def _form(*values: Values) -> Coordinates:
    """Number and names of the coordinates, from the first argument that is a mapping or an array."""
    named = [given for given in values if isinstance(given, Mapping)]
    for other in named[1:]:
        if set(other) != set(named[0]):
            raise ValueError(f"mappings must name the same coordinates, got {sorted(named[0])} and {sorted(other)}")
    if named:
        return Coordinates(len(named[0]), tuple(named[0]), False)
    for given in values:
        if np.ndim(np.asarray(given)):
            return Coordinates(len(np.asarray(given)), (), False)
    return Coordinates(1, (), True)


@quantities(duration="s", begin="s")
@checked
def polynomial(
    start: Values,
    end: Values,
    *,
    duration: float,
    begin: float = 0.0,
    rates: tuple[Values, Values] | None = None,
    accelerations: tuple[Values, Values] | None = None,
    degree: Literal[3, 5] = 5,
) -> Motion:
    """Motion by the cubic or quintic polynomial with given values and rates at both ends.

    Parameters
    ----------
    start, end : float, mapping or array
        Values at both ends, mappings of the same coordinates.
    duration : float
        Duration T [s].
    begin : float
        First time of the motion [s].
    rates, accelerations : tuple, optional
        First and second time derivatives at both ends, zero by default; a cubic needs no accelerations.
    degree : {3, 5}
        Degree of the polynomial.

    Returns
    -------
    Motion
        The motion.

    Raises
    ------
    ValueError
        If the duration is not positive, and for accelerations of a cubic.

    Examples
    --------
    >>> from flexph.robots import polynomial
    >>> rise = polynomial(0.0, 1.0, duration=2.0, rates=(0.0, 0.5))
    >>> rise(2.0), rise.velocity(2.0), rise.acceleration(2.0)
    (1.0, 0.5, 0.0)
    """
    form, T = _form(start, end), check.positive("duration", duration, "s")
    if accelerations is not None and degree == 3:
        raise ValueError("accelerations= needs degree=5: a cubic has values and rates at its ends")
    x0, x1 = _numbers("start", start, form), _numbers("end", end, form)
    v0, v1 = (_numbers("rates", given, form) for given in rates or (None, None))
    if degree == 3:
        c2, c3 = 3.0 * (x1 - x0) - T * (2.0 * v0 + v1), 2.0 * (x0 - x1) + T * (v0 + v1)
        powers = [x0, v0, c2 / T**2, c3 / T**3]
    else:
        a0, a1 = (_numbers("accelerations", given, form) for given in accelerations or (None, None))
        d, v, w = x1 - x0 - T * v0 - 0.5 * T**2 * a0, T * (v1 - v0) - T**2 * a0, T**2 * (a1 - a0)
        powers = [x0, v0, 0.5 * a0, (10.0 * d - 4.0 * v + 0.5 * w) / T**3]
        powers += [(-15.0 * d + 7.0 * v - w) / T**4, (6.0 * d - 3.0 * v + 0.5 * w) / T**5]
    times = check.number("begin", begin) + np.array([0.0, T])
    return Motion(times, np.stack(powers, axis=-1)[None], form.names, form.scalar)


@quantities(begin="s")
@checked
def trapezoid(start: Values, end: Values, *, velocity: Values, acceleration: Values, begin: float = 0.0) -> Motion:
    """Motion from rest to rest with a trapezoidal velocity: constant acceleration, constant velocity, deceleration.

    All coordinates move along a straight line and arrive together, in the shortest time that all limits allow. If no
    velocity limit is reached, the trapezoid is a triangle.

    Parameters
    ----------
    start, end : float, mapping or array
        Values at both ends.
    velocity, acceleration : float, mapping or array
        Limits of the rates, one for all coordinates or one each, positive.
    begin : float
        First time of the motion [s].

    Returns
    -------
    Motion
        The motion.

    Raises
    ------
    ValueError
        For limits that are not positive, and for equal start and end.

    Examples
    --------
    >>> from flexph.robots import trapezoid
    >>> move = trapezoid((0.0, 0.0), (2.0, 0.5), velocity=1.0, acceleration=2.0)
    >>> move.end, move(1.25), move.velocity(1.25)
    (2.5, array([1.  , 0.25]), array([1.  , 0.25]))
    """
    form = _form(start, end)
    x0, x1 = _numbers("start", start, form), _numbers("end", end, form)
    fast, hard = _numbers("velocity", velocity, form), _numbers("acceleration", acceleration, form)
    for name, limits in (("velocity", fast), ("acceleration", hard)):
        if not (limits > 0.0).all():
            raise ValueError(f"{name} must be positive for every coordinate, got {check.listed(limits)}")
    way = np.abs(x1 - x0)
    if not way.any():
        raise ValueError("start and end must differ, got equal values: use a constant instead of a motion")
    moving = way > 0.0
    v, a = (float((limits[moving] / way[moving]).min()) for limits in (fast, hard))  # of the share s from 0 to 1
    v = min(v, np.sqrt(a))
    rise, T = v / a, 1.0 / v + v / a
    full = T - 2.0 * rise > SAME * T
    times = np.array([0.0, rise, T - rise, T] if full else [0.0, 0.5 * T, T])
    shares = [(0.0, 0.0, 0.5 * a), (0.5 * v * rise, v, 0.0), (1.0 - 0.5 * v * rise, v, -0.5 * a)]
    pieces = np.array(shares if full else [shares[0], (0.5, v, -0.5 * a)])
    coefficients = pieces[:, None, :] * (x1 - x0)[:, None]
    coefficients[:, :, 0] += x0
    return Motion(check.number("begin", begin) + times, coefficients, form.names, form.scalar)


@quantities(times="s")
@checked
def spline(
    times: Sequence[float] | Array,
    points: Mapping[str, Sequence[float] | Array] | Sequence[Any] | Array,
    *,
    rates: tuple[Values, Values] | None = None,
    ends: Literal["clamped", "natural", "periodic", "not-a-knot"] = "clamped",
) -> Motion:
    """Motion through points by a cubic spline, with continuous accelerations (``scipy.interpolate.CubicSpline``).

    Parameters
    ----------
    times : array_like
        Ascending times (k,) [s].
    points : mapping or array_like
        Values at these times: (k,) by name, (k,) of one coordinate, or (k, n).
    rates : tuple, optional
        Rates at both ends of a clamped spline, zero by default.
    ends : {"clamped", "natural", "periodic", "not-a-knot"}
        Conditions at both ends.

    Returns
    -------
    Motion
        The motion.

    Raises
    ------
    ValueError
        For times that do not ascend, points of another number, and rates of a spline that is not clamped.

    Examples
    --------
    >>> from flexph.robots import spline
    >>> way = spline([0.0, 1.0, 3.0], [0.0, 1.0, 0.0])
    >>> way(1.0), way.velocity(3.0)
    (1.0, 0.0)
    """
    grid = check.array("times", times, (None,))
    if grid.size < 2 or not (np.diff(grid) > 0.0).all():
        raise ValueError(f"times must be at least two and ascend, got {check.shown(times)}")
    names: tuple[str, ...] = ()
    if isinstance(points, Mapping):
        names = tuple(points)
        rows = np.stack([check.array(f"points[{n!r}]", values, (grid.size,)) for n, values in points.items()], axis=1)
        form = Coordinates(len(names), names, False)
    else:
        rows = check.array("points", points, (grid.size,) if np.ndim(points) == 1 else (grid.size, None))
        form = Coordinates(1 if rows.ndim == 1 else rows.shape[1], (), rows.ndim == 1)
        rows = rows.reshape(grid.size, -1)
    if rates is not None and ends != "clamped":
        raise ValueError(f"rates= needs ends='clamped', got {ends!r}")
    condition: Any = ends
    if ends == "clamped":
        condition = tuple((1, _numbers("rates", values, form)) for values in rates or (None, None))
    curve = scipy.interpolate.CubicSpline(grid, rows, bc_type=condition)
    coefficients = np.moveaxis(np.asarray(curve.c)[::-1], 0, -1)
    return Motion(grid, coefficients, form.names, form.scalar)


@checked
def sequence(*motions: Motion) -> Motion:
    """Join motions into one motion, which is constant between them.

    Parameters
    ----------
    motions : Motion
        Motions of the same coordinates, each of which begins after the end of the previous one; :meth:`Motion.later`
        delays a motion.

    Returns
    -------
    Motion
        The joined motion.

    Raises
    ------
    ValueError
        For motions that overlap in time, have other coordinates, or do not begin at the last value of the previous one.

    Examples
    --------
    >>> from flexph.robots import polynomial, sequence
    >>> there = polynomial(0.0, 1.0, duration=1.0)
    >>> back = polynomial(1.0, 0.0, duration=1.0, begin=1.5)
    >>> way = sequence(there, back)
    >>> way(1.2), way(2.5)
    (1.0, 0.0)
    """
    if not motions:
        raise ValueError("motions must contain at least one motion, got none")
    first = motions[0]
    degree = max(m.coefficients.shape[2] for m in motions)
    times, rows = [first.times], [_padded(first, degree)]
    for before, after in pairwise(motions):
        if (after.size, after.names) != (first.size, first.names):
            raise ValueError(f"motions must have the same coordinates, got {before!r} and {after!r}")
        left, right = before.values_at(before.end), after.values_at(after.begin)
        size = max(1.0, *map(abs, left))
        if max(abs(a - b) for a, b in zip(left, right, strict=True)) > SAME * size:
            raise ValueError(f"a motion must begin where the one before ends, at {left}, got {right}")
        pause = after.begin - before.end
        if pause < -SAME * max(1.0, abs(before.end)):
            raise ValueError(
                f"a motion must begin after the end of the one before, {before.end} s, got {after.begin} s"
            )
        if pause > SAME * max(1.0, abs(before.end)):
            still = np.zeros((1, first.size, degree))
            still[0, :, 0] = left
            rows.append(still)
            times.append(after.times)
        else:
            times.append(after.times[1:])
        rows.append(_padded(after, degree))
    return Motion(np.concatenate(times), np.concatenate(rows), first.names, first.scalar)


def _padded(motion: Motion, degree: int) -> Array:
    """Coefficients (p, n, degree) of a motion for the powers 0 … ``degree`` − 1, zero for those that it lacks."""
    more = degree - motion.coefficients.shape[2]
    return np.pad(motion.coefficients, ((0, 0), (0, 0), (0, more)))
