"""Elimination in a band, with row exchanges, in loops.

Row i holds the columns from i − k on, of k entries beside the diagonal, and of as many more that exchanges fill.
"""

from __future__ import annotations

from ...numerics.arrays import Array
from .elimination import loops


@loops
def factor_band(band: Array, pivot: Array, last: Array) -> bool:
    """Factor a band in place, with row exchanges; False where it is singular."""
    size, half = band.shape[0], (band.shape[1] - 1) // 3
    for k in range(size):
        p, end = k, min(size, k + half + 1)
        for i in range(k + 1, end):
            if abs(band[i, k - i + half]) > abs(band[p, k - p + half]):
                p = i
        pivot[k] = p
        if not abs(band[p, k - p + half]) > 0.0:
            return False
        if p != k:
            last[k], last[p] = last[p], last[k]
            for j in range(k, min(size, max(last[k], last[p]) + 1)):
                band[k, j - k + half], band[p, j - p + half] = band[p, j - p + half], band[k, j - k + half]
        inverse, own, count = 1.0 / band[k, half], band[k, half + 1 :], last[k] - k
        for i in range(k + 1, end):
            share = band[i, k - i + half] * inverse
            if share != 0.0:
                band[i, k - i + half] = share
                row = band[i, k + 1 - i + half :]
                for j in range(count):
                    row[j] -= share * own[j]
                last[i] = max(last[i], last[k])
    return True


@loops
def solve_band(band: Array, pivot: Array, last: Array, x: Array) -> None:
    """Solve with the factor in place."""
    size, half = band.shape[0], (band.shape[1] - 1) // 3
    for k in range(size):
        x[k], x[pivot[k]] = x[pivot[k]], x[k]
        if x[k] != 0.0:
            for i in range(k + 1, min(size, k + half + 1)):
                x[i] -= band[i, k - i + half] * x[k]
    for k in range(size - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, last[k] + 1):
            total -= band[k, j - k + half] * x[j]
        x[k] = total / band[k, half]
