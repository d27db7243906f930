"""Series for the frequencies of square plates, independent of any mesh.

All plates are the unit square with D = t³, ρ = 1 (E = 12(1 − ν²)): thin plates have ω/t = ω a² √(ρt/D).
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from numpy.polynomial.legendre import leggauss
from scipy.linalg import eigh

from flexph.numerics.arrays import Array

POISSON = 0.3
YOUNG = 12.0 * (1.0 - POISSON**2)
TERMS = 14
"""Number of polynomials along each side; two more change the first four values by a relative 5e-6."""


def navier(count: int) -> Array:
    """Lowest frequencies ω/t = π²(m² + n²) (count,) of a simply supported thin square."""
    m = np.arange(1, count + 2)
    return np.sort((np.pi**2 * (m[:, None] ** 2 + m**2)).ravel())[:count]


def mindlin(thickness: float, count: int, correction: float = 5.0 / 6.0) -> Array:
    """Lowest frequencies ω (count,) of a simply supported square with shear and rotary inertia, exact.

    w, β_x and β_y are products of sines and cosines. Normals at an edge turn about the edge only (hard support).
    """
    t, m = thickness, np.arange(1, count + 2)
    shear, spin = _shear(t, correction), t**3 / 12.0
    frequencies = []
    for a, b in np.pi * np.array([(i, j) for i in m for j in m]):
        gamma = np.array([[a, -1.0, 0.0], [b, 0.0, -1.0]])
        xx, yy, xy = np.array([0.0, a, 0.0]), np.array([0.0, 0.0, b]), np.array([0.0, b, a])
        bent = np.outer(xx, xx) + np.outer(yy, yy) + POISSON * (np.outer(xx, yy) + np.outer(yy, xx))
        K = shear * gamma.T @ gamma + t**3 * (bent + 0.5 * (1.0 - POISSON) * np.outer(xy, xy))
        frequencies.append(np.sqrt(eigh(K, np.diag([t, spin, spin]), eigvals_only=True)[0]))
    return np.sort(frequencies)[:count]


def thin_ritz(edges: str, count: int) -> Array:
    """Lowest ``count`` frequencies ω/t of a thin square with edges ``clamped`` or ``free``, by Rayleigh-Ritz.

    The functions are (x(1 − x))^k times Legendre polynomials in both directions, k = 2 clamped, k = 0 free; the three
    rigid motions of the free plate are left out.
    """
    G = _products({"clamped": 2, "free": 0}[edges])
    bent = np.kron(G[2][2], G[0][0]) + np.kron(G[0][0], G[2][2])
    bent = bent + POISSON * (np.kron(G[2][0], G[0][2]) + np.kron(G[0][2], G[2][0]))
    stiffness = bent + 2.0 * (1.0 - POISSON) * np.kron(G[1][1], G[1][1])
    values = eigh(stiffness, np.kron(G[0][0], G[0][0]), eigvals_only=True)
    return np.sqrt(values[3 if edges == "free" else 0 :][:count])


def thick_ritz(thickness: float, count: int, correction: float = 5.0 / 6.0) -> Array:
    """Lowest ``count`` frequencies ω of a clamped square with shear and rotary inertia, by Rayleigh-Ritz.

    ``correction`` is the shear correction factor. The functions are x(1 − x) times Legendre polynomials. Below a
    thickness of about 1e-3 the large stiffness in shear leaves few correct digits, and below 1e-4 none.
    """
    t, G, nu = thickness, _products(1), POISSON
    shear, bend, a = _shear(t, correction), t**3, 0.5 * (1.0 - nu)
    A, B, C = G[0][0], G[1][1], G[1][0]
    whole = np.kron(A, A)
    ww = shear * (np.kron(B, A) + np.kron(A, B))
    wx, wy = -shear * np.kron(C, A), -shear * np.kron(A, C)
    xx = shear * whole + bend * (np.kron(B, A) + a * np.kron(A, B))
    yy = shear * whole + bend * (np.kron(A, B) + a * np.kron(B, A))
    xy = bend * (nu * np.kron(C, C.T) + a * np.kron(C.T, C))
    stiffness = np.block([[ww, wx, wy], [wx.T, xx, xy], [wy.T, xy.T, yy]])
    mass = np.kron(np.diag([t, t**3 / 12.0, t**3 / 12.0]), whole)
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True, subset_by_index=[0, count - 1]))


def _shear(thickness: float, correction: float) -> float:
    return correction * YOUNG / (2.0 * (1.0 + POISSON)) * thickness


def _products(power: int) -> list[list[Array]]:
    """Matrices [a][b] of ∫ f_i^(a) f_k^(b) dx over the unit interval, for the derivatives a, b = 0, 1, 2.

    f_i is (x(1 − x))^power times the Legendre polynomial of degree i, scaled to ∫ f_i² dx = 1.
    """
    x, weight = leggauss(TERMS + 6)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    edge = Polynomial([0.0, 1.0, -1.0]) ** power
    table: list[list[Array]] = [[], [], []]
    for k in range(TERMS):
        legendre = Legendre.basis(k, domain=[0.0, 1.0])
        # products by their values, as monomials of this degree lose digits
        f = [legendre.deriv(m)(x) if m else legendre(x) for m in range(3)]
        e = [edge.deriv(m)(x) if m else edge(x) for m in range(3)]
        products = [e[0] * f[0], e[1] * f[0] + e[0] * f[1], e[2] * f[0] + 2.0 * e[1] * f[1] + e[0] * f[2]]
        for order, values in enumerate(products):
            table[order].append(values)
    rows = [np.array(values) for values in table]
    scale = 1.0 / np.sqrt(np.einsum("iq,q,iq->i", rows[0], weight, rows[0]))
    rows = [scale[:, None] * r for r in rows]
    return [[(rows[a] * weight) @ rows[b].T for b in range(3)] for a in range(3)]
