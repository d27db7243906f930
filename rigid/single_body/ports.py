"""Ports and constraints of single bodies as values: forces, torques, pinned points, lines, planes, knife edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross_product

from ..rotations.angles import LOCK, Angle, Angles, angles
from ..system.terms import ExternalPort, PositionConstraint, PositionMap, VelocityConstraint
from .axes import BodyAxes, Vector, combined, normals, unit, vector


@checked
@dataclass(frozen=True, eq=False)
class Force:
    """A force [N] at the point ``at`` of the body axes [m], along a direction or with all components.

    In world axes the port has a position, p = r + RX or its component along the direction; in body axes B is constant
    (a driven wheel).

    Parameters
    ----------
    at : array_like
        Point X of the body axes [m].
    along : array_like, optional
        Direction (dim,) of the force in the ``axes``, for a port with one column; by default the port takes all
        components of a force (dim,) in these axes.
    axes : {"world", "body"}
        Axes of the force.
    """

    at: Vector
    along: Vector | None = None
    axes: Literal["world", "body"] = "world"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """One port {name: port} of a body for this force, with B (n_kin, 1 or dim); in world axes it has a position."""
        point = vector(f"port {name!r}: at", self.at, body.dim)
        rows = _rows(name, self.along, axes=self.axes, dim=body.dim)
        if self.axes == "body":
            return {name: ExternalPort(body.lever(point).T @ rows.T)}
        directions, place = body.directions(point), combined(rows, body.place(point), np.zeros(body.dim))
        return {name: ExternalPort(lambda zeta: directions(zeta) @ rows.T, place)}


@checked
@dataclass(frozen=True, eq=False)
class Torque:
    """A torque [N m] about an axis, or with all components.

    In the plane it is a number; with :func:`rigid.angle` its port has a position, the angle.

    Parameters
    ----------
    about : array_like, optional
        In space the direction (3,) of the torque in the ``axes``, for a port with one column; by default the port takes
        all components of a torque (3,) in these axes. None in the plane.
    axes : {"world", "body"}
        Axes of the torque.
    """

    about: Vector | None = None
    axes: Literal["world", "body"] = "world"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """One port {name: port} of a body for this torque, with B (n_kin, 1 or 3)."""
        if body.dim == 2:
            if self.about is not None:
                raise ValueError(f"port {name!r}: about must be None in the plane, got {self.about!r}")
            check.choice(f"port {name!r}: axes", self.axes, ("world", "body"))
            return {name: ExternalPort(body.spin.T, turning(body))}
        rows, spin = _rows(name, self.about, axes=self.axes, dim=3, word="about"), body.spin.T
        if self.axes == "body":
            return {name: ExternalPort(spin @ rows.T)}
        return {name: ExternalPort(lambda zeta: spin @ body.rotation(zeta).T @ rows.T)}


@checked
@dataclass(frozen=True)
class Gimbal:
    """A motor torque [N m] at one axis of a massless gimbal; its output is the rate of the gimbal angle.

    The body is spatial, with any orientation ([rigid] sec. 7.2). The port has a position, the gimbal angle, if the
    orientation of the body is given by angles in the same sequence. The port is undefined at the gimbal lock of the
    suspension, whatever the coordinates of the orientation.

    Parameters
    ----------
    angle : int
        Index of the axis, 0, 1 or 2 in the order of the sequence.
    sequence : str
        Three axes, as in :func:`rigid.angles`.
    """

    angle: int
    sequence: str = "xyz"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """One port {name: port} of a body for this motor torque, with B (n_kin, 1)."""
        known, k = angles(self.sequence), check.count(f"port {name!r}: angle", self.angle, 0)
        if k > 2 or body.dim == 2:
            raise ValueError(f"port {name!r}: angle must be 0, 1 or 2 for a spatial body, got {self.angle}")
        which, spin = k if self.sequence.isupper() else 2 - k, body.spin.T
        return {
            name: ExternalPort(
                lambda zeta: spin @ _gimbal(known, which, body.rotation(zeta))[:, None],
                _entry(body, k) if body.orientation == known else None,
            )
        }


@checked
@dataclass(frozen=True, eq=False)
class Frame:
    """A frame at the point ``at`` of the body axes with two ports, both to be coupled for a weld.

    The port with the name of the frame is for a force (dim,) in world axes, the one with the suffix ``.turn`` for a
    torque about the world axes, in the plane a number.

    In space a spin is not the rate of three coordinates, so that a weld of two bodies couples only their spins, not
    their rotations: midpoint steps rotate bodies with the same kind of orientation equally, and preserve the weld
    exactly.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    """

    at: Vector

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """Two ports of a body by name: the force at the point, and the torque with the suffix ``.turn``."""
        return {**Force(self.at).ports(name, body), **Torque().ports(f"{name}.turn", body)}


BodyPort = Force | Torque | Gimbal | Frame


def turning(body: BodyAxes) -> PositionMap | None:
    """Angle of a planar body as a position map; None if its orientation is not an angle."""
    return _entry(body, 0) if isinstance(body.orientation, Angle) else None


def _entry(body: BodyAxes, k: int) -> PositionMap:
    """Position map of the coordinate k of the orientation."""
    span = body.parts["orientation"]
    row = np.eye(1, span.stop, span.start + k)
    return PositionMap(lambda zeta: zeta[span][k : k + 1], lambda zeta: row)


def _rows(name: str, direction: Vector | None, *, axes: str, dim: int, word: str = "along") -> Array:
    """Unit vector along a direction as one row (1, dim); the unit matrix (dim, dim) if no direction is given.

    Raises ValueError unless ``axes`` is "world" or "body"; ``name`` and ``word`` name the port and the direction in
    errors.
    """
    check.choice(f"port {name!r}: axes", axes, ("world", "body"))
    return np.eye(dim) if direction is None else unit(f"port {name!r}: {word}", direction, dim)[None]


def _gimbal(known: Angles, which: int, R: Array) -> Array:
    """Row (3,) by which the spin ω in body axes is mapped to the rate of one angle of ``R = R_i R_j R_k``.

    ``which``, 0 to 2, counts the factors of the product. In body axes, the axis of the first angle is fixed in the
    world, that of the third is fixed in the body, and that of the second is orthogonal to both. Raises ValueError at
    gimbal lock, where the first axis and the third coincide and the second is undefined.
    """
    i, j, k = known.axes
    first, third = R[i], np.eye(3)[k]
    across = cross_product(third, first)
    length = float(np.linalg.norm(across))
    if length < LOCK:
        raise ValueError(f"the gimbal of {known.name} is locked: its outer and its inner axis coincide")
    second = across / (length if not known.proper and (j - i) % 3 == 1 else -length)
    side = (cross_product(second, third), across, cross_product(first, second))[which]
    return side / float((first, second, third)[which] @ side)


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
