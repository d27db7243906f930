"""What forces and torques may act on a single body, as values: its ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from ..rotations.angles import LOCK, Angles, angles
from ..rotations.in_plane import Angle
from ..system.terms import ExternalPort, PositionMap
from .axes import BodyAxes, Vector, combined, unit, vector


@checked
@dataclass(frozen=True, eq=False)
class Force:
    """A force [N] at the point ``at`` of the body axes [m], along a direction or in all.

    In world axes the port is a place, p = r + RX or its part along the direction; in body axes B is constant (a wheel
    that drives).

    Parameters
    ----------
    at : array_like
        Point X of the body axes [m].
    along : array_like, optional
        A direction (dim,) of the ``axes``: one column; by default a force (dim,) in these axes.
    axes : {"world", "body"}
        Those of the force.
    """

    at: Vector
    along: Vector | None = None
    axes: Literal["world", "body"] = "world"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """B (n_kin, 1 or dim)."""
        point = vector(f"port {name!r}: at", self.at, body.dim)
        rows = _rows(name, self.along, axes=self.axes, dim=body.dim)
        if self.axes == "body":
            return {name: ExternalPort(body.lever(point).T @ rows.T)}
        directions, place = body.directions(point), combined(rows, body.place(point), np.zeros(body.dim))
        return {name: ExternalPort(lambda zeta: directions(zeta) @ rows.T, place)}


@checked
@dataclass(frozen=True, eq=False)
class Torque:
    """A torque [N m] about an axis, or about all.

    In the plane there is one; with :func:`rigid.angle` its port is a place, the angle.

    Parameters
    ----------
    about : array_like, optional
        In space a direction (3,) of the ``axes``: one column; by default a torque (3,) in these axes. None in the
        plane.
    axes : {"world", "body"}
        Those of the torque.
    """

    about: Vector | None = None
    axes: Literal["world", "body"] = "world"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """B (n_kin, 1 or 3)."""
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
    """A torque [N m] of a motor at one axis of a massless gimbal; its output is the rate of the angle there.

    It belongs to a body in space of any orientation ([rigid] sec. 7.2), and is a place where these are the body's own
    angles. Undefined at gimbal lock, which is then one of the suspension, whatever the orientation is kept by.

    Parameters
    ----------
    angle : int
        Which, 0, 1 or 2 in the order of the sequence.
    sequence : str
        Three axes, as of :func:`rigid.angles`.
    """

    angle: int
    sequence: str = "xyz"

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """B (n_kin, 1)."""
        known, k = angles(self.sequence), check.count(f"port {name!r}: angle", self.angle, 0)
        if k > 2 or body.dim == 2:
            raise ValueError(f"port {name!r}: angle must be 0, 1 or 2 of a body in space, got {self.angle}")
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
    """A frame at the point ``at`` of the body axes: two ports, to be coupled both where it is welded.

    ``name`` is a force (dim,) in world axes and ``name.turn`` a torque about the world axes, in the plane a number. A
    spin is not the rate of three coordinates in space, so that a weld there couples velocities: steps that take them in
    the middle turn two bodies whose orientations are kept in the same way by the same rotation, and keep it exactly.

    Parameters
    ----------
    at : array_like
        Point of the body axes [m].
    """

    at: Vector

    def ports(self, name: str, body: BodyAxes) -> dict[str, ExternalPort]:
        """The ports of the point and of the turn."""
        return {**Force(self.at).ports(name, body), **Torque().ports(f"{name}.turn", body)}


BodyPort = Force | Torque | Gimbal | Frame


def turning(body: BodyAxes) -> PositionMap | None:
    """The angle of a planar body, where it is kept."""
    return _entry(body, 0) if isinstance(body.orientation, Angle) else None


def _entry(body: BodyAxes, k: int) -> PositionMap:
    """One of the coordinates of the orientation."""
    span = body.parts["orientation"]
    row = np.eye(1, span.stop, span.start + k)
    return PositionMap(lambda zeta: zeta[span][k : k + 1], lambda zeta: row)


def _rows(name: str, direction: Vector | None, *, axes: str, dim: int, word: str = "along") -> Array:
    """A unit direction as one row, or all axes."""
    check.choice(f"port {name!r}: axes", axes, ("world", "body"))
    return np.eye(dim) if direction is None else unit(f"port {name!r}: {word}", direction, dim)[None]


def _gimbal(known: Angles, which: int, R: Array) -> Array:
    """The row of Z of the first, second or third factor of ``R = R_i R_j R_k``, without its angles.

    Of their axes w in body axes, the first is fixed in the world, the third in the body, and the second orthogonal to
    both. At gimbal lock, where these two are one, there is none.
    """
    one, (i, j, k) = np.eye(3), known.axes
    first, third = R.T @ one[i], one[k]
    across = np.cross(third, first)
    length = float(np.linalg.norm(across))
    if length < LOCK:
        raise ValueError(f"the gimbal of {known.name} is locked: its outer and its inner axis are one")
    second = across / (-length if known.proper else length * float(one[j] @ np.cross(one[k], one[i])))
    side = (np.cross(second, third), across, np.cross(first, second))[which]
    return side / float((first, second, third)[which] @ side)
