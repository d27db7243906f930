"""Rotations by an angle in the plane, and by three angles in space: Euler, Cardan and Tait-Bryan angles."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross, cross_product, from_entries, planar_angle

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
        """Angles φ of rotation matrices (..., 2, 2), in (−π, π], or of angles, which are returned unchanged."""
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
        """Derivatives ∂R/∂c, the unit matrix, and ∂R/∂s, a rotation by 90°, stacked: (2, 2, 2)."""
        return from_entries(np.eye(2), 2)

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix [[−s], [c]]."""
        return np.array([[-zeta[1]], [zeta[0]]])

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Condition c² + s² = 1."""
        return (unit_length("(cos φ, sin φ), c² + s² = 1"),)

    def defect(self, zeta: Array) -> float:
        """Defect |c² + s² − 1| of the coordinates."""
        return float(abs(zeta @ zeta - 1.0))

    def _from_matrix(self, rotation: Array) -> Array:
        return np.array(rotation[..., :, 0])

    def _meaning(self, zeta: Array) -> str:
        return f"(cos φ, sin φ): |c² + s² − 1| = {self.defect(zeta):.0e}"


@checked
def angle() -> Angle:
    """Orientation in the plane by the angle φ [rad] from world to body axes, which counts full turns.

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


NEAR_LOCK = 0.1
"""Value of |cos β| (|sin β| for proper Euler angles) below which runs warn: the rotation is 6° from gimbal lock, and
the rates of the angles are ten times the spin."""
LOCK = 1e-12
"""Value of |cos β|, or |sin β|, below which the angles have no rates."""


@dataclass(frozen=True)
class Angles(Orientation):
    """Coordinates ζ of three angles [rad] in the order of the letters of ``sequence``. Made by :func:`angles`."""

    sequence: str

    dim = 3
    size = 3
    polynomial = False

    def __post_init__(self) -> None:
        given = self.sequence
        letters = given.lower() if isinstance(given, str) and given in (given.lower(), given.upper()) else ""
        if len(letters) != 3 or set(letters) - set("xyz") or letters[0] == letters[1] or letters[1] == letters[2]:
            raise ValueError(
                "sequence must be three axes, neighbours different, as 'xyz' (about fixed axes) or 'ZXZ' (about "
                f"turning axes), got {given!r}"
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        """Expression that makes this object, for messages."""
        return f"angles({self.sequence!r})"

    @property
    def proper(self) -> bool:
        """True for proper Euler angles, whose first and last axis are equal."""
        return self.sequence[0] == self.sequence[2]

    @property
    def axes(self) -> tuple[int, int, int]:
        """Indices i, j, k of the axes in ``R = R_i R_j R_k``: the letters of ``sequence``, reversed for fixed axes."""
        i, j, k = ("xyz".index(letter) for letter in self.sequence.lower())
        return (i, j, k) if self.sequence.isupper() else (k, j, i)

    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix as the product of three elementary rotations."""
        a, b, c = self._factors(zeta)
        return a @ b @ c

    def slopes(self, zeta: Array) -> Array:
        """Derivatives ∂R/∂ζ_k, stacked: (3, 3, 3).

        The derivative of an elementary rotation about e_i is this rotation times [e_i]×.
        """
        (a, b, c), (i, j, k), s = self._factors(zeta), self.axes, cross(3)
        return self._ordered(np.stack([a @ s[i] @ b @ c, a @ b @ s[j] @ c, a @ b @ c @ s[k]]))

    def spin_axes(self, zeta: Array) -> Array:
        """Matrix W (3, 3) of ``ω = W(ζ) ζ̇``; its columns are the rotation axes of the angles in body axes."""
        (_, b, c), (i, j, k) = self._factors(zeta), self.axes
        one = np.eye(3)
        return self._ordered(np.stack([(b @ c).T @ one[i], c.T @ one[j], one[k]])).T

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix W⁻¹; ValueError at gimbal lock, where two axes coincide ([rigid] eq. (16a) and (18))."""
        axes = self.spin_axes(zeta).T
        sides = cross_product(axes[[1, 2, 0]], axes[[2, 0, 1]])
        volume = float(axes[0] @ sides[0])
        if abs(volume) < LOCK:
            raise ValueError(
                f"{self.name} has no rates at gimbal lock, {self._lock(zeta)}: use quaternion() or rotation_matrix()"
            )
        return sides / volume

    def caution(self, zeta: Array) -> str | None:
        """Warning near gimbal lock, with alternatives; None elsewhere."""
        distance = self._distance(zeta)
        if distance >= NEAR_LOCK:
            return None
        return (
            f"{self.name} is near gimbal lock, {self._lock(zeta)}: rates of the angles are 1/{distance:.2g} times "
            "those of the body; quaternion() and rotation_matrix() have no such limit"
        )

    def _distance(self, zeta: Array) -> float:
        return float(abs(np.sin(zeta[1]) if self.proper else np.cos(zeta[1])))

    def _lock(self, zeta: Array) -> str:
        what = "|sin β|" if self.proper else "|cos β|"
        return f"{what} = {self._distance(zeta):.2g} at β = {np.degrees(zeta[1]):.4g}°"

    def _ordered(self, stack: Array) -> Array:
        """Reorder a stack of three arrays from the order of the factors of R to the order of the angles in ζ."""
        return stack if self.sequence.isupper() else stack[::-1]

    def _factors(self, zeta: Array) -> list[Array]:
        """The three elementary rotations ``1 + sin ζ [e]× + (1 − cos ζ) [e]×²``, in the order of the product R."""
        given = np.asarray(zeta, dtype=float)
        order = range(3) if self.sequence.isupper() else range(2, -1, -1)
        factors = []
        for axis, k in zip(self.axes, order, strict=True):
            s, by = cross(3)[axis], given[..., k, None, None]
            factors.append(np.eye(3) + np.sin(by) * s + (1.0 - np.cos(by)) * (s @ s))
        return factors

    def _from_matrix(self, rotation: Array) -> Array:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Gimbal lock")  # the warning of this class names the alternatives
            flat = Rotation.from_matrix(rotation.reshape(-1, 3, 3)).as_euler(self.sequence)
        return flat.reshape(*rotation.shape[:-2], 3)


@checked
def angles(sequence: str = "xyz") -> Angles:
    """Orientation by three angles [rad] in the notation of ``scipy.spatial.transform.Rotation.from_euler``.

    Small letters rotate about fixed axes: ``"xyz"`` with ζ = (α, β, γ) is ``R = R_z(γ) R_y(β) R_x(α)`` of [rigid]
    sec. 5 and eq. (16)-(18). Capital letters rotate about the axes after the preceding rotations: ``"ZYX"`` with
    ζ = (γ, β, α) is the same rotation, ``"ZXZ"`` are Euler's angles. They are limited by gimbal lock, where the rates
    have a pole, at cos β = 0, for proper Euler angles at sin β = 0. Runs near it warn.

    Parameters
    ----------
    sequence : str
        Three axes, as in scipy.

    Returns
    -------
    Angles
        The orientation, for bodies of :class:`MultibodySystem`.

    Raises
    ------
    ValueError
        Unless the sequence has three letters of one case, with different neighbours.
    """
    return Angles(sequence)
