"""One step of the exact scheme: the residual of the mean velocities and multipliers, and the state at its end.

    m Δṙ = h f,   Δp_r = h (p̄_r × ω̄ + R̄⁻¹τ),   Δp_u = h (f_u + φᵀR̄⁻¹f − D(ū)ᵀσ̃),   g(q₁, t₁) = 0

Positions and stresses follow from the unknowns y = (ṙ̄, ω̄, u̇̄, λ).
"""

from typing import Any, NamedTuple

import numpy as np

from .constraints import constraint_forces, constraint_gaps, spin_forces
from .contacts import contact_forces
from .curves import all_on_curves, curve_forces, curve_gaps
from .decay import end_rates
from .elasticity import shape_forces, stresses_over
from .flows import flow_forces
from .inertia import inertial_force, momenta
from .kinematics import Ends, State, way_of
from .loads import face_loads, load_forces
from .numbers import cross
from .sliding import bearing_forces, bearing_slips, slip_forces
from .springs import measured, tensions
from .strain_rows import strain_forces
from .system import weighed


class Given(NamedTuple):
    """What holds over a step: its length, coefficients of the terms at both ends, offsets of the rows at its end.

    And the time in its middle, the inputs, how far free measures of the springs move, the places of points on curves
    at its start, the forces of dry friction in joints, factors of the laws of springs and of strains, the speeds of
    flows, factors of relations and of the masses of bodies at both ends, and the spectral radius ρ of the decaying
    scheme, 1 of the exact one.
    """

    h: float
    coefficient: Ends  # (t,)
    offset: Any  # (g,)
    time: float
    inputs: Any  # (i,)
    moved: Any  # (springs,)
    places: Any  # (curves,)
    friction: Any  # (d − 1, bearings)
    factor: Ends  # (springs,)
    strain_factor: Ends  # (laws of strains,)
    speed: Ends  # (flows,)
    rubbing: Ends  # (springs,)
    mass: Ends  # (bodies,)
    radius: float = 1.0


def step(system, start, given, y):
    """What a step misses (n_v + g,) with the mean velocities and multipliers y, and the state at its end."""
    velocity, lam = np.split(y, [system.velocities])
    system = weighed(system, given.mass.mean)
    way = way_of(system, start, given.h, velocity)
    on_curves = all_on_curves(system, way, given.places)
    measures = measured(system.springs, way.product)
    tension, spring = tensions(system.springs, given, start.spring, measures.change)
    of_contacts, spring, normals = contact_forces(system, way, spring)
    sigma, mean_stress = stresses_over(system, start, way, given)
    on_product = (
        constraint_forces(system, way, given.coefficient, lam)
        + curve_forces(system, on_curves, lam, given.inputs)
        - measures.gradient.T @ tension
        + slip_forces(system, way, on_curves, lam, normals)
        + bearing_forces(system, measures.gradient, on_curves, given.friction)
        + strain_forces(system, way, mean_stress)
    )
    force = way.product_rate.T @ on_product + spin_forces(system, way, lam) + of_contacts
    rates = way.frame, way.spin_rate, way.node_rate
    force = force + load_forces(system, rates, way.arm.mean, given.inputs) + face_loads(system, way, given.inputs)
    force = force + flow_forces(system, way, given)
    end = State(way.r.after, way.R.after, way.u.after, *end_velocities(system, start, way, given), sigma.after, spring)
    missed = momentum_defects(system, Ends(start, end), way, force, mean_stress)
    gap = constraint_gaps(system, way, given.coefficient, given.offset) + curve_gaps(system, on_curves)
    return np.concatenate([missed, gap]), end


def end_velocities(system, start, way, given):
    """ṙ₁, ω₁ and u̇₁, of which ṙ̄, ω̄, u̇̄ are the means with those at the start; of the decaying scheme by its rates."""
    v, omega, du = 2.0 * way.v - start.v, 2.0 * way.omega - start.omega, 2.0 * way.du - start.du
    return v, *((omega, du) if given.radius == 1.0 else end_rates(system, start, way, given.radius))


def momentum_defects(system, state, way, force, mean_stress):
    """What the momenta miss over a step (n_v,) under generalised forces (n_v,) and mean stresses (m,)."""
    on_shape = shape_forces(system.elasticity, way, mean_stress)
    missed = -way.h * force
    for b, body in enumerate(system.bodies):
        centre, spin, shape = system.columns[b]
        v, omega, du = (Ends(*(getattr(c, name) for c in state)) for name in ("v", "omega", "du"))
        omega, du = Ends(*(w[b] for w in omega)), Ends(*(rate[body.own] for rate in du))
        p = [momenta(body, c.omega[b], c.u[body.own], c.du[body.own]) for c in state]
        p_r, p_u = (Ends(*own) for own in zip(*p, strict=True))
        missed[centre] += body.mass * v.change[b] - way.h * body.weight
        if body.turns:
            missed[spin] += p_r.change - way.h * gyration(p_r.mean, way.omega[b])
        f_u = inertial_force(body, omega, way.u.mean[body.own], du)
        missed[shape] += p_u.change - way.h * (f_u + on_shape[body.own])
    return missed


def gyration(p_r, omega):
    """p̄_r × ω̄; nothing in the plane."""
    return cross(p_r, omega) if omega.size == 3 else 0.0 * omega


def slips_of_bearings(system, start, given, y):
    """Slips (d − 1, bearings) of joints with dry friction over a step."""
    way = way_of(system, start, given.h, y[: system.velocities])
    on_curves = all_on_curves(system, way, given.places)
    return bearing_slips(system, way, measured(system.springs, way.product).change, on_curves)
