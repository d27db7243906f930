"""Four particles as a port-Hamiltonian system: two springs, two rigid bars and a dashpot ([dg] sec. 6.3)."""

from __future__ import annotations

import numpy as np

import rigid
from flexph import PHDAE
from flexph.numerics.arrays import Array

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
    """System of the four particles, [dg] eq. (43), with the viscosity η₀ = ``eta``.

    Its port ``push`` is a force on the fourth particle. Its invariants are the squared lengths of both springs and
    twice the kinetic energy.
    """
    return rigid.particle_system(
        dict(zip("1234", MASSES.tolist(), strict=True)),
        START[:12].reshape(4, 3),
        velocities=START[12:24].reshape(4, 3),
        springs=[
            rigid.Spring.of_square("1", "3", stiffness=K13, length=1.0),  # [dg] eq. (47)
            rigid.Spring.of_square("2", "4", stiffness=K24, length=1.0),
        ],
        rods=[rigid.Rod("1", "2", 1.0), rigid.Rod("3", "4", 1.0)],  # [dg] eq. (50)
        dashpots=[rigid.Drag("2", "3", eta, growth=ALPHA)],  # [dg] eq. (48)
        ports={"push": "4"},
    )


def spring_forces(q: Array) -> Array:
    """Gradient ∇V(q) (12,) of the energy of both springs [N]; their forces are −∇V."""
    forces, a, b = np.zeros(12), q[6:9] - q[0:3], q[9:12] - q[3:6]
    forces[6:9], forces[9:12] = 2.0 * K13 * (a @ a - 1.0) * a, 2.0 * K24 * (b @ b - 1.0) * b
    forces[:6] = -forces[6:]
    return forces


def constraints(q: Array) -> Array:
    """Constraints g(q) of both bars (k, 2) [m²] at configurations (k, 12), [dg] eq. (50)."""
    q = q.reshape(-1, 4, 3)
    return 0.5 * (np.stack([np.sum((q[:, j] - q[:, i]) ** 2, axis=1) for i, j in BARS], axis=1) - 1.0)


def constraint_jacobian(q: Array) -> Array:
    """Jacobian Dg(q) (2, 12) of the constraints of both bars with respect to the positions q (12,)."""
    jacobian, a, b = np.zeros((2, 12)), q[3:6] - q[0:3], q[9:12] - q[6:9]
    jacobian[0, 0:3], jacobian[0, 3:6], jacobian[1, 6:9], jacobian[1, 9:12] = -a, a, -b, b
    return jacobian


def constraint_rates(q: Array, v: Array) -> Array:
    """Rates Dg(q) v (k, 2) [m²/s] of the constraints of both bars, [dg] eq. (40).

    Positions q and velocities v are (k, 12).
    """
    q, v = q.reshape(-1, 4, 3), v.reshape(-1, 4, 3)
    apart, parting = ([x[:, j] - x[:, i] for i, j in BARS] for x in (q, v))
    return np.stack([np.sum(a * b, axis=1) for a, b in zip(apart, parting, strict=True)], axis=1)
