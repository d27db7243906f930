"""Geometry of one rigid body: its points as functions of positions ζ, and their velocities from velocities ϖ.

R is the rotation matrix from body axes to world axes, ω the spin in body axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Memo, once
from flexph.numerics.rotations import unit_sweeps

from ..rotations.orientation import Orientation
from ..system.matrix_functions import Differentiable, mapped
from ..system.terms import PositionConstraint, PositionMap

Vector = Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class BodyAxes(Memo):
    """Body axes of one rigid body, with origin P and rotation R.

    The body is free, ``ζ = (r_P, orientation)`` and ``ϖ = (v_P, ω)`` in body axes; or it rotates about a fixed point P,
    ``ζ = orientation`` and ``ϖ = ω``. ``pivot``: the fixed point P in world axes (dim,) [m], None for a free body.
    """

    orientation: Orientation
    pivot: Array | None = None

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return self.orientation.dim

    @property
    def free(self) -> bool:
        """True for a free body, whose origin moves; False for a pivoted body."""
        return self.pivot is None

    @once
    def parts(self) -> dict[str, slice]:
        """Slices of the positions by name."""
        return self._spans("position", "orientation", self.orientation.size)

    @once
    def velocity_parts(self) -> dict[str, slice]:
        """Slices of the velocities by name."""
        return self._spans("velocity", "spin", self.orientation.spins)

    def _spans(self, place: str, turn: str, size: int) -> dict[str, slice]:
        """Slices by name of the entries of the position or velocity of P, and of the ``size`` entries for the rotation.

        ``place`` names the first slice, which only a free body has, ``turn`` the second.
        """
        if not self.free:
            return {turn: slice(0, size)}
        return {place: slice(0, self.dim), turn: slice(self.dim, self.dim + size)}

    @property
    def spin(self) -> Array:
        """Matrix S (spins, n_kin) of ``ω = Sϖ``."""
        s = self.orientation.spins
        return np.eye(s, self.velocities, self.velocities - s)

    @property
    def velocities(self) -> int:
        """Number n_kin of velocities."""
        return self.velocity_parts["spin"].stop

    @property
    def conditions(self) -> tuple[PositionConstraint, ...]:
        """Conditions of the orientation, as functions of ζ."""
        return tuple(self._of_body(condition) for condition in self.orientation.conditions)

    def _of_body(self, given: PositionConstraint) -> PositionConstraint:
        span, zero = self.parts["orientation"], np.zeros((1, self.parts["orientation"].start))

        def jacobian(zeta: Array) -> Array:
            slope = given.map.jacobian(zeta[span])
            return np.hstack([np.repeat(zero, len(slope), axis=0), slope])

        return PositionConstraint(given.name, PositionMap(lambda zeta: given.map.value(zeta[span]), jacobian))

    def turned(self, zeta: Array) -> Array:
        """Coordinates of the orientation, a part of ζ."""
        return zeta[self.parts["orientation"]]

    def rotation(self, zeta: Array) -> Array:
        """Rotation matrix R (dim, dim)."""
        return self.orientation.rotation(self.turned(zeta))

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix ``blkdiag(R, Z_rot)``; Z_rot for a pivoted body."""
        rates = self.orientation.Z(self.turned(zeta))
        if not self.free:
            return rates
        matrix = np.zeros((self.parts["orientation"].stop, self.velocities))
        matrix[: self.dim, : self.dim] = self.rotation(zeta)
        matrix[self.dim :, self.dim :] = rates
        return matrix

    @once
    def kinematics(self) -> Differentiable:
        """Kinematic matrix Z with its derivatives."""
        turn, of = self.parts["orientation"], self.orientation
        start = self.velocity_parts["spin"].start
        bent = of.Z_slopes(np.zeros(of.size)) if of.polynomial else None

        def slopes(zeta: Array) -> Array:
            stack = np.zeros((turn.stop, turn.stop, self.velocities))
            stack[turn, turn, start:] = of.Z_slopes(zeta[turn]) if bent is None else bent
            if self.free:
                stack[turn, : self.dim, : self.dim] = of.slopes(zeta[turn])
            return stack

        return Differentiable(self.Z, self._constant(slopes, of.linear or (of.polynomial and not self.free)))

    def _constant(self, slopes: Callable[[Array], Array], constant: bool) -> Callable[[Array], Array]:
        """Function of orientation coordinates with the values of ``slopes``.

        If these do not depend on the coordinates (``constant``), they are computed once.
        """
        if not constant:
            return slopes
        stack = slopes(np.zeros(self.parts["orientation"].stop))
        return lambda zeta: stack

    def lever(self, point: Array) -> Array:
        """Matrix K (dim, n_kin) by which Kϖ is the velocity of a point X (dim,) of the body, in body axes.

        It is v + ω × X for a free body, ω × X for a pivoted body.
        """
        turning = unit_sweeps(point[None])[0].T
        return np.hstack([np.eye(self.dim), turning]) if self.free else turning

    def directions(self, point: Array) -> Callable[[Array], Array]:
        """Function from ζ to the input matrix ``B = Kᵀ Rᵀ`` (n_kin, dim) of a force in world axes at a point."""
        lever = self.lever(point).T
        return lambda zeta: lever @ self.rotation(zeta).T

    def place(self, point: Array) -> PositionMap:
        """Position ``p(ζ) = r + R X`` of a point in world axes, with its Jacobian; ``p' Z = R K`` at every ζ."""
        origin = np.eye(self.dim) if self.free else np.zeros((self.dim, 0))

        def value(zeta: Array) -> Array:
            at = zeta[: self.dim] if self.pivot is None else self.pivot
            return at + self.rotation(zeta) @ point

        def jacobian(zeta: Array) -> Array:
            return np.hstack([origin, self.orientation.jacobian(self.turned(zeta), point)])

        def slopes(zeta: Array) -> Array:
            turn = self.parts["orientation"]
            stack = np.zeros((turn.stop, self.dim, turn.stop))
            stack[turn, :, turn] = (self.orientation.second_slopes(self.turned(zeta)) @ point).transpose(0, 2, 1)
            return stack

        return PositionMap(value, Differentiable(jacobian, self._constant(slopes, self.orientation.polynomial)))


def combined(rows: Array, place: PositionMap, offset: Array) -> PositionMap:
    """Position map ``N (p(ζ) − o)`` with N = ``rows`` and o = ``offset``."""
    jacobian = mapped(lambda slope: rows @ slope, place.jacobian)
    return PositionMap(lambda zeta: rows @ (place.value(zeta) - offset), jacobian)


def vector(name: str, given: Any, dim: int) -> Array:
    """Vector (dim,) given by the user; raise ValueError for another shape."""
    return check.array(name, given, (dim,))


def unit(name: str, given: Any, dim: int) -> Array:
    """Unit vector along a given direction; raise ValueError if it is zero."""
    v = vector(name, given, dim)
    length = float(np.linalg.norm(v))
    if length == 0.0:
        raise ValueError(f"{name} must not be zero, it is a direction")
    return v / length


def normals(direction: Array) -> Array:
    """Unit vectors orthogonal to a direction, as rows (dim − 1, dim); in the plane the direction turned by 90°."""
    if direction.size == 2:
        return np.array([[-direction[1], direction[0]]])
    first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(direction, first)])
