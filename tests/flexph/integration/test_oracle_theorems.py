"""What the scheme promises, by the oracle (tests/samples/exact_scheme) at random iterates, which solve nothing.

With λ = 0 and the residual r of the momenta, v̄·r = ΔH − (work of inputs) + (losses ≥ 0), and the rigid motions of the
whole mechanism give the changes of both momenta.

Ten seconds, as the oracle is plain NumPy and takes each kind of joint, force and contact.
"""

from functools import cache

import numpy as np
import pytest
from exact_scheme.energy import energy, work_by_flows, work_of_factors, work_of_inputs
from exact_scheme.inertia import momenta
from exact_scheme.kinematics import arms, products, swept, vectors, way_of
from exact_scheme.numbers import cross
from exact_scheme.strain_rows import strains, stresses
from oracle_kinds import BODIES, FLEXIBLE_SHAPES, PLANE, RIGID_SHAPES, SLIPPERY, SPACE, block, joined, touching
from oracle_steps import random_step

pytestmark = pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
ROUND_OFF = 1e-12
MADE = {f"plane: {name}": lambda make=make: joined(2, *make()) for name, make in PLANE.items()}
MADE |= {f"space: {name}": lambda make=make: joined(3, *make()) for name, make in SPACE.items()}
MADE |= {name: lambda d=d, b=b, c=c: joined(d, *c(), **b()) for name, (d, b, c) in BODIES.items()}
MADE |= {
    name: lambda d=d, own=own: joined(d, *touching(own, SLIPPERY["hertz"]), c=block(d))
    for name, (d, own) in (RIGID_SHAPES | FLEXIBLE_SHAPES).items()
}
LOSSY = ("friction", "law", "slipping", "cylindrical", "hysteresis", "bristles")
"""Names of kinds that lose energy without damping."""
GROUNDED = {"plane", "plane of space", "point of a beam", "point of a beam of space", "rim"}
GROUNDED |= {name for name in MADE if "slipping" in name or "on the ground" in name}
GROUNDED |= {"plane: cartesian spring", "space: cartesian spring"}  # forces across the line of its points
GROUNDED |= {name for name in MADE if "rope" in name and "between bodies" not in name}
GROUNDED |= {name for name in MADE if "hose" in name or "mass changes" in name}
"""Kinds on which the world acts without joint forces."""


@cache
def made(name):
    """The mechanism of a name."""
    return MADE[name]()


def step_of(name, *, damped):
    """A random step without joint forces, whose free lengths and loads rest; with damping and losses or without."""
    own, y = random_step(made(name), size=0.05)
    own.start.sigma[own.system.strain_rows.stress] = stresses_at(own)
    own.given = own.given._replace(moved=0.0 * own.given.moved, friction=0.0 * own.given.friction)
    if not damped:
        system, elasticity, contacts = own.system, own.system.elasticity, own.system.contacts
        own.system = system._replace(
            elasticity=elasticity._replace(beta=0.0 * elasticity.beta, viscous=0.0 * elasticity.viscous),
            springs=system.springs._replace(damping=0.0 * system.springs.damping),
            contacts=contacts._replace(loss=0.0 * contacts.loss, damping=0.0 * contacts.damping),
        )
    y[own.system.velocities :] = 0.0
    return own, y


def stresses_at(own):
    """Stresses of strain rows that are those of their strains at the start."""
    system, start, rows = own.system, own.start, own.system.strain_rows
    product = products(system, vectors(system, start.r, arms(system, start.R, start.u)))
    return stresses(rows, strains(rows, product), own.given.strain_factor.before) if rows.stress.size else []


@pytest.mark.covering
@pytest.mark.parametrize("name", [name for name in MADE if "function of the rate" not in name])  # may do work
@pytest.mark.parametrize("damped", [False, True])
def test_energy_is_balanced(name, damped):
    own, y = step_of(name, damped=damped)
    n, end = own.system.velocities, own.end(y)
    given = own.given
    before, after = zip(given.factor, given.strain_factor, given.speed, given.mass, strict=True)
    gained = energy(own.system, end, *after) - energy(own.system, own.start, *before)
    power, work = y[:n] @ own.residual(y)[:n], work_of_inputs(own.system, own.start, own.given, y)
    work = work + work_of_factors(own.system, own.start, end, own.given)
    work = work + work_by_flows(own.system, own.start, own.given, y)
    lost, scale = power - (gained - work), np.abs(y[:n] * own.residual(y)[:n]).sum()
    assert lost >= -ROUND_OFF * scale
    if not damped and not any(word in name for word in LOSSY):
        assert lost <= ROUND_OFF * scale


@pytest.mark.parametrize("name", sorted(MADE.keys() - GROUNDED))
def test_momenta_are_kept(name):
    """Without weights and inputs: residuals along rigid motions of the whole are what both momenta gain."""
    own, y = step_of(name, damped=True)
    free = tuple(body._replace(weight=0.0 * body.weight) for body in own.system.bodies)
    own.system, own.given = own.system._replace(bodies=free), own.given._replace(inputs=0.0 * own.given.inputs)
    residual, motions = own.residual(y)[: own.system.velocities], rigid_motions(own, y)
    gained = total_momenta(own.system, own.end(y)) - total_momenta(own.system, own.start)
    np.testing.assert_allclose(
        motions @ residual, gained, rtol=0, atol=ROUND_OFF * (np.abs(motions) @ np.abs(residual)).max()
    )


def rigid_motions(own, y):
    """Translations and rotations of the whole about the origin, over the step, as rows of velocities."""
    system, way = own.system, way_of(own.system, own.start, own.given.h, y[: own.system.velocities])
    motions = np.zeros((system.dim + system.spins, system.velocities))
    for b, body in enumerate(system.bodies):
        centre, spin, _ = system.columns[b]
        motions[: system.dim, centre] = np.eye(system.dim)
        motions[system.dim :, centre] = swept(way.r.mean[b]).T
        if body.turns:
            motions[system.dim :, spin] = np.linalg.inv(way.spin_rate[b][:, spin]).T
    return motions


def total_momenta(system, state):
    """Σ m ṙ and Σ r × m ṙ + R p_r."""
    linear = sum(body.mass * v for body, v in zip(system.bodies, state.v, strict=True))
    angular = np.zeros(system.spins)
    for b, body in enumerate(system.bodies):
        p_r, _ = momenta(body, state.omega[b], state.u[body.own], state.du[body.own])
        angular += cross(state.r[b], body.mass * state.v[b]) + (state.R[b] @ p_r if system.dim == 3 else p_r)
    return np.concatenate([linear, angular])
