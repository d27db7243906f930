"""Joints of robots between ports, with coordinates that have the zero and the sign of the robot's file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...contacts.stops import stop
from ...joints.drive import drive
from ...joints.forces.load import torque
from ...joints.forces.spring_damper import spring_damper, torsion_spring
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import Direction, PortName, frame_about, transported_frame, unit
from ...joints.transmissions import Sliding, Turning
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...sensors.quantities import Quantity, joint_angle, offset, rate_of
from .elements import SLIDING, TURNING, JointElement, Limit, Mimic

FULL_TURN = 2.0 * math.pi


class JointEnd(NamedTuple):
    """End of a joint: a port or ground point, and rotation (3, 3) of vectors from link axes to those of its section."""

    port: PortName
    turned: Array


@dataclass(frozen=True, eq=False)
class RobotJoint:
    """Joint of a robot with its ports and axes, and the zero and sign of its coordinate in the file.

    Its methods create sensors, stops, springs and drives in this coordinate.

    Attributes
    ----------
    name : str
        Name in the file.
    label : str
        Name of the motor and part of the names of other connections: the name with ``/`` replaced.
    kind : str
        ``revolute``, ``continuous``, ``prismatic``, ``planar``, ``ball`` or ``floating``.
    port, reference : str, str or Ground
        Ports on the child and the parent.
    axis, second_axis : tuple
        Axis in the sections at these ports; for the ground in world axes.
    zero : float
        Angle [rad] about these axes at the coordinate zero of the file, for rotating joints.
    limit : Limit, optional
        Lower and upper limit [rad, m], speed [rad/s, m/s] and effort [N m, N] of the file, which are not enforced.
    mimic : Mimic, optional
        Leader of the joint, multiplier and offset; the leader follows no other joint.
    """

    name: str
    label: str
    kind: str
    port: str
    reference: PortName
    axis: Direction
    second_axis: Direction
    zero: float
    limit: Limit | None
    mimic: Mimic | None

    @property
    def coordinate(self) -> Quantity:
        """Sensor of the joint's angle [rad] or displacement [m].

        Full turns are counted within a run.
        """
        if self._turns():
            return joint_angle(self.port, self.reference, **self._about, zero=self.zero)
        return offset(self.port, self.reference, self.second_axis)

    @property
    def rate(self) -> Quantity:
        """Sensor of the rate of the joint's coordinate [rad/s, m/s]."""
        return rate_of(self.coordinate)

    @checked
    def stop(self, law: Any, *, name: str | None = None) -> Connection:
        """Stops at the limits of the file, with a contact law; see :func:`flexph.contacts.stop`.

        Parameters
        ----------
        law : Hertz, KelvinVoigt or Rigid
            Contact law of the stops.
        name : str, optional
            Name, by default ``stop JOINT``.

        Returns
        -------
        Connection
            Element for :func:`flexph.connect`.

        Raises
        ------
        ValueError
            If the joint has no limits, or limits in the wrong order or, for an angle, 360° or more apart.
        """
        turns, given = self._turns(), self.limit
        both = () if given is None else (("lower", given.lower), ("upper", given.upper))
        ends: dict[str, Any] = {name: end for name, end in both if math.isfinite(end)}
        if not ends:
            raise ValueError(f"joint {self.name!r} has no limits in the file")
        axes: dict[str, Any] = {"along_axis": self.second_axis}
        if turns:
            whole = FULL_TURN * round(sum(ends.values()) / len(ends) / FULL_TURN)
            ends, axes = {k: v - whole for k, v in ends.items()}, {**self._about, "zero": self.zero}
        try:
            return stop(self.port, self.reference, law, **ends, **axes, name=name or f"stop {self.label}")
        except ValueError as error:
            raise ValueError(f"joint {self.name!r}: {error}") from None

    @checked
    def spring(
        self,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float | Callable[[float], float] = 0.0,
        name: str | None = None,
    ) -> Connection:
        """Spring and damper whose effort ``k(q − q₀) + c(q̇ − q̇₀)`` opposes the motion.

        Parameters
        ----------
        stiffness, damping : float
            Stiffness k [N m/rad, N/m] and damping c [N m s/rad, N s/m].
        rest : float or callable
            Rest value q₀ [rad, m] in the file's coordinate, or a function of time: the law of a position controller.
        name : str, optional
            Name, by default ``spring JOINT``.

        Returns
        -------
        Connection
            Element for :func:`flexph.connect`.
        """
        given: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "name": name or f"spring {self.label}"}
        if self._turns():
            return torsion_spring(self.port, self.reference, angle=rest, zero=self.zero, **self._about, **given)
        return spring_damper(self.port, self.reference, length=rest, direction=self.second_axis, **given)

    @checked
    def drive(self, motion: Callable[[float], float], *, name: str | None = None) -> Connection:
        """Prescribed motion, see :func:`flexph.drive`.

        Parameters
        ----------
        motion : callable
            Motion q [rad, m] in the file's coordinate, a function of time.
        name : str, optional
            Name, by default ``drive JOINT``.

        Returns
        -------
        Connection
            Element for :func:`flexph.connect`.
        """
        label = name or f"drive {self.label}"
        if self._turns():
            return drive(self.port, self.reference, angle=motion, **self._about, zero=self.zero, name=label)
        return drive(self.port, self.reference, displacement=motion, direction=self.second_axis, name=label)

    @checked
    def effort(self, *, name: str | None = None) -> Connection:
        """External port for a motor torque in axes of the child.

        A torque τ is the input ``τ * np.array(joint.axis)``.

        Parameters
        ----------
        name : str, optional
            Name, by default ``effort JOINT``.

        Returns
        -------
        Connection
            External port for :func:`flexph.connect`.

        Raises
        ------
        ValueError
            If the joint does not rotate.
        """
        if not self._turns():
            raise ValueError(f"joint {self.name!r} is {self.kind}: a motor needs a rotating joint")
        return torque(self.port, against=against(self.reference), axes="section", name=name or f"effort {self.label}")

    @property
    def coupling(self) -> Turning | Sliding:
        """Coordinate of the joint as an argument of gears and other couplings of joints."""
        if self._turns():
            return Turning(self.port, self.reference, (self.axis, self.second_axis))
        return Sliding(self.port, self.reference, self.second_axis)

    @property
    def _about(self) -> dict[str, Any]:
        return {"axis": self.axis, "second_axis": self.second_axis}

    def _turns(self) -> bool:
        """True if the joint rotates, False if it slides.

        Raises ValueError for joints with several degrees of freedom.
        """
        if self.kind not in (*TURNING, *SLIDING):
            raise ValueError(f"joint {self.name!r} is {self.kind}: it has no single coordinate")
        return self.kind in TURNING


def robot_joint(
    element: JointElement, label: str, child: JointEnd, parent: JointEnd, *, mimic: Mimic | None
) -> RobotJoint:
    """Joint between two ends, with the zero and the sign of the coordinate in the file.

    ``element`` is the joint in the file, ``label`` its name in connections.
    """
    axis, before = child.turned @ element.axis, parent.turned @ element.origin[:3, :3]
    second, between = before @ element.axis, before @ child.turned.T
    first_axis, other = _direction(axis), _direction(second)
    zero = 0.0
    if element.kind in TURNING:  # from the same transverse directions as the sensor of the angle
        first, last = unit("axis", first_axis), unit("second_axis", other)
        x, (cosine, sine) = between @ frame_about(first)[0], transported_frame(first, last)
        zero = math.atan2(float(x @ sine), float(x @ cosine))
    assert isinstance(child.port, str)
    return RobotJoint(
        element.name, label, element.kind, child.port, parent.port, first_axis, other, zero, element.limit, mimic
    )


def against(reference: PortName) -> str | None:
    """Port on which the reaction of a motor acts, that of the parent; None if the parent is the ground."""
    return reference if isinstance(reference, str) else None


def _direction(vector: Array) -> Direction:
    return tuple(np.asarray(vector, dtype=float).tolist())
