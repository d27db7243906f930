"""The sparse complementarity problem of many contacts, with the velocities of all bodies and joints as unknowns.

The velocities (and multipliers) z changed by impulses Λ, and the rates y of the contacts,

    K z = q + Aᵀ (Λ − Λ₀),    y = y₀ + R z,

satisfy the laws of :mod:`.complementarity` with D = R K⁻¹ Aᵀ, which is never formed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..numerics.arrays import Array
from .complementarity import SOLVED
from .cones import Cones, Linear

WEIGHT = 1e-6
"""Proximal weight relative to the diagonal of D, which makes the impulses of redundant contacts unique."""


class Pattern(NamedTuple):
    """Sparsity pattern of [[K, −Aᵀ], [S R, T]] with all contacts, by columns, and the sources of its values.

    ``row`` and ``column`` of each entry; ``source``: its index in the joined values of K, −A, S R and T. The last ones
    are those of friction in the normal conditions, which Newton's method does not have.
    """

    row: Array
    column: Array
    source: Array
    n: int


class Coupled(NamedTuple):
    """The problem: K (n, n) by columns, A and R (m, n) by rows, and q (n,), y₀ and Λ₀ (m,).

    ``size``: magnitude of the terms that rates sum up [m/s]; ``enough``: relative defect of a solution; ``weight``:
    proximal weight relative to the diagonal of D; ``factors``: last factors with their contact sets, for problems with
    constant K, A and R.
    """

    K: Any
    acting: Any
    moved: Any
    push: Array
    rates: Array
    given: Array
    cones: Cones
    size: float
    pattern: Pattern
    factors: dict[bytes, tuple[Array, Any]] | None = None
    enough: float = SOLVED
    weight: float = WEIGHT

    @property
    def scale(self) -> float:
        """Reference velocity of defects [m/s]."""
        return max(float(np.abs(self.rates).max(initial=0.0)), self.size, 1e-300)

    def missing(self, z: Array, impulses: Array) -> Array:
        """Residual q + Aᵀ (Λ − Λ₀) − K z."""
        left: Array = self.push + self.acting.T @ (impulses - self.given) - self.K @ z
        return left

    def at(self, z: Array) -> Array:
        """Rates y = y₀ + R z."""
        moved: Array = self.rates + self.moved @ z
        return moved

    def factored(
        self, now: Linear, on_normal: Array, weight: float = WEIGHT, across: Array | None = None
    ) -> tuple[Array, Any]:
        """Mask of the unknown impulses, and the factors of their conditions together with z.

        ``on_normal`` (c,): coefficients of the normal impulses in the normal conditions; ``across`` (t, c): those of
        the friction impulses in them; ``weight``: proximal weight along the tangents, relative to the diagonal of D.
        """
        frictional, pattern = ~now.open & (self.cones.friction > 0.0), self.pattern
        held = np.concatenate([~now.open, *[frictional] * len(now.on_normal)])
        keep = np.concatenate([np.ones(pattern.n, dtype=bool), held])
        own, place = keep[pattern.row] & keep[pattern.column], np.cumsum(keep) - 1
        size, values = int(place[-1]) + 1, self._values(now, on_normal, weight)
        if across is None:
            own &= pattern.source < values.size
        else:
            values = np.concatenate([values, across.ravel()])
        starts = np.concatenate([[0], np.cumsum(np.bincount(place[pattern.column[own]], minlength=size))])
        matrix = sparse.csc_array((values[pattern.source[own]], place[pattern.row[own]], starts), shape=(size, size))
        return held, splu(matrix, permc_spec="COLAMD")

    def _values(self, now: Linear, on_normal: Array, weight: float) -> Array:
        """Values of all entries: K, −A, S R, and T with the proximal weight."""
        count, t = now.open.size, len(now.on_normal)
        moved, each = self.moved.data.reshape(1 + t, -1), np.diff(self.moved.indptr[: count + 1])
        on_rates, turned = np.repeat(now.on_rates, each, axis=2), [moved[0]]
        turned += [np.sum(on_rates[i] * moved[1:], axis=0) for i in range(t)]
        on_impulses = now.on_impulses + weight / self.cones.tangent_step * now.on_rates
        parts = [on_normal, *on_impulses.reshape(t * t, count), *-now.on_normal]
        return np.concatenate([self.K.data, -self.acting.data, *turned, *parts])


def pattern_of(K: Any, acting: Any, moved: Any, count: int) -> Pattern:
    """Sparsity pattern for K, A and R; tangential rows of a contact have the pattern of its normal row."""
    n, (m, at) = K.shape[0], (acting.shape[0], np.arange(count))
    t = m // count - 1
    rows, columns = [K.indices], [np.repeat(np.arange(n), np.diff(K.indptr))]
    owner = np.repeat(np.arange(m), np.diff(acting.indptr))
    rows, columns = [*rows, acting.indices, n + owner, n + at], [*columns, n + owner, moved.indices, n + at]
    for i, j in np.ndindex(t, t):
        rows, columns = [*rows, n + (1 + i) * count + at], [*columns, n + (1 + j) * count + at]
    for i in range(t):
        rows, columns = [*rows, n + (1 + i) * count + at], [*columns, n + at]
    for i in range(t):
        rows, columns = [*rows, n + at], [*columns, n + (1 + i) * count + at]
    row, column = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((row, column))
    return Pattern(row[order], column[order], order, n)
