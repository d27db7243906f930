"""Whether an equilibrium is stable: the least ω² of its small motions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...kernels.state import Configuration
from ...linear.elimination import analysed
from ...numerics.arrays import Array, dense
from .balance import Problem, joint_forces, stiffness_at

ZERO = 1e-14
"""ω² over the largest one up to which it is round-off."""
MANY = 1000
"""Velocities up to which dense algebra is at hand: above, an equilibrium of a path is taken as it comes."""


class Softest(NamedTuple):
    """The least ω² of the small motions about an equilibrium, zero where it is round-off, and their velocities."""

    square: float
    shape: Array


def softest(given: Problem, c: Configuration) -> Softest:
    """By dense algebra, of the symmetric part of the stiffness."""
    joints = joint_forces(given, c)
    K = stiffness_at(given, c, joints.arrays, joints.multipliers)
    basis = analysed(joints.rows)[0].toarray() if joints.rows.shape[0] else np.eye(K.shape[0])
    reduced, mass = (basis.T @ dense(matrix @ basis) for matrix in (0.5 * (K + K.T), joints.mass))
    values, vectors = eigh(reduced, mass)
    square = float(values[0]) if abs(values[0]) > ZERO * abs(values[-1]) else 0.0
    return Softest(square, joints.lift @ (basis @ vectors[:, 0]))


def is_minimum(given: Problem, c: Configuration) -> bool:
    """Whether no small motion leaves an equilibrium, as far as dense algebra is at hand."""
    return given.mechanism.layout.velocities > MANY or softest(given, c).square >= 0.0
