"""Friction along slips of joints and wheels.

A slip S is a sum of terms w Π̄_by ΔΠ, or the way along a curve. A relation ρ answers with −ρ(|S|/h) S/|S|, of a slip of
one or two components. Dry friction of a bearing has given forces T, which obey Coulomb's law: |T| ≤ μ|λ|, and against S
with |T| = μ|λ| where it slips. Both act by the transpose of what measures the slip.
"""

import numpy as np

from flexph.laws.creep_laws import CreepLaw

from .constraints import gains
from .curves import on_products
from .numbers import add_up, dot, lifted, norm


def slips(system, way, on_curves):
    """Rates (k,) of the components of all slips over a step, and these as rows (k, p) of rates of the products."""
    own = system.slips
    rows = np.zeros((own.slip.size, way.product.after.size), dtype=way.velocity.dtype)
    third = np.where(own.also >= 0, way.product.mean[own.also], 1.0) if own.also.size else 1.0
    np.add.at(rows, (own.row, own.product), third * gains(own, way.product))
    for k in np.flatnonzero(own.curve >= 0):
        at = on_curves[own.curve[k]]
        np.add.at(rows[k], system.curves[own.curve[k]].products, at.along[:, None] * at.mean)
    return rows @ (way.product_rate @ way.velocity), rows


def slip_forces(system, way, on_curves, lam, normals):
    """Forces on products (p,) against all slips; loads of wheels are multipliers ``lam`` or ``normals`` of contacts."""
    rate, rows = slips(system, way, on_curves)
    force = np.zeros(way.product.after.size)
    for k, relation in enumerate(system.slips.relations):
        own = system.slips.slip == k
        if isinstance(relation, CreepLaw):
            load = lam[system.slips.load[k]] if system.slips.load[k] >= 0 else None
            if system.slips.contact[k] >= 0:
                load = normals[system.contacts.owner == system.slips.contact[k]].sum()
            force = force + rows[own][:-1].T @ creep_force(relation, rate[own], load)
            continue
        speed = np.sqrt(dot(rate[own], rate[own]))
        size = lifted(relation.force(float(speed.real)), relation.slope(float(speed.real)), speed)
        force = force - rows[own].T @ (size / speed * rate[own])
    return force


def creep_force(law, rate, load):
    """Force −p q(x)/V, p = C s, x = |(p₁, p₂)|/(V μN), against slips s; the last rate is V."""
    along, across, limit, C, E, least, coupled, turning = law.parameters
    if law.by_load:
        limit = limit * load
        if limit.real <= 0.0:
            return 0.0 * rate[:-1]
    travel = rate[-1] if rate[-1].real > 0.0 else -rate[-1]
    speed = travel if travel.real > least else least + 0.0 * travel
    matrix = np.array([[along, 0.0, 0.0], [0.0, across, coupled], [0.0, -coupled, turning]])
    pushed = matrix[: rate.size - 1, : rate.size - 1] @ rate[:-1]
    x = norm(pushed[:2]) / (speed * limit) if law.by_load or np.isfinite(limit) else 0.0 * speed
    if law.kind == "hyperbolic":
        size = 1.0 / (1.0 + x)
    elif law.kind == "cubic":
        size = 1.0 - x / 3.0 + x**2 / 27.0 if x.real < 3.0 else 1.0 / x
    else:
        bent = x / C - E * (x / C - _atan(x / C))
        size = np.sin(C * _atan(bent)) / x
    return -pushed * size / speed


def _atan(y):
    return lifted(np.arctan(y.real), 1.0 / (1.0 + y.real**2), y)


def bearing_forces(system, gradient, on_curves, forces):
    """Forces on products (p,) of dry friction T (t, f), whose slips are lengths along measures or curves."""
    own = system.bearings
    force = np.einsum("tf,tfp->p", _levers(own) * forces, gradient[own.spring]) if len(gradient) else 0.0
    for f in np.flatnonzero(own.curve >= 0):
        at = on_curves[own.curve[f]]
        force = force + on_products(system, system.curves[own.curve[f]], forces[0, f] * at.along, at)
    return force


def bearing_slips(system, way, changes, on_curves):
    """Slips (t, f) of a step, from the changes of all measures."""
    own = system.bearings
    slips = _levers(own) * (changes[own.spring] if changes.size else 0.0)
    for f in np.flatnonzero(own.curve >= 0):
        at, moved = on_curves[own.curve[f]], way.product.change[system.curves[own.curve[f]].products]
        slips[0, f] = at.along @ moved @ at.mean
    return slips


def _levers(bearings):
    """Slips over the changes of measures, 0 where there is none, (t, f)."""
    return np.where(bearings.spring >= 0, bearings.lever, 0.0)


def law_defect(bearings, slips, forces, lam):
    """What forces T (t, f) miss of Coulomb's law: T = P(T − S) with P onto |T| ≤ μ|λ|, for slips S in any unit."""
    pressed = np.sqrt(add_up(bearings.owner, lam[bearings.row] ** 2, bearings.friction.size))
    bound, tried = bearings.friction * pressed, forces - slips
    return forces - tried * np.minimum(1.0, bound / np.maximum(norm(tried.T), np.finfo(float).tiny))
