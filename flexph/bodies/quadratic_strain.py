"""Quadratic strains of reduced bodies: representation by few slopes, and tests of the reduction."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from ..numerics.arrays import Array
from .held import Held
from .inertia import contract

ROUND_OFF = 1e-13
"""Value of a sum of products, relative to the sum of their magnitudes, that is round-off."""


def quadratic_forms(slopes: Array, weights: Array) -> Array:
    """Symmetric forms ``G_i = slopesᵀ diag(weights_i) slopes`` of the strains ``ε_i = … + ½ uᵀG_iu``, (r, k, k)."""
    k = slopes.shape[1]
    forms = np.zeros((len(weights), k, k))
    for form, w in zip(forms, weights, strict=True):
        bound = np.abs(slopes).T @ (np.abs(w)[:, None] * np.abs(slopes))
        product = slopes.T @ (w[:, None] * slopes)
        form[:] = np.where(np.abs(product) > ROUND_OFF * bound, 0.5 * (product + product.T), 0.0)
    return forms


def few_slopes(slopes: Array, weights: Array) -> tuple[Array, Array]:
    """Represent quadratic strains by the fewest slopes (g', k) with weights (r, g').

    Three ways are compared: polarisation, ``2u_iu_j = (u_i + u_j)² − u_i² − u_j²``, for the coordinates with slopes;
    the eigenvectors of the form of each strain; and the given slopes.
    """
    forms = quadratic_forms(slopes, weights)
    ways = [_polarised(forms), _by_eigenvectors(forms)]
    used = np.any(weights != 0.0, axis=0)
    ways.append((slopes[used], weights[:, used]))
    return min(ways, key=lambda way: len(way[0]))


def _polarised(forms: Array) -> tuple[Array, Array]:
    """Slopes u_i and u_i + u_j for the nonzero entries of the forms, and their weights."""
    k = forms.shape[1]
    present = np.any(forms != 0.0, axis=0)
    i, j = np.nonzero(np.triu(present, 1))
    rows, unit = np.flatnonzero(present.any(axis=0)), np.eye(k)
    mixed = forms[:, i, j]
    own = np.einsum("rkk->rk", forms).copy()
    for a, b, value in zip(i, j, mixed.T, strict=True):
        own[:, a] -= value
        own[:, b] -= value
    slopes, weights = np.vstack([unit[rows], unit[i] + unit[j]]), np.hstack([own[:, rows], mixed])
    kept = np.any(weights != 0.0, axis=0)
    return slopes[kept], weights[:, kept]


def _by_eigenvectors(forms: Array) -> tuple[Array, Array]:
    """Slopes along the eigenvectors of each form, and the eigenvalues as their weights."""
    slopes, weights = [np.zeros((0, forms.shape[1]))], [np.zeros((len(forms), 0))]
    for r, form in enumerate(forms):
        values, vectors = np.linalg.eigh(form)
        kept = np.abs(values) > ROUND_OFF * np.abs(values).max(initial=0.0)
        slopes.append(vectors[:, kept].T)
        weights.append(np.outer(np.eye(len(forms))[r], values[kept]))
    return np.vstack(slopes), np.hstack(weights)


def diverging_spins(held: Held, vectors: Array) -> tuple[Array, Array]:
    """Least steady spins about each body axis through P at which a body fixed at P diverges, (s,) [rad/s] each.

        det(K + Ω²(G_a − S_a)) = 0,  G_a = sᵀ diag(Wᵀσ_a) s,  S_a = ∫ρ φᵀB_aa φ

    projected onto the vectors (n, k), with the geometric stiffness G_a by the stress σ_a of a unit spin and its spin
    softening S_a. The first result uses the stress of the reduced body, the part of σ_a in the span C⁻¹D₀T; the second
    all of σ_a. Infinite if the body does not diverge.
    """
    c, elastic = contract(held.body.inertia, about_centre=False), held.elastic
    force = np.einsum("aak->ka", c.s)
    full = held.strain @ held.response(force, np.zeros((elastic.size, force.shape[1])))
    stretch, slopes = held.strain @ vectors, elastic.slopes @ vectors
    stiffness = stretch.T @ (elastic.stiffness_of_stress @ stretch)
    kept = stretch @ np.linalg.solve(stiffness, vectors.T @ force)
    spins = np.full((2, force.shape[1]), np.inf)
    for i, stress in enumerate(elastic.stiffness_of_stress @ strain for strain in (kept, full)):
        for a, weights in enumerate((elastic.weights.T @ stress).T):
            change = slopes.T @ (weights[:, None] * slopes) - vectors.T @ (c.K[a][a] @ vectors)
            values = eigvalsh(0.5 * (change + change.T), stiffness)
            if values[0] < -ROUND_OFF * np.abs(values).max():
                spins[i, a] = 1.0 / np.sqrt(-values[0])
    return spins[0], spins[1]


def lost_share(held: Held, vectors: Array, stresses: Array) -> float:
    """Share of the quadratic strains of pairs of vectors (n, k) orthogonal to all ``stresses`` (m, r).

    Measured in the norm of strain energy, with vectors scaled as in :meth:`Held.pair_strains`; 0 without such strains.
    """
    strain = held.pair_strains(vectors)
    whole = float(np.sum(strain * (held.elastic.stiffness_of_stress @ strain)))
    if not whole:
        return 0.0
    gram = stresses.T @ (held.elastic.compliance @ stresses)
    seen = stresses.T @ strain
    return max(0.0, 1.0 - float(np.sum(seen * np.linalg.solve(gram, seen))) / whole)
