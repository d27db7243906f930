"""Work space of the accelerated and the damped iteration of a step of Gauss collocation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array

DEPTH = 5
"""Number of pairs that are kept."""
MOST = 600
"""Largest number of unknowns of a step that is solved by damped iterations, which take operations of its cube."""


class Acceleration(NamedTuple):
    """Work space of the accelerated iteration of n unknowns (see .acceleration)."""

    weight: Array  # (n,) weights of the squares
    x: Array  # (n,) the iterate before a correction
    correction: Array  # (n,) plain correction, then the accelerated one
    last: Array  # (n,) previous correction
    moves: Array  # (DEPTH + 1, n): moves s of the pairs, and as the last row the last move
    changes: Array  # (DEPTH, n), changes y of the corrections


def acceleration_of(unknowns: int) -> Acceleration:
    """Work space of an accelerated iteration of the given number of unknowns, all zeros."""
    z = np.zeros
    of_pairs = z((DEPTH + 1, unknowns)), z((DEPTH, unknowns))
    return Acceleration(z(unknowns), z(unknowns), z(unknowns), z(unknowns), *of_pairs)


class Damped(NamedTuple):
    """Work space of the damped iteration of n unknowns (see .damped); empty if there are too many."""

    x: Array  # (n,) the unknowns
    tried: Array  # (n,) trial unknowns
    defect: Array  # (n,) defects at x, divided by the scales of their rows
    other: Array  # (n,) defects at the trial unknowns; also the scaled correction
    reach: Array  # (n,) changes of the unknowns by which derivatives are differences
    row_scale: Array  # (n,) largest derivatives of the defects
    column_scale: Array  # (n,) lengths of the columns of the Jacobian
    jacobian: Array  # (n, n), scaled
    stacked: Array  # (2n, n + 1): the Jacobian, the damping, and the right-hand side in the last column
    correction: Array  # (n,)
    gain: Array  # (n,), for the factorisation
    space: Array  # (n + 1,)


def damped_of(unknowns: int) -> Damped:
    """Work space of a damped iteration of the given number of unknowns, not initialised; empty for too many."""
    n = unknowns if unknowns <= MOST else 0
    x, tried, defect, other, reach, row_scale, column_scale, correction, gain = np.empty((9, n))
    scales = reach, row_scale, column_scale
    matrices = np.empty((n, n)), np.empty((2 * n, n + 1))
    return Damped(x, tried, defect, other, *scales, *matrices, correction, gain, np.empty(n + 1))
