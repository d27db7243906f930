"""One step of the exact scheme: the residual of the mean velocities and multipliers, and the state at its end.

m Δṙ = h f,   Δp_r = h (p̄_r × ω̄ + R̄⁻¹τ),   Δp_u = h (f_u + φᵀR̄⁻¹f − D(ū)ᵀσ̃),   g(q₁, t₁) = 0
"""

from typing import Any, NamedTuple

import numpy as np

from .constraints import gaps, rate_forces, rate_gaps, term_forces
from .contacts import contact_forces
from .curves import curve_forces, curve_gaps, on_curve
from .decay import end_rates, mean_softening
from .elasticity import stress_change, stress_force
from .inertia import inertial_force, momenta
from .kinematics import Ends, State, way_of
from .loads import load_forces
from .numbers import add_up, cross
from .sliding import bearing_forces, bearing_slips, slip_forces
from .springs import measured, tensions
from .strain_rows import mean_stresses, strain_forces, strained, stresses


class Given(NamedTuple):
    """What holds over a step: its length, coefficients of the terms at both ends, offsets of the rows at its end.

    And the inputs, how far free measures of the springs move, the places of points on curves at its start, the forces
    of dry friction in joints, and the spectral radius ρ of the decaying scheme, 1 of the exact one.
    """

    h: float
    coefficient: Ends  # (t,)
    offset: Any  # (g,)
    inputs: Any  # (i,)
    moved: Any  # (springs,)
    places: Any = ()  # (curves,)
    friction: Any = None  # (d − 1, bearings)
    radius: float = 1.0


def step(system, start, given, y):
    """What a step misses (n_v + g,) with the mean velocities and multipliers y, and the state at its end."""
    velocity, lam = y[: system.velocities], y[system.velocities :]
    way = way_of(system, start, given.h, velocity)
    joints, spring, gap = joint_forces(system, start, given, (way, lam))
    stress, sigma = stresses_over(system, start, way, given.radius)
    push, spring = contact_forces(system, way, spring)
    force = joints + push + load_forces(system, way, given.inputs)
    if system.strain_rows.product.size:
        own = strained(system.strain_rows, way.product)
        on_product = strain_forces(system.strain_rows, own, stress[system.strain_rows.stress], way.product.after.size)
        force = force + way.product_rate.T @ on_product
    omega, du = 2.0 * way.omega - start.omega, 2.0 * way.du - start.du
    if given.radius < 1.0:
        omega, du = end_rates(system, start, way, given.radius)
    end = State(way.r.after, way.R.after, way.u.after, 2.0 * way.v - start.v, omega, du, sigma, spring)
    missed = momentum_defects(system, (start, end), way, force, stress)
    return np.concatenate([missed, gap]), end


def slips_of_bearings(system, start, given, y):
    """Slips (d − 1, bearings) of joints with dry friction over a step."""
    way = way_of(system, start, given.h, y[: system.velocities])
    on_curves = [on_curve(c, way.product, s) for c, s in zip(system.curves, given.places, strict=True)]
    return bearing_slips(system, way, measured(system.springs, way.product).change, on_curves)


def momentum_defects(system, ends, way, force, stress):
    """What momenta miss over a step under generalised forces (n_v,) and mean stresses (m,)."""
    start, end = ends
    on_shape = stress_force(system.elasticity, way, stress)
    missed = -way.h * force
    for b, body in enumerate(system.bodies):
        centre, spin, flexible = system.columns(b)
        p = [momenta(body, c.omega[b], c.u[body.own], c.du[body.own]) for c in ends]
        p_r, p_u = (Ends(one, other) for one, other in zip(*p, strict=True))
        missed[centre] += body.mass * (end.v[b] - start.v[b]) - way.h * body.weight
        if body.turns:
            missed[spin] += p_r.change
            if system.dim == 3:
                missed[spin] -= way.h * cross(p_r.mean, way.omega[b])
        rates = (start.omega[b], end.omega[b]), (start.du[body.own], end.du[body.own])
        f_u = inertial_force(body, rates[0], way.u.mean[body.own], rates[1])
        missed[flexible] += p_u.change - way.h * (f_u + on_shape[body.own])
    return missed


def joint_forces(system, start, given, at):
    """Generalised forces (n_v,) of joints and springs, forces of springs and anchors at the end, and gaps (g,)."""
    (way, lam), size = at, system.vectors.first.size
    on_product = term_forces(system, given.coefficient, lam)
    gap = gaps(system, given.coefficient, given.offset, way.product) + rate_gaps(system, way)
    by_rate, torque = rate_forces(system, way, lam)
    on_product = on_product + by_rate
    own = measured(system.springs, way.product)
    stored = np.count_nonzero(system.springs.state >= 0)
    tension, spring = tensions(system.springs, given.h, start.spring[:stored], own.change - given.moved)
    on_product = on_product - own.gradient.T @ tension
    on_curves = [on_curve(c, way.product, s) for c, s in zip(system.curves, given.places, strict=True)]
    for curve, at_curve in zip(system.curves, on_curves, strict=True):
        gap[curve.rows] += curve_gaps(curve, at_curve)
        push = curve_forces(curve, at_curve, lam, given.inputs)
        on_product = on_product + add_up(curve.products.ravel(), push.ravel(), size)
    on_product = on_product + slip_forces(system, way, on_curves)
    if given.friction is not None:
        on_product = on_product + bearing_forces(system, own.gradient, on_curves, given.friction)
    force = way.product_rate.T @ on_product + np.einsum("bsn,bs->n", way.spin_rate, torque)
    return force, np.concatenate([spring, start.spring[stored:]]), gap


def stresses_over(system, start, way, radius):
    """Mean stresses σ̃ = σ̄ + βΔσ/h + ½AΔσ of a step, and the stresses at its end, (m,)."""
    elasticity, rows = system.elasticity, system.strain_rows
    after = start.sigma + stress_change(elasticity, way)
    sigma = Ends(start.sigma, after)
    mean = sigma.mean + elasticity.beta / way.h * sigma.change
    if radius < 1.0:
        mean = mean + mean_softening(system, way.h, radius) @ sigma.change
    if rows.product.size:
        own = strained(rows, way.product)
        after[rows.stress] = stresses(rows, own.strain.after)
        stress = Ends(start.sigma[rows.stress], after[rows.stress])
        mean[rows.stress] = mean_stresses(rows, own, (stress, elasticity.beta[rows.stress] / way.h))
    return mean, after
