"""The energy of a state, and the work of inputs over a step."""

import numpy as np

from .contacts import FACE, gap_at, stored
from .curves import all_on_curves, curve_forces
from .flows import flow_energies, work_of_flows
from .inertia import mass_matrix
from .kinematics import arms, points, products, vectors, way_of
from .loads import face_loads, load_forces
from .numbers import dot
from .springs import stored_by
from .strain_rows import evaluated, strains
from .system import weighed


def energy(system, state, factor=None, strain_factor=None, speed=0.0, mass=None):
    """½m|ṙ|² + ½wᵀM(u)w − m g·r + ½σᵀCσ + ½e²/k, with ψ of finite strains, V(δ) of contacts, ½f²/k of anchors [J].

    ``factor`` (springs,) are the factors of the laws of springs at the time of the state, ``strain_factor`` those of
    the laws of strains and ``mass`` those of masses, by default one; ``speed`` those of flows.
    """
    system = system if mass is None else weighed(system, mass)
    return (
        sum(_of_bodies(system, state))
        + _elastic(system, state, np.ones(len(system.strain_rows.laws)) if strain_factor is None else strain_factor)
        + _of_springs(system, state, np.ones(system.springs.stiffness.size) if factor is None else factor)
        + _of_contacts(system, state)
        + flow_energies(system, state.r, speed).sum()
    )


def _of_bodies(system, state):
    """Kinetic and potential energies."""
    for b, body in enumerate(system.bodies):
        w = np.concatenate([state.omega[b], state.du[body.own]])
        turning = 0.5 * dot(w, mass_matrix(body, state.u[body.own]) @ w)
        yield turning + 0.5 * body.mass * dot(state.v[b], state.v[b]) - dot(body.weight, state.r[b])


def _elastic(system, state, factor):
    """½σᵀCσ, of rows with a law their a ψ."""
    rows, sigma = system.strain_rows, state.sigma.copy()
    total = sum(a * stored for a, stored in zip(factor, _of_strain_laws(system, state), strict=True))
    for part in rows.laws:
        sigma[rows.stress[part.rows.ravel()]] = 0.0
    return total + 0.5 * sigma @ system.elasticity.compliance @ sigma


def _of_strain_laws(system, state):
    """ψ of the rows of each law."""
    rows = system.strain_rows
    for part in rows.laws:
        product = products(system, vectors(system, state.r, arms(system, state.R, state.u)))
        yield dot(part.volume, evaluated(part.law, part.strain(strains(rows, product)))[0])


def _of_springs(system, state, factor):
    """½e²/k, a V(x) of those with a law, and ½kz² of those with hysteresis."""
    springs, total = system.springs, 0.0
    for i in np.flatnonzero(springs.stiffness > 0.0):
        total = total + 0.5 * state.spring[springs.state[i]] ** 2 / springs.stiffness[i]
    for i, law in zip(springs.hysteretic, springs.hysteresis, strict=True):
        total = total + 0.5 * law.stiffness * state.spring[springs.state[i]] ** 2
    return total + sum(factor[i] * value for i, value in _of_laws(springs, state))


def _of_laws(springs, state):
    """Numbers of the springs with a law, and V(x)."""
    for i, law in zip(springs.lawful, springs.laws, strict=True):
        yield i, stored_by(law, state.spring[springs.state[i]])


def work_of_factors(system, start, end, given):
    """½(a₁ − a₀)(H₀ + H₁): what the schedules of masses and of the laws of springs and of strains do in a step [J]."""
    change, of_strains = 0.5 * given.factor.change, 0.5 * given.strain_factor.change
    work = sum(change[i] * value for state in (start, end) for i, value in _of_laws(system.springs, state))
    masses = 0.5 * given.mass.change
    work += sum(dot(masses, np.array(list(_of_bodies(system, state)))) for state in (start, end))
    return work + sum(dot(of_strains, np.array(list(_of_strain_laws(system, state)))) for state in (start, end))


def _of_contacts(system, state):
    """V(δ), and of anchors ½f²/k."""
    c, place = system.contacts, points(system, state.r, arms(system, state.R, state.u))
    place, total = place + system.nodes.means @ place, 0.0
    for k in np.flatnonzero(~c.rigid):
        if c.kind[k] == FACE:
            faces = np.flatnonzero(c.skin == c.skin[k])
            gaps = [gap_at(c, f, place) for f in faces]
            total = total + (stored(c, k, min(gaps, key=np.real)) if k == faces[0] else 0.0)
            continue
        total = total + stored(c, k, gap_at(c, k, place))
        if c.anchor[k] >= 0:
            force = state.spring[c.anchor[k] : c.anchor[k] + system.dim]
            total = total + 0.5 * dot(force, force) / c.holding[k]
    return total


def work_of_inputs(system, start, given, y):
    """h times the mean power of all inputs over a step [J]."""
    way = way_of(system, start, given.h, y[: system.velocities])
    rates = way.frame, way.spin_rate, way.node_rate
    force = load_forces(system, rates, way.arm.mean, given.inputs) + face_loads(system, way, given.inputs)
    on_curves = all_on_curves(system, way, given.places)
    pushed = curve_forces(system, on_curves, np.zeros(system.rows), given.inputs)
    return given.h * dot(force + way.product_rate.T @ pushed, way.velocity)


def work_by_flows(system, start, given, y):
    """Work of all flows over a step [J]."""
    return work_of_flows(system, way_of(system, start, given.h, y[: system.velocities]), given)
