"""Derivatives of functions by differences, of stated accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .arrays import Array

FORWARD = float(np.sqrt(np.finfo(float).eps))
"""Step of forward differences, over the size of what is moved: they err by as much of the derivative."""
CENTRAL = float(np.cbrt(np.finfo(float).eps))
"""Step of central differences, over the size of what is moved: they err by eps^(2/3) = 4e-11 of the derivative."""
STEP = 1e-3
"""Step of fourth-order differences, over the size of what is moved: they err by h⁴ = 1e-12 of the fifth derivative and
by round-off, eps/h = 2e-13 of the function."""
ACCURACY = 1e-10
"""Relative error of a fourth-order difference to reckon with: both errors above, and two digits."""
COMPLEX_STEP = 1e-30
"""Step of complex-step derivatives: nothing is subtracted, they are as exact as the function."""


def state_sizes(x: Array, parts: Iterable[slice] = ()) -> Array:
    """What a state is moved by, over STEP: itself, a tenth of the largest of its part, or of all but at most one.

    Entries of a part share a unit; without parts, states that are small beside others are moved by one at most.
    """
    largest = float(np.abs(x).max(initial=0.0))
    floor = np.full(x.size, min(0.1 * largest, 1.0) if largest > 0.0 else 1.0)
    for part in parts:
        own = 0.1 * float(np.abs(x[part]).max(initial=0.0))
        floor[part] = np.maximum(own, 1e-2 * floor[part]) if own > 0.0 else floor[part]  # it may be round-off
    return np.maximum(np.abs(x), floor)


def forward(
    function: Callable[[Array], Array], x: Array, here: Array, steps: Array, *, directions: Array | None = None
) -> Array:
    """``(f(x + h d) − f(x))/h`` (m, k) with f(x) = ``here``, steps h (k,) along directions d (n, k), states by default.

    Steps of states are rounded to those that they take.
    """
    if directions is None:
        directions, steps = np.eye(x.size), (x + steps) - x
    changes = [(function(x + h * d) - here) / h for h, d in zip(steps, directions.T, strict=True)]
    return np.stack(changes, axis=-1) if changes else np.zeros((here.size, 0))


def central(function: Callable[[Any], Any], x: Any, move: Any) -> Any:
    """Change of a function over a move, ``½(f(x + m) − f(x − m))``."""
    return 0.5 * (function(x + move) - function(x - move))


def central_of_order_four(function: Callable[[Any], Any], x: Any, move: Any) -> Any:
    """Change of a function over a move, ``(8 (f(x + m) − f(x − m)) − (f(x + 2m) − f(x − 2m)))/12``."""
    return (8.0 * central(function, x, move) - central(function, x, 2.0 * move)) / 6.0


def derivative(
    function: Callable[[Array], Any], x: Array, *, directions: Array | None = None, sizes: Array | None = None
) -> Array:
    """``∂f/∂x`` (…, k) along directions (n, k), the states by default, by fourth-order central differences.

    ``sizes`` (n,) are those of :func:`state_sizes`. Relative error about ACCURACY where f is smooth over STEP times its
    argument.
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
    """How far along a direction until some state has moved by its size."""
    most = float(np.max(np.abs(way) / sizes, initial=0.0))
    return 1.0 / most if most > 0.0 else 0.0


def complex_derivative(function: Callable[[Array], Any], x: Array) -> Array:
    """``∂f/∂x`` (…, n) = Im f(x + i h)/h: exact to round-off for functions that work on complex numbers.

    Raises ValueError where the function returns real numbers for complex states: it drops them, or does not depend on
    the state at all; give differences then.
    """
    x = np.asarray(x, dtype=float)
    slopes = []
    for k in range(x.size):
        moved = x.astype(complex)
        moved[k] += 1j * COMPLEX_STEP
        value = np.asarray(function(moved))
        if not np.iscomplexobj(value):
            raise ValueError(
                "a function for complex steps must return complex numbers for complex states, got real ones"
            )
        slopes.append(value.imag / COMPLEX_STEP)
    return np.stack(slopes, axis=-1)
