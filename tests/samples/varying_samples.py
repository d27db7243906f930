"""Systems of index 1 whose descriptor matrix is singular and varies: rows turned by U(x), states carried by φ."""

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from flexph import PHDAE
from flexph.systems import transform

END = 1.0


class Energy(NamedTuple):
    """A Hamiltonian of the two differential states and its gradient."""

    value: object
    gradient: object


ENERGIES = {
    "quadratic": Energy(lambda s: 0.5 * s @ s, lambda s: s),
    "quartic": Energy(
        lambda s: 0.5 * s @ s + 0.05 * (s[0] + s[1]) ** 4, lambda s: s + 0.2 * (s[0] + s[1]) ** 3 * np.ones(2)
    ),
    "pendulum": Energy(
        lambda s: 0.5 * s[1] ** 2 - math.cos(s[0]) + 0.1 * math.exp(s[0] - s[1]),
        lambda s: np.array([math.sin(s[0]), s[1]]) + 0.1 * math.exp(s[0] - s[1]) * np.array([1.0, -1.0]),
    ),
}


def semi_explicit(energy, seed):
    """x = (x₁, x₂), both (2,), E = diag(1, 0), z = (∇H(x₁), x₂), J and R random: of index 1."""
    rng = np.random.default_rng(seed)
    J, root = rng.standard_normal((2, 4, 4))
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0, 0.0]),
        J=0.2 * (J - J.T),
        R=0.05 * root @ root.T + np.diag([0.0, 0.0, 1.0, 1.0]),
        z=lambda x: np.concatenate([energy.gradient(x[:2]), x[2:]]),
        H=lambda x: energy.value(x[:2]),
        sample=np.array([1.0, 0.6, -0.5, 0.4]),
    )


def algebraic(system, energy, s):
    """x₂ of 0 = (J − R)₂₁∇H + (J − R)₂₂x₂."""
    flow = system.J(system.sample) - system.R(system.sample)
    return -np.linalg.solve(flow[2:, 2:], flow[2:, :2] @ energy.gradient(s))


def exact(system, energy, start):
    """x₁ at the end, by a method of order 8 on the equations without x₂."""
    flow = system.J(system.sample) - system.R(system.sample)
    rate = lambda _, s: flow[:2] @ np.append(energy.gradient(s), algebraic(system, energy, s))  # noqa: E731
    return solve_ivp(rate, (0.0, END), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def frame(seed):
    """A random U(x), a rotation of rows that turns with all states, times a constant invertible matrix."""
    rng = np.random.default_rng(100 + seed)
    skew, constant = rng.standard_normal((2, 4, 4))
    skew, constant = skew - skew.T, constant + 4.0 * np.eye(4)
    weight, one = rng.standard_normal(4), np.eye(4)

    def at(x):
        turn = 0.3 * math.sin(weight @ x) * skew
        return np.linalg.solve(one - turn, one + turn) @ constant

    return at


def turned(system, seed):
    """The system with rows multiplied by U(x)ᵀ: its descriptor matrix U(x)ᵀE is singular and varies."""
    return transform(system, lambda x: x, np.eye(4), frame(seed), sample=system.sample)


def bent(x):
    """A diffeomorphism whose first two entries depend on all states: the null space of E Dφ turns."""
    return np.array([x[0] + 0.2 * math.sin(x[2]), x[1] + 0.1 * x[2] * x[3], x[2] + 0.1 * x[0] ** 2, x[3]])


def bent_slope(x):
    slope = np.eye(4)
    slope[0, 2], slope[1, 2:], slope[2, 0] = 0.2 * math.cos(x[2]), 0.1 * x[[3, 2]], 0.2 * x[0]
    return slope


def unbent(y):
    x = y.copy()
    for _ in range(50):
        x = x - np.linalg.solve(bent_slope(x), bent(x) - y)
    return x
