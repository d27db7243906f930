"""Algebra of rotations in the plane and in space.

All functions use one constant tensor: ``cross(dim)[a]`` is the skew matrix of the unit spin e_a, so that

    (ω × x)_i = ω_a cross[a, i, j] x_j,        (x × f)_a = f_i cross[a, i, j] x_j.

In the plane there is one spin (about the normal), in space there are three. Rotations are stored by their entries:
(c, s) in the plane, the nine entries of R row by row in space ([flex] sec. 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy

from .arrays import Array
from .checks import shown

ORTHOGONAL = 2e-9
"""Defect |RᵀR − 1| up to which a matrix counts as a rotation: nine printed digits give 2 Σ|R_k| 5e-10 <= √3 · 1e-9."""
EXACT = 1e-14
"""Defect |RᵀR − 1| up to which a rotation is not corrected: round-off of a product of rotations."""

_PLANE = np.array([[[0.0, -1.0], [1.0, 0.0]]])
_SPACE = np.array(
    [
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
_PLANE.setflags(write=False)
_SPACE.setflags(write=False)
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
"""Indices of a vector product: (x × y)_i = x_next y_after − x_after y_next."""
_LEVERS = {len(c[0]): np.ascontiguousarray(c.transpose(2, 0, 1).reshape(len(c[0]), -1)) for c in (_PLANE, _SPACE)}
"""Map from ℓ to all e_a × ℓ, (d, s·d)."""
_SKEW, _UNIT = {len(c[0]): c.reshape(len(c), -1) for c in (_PLANE, _SPACE)}, {2: np.eye(2), 3: np.eye(3)}
"""Map from ω to [ω]×, (s, d·d), and the unit matrices."""
_TURN = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, -1.0, 1.0, 0.0]])
"""Map from (c, s) to [[c, −s], [s, c]] row by row."""


def cross(dim: int) -> Array:
    """Skew matrices of the unit spins, shape (1, 2, 2) in the plane and (3, 3, 3) in space."""
    if dim not in (2, 3):
        raise ValueError(f"dim must be 2 (plane) or 3 (space), got {dim}")
    return _PLANE if dim == 2 else _SPACE


def spins(dim: int) -> int:
    """Number of spin components: 1 in the plane, 3 in space."""
    return int(cross(dim).shape[0])


def skew(omega: Array, dim: int) -> Array:
    """Skew matrices [ω]× of a stack of spins: (n, spins) to (n, dim, dim)."""
    return (omega @ _SKEW[dim]).reshape(*omega.shape[:-1], dim, dim)


def moment(lever: Array, force: Array) -> Array:
    """Moments lever × force of stacks of vectors: (n, dim), (n, dim) to (n, spins)."""
    if lever.shape[-1] == 2:
        return (lever[..., 0] * force[..., 1] - lever[..., 1] * force[..., 0])[..., None]
    return cross_product(lever, force)


def cross_product(a: Array, b: Array) -> Array:
    """Vector product a × b in space, ten times as fast as NumPy's for short stacks."""
    return a.take(_NEXT, -1) * b.take(_AFTER, -1) - a.take(_AFTER, -1) * b.take(_NEXT, -1)


def sweep(spin: Array, lever: Array) -> Array:
    """Velocities spin × lever of stacks: (n, spins), (n, dim) to (n, dim)."""
    return spin * (lever @ _LEVERS[2]) if lever.shape[-1] == 2 else cross_product(spin, lever)


def unit_sweeps(lever: Array) -> Array:
    """Velocities e_s × lever for unit spins: (n, dim) to (n, spins, dim)."""
    dim = lever.shape[-1]
    return (lever @ _LEVERS[dim]).reshape(len(lever), spins(dim), dim)


def rigid_motions(lever: Array) -> Array:
    """Displacements (n, dim, dim + spins) of points by unit translations and rotations about the origin."""
    count, dim = lever.shape
    return np.concatenate([np.tile(np.eye(dim), (count, 1, 1)), unit_sweeps(lever).transpose(0, 2, 1)], axis=2)


def spin_skew(a: Array) -> Array:
    """Skew matrices [a]× of stacks of spins, (n, spins, spins); zero in the plane."""
    return np.zeros((*a.shape, 1)) if a.shape[-1] == 1 else skew(a, 3)


def spin_map(frame: Array) -> Array:
    """Action of frames (n, d, d) on spins and torques, (n, spins, spins); the identity in the plane."""
    return np.ones((len(frame), 1, 1)) if frame.shape[-1] == 2 else frame


def turned(frame: Array, vectors: Array) -> Array:
    """Vectors (n, d) rotated by frames (n, d, d)."""
    return np.matvec(frame, vectors)


def turned_spins(frame: Array, values: Array) -> Array:
    """Spins or torques (n, spins) rotated by frames (n, d, d), see :func:`spin_map`."""
    return values if frame.shape[-1] == 2 else turned(frame, values)


def cayley(half_turn: Array, dim: int) -> Array:
    """Cayley rotation (I − [a]×)⁻¹ (I + [a]×) = I + 2([a]× + [a]×²)/(1 + |a|²), a = ½hω: (n, spins) to (n, dim, dim).

    In the plane the angle is 2 atan(a).
    """
    return _cayley(skew(half_turn, dim), half_turn)


def _cayley(a: Array, half_turn: Array) -> Array:
    scale = 2.0 / (1.0 + np.einsum("...a,...a->...", half_turn, half_turn))
    return _UNIT[a.shape[-1]] + scale[..., None, None] * (a + a @ a)


def is_scipy_rotation(given: Any) -> bool:
    """True for a ``scipy.spatial.transform.Rotation``; its module, slow to import, is not loaded for numbers."""
    return not isinstance(given, np.ndarray | Sequence | Real) and isinstance(given, scipy.spatial.transform.Rotation)


def rotation_matrix(name: str, given: Any) -> Array:
    """Check a spatial rotation, given as a matrix (3, 3) or a ``scipy.spatial.transform.Rotation``; returns its matrix.

    A matrix with rounded digits is replaced by the nearest rotation, U Vᵀ of its singular value decomposition.
    """
    try:
        matrix = given.as_matrix() if is_scipy_rotation(given) else np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a rotation matrix (3, 3) or a scipy Rotation, got {shown(given)}") from None
    if matrix.shape != (3, 3):
        raise ValueError(f"{name} must be a rotation matrix (3, 3) or a scipy Rotation, got shape {matrix.shape}")
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    defect = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if not defect <= ORTHOGONAL:
        raise ValueError(f"{name} must be orthogonal: |RᵀR − 1| = {defect:.0e}, allowed {ORTHOGONAL:.0e}")
    if np.linalg.det(matrix) < 0.0:
        raise ValueError(f"{name} must be a rotation: its determinant is −1, a reflection")
    if defect > EXACT:
        left, _, right = np.linalg.svd(matrix)
        return np.asarray(left @ right)
    return matrix


def rotation(angle: float) -> Array:
    """Planar rotation matrix of an angle [rad], shape (2, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def finite_rotation(turn: Array, dim: int) -> Array:
    """Rotation matrices of rotation vectors [rad]: (…, spins) to (…, dim, dim)."""
    if dim == 2:
        return from_entries(np.concatenate([np.cos(turn), np.sin(turn)], axis=-1), dim)
    return scipy.spatial.transform.Rotation.from_rotvec(turn.reshape(-1, 3)).as_matrix().reshape(*turn.shape, 3)


def entries(matrix: Array) -> Array:
    """Stored entries of rotation matrices: (n, 2, 2) to (n, 2) = (c, s); (n, 3, 3) to (n, 9)."""
    if matrix.shape[-1] == 2:
        return matrix[..., :, 0]
    return matrix.reshape(*matrix.shape[:-2], 9)


def from_entries(kept: Array, dim: int) -> Array:
    """Rotation matrices from their stored entries, the inverse of :func:`entries`."""
    if dim == 3:
        return kept.reshape(*kept.shape[:-1], 3, 3)
    if kept.ndim == 1:
        c, s = kept
        return np.array([[c, -s], [s, c]])
    return (kept @ _TURN).reshape(*kept.shape[:-1], 2, 2)


def entry_count(dim: int) -> int:
    """Number of stored entries of a rotation: 2 in the plane, 9 in space."""
    return 2 if dim == 2 else 9


def planar_angle(matrix: Array) -> Array:
    """Angle [rad] of planar rotation matrices, in (−π, π]."""
    return np.arctan2(matrix[..., 1, 0], matrix[..., 0, 0])


def nearest_rotation(before: Array, after: Array) -> Array:
    """Rotation (d, d) that maps points (n, d) nearest to others, both about their means (Kabsch)."""
    left, _, right = np.linalg.svd((after - after.mean(axis=0)).T @ (before - before.mean(axis=0)))
    sign = np.ones(before.shape[1])
    sign[-1] = np.linalg.det(left @ right)
    rotation: Array = (left * sign) @ right
    return rotation
