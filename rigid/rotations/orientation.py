"""Interface of rotation coordinates: conversions, derivatives, kinematics and constraint defects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.rotations import ORTHOGONAL, spins

from ..system.slopes import differences
from ..system.terms import PositionConstraint, PositionMap

DRIFT = 1e-3
"""Defect of rotation coordinates above which a run warns: distances on the body are then wrong by about 1e-3. With
midpoint steps it stays at 1e-14."""

ORDINARY = (0.9, 0.1, 0.8)
"""Rotation vector [rad] of the rotation for checks of conditions, 40° from every gimbal lock."""


class Orientation(ABC):
    """Coordinates ζ (size,) of a rotation R(ζ) from body axes to world axes, with their rates ``ζ̇ = Z(ζ) ω``.

    ω (spins,) is the spin in body axes [rad/s], a number in the plane, so that ``Ṙ = R [ω]×``. Made by
    :func:`rigid.rotation_matrix`, :func:`rigid.quaternion` and :func:`rigid.angles` in space, by :func:`rigid.angle`
    and :func:`rigid.planar_matrix` in the plane. Conversion: ``to.coordinates(given.rotation(zeta))``.
    """

    remedy: ClassVar[str] = "such as rigid.quaternion()"
    name: str
    """Call that makes the object, for messages."""
    dim: int
    """Dimension, 2 or 3."""
    size: int
    """Number of coordinates."""
    polynomial: bool
    """True if R is a polynomial of ζ of degree 2 at most and Z is linear, so that midpoint steps preserve the
    conditions on ζ."""

    @property
    def linear(self) -> bool:
        """True if R is linear in ζ."""
        return self.polynomial and not self.second_slopes(np.zeros(self.size)).any()

    @abstractmethod
    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix R (dim, dim) from coordinates (size,), or (..., dim, dim) from (..., size)."""

    @abstractmethod
    def slopes(self, zeta: Array) -> Array:
        """Derivatives ∂R/∂ζ_k, stacked: (size, dim, dim)."""

    @abstractmethod
    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix (size, spins), ``ζ̇ = Z(ζ) ω`` with ω in body axes."""

    def defect(self, zeta: Array) -> float:
        """Defect of ζ as coordinates of a rotation, such as | |ζ| − 1 |; zero for angles, which always describe one."""
        return 0.0

    @abstractmethod
    def _from_matrix(self, rotation: Array) -> Array:
        """Coordinates (..., size) of rotation matrices (..., dim, dim)."""

    @property
    def spins(self) -> int:
        """Number of components of ω: 1 in the plane, 3 in space."""
        return spins(self.dim)

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Conditions 0 = g(ζ) on redundant coordinates; steps preserve them without multipliers, as ``g'Z = 0``."""
        return ()

    @property
    def sample(self) -> Array:
        """Coordinates of an arbitrary rotation that is far from the gimbal locks of all angles."""
        return self.coordinates(0.5 if self.dim == 2 else Rotation.from_rotvec(ORDINARY))

    @checked
    def coordinates(self, rotation: Any) -> Array:
        """Coordinates ζ (size,) of a rotation, or (..., size) of many.

        Parameters
        ----------
        rotation : Rotation or array_like
            In space a ``scipy.spatial.transform.Rotation`` or matrices (..., 3, 3); in the plane angles [rad], a number
            or (n,), or matrices (..., 2, 2).

        Returns
        -------
        array
            Coordinates ζ (size,), of many rotations (..., size).

        Raises
        ------
        ValueError
            For a matrix that is not a rotation, such as a reflection.
        """
        return self._from_matrix(_rotations("rotation", rotation, self.dim))

    def jacobian(self, zeta: Array, vector: Array) -> Array:
        """Jacobian ∂(R(ζ)X)/∂ζ (dim, size) for a vector X (dim,) in body axes."""
        return (self.slopes(zeta) @ vector).T

    def second_slopes(self, zeta: Array) -> Array:
        """Second derivatives ∂²R/∂ζ_k∂ζ_l (size, size, dim, dim); exact if R is a polynomial, otherwise differences."""
        return self._changes(self.slopes) if self.polynomial else differences(self.slopes, zeta)

    def Z_slopes(self, zeta: Array) -> Array:
        """Derivatives ∂Z/∂ζ_k (size, size, spins); exact if R is a polynomial, otherwise differences."""
        return self._changes(self.Z) if self.polynomial else differences(self.Z, zeta)

    def _changes(self, linear: Callable[[Array], Array]) -> Array:
        zero = np.zeros(self.size)
        return np.stack([linear(unit) - linear(zero) for unit in np.eye(self.size)])

    def check(self, name: str, zeta: Any) -> Array:
        """Coordinates ζ (size,) as an array; raise ValueError if they are not those of a rotation."""
        given = check.array(name, zeta, (self.size,))
        defect = self.defect(given)
        if defect > ORTHOGONAL:
            raise ValueError(f"{name} must be {self._meaning(given)}, allowed {ORTHOGONAL:.0e}")
        return given

    def caution(self, zeta: Array) -> str | None:
        """Warning if the coordinates have drifted from those of a rotation or are near a gimbal lock, else None."""
        return f"{self.name}: the coordinates must be {self._meaning(zeta)}" if self.defect(zeta) > DRIFT else None

    @checked
    def pose(self, position: Sequence[float] | Array, rotation: Rotation | Numbers) -> Array:
        """Coordinates ζ = (r, orientation) of a free body from its position r (dim,) [m] and its rotation.

        Parameters
        ----------
        position : array_like
            r (dim,) [m].
        rotation : Rotation or Numbers
            A rotation as for :meth:`coordinates`. For a spatial orientation also the coordinates (size,) of this
            orientation, which are checked.

        Returns
        -------
        array
            Coordinates ζ.
        """
        r = check.array("position", position, (self.dim,))
        is_coordinates = self.dim == 3 and not isinstance(rotation, Rotation) and np.shape(rotation) == (self.size,)
        return np.concatenate([r, self.check("rotation", rotation) if is_coordinates else self.coordinates(rotation)])

    def placement(self, zeta: Any) -> tuple[Array, Array]:
        """Position (dim,) and rotation matrix (dim, dim) of a free body from its ζ = (r, orientation).

        For many ζ (..., dim + size) the results are (..., dim) and (..., dim, dim).
        """
        given = np.asarray(zeta, dtype=float)
        if given.shape[-1:] != (self.dim + self.size,):
            raise ValueError(f"zeta must have shape (..., {self.dim + self.size}), got {given.shape}")
        return given[..., : self.dim], self.rotation(given[..., self.dim :])

    def _meaning(self, zeta: Array) -> str:
        """Text for messages: the requirement on ζ, and by how much ζ violates it."""
        return f"coordinates of {self.name}, defect {self.defect(zeta):.0e}"


def unit_length(name: str) -> PositionConstraint:
    """Constraint ``0 = |ζ|² − 1`` of unit length, with the given name."""
    return PositionConstraint(name, PositionMap(_square, _square_slope))


def _square(zeta: Array) -> Array:
    return np.array([zeta @ zeta - 1.0])


def _square_slope(zeta: Array) -> Array:
    return 2.0 * zeta[None]


def _rotations(name: str, given: Any, dim: int) -> Array:
    """Convert rotations that a user gives to matrices (..., dim, dim); raises ValueError for anything else."""
    wanted = "angles [rad] or matrices (..., 2, 2)" if dim == 2 else "a scipy Rotation or matrices (..., 3, 3)"
    try:
        matrix = given.as_matrix() if dim == 3 and isinstance(given, Rotation) else np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {wanted}, got {check.shown(given)}") from None
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    if dim == 2 and matrix.ndim < 2:
        c, s = np.cos(matrix), np.sin(matrix)
        matrix = np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)
    if matrix.shape[-2:] != (dim, dim):
        raise ValueError(f"{name} must be {wanted}, got shape {matrix.shape}")
    defect = float(np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(dim)).max(initial=0.0))
    if not defect <= ORTHOGONAL:
        raise ValueError(f"{name} must be orthogonal: |RᵀR − 1| = {defect:.0e}, allowed {ORTHOGONAL:.0e}")
    if np.any(np.linalg.det(matrix) < 0.0):
        raise ValueError(f"{name} must be a rotation: its determinant is −1, a reflection")
    return matrix
