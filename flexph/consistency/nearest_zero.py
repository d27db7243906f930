"""Zero of a function nearest to the origin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics.arrays import Array
from ..numerics.differences import forward

STEP = 1e-5
"""Relative step of differences of functions that contain differences themselves."""
ITERATIONS = 20


def nearest_zero(function: Callable[[Array], Array], unknowns: int) -> Array:
    """Zero of a function nearest to 0, or a zero near it if the search for the nearest does not converge.

    Newton's method with steps of least norm finds a zero; Gauss-Newton steps from there reduce its norm.
    """
    y, one, best = np.zeros(unknowns), np.eye(unknowns), np.zeros(unknowns)
    for iteration in range(3 * ITERATIONS):
        here = function(y)
        matrix = forward(function, y, here, STEP * np.ones(unknowns), directions=one)
        largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
        scale = np.where(largest > 0.0, largest, 1.0)  # rows without dependence are not scaled
        first = iteration < ITERATIONS
        target = -here if first else matrix @ y - here
        solution = np.linalg.lstsq(matrix / scale, target / scale[:, 0], rcond=1e-11)[0]
        change = solution if first else solution - y
        solved = float(np.abs(here / scale[:, 0]).max(initial=0.0)) <= 1e-13
        if first or (solved and np.linalg.norm(y) <= np.linalg.norm(best)):
            best = y
        if not first and np.abs(change).max(initial=0.0) <= 1e-9:
            break
        y = y + change
    return best
