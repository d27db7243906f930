"""Constraints of single bodies: pinned points, lines, planes, knife edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from ..system.terms import PositionConstraint, VelocityConstraint
from .axes import BodyAxes, Vector, combined, normals, unit, vector

Constraint = PositionConstraint | VelocityConstraint


@checked
@dataclass(frozen=True, eq=False)
class Pinned:
    """Constraint ``p = to``: the point ``at`` of the body axes stays at a point in the world, both (dim,) [m].

    Parameters
    ----------
    at : array_like
        Point of the body axes (dim,) [m].
    to : array_like
        Point in the world (dim,) [m].
    """

    at: Vector
    to: Vector

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """One constraint with dim rows, as a tuple."""
        return (_point_constraint(name, body, self.at, rows=np.eye(body.dim), through=self.to),)


@checked
@dataclass(frozen=True, eq=False)
class OnLine:
    """Constraint ``n·(p − through) = 0``: the point ``at`` of the body axes stays on a line along a world direction.

    In the plane n is the direction turned by 90°; in space there are two normals.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    along : array_like
        Direction in world axes.
    through : array_like, optional
        A point of the line [m]; by default the origin.
    """

    at: Vector
    along: Vector
    through: Vector | None = None

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """One constraint with dim − 1 rows, as a tuple."""
        rows = normals(unit(f"constraint {name!r}: along", self.along, body.dim))
        return (_point_constraint(name, body, self.at, rows=rows, through=self.through),)


@checked
@dataclass(frozen=True, eq=False)
class OnPlane:
    """Constraint ``n·(p − through) = 0``: the point ``at`` of the body axes stays on a plane in space with normal n.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    normal : array_like
        n, a direction in world axes.
    through : array_like, optional
        A point of the plane [m]; by default the origin.
    """

    at: Vector
    normal: Vector
    through: Vector | None = None

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """One constraint with one row, as a tuple; ValueError in the plane."""
        if body.dim == 2:
            raise ValueError(f"constraint {name!r}: OnPlane is for spatial bodies, in the plane use OnLine")
        row = unit(f"constraint {name!r}: normal", self.normal, body.dim)[None]
        return (_point_constraint(name, body, self.at, rows=row, through=self.through),)


@checked
@dataclass(frozen=True, eq=False)
class KnifeEdge:
    """Nonholonomic constraint: the point ``at`` has no velocity along ``across``, both in body axes.

    It models a skate, or a wheel without its rolling angle ([rigid] sec. 7.1); A is constant.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    across : array_like
        Direction in body axes.
    """

    at: Vector
    across: Vector

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """One velocity constraint with a constant row A (1, n_kin), as a tuple."""
        point = vector(f"constraint {name!r}: at", self.at, body.dim)
        row = unit(f"constraint {name!r}: across", self.across, body.dim)[None]
        return (VelocityConstraint(name, row @ body.lever(point)),)


def _point_constraint(
    name: str, body: BodyAxes, at: Vector, *, rows: Array, through: Vector | None
) -> PositionConstraint:
    point = vector(f"constraint {name!r}: at", at, body.dim)
    return PositionConstraint(name, combined(rows, body.place(point), point_or_origin(name, through, body.dim)))


def point_or_origin(name: str, given: Vector | None, dim: int) -> Array:
    """Point of the world as an array (dim,); the origin if none is given."""
    return np.zeros(dim) if given is None else vector(f"constraint {name!r}: a point of the world", given, dim)
