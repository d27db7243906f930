"""Differentiation index by rank tests, and hidden constraints ([survey] sec. 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.differences import STEP
from ..numerics.ranks import singular_vectors
from .view import SystemView

NOISE = 1e-12
"""Relative round-off of first derivatives of the algebraic equations. It grows by the factor COARSER with each further
derivative by differences."""
COARSER = 1e3
EXACT = 1e-14
"""Round-off of entries of J − R, relative to the largest of their row, for composed structures."""
REGULAR = 1e-7
"""Smallest singular value of a matrix, relative to the largest, above which it has full rank. Rows and columns are
scaled before to largest entries of one."""
HIGHEST = 3
"""Highest derivative of the algebraic equations that is evaluated: beyond it round-off dominates."""

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class IndexReport:
    """Index at a state, and constraints that the algebraic equations imply.

    ``index_eliminated`` is the index without multipliers ([survey] proposition 4.1), ``freedom`` the dimension
    of the set of consistent states.

    Attributes
    ----------
    differential : int
        Number of differential states.
    algebraic : int
        Number of algebraic states.
    index : int
        Differentiation index with multipliers as unknowns.
    constraints : tuple of int
        Numbers of independent conditions on the differential states by level: the equations themselves, their
        first derivatives, and so on.
    redundant : int
        Number of conditions that follow from others.
    undetermined : int
        Number of algebraic states that are not determined.
    smallest : float
        Ratio of the smallest singular value to the largest, of the matrix of [survey] eq. (4.2) or of higher levels.
        Rows and columns are scaled to largest entries of one.
    exceeded : bool
        True if the index is higher than ``index``; ``freedom`` is then an upper bound.
    """

    differential: int
    algebraic: int
    index: int
    constraints: tuple[int, ...]
    redundant: int
    undetermined: int
    smallest: float
    exceeded: bool = False

    @property
    def index_eliminated(self) -> int:
        """Index after elimination of the multipliers ([survey] eq. (3.21) and proposition 4.1)."""
        return max(1, self.index - 1) if self.index else 0

    @property
    def freedom(self) -> int:
        """Dimension of the set of consistent states, that is, the number of free initial values."""
        return self.differential - sum(self.constraints)

    def __str__(self) -> str:
        if not self.algebraic:
            return f"index 0: {self.differential} differential states, no algebraic ones"
        without = f" with multipliers as unknowns, {self.index_eliminated} without ([survey] prop. 4.1)"
        lines = [f"index {self.index}{without if self.index > 1 else ''}"]
        if self.exceeded:
            lines = [f"index above {self.index}: the counts below are bounds"]
        lines.append(f"{self.differential} differential and {self.algebraic} algebraic states")
        words = ("algebraic equations", "their rates", "second rates", "third rates", "fourth rates")
        for word, count in zip(words, self.constraints, strict=False):
            if count:
                lines.append(f"{count} conditions on the differential states by the {word}")
        lines.append(f"consistent states of dimension {self.freedom}")
        if self.redundant:
            lines.append(f"{self.redundant} conditions follow from others")
        if self.undetermined and not self.exceeded:
            lines.append(f"{self.undetermined} algebraic states are not determined: solutions are not unique")
        if self.algebraic > self.undetermined:
            lines.append(f"smallest scaled singular value of the matrix that determines them {self.smallest:.1e}")
        return "\n".join(lines)


def index_report(view: SystemView) -> IndexReport:
    """Index at a state, by ranks of derivatives of the algebraic equations along solutions.

    The combinations φ = Nᵀc of the equations c = 0 that contain no algebraic state are conditions on the
    differential states. Their rates join the remaining equations, until the algebraic states are determined or no
    new condition appears. For linear systems with given derivatives the test is exact; for others every derivative
    after the first is a fourth-order difference, so that higher levels are coarser. An index beyond HIGHEST is only
    reported as exceeded.
    """
    algebraic = view.V2.shape[1]
    if not algebraic:
        return IndexReport(view.V1.shape[1], 0, 0, (), 0, 0, 1.0)
    counts, redundant = [], 0
    slopes = np.zeros((0, view.V1.shape[1]))
    given = view.system.exact_derivatives is not None
    conditions = _Conditions(view.algebraic, *((view.algebraic_slopes, view.slope_noise(EXACT)) if given else ()))
    level = 0
    while True:
        split = _Split(view, conditions, level)
        fresh, slopes, dropped = _independent(split.slopes * view.scales, slopes, 1e1 * split.noise)
        redundant += dropped
        if split.rank == algebraic or not fresh.size or level == HIGHEST:
            counts.append(fresh.size)
            exceeded = bool(fresh.size) and split.rank < algebraic
            # an undetermined algebraic state determines no equation: the index counts the others only
            return IndexReport(
                differential=view.V1.shape[1],
                algebraic=algebraic,
                index=max(level + 1 if split.rank or exceeded else level, 1),
                constraints=tuple(counts),
                redundant=redundant,
                undetermined=algebraic - split.rank,
                smallest=split.smallest,
                exceeded=exceeded,
            )
        counts.append(fresh.size)
        conditions = split.next_level(fresh)
        level += 1


@dataclass(frozen=True)
class _Conditions:
    """Equations c(x) = 0 on states, with c as ``value`` and its derivative ∂c/∂x (k, n) as ``slope``.

    Both are functions of x; the derivative is None if it is not given. ``lost`` is the round-off of this derivative at
    the state, if it is known.
    """

    value: Function
    slope: Function | None = None
    lost: Array | None = None


class _Split:
    """Split of the equations c = 0 at a state: rows that determine algebraic states, and combinations without any.

    ``level`` counts how often the equations were differentiated.
    """

    def __init__(self, view: SystemView, conditions: _Conditions, level: int) -> None:
        self.view, self.c, self.slope = view, conditions.value, conditions.slope
        self.noise = NOISE * (COARSER**level if self.slope is None else 1.0)
        A, whole = (self._directional_derivatives(view.x, way) for way in (view.V2, view.V1))
        if conditions.lost is None:
            small = self._round_off(A, whole, along=view.V2, away=view.V1)
            lost = self._round_off(whole, A, along=view.V1, away=view.V2)
        else:
            small, lost = conditions.lost @ np.abs(view.V2), conditions.lost @ np.abs(view.V1)
        self.mask, lost = np.abs(A) > small, lost + 1e1 * self.noise * np.abs(whole)
        rows, columns, self.smallest = _pivots(np.where(self.mask, A, 0.0))
        self.rows, self.columns, self.rank = rows, columns, len(rows)
        self.rest = np.setdiff1d(np.arange(len(A)), rows)
        combination = self.combine(np.where(self.mask, A, 0.0))
        slopes = combination @ whole
        # dependent rows combine to round-off
        self.slopes = np.where(np.abs(slopes) > np.abs(combination) @ lost, slopes, 0.0)

    def _round_off(self, whole: Array, others: Array, *, along: Array, away: Array) -> Array:
        """Round-off of the derivatives of c along the columns of ``along``, from the magnitudes of the terms of c.

        ``whole`` are these derivatives, ``others`` the derivatives along the columns of ``away``; both matrices
        together span all states. Differences move each state by a part of its size, so that the error is proportional
        to the sum of the terms divided by that size.
        """
        moved, rest = (np.abs(way.T) @ self.view.sizes for way in (along, away))
        terms = np.abs(whole) @ np.maximum(np.abs(along.T @ self.view.x), STEP * moved)
        terms = terms + np.abs(others) @ np.maximum(np.abs(away.T @ self.view.x), STEP * rest)
        return 1e1 * self.noise * (terms + np.abs(self.c(self.view.x)))[:, None] / moved

    def matrix(self, x: Array) -> Array:
        """Jacobian ∂c/∂x₂ at a state x, without the entries that are round-off at the state of the split."""
        if not self.mask.any():
            return np.zeros(self.mask.shape)
        return np.where(self.mask, self._directional_derivatives(x, self.view.V2), 0.0)

    def _directional_derivatives(self, x: Array, way: Array) -> Array:
        """Directional derivatives of the equations c = 0 at x, ``∂c/∂x · way``, along the columns of ``way``."""
        return self.view.derivative(self.c, x, way) if self.slope is None else self.slope(x) @ way

    def combine(self, A: Array) -> Array:
        """Weights Nᵀ of combinations of the rows of A in which the algebraic states of the pivot columns cancel."""
        weights = np.zeros((self.rest.size, len(A)))
        weights[:, self.rest] = np.eye(self.rest.size)
        if self.rank:
            pivot = A[np.ix_(self.rows, self.columns)]
            weights[:, self.rows] = -np.linalg.solve(pivot.T, A[np.ix_(self.rest, self.columns)].T).T
        return weights

    def next_level(self, kept: Array) -> _Conditions:
        """Equations of the next level: the rows that determine algebraic states, and rates of the other equations.

        The rates are the time derivatives of the combinations without algebraic states that have the indices ``kept``.
        """

        def value(x: Array) -> Array:
            A = self.matrix(x)
            rate = self.view.V1 @ self.view.rate(x)
            along = self._directional_derivatives(x, rate[:, None])[:, 0]
            rates = (self.combine(A) @ along)[kept]
            return np.concatenate([self.c(x)[self.rows], rates])

        if self.slope is None or not self.view.is_linear:
            return _Conditions(value)
        terms = np.abs(self.slopes[kept]) @ np.abs(self.view.rate_slope)
        rates = self.slopes[kept] @ self.view.rate_slope
        constant = np.vstack([self.slope(self.view.x)[self.rows], np.where(np.abs(rates) > NOISE * terms, rates, 0.0)])
        return _Conditions(value, lambda x: constant, np.zeros_like(constant))


def unit_scales(matrix: Array) -> tuple[Array, Array]:
    """Factors of rows and columns that scale their largest entries to one, as a choice of units does."""
    row = np.abs(matrix).max(axis=1, initial=0.0)
    row = 1.0 / np.where(row > 0.0, row, 1.0)
    column = np.abs(row[:, None] * matrix).max(axis=0, initial=0.0)
    return row, 1.0 / np.where(column > 0.0, column, 1.0)


def _pivots(A: Array) -> tuple[Array, Array, float]:
    """Indices of the rows and columns of a largest invertible block of A, and a ratio of singular values.

    The ratio is that of the smallest nonzero singular value to the largest, of A with rows and columns scaled to one.
    """
    row, column = unit_scales(A)
    scaled = row[:, None] * A * column
    _, values, _, rank = singular_vectors(scaled, tolerance=REGULAR, economy=True)
    work, rows, columns = scaled.copy(), [], []
    for _ in range(rank):
        i, j = map(int, np.unravel_index(int(np.argmax(np.abs(work))), work.shape))
        work = work - np.outer(work[:, j], work[i]) / work[i, j]
        work[i], work[:, j] = 0.0, 0.0
        rows.append(i)
        columns.append(j)
    smallest = float(values[rank - 1] / values[0]) if rank else 0.0
    return np.array(rows, dtype=int), np.array(columns, dtype=int), smallest


def _independent(slopes: Array, known: Array, noise: float) -> tuple[Array, Array, int]:
    """Indices of those rows of ``slopes`` that are independent of each other and of ``known``, and two further values.

    These are the orthonormal rows ``known`` extended by the new directions, and the number of dependent rows. Rows
    below ``noise`` times the largest one count as zero.
    """
    kept: list[int] = []
    rows = known
    for i, row in enumerate(slopes):
        size = float(np.linalg.norm(row))
        if size <= noise * max(float(np.linalg.norm(slopes, axis=1).max(initial=0.0)), 1e-300) or size == 0.0:
            continue
        unit = row / size
        off = unit - rows.T @ (rows @ unit)
        off = off - rows.T @ (rows @ off)
        if np.linalg.norm(off) > REGULAR:
            kept.append(i)
            rows = np.vstack([rows, off / np.linalg.norm(off)])
    return np.array(kept, dtype=int), rows, len(slopes) - len(kept)
