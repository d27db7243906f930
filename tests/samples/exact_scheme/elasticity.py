"""Stresses of floating bodies: C Δσ = h D(ū) u̇̄ and σ̃ = σ̄ + β Δσ/h.

The von Kármán strain is quadratic in u, so that D(ū)u̇̄ is its exact rate. Rods, cables and solids of finite strain have
strains of products in its place (strain_rows), and A is of the decaying scheme (decay).
"""

from .decay import mean_softening
from .kinematics import Ends
from .strain_rows import mean_stresses, strained, stresses


def strain_operator(elasticity, u):
    """D(u) = D₀ + Σ_g w_g (s_g·u) s_gᵀ, (m, n)."""
    return elasticity.D0 + (elasticity.weights * (elasticity.slopes @ u)) @ elasticity.slopes


def stress_change(elasticity, way):
    """Δσ of a step, (m,)."""
    return way.h * elasticity.stiffness @ (strain_operator(elasticity, way.u.mean) @ way.du)


def stresses_over(system, start, way, given):
    """σ at both ends of a step and σ̃ = σ̄ + βΔσ/h + ½AΔσ, of strain rows by these, (m,)."""
    elasticity, rows = system.elasticity, system.strain_rows
    sigma = Ends(start.sigma, start.sigma + stress_change(elasticity, way))
    mean = sigma.mean + elasticity.beta / way.h * sigma.change
    if given.radius < 1.0:
        mean = mean + mean_softening(system, way.h, given.radius) @ sigma.change
    if rows.stress.size:
        own = strained(rows, way.product)
        sigma.after[rows.stress] = stresses(rows, own.strain.after, given.strain_factor.after)
        at_rows = Ends(*(stress[rows.stress] for stress in sigma))
        mean[rows.stress] = mean_stresses(rows, own, given, at_rows, elasticity.beta[rows.stress] / way.h)
    return sigma, mean


def shape_forces(elasticity, way, mean_stress):
    """−D(ū)ᵀσ̃ on the flexible coordinates, and what damps their velocities, (n,)."""
    return -strain_operator(elasticity, way.u.mean).T @ mean_stress - elasticity.viscous @ way.du
