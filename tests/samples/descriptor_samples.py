"""Descriptor systems with known motions, which several methods are tried on."""

import numpy as np

from flexph import PHDAE


def springs_in_series():
    """Two coordinates of one mass, M = [[1, 1], [1, 1]] ([dg] example 7): their sum moves with ω² = 1/(1/3 + 1)."""
    E, J, stiff = np.zeros((4, 4)), np.zeros((4, 4)), np.array([3.0, 1.0])
    E[:2, :2], E[2:, 2:] = np.eye(2), np.ones((2, 2))
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    return PHDAE(
        E=E,
        J=J,
        z=lambda x: np.concatenate([stiff * x[:2], x[2:]]),
        H=lambda x: float(0.5 * stiff @ x[:2] ** 2 + 0.5 * (x[2] + x[3]) ** 2),
        sample=np.array([0.25, 0.75, 0.1, -0.3]),
    )


def damped_oscillator(**more):
    """x = (q, v, w): q̇ = v, v̇ = −q − q³ − w, 0 = v − (1 + w²)w: R depends on the algebraic state."""
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
        R=lambda x: np.diag([0.0, 0.0, 1.0 + x[2] ** 2]),
        z=lambda x: np.array([x[0] + x[0] ** 3, x[1], x[2]]),
        H=lambda x: 0.5 * x[0] ** 2 + 0.25 * x[0] ** 4 + 0.5 * x[1] ** 2,
        sample=np.array([1.0, 0.5, 0.4]),
        **more,
    )
