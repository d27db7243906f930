"""Shapes of a finite-element model: lowest vibration modes and static responses."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import positive_solver
from ...numerics.ranks import pivots, singular_vectors

DENSE_LIMIT = 400
"""Number of degrees of freedom up to which modes are computed by dense algebra."""
RANK = 1e-8
"""Singular value, relative to the largest one, below which supports leave a rigid motion free."""
SINGULAR = "stiffness must be positive definite up to rigid motions, but is not with the model fixed"


class FreeOrFixed:
    """Model M ü + K u = f of nodal displacements u, clamped at ``fixed`` degrees of freedom or, without any, free.

    A free model deforms without mean motion, RᵀMu = 0 for the rigid motions R (n, d + s), and a force is balanced by
    the inertia forces of the rigid motion it causes (inertia relief).
    """

    def __init__(self, mass: Any, stiffness: Any, rigid: Array, fixed: np.ndarray) -> None:
        self.mass, self.stiffness, self.rigid, self.fixed = mass, stiffness, rigid, fixed
        if fixed.size:
            held = singular_vectors(rigid[fixed] / np.linalg.norm(rigid, axis=0), tolerance=RANK, economy=True)
            if held.rank < rigid.shape[1]:
                raise ValueError("fixed nodes must prevent every rigid motion, got too few, or nodes on a line")

    @cached_property
    def _held(self) -> np.ndarray:
        """Degrees of freedom that fix the model: the given ones, or a minimal set that determines its rigid motion."""
        if self.fixed.size:
            return self.fixed
        unit = self.rigid / np.linalg.norm(self.rigid, axis=0)
        return pivots(unit.T)[: self.rigid.shape[1]]

    @cached_property
    def _solve(self) -> Any:
        free = np.setdiff1d(np.arange(len(self.rigid)), self._held)
        held = sparse.csc_array(self.stiffness[free][:, free])
        try:
            return free, positive_solver(held)
        except ValueError:
            raise ValueError(SINGULAR) from None

    @cached_property
    def _projector(self) -> tuple[Array, Array]:
        """Matrices MR and R(RᵀMR)⁻¹ of the projection on rigid motions."""
        moved = self.mass @ self.rigid
        return moved, np.linalg.solve(self.rigid.T @ moved, self.rigid.T).T

    def response(self, force: Array) -> Array:
        """Static displacement (n, k) under forces (n, k)."""
        free, solve = self._solve
        if not self.fixed.size:
            moved, dual = self._projector
            force = force - moved @ (dual.T @ force)
        solution = np.zeros_like(force)
        solution[free] = solve(np.ascontiguousarray(force[free]))
        return solution if self.fixed.size else solution - dual @ (moved.T @ solution)

    def modes(self, count: int) -> Array:
        """Lowest vibration modes without rigid motions, (n, count)."""
        size = len(self.rigid)
        if not count:
            return np.zeros((size, 0))
        most = size - (self.fixed.size or self.rigid.shape[1])
        if count > most:
            raise ValueError(f"modes must be at most {most} of this model, got {count}")
        if size <= DENSE_LIMIT or count > size // 3:
            return self._dense(count)
        inverse = LinearOperator((size, size), matvec=lambda f: self.response(f.reshape(-1, 1)).ravel(), dtype=float)
        start = self.response(
            np.random.default_rng(0).standard_normal((size, 1))
        )  # a fixed seed, for reproducible results
        return eigsh(self.stiffness, k=count, M=self.mass, sigma=0.0, OPinv=inverse, v0=start.ravel())[1]

    def _dense(self, count: int) -> Array:
        """Modes from the flexibility F: F M v = v/ω², with a root of M, which may be singular."""
        values, vectors = eigh(self.mass.toarray())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        flexible = root.T @ self.response(root)
        low, turned = eigh(0.5 * (flexible + flexible.T))
        pick = slice(None, -count - 1, -1)
        if not low[pick][-1] > np.finfo(float).eps * low[-1]:
            raise ValueError(f"modes must be at most as many as masses that can vibrate, got {count}")
        return self.response(root @ turned[:, pick] / low[pick])
