"""Lowest modes of a pencil outside of given motions by the block Lanczos method, and a test for missed modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, qr, solve_triangular, svd

from ...numerics.arrays import Array
from .shift_invert import Pencil

WIDTH = 8
"""Block size. A solution with eight loads takes two to three times that with one, and eight modes of one frequency show
at once; 4 to 12 take the same time within a tenth (18 modes, 20 000 to 45 000 coordinates)."""
WIDEST = 20
"""Number of blocks in a basis before it is restarted with its best vectors; 12 to 20 are usual."""
BLOCKS = 400
"""Number of blocks after which a search is abandoned."""
SETTLED = 1e-12
"""Relative residual of 1/(ω² + s) at which a mode has converged."""
ROUND_OFF = 1e2 * float(np.finfo(float).eps)
"""Residual, relative to the value of the lowest mode, that suffices as well: its round-off affects all modes.

ω² is accurate to the square of the residual.
"""
DEPENDENT = 1e-10
"""Length of a vector's remainder outside the basis, relative to its length, below which it is round-off."""
OUTSIDE = 1e-2
"""Share of a vector's squared length outside the basis above which one orthogonalisation suffices."""
DOUBT = 1e-9
"""Accepted probability of overlooking a mode."""
UNEVEN = 10.0
"""Factor that the test grants on n: random vectors are uniform in the diagonal of M, not in M itself."""


class Krylov(NamedTuple):
    """Krylov space of (K + s M)⁻¹M: orthonormal ``basis`` (n, k), and its Ritz values 1/(ω² + s), descending.

    ``vectors`` (k, k) are the Ritz vectors in the basis, ``residuals`` (k,) the norms of their residuals.
    """

    basis: Array
    values: Array
    vectors: Array
    residuals: Array


def lanczos(pencil: Pencil, count: int, complement: Complement) -> Array:
    """Shapes (n, count) of the lowest modes of a pencil, in the complement of given motions.

    The block Lanczos method orthogonalises in full and restarts by Ritz vectors. It solves for eight right-hand sides
    at once: it is faster than ARPACK from 36 000 coordinates on, and slower for small systems
    (benchmarks/large_body.py). Raises ArithmeticError if modes do not converge.
    """
    for space in _spaces(pencil, count, complement, seed=complement.count):
        if len(space.values) >= count:
            least = np.maximum(SETTLED * space.values[:count], ROUND_OFF * space.values[0])
            if np.all(space.residuals[:count] <= least):
                return space.basis @ space.vectors[:, :count]
    raise ArithmeticError(f"the {count} lowest modes did not converge in {BLOCKS} blocks; ask for fewer of them")


def lowest_square(pencil: Pencil, complement: Complement) -> float:
    """Lowest ω² of a pencil among the motions of a complement; only an upper bound if it is below the shift.

    Modes far below the shift have nearly the same 1/(ω² + s) and do not converge: the iteration then ends when a
    further block does not halve ω². Raises ArithmeticError if it does not converge.
    """
    last = np.inf
    for space in _spaces(pencil, 1, complement, seed=complement.count):
        square, least = 1.0 / space.values[0] - pencil.shift, ROUND_OFF * pencil.shift
        if square < pencil.shift and (square > 0.5 * last or square <= least):
            return float(max(square, least))
        if square >= pencil.shift and space.residuals[0] <= SETTLED * space.values[0]:
            return float(square)
        last = square
    raise ArithmeticError(
        f"the lowest mode did not converge in {BLOCKS} blocks; ask for dense modes of a smaller system"
    )


def may_have_missed_modes(pencil: Pencil, complement: Complement, frequency: float) -> bool:
    """True if there may be further modes up to a frequency in the complement of the known modes.

    The test uses random vectors: after k steps from one of them, the largest Ritz value is below the largest of n
    eigenvalues by a share ε with a probability of at most 1.648 √n exp(−(2k − 1) √ε) (J. Kuczyński, H. Woźniakowski,
    SIAM J. Matrix Anal. Appl. 13 (1992) 1094), and the vectors of a block are independent. The result is False if this
    probability is below 1e-9.
    """
    n, wanted = pencil.m.shape[0], 1.0 / (frequency**2 + pencil.shift)
    room = n - complement.count
    width = min(WIDTH, room)
    for steps, space in enumerate(_spaces(pencil, 1, complement, seed=n + complement.count), 1):
        share = 1.0 - space.values[0] / wanted
        if share <= 0.0 or steps > WIDEST:
            return True
        doubt = np.log(1.648 * np.sqrt(UNEVEN * n)) - (2 * steps - 1) * np.sqrt(share)
        if space.basis.shape[1] == room or width * doubt <= np.log(DOUBT):
            break
    return False


def _spaces(pencil: Pencil, count: int, complement: Complement, *, seed: int) -> Iterator[Krylov]:
    """Yield Krylov spaces of (K + s M)⁻¹M within a complement, each larger by a block than the one before.

    A space that has become too large is replaced by its best Ritz vectors: ``count`` of them, and as many more as a
    block has. ``seed`` is that of the random start vectors.
    """
    start = _Start(pencil.m, complement, np.random.default_rng(seed))  # fixed, so that runs repeat
    room = pencil.m.shape[0] - complement.count
    widest = min(room, max(WIDEST * WIDTH, 3 * (count + WIDTH)))
    whole, matrix, k = np.empty((pencil.m.shape[0], widest), order="F"), np.zeros((widest, widest)), 0
    block = start.filled(whole[:, :0], whole[:, :0], min(WIDTH, room))
    for _ in range(BLOCKS):
        new, k = slice(k, k + block.shape[1]), k + block.shape[1]
        whole[:, new] = block
        image = complement.project(pencil.velocities(pencil.m @ block))
        rest = orthogonal(pencil.m, whole[:, :k], image) if k < room else _remainder(pencil.m, whole[:, :k], image)
        matrix[:k, new], matrix[new, :k] = rest.inside, rest.inside.T
        values, vectors = (a[..., ::-1] for a in np.linalg.eigh(0.5 * (matrix[:k, :k] + matrix[:k, :k].T)))
        yield Krylov(whole[:, :k], values, vectors, np.linalg.norm(rest.factor @ vectors[new], axis=0))
        if k == room:
            return
        block = rest.vectors
        if k + WIDTH > widest and widest < room:
            k = count + WIDTH
            whole[:, :k], matrix[:k, :k] = whole[:, : len(values)] @ vectors[:, :k], np.diag(values[:k])
        block = start.filled(whole[:, :k], block, min(WIDTH, room - k, widest - k))


class _Start(NamedTuple):
    """Source of random vectors in a complement of motions."""

    mass: Any
    complement: Complement
    random: np.random.Generator

    def filled(self, basis: Array, block: Array, width: int) -> Array:
        """Block of ``width`` vectors: the first of ``block``, then random ones, M-orthogonal to basis and block."""
        missing = width - block.shape[1]
        if missing <= 0:
            return block[:, :width]
        even = 1.0 / np.sqrt(self.mass.diagonal())[:, None]
        fresh = self.complement.project(even * self.random.standard_normal((len(block), missing)))
        return np.hstack([block, orthogonal(self.mass, np.hstack([basis, block]), fresh).vectors])


class _BasisSplit(NamedTuple):
    """Decomposition W = V · inside + vectors · factor of vectors W by an M-orthonormal basis V, M the mass matrix.

    The ``vectors`` are M-orthonormal, and M-orthogonal to V.
    """

    inside: Array
    vectors: Array
    factor: Array


def _remainder(mass: Any, basis: Array, given: Array) -> _BasisSplit:
    """Decomposition of vectors by a basis that spans all of their space: the part outside of the basis is empty."""
    none = np.zeros((0, given.shape[1]))
    return _BasisSplit(basis.T @ (mass @ given), given[:, :0], none)


def orthogonal(mass: Any, basis: Array, given: Array) -> _BasisSplit:
    """Decomposition of vectors by a basis V, with mass-orthonormal vectors outside of V; dependent ones are left out.

    Gram-Schmidt, done twice, with Householder's QR between, as vectors may span few directions.
    """
    heavy = mass @ given
    size = np.sqrt(np.max(np.einsum("nk,nk->k", given, heavy), initial=0.0))
    inside = basis.T @ heavy
    scale = np.sqrt(mass.diagonal())[:, None]
    q, r = qr(scale * (given - basis @ inside), mode="economic", check_finite=False)
    left, values, right = svd(r, full_matrices=False)
    kept = values > DEPENDENT * size
    vectors, factor = q @ left[:, kept] / scale, values[kept, None] * right[kept]
    heavy = mass @ vectors
    correction, gram = basis.T @ heavy, vectors.T @ heavy
    vectors, inside = vectors - basis @ correction, inside + correction @ factor
    share, turn = eigh(vectors.T @ (mass @ vectors), gram)
    if np.any(share <= OUTSIDE):
        turn = turn[:, share > OUTSIDE]
        vectors, factor = vectors @ turn, turn.T @ gram @ factor
    root = cholesky(vectors.T @ (mass @ vectors), lower=True)
    vectors = solve_triangular(root, vectors.T, lower=True).T
    return _BasisSplit(inside, vectors, root.T @ factor)


class Complement:
    """Motions that are M-orthogonal to given motions X (n, k) of full rank, M the mass matrix.

    The projection onto them is I − X (XᵀMX)⁻¹XᵀM.
    """

    def __init__(self, mass: Any, motions: Any) -> None:
        self._mass, self.motions, self.count = mass, motions, motions.shape[1]
        if self.count:
            self._momenta = (mass @ motions).T
            gram = self._momenta @ motions
            self._gram = cho_factor(gram if isinstance(gram, np.ndarray) else gram.toarray())

    def project(self, v: Array) -> Array:
        """Projection of vectors v (n,) or (n, k) onto the complement."""
        if not self.count:
            return v
        return v - self.motions @ cho_solve(self._gram, self._momenta @ v)
