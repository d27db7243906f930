"""Kinematics of a step: positions follow from mean velocities, and the increments of all vectors and products exactly.

    Δr = h ṙ̄,  R₁ = R₀ cayley(½hω̄),  Δu = h u̇̄,  Δ(r + Rx) = h[ṙ̄ + Ω × ℓ + R̄⁻ᵀ φ u̇̄],  ΔΠ = ΔV·W̄ + V̄·ΔW

with the lever ℓ, the mean of both arms. A force acts by the transposes of these maps, so that its work is exact.
"""

from typing import Any, NamedTuple

import numpy as np

from .numbers import dot, skew


class State(NamedTuple):
    """r (b, d), R (b, d, d), u (n,), ṙ (b, d), ω (b, s), u̇ (n,), σ (m,) and the forces e of springs and anchors."""

    r: Any
    R: Any
    u: Any
    v: Any
    omega: Any
    du: Any
    sigma: Any
    spring: Any


class Ends(NamedTuple):
    """A quantity at both ends of a step."""

    before: Any
    after: Any

    @property
    def mean(self):
        """The mean of both ends, written with a bar."""
        return 0.5 * (self.before + self.after)

    @property
    def change(self):
        """The difference Δ."""
        return self.after - self.before


class Way(NamedTuple):
    """How a mechanism moves over a step h; ``*_rate`` are linear maps of its mean velocities (n_v,)."""

    h: float
    velocity: Any  # (n_v,), (ṙ̄, ω̄, u̇̄)
    v: Any  # ṙ̄ (b, d)
    omega: Any  # ω̄ (b, s)
    du: Any  # u̇̄ (n,)
    r: Ends
    R: Ends
    u: Ends
    arm: Ends  # R x of all nodes (k, d)
    vector: Ends  # (v, d)
    product: Ends  # (p,)
    frame: Any  # R̄⁻ᵀ (b, d, d)
    spin_rate: Any  # Ω of all bodies, (b, s, n_v)
    node_rate: Any  # (k, d, n_v)
    product_rate: Any  # (p, n_v)


def cayley(a):
    """Cayley's rotation 1 + 2([a]× + [a]×²)/(1 + |a|²) by the half turn a (s,), orthogonal for every a."""
    A = skew(a)
    return np.eye(len(A)) + 2.0 / (1.0 + dot(a, a)) * (A + A @ A)


def arms(system, R, u):
    """R (X' + φu) of all nodes, (k, d)."""
    nodes = system.nodes
    return np.einsum("kij,kj->ki", R[nodes.body], nodes.position + nodes.shape @ u)


def points(system, r, arm):
    """Places of all nodes, (k, d); directions are their arms alone."""
    return system.nodes.moves[:, None] * r[system.nodes.body] + arm


def products(system, vector):
    """V·W, of crossed ones (JV)·W, (p,)."""
    first, second = vector[system.vectors.first], vector[system.vectors.second]
    value, crossed = dot(first, second), system.vectors.crossed
    if crossed.size:
        value[crossed] = first[crossed, 0] * second[crossed, 1] - first[crossed, 1] * second[crossed, 0]
    return value


def vectors(system, r, arm):
    """World vectors (v, d)."""
    return system.vectors.incidence @ points(system, r, arm) + system.vectors.fixed


def way_of(system, start, h, velocity):
    """How a mechanism moves from a state with mean velocities (n_v,)."""
    v, omega, du = split(system, velocity)
    R0, half = start.R, 0.5 * h * omega
    R1 = np.array([R @ cayley(a) for R, a in zip(R0, half, strict=True)])
    r, R, u = Ends(start.r, start.r + h * v), Ends(R0, R1), Ends(start.u, start.u + h * du)
    arm = Ends(arms(system, R.before, u.before), arms(system, R.after, u.after))
    vector = Ends(vectors(system, r.before, arm.before), vectors(system, r.after, arm.after))
    product = Ends(products(system, vector.before), products(system, vector.after))
    frame = np.array([R @ (np.eye(system.dim) + skew(a)) for R, a in zip(R0, half, strict=True)])  # R̄⁻ᵀ = R₀(1 + [a]×)
    spin_rate = spin_rates(system, frame)
    node_rate = node_rates(system, frame, spin_rate, arm.mean)
    product_rate = product_rates(system, node_rate, vector.mean)
    return Way(h, velocity, v, omega, du, r, R, u, arm, vector, product, frame, spin_rate, node_rate, product_rate)


def split(system, velocity):
    """ṙ (b, d), ω (b, s) and u̇ (n,) of velocities (n_v,)."""
    n = sum(body.own.size for body in system.bodies)
    omega = np.zeros((len(system.bodies), system.spins), dtype=velocity.dtype)
    v = velocity[: system.dim * len(omega)].reshape(-1, system.dim)
    for b, body in enumerate(system.bodies):
        if body.turns:
            omega[b] = velocity[system.columns[b][1]]
    return v, omega, velocity[velocity.size - n :]


def spin_rates(system, frame):
    """World spins Ω = R̄⁻ᵀ ω̄ of all bodies as maps of the velocities, (b, s, n_v); in the plane Ω = ω̄."""
    rates = np.zeros((len(frame), system.spins, system.velocities), dtype=frame.dtype)
    for b, body in enumerate(system.bodies):
        if body.turns:
            rates[b][:, system.columns[b][1]] = frame[b] if system.dim == 3 else 1.0
    return rates


def node_rates(system, frame, spin_rate, lever):
    """ṙ̄ + Ω × ℓ + R̄⁻ᵀ φ u̇̄ of all nodes as maps of the velocities, (k, d, n_v)."""
    rates = np.zeros((len(lever), system.dim, system.velocities), dtype=lever.dtype)
    axes = np.arange(system.dim)
    for k, b in enumerate(system.nodes.body):
        centre, spin, flexible = system.columns[b]
        rates[k, axes, centre] = system.nodes.moves[k]
        rates[k, :, spin] = (swept(lever[k]) @ spin_rate[b][:, spin]).T
        rates[k, :, flexible] = (frame[b] @ system.nodes.shape[k][:, system.bodies[b].own]).T
    return rates


def swept(lever):
    """The map Ω ↦ Ω × ℓ, (d, s)."""
    return np.array([[-lever[1]], [lever[0]]]) if lever.size == 2 else -skew(lever)


def product_rates(system, node_rate, vector):
    """V̇·W̄ + V̄·Ẇ of all products as maps of the velocities, (p, n_v)."""
    rate = np.einsum("vk,kin->vin", system.vectors.incidence, node_rate)
    one, other = system.vectors.first, system.vectors.second
    V, W, dV, dW = vector[one], vector[other], rate[one], rate[other]
    plain = np.einsum("pin,pi->pn", dV, W) + np.einsum("pin,pi->pn", dW, V)
    for p in system.vectors.crossed:
        plain[p] = dV[p, 0] * W[p, 1] - dV[p, 1] * W[p, 0] + V[p, 0] * dW[p, 1] - V[p, 1] * dW[p, 0]
    return plain
