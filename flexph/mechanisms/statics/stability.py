"""Stability of an equilibrium, by the least ω² of its small motions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...kernels.state import Configuration, derive
from ...kernels.stiffness.tangent import tangent
from ...linear.elimination import analysed
from ...numerics.arrays import Array, dense
from .balance import Problem, joint_forces, stiffness_at

ZERO = 1e-14
"""Value of ω², relative to the largest one, up to which it is round-off."""
MANY = 1000
"""Number of velocities up to which stability is tested, by dense algebra; above, it is not tested along load steps."""

MODES = 40
"""Number of softest shapes used to test a steady rotation for stability."""
GROWTH = 1e-6
"""Growth rate, relative to the fastest of these motions, up to which it is round-off."""


class Softest(NamedTuple):
    """Least ω² of the small motions about an equilibrium (zero if round-off), and its shape over the velocities."""

    square: float
    shape: Array


def softest(given: Problem, c: Configuration) -> Softest:
    """Softest small motion, from the symmetric part of the stiffness by dense algebra."""
    joints = joint_forces(given, c)
    K = stiffness_at(given, c, joints.arrays, joints.multipliers)
    basis = analysed(joints.rows)[0].toarray() if joints.rows.shape[0] else np.eye(K.shape[0])
    reduced, mass = (basis.T @ dense(matrix @ basis) for matrix in (0.5 * (K + K.T), joints.mass))
    values, vectors = eigh(reduced, mass)
    square = float(values[0]) if abs(values[0]) > ZERO * abs(values[-1]) else 0.0
    return Softest(square, joints.lift @ (basis @ vectors[:, 0]))


def is_minimum(given: Problem, c: Configuration) -> bool:
    """True if an equilibrium is a minimum of the energy, or too large for the test (more than ``MANY`` velocities)."""
    return given.mechanism.layout.velocities > MANY or softest(given, c).square >= 0.0


def grows(given: Problem, c: Configuration) -> bool:
    """True if small motions about a steady rotation grow, as far as the softest of them show.

    As gyroscopic forces may stabilise, the test is M η̈ + (C + R) η̇ + K η = 0 on the ``MODES`` softest shapes.
    """
    a = given.mechanism.network.arrays
    if given.mechanism.layout.velocities > MANY:
        return False
    joints = joint_forces(given, c)
    t = tangent(a, c, derive(a, c), given.forces(c, joints.multipliers), spin=given.steady.spin)
    basis = analysed(joints.rows)[0].toarray() if joints.rows.shape[0] else np.eye(t.mass.shape[0])
    mass, gyroscopic, damping, K = (basis.T @ dense(matrix @ basis) for matrix in t)
    if not len(K):
        return False
    squares, shapes = eigh(0.5 * (K + K.T), mass, subset_by_index=[0, min(MODES, len(K)) - 1])
    if squares[0] >= -ZERO * abs(squares[-1]) and not damping.any():
        return False
    C, K = (shapes.T @ matrix @ shapes for matrix in (gyroscopic + damping, K))
    unit, none = np.eye(len(C)), np.zeros_like(C)
    values = np.linalg.eigvals(np.block([[none, unit], [-K, -C]]))
    return bool(values.real.max() > GROWTH * np.abs(values).max())
