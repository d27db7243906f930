"""Orientations in the plane: by an angle, or by its cosine and sine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import from_entries, planar_angle

from ..system.terms import PositionConstraint
from .orientation import Orientation, unit_length


@dataclass(frozen=True)
class Angle(Orientation):
    """Coordinate ζ = (φ,) [rad] of a rotation in the plane. Made by :func:`angle`."""

    name = "angle()"
    dim = 2
    size = 1
    polynomial = False

    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix [[cos φ, −sin φ], [sin φ, cos φ]]."""
        phi = np.asarray(zeta)[..., 0]
        c, s = np.cos(phi), np.sin(phi)
        return np.array([[c, -s], [s, c]]) if phi.ndim == 0 else from_entries(np.stack([c, s], axis=-1), 2)

    def slopes(self, zeta: Array) -> Array:
        """Derivative ∂R/∂φ, (1, 2, 2)."""
        return from_entries(np.array([[-np.sin(zeta[0]), np.cos(zeta[0])]]), 2)

    def second_slopes(self, zeta: Array) -> Array:
        """Second derivative ∂²R/∂φ² = −R, (1, 1, 2, 2)."""
        return -self.rotation(zeta)[None, None]

    def Z_slopes(self, zeta: Array) -> Array:
        """Derivative of Z: zero, (1, 1, 1)."""
        return np.zeros((1, 1, 1))

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix [[1]]."""
        return np.ones((1, 1))

    def _from_matrix(self, rotation: Array) -> Array:
        return planar_angle(rotation)[..., None]

    def coordinates(self, rotation: Array | float) -> Array:
        """Angles φ, unchanged from angles, and in (−π, π] from matrices (..., 2, 2)."""
        kept = super().coordinates(rotation)
        return np.array(rotation, dtype=float)[..., None] if np.ndim(rotation) < 2 else kept


@dataclass(frozen=True)
class PlanarMatrix(Orientation):
    """Coordinates ζ = (c, s), the first column of R. Made by :func:`planar_matrix`."""

    name = "planar_matrix()"
    dim = 2
    size = 2
    polynomial = True

    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix [[c, −s], [s, c]]."""
        return from_entries(np.asarray(zeta, dtype=float), 2)

    def slopes(self, zeta: Array) -> Array:
        """Derivatives ∂R/∂c = 1 and ∂R/∂s, a quarter turn."""
        return from_entries(np.eye(2), 2)

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix [[−s], [c]]."""
        return np.array([[-zeta[1]], [zeta[0]]])

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Condition c² + s² = 1."""
        return (unit_length("(cos φ, sin φ), c² + s² = 1"),)

    def defect(self, zeta: Array) -> float:
        """Defect |c² + s² − 1|."""
        return float(abs(zeta @ zeta - 1.0))

    def _from_matrix(self, rotation: Array) -> Array:
        return np.array(rotation[..., :, 0])

    def _meaning(self, zeta: Array) -> str:
        return f"(cos φ, sin φ): |c² + s² − 1| = {self.defect(zeta):.0e}"


@checked
def angle() -> Angle:
    """Orientation in the plane by the angle φ [rad] from world to body axes: it counts turns and is not redundant.

    Returns
    -------
    Angle
        The orientation, for planar bodies.
    """
    return Angle()


@checked
def planar_matrix() -> PlanarMatrix:
    """Orientation in the plane by (c, s) = (cos φ, sin φ): R is linear in ζ.

    Returns
    -------
    PlanarMatrix
        The orientation, for planar bodies.
    """
    return PlanarMatrix()
