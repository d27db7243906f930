"""Pencils K − ω²M with K = DᵀC⁻¹D, factored below their lowest frequencies."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse.linalg import splu

from ...numerics.arrays import Array
from ...numerics.factors.low_rank import Bordered
from ...numerics.factors.positive_definite import CondensedStiffness, Solve, positive_solver
from ...numerics.factors.signature import Inertia, balance, inertia


class Pencil(Protocol):
    """Factored matrix K + s M, s ≥ 0, with the operations that a search for the lowest modes of K and M needs."""

    @property
    def m(self) -> Any:
        """Mass matrix M (n, n), sparse, or sparse with low-rank terms."""

    @property
    def shift(self) -> float:
        """Shift s of the factored matrix K + s M."""

    def velocities(self, load: Array) -> Array:
        """Velocities (K + s M)⁻¹b (n, k) for loads b (n, k)."""

    def energies(self, vectors: Array) -> Array:
        """Energies VᵀK V (k, k) of vectors V (n, k), from their strains D V, which keep the digits that K has lost."""


class CountedPencil(Pencil, Protocol):
    """Factored pencil that also computes stresses, and counts modes below a frequency by Sylvester's law of inertia."""

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Solve (K + s M) v = b for loads b (n,) or (n, k); return the velocities v and the stresses C⁻¹D v."""

    def inertia(self, frequency: float, velocity: Array) -> tuple[int, float]:
        """Number of modes below a frequency [rad/s], rigid ones included, and an error bound of their ω².

        ``velocity`` are M-orthonormal modes (n, k), on which the error of the factor is measured.
        """


class _Strained:
    """Base class of pencils with the strain operator D."""

    d: Any

    def velocities(self, load: Array) -> Array:
        """Velocities (K + s M)⁻¹b (n, k) for loads b (n, k)."""
        return self.solve(load)[0]

    def energies(self, vectors: Array) -> Array:
        """Energies VᵀK V (k, k) of vectors V (n, k), from their strains D V."""
        strain = self.d @ vectors
        return strain.T @ self.flexibility(strain)

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Velocities v = (K + s M)⁻¹b and stresses C⁻¹D v for loads b (n,) or (n, k)."""
        raise NotImplementedError

    def flexibility(self, strain: Array) -> Array:
        """Stresses C⁻¹ε (m, k) of strains ε (m, k)."""
        raise NotImplementedError


class MixedPencil(_Strained):
    """Pencil factored as [[s M, Dᵀ], [D, −C]], without C⁻¹: low frequencies keep digits that K = DᵀC⁻¹D loses."""

    def __init__(self, m: Any, c: Any, d: Any, shift: float) -> None:
        self.m, self.c, self.d, self.shift = m, c, d, shift
        self._flexibility: Solve = splu(c).solve
        matrix = sparse.csr_array(sparse.block_array([[shift * m, d.T], [d, -c]]))
        self._scale = balance(abs(matrix))  # flexibilities of thin plates in shear and bending differ by ten powers
        by_scale = sparse.diags_array(self._scale)
        self._solve = splu(sparse.csc_array(by_scale @ matrix @ by_scale)).solve

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Velocities v = (K + s M)⁻¹b and stresses C⁻¹D v for loads b (n,) or (n, k)."""
        n = self.m.shape[0]
        whole = np.concatenate([load, np.zeros((self.c.shape[0], *load.shape[1:]))])
        answer = (self._scale * self._solve((self._scale * whole.T).T).T).T
        return answer[:n], answer[n:]

    def flexibility(self, strain: Array) -> Array:
        """Stresses C⁻¹ε (m, k) of strains ε (m, k)."""
        return self._flexibility(strain)

    def inertia(self, frequency: float, velocity: Array) -> tuple[int, float]:
        """Number of modes below a frequency, and an error bound of their ω², by the inertia of [[−ωM, Dᵀ], [D, −ωC]].

        This matrix has as many negative eigenvalues as −C and K − ω²M together.
        """
        matrix = sparse.block_array([[-frequency * self.m, self.d.T], [self.d, -frequency * self.c]])
        strain = self.d @ velocity
        stress = self.flexibility(strain)
        states = np.concatenate([velocity, stress / np.sqrt(np.einsum("mk,mk->k", strain, stress))])
        counted = inertia(matrix, states)
        return counted.negative - self.c.shape[0], frequency * _size(counted)


class CondensedPencil(_Strained):
    """Pencil factored as the assembled matrix K + s M: positive definite and much smaller than the mixed matrix.

    M may be sparse, or sparse with low-rank terms.
    """

    def __init__(self, m: Any, c: Any, d: Any, *, local: CondensedStiffness, shift: float) -> None:
        self.m, self.c, self.d, self.shift, self._local = m, c, d, shift, local
        self._factor = positive_solver(shift * m + local.stiffness)

    @property
    def highest(self) -> float:
        """Highest ratio K_ii/M_ii of diagonal entries, which is near the square of the highest frequency."""
        return float(np.max(self._local.stiffness.diagonal() / self.m.diagonal()))

    def flexibility(self, strain: Array) -> Array:
        """Stresses C⁻¹ε (m, k) of strains ε (m, k)."""
        return self._local.flexibility @ strain

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Velocities v = (K + s M)⁻¹b and stresses C⁻¹D v for loads b (n,) or (n, k)."""
        velocity = self._factor(load)
        return velocity, self.flexibility(self.d @ velocity)

    def inertia(self, frequency: float, velocity: Array) -> tuple[int, float]:
        """Number of modes below a frequency, and an error bound of their ω², by the inertia of K − ω²M.

        For M = S + Q J Qᵀ with low-rank terms, J = diag(±1), the inertia of [[K − ω²S, Q], [Qᵀ, J/ω²]] is computed
        instead; it has as many additional negative eigenvalues as J has.
        """
        square, stiffness = frequency**2, self._local.stiffness
        if not isinstance(self.m, Bordered):
            counted = inertia(stiffness - square * self.m, velocity)
            return counted.negative, _size(counted)
        border, signs = _signed_border(self.m)
        corner = sparse.diags_array(signs / square)
        matrix = sparse.block_array([[stiffness - square * self.m.sparse, border], [border.T, corner]])
        states = np.concatenate([velocity, -square * signs[:, None] * (border.T @ velocity)])
        counted = inertia(matrix, states)
        return counted.negative - int(np.sum(signs < 0.0)), _size(counted)


def _signed_border(m: Bordered) -> tuple[Array, Array]:
    """Low-rank terms ½(L R + RᵀLᵀ) of a mass matrix in the form Q J Qᵀ: Q (n, 2r), and the diagonal of J = diag(±1).

    Unlike [[0, 1], [1, 0]], J has pivots.
    """
    left, right = np.linalg.norm(m.left, axis=0), np.linalg.norm(m.right, axis=1)
    used = (left > 0.0) & (right > 0.0)
    even = np.sqrt(right[used] / left[used])  # both sides of one size
    L, R = m.left[:, used] * even, m.right[used].T / even
    return 0.5 * np.hstack([L + R, L - R]), np.repeat([1.0, -1.0], L.shape[1])


def _size(counted: Inertia) -> float:
    return float(np.linalg.norm(counted.defect, 2))


def ritz(pencil: Pencil, vectors: Array) -> tuple[Array, Array]:
    """Frequencies (k,) and velocity shapes (n, k) of modes in the span of k vectors (Rayleigh-Ritz).

    The stiffness of the vectors is computed from their strains, which keep the digits that K has lost.
    """
    lower = cholesky(vectors.T @ (pencil.m @ vectors), lower=True)
    basis = solve_triangular(lower, vectors.T, lower=True).T
    values, rotation = np.linalg.eigh(pencil.energies(basis))
    return np.sqrt(np.maximum(values, 0.0)), basis @ rotation


def stresses(pencil: CountedPencil, frequencies: Array, velocity: Array) -> Array:
    """Stress amplitudes C⁻¹D v/ω (m, k) of modes v with the frequencies ω, in equilibrium with their inertia forces."""
    stress = pencil.solve(pencil.m @ velocity)[1]  # C⁻¹D v/(ω² + s)
    return stress * (frequencies**2 + pencil.shift) / frequencies
