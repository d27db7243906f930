"""Momenta of bodies, and the force of inertia on their flexible coordinates.

    T = ½m|ṙ|² + ½wᵀM(u)w,  w = (ω, u̇),    p = M(u)w,    f_u = ½ w₀ᵀ (∂M/∂u)(ū) w₁

M is a polynomial of degree two, so that ΔT = w̄·Δp − h u̇̄·f_u at every step.
"""

import numpy as np


def mass_matrix(body, u):
    """M(u) = [[J + 2 s·u + uᵀKu, n + Nu], [⋅, M]] of a body about its centre of mass, (s + n, s + n)."""
    J = body.J + (2.0 * body.s + body.K @ u) @ u
    s, n = body.n.shape
    mass = np.empty((s + n, s + n), dtype=J.dtype)
    mass[:s, :s], mass[:s, s:], mass[s:, s:] = J, body.n + body.N @ u, body.M
    mass[s:, :s] = mass[:s, s:].T
    return mass


def momenta(body, omega, u, du):
    """p_r (s,) and p_u (n,) of a body."""
    p = mass_matrix(body, u) @ np.concatenate([omega, du])
    return p[: omega.size], p[omega.size :]


def inertial_force(body, omega, u_mean, du):
    """f_u (n,) of a body, from ω and u̇ at both ends of the step."""
    (w0, w1), (d0, d1) = omega, du
    centrifugal = np.einsum("a,abk,b->k", w0, body.s + body.K @ u_mean, w1)
    coriolis = 0.5 * (np.einsum("a,akl,k->l", w0, body.N, d1) + np.einsum("a,akl,k->l", w1, body.N, d0))
    return centrifugal + coriolis
