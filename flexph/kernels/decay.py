"""The decaying scheme: velocities at the end of a step, and their contribution to the Jacobian; dense.

With w = (ω, u̇) of all bodies that turn, p = M(u)w their momenta and ŵ the mean rates by which a step moves them,

    ŵ = w̄ + ½B Δp,   so that   (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀,   σ̃ = σ̄ + … + ½A Δσ

for constant B = Bᵀ ⪰ 0 and CA = (CA)ᵀ ⪰ 0. They are those of the small free vibrations (M, K = D₀ᵀC⁻¹D₀) of each body
about its centre of mass, with its spin:

    B = α(M⁻¹ − 4S⁻¹),  A = α h² C⁻¹D₀S⁻¹D₀ᵀ,  S = 4M + h²K,  α = (1 − ρ)/(1 + ρ).

For a mode of frequency ω both are αΩ²/(4 + Ω²), Ω = hω: zero for rigid body motions, a damping ratio ∝ Ω³ at low
frequencies, and the factor ρ per step at high ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..numerics.arrays import Array, dense
from ..numerics.rotations import spin_skew
from .arrays import Arrays, Index
from .state import Configuration, coupled, momenta, rotational_inertia, turns
from .values import Decay

if TYPE_CHECKING:
    from .values import Means, Point, Step


class Vibrations(NamedTuple):
    """Free vibrations of a body over (ω, u̇): ω² (k,), modes V with VᵀMV = 1 (w, k), stresses C⁻¹D₀V (m, k), D₀V.

    ``rows`` (m,) and ``columns`` (w,): indices of its stresses and velocities among those of all bodies.
    """

    squares: Array
    modes: Array
    stresses: Array
    strains: Array
    rows: Array
    columns: Array


def free_vibrations(a: Arrays, bodies: Index | None = None) -> list[Vibrations]:
    """Free vibrations of some or all deformable bodies about the undeformed state."""
    own, vibrations = spin_columns(a), []
    first = a.turning.size * own.shape[1]
    for body in a.flexing if bodies is None else bodies:
        u, rows = np.flatnonzero(a.body_u == body), np.flatnonzero(a.body_stress == body)
        columns, s = np.concatenate([own[body], first + u]), own.shape[1]
        strain, stiffness = dense(a.strain[rows][:, u]), dense(a.stiffness[rows][:, rows])
        K, M = np.zeros((2, columns.size, columns.size))
        K[s:, s:] = strain.T @ (stiffness @ strain)
        M[:s, :s], M[:s, s:], M[s:, :s], M[s:, s:] = a.J[body], a.n[:, u], a.n[:, u].T, flexible_mass(a, u)
        squares, modes = eigh(K, M)
        strains = strain @ modes[s:]
        vibrations.append(Vibrations(np.maximum(squares, 0.0), modes, stiffness @ strains, strains, rows, columns))
    return vibrations


def flexible_mass(a: Arrays, u: Array) -> Array:
    """Mass matrix of some flexible coordinates at rest, about the centre of mass, dense (k, k)."""
    block = dense(a.stack[u][:, u])
    return block if a.border is None else block - dense(a.border_stack[u] @ a.border[:, u])


def coefficients(a: Arrays, vibrations: list[Vibrations], h: float, radius: float) -> Decay:
    """B and ½A for steps of h [s] and the spectral radius ρ of unresolved modes."""
    alpha, (m, n), w = (1.0 - radius) / (1.0 + radius), a.strain.shape, a.turning.size * a.n.shape[0]
    mobility, softening = np.zeros((w + n, w + n)), np.zeros((m, m))
    for v in vibrations:
        share = alpha * h * h / (4.0 + h * h * v.squares)
        mobility[np.ix_(v.columns, v.columns)] = (share * v.squares * v.modes) @ v.modes.T
        softening[np.ix_(v.rows, v.rows)] = (0.5 * share * v.stresses) @ v.strains.T
    return Decay(mobility, softening)


def packed(a: Arrays, omega: Array, du: Array) -> Array:
    """Vector (w,) of ω of the bodies with rotation, and u̇, or of their momenta."""
    return np.concatenate([omega[a.turning].ravel(), du])


def unpacked(a: Arrays, w: Array) -> tuple[Array, Array]:
    """The inverse of :func:`packed`: ω (b, s), zero for point masses, and u̇ (n,)."""
    s = a.n.shape[0]
    omega = np.zeros((len(a.mass), s))
    omega[a.turning] = w[: a.turning.size * s].reshape(-1, s)
    return omega, w[a.turning.size * s :]


def spin_columns(a: Arrays) -> Array:
    """Indices of the spins of each body in w, (b, s); −1 for point masses."""
    s = a.n.shape[0]
    columns = np.full((len(a.mass), s), -1)
    columns[a.turning] = np.arange(a.turning.size * s).reshape(-1, s)
    return columns


def _placed(a: Arrays, turning: Array, coupling: tuple[Array, Array], flexible: Array) -> Array:
    """Blocks turning (b, s, s), coupling above and below the diagonal (s, n), flexible (n, n) as one matrix (w, w)."""
    above, below = coupling
    own, n = spin_columns(a), a.body_u.size
    first = a.turning.size * a.n.shape[0]
    matrix = np.zeros((first + n, first + n))
    spins, u = own[a.turning], first + np.arange(n)
    matrix[spins[:, :, None], spins[:, None, :]] = turning[a.turning]
    for i in range(own.shape[1]):
        matrix[own[a.body_u, i], u] = above[i]
        matrix[u, own[a.body_u, i]] = below[i]
    matrix[first:, first:] = flexible
    return matrix


def mass(a: Arrays, u: Array, Pu: Array) -> Array:
    """Mass matrix M(u) over (ω, u̇), (w, w)."""
    s, n = a.n.shape[0], a.body_u.size
    coupling = a.n + Pu[1 : 1 + s]
    return _placed(a, rotational_inertia(a, u, Pu), (coupling, coupling), a.stack[:n])


def end_rates(a: Arrays, step: Step, x: Means, mass_1: Array) -> Array:
    """Velocities w₁ (w,) at the end of a step, from the mean rates ŵ and M(u₁)."""
    start, known, _, schedule = step
    assert schedule.decay is not None
    mobility, w0 = schedule.decay.mobility, packed(a, start.omega, start.du)
    rhs = 2.0 * packed(a, x.omega, x.du) - w0 + mobility @ packed(a, known.p_r, known.p_u)
    return _solved(np.eye(w0.size) + mobility @ mass_1, rhs)


def _solved(matrix: Array, rhs: Array) -> Array:
    """Solution of a linear system, NaN if it is singular, which ends a diverging iteration."""
    try:
        solution: Array = np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError:
        return np.full_like(rhs, np.nan)
    return solution


def correction(a: Arrays, at: Point, decay: Decay) -> Array:
    """Correction (w, w) of the momentum rows (ω, u̇) of the Jacobian for δw₁ = E(2δŵ − B Q δu₁) instead of 2δŵ.

    E = (1 + B M(u₁))⁻¹, Q = ∂(M w₁)/∂u₁, δu₁ = h δû.
    """
    t, h, s, n = at.trial, at.h, a.n.shape[0], a.body_u.size
    first = a.turning.size * s
    inverse = _solved(np.eye(first + n) + decay.mobility @ mass(a, t.end.u, t.Pu), np.eye(first + n))
    change = 2.0 * (inverse - np.eye(first + n))
    change[:, first:] -= h * inverse @ (decay.mobility @ _momentum_slopes(a, at))
    return _rate_slopes(a, at) @ change


def _momentum_slopes(a: Arrays, at: Point) -> Array:
    """Q = ∂(M w)/∂u at the end of the step, (w, n)."""
    t, s = at.trial, a.n.shape[0]
    w1 = t.end.omega[a.body_u]
    by_spin, blank = coupled(a, t.Pu, t.Pdu, w1), np.zeros((len(a.mass), s, s))
    return _placed(a, blank, (by_spin, np.zeros_like(by_spin)), turns(a, w1))[:, a.turning.size * s :]


def _rate_slopes(a: Arrays, at: Point) -> Array:
    """Derivatives of the momentum rows by w₁ at constant u₁, (w, w)."""
    t, h, s = at.trial, at.h, a.n.shape[0]
    w0 = at.start.omega[a.body_u]
    coupling = a.n + t.Pu[1 : 1 + s]
    turning, across = rotational_inertia(a, t.end.u, t.Pu), coupling
    if s == 3:
        assert t.spin is not None
        through = np.eye(s) + 0.5 * h * spin_skew(t.spin)
        turning, across = through @ turning, np.einsum("nab,bn->an", through[a.body_u], coupling)
    square = a.s + t.Pmean[1 + s :].reshape(s, s, -1)
    below = coupling - h * (np.einsum("abn,na->bn", square, w0) - 0.5 * at.known.Pdu[1 : 1 + s])
    return _placed(a, turning, (across, below), a.stack[: a.body_u.size] + 0.5 * h * turns(a, w0))


def lost(a: Arrays, step: Step, end: Configuration, x: Means) -> float:
    """Numerical dissipation (ŵ − w̄)·Δp + ½ Δσᵀ C A Δσ ≥ 0 of the decaying scheme in a step [J]."""
    start, decay = step.start, step.schedule.decay
    assert decay is not None
    p0, p1 = (packed(a, *momenta(a, c.omega, c.u, c.du)) for c in (start, end))
    mean = 0.5 * (packed(a, start.omega, start.du) + packed(a, end.omega, end.du))
    jump = end.sigma - start.sigma
    moved = (packed(a, x.omega, x.du) - mean) @ (p1 - p0)
    return float(moved + (decay.softening @ jump) @ (a.compliance @ jump))
