"""Discs that roll on a ground without slipping, in the plane and in space.

Symbols as in :class:`Rolling`; ζ are the positions, ϖ the velocities and R the rotation of the body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import skew
from flexph.numerics.step_failed import StepFailed

from ..system.terms import PositionConstraint, PositionMap, VelocityConstraint
from .axes import BodyAxes, Vector, combined, normals, unit, vector
from .ports import Constraint, point_or_origin, turning

LOW = 0.05
"""Sine of the angle between a disc and the ground below which runs warn: 3 degrees."""
FLAT = 1e-6
"""Sine of the angle between a disc and the ground below which the disc counts as lying flat; the square of the sine
then has a relative round-off of 1e-4."""


@checked
@dataclass(frozen=True, eq=False)
class Rolling:
    """A disc of radius ρ [m] about the point ``at`` of the body axes that rolls on the ground without slipping.

    n is the normal of the ground, t a tangent, a the axis of the disc, Ω its spin and φ its angle in the plane. In
    space the lowest point of the disc is at −ρe from its centre p, ``e = (n − (n·a)a)/|…|``. It stays on the ground,
    ``n·(p − through) = ρ √(1 − (n·a)²)``, preserved without drift, and the material point there does not slip,
    ``t·(ṗ − ρ Ω × e) = 0`` along the ground: nonholonomic in space, in the plane the rate of ``t·p + ρφ``. A disc that
    lies flat has no point of contact: a start raises ValueError and a run ends with an error; a warning precedes this.

    Parameters
    ----------
    radius : float
        ρ [m].
    at : array_like
        Centre of the disc in body axes [m].
    normal : array_like
        n of the ground, a direction in world axes.
    axis : array_like, optional
        a, the axis of the disc in body axes; None in the plane.
    through : array_like, optional
        A point of the ground [m]; by default the origin.
    """

    radius: float
    at: Vector
    normal: Vector
    axis: Vector | None = None
    through: Vector | None = None

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """Two constraints of a rolling disc: height above the ground, c (1,), and slip along it, A (dim − 1, n_kin)."""
        radius = check.positive(f"constraint {name!r}: radius", self.radius, "m")
        point = vector(f"constraint {name!r}: at", self.at, body.dim)
        n = unit(f"constraint {name!r}: normal", self.normal, body.dim)
        ground = point_or_origin(name, self.through, body.dim)
        if body.dim == 2:
            if self.axis is not None:
                raise ValueError(f"constraint {name!r}: axis must be None in the plane, got {self.axis!r}")
            return _rolling_in_plane(name, body, point, n, radius=radius, ground=ground)
        if self.axis is None:
            raise ValueError(f"constraint {name!r}: axis of the disc must be given in space")
        disc = _Disc(name, body, point, unit(f"constraint {name!r}: axis", self.axis, 3), n, radius, ground)
        return (
            PositionConstraint(f"{name}.height", disc.height),
            VelocityConstraint(f"{name}.slip", disc.slip),
        )

    def caution(self, name: str, body: BodyAxes) -> Callable[[Array], str | None] | None:
        """Function of ζ that returns a warning if the disc nearly lies flat, else None. In the plane: None."""
        if body.dim == 2 or self.axis is None:
            return None
        axis, n = unit("axis", self.axis, 3), unit("normal", self.normal, 3)

        def nearly_flat(zeta: Array) -> str | None:
            s = float(np.linalg.norm(np.cross(n, body.rotation(zeta) @ axis)))
            if s >= LOW:
                return None
            return f"the disc of {name!r} nearly lies flat on the ground ({np.degrees(np.arcsin(s)):.2g}° over it)"

        return nearly_flat


class LyingFlat(StepFailed, ValueError):
    """Error that a disc lies flat and has no point of contact. It ends a step or prevents a start."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the disc of {name!r} comes to lie flat on the ground, where it has no point of contact", 0, np.inf
        )


@dataclass(frozen=True)
class _Disc:
    """Constraints of a disc in space that rolls on its ground."""

    name: str
    body: BodyAxes
    point: Array
    axis: Array
    normal: Array
    radius: float
    ground: Array

    @property
    def height(self) -> PositionMap:
        """Height constraint c (1,), as a linear function of r plus a function of the orientation.

        The discrete Jacobian of a sum is computed term by term, so that lengths and rotations are not mixed and steps
        do not depend on the unit of length.
        """
        span, of = self.body.parts["orientation"], PositionMap(self._turned_height, self._turned_slope)
        terms: list[tuple[slice, PositionMap]] = [(span, of)]
        if self.body.free:
            row = self.normal[None]
            terms.append((self.body.parts["position"], PositionMap(lambda r: row @ r, lambda r: row)))
        return PositionMap.of_terms(span.stop, tuple(terms))

    def _turned_height(self, turned: Array) -> Array:
        """Part of the height from the orientation, ``n·(R X − through) − ρ √(1 − (n·a)²)``; plus n·pivot if pivoted."""
        R, pivot = self.body.orientation.rotation(turned), self.body.pivot
        tilt = self.normal @ R @ self.axis
        over = self.normal @ (R @ self.point + (0.0 if pivot is None else pivot) - self.ground)
        return np.array([over - self.radius * self._sine(1.0 - tilt * tilt)])

    def _turned_slope(self, turned: Array) -> Array:
        """Derivatives (1, size) of the height with respect to the coordinates of the orientation."""
        of, n = self.body.orientation, self.normal
        tilt = n @ of.rotation(turned) @ self.axis
        slope: Array = n @ of.jacobian(turned, self.point)
        slope = slope + self.radius * tilt / self._sine(1.0 - tilt * tilt) * (n @ of.jacobian(turned, self.axis))
        return slope[None]

    def slip(self, zeta: Array) -> Array:
        """Matrix A (2, n_kin) from ϖ to the velocity of the lowest material point along the ground."""
        R, along = self.body.rotation(zeta), normals(self.normal)
        a = R @ self.axis
        e = self.normal - (self.normal @ a) / (a @ a) * a
        spin = R @ self.body.spin
        return along @ (R @ self.body.lever(self.point) + self.radius / self._sine(e @ e) * skew(e, 3) @ spin)

    def _sine(self, squared: float) -> float:
        """Sine |n × a| of the angle between disc and ground, from its square; raise LyingFlat if it is below FLAT."""
        if not squared > FLAT * FLAT:
            raise LyingFlat(self.name)
        return float(np.sqrt(squared))


def _rolling_in_plane(
    name: str, body: BodyAxes, point: Array, n: Array, *, radius: float, ground: Array
) -> tuple[Constraint, ...]:
    along = np.array([[n[1], -n[0]]])
    place, directions = body.place(point), body.directions(point)
    over, path, angle = combined(n[None], place, ground + radius * n), combined(along, place, ground), turning(body)

    def slip(zeta: Array) -> Array:
        return along @ directions(zeta).T + radius * body.spin

    rolled = angle and PositionMap(
        lambda zeta: path.value(zeta) + radius * angle.value(zeta),
        lambda zeta: path.jacobian(zeta) + radius * angle.jacobian(zeta),
    )
    return (PositionConstraint(f"{name}.height", over), VelocityConstraint(f"{name}.slip", slip, rolled))
