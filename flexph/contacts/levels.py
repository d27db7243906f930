"""Effect of impulses of contacts and joints on the velocities at a state.

The contacts have rates γ = Hv at velocities v, the mass matrix is M = LLᵀ, and P is the orthogonal projection of the
scaled velocities w = Lᵀv on those that the joints allow. Impulses Λ of the contacts, with those of the joints, change
the velocities to v⁺ = v + L⁻ᵀPL⁻¹HᵀΛ, so that γ⁺ = γ⁻ + DΛ, D = HL⁻ᵀPL⁻¹Hᵀ, and do the work Λ·½(γ⁻ + γ⁺).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..kernels.arrays import Arrays
from ..kernels.contacts.gaps import Gaps, gaps_between, vectors_of
from ..kernels.continuous import mass_of
from ..kernels.gradient import constraint_matrix
from ..kernels.state import Configuration, Derived, touching_points
from ..numerics.arrays import Array, dense

RANK = 1e-9
"""Scaled singular value below which constraints are redundant."""


class ImpulseMatrices(NamedTuple):
    """Dense matrices at a state with which impulses of contacts and joints change the velocities.

    H (``rows``) are the derivatives of the rates γ of contacts with respect to the velocities v, L (``lower``) is the
    Cholesky factor of the mass matrix, and ``joints`` is G L⁻ᵀ with the constraint matrix G. ``spread`` is PL⁻¹Hᵀ with
    the projection P of the module docstring, which also defines D, and ``basis`` is an orthonormal basis (n_v, r) of
    the rows of ``joints``.
    """

    rows: Array
    spread: Array
    D: Array
    lower: Array
    joints: Array
    basis: Array

    def rates(self, v: Array) -> Array:
        """Rates γ of the contacts at velocities v: normal rates (c,), then those along each tangent."""
        moved: Array = self.rows @ v
        return moved

    def terms(self, v: Array) -> Array:
        """Sums of the absolute values of the terms H_ij v_j of each rate [m/s], a scale for its round-off."""
        sizes: Array = abs(self.rows) @ np.abs(v)
        return sizes

    def struck(self, v: Array, impulses: Array) -> Array:
        """Velocities v⁺ (n_v,) after impulses Λ of the contacts, from the velocities v before them."""
        change: Array = solve_triangular(self.lower, self.spread @ impulses, lower=True, trans=1)
        return v + change

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """Velocities with the joint rates G v = ``rates``, and the joint impulses μ that change the given v to them.

        Of all such velocities they are those nearest to the given ones in the norm of kinetic energy.
        """
        if not rates.size:
            return v, rates
        w = self.lower.T @ v
        mu = np.linalg.lstsq(
            self.joints.T, np.linalg.lstsq(self.joints, rates - self.joints @ w, rcond=RANK)[0], rcond=RANK
        )[0]
        return solve_triangular(self.lower, w + self.joints.T @ mu, lower=True, trans=1), mu


def near_at(a: Arrays, *places: tuple[Configuration, Derived]) -> Arrays:
    """Copy of the arrays with only those gaps of groups that are closed in one of the states ``places``.

    All single gaps are kept, and all gaps of the copy are single gaps.
    """
    if not a.contacts.groups:
        return a
    return a._replace(contacts=a.contacts.closed(*(touching_points(a, c.r, d.arm) for c, d in places)))


def gaps_at(a: Arrays, c: Configuration, d: Derived) -> Gaps:
    """Gaps of all contacts at a state, with their gradients."""
    vectors = vectors_of(a.contacts, touching_points(a, c.r, d.arm))
    return gaps_between(a.contacts, vectors, vectors)


def impulse_matrices(
    a: Arrays, place: tuple[Configuration, Derived], coefficient: Array, rows: Array
) -> ImpulseMatrices:
    """Matrices for impulses of contacts and joints at the state ``place``.

    ``rows`` is the matrix H of the contacts, ``coefficient`` (t,) are the coefficients of the constraint terms.
    """
    c, d = place
    lower = cholesky(dense(mass_of(a, c.u)), lower=True)
    G = dense(constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector))
    joints = solve_triangular(lower, G.T, lower=True).T if len(G) else G
    spread = solve_triangular(lower, rows.T, lower=True)
    basis = _range(joints)
    spread = spread - basis @ (basis.T @ spread)
    return ImpulseMatrices(rows, spread, spread.T @ spread, lower, joints, basis)


def _range(rows: Array) -> Array:
    """Orthonormal basis (n, r) of the space that is spanned by the given rows (k, n)."""
    if not rows.shape[0]:
        return np.zeros((rows.shape[1], 0))
    length = np.linalg.norm(rows, axis=1)
    _, values, right = np.linalg.svd(rows / np.where(length > 0.0, length, 1.0)[:, None], full_matrices=False)
    basis: Array = right[values > RANK * values.max(initial=0.0)].T
    return basis
