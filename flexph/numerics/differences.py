"""Derivatives of functions of the state by differences, of stated accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .arrays import Array

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
    made: Array = np.maximum(np.abs(x), floor)
    return made


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
    made = []
    for way in moves.T:
        length = STEP * _length(way, sizes)
        if length == 0.0:
            made.append(np.zeros_like(np.asarray(function(x), dtype=float)))
            continue
        one, two = (np.asarray(function(x + k * length * way)) - np.asarray(function(x - k * length * way))
                    for k in (1.0, 2.0))  # fmt: skip
        made.append((8.0 * one - two) / (12.0 * length))
    return np.stack(made, axis=-1) if made else np.zeros((*np.shape(function(x)), 0))


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
    made = []
    for k in range(x.size):
        moved = x.astype(complex)
        moved[k] += 1j * COMPLEX_STEP
        value = np.asarray(function(moved))
        if not np.iscomplexobj(value):
            raise ValueError(
                "a function for complex steps must return complex numbers for complex states, got real ones"
            )
        made.append(value.imag / COMPLEX_STEP)
    return np.stack(made, axis=-1)
