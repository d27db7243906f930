"""Joints of robots between ports, whose zero and sign are those of the file."""

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
from ...joints.rows.directions import Direction, frame_about, transported_frame, unit
from ...joints.rows.vectors import PortName
from ...joints.transmissions.coupled_joints import Sliding, Turning
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...sensors.quantities import Quantity, joint_angle, offset, rate_of
from .elements import SLIDING, TURNING, JointElement, Limit, Mimic

FULL_TURN = 2.0 * math.pi


class End(NamedTuple):
    """A port or place of the ground, and the rotation (3, 3) from the link there to the section."""

    port: PortName
    turned: Array


@dataclass(frozen=True, eq=False)
class RobotJoint:
    """A joint of a robot: its ports and axes, and sensors, stops, springs and drives that count as the file does.

    Attributes
    ----------
    name : str
        Its name in the file.
    label : str
        The name of its motor, and in those of its elements: the same without ``/``.
    kind : str
        ``revolute``, ``continuous``, ``prismatic``, ``planar`` or ``floating``.
    port, reference : str, str or Ground
        Where it holds the child and the parent.
    axis, second_axis : tuple
        Its axis in the sections there, of the ground in world axes.
    zero : float
        The angle [rad] by these axes at which the joint is at zero in the file, of those that turn.
    limit : Limit, optional
        Lower and upper end [rad, m], speed [rad/s, m/s] and effort [N m, N] of the file; nothing imposes them.
    mimic : Mimic, optional
        The joint that it follows, multiplier and offset; chains are resolved.
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
        """Sensor of its angle [rad] or displacement [m]; full turns are counted within a run."""
        if self._turns():
            return joint_angle(self.port, self.reference, **self._about, zero=self.zero)
        return offset(self.port, self.reference, self.second_axis)

    @property
    def rate(self) -> Quantity:
        """Sensor of its rate [rad/s, m/s]."""
        return rate_of(self.coordinate)

    @checked
    def stop(self, law: Any, *, name: str | None = None) -> Connection:
        """Stops at the limits of the file, by the law of a contact, see :func:`flexph.contacts.stop`.

        Parameters
        ----------
        law : Hertz, KelvinVoigt or Rigid
            What holds at the stops.
        name : str, optional
            Its name, ``stop JOINT`` by default.

        Returns
        -------
        Connection
            The element, for :func:`flexph.connect`.

        Raises
        ------
        ValueError
            For joints without limits, and for angles whose limits are a turn or more apart or in the wrong order.
        """
        turns, given = self._turns(), self.limit
        both = () if given is None else (("lower", given.lower), ("upper", given.upper))
        ends: dict[str, Any] = {name: end for name, end in both if math.isfinite(end)}
        if not ends:
            raise ValueError(f"joint {self.name!r} has no limits in the file")
        own: dict[str, Any] = {"along_axis": self.second_axis}
        if turns:
            whole = FULL_TURN * round(sum(ends.values()) / len(ends) / FULL_TURN)
            ends, own = {k: v - whole for k, v in ends.items()}, {**self._about, "zero": self.zero}
        try:
            return stop(self.port, self.reference, law, **ends, **own, name=name or f"stop {self.label}")
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
        """A spring and damper: effort ``k(q − q₀) + c(q̇ − q̇₀)`` against the motion.

        Parameters
        ----------
        stiffness, damping : float
            k [N m/rad, N/m] and c [N m s/rad, N s/m].
        rest : float or callable
            q₀ [rad, m] as the file counts, or a function of time: the law of a position controller.
        name : str, optional
            Its name, ``spring JOINT`` by default.

        Returns
        -------
        Connection
            The element, for :func:`flexph.connect`.
        """
        given: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "name": name or f"spring {self.label}"}
        if self._turns():
            return torsion_spring(self.port, self.reference, angle=rest, zero=self.zero, **self._about, **given)
        return spring_damper(self.port, self.reference, length=rest, direction=self.second_axis, **given)

    @checked
    def drive(self, motion: Callable[[float], float], *, name: str | None = None) -> Connection:
        """A motion that is prescribed, see :func:`flexph.drive`.

        Parameters
        ----------
        motion : callable
            q [rad, m] as the file counts, a function of time.
        name : str, optional
            Its name, ``drive JOINT`` by default.

        Returns
        -------
        Connection
            The element, for :func:`flexph.connect`.
        """
        label = name or f"drive {self.label}"
        if self._turns():
            return drive(self.port, self.reference, angle=motion, **self._about, zero=self.zero, name=label)
        return drive(self.port, self.reference, displacement=motion, direction=self.second_axis, name=label)

    @checked
    def effort(self, *, name: str | None = None) -> Connection:
        """A motor in the axes of the child: the torque τ of the file is the input ``τ * np.array(joint.axis)``.

        Parameters
        ----------
        name : str, optional
            Its name, ``effort JOINT`` by default.

        Returns
        -------
        Connection
            The external port, for :func:`flexph.connect`.

        Raises
        ------
        ValueError
            For joints that do not turn.
        """
        if not self._turns():
            raise ValueError(f"joint {self.name!r} is {self.kind}: a motor needs one that turns")
        return torque(self.port, against=against(self.reference), axes="section", name=name or f"effort {self.label}")

    @property
    def coupling(self) -> Turning | Sliding:
        """Its coordinate, for what couples joints."""
        if self._turns():
            return Turning(self.port, self.reference, (self.axis, self.second_axis))
        return Sliding(self.port, self.reference, self.second_axis)

    @property
    def _about(self) -> dict[str, Any]:
        return {"axis": self.axis, "second_axis": self.second_axis}

    def _turns(self) -> bool:
        """Whether it turns, or slides; raises ValueError for joints of several freedoms."""
        if self.kind not in (*TURNING, *SLIDING):
            raise ValueError(f"joint {self.name!r} is {self.kind}: it has no coordinate of its own")
        return self.kind in TURNING


def robot_joint(element: JointElement, label: str, child: End, parent: End, *, mimic: Mimic | None) -> RobotJoint:
    """A joint between two ends."""
    axis, before = child.turned @ element.axis, parent.turned @ element.origin[:3, :3]
    second, between = before @ element.axis, before @ child.turned.T
    own, other = _direction(axis), _direction(second)
    zero = 0.0
    if element.kind in TURNING:  # from the directions that sensors make of these axes
        first, last = unit("axis", own), unit("second_axis", other)
        x, (cosine, sine) = between @ frame_about(first)[0], transported_frame(first, last)
        zero = math.atan2(float(x @ sine), float(x @ cosine))
    assert isinstance(child.port, str)
    return RobotJoint(
        element.name, label, element.kind, child.port, parent.port, own, other, zero, element.limit, mimic
    )


def against(reference: PortName) -> str | None:
    """The port on which a motor acts with the opposite sign, none of the ground."""
    return reference if isinstance(reference, str) else None


def _direction(vector: Array) -> Direction:
    return tuple(np.asarray(vector, dtype=float).tolist())
