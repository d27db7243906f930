"""Stresses of floating bodies: C Δσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h.

The von Kármán strain is quadratic in u, so that D(ū)u̇̄ is its exact rate.
"""


def strain_operator(elasticity, u):
    """D(u) = D₀ + Σ_g w_g (s_g·u) s_gᵀ, (m, n)."""
    return elasticity.D0 + (elasticity.weights * (elasticity.slopes @ u)) @ elasticity.slopes


def stress_change(elasticity, way):
    """Δσ of a step, (m,)."""
    return way.h * elasticity.stiffness @ (strain_operator(elasticity, way.u.mean) @ way.du)


def stress_force(elasticity, way, stress):
    """−D(ū)ᵀσ̃ of the mean stresses on the flexible coordinates, and what damps their velocities, (n,)."""
    return -strain_operator(elasticity, way.u.mean).T @ stress - elasticity.viscous @ way.du
