"""Lowest modes without a factorisation: locally optimal block preconditioned conjugate gradient method (LOBPCG)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from flexph.numerics.arrays import Array

from .system import System, products

DEPENDENT = 1e-10
"""Eigenvalue of a Gram matrix of unit vectors below which a combination of them is dropped."""


class Images(NamedTuple):
    """Vectors X with their products KX and MX, each (own, k): the rows of all coordinates that this rank owns."""

    x: Array
    k: Array
    m: Array

    def combined(self, weights: Array) -> Images:
        """Linear combinations XC of the vectors with their products; C (k, m) are the ``weights``."""
        return Images(*(each @ weights for each in self))

    def appended(self, other: Images) -> Images:
        """Vectors [X, Y] and their products, with X of this object and Y of ``other``."""
        return Images(*(np.hstack(pair) for pair in zip(self, other, strict=True)))

    def orthogonalised(self, system: System, vectors: Array) -> Array:
        """Rows (own, k) of V − X(XᵀKV): the given ``vectors`` V made K-orthogonal to X, for X with XᵀKX = 1.

        The projection is done twice, against round-off.
        """
        for _ in range(2):
            vectors = vectors - self.x @ system.inner(self.k, vectors)
        return vectors


def images(system: System, vectors: Array) -> Images:
    """Vectors (own, k) with their images KX and MX."""
    return Images(vectors, products(system.stiffness, vectors), system.heavy(vectors))


def lobpcg(
    system: System,
    precondition: Callable[[Array], Array],
    start: Array,
    *,
    known: Array,
    wanted: int,
    tolerance: float,
    steps: int,
) -> tuple[Array, Array]:
    """Lowest eigenvalues ω² (wanted,) of K x = ω² M x in ascending order, and eigenvectors (own, wanted).

    The eigenvectors are K-orthogonal to the vectors ``known`` (own, m). The iteration begins with the vectors ``start``
    (own, k). It computes the largest μ = 1/ω² of M x = μ K x: about mean axes M has no inverse, but K has.

    With xᵀKx = 1, the residual r = Mx − μKx and a preconditioner B near K⁻¹, the error of a vector in energy is
    estimated by √(rᵀBr)/μ. Iterations end when it is below the ``tolerance``. Linearly dependent combinations are
    removed from the search space [X, BR, P] of current vectors X, preconditioned residuals BR and last directions P,
    since its Gram matrix would be singular with them (A. Knyazev, SIAM J.
    Sci. Comput. 23 (2001) 517; SVQB: A. Stathopoulos, K. Wu, SIAM J. Sci. Comput. 23 (2002) 2165).

    Raises ArithmeticError without convergence in ``steps`` iterations.
    """
    count = start.shape[1]
    known_images = images(system, known)
    if known.shape[1]:
        known_images = known_images.combined(_ritz_vectors(system, known_images, known.shape[1])[1])
    space = images(system, known_images.orthogonalised(system, precondition(system.heavy(start))))
    active = np.ones(count, dtype=bool)
    for _ in range(steps):
        values, weights = _ritz_vectors(system, space, count)
        if len(values) < count:
            break
        best = images(system, space.x @ weights)  # recomputed, as errors of combined images would accumulate
        residual = (best.m - best.k * values)[:, active]
        ahead = precondition(residual)
        going = np.sqrt(np.maximum(np.diag(system.inner(residual, ahead)), 0.0)) > tolerance * values[active]
        active[active] = going
        if not np.any(active[:wanted]):
            return 1.0 / values[:wanted], best.x[:, :wanted]
        before = space.x[:, count:] @ weights[count:, active] if len(weights) > count else start[:, :0]
        fresh = known_images.orthogonalised(system, np.hstack([ahead[:, going], before]))
        space = best.appended(images(system, best.orthogonalised(system, fresh)))
    raise ArithmeticError(f"{wanted} modes of {count} did not converge in {steps} steps: use --solver factor")


def _ritz_vectors(system: System, space: Images, count: int) -> tuple[Array, Array]:
    """Largest μ (count,) of M x = μ K x for vectors x = Xc in a space X (own, k), descending, with their weights c.

    The weights are the columns of C (k, count) with CᵀXᵀKXC = 1. If X is linearly dependent there may be fewer of them.
    """
    gram, mass = system.inner(space.x, space.k), system.inner(space.x, space.m)
    size = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    sizes, turned = np.linalg.eigh(0.5 * (gram + gram.T) / np.outer(size, size))
    kept = sizes > DEPENDENT * sizes[-1]
    unit = turned[:, kept] / np.sqrt(sizes[kept]) / size[:, None]
    inside = unit.T @ mass @ unit
    values, vectors = np.linalg.eigh(0.5 * (inside + inside.T))
    return values[::-1][:count].copy(), unit @ vectors[:, ::-1][:, :count]
