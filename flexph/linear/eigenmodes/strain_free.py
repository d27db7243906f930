"""Motions without strain of systems with condensed stresses: a null-space basis of D, by inverse iteration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from ...numerics.arrays import Array
from .shift_invert import CondensedPencil, ritz

STRAIN_FREE = 1e-10
"""Frequency, from strains D v, relative to the root of the highest K_ii/M_ii, that is round-off: rigid motions have
1e-15 and less, the lowest modes of a mesh whose stiffness holds their digits have 1e-7 and more."""
ITERATIONS, CORRECTIONS = 3, 2
"""Iterations and corrections of a block; each divides strains by ω²/s, 100 and more."""
MOVING = 1e-6
"""Ratio ω²/s above which a block contains other motions, too, and is therefore wide enough."""
WIDTH = 8
"""Size of the first block: the rigid motions of one body, and two vectors to reveal the lowest frequency."""


class StrainFree(NamedTuple):
    """Motions N (n, k) with NᵀMN = 1, D N = 0 up to round-off, and an upper bound of the lowest ω² > 0."""

    motions: Array
    lowest: float


def strain_free_motions(pencil: CondensedPencil) -> StrainFree:
    """All motions without strain, by inverse iteration with K + s M, if the lowest ω² > 0 is far above s.

    If it is not, ``lowest`` shows it, and the basis may be incomplete.
    """
    n, width = pencil.m.shape[0], WIDTH
    while True:
        velocity = np.random.default_rng(0).standard_normal((n, width))  # fixed, so that runs repeat
        for _ in range(ITERATIONS):
            velocity = _orthonormal(pencil, pencil.solve(pencil.m @ velocity)[0])
        frequencies, velocity = ritz(pencil, velocity)
        slow = frequencies**2 <= pencil.shift
        if frequencies[-1] ** 2 > MOVING * pencil.shift or 2 * width >= n:
            break
        width *= 2
    motions = _corrected(pencil, velocity[:, slow])
    free = _strain_free(pencil, motions)
    lowest = np.min(np.append(frequencies[~slow], frequencies[slow][~free]) ** 2, initial=np.inf)
    return StrainFree(_orthonormal(pencil, motions[:, free]) if free.any() else motions[:, :0], float(lowest))


def _corrected(pencil: CondensedPencil, velocity: Array) -> Array:
    """Apply further iterations v − (K + s M)⁻¹K v, whose round-off is that of the remaining strain."""
    for _ in range(CORRECTIONS if velocity.shape[1] else 0):
        velocity = velocity - pencil.solve(pencil.d.T @ pencil.flexibility(pencil.d @ velocity))[0]
    return velocity


def _strain_free(pencil: CondensedPencil, velocity: Array) -> Array:
    """Mask of the motions without strain; motions with strain vanish in the corrections."""
    kept = np.einsum("nk,nk->k", velocity, pencil.m @ velocity) > 0.5
    strain = pencil.d @ velocity
    energy = np.einsum("mk,mk->k", strain, pencil.flexibility(strain))
    return kept & (energy <= STRAIN_FREE**2 * pencil.highest)


def _orthonormal(pencil: CondensedPencil, x: Array) -> Array:
    """M-orthonormal basis of the span of vectors, by QR first, as they may span few directions."""
    size = np.sqrt(pencil.m.diagonal())[:, None]
    q = qr(size * x, mode="economic", check_finite=False)[0] / size
    root = cholesky(q.T @ (pencil.m @ q), lower=True)
    return solve_triangular(root, q.T, lower=True).T
