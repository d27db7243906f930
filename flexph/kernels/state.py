"""A state of a mechanism as arrays, and everything that follows from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..space import Array
from .arrays import Arrays, total


class Configuration(NamedTuple):
    """Positions, velocities and stresses: r (b, d), R (b, d, d), u (n,), ṙ (b, d), ω (b, s), u̇ (n,), σ (m,), e."""

    r: Array
    R: Array
    u: Array
    v: Array
    omega: Array
    du: Array
    sigma: Array
    spring: Array


class Derived(NamedTuple):
    """What the step needs of a configuration: inertia products, momenta, node arms, vectors and their products."""

    Pu: Array
    Pdu: Array
    p_r: Array
    p_u: Array
    arm: Array
    vector: Array
    product: Array


def body_sum(a: Arrays, x: Array) -> Array:
    """Sum over the flexible coordinates of each body: (..., n) to (..., b)."""
    total = np.zeros((*x.shape[:-1], len(a.mass)))
    if a.flexing.size:
        total[..., a.flexing] = np.add.reduceat(x, a.first_u, axis=-1)
    return total


def inertia_products(a: Arrays, u: Array) -> Array:
    """M u, N_a u and K_ab u at once, (1 + s + s², n)."""
    y = a.stack @ u
    if a.mean is not None:
        y -= a.mean_stack @ (a.mean @ u)
    s = a.n.shape[0]
    return y.reshape(1 + s + s * s, u.size)


def momenta(a: Arrays, omega: Array, u: Array, du: Array, Pu: Array, Pdu: Array) -> tuple[Array, Array]:
    """p_r = J(u) ω + (n + N u)·u̇ and p_u = ω (n + N u) + M u̇ about the centre of mass."""
    s = a.n.shape[0]
    inertia = rotational_inertia(a, u, Pu)
    coupling = a.n + Pu[1 : 1 + s]
    p_r = np.einsum("bij,bj->bi", inertia, omega) + body_sum(a, coupling * du).T
    p_u = np.einsum("ni,in->n", omega[a.body_u], coupling) + Pdu[0]
    return p_r, p_u


def rotational_inertia(a: Arrays, u: Array, Pu: Array) -> Array:
    """J(u) = J + 2 s·u + uᵀK u of each body, (b, s, s)."""
    s = a.n.shape[0]
    quadratic = body_sum(a, (2.0 * a.s + Pu[1 + s :].reshape(s, s, -1)) * u)
    return a.J + np.moveaxis(quadratic, 2, 0)


def node_arms(a: Arrays, R: Array, u: Array) -> Array:
    """R (X + φ u) of all nodes, (k, d): from the centre of mass, or a direction."""
    local = a.node_position + node_displacement(a, u)
    return np.matmul(R[a.node_body], local[:, :, None])[:, :, 0]


def node_displacement(a: Arrays, u: Array) -> Array:
    """φ u of all nodes in body axes, (k, d)."""
    moved = (a.node_shape @ u).reshape(-1, a.dim)
    if a.mean is not None:
        moved = moved - a.node_moves[:, None] * (a.mean @ u).reshape(-1, a.dim)[a.node_body]
    return moved


def vectors(a: Arrays, r: Array, arm: Array) -> Array:
    """World vectors of the joints, (v, d)."""
    return a.incidence @ (a.node_moves[:, None] * r[a.node_body] + arm) + a.vector_fixed


def products(a: Arrays, vector: Array) -> Array:
    """V·W of all products, (p,)."""
    return np.einsum("pd,pd->p", vector[a.first], vector[a.second])


def constraint_sums(a: Arrays, product: Array, coefficient: Array, offset: Array) -> Array:
    """Constraint values g (or rates): coefficients times products, summed by row, minus the offsets; (g,)."""
    return total(a.term_row, coefficient * product[a.term_product], offset.size) - offset


def derive(a: Arrays, c: Configuration) -> Derived:
    """All that follows from a configuration."""
    Pu, Pdu = inertia_products(a, c.u), inertia_products(a, c.du)
    p_r, p_u = momenta(a, c.omega, c.u, c.du, Pu, Pdu)
    arm = node_arms(a, c.R, c.u)
    vector = vectors(a, c.r, arm)
    return Derived(Pu, Pdu, p_r, p_u, arm, vector, products(a, vector))


def energies(a: Arrays, c: Configuration, d: Derived) -> dict[str, Any]:
    """Kinetic, elastic and potential energy of each body (b,), and of each spring [J]."""
    kinetic = 0.5 * a.mass * np.einsum("bd,bd->b", c.v, c.v)
    kinetic += 0.5 * np.einsum("bs,bs->b", c.omega, d.p_r) + 0.5 * body_sum(a, c.du * d.p_u)
    elastic = 0.5 * total(a.body_stress, c.sigma * (a.compliance @ c.sigma), len(a.mass))
    stored = a.springs.state >= 0
    return {
        "kinetic": kinetic,
        "elastic": elastic,
        "potential": -np.einsum("bd,bd->b", a.weight, c.r),
        "spring": 0.5 * c.spring**2 / a.springs.stiffness[stored],
    }
