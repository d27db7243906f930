"""Elimination in small matrices; needs numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...numerics.arrays import Array
from ...numerics.compiled.linking import inner

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""Without the counting of references to arrays."""


def small(function: Callable[..., Any]) -> Any:
    """A function of loops over few numbers that only compiled ones call."""
    return inner(function, plain=True, **OPTIONS)


@small
def eliminate(A: Array) -> float:
    """Gauss and Jordan with pivoting of (n, n + m): the last columns become solutions; the determinant, or zero."""
    n, m = A.shape
    determinant = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            determinant = -determinant
            for j in range(k, m):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        pivot = A[k, k]
        determinant *= pivot
        if not abs(pivot) > 0.0:
            return 0.0
        for j in range(k + 1, m):
            A[k, j] /= pivot
        for i in range(n):
            if i != k:
                for j in range(k + 1, m):
                    A[i, j] -= A[i, k] * A[k, j]
    return determinant
