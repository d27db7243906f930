"""Derivatives of functions by finite differences and complex steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .arrays import Array

FORWARD = float(np.sqrt(np.finfo(float).eps))
"""Step of forward differences, relative to the size of the argument; also their relative error."""
CENTRAL = float(np.cbrt(np.finfo(float).eps))
"""Step of central differences, relative to the size of the argument; their relative error is eps^(2/3) = 4e-11."""
STEP = 1e-3
"""Step of fourth-order differences, relative to the size of the argument. Their errors are h⁴ = 1e-12 of the fifth
derivative, and round-off eps/h = 2e-13 of the function."""
ACCURACY = 1e-10
"""Relative error of a fourth-order difference for tolerances: both errors above, with two digits of margin."""
ORDER_SIX = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
"""Weights of central differences of sixth order, by the number of steps to each side."""
COMPLEX_STEP = 1e-30
"""Step of complex-step derivatives, which have no cancellation and are as accurate as the function."""


def state_sizes(x: Array, parts: Iterable[slice] = ()) -> Array:
    """Sizes (n,) of states, by which steps of finite differences are chosen.

    The size of a state is its absolute value, but at least a lower bound: without ``parts`` a tenth of the largest of
    all states, at most one. ``parts`` are slices of states with the same unit. The lower bound in a part is a tenth of
    the largest of its states, but at least 1/100 of the bound without parts.
    """
    largest = float(np.abs(x).max(initial=0.0))
    floor = np.full(x.size, min(0.1 * largest, 1.0) if largest > 0.0 else 1.0)
    for part in parts:
        size = 0.1 * float(np.abs(x[part]).max(initial=0.0))
        floor[part] = np.maximum(size, 1e-2 * floor[part]) if size > 0.0 else floor[part]  # the part may be round-off
    return np.maximum(np.abs(x), floor)


def forward(
    function: Callable[[Array], Array], x: Array, here: Array, steps: Array, *, directions: Array | None = None
) -> Array:
    """Forward differences ``(f(x + h d) − f(x))/h`` (m, k) of a function along directions d.

    ``here`` is f(x), ``steps`` (k,) are the h, and ``directions`` (n, k) the d. By default the directions are those of
    the states; h is then the exact difference of the rounded states.
    """
    if directions is None:
        directions, steps = np.eye(x.size), (x + steps) - x
    changes = [(function(x + h * d) - here) / h for h, d in zip(steps, directions.T, strict=True)]
    return np.stack(changes, axis=-1) if changes else np.zeros((here.size, 0))


def central(function: Callable[[Any], Any], x: Any, move: Any) -> Any:
    """Half of the difference ``f(x + m) − f(x − m)`` for a displacement m, ``move``: about the derivative times m."""
    return 0.5 * (function(x + move) - function(x - move))


def central_of_order_four(function: Callable[[Any], Any], x: Any, move: Any) -> Any:
    """Estimate ``(8 (f(x + m) − f(x − m)) − (f(x + 2m) − f(x − 2m)))/12`` of fourth order of a derivative times m."""
    return (8.0 * central(function, x, move) - central(function, x, 2.0 * move)) / 6.0


def central_of_order_six(function: Callable[[Any], Any], x: Any, move: Any) -> Any:
    """Estimate of sixth order of a derivative times m, ``move``, from six values of the function.

    It is ``(45 (f(x + m) − f(x − m)) − 9 (f(x + 2m) − f(x − 2m)) + f(x + 3m) − f(x − 3m))/60``.
    """
    return sum(weight * (function(x + k * move) - function(x - k * move)) for k, weight in ORDER_SIX.items())


def derivative(
    function: Callable[[Array], Any], x: Array, *, directions: Array | None = None, sizes: Array | None = None
) -> Array:
    """Derivatives ``∂f/∂x`` (…, k) along k directions, by central differences of fourth order.

    ``directions`` (n, k) are by default those of the states, ``sizes`` (n,) those of :func:`state_sizes`. The relative
    error is about ACCURACY if f is smooth over STEP times its argument.
    """
    x = np.asarray(x, dtype=float)
    sizes = state_sizes(x) if sizes is None else sizes
    moves = np.eye(x.size) if directions is None else directions
    values = lambda x: np.asarray(function(x))  # noqa: E731
    slopes = []
    for way in moves.T:
        length = STEP * _length(way, sizes)
        if length == 0.0:
            slopes.append(np.zeros_like(np.asarray(function(x), dtype=float)))
            continue
        slopes.append(central_of_order_four(values, x, length * way) / length)
    return np.stack(slopes, axis=-1) if slopes else np.zeros((*np.shape(function(x)), 0))


def _length(way: Array, sizes: Array) -> float:
    """Largest factor of a direction ``way`` (n,) for which no state changes by more than its size.

    The factor of a direction of zeros is 0.
    """
    most = float(np.max(np.abs(way) / sizes, initial=0.0))
    return 1.0 / most if most > 0.0 else 0.0


def complex_derivative(function: Callable[[Array], Any], x: Array) -> Array:
    """Derivative ``∂f/∂x`` (…, n) = Im f(x + i h)/h, exact to round-off for functions of complex numbers.

    Raises ValueError if the function returns real numbers for complex states: it drops imaginary parts, or does not
    depend on the state; use differences then.
    """
    x = np.asarray(x, dtype=float)
    slopes = []
    for k in range(x.size):
        moved = x.astype(complex)
        moved[k] += 1j * COMPLEX_STEP
        value = np.asarray(function(moved))
        if not np.iscomplexobj(value):
            raise ValueError(
                "a function for complex steps must return complex numbers for complex states, got real ones: use "
                "differences"
            )
        slopes.append(value.imag / COMPLEX_STEP)
    return np.stack(slopes, axis=-1)
