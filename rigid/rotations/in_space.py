"""Orientations in space: by the entries of the rotation matrix, or by a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross, cross_product, skew

from ..system.terms import PositionConstraint, PositionMap
from .orientation import Orientation, unit_length

_COLUMNS = np.zeros((9, 3, 9))
"""Constant array by which Z = _COLUMNS · ζ. Column k of Ṙ is R [ω]× e_k, and R [e_a]× e_k = R (e_a × e_k)."""
for _k in range(3):
    for _i in range(3):
        for _j in range(3):
            _COLUMNS[3 * _k + _i, :, 3 * _j + _i] = cross(3)[:, _j, _k]
_COLUMNS.setflags(write=False)
_STACKED = np.eye(9).reshape(9, 3, 3).transpose(0, 2, 1)
_STACKED.setflags(write=False)
_PAIRS = np.array([[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
_UNIT = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class RotationMatrix(Orientation):
    """Coordinates ζ = (R₁, R₂, R₃), the stacked columns of R ([rigid] eq. (11)). Made by :func:`rotation_matrix`."""

    name = "rotation_matrix()"
    dim = 3
    size = 9
    polynomial = True

    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix R, linear in ζ."""
        return np.swapaxes(np.reshape(zeta, (*np.shape(zeta)[:-1], 3, 3)), -1, -2)

    def slopes(self, zeta: Array) -> Array:
        """Derivatives ∂R/∂ζ_k (9, 3, 3), matrices with a single entry 1."""
        return _STACKED

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix of [rigid] eq. (11): [[0, −R₃, R₂], [R₃, 0, −R₁], [−R₂, R₁, 0]]."""
        return _COLUMNS @ zeta

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Conditions of unit orthogonal columns ([rigid] sec. 5) and of det R = 1."""
        return (
            PositionConstraint("rotation matrix, RᵀR = 1", PositionMap(_products, _product_slopes)),
            PositionConstraint("rotation matrix, det R = 1", PositionMap(_volume, _volume_slope)),
        )

    def defect(self, zeta: Array) -> float:
        """Largest entry of |RᵀR − 1|; 2 if R is a reflection."""
        R = self.rotation(zeta)
        return 2.0 if np.linalg.det(R) < 0.0 else float(np.abs(R.T @ R - np.eye(3)).max())

    def _from_matrix(self, rotation: Array) -> Array:
        return np.swapaxes(rotation, -1, -2).reshape(*rotation.shape[:-2], 9)

    def _meaning(self, zeta: Array) -> str:
        R = self.rotation(zeta)
        turned = float(np.linalg.det(R))
        if turned < 0.0:
            return f"the columns of a rotation matrix: its determinant is {turned:.3g}, a reflection"
        return f"the columns of a rotation matrix: |RᵀR − 1| = {self.defect(zeta):.0e}"


@dataclass(frozen=True)
class Quaternion(Orientation):
    """Coordinates ζ = (x, y, z, w) = (u, w) of a unit quaternion, SCALAR LAST. Made by :func:`quaternion`."""

    name = "quaternion()"
    dim = 3
    size = 4
    polynomial = True

    def rotation(self, zeta: Array) -> Array:
        """Matrix ``R = (w² − |u|²)1 + 2uuᵀ + 2w[u]×``, |ζ|² times a rotation.

        It is quadratic also off |ζ| = 1, so that discrete gradients capture its exact change.
        """
        u, w = np.asarray(zeta)[..., :3], np.asarray(zeta)[..., 3]
        level = w * w - np.einsum("...i,...i->...", u, u)
        turned = u[..., :, None] * u[..., None, :] + w[..., None, None] * skew(u, 3)
        return level[..., None, None] * np.eye(3) + 2.0 * turned

    def slopes(self, zeta: Array) -> Array:
        """Derivatives ∂R/∂u_k = 2(e_k uᵀ + u e_kᵀ − u_k 1 + w[e_k]×), ∂R/∂w = 2(w 1 + [u]×)."""
        u, w, one = zeta[:3], zeta[3], np.eye(3)
        outer = one[:, :, None] * u[None, None, :]
        along = outer + outer.transpose(0, 2, 1) - u[:, None, None] * one + w * cross(3)
        return 2.0 * np.concatenate([along, (w * one + skew(u, 3))[None]])

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix ``½ [[w 1 + [u]×], [−uᵀ]]``: half the quaternion times (ω, 0)."""
        u, w = zeta[:3], zeta[3]
        return 0.5 * np.vstack([w * np.eye(3) + skew(u, 3), -u])

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Condition |ζ|² = 1."""
        return (unit_length("unit quaternion (x, y, z, w), |q|² = 1"),)

    def defect(self, zeta: Array) -> float:
        """Defect | |ζ| − 1 |."""
        return float(abs(np.linalg.norm(zeta) - 1.0))

    def _from_matrix(self, rotation: Array) -> Array:
        flat = Rotation.from_matrix(rotation.reshape(-1, 3, 3)).as_quat()
        return flat.reshape(*rotation.shape[:-2], 4)

    def _meaning(self, zeta: Array) -> str:
        return f"a unit quaternion (x, y, z, w): its norm is {np.linalg.norm(zeta):.10g}"


def _products(zeta: Array) -> Array:
    """Residuals of RᵀR = 1: R_i·R_i − 1 of the three columns, then R₁·R₂, R₁·R₃, R₂·R₃."""
    R = zeta.reshape(3, 3)
    return np.einsum("ki,ki->k", R[_PAIRS[0]], R[_PAIRS[1]]) - _UNIT


def _product_slopes(zeta: Array) -> Array:
    R, slopes, (i, j), k = zeta.reshape(3, 3), np.zeros((6, 3, 3)), _PAIRS, np.arange(6)
    slopes[k, i] += R[j]
    slopes[k, j] += R[i]
    return slopes.reshape(6, 9)


def _volume(zeta: Array) -> Array:
    return np.array([np.linalg.det(zeta.reshape(3, 3)) - 1.0])


def _volume_slope(zeta: Array) -> Array:
    rows = zeta.reshape(3, 3)
    return cross_product(rows[[1, 2, 0]], rows[[2, 0, 1]]).reshape(1, 9)


@checked
def rotation_matrix() -> RotationMatrix:
    """Orientation by the nine entries of R, its columns stacked ([rigid] eq. (11)): without singularities, linear in ζ.

    The steps of :meth:`MultibodySystem.phdae` then preserve the momentum of a free body, and the angular momentum of
    a pivoted body; the angular momentum of a free body is accurate to second order.

    Returns
    -------
    RotationMatrix
        The orientation, for spatial bodies.
    """
    return RotationMatrix()


@checked
def quaternion() -> Quaternion:
    """Orientation by a unit quaternion (x, y, z, w), SCALAR LAST as in ``scipy.spatial.transform.Rotation``.

    Without singularities; ζ and −ζ are the same rotation.

    Returns
    -------
    Quaternion
        The orientation, for spatial bodies.
    """
    return Quaternion()
