"""Large linear matrices of bodies held by Python: inertia products, and a factor for each step length.

Python holds them if a factor saves time, if the shift to mean axes would fill them, or if strains are sums of too many
products. For bodies of linear strain the block of the flexible coordinates u̇̄ in the Jacobian, in body axes, is A + E
with the mass matrix M, the strain rows D, the compliance C of the stresses, and factors of damping α and β:

    A = 2(M − Z) + h Dᵀ(½h + β)C⁻¹D + hαM.

A is symmetric positive definite and equal for all steps of a length h: it is factored once. Z is due to the shifts to
the centre of mass and to mean axes, and of low rank. E has the gyroscopic terms, of size hω, and the terms of contacts.
With the other unknowns y, few compared with u̇̄, the sparse border of the loops is [[A + E, B], [C, D]]. Without E it
is solved by its Schur complement S = D − C A⁻¹B:

    S y = d_y − C A⁻¹d_u,   u̇̄ = A⁻¹(d_u − B y).

Columns of B belong to spins and change with u, or are combinations of a few constant columns Q: means and shapes of
nodes, turned with the body. A⁻¹Q is stored, too. E is included by conjugate residuals, preconditioned by the border
without E. For bodies of von Kármán strain the border is factored as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, qr
from scipy.sparse.linalg import splu

from ....kernels.gradient import scale_rows
from ....kernels.state import inertia_products
from ....numerics.arrays import Array
from ....numerics.factors.low_rank import without_product
from ....numerics.factors.positive_definite import positive_solver
from ..flexible.strain_operator import count_products, entries_of
from ..memory.codes import PRODUCTS, RESIST, STRAIN, VISCOUS
from ..memory.data import Index
from ..memory.memory import Memory

if TYPE_CHECKING:
    from ....kernels.arrays import Arrays
    from ....mechanisms.model.model import Model

LARGE = 300
"""Least number of flexible coordinates of linear bodies whose matrices Python holds."""
MANY, SHARE = 600, 60.0
"""Largest number s of rigid freedoms and rows of nodes for this, and largest s² per coordinate."""
LENGTHS = 4
"""Number of step lengths whose factors stay in memory: a composition takes two, control and events some more."""
DIGITS = 6
"""Digits of h that distinguish step lengths: equal steps differ by round-off, and Newton corrects the rest."""
ACCURATE = 1e-3
"""Relative size of the last pass: Newton's method converges no faster than the Jacobian changes."""
PASSES = 10
"""Passes after which the border is factored as a whole: a frame held at one end of a turning body takes many."""
PRODUCTS_OF_FEW, PRODUCTS_OF_MANY, FEW = 5e7, 1e7, 30
"""Products of slopes in the strains beyond which their arrays take many seconds to build: for slopes by at most FEW
coordinates on average, and for slopes by more, as about mean axes."""
INDEPENDENT = 1e-12
"""Least share of a column outside the span of the constant columns for which it is added to them."""

Solve = Callable[[Array], Array]


def has_kept_block(mechanism: Model) -> bool:
    """True if Python should hold the matrices of the bodies of a mechanism for the loops.

    That is so for many coordinates of linear strain with few joints, large bodies about mean axes, or strains that
    are sums of many products.
    """
    a = mechanism.network.arrays
    if has_many_products(mechanism) or any(body.unshifted for body in mechanism.frames.values()):
        return True
    n, rows = a.body_u.size, a.columns.v.size + a.columns.omega.size + a.node_shape.shape[0] + a.torque_shape.shape[0]
    is_large = a.mean is not None and n >= LARGE and not a.slopes.shape[0]
    return is_large and rows <= min(MANY, math.sqrt(SHARE * n))


def has_many_products(mechanism: Model) -> bool:
    """True if strains are sums of so many products of slopes that sparse matrices are faster than loops over them."""
    a = mechanism.network.arrays
    limit = PRODUCTS_OF_FEW if entries_of(a.slopes)[0].size <= FEW * a.slopes.shape[0] else PRODUCTS_OF_MANY
    return count_products(a.slopes, a.weights) > limit


class _Factor:
    """Factor of A for one step length: its solver, the columns Q, and A⁻¹Q as ``answers``."""

    def __init__(self, solve: Solve, size: int) -> None:
        self.solve = solve
        self._range = self.answers = np.zeros((size, 0))

    def split(self, columns: Array) -> Array:
        """Coordinates of columns (n, k) in the orthonormal basis Q, which is first extended so that it spans them."""
        size = np.linalg.norm(columns, axis=0)
        for _ in range(2):  # twice, as new columns may have a remainder
            inside = self._range.T @ columns
            left = columns - self._range @ inside
            new = np.flatnonzero(np.linalg.norm(left, axis=0) > INDEPENDENT * size)
            if not new.size:
                break
            basis, triangle, _ = qr(left[:, new] / size[new], mode="economic", pivoting=True)
            basis = basis[:, np.abs(np.diag(triangle)) > INDEPENDENT]
            basis = np.ascontiguousarray(basis - self._range @ (self._range.T @ basis))
            self._range = np.hstack([self._range, basis])
            self.answers = np.hstack([self.answers, self.solve(basis)])
        return self._range.T @ columns


class _Part:
    """Part of the border of the Jacobian, stored by rows.

    It is given by the positions, rows and columns of its entries in the storage of the border.
    """

    def __init__(self, entry: Index, row: Index, column: Index, shape: tuple[int, int]) -> None:
        order = np.lexsort((column, row))
        self.entry, self.row, self.column, self.shape = entry[order], row[order], column[order].astype(np.int32), shape
        self._ends = np.searchsorted(self.row, np.arange(shape[0] + 1)).astype(np.int32)

    def of(self, values: Array) -> Any:
        """Part of the border of the Jacobian as a sparse matrix, from the values of all entries of the border."""
        return self.having(values[self.entry])

    def having(self, values: Array) -> Any:
        """Part of the border of the Jacobian as a sparse matrix, from the values of the entries of the part alone."""
        part = sparse.csr_array((values, self.column, self._ends), shape=self.shape)
        part.has_canonical_format = True
        return part


class KeptBlock:
    """Callback for the bodies of a mechanism whose matrices Python holds: products, and solutions of linear systems."""

    def __init__(self, mechanism: Model, m: Memory, matrix: Any) -> None:
        self._a, self._m, size = mechanism.network.arrays, m, matrix.shape[0]
        self.u = m.border_m.copy()
        self.y = np.setdiff1d(np.arange(size), self.u)
        place = np.empty(size, dtype=np.int64)
        place[self.u], place[self.y] = np.arange(self.u.size), np.arange(self.y.size)
        turning = np.isin(self.y, m.border_w[m.border_w >= 0])
        self._turning, self._others = np.flatnonzero(turning), np.flatnonzero(~turning)
        is_u, column = np.isin(np.arange(size), self.u), np.repeat(np.arange(size), np.diff(matrix.indptr))
        row, n, k = matrix.indices, self.u.size, self.y.size
        self._A, self._B, self._C, self._D = (
            _Part(part, place[row[part]], place[column[part]], shape)
            for part, shape in (
                (np.flatnonzero(is_u[row] & is_u[column]), (n, n)),
                (np.flatnonzero(is_u[row] & ~is_u[column]), (n, k)),
                (np.flatnonzero(~is_u[row] & is_u[column]), (k, n)),
                (np.flatnonzero(~is_u[row] & ~is_u[column]), (k, k)),
            )
        )
        self._slope = np.zeros(self._a.slopes.shape[0])  # slopes of the mean coordinates of a step
        self._factors: dict[float, _Factor | None] = {}

    def process(self, request: int) -> None:
        """Compute the products of large matrices that the loops request, and store them in the memory.

        They are products with inertia, with viscous damping, and with the matrices of strains and stresses.
        """
        m, a = self._m, self._a
        if request == PRODUCTS:
            products = inertia_products(a, m.run_asked)
            m.run_answered[:, : len(products)] = products.T
        elif request == VISCOUS:
            m.run_answered[:, 0] = a.viscous @ m.run_asked
        elif request == STRAIN:
            self._slope = a.slopes @ m.trial_u
            m.trial_local[:] = a.strain @ m.x_du + a.weights @ (self._slope * (a.slopes @ m.x_du))
        else:
            assert request == RESIST
            pulled = a.strain.T @ m.trial_stress + a.slopes.T @ (self._slope * (a.weights.T @ m.trial_stress))
            m.run_answered[:, 0] = pulled + a.viscous @ m.x_du

    def factor(self, values: Array) -> Solve | None:
        """Solver of the border of the Jacobian whose entries have the given values; None if it is singular."""
        m = self._m
        h = float(m.run_length[0])
        pays = self._a.border is not None and not self._slope.size and self.y.size <= MANY
        A = self._of(h) if pays else None
        rest = _Rest(self._a, h, m.at_w.copy(), m.end_w.copy(), self._A.of(values))
        parts = self._B.of(values), self._C.of(values), self._D.of(values)
        without = None if A is None else self._without_rest(A, *parts)
        if without is None:
            return self._whole(rest, *parts)
        if rest.is_small:
            return without
        whole: list[Solve] = []

        def solve(defect: Array) -> Array:
            if not whole:
                solution = self._with_rest(rest, without, defect)
                if solution is not None:
                    return solution
                factored = self._whole(rest, *parts)
                if factored is None:
                    return without(defect)  # Newton's method then reports failure
                whole.append(factored)
            return whole[0](defect)

        return solve

    def _of(self, h: float) -> _Factor | None:
        """Factor of A for a step length [s], one of the last ones or a new one; None if A is indefinite."""
        key = float(f"{h:.{DIGITS}e}")
        factor = self._factors.pop(key) if key in self._factors else self._factored(key)
        self._factors[key] = factor
        if len(self._factors) > LENGTHS:
            del self._factors[next(iter(self._factors))]
        return factor

    def _factored(self, h: float) -> _Factor | None:
        """New factor of A for a step length [s]; None if A is indefinite, as for steps back in time with damping."""
        a, n = self._a, self.u.size
        rows = np.flatnonzero(np.diff(a.border.indptr))  # rows of rigid bodies are empty
        elastic = a.strain.T @ scale_rows(a.rise, h * (0.5 * h + a.stress_damping))
        try:
            inner = positive_solver(2.0 * a.stack[:n] + elastic + h * a.viscous)
            left = 2.0 * a.border_stack[:n][:, rows].toarray()
            return _Factor(without_product(inner, left, a.border[rows]), n)
        except (ValueError, RuntimeError):
            return None

    def _flexible(self, h: float) -> Any:
        """Part of the block of flexible coordinates due to stresses and damping, for a step length h [s].

        The part is h D̄ᵀ(½h + β)C⁻¹D₁, with the geometric and viscous terms; D̄ and D₁ are the strain rows in the mean
        and at the end of the step.
        """
        a, m = self._a, self._m
        strain, rise, viscous = a.strain, a.rise, a.viscous
        if self._slope.size:
            end, pull = a.slopes @ (m.trial_u + 0.5 * h * m.x_du), 0.5 * h * (a.weights.T @ m.trial_stress)
            strain = strain + a.weights @ scale_rows(a.slopes, self._slope)
            rise = rise + a.bend @ scale_rows(a.slopes, end)
            viscous = viscous + a.slopes.T @ scale_rows(a.slopes, pull)
        return h * (strain.T @ scale_rows(rise, 0.5 * h + a.stress_damping) + viscous)

    def _without_rest(self, A: _Factor, B: Any, C: Any, D: Any) -> Solve | None:
        """Solver of the border of the Jacobian without the terms E, by its Schur complement; None if it is singular.

        The border has the parts A, B, C and D.
        """
        S, turning, others = D.toarray(), self._turning, self._others
        by_spins = A.solve(B[:, turning].toarray())
        inside = A.split(B[:, others].toarray())
        answers = A.answers
        S[:, turning] -= C @ by_spins
        S[:, others] -= (C @ answers) @ inside
        inner = _dense_solver(S)
        if inner is None:
            return None

        def solve(defect: Array) -> Array:
            alone = A.solve(np.ascontiguousarray(defect[self.u]))
            y = inner(defect[self.y] - C @ alone)
            solution = np.empty_like(defect)
            solution[self.u] = alone - by_spins @ y[turning] - answers @ (inside @ y[others])
            solution[self.y] = y
            return solution

        return solve

    def _with_rest(self, rest: _Rest, without: Solve, defect: Array) -> Array | None:
        """Solve with the border of the Jacobian, including E, by generalised conjugate residuals.

        Returns None if the residuals do not decrease fast.

        ``defect`` is the right-hand side. With the border without E as preconditioner, residuals are in the rows of
        u̇̄ alone: a pass takes one solution by the preconditioner and one product with E.
        """
        u, solution = self.u, without(defect)
        left, spread = -rest.product(solution[u]), np.zeros_like(defect)
        directions: list[tuple[Array, Array]] = []
        for _ in range(PASSES):
            spread[u] = left
            step = without(spread)
            if np.linalg.norm(step[u]) <= ACCURATE * np.linalg.norm(solution[u]):
                return solution + step
            image = left + rest.product(step[u])
            for earlier, earlier_image in directions:
                share = float(earlier_image @ image)
                step, image = step - share * earlier, image - share * earlier_image
            size = 1.0 / np.linalg.norm(image)
            step, image = size * step, size * image
            share = float(image @ left)
            solution, left = solution + share * step, left - share * image
            directions.append((step, image))
        return None

    def _whole(self, rest: _Rest, B: Any, C: Any, D: Any) -> Solve | None:
        """Solver of the border of the Jacobian with E, which is factored as a whole; None if it is singular.

        A + E has a term of low rank, due to the shift to the centre of mass and to mean axes; its factors enter as
        further rows and columns. ``rest`` are the terms E; B, C and D are the other parts of the border.
        """
        a, block, n = self._a, rest.weighted(self._a.stack) + self._flexible(rest.h), self.u.size
        if a.border is None:  # folded into the dense matrices of a small mechanism
            parts = [[block + rest.added.toarray(), B.toarray()], [C.toarray(), D.toarray()]]
            backward, extra = _dense_solver(np.block(parts)), 0
        else:
            extra, left = a.border.shape[0], rest.weighted(a.border_stack)
            rows = [[block + rest.added, B, -left], [C, D, None], [-a.border, None, sparse.eye_array(extra)]]
            backward = _sparse_solver(sparse.csc_array(sparse.block_array(rows)))
        if backward is None:
            return None

        def solve(defect: Array) -> Array:
            y = backward(np.concatenate([defect[self.u], defect[self.y], np.zeros(extra)]))
            solution = np.empty_like(defect)
            solution[self.u], solution[self.y] = y[:n], y[n : len(defect)]
            return solution

        return solve


def _sparse_solver(matrix: Any) -> Solve | None:
    """Solver of a sparse matrix; None if it is singular."""
    try:
        solve: Solve = splu(matrix, permc_spec="COLAMD").solve
    except RuntimeError:
        return None
    return solve


def _dense_solver(matrix: Array) -> Solve | None:
    """Solver of a dense matrix by its factors; None if it is singular.

    Rows and columns are scaled first: for an impulse, a step of nearly zero length h, some rows are larger by 1/h.
    """
    rows = _scales(matrix, 1)
    scaled = rows[:, None] * matrix
    columns = _scales(scaled, 0)
    lu, pivots, info = lapack.dgetrf(scaled * columns)
    return None if info > 0 else lambda right: columns * lapack.dgetrs(lu, pivots, rows * right)[0]


def _scales(matrix: Array, axis: int) -> Array:
    """Powers of two that bring the largest entries along an axis to between ½ and 1; 1 where all are zero."""
    scales: Array = np.ldexp(1.0, -np.frexp(np.abs(matrix).max(axis=axis))[1])
    return scales


class _Rest:
    """Terms E of the Jacobian in a step of length h [s]: gyroscopic, centrifugal, and ``added`` ones of contacts.

    The spins of the bodies are (b, s) at both ends of the step.
    """

    def __init__(self, a: Arrays, h: float, before: Array, after: Array, added: Any) -> None:
        self._a, self.h, self.added = a, h, added
        self._before, self._after = (np.ascontiguousarray(w[a.body_u].T) for w in (before, after))  # (s, n)
        self._adds = bool(added.data.any())

    @property
    def is_small(self) -> bool:
        """True if there are no added terms and hω is below the tolerance of the passes."""
        largest = max(float(np.abs(w).max(initial=0.0)) for w in (self._before, self._after))
        return not self._adds and abs(self.h) * largest <= 0.1 * ACCURATE

    def product(self, du: Array) -> Array:
        """Product E u̇̄, (n,)."""
        s, h, w0, w1 = len(self._before), self.h, self._before, self._after
        products = inertia_products(self._a, du)
        squares = np.einsum("abn,bn->an", products[1 + s :].reshape(s, s, du.size), w1)
        of_spins: Array = (h * (w0 + w1) * products[1 : 1 + s] - 0.5 * h * h * w0 * squares).sum(axis=0)
        return of_spins + self.added @ du if self._adds else of_spins

    def weighted(self, stack: Any) -> Any:
        """Sum 2M + 2hω̄N − ½h²ω₀ω₁K over the stacked inertia matrices M, N_a and K_ab, or over those of the shifts.

        See memory.data.Inertia for the matrices. ω₀ and ω₁ are the spins at the two ends of the step, ω̄ their mean.
        """
        n, s, h, w0, w1 = len(self._before[0]), len(self._before), self.h, self._before, self._after
        weighted = 2.0 * stack[:n]
        for i in range(s):
            weighted = weighted + scale_rows(stack[(1 + i) * n : (2 + i) * n], h * (w0 + w1)[i])
            for j in range(s):
                k = 1 + s + i * s + j
                weighted = weighted - scale_rows(stack[k * n : (k + 1) * n], 0.5 * h * h * w0[i] * w1[j])
        return weighted
