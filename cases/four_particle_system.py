"""Four particles as a port-Hamiltonian system: two springs, two rigid bars and a dashpot ([dg] sec. 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexph import PHDAE
from flexph.numerics.arrays import Array
from flexph.systems import Derivatives, Invariants

MASSES = np.array([1.0, 3.0, 2.3, 1.7])  # [kg]
M = np.repeat(MASSES, 3)
K13, K24 = STIFFNESS = 50.0, 500.0  # [J/m⁴]
ALPHA = 0.5  # growth of the viscosity with distance [1/m²]
SPEED = 20.0 / 17.0  # of the fourth particle at the start [m/s]
START = np.zeros(26)
START[[3, 7, 9, 10]] = 1.0  # the corners of a square of 1 m, [dg] eq. (51)
START[23] = SPEED
PARTS = {"q": slice(0, 12), "v": slice(12, 24), "lam": slice(24, 26)}
BARS = ((0, 1), (2, 3))


def four_particles(eta: float) -> PHDAE:
    """The system [dg] eq. (43) with the viscosity η₀ = ``eta``; the port ``push`` is a force on the fourth particle.

    Its invariants are the squared lengths of both springs and twice the kinetic energy. Its functions are within what
    numba compiles: where numba is installed, time stepping of this system is compiled.
    """
    dashpot = np.zeros((26, 26))
    dashpot[15:21, 15:21] = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))  # [dg] eq. (49)
    push = np.zeros((26, 3))
    push[21:24] = np.eye(3)

    def R(x: Array) -> Array:
        apart = x[6:9] - x[3:6]
        return (eta * (1.0 + ALPHA * (apart @ apart))) * dashpot

    def z(x: Array) -> Array:
        costate, forces = x.copy(), spring_forces(x)
        for i in range(12):
            costate[i] = forces[i]
        return costate

    return PHDAE(
        E=np.diag([*np.ones(12), *M, 0.0, 0.0]),
        J=interconnection(),
        R=R,
        B=push,
        z=z,
        H=lambda x: energy(invariants(x)),
        sample=START,
        ports={"push": slice(0, 3)},
        parts=PARTS,
        invariants=Invariants(invariants, invariants_jacobian, energy, energy_gradient),
        derivatives=Derivatives(costate=costate_slopes, structure=structure_slopes(eta)),
        compiled=True,
    )


def interconnection() -> Callable[[Array], Array]:
    """J(x) (26, 26): positions and velocities, and the bars."""
    skew = np.zeros((26, 26))
    skew[:12, 12:24], skew[12:24, :12] = np.eye(12), -np.eye(12)

    def J(x: Array) -> Array:
        matrix = skew.copy()
        for k in range(2):  # the bars: columns −Dgᵀ, rows Dg
            lam, i, j = 24 + k, 6 * k, 6 * k + 3
            for a in range(3):
                matrix[12 + i + a, lam] = matrix[lam, 12 + j + a] = x[j + a] - x[i + a]
                matrix[12 + j + a, lam] = matrix[lam, 12 + i + a] = x[i + a] - x[j + a]
        return matrix

    return J


def structure_slopes(eta: float) -> Callable[[Array, Array], Array]:
    """The derivatives of (J − R)w by the state (26, 26), w constant."""

    def structure(x: Array, w: Array) -> Array:
        slopes = np.zeros((26, 26))
        for k in range(2):  # −Dgᵀw and Dg w of each bar are linear in q
            lam, i, j = 24 + k, 6 * k, 6 * k + 3
            for a in range(3):
                slopes[12 + i + a, j + a] = slopes[12 + j + a, i + a] = w[lam]
                slopes[12 + i + a, i + a] = slopes[12 + j + a, j + a] = -w[lam]
                slopes[lam, j + a] = w[12 + j + a] - w[12 + i + a]
                slopes[lam, i + a] = w[12 + i + a] - w[12 + j + a]
        for a in range(3):
            for b in range(3):  # the viscosity grows with the distance
                drag = (2.0 * eta * ALPHA) * (w[18 + a] - w[15 + a]) * (x[6 + b] - x[3 + b])
                slopes[15 + a, 6 + b] += drag
                slopes[15 + a, 3 + b] -= drag
                slopes[18 + a, 6 + b] -= drag
                slopes[18 + a, 3 + b] += drag
        return slopes

    return structure


def springs(q: Array) -> tuple[Array, Array]:
    """q₃ − q₁ and q₄ − q₂ (3,) [m]."""
    return q[6:9] - q[0:3], q[9:12] - q[3:6]


def spring_forces(q: Array) -> Array:
    """∇V(q) (12,) [N]."""
    forces, (a, b) = np.empty(12), springs(q)
    first, second = 2.0 * K13 * (a @ a - 1.0), 2.0 * K24 * (b @ b - 1.0)
    for i in range(3):
        forces[6 + i], forces[9 + i] = first * a[i], second * b[i]
        forces[i], forces[3 + i] = -forces[6 + i], -forces[9 + i]
    return forces


def costate_slopes(x: Array) -> Array:
    """∂z/∂x (26, 26): the stiffness of the springs, 2k((d·d − 1)I + 2ddᵀ), and ones."""
    slopes, (first, second) = np.eye(26), springs(x)
    for i, k, d in ((0, K13, first), (3, K24, second)):
        force = 2.0 * k * (d @ d - 1.0)
        for a in range(3):
            for b in range(3):
                stiffness = 4.0 * k * d[a] * d[b] + (force if a == b else 0.0)
                slopes[i + a, i + b] = slopes[i + 6 + a, i + 6 + b] = stiffness
                slopes[i + a, i + 6 + b] = slopes[i + 6 + a, i + b] = -stiffness
    return slopes


def invariants(x: Array) -> Array:
    """π(x) (3,): the squared lengths of both springs [m²], twice the kinetic energy [J]."""
    (a, b), v = springs(x), x[12:24]
    return np.array([a @ a, b @ b, v @ (M * v)])


def invariants_jacobian(x: Array) -> Array:
    """Dπ(x) (3, 26)."""
    jacobian, (first, second) = np.zeros((3, 26)), springs(x)
    for a in range(3):
        jacobian[0, 6 + a], jacobian[1, 9 + a] = 2.0 * first[a], 2.0 * second[a]
        jacobian[0, a], jacobian[1, 3 + a] = -2.0 * first[a], -2.0 * second[a]
    for i in range(12):
        jacobian[2, 12 + i] = 2.0 * M[i] * x[12 + i]
    return jacobian


def energy(pi: Array) -> float:
    """H of the invariants [J], [dg] eq. (47)."""
    return 0.5 * (K13 * (pi[0] - 1.0) ** 2 + K24 * (pi[1] - 1.0) ** 2 + pi[2])


def energy_gradient(pi: Array) -> Array:
    """∂H/∂π (3,)."""
    return np.array([K13 * (pi[0] - 1.0), K24 * (pi[1] - 1.0), 0.5])


def constraints(q: Array) -> Array:
    """g(q) of both bars (k, 2) [m²] at configurations (k, 12), [dg] eq. (50)."""
    q = q.reshape(-1, 4, 3)
    return 0.5 * (np.stack([np.sum((q[:, j] - q[:, i]) ** 2, axis=1) for i, j in BARS], axis=1) - 1.0)


def constraint_jacobian(q: Array) -> Array:
    """Dg(q) (2, 12)."""
    jacobian, a, b = np.zeros((2, 12)), q[3:6] - q[0:3], q[9:12] - q[6:9]
    jacobian[0, 0:3], jacobian[0, 3:6], jacobian[1, 6:9], jacobian[1, 9:12] = -a, a, -b, b
    return jacobian


def constraint_rates(q: Array, v: Array) -> Array:
    """Dg(q) v of both bars (k, 2) [m²/s], [dg] eq. (40)."""
    q, v = q.reshape(-1, 4, 3), v.reshape(-1, 4, 3)
    return np.stack([np.sum((q[:, j] - q[:, i]) * (v[:, j] - v[:, i]), axis=1) for i, j in BARS], axis=1)
