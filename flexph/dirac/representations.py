"""Canonical form of constant Dirac structures ([survey] sec. 3.1.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import RANK


@checked
@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """Coordinates ``f = T (f_q, f_p, f_r, f_s)``, ``e = T⁻ᵀ (e_q, e_p, e_r, e_s)`` with ([survey] eq. (3.7))

        f_q = −e_p,  f_p = e_q,  f_r = 0,  e_s = 0

    Attributes
    ----------
    basis : array
        T (n, n).
    pairs : int
        Number of entries of q and of p.
    fixed : int
        Number of entries of r.
    free : int
        Number of entries of s.
    """

    basis: Array
    pairs: int
    fixed: int
    free: int

    def __post_init__(self) -> None:
        n = 2 * self.pairs + self.fixed + self.free
        object.__setattr__(self, "basis", check.array("basis", self.basis, (n, n)))

    def image(self) -> tuple[Array, Array]:
        """K and L of ``{(K λ, L λ)}`` with λ = (e_q, e_p, e_r, f_s)."""
        n, k, r = len(self.basis), self.pairs, self.fixed
        flows, efforts = np.zeros((n, n)), np.zeros((n, n))
        one = np.arange(k)
        flows[one, k + one], flows[k + one, one] = -1.0, 1.0
        s = np.arange(2 * k + r, n)
        flows[s, s] = 1.0
        inputs = np.arange(2 * k + r)
        efforts[inputs, inputs] = 1.0
        return self.basis @ flows, np.linalg.solve(self.basis.T, efforts)


def canonical_form(J: Array, G: Array) -> CanonicalForm:
    """Canonical coordinates of ``{f = J e + G λ, Gᵀe = 0}``.

    s are the directions of im G, r those of im G^⊥ in the kernel of J there, q and p the planes of rotation of J there,
    scaled by the root of their frequency: T is orthogonal up to this scaling.
    """
    of_G = singular_vectors(G, tolerance=RANK)
    s, kept = of_G.range, of_G.left_null
    inner = kept.T @ J @ kept
    turning, vectors = np.linalg.eigh(1j * (0.5 * (inner - inner.T)))
    level = RANK * max(float(np.abs(turning).max(initial=0.0)), 1e-300)
    planes = np.flatnonzero(turning > level)
    # i J v = ω v with v = (a + ib)/√2 means J a = ω b, J b = −ω a
    scaled = kept @ vectors[:, planes] * np.sqrt(2.0 * turning[planes])
    q, p = scaled.real, scaled.imag
    rest = np.linalg.svd(inner)[0][:, 2 * planes.size :] if inner.size else np.zeros((0, 0))
    return CanonicalForm(np.hstack([q, p, kept @ rest, s]), planes.size, rest.shape[1], of_G.rank)
