"""What the decaying scheme adds: mean rates ŵ and mean stresses that take energy from what no step resolves.

    ŵ = w̄ + ½B Δp,   σ̃ = σ̄ + ½A Δσ,   w = (ω, u̇),    B = α h² M⁻¹ K S⁻¹,   A = α h² C⁻¹D₀ S⁻¹ D₀ᵀ,   S = 4M + h²K

with M and K = D₀ᵀC⁻¹D₀ of each undeformed body, α = (1 − ρ)/(1 + ρ). B and CA are symmetric and positive semidefinite.
"""

import numpy as np

from .inertia import mass_matrix, momenta


def mobility(system, body, h, radius):
    """B (w, w) of a body, and A (m, m) on all stresses."""
    elasticity, s = system.elasticity, system.spins
    D0 = np.zeros((elasticity.beta.size, s + body.own.size))
    D0[:, s:] = elasticity.D0[:, body.own]
    M = mass_matrix(body, np.zeros(body.own.size))
    K = D0.T @ elasticity.stiffness @ D0
    S, share = 4.0 * M + h * h * K, (1.0 - radius) / (1.0 + radius) * h * h
    B = share * np.linalg.solve(M, K) @ np.linalg.inv(S)
    return B, share * elasticity.stiffness @ D0 @ np.linalg.solve(S, D0.T)


def mean_softening(system, h, radius):
    """½A (m, m) of all bodies that deform."""
    total = np.zeros((system.elasticity.beta.size,) * 2)
    for body in system.bodies:
        if body.own.size:
            total = total + 0.5 * mobility(system, body, h, radius)[1]
    return total


def end_rates(system, start, way, radius):
    """ω₁ (b, s) and u̇₁ (n,) of a step with the mean rates ŵ: (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀."""
    omega, du = 2.0 * way.omega - start.omega, 2.0 * way.du - start.du
    for b, body in enumerate(system.bodies):
        if body.own.size:
            B, _ = mobility(system, body, way.h, radius)
            u0, own = start.u[body.own], body.own
            p0 = np.concatenate(momenta(body, start.omega[b], u0, start.du[own]))
            rest = np.concatenate([omega[b], du[own]]) + B @ p0
            w1 = np.linalg.solve(np.eye(len(B)) + B @ mass_matrix(body, way.u.after[own]), rest)
            omega[b], du[own] = w1[: system.spins], w1[system.spins :]
    return omega, du
