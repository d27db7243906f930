"""Local coordinate systems in mesh files: rectangular, cylindrical and spherical."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array


class Axes(NamedTuple):
    """A local coordinate system, x = origin + turn ξ with rectangular ξ; the columns of ``turn`` are its axes."""

    origin: Array = np.zeros(3)
    turn: Array = np.eye(3)

    def placed(self, local: Array) -> Array:
        """Positions (N, 3) of points from their rectangular coordinates in the system."""
        if not self.origin.any() and np.array_equal(self.turn, np.eye(3)):
            return local  # exact, without rounding errors
        return local @ self.turn.T + self.origin


def axes_by_x(a: Array, b: Array, c: Array) -> Axes:
    """System with origin a, b on its x axis, and c in its x-y plane at positive y (Abaqus)."""
    x = _unit(b - a)
    z = _unit(np.cross(x, c - a))
    return Axes(a, np.column_stack([x, np.cross(z, x), z]))


def axes_by_z(a: Array, b: Array, c: Array) -> Axes:
    """System with origin a, b on its z axis, and c in its x-z plane at positive x (Nastran)."""
    z = _unit(b - a)
    y = _unit(np.cross(z, c - a))
    return Axes(a, np.column_stack([np.cross(y, z), y, z]))


def cylindrical(values: Array) -> Array:
    """Rectangular coordinates (N, 3) from cylindrical ones r, θ [°], z."""
    r, angle, z = values[:, 0], np.deg2rad(values[:, 1]), values[:, 2]
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])


def spherical_by_elevation(values: Array) -> Array:
    """Rectangular coordinates (N, 3) from spherical ones r, θ [°] about z, φ [°] above the x-y plane (Abaqus)."""
    r, around, above = values[:, 0], np.deg2rad(values[:, 1]), np.deg2rad(values[:, 2])
    level = r * np.cos(above)
    return np.column_stack([level * np.cos(around), level * np.sin(around), r * np.sin(above)])


def spherical_by_pole(values: Array) -> Array:
    """Rectangular coordinates (N, 3) from spherical ones r, θ [°] from the z axis, φ [°] about it (Nastran)."""
    r, from_pole, around = values[:, 0], np.deg2rad(values[:, 1]), np.deg2rad(values[:, 2])
    level = r * np.sin(from_pole)
    return np.column_stack([level * np.cos(around), level * np.sin(around), r * np.cos(from_pole)])


def _unit(vector: Array) -> Array:
    length = np.linalg.norm(vector)
    if not length > 0.0:
        raise ValueError("its three points must not lie on one line")
    return np.asarray(vector / length)
