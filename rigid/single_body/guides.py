"""Guides of single bodies: on points, lines and planes, along edges."""

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
    """``p = to``: the point ``at`` of the body axes stays at a point of the world, both (dim,) [m].

    Parameters
    ----------
    at : array_like
        Point of the body axes (dim,) [m].
    to : array_like
        Point of the world (dim,) [m].
    """

    at: Vector
    to: Vector

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """c (dim,)."""
        return (_point_constraint(name, body, self.at, rows=np.eye(body.dim), through=self.to),)


@checked
@dataclass(frozen=True, eq=False)
class OnLine:
    """``n·(p − through) = 0``: the point ``at`` of the body axes stays on a line along a direction of the world.

    In the plane n is the direction turned by a quarter; in space there are two.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    along : array_like
        Direction of the world.
    through : array_like, optional
        A point of the line [m]; the origin by default.
    """

    at: Vector
    along: Vector
    through: Vector | None = None

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """c (dim − 1,)."""
        rows = normals(unit(f"constraint {name!r}: along", self.along, body.dim))
        return (_point_constraint(name, body, self.at, rows=rows, through=self.through),)


@checked
@dataclass(frozen=True, eq=False)
class OnPlane:
    """``n·(p − through) = 0``: the point ``at`` of the body axes stays on a plane of space with the normal n.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    normal : array_like
        n, a direction of the world.
    through : array_like, optional
        A point of the plane [m]; the origin by default.
    """

    at: Vector
    normal: Vector
    through: Vector | None = None

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """c (1,)."""
        if body.dim == 2:
            raise ValueError(f"constraint {name!r}: OnPlane is for bodies of space, in the plane take OnLine")
        row = unit(f"constraint {name!r}: normal", self.normal, body.dim)[None]
        return (_point_constraint(name, body, self.at, rows=row, through=self.through),)


@checked
@dataclass(frozen=True, eq=False)
class KnifeEdge:
    """The velocity of the point ``at`` along the direction ``across``, both of the body axes, is zero: not holonomic.

    A skate, or a wheel whose roll is not followed ([rigid] sec. 7.1); A is constant.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    across : array_like
        Direction of the body axes.
    """

    at: Vector
    across: Vector

    def constraints(self, name: str, body: BodyAxes) -> tuple[Constraint, ...]:
        """A (1, n_kin)."""
        point = vector(f"constraint {name!r}: at", self.at, body.dim)
        row = unit(f"constraint {name!r}: across", self.across, body.dim)[None]
        return (VelocityConstraint(name, row @ body.lever(point)),)


def _point_constraint(
    name: str, body: BodyAxes, at: Vector, *, rows: Array, through: Vector | None
) -> PositionConstraint:
    point = vector(f"constraint {name!r}: at", at, body.dim)
    return PositionConstraint(name, combined(rows, body.place(point), point_or_origin(name, through, body.dim)))


def point_or_origin(name: str, given: Vector | None, dim: int) -> Array:
    """A point of the world, the origin if None."""
    return np.zeros(dim) if given is None else vector(f"constraint {name!r}: a point of the world", given, dim)
