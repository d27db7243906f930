"""Gauss–Jordan elimination of small matrices."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ...numerics.loops.views import Mat


def eliminate(A: Mat) -> float:
    """Solve linear equations in place by Gauss-Jordan elimination with pivoting; return the determinant.

    A (n, n + m) has the matrix (n, n) and m right-hand sides, which become the solutions. The determinant is zero if a
    pivot vanishes; the elimination then ends.
    """
    n, m = A.shape[0], A.shape[1]
    determinant = 1.0
    held = cython.declare(cython.double)
    pivot = cython.declare(cython.double)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i][k]) > abs(A[p][k]):
                p = i
        if p != k:
            determinant = -determinant
            for j in range(k, m):
                held = A[k][j]
                A[k][j] = A[p][j]
                A[p][j] = held
        pivot = A[k][k]
        determinant *= pivot
        if not abs(pivot) > 0.0:
            return 0.0
        for j in range(k + 1, m):
            A[k][j] /= pivot
        for i in range(n):
            if i != k:
                for j in range(k + 1, m):
                    A[i][j] -= A[i][k] * A[k][j]
    return determinant
