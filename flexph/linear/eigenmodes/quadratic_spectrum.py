"""Spectrum of M η̈ + (C + R) η̇ + K η = 0, M positive definite, C skew, R positive semi-definite.

Modal coordinates of M and the symmetric part of K are used. With displacements in units of their frequencies the
first-order matrices have the size of frequencies, not of their squares: slow motions keep their digits next to stiff
ones. Growth is decided by theorems where they apply:

- R ⪰ 0 and K = Kᵀ without a negative direction: no motion grows (the energy is bounded);
- K = Kᵀ and C = 0: as many motions grow as K has negative directions (Kelvin, Tait, Chetaev);

otherwise by the real part of s against its uncertainty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, eig, eigh, null_space, solve_triangular

from ...numerics.arrays import Array
from ...numerics.factors.signature import Signature, signature

SPREAD = 1e-4
"""Relative square of frequencies below which they are recomputed in a separate space."""
DRIFT = 1e-10
"""Singular value of the gyroscopic coupling of neutral motions, relative to the largest of all, that counts as zero."""
NEAR = 1e-3
"""Largest relative correction that is applied."""
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


SLOW = 1e-6
"""Growth, relative to the slowest other motion, up to which round-off of a neutral motion is not reported."""


class Noise(NamedTuple):
    """Errors of a matrix K = PᵀK'P, by upper bounds ``size`` (N, N), sparse, of the errors of the entries of K'.

    ``basis`` is P (N, n).
    """

    size: Any
    basis: Array

    def entries(self) -> Array:
        """Upper bounds (n, n) of the errors of the entries of K, |P|ᵀ size |P|, symmetric."""
        bounds = np.abs(self.basis).T @ (self.size @ np.abs(self.basis))
        return 0.5 * (bounds + bounds.T)

    def along(self, y: Array, x: Array) -> Array:
        """Upper bounds (k,) of the errors of yᵀK x for each pair of columns of y and x, (n, k)."""
        return np.sum(np.abs(self.basis @ y) * (self.size @ np.abs(self.basis @ x)), axis=0)


class SmallMotion(NamedTuple):
    """Equation M η̈ + (C + R) η̇ + K η = 0 of small motions: M, C, R, K (n, n), and the errors of K as ``noise``."""

    mass: Array
    gyroscopic: Array
    damping: Array
    stiffness: Array
    noise: Noise


class Modal(NamedTuple):
    """Coordinates in which M and the symmetric part K_s = ½(K + Kᵀ) are diagonal: VᵀMV = 1, VᵀK_sV = diag(squares).

    ``vectors`` are V (n, n); the last k of them are neutral, without stiffness within the errors of K. ``squares`` (n −
    k,) belong to the other vectors and descend in magnitude.
    """

    vectors: Array
    squares: Array
    signature: Signature

    @property
    def root(self) -> Array:
        """Roots √|squares| of the coordinates that are not neutral, (n − k,): frequencies, or growth rates, [rad/s]."""
        return np.sqrt(np.abs(self.squares))


class Solution(NamedTuple):
    """Exponents s (2n,) and complex shapes (n, 2n) of the quadratic eigenvalue problem.

    ``growth`` is the largest real part that exceeds its error bound, ``uncertain`` the largest one that does not.
    """

    values: Array
    shapes: Array
    growth: float
    uncertain: float


def modal_coordinates(motion: SmallMotion) -> Modal:
    """Modal coordinates of a small motion: modes of M and the symmetric part of K.

    Raises ArithmeticError if the number of negative ω² differs from that of the negative directions of K.
    """
    M, K = 0.5 * (motion.mass + motion.mass.T), 0.5 * (motion.stiffness + motion.stiffness.T)
    signs = signature(motion.stiffness, motion.noise.entries())
    if not len(M):
        return Modal(np.zeros((0, 0)), np.zeros(0), signs)
    lower = cholesky(M, lower=True)
    back = lambda x: solve_triangular(lower, x, lower=True, trans=1)  # noqa: E731 - to coordinates η
    neutral = np.linalg.qr(lower.T @ signs.neutral)[0]
    vectors, squares = _modes(K, back(null_space(neutral.T)) if neutral.size else back(np.eye(len(M))))
    if signs.symmetric and np.sum(squares < 0.0) != signs.negative:
        raise ArithmeticError(
            f"the stiffness has {signs.negative} negative directions, but {np.sum(squares < 0.0)} growing motions were "
            "found: it is too ill-conditioned for this mesh"
        )
    return Modal(np.hstack([vectors, back(neutral)]), squares, signs)


def _modes(K: Array, basis: Array) -> tuple[Array, Array]:
    """M-orthonormal eigenvectors of K in the span of a basis, and their ω², by descending magnitude.

    Round-off of the largest ones hides the smallest: these are recomputed in the complement of the largest.
    """
    squares, coefficients = eigh(basis.T @ K @ basis)
    order = np.argsort(-np.abs(squares), kind="stable")
    squares, vectors = squares[order], basis @ coefficients[:, order]
    fast = np.abs(squares) >= SPREAD * np.abs(squares).max(initial=0.0)
    if fast.all():
        return vectors, squares
    slow_vectors, slow = _modes(K, vectors[:, ~fast])
    return np.hstack([vectors[:, fast], slow_vectors]), np.append(squares[fast], slow)


def solve(motion: SmallMotion) -> Solution:
    """Solve (M s² + (C + R) s + K) x = 0 for all exponents s and their shapes x."""
    m = modal_coordinates(motion)
    C, R = (m.vectors.T @ part @ m.vectors for part in (motion.gyroscopic, motion.damping))
    if m.signature.symmetric and not R.any() and not C.any():
        solution = _undamped_exponents(m)
    elif m.signature.symmetric and not R.any() and not m.signature.negative:
        solution = _gyroscopic(m, 0.5 * (C - C.T))
    else:
        solution = _general(motion, m, 0.5 * (C - C.T), R)
    return solution._replace(uncertain=max(solution.uncertain, _neutral_growth(motion, m)))


def _neutral_growth(motion: SmallMotion, m: Modal) -> float:
    """Upper bound [1/s] of the growth that neutral motions could have within the errors of K.

    Zero is returned if this growth is far slower than all other motions.
    """
    neutral = m.vectors[:, m.squares.size :]
    growth = float(np.sqrt(motion.noise.along(neutral, neutral).max(initial=0.0)))
    return growth if growth > SLOW * m.root.min(initial=np.inf) else 0.0


def _undamped_exponents(m: Modal) -> Solution:
    """Exponents and shapes for C = R = 0 and symmetric K: s² = −squares."""
    s, k = np.sqrt(-m.squares.astype(complex)), m.vectors.shape[1] - m.squares.size
    values = np.concatenate([s, -s, np.zeros(2 * k)])
    elastic, neutral = np.split(m.vectors, [m.squares.size], axis=1)
    return Solution(
        values, np.hstack([elastic, elastic, neutral, neutral]).astype(complex), values.real.max(initial=0.0), 0.0
    )


def _gyroscopic(m: Modal, C: Array) -> Solution:
    """Exponents and shapes for R = 0 and K without negative directions, by a Hermitian matrix.

    All s are exactly imaginary. States are the velocities and root·η. Of k neutral motions, k − rank of C among them
    drift, with s = 0.
    """
    n, r = len(C), m.squares.size
    L = np.eye(n, r) * m.root
    values, vectors = np.linalg.eigh(-1j * np.block([[-C, -L], [L.T, np.zeros((r, r))]]))
    coupled = np.linalg.svd(C[r:, r:], compute_uv=False)
    drifts = int(np.sum(coupled <= DRIFT * np.abs(C).max(initial=0.0)))
    values[np.argsort(np.abs(values), kind="stable")[:drifts]] = 0.0
    shapes = m.vectors @ (vectors[:n] / np.where(values == 0.0, 1.0, 1j * values))
    return Solution(
        np.append(1j * values, np.zeros(n - r)), np.hstack([shapes, m.vectors[:, r:].astype(complex)]), 0.0, 0.0
    )


def _general(motion: SmallMotion, m: Modal, C: Array, R: Array) -> Solution:
    """Exponents and shapes for any C, R and K, from the first-order system of η̇ and root·η, η modal coordinates."""
    n, r = len(C), m.squares.size
    root = np.maximum(m.root, EPS * m.root.max(initial=0.0))
    K = _modal_stiffness(motion, m)
    states = np.block([[-(C + R), -K / root], [(np.eye(n, r) * root).T, np.zeros((r, r))]])
    values, left, right = eig(states, left=True)
    moving = np.where(values == 0.0, 1.0, values)
    x, y = np.vstack([right[n:] / root[:, None], right[r:n] / moving]), left[:n].conj()
    values, uncertain = _newton_step(motion, m, (C + R, K), (values, x, y))
    if m.signature.symmetric and not m.signature.negative:
        values = np.minimum(values.real, 0.0) + 1j * values.imag
    elif m.signature.symmetric and not C.any():
        uncertain = np.zeros(len(values))
    is_certain = values.real > uncertain
    shapes = m.vectors @ np.where(np.any(x != 0.0, axis=0), x, right[:n])
    return Solution(
        values=np.append(values, np.zeros(n - r)),
        shapes=np.hstack([shapes, m.vectors[:, r:].astype(complex)]),
        growth=float(values.real[is_certain].max(initial=0.0)),
        uncertain=float(values.real[~is_certain].max(initial=0.0)),
    )


def _modal_stiffness(motion: SmallMotion, m: Modal) -> Array:
    """Matrix VᵀKV (n, r) without the columns of neutral motions, which are zero."""
    n, r = len(motion.mass), m.squares.size
    if m.signature.symmetric:
        return np.eye(n, r) * m.squares
    K: Array = m.vectors.T @ motion.stiffness @ m.vectors[:, :r]
    K[:r] += np.diag(m.squares) - 0.5 * (K[:r] + K[:r].T)  # the symmetric part with all its digits
    return K


def _newton_step(
    motion: SmallMotion, m: Modal, matrices: tuple[Array, Array], triples: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """Correct eigenvalues s of (s² + D s + K)x = 0 by one Newton step, and estimate the uncertainty that remains.

    D and K are in modal coordinates; ``triples`` are the s (k,) with right and left vectors x and y. The step solves
    p(s) = yᵀ(s² + D s + K)x = 0; it is exact to second order in the errors of x and y. The uncertainty by errors of K
    and by round-off ε of the sums is (|y|ᵀ noise |x| + n ε(|s² yᵀx| + |s yᵀDx|))/|p'|. Returns the corrected s and
    their uncertainty.
    """
    (D, K), (s, x, y) = matrices, triples
    square, linear, constant = ((y * part).sum(axis=0) for part in (x, D @ x, K @ x[: K.shape[1]]))
    size = motion.noise.along(m.vectors @ y, m.vectors @ x)
    size += len(D) * EPS * (np.abs(s**2 * square) + np.abs(s * linear))
    slope = 2.0 * s * square + linear
    steep = np.abs(slope) > size / np.maximum(np.abs(s), TINY)  # otherwise s is undetermined
    step = np.where(steep, s**2 * square + s * linear + constant, 0.0) / np.where(steep, slope, 1.0)
    near = steep & (np.abs(step) <= NEAR * np.abs(s))
    return np.where(near, s - step, s), np.where(steep, size / np.where(steep, np.abs(slope), 1.0), np.abs(s))
