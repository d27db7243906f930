"""Gauss collocation that is as exact as the step, which it is with one node.

All that the equations are polynomials of is collocated by the rate that it has as a product of two others. With values
y_i = y₀ + hΣ a_ij ẏ_j at the nodes of the step and unknowns ṙ, Ω, u̇, λ there

    Ṙ = Ω × R,  ȧ = Ω × a + R⁻ᵀφu̇ (arms),  Π̇ = V̇·W + V·Ẇ,  σ̇ = C⁻¹D(u)u̇,  π̇ = τ (angular momenta)
    m v̇ = f,  R⁻ᵀṗ_r + Ω × π = τ,  ṗ_u = f_u + φᵀR⁻¹f − D(u)ᵀ(σ + βσ̇),  Σ c Π̇ + ċ Π = κ̇
    f_u = ½wᵀ(∂M/∂u)w − ½h²Σ_ik e_jik ẇ_iᵀ(∂M/∂u)ẇ_k,     b_j e_jik = b_i(a_ij(a_jk − a_ik) + a_ik a_kj)

As Σ b_i(ẋ_i·y_i + x_i·ẏ_i) is the increment of x·y, balances, momenta and constraints are those of the step.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .constraints import gains
from .elasticity import strain_operator
from .inertia import inertial_force, mass_matrix, momenta
from .kinematics import Ends, State, arms, node_rates, product_rates, products, spin_rates, split, vectors
from .loads import load_forces
from .numbers import add_up, cross, dot, skew, turn


class Tableau(NamedTuple):
    """Nodes c, weights b and coefficients a of Gauss collocation, and e of the force of inertia."""

    c: Any  # (s,)
    b: Any  # (s,)
    a: Any  # (s, s)
    e: Any  # (s, s, s)


def tableau_of(stages):
    """Collocation at so many Gauss points: Σ_j a_ij c_j^k = c_i^(k + 1)/(k + 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(stages)
    c, b, k = 0.5 * (nodes + 1.0), 0.5 * weights, np.arange(stages)
    a = np.linalg.solve((c[:, None] ** k).T, (c[:, None] ** (k + 1) / (k + 1)).T).T
    e = np.einsum("i,ij,jik->jik", b, a, a[:, None, :] - a[None]) + np.einsum("i,ik,kj->jik", b, a, a)
    return Tableau(c, b, a, e / b[:, None, None])


class AtNodes(NamedTuple):
    """What is given at the nodes: coefficients of the terms, h times their rates, and of the offsets; inputs, times.

    Of springs: rates of the references at the nodes; factors of the laws at 2s points, h times their rates, and factors
    at the ends.
    """

    h: float
    coefficient: Any  # (s, t)
    coefficient_rate: Any
    offset_rate: Any  # (s, g)
    inputs: Any  # (s, i)
    time: Any  # (s,)
    moved: Any  # (s, springs)
    factor: Any  # (2s, springs)
    factor_rate: Any
    factor_end: Any  # (2, springs)


def collocated(system, start, given, unknowns):
    """What a step misses at its nodes (s, n_v + g) with ṙ, Ω, u̇ and λ there (s, n_v + g), and the state at its end."""
    tableau, h = tableau_of(len(unknowns)), given.h
    velocity, lam = np.split(unknowns, [system.velocities], axis=1)
    v, spin, du = (np.array(parts) for parts in zip(*(split(system, y) for y in velocity), strict=True))
    r, u = _values(tableau, h, start.r, v), _values(tableau, h, start.u, du)
    R, arm = turned(system, start, tableau, h, (spin, du))
    rates, of_products = zip(*map(partial(rates_at, system), r, R, arm), strict=True)
    before = products(system, vectors(system, start.r, arms(system, start.R, start.u)))
    product_rate = np.einsum("spn,sn->sp", of_products, velocity)
    product = _values(tableau, h, before, product_rate)
    stretch, gradient = spring_rates(system.springs, tableau, h, before, (product, product_rate))
    tension, spring = spring_forces(system.springs, tableau, given, start.spring, stretch - given.moved)
    sigma_rate = np.array(list(map(partial(stress_rate, system.elasticity), u, du)))
    stress = _values(tableau, h, start.sigma, sigma_rate) + system.elasticity.beta * sigma_rate
    weight = np.array(list(map(partial(row_weights, system), given.coefficient, product)))
    on_product = np.einsum("sg,sgp->sp", lam, weight) - np.einsum("sm,smp->sp", tension, gradient)
    force = np.einsum("spn,sp->sn", of_products, on_product) + spin_loads(system, rates, lam)
    force = force + list(map(partial(load_forces, system), rates, arm, given.inputs))
    missed = momentum_defects(system, start, (tableau, h), (v, spin, du, R, u), force, stress)
    gap = h * np.einsum("sgp,sp->sg", weight, product_rate) + term_sums(system, given.coefficient_rate, product)
    gap = gap + h * spin_rows(system, spin) - given.offset_rate
    return np.hstack([missed, gap]), end_of(system, start, (tableau, h), (v, spin, du, R), sigma_rate, spring)


def _values(tableau, h, start, rate):
    """y at the nodes from ẏ there."""
    return start + h * np.tensordot(tableau.a, rate, 1)


def _changes(tableau, start, value):
    """hẏ at the nodes from y there."""
    return np.tensordot(np.linalg.inv(tableau.a), value - start, 1)


def turned(system, start, tableau, h, rates):
    """R (s, b, d, d) of all bodies, and arms (s, k, d) of all nodes, at the nodes of the step."""
    (spin, du), d = rates, system.dim
    s, at_start = len(spin), arms(system, start.R, start.u)
    R = np.zeros((s, *start.R.shape), dtype=spin.dtype)
    arm = np.zeros((s, *at_start.shape), dtype=spin.dtype)
    for b in range(len(system.bodies)):
        turning = np.zeros((s, d, s, d), dtype=spin.dtype)
        for i, j in np.ndindex(s, s):
            turning[i, :, j] = h * tableau.a[i, j] * skew(spin[j, b])
        transport = np.linalg.inv(np.eye(s * d) - turning.reshape(s * d, s * d))
        R[:, b] = (transport @ np.tile(start.R[b], (s, 1))).reshape(s, d, d)
        for k in np.flatnonzero(system.nodes.body == b):
            pushed = [np.linalg.inv(R[i, b]).T @ system.nodes.shape[k] @ du[i] for i in range(s)]
            arm[:, k] = (transport @ _values(tableau, h, at_start[k], np.array(pushed)).ravel()).reshape(s, d)
    return R, arm


def rates_at(system, r, R, arm):
    """R⁻ᵀ, and Ω, rates of nodes and of products at a node of the step as maps of (ṙ, Ω, u̇)."""
    frame, spin_rate = np.linalg.inv(R).swapaxes(1, 2), spin_rates(system, np.tile(np.eye(system.dim), (len(R), 1, 1)))
    node_rate = node_rates(system, frame, spin_rate, arm)
    return (frame, spin_rate, node_rate), product_rates(system, node_rate, vectors(system, r, arm))


def row_weights(system, coefficient, product):
    """Constraints as combinations of the rates of products, (g, p): c of terms, w Π_by of rows of rates."""
    rows, terms = np.zeros((system.rows, product.size), dtype=product.dtype), system.rate_terms
    np.add.at(rows, (system.term_row, system.term_product), coefficient)
    np.add.at(rows, (terms.row, terms.product), gains(terms, Ends(product, product)))
    return rows


def stress_rate(elasticity, u, du):
    """σ̇ = C⁻¹D(u)u̇, (m,)."""
    return elasticity.stiffness @ (strain_operator(elasticity, u) @ du)


def spin_loads(system, rates, lam):
    """Generalised forces (s, n_v) of the multipliers of a·Ω."""
    terms = system.rate_terms
    torque = lam[:, terms.spin_row, None] * terms.spin_axis
    spin_rate = np.array([of_bodies for _, of_bodies, _ in rates])
    return np.einsum("smtn,smt->sn", spin_rate[:, terms.spin_body], torque)


def spin_rows(system, spin):
    """Σ a·Ω of all rows, (s, g)."""
    terms = system.rate_terms
    return np.array([add_up(terms.spin_row, dot(terms.spin_axis, own[terms.spin_body]), system.rows) for own in spin])


def term_sums(system, coefficient, product):
    """Σ c Π of all rows, (s, g)."""
    return np.array(
        [
            add_up(system.term_row, c * p[system.term_product], system.rows)
            for c, p in zip(coefficient, product, strict=True)
        ]
    )


def spring_rates(springs, tableau, h, at_start, at_nodes):
    """Rates of the measures at the nodes (s, springs), and their gradients (s, springs, p): ℓ̇ = Π̇/2ℓ, α̇ by (s, c).

    Ropes have the sums of the rates of their spans and angles.
    """
    product, rate = at_nodes
    gradient = np.zeros((len(product), springs.stiffness.size, at_start.size), dtype=product.dtype)
    length = np.sqrt(product[:, springs.length_product])
    for _ in range(50):  # ℓ is collocated by its own rate
        length = _values(
            tableau, h, np.sqrt(at_start[springs.length_product]), 0.5 * rate[:, springs.length_product] / length
        )
    rows = np.arange(springs.stiffness.size)
    first, second = length.shape[1], length.shape[1] + springs.component_product.size
    last = second + springs.sine_product.size
    sine, cosine = product[:, springs.sine_product], product[:, springs.cosine_product]
    gradient[:, rows[:first], springs.length_product] = 0.5 / length
    gradient[:, rows[first:second], springs.component_product] = 1.0
    gradient[:, rows[second:last], springs.sine_product] = cosine / (sine**2 + cosine**2)
    gradient[:, rows[second:last], springs.cosine_product] = -sine / (sine**2 + cosine**2)
    add_ropes(springs.ropes, h * tableau.b, at_start, at_nodes, gradient[:, last:])
    return np.einsum("smp,sp->sm", gradient, rate), gradient


def add_ropes(ropes, weights, at_start, at_nodes, gradient):
    """Add the gradients (s, ropes, p) of ropes (in place): ½ℓ/Π of spans, ±ρ(c, −s)/(s² + c²) of angles.

    Each is multiplied by 1 + αẏ, with α such that the sum of the rates ẏ is the change over the step.
    """
    product, rate = at_nodes
    after = at_start + weights @ rate
    for rope, p, offset in zip(ropes.span_rope, ropes.square, ropes.offset, strict=True):
        slope = 0.5 * np.sqrt(product[:, p] - offset**2) / product[:, p]
        lengths = [np.sqrt(at[p] - offset**2) for at in (at_start, after)]
        first, last = (length + offset * np.arctan(offset / length) for length in lengths)
        gradient[:, rope, p] += slope * exact_rates(weights, slope * rate[:, p], last - first)
    for rope, i, j, radius in zip(ropes.angle_rope, ropes.sine, ropes.cosine, ropes.radius, strict=True):
        s, c = product[:, i], product[:, j]
        along, across = radius * c / (s * s + c * c), -radius * s / (s * s + c * c)
        (s0, s1), (c0, c1) = ((at_start[k], after[k]) for k in (i, j))
        change = radius * turn(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)[0]
        factor = exact_rates(weights, along * rate[:, i] + across * rate[:, j], change)
        gradient[:, rope, i] += along * factor
        gradient[:, rope, j] += across * factor


def exact_rates(weights, rate, change):
    """Factors 1 + αẏ of rates ẏ at the nodes (s,), whose sum with them is the change over the step."""
    return 1.0 + rate * (change - weights @ rate) / (weights @ rate**2)


def spring_forces(springs, tableau, given, spring, rate):
    """Tensions at the nodes (s, springs), and spring forces or extensions at the end of the step."""
    h, stored = given.h, np.flatnonzero(springs.state >= 0)
    tension, grown = springs.damping * rate, springs.stiffness * rate
    for i in stored:
        x0, own = spring[springs.state[i]], rate[:, i]
        if i in springs.lawful:
            law = springs.laws[list(springs.lawful).index(i)]
            factors = given.factor[:, i], given.factor_rate[:, i], given.factor_end[:, i]
            force, grown[:, i] = elastic_forces(law, tableau, h, (x0, own), factors), own
            damped = tension[:, i]
            if i >= springs.roped.start:  # while it is taut, and as far as it does not push
                damped = np.where(_values(tableau, h, x0, own).real > 0.0, damped, 0.0)
                damped = np.where(
                    damped.real > -np.maximum(force.real, 0.0), damped, -np.where(force.real > 0, force, 0)
                )
            tension[:, i] = force + damped
        elif i in springs.forced:
            law = springs.force_laws[list(springs.forced).index(i)]
            x = _values(tableau, h, x0, own)
            tension[:, i] += [law.function(*at) for at in zip(x, own, given.time, strict=True)]
            grown[:, i] = own
        else:
            tension[:, i] += _values(tableau, h, x0, grown[:, i])
    return tension, spring + h * tableau.b @ grown[:, stored]


def elastic_forces(law, tableau, h, extension, factors):
    """Forces of a law at the nodes (s,), with the moments of a V'(x(τ)) at 2s points, and the work Δ(aV) − h Σ w ȧ V.

    x is the polynomial with the rates ẋ at the nodes; what the work misses is added along ẋ.
    """
    (x0, rate), (factor, faster, ends), s = extension, factors, len(extension[1])
    degrees, points = np.arange(s), 0.5 * (1.0 + np.polynomial.legendre.leggauss(2 * s)[0])
    weights = 0.5 * np.polynomial.legendre.leggauss(2 * s)[1]
    by_power = np.linalg.solve(tableau.c[:, None] ** degrees, rate)
    x = x0 + h * (points[:, None] ** (degrees + 1) / (degrees + 1)) @ by_power
    moments = (points[:, None] ** degrees).T @ (weights * factor * law.force(x))
    force = np.linalg.solve((tableau.c[:, None] ** degrees).T * tableau.b, moments)
    stored = ends[1] * law.energy(x0 + h * tableau.b @ rate) - ends[0] * law.energy(x0)
    missed = stored - weights @ (faster * law.energy(x)) - h * tableau.b @ (force * rate)
    return force + missed * rate / (h * tableau.b @ rate**2)


def momentum_defects(system, start, by, at, force, stress):
    """What the momenta miss at the nodes, (s, n_v)."""
    (tableau, h), (v, spin, du, R, u), elasticity = by, at, system.elasticity
    missed = -h * force
    for b, body in enumerate(system.bodies):
        centre, turning, shape = system.columns[b]
        missed[:, centre] += body.mass * _changes(tableau, start.v[b], v[:, b]) - h * body.weight
        w0 = np.concatenate([start.omega[b], start.du[body.own]])
        omega = np.array([_to_body(frame[b], one[b]) for frame, one in zip(R, spin, strict=True)])
        w = np.hstack([omega, du[:, body.own]])
        dw, own = _changes(tableau, w0, w), u[:, body.own]
        M, dM = inertia_at(body, (tableau, h), start.u[body.own], (own, w[:, omega.shape[1] :]))
        p = np.einsum("sab,sb->sa", M, dw) + np.einsum("sab,sb->sa", dM, w)
        p_r, p_u = np.split(p, [omega.shape[1]], axis=1)
        if body.turns:
            torque = force[:, turning]
            p0 = momenta(body, start.omega[b], start.u[body.own], start.du[body.own])[0]
            angular = _values(tableau, h, _to_world(start.R[b], p0), torque)
            for i, frame in enumerate(R[:, b]):
                missed[i, turning] += p_r[i] if system.dim == 2 else np.linalg.inv(frame).T @ p_r[i]
                missed[i, turning] += h * cross(spin[i, b], angular[i]) if system.dim == 3 else 0.0
        f_u = inertial_forces(body, tableau, own, w, dw)
        on_shape = [-strain_operator(elasticity, x).T @ y for x, y in zip(u, stress, strict=True)]
        missed[:, shape] += p_u - h * (f_u + (np.array(on_shape) - du @ elasticity.viscous.T)[:, body.own])
    return missed


def inertia_at(body, by, u0, at):
    """M(u) and hṀ at the nodes, (s, w, w): of J collocated by its rate 2(s + Ku)·u̇, of the rest as it is."""
    (tableau, h), (u, du), s = by, at, len(body.J)
    M = np.array([mass_matrix(body, x) for x in u])
    rate = np.array([2.0 * (body.s + body.K @ x) @ y for x, y in zip(u, du, strict=True)])
    M[:, :s, :s] = _values(tableau, h, mass_matrix(body, u0)[:s, :s], rate)
    dM = np.zeros_like(M)
    dM[:, :s, :s], dM[:, :s, s:] = h * rate, h * np.einsum("akl,sl->sak", body.N, du)
    dM[:, s:, :s] = dM[:, :s, s:].swapaxes(1, 2)
    return M, dM


def inertial_forces(body, tableau, u, w, dw):
    """f_u at the nodes, (s, n): ½wᵀ(∂M/∂u)w, and what makes up for momenta that are not M(u)w there."""
    s = len(body.J)
    half = lambda x, one, other: inertial_force(body, (one[:s], other[:s]), x, (one[s:], other[s:]))  # noqa: E731
    force = np.array([half(x, y, y) for x, y in zip(u, w, strict=True)])
    for j, i, k in np.ndindex(tableau.e.shape):
        force[j] -= tableau.e[j, i, k] * half(u[j], dw[i], dw[k])
    return force


def end_of(system, start, by, at, sigma_rate, spring):
    """The state at the end of the step: integrals by the weights, velocities by the polynomials through the nodes."""
    (tableau, h), (v, spin, du, R) = by, at
    total = lambda rate: h * np.tensordot(tableau.b, rate, 1)  # noqa: E731
    last = lambda y0, y: y0 + np.tensordot(tableau.b, _changes(tableau, y0, y), 1)  # noqa: E731
    omega = np.array([[_to_body(R[i, b], spin[i, b]) for b in range(R.shape[1])] for i in range(len(R))])
    swept = [[skew(spin[i, b]) @ R[i, b] for b in range(R.shape[1])] for i in range(len(R))]
    R1 = start.R + total(np.array(swept))
    return State(
        start.r + total(v),
        R1,
        start.u + total(du),
        last(start.v, v),
        last(start.omega, omega),
        last(start.du, du),
        start.sigma + total(sigma_rate),
        spring,
    )


def _to_body(R, spin):
    """R⁻¹Ω; in the plane Ω."""
    return np.linalg.solve(R, spin) if spin.size == 3 else spin


def _to_world(R, spin):
    """Rω; in the plane ω."""
    return R @ spin if spin.size == 3 else spin
