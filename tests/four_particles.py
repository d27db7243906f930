"""The four-particle system of [dg] sec. 6.3 (table 1) as a general pHDAE."""

import numpy as np

from flexph import PHDAE, Invariants

MASSES = np.array([1.0, 3.0, 2.3, 1.7])
M = np.repeat(MASSES, 3)
STIFFNESS = np.array([50.0, 500.0])
ALPHA = 0.5
START = np.zeros(26)
START[[3, 7, 9, 10]] = 1.0
START[23] = 20.0 / 17.0
PARTS = {"q": slice(0, 12), "v": slice(12, 24), "lam": slice(24, 26)}


def springs(q):
    q = q.reshape(4, 3)
    return q[2] - q[0], q[3] - q[1]


def constraint_jacobian(q):
    q = q.reshape(4, 3)
    made = np.zeros((2, 4, 3))
    made[0, 1], made[0, 0] = q[1] - q[0], q[0] - q[1]
    made[1, 3], made[1, 2] = q[3] - q[2], q[2] - q[3]
    return made.reshape(2, 12)


def constraints(q):
    q = q.reshape(-1, 4, 3)
    return 0.5 * (np.stack([np.sum((q[:, j] - q[:, i]) ** 2, axis=1) for i, j in ((0, 1), (2, 3))], axis=1) - 1.0)


def four_particles(eta):
    """The system with dissipation η₀ = eta; inputs are forces on the fourth particle."""

    def J(x):
        made, g = np.zeros((26, 26)), constraint_jacobian(x[:12])
        made[:12, 12:24], made[12:24, :12] = np.eye(12), -np.eye(12)
        made[12:24, 24:], made[24:, 12:24] = -g.T, g
        return made

    def R(x):
        q = x[:12].reshape(4, 3)
        viscosity = eta * (1.0 + ALPHA * np.sum((q[2] - q[1]) ** 2))
        made = np.zeros((26, 26))
        made[15:21, 15:21] = viscosity * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))
        return made

    def z(x):
        force = np.zeros((4, 3))
        for (i, j), k, d in zip(((0, 2), (1, 3)), STIFFNESS, springs(x[:12]), strict=True):
            pull = 2.0 * k * (d @ d - 1.0) * d
            force[j] += pull
            force[i] -= pull
        return np.concatenate([force.ravel(), x[12:]])

    def values(x):
        return np.array([*(d @ d for d in springs(x[:12])), x[12:24] @ (M * x[12:24])])

    def jacobian(x):
        made, (a, b) = np.zeros((3, 26)), springs(x[:12])
        made[0, 6:9], made[0, 0:3], made[1, 9:12], made[1, 3:6] = 2.0 * a, -2.0 * a, 2.0 * b, -2.0 * b
        made[2, 12:24] = 2.0 * M * x[12:24]
        return made

    invariants = Invariants(
        values,
        jacobian,
        lambda p: float(0.5 * STIFFNESS @ (p[:2] - 1.0) ** 2 + 0.5 * p[2]),
        lambda p: np.array([*(STIFFNESS * (p[:2] - 1.0)), 0.5]),
    )
    B = np.zeros((26, 3))
    B[21:24] = np.eye(3)
    return PHDAE(
        E=np.diag([*np.ones(12), *M, 0.0, 0.0]),
        J=J,
        R=R,
        B=B,
        z=z,
        H=lambda x: invariants.energy(values(x)),
        sample=START,
        ports={"push": slice(0, 3)},
        parts=PARTS,
        invariants=invariants,
    )


def momenta(trajectory):
    q, v = trajectory["q"].reshape(-1, 4, 3), trajectory["v"].reshape(-1, 4, 3)
    return np.einsum("p,tpi->ti", MASSES, v), np.einsum("p,tpi->ti", MASSES, np.cross(q, v))
