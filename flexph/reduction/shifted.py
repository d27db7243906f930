"""Systems shifted to a point of the complex plane: what transfer functions and Krylov spaces solve with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, lu_factor, lu_solve
from scipy.sparse.linalg import splu

from .. import checks as check
from ..linear import LinearPHDAE
from ..space import Array
from ..split import Split, split

SINGULAR = 1e-3
"""Relative error of a solution that is known beforehand, from which a matrix counts as singular to round-off."""


@dataclass(frozen=True)
class Shifted:
    """The matrix polynomial ``P(s) = A₀ + s A₁ + s² A₂`` of a system, and solutions with it.

    Systems that split into velocities and stresses (:func:`flexph.split.split`) have unknowns (q, σ, λ), v = s q:

        P(s) = [[s²M + s (R_v − J_v), Dᵀ, −Gᵀ], [D, −C, 0], [G, 0, 0]],   H(s) = s Bᵀq,

    which also holds at s = 0, keeps the digits that DᵀC⁻¹D loses on fine meshes, and needs no C⁻¹. Others have (x, λ):

        P(s) = [[s E − (J − R), −Gᵀ], [G, 0]],   H(s) = Bᵀx.

    ``P(s) X = load`` with the load (B, 0) of all inputs, or of some ports. The matrices are sparse or dense as the
    system.
    """

    system: LinearPHDAE
    ports: tuple[str, ...] | None = None

    @cached_property
    def split(self) -> Split | None:
        """Velocities and stresses, where the system has them."""
        return split(self.system)

    @cached_property
    def size(self) -> int:
        """Number of leading unknowns: displacements, or states."""
        return int(self.system.size if self.split is None else len(self.split.velocities))

    @cached_property
    def columns(self) -> Array:
        """The columns of B in use."""
        names = self.system.ports if self.ports is None else self.ports
        taken = [check.lookup("port", name, self.system.ports) for name in names]
        return np.concatenate([np.zeros(0, dtype=int), *(np.arange(t.start, t.stop) for t in taken)])

    @cached_property
    def weight(self) -> Any:
        """The inner product of the leading unknowns: M of a system that splits, E of another."""
        return self.system.E if self.split is None else self.split.M

    @cached_property
    def load(self) -> Array:
        """The right-hand side (B, 0), dense."""
        inputs = dense(self.system.B if self.split is None else self.split.B)
        full = inputs if self.ports is None else inputs[:, self.columns]
        return np.vstack([full, np.zeros((self.matrices[0].shape[0] - len(full), full.shape[1]))])

    @cached_property
    def matrices(self) -> tuple[Any, Any, Any]:
        """A₀, A₁, A₂; sparse ones share one pattern."""
        x, p = self.system, self.split
        made: tuple[list[list[Any]], ...]
        if p is None:
            made = ([[x.R - x.J, -x.G.T], [x.G, None]], [[x.E]], [])
        else:
            made = ([[None, p.D.T, -p.G.T], [p.D, -p.C, None], [p.G, None, None]], [[p.Rv - p.Jv]], [[p.M]])
        total = x.size + x.G.shape[0]
        whole = [_padded(blocks, total) for blocks in made]
        if not x.is_sparse:
            return whole[0].toarray(), whole[1].toarray(), whole[2].toarray()
        pattern = sum(abs(a) for a in whole)
        pattern = sparse.csc_array((np.ones(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)
        return tuple(_on(pattern, a) for a in whole)

    def at(self, s: complex) -> Any:
        """P(s): real where s is."""
        a0, a1, a2 = self.matrices
        s = complex(s).real if complex(s).imag == 0.0 else complex(s)
        if not sparse.issparse(a0):
            return a0 + s * a1 + s**2 * a2
        return sparse.csc_array((a0.data + s * a1.data + s**2 * a2.data, a0.indices, a0.indptr), shape=a0.shape)

    def slope(self, s: complex, x: Array) -> Array:
        """P′(s) x."""
        _, a1, a2 = self.matrices
        made: Array = a1 @ x + 2.0 * s * (a2 @ x)
        return made

    def curvature(self, x: Array) -> Array:
        """½ P″ x."""
        made: Array = self.matrices[2] @ x
        return made

    def factor(self, s: complex, *, audited: bool = True) -> Callable[[Array], Array]:
        """A function that solves P(s) X = Y. Raises ValueError where s is a pole.

        A pole to round-off is found by a solution known beforehand; without this audit, an exact one only.
        """
        p = self.at(s)
        try:
            solve = _sparse_solver(p) if sparse.issparse(p) else _dense_solver(p)
        except (RuntimeError, LinAlgError):
            raise ValueError(_pole(s)) from None
        if not audited:
            return solve
        known = np.random.default_rng(0).standard_normal(p.shape[0]) * self._scale
        found = solve(p @ known)
        if not np.linalg.norm((found - known) / self._scale) <= SINGULAR * np.linalg.norm(known / self._scale):
            raise ValueError(_pole(s))
        return solve

    @cached_property
    def _scale(self) -> Array:
        """Magnitudes that bring the unknowns to one unit: the columns of A₀ and A₁ are as large as their rows."""
        a0, a1, a2 = (abs(a) for a in self.matrices)
        largest = (a0 + a1 + a2).max(axis=0)
        size = largest.toarray().ravel() if sparse.issparse(largest) else np.asarray(largest)
        return 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))

    def state(self, s: complex, solution: Array) -> Array:
        """The states x of a solution."""
        if self.split is None:
            return solution[: self.size]
        made = np.empty((self.system.size, *solution.shape[1:]), dtype=np.result_type(solution, type(s)))
        made[self.split.velocities] = s * solution[: self.size]
        made[self.split.stresses] = solution[self.size : self.system.size]
        return made

    def transfer(self, s: complex, solution: Array) -> Array:
        """H(s) (m, m) from a solution with the load."""
        made: Array = self.load[: self.size].T @ solution[: self.size]
        return made if self.split is None else s * made

    def transfer_slope(self, solution: Array) -> Array:
        """The part of dH/ds from the factor s in front of Bᵀq."""
        made: Array = self.load[: self.size].T @ solution[: self.size]
        return np.zeros_like(made) if self.split is None else made


def dense(a: Any) -> Array:
    """A matrix as an array."""
    made: Array = a.toarray() if sparse.issparse(a) else np.asarray(a)
    return made


def _pole(s: complex) -> str:
    s = complex(s).real if complex(s).imag == 0.0 else s
    return f"s = {s:.6g} rad/s is a pole of the system, to round-off: the transfer function does not exist there"


def _padded(blocks: list[Any], total: int) -> Any:
    """Blocks in the upper left corner of a square matrix."""
    if not blocks:
        return sparse.csc_array((total, total))
    filled = [[None if b is None else sparse.csc_array(b) for b in row] for row in blocks]
    made = sparse.coo_array(sparse.block_array(filled))
    return sparse.csc_array((made.data, (made.row, made.col)), shape=(total, total))


def _on(pattern: Any, a: Any) -> Any:
    """The matrix with explicit zeros on the whole pattern."""
    a.sort_indices()
    data = np.zeros(pattern.nnz)
    columns = np.repeat(np.arange(a.shape[1]), np.diff(a.indptr))
    keys = columns * a.shape[0] + a.indices
    own = np.repeat(np.arange(a.shape[1]), np.diff(pattern.indptr)) * a.shape[0] + pattern.indices
    data[np.searchsorted(own, keys)] = a.data
    return sparse.csc_array((data, pattern.indices, pattern.indptr), shape=a.shape)


def _sparse_solver(p: Any) -> Callable[[Array], Array]:
    factors = splu(p, permc_spec="COLAMD")
    if np.iscomplexobj(p.data):
        return lambda y: factors.solve(np.ascontiguousarray(y, dtype=complex))

    def solve(y: Array) -> Array:
        if np.iscomplexobj(y):
            return factors.solve(np.ascontiguousarray(y.real)) + 1j * factors.solve(np.ascontiguousarray(y.imag))
        made: Array = factors.solve(np.ascontiguousarray(y))
        return made

    return solve


def _dense_solver(p: Array) -> Callable[[Array], Array]:
    factors = lu_factor(p, check_finite=False)
    if not np.all(np.diag(factors[0])):
        raise LinAlgError
    return lambda y: lu_solve(factors, y, check_finite=False)
