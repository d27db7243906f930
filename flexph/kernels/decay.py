"""The decaying scheme: free vibrations of bodies, which determine how much energy it dissipates; dense.

With w = (ω, u̇) of all bodies that turn, p = M(u)w their momenta and ŵ the mean rates by which a step moves them,

    ŵ = w̄ + ½B Δp,   so that   (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀,   σ̃ = σ̄ + … + ½A Δσ

for constant B = Bᵀ ⪰ 0 and CA = (CA)ᵀ ⪰ 0; the dots stand for the damping of the bodies. σ are the stresses, C is the
compliance and D₀ the strain matrix at u = 0. A and B follow from the small free vibrations (M, K = D₀ᵀC⁻¹D₀) of each
body about its centre of mass, with its spin:

    B = α(M⁻¹ − 4S⁻¹),  A = α h² C⁻¹D₀S⁻¹D₀ᵀ,  S = 4M + h²K,  α = (1 − ρ)/(1 + ρ).

For a mode of frequency ω and mass 1, A and B reduce to αΩ²/(4 + Ω²), Ω = hω: zero for rigid body motions, a damping
ratio ∝ Ω³ at low frequencies, and the factor ρ per step at high ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from ..numerics.arrays import Array, dense
from .arrays import Arrays, Index

MANY = 300
"""Stresses of a body beyond which products with C⁻¹ are sparse."""


class Vibrations(NamedTuple):
    """Free vibrations of a body in its velocities (ω, u̇): squared angular frequencies and modes, ascending.

    The fields are squared frequencies ``squares`` (k,), modes V with VᵀMV = 1 (w, k), stresses C⁻¹D₀V (m, k) and
    strains D₀V (m, k). ``rows`` (m,) and ``columns`` (w,) are the indices of the stresses and velocities of the body
    among those of all bodies.
    """

    squares: Array
    modes: Array
    stresses: Array
    strains: Array
    rows: Array
    columns: Array


def free_vibrations(a: Arrays, bodies: Index | None = None) -> list[Vibrations]:
    """Free vibrations of some or all deformable bodies about the undeformed state."""
    of_spins, vibrations = spin_columns(a), []
    first = a.turning.size * of_spins.shape[1]
    for body in a.flexing if bodies is None else bodies:
        u, rows = np.flatnonzero(a.body_u == body), np.flatnonzero(a.body_stress == body)
        columns, s = np.concatenate([of_spins[body], first + u]), of_spins.shape[1]
        strain, stiffness = dense(a.strain[rows][:, u]), _stiffness(a, rows)
        K, M = np.zeros((2, columns.size, columns.size))
        K[s:, s:] = strain.T @ (stiffness @ strain)
        M[:s, :s], M[:s, s:], M[s:, :s], M[s:, s:] = a.J[body], a.n[:, u], a.n[:, u].T, flexible_mass(a, u)
        squares, modes = eigh(K, M)
        strains = strain @ modes[s:]
        vibrations.append(Vibrations(np.maximum(squares, 0.0), modes, stiffness @ strains, strains, rows, columns))
    return vibrations


def _stiffness(a: Arrays, rows: Index) -> Any:
    """Block of the stiffness C⁻¹ with the given rows and columns: dense, or sparse for more than ``MANY`` rows."""
    block = a.stiffness[rows][:, rows]
    return sparse.csr_array(block) if rows.size > MANY else dense(block)


def flexible_mass(a: Arrays, u: Array) -> Array:
    """Mass matrix of the flexible coordinates with indices ``u``, about the centre of mass, dense (k, k)."""
    block = dense(a.stack[u][:, u])
    return block if a.border is None else block - dense(a.border_stack[u] @ a.border[:, u])


def spin_columns(a: Arrays) -> Array:
    """Indices of the spins of each body in w, (b, s); −1 for point masses."""
    s = a.n.shape[0]
    columns = np.full((len(a.mass), s), -1)
    columns[a.turning] = np.arange(a.turning.size * s).reshape(-1, s)
    return columns
