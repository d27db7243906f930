"""Inverse dynamics: the forces and torques at ports that make a mechanism follow a prescribed motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..joints.drive import drive
from ..joints.rows.connection import Connection
from ..joints.rows.vectors import GROUND
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import Pose, State
from ..mechanisms.model.time_table import Anchors, law_values
from ..mechanisms.poses.reactions import Reaction
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..results.solution import Solution
from ..systems.inputs import Input, Table
from .integrate import integrate
from .methods.method import MechanismMethod

Motion = Callable[[float], Any] | Connection


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class InverseDynamics:
    """Forces of a prescribed motion, from a run of the mechanism with drives instead of inputs.

    Attributes
    ----------
    run : Solution
        Motion of the mechanism. Its ledger has the work of each drive under the name of its port.
    forces : mapping
        By external port, force or torque at ``run.multiplier_times``, (k, d) [N] or (k, s) [N m]: inputs of the
        mechanism, of second order in the step.
    start : State
        Initial state of the motion, for the mechanism without drives.
    """

    run: Solution
    forces: Mapping[str, Array]
    start: State

    @property
    def inputs(self) -> dict[str, Table]:
        """Forces by port as functions of time for :func:`flexph.integrate`, linear between the middles of steps."""
        return {name: self._table(name, values) for name, values in self.forces.items()}

    @checked
    def reaction(
        self,
        joint: str,
        *,
        on: Literal["first", "second"] = "first",
        frame: Literal["world", "first", "second"] = "world",
    ) -> Reaction:
        """Force and torque of a joint during the motion, see :meth:`flexph.Solution.reaction`.

        Parameters
        ----------
        joint : str
            Name of a joint, or of a port that follows the motion.
        on : {"first", "second"}
            Body on which it acts.
        frame : {"world", "first", "second"}
            Axes of the result: of the world, or of the section at a port.

        Returns
        -------
        Reaction
            Force (k, d) [N] and torque (k, s) [N m].
        """
        return self.run.reaction(joint, on=on, frame=frame)

    def _table(self, name: str, values: Array) -> Table:
        """Table over the whole run of values (k, …) given at the middles of its k steps.

        At the start and the end of the run the values are extrapolated linearly; with one step they are constant.
        """
        middles, ends = self.run.multiplier_times, self.run.times[[0, -1]]
        if len(middles) == 1:
            return Table(ends, np.repeat(values, 2, axis=0), name)
        spans = np.diff(middles)[[0, -1]]
        first = values[0] + (ends[0] - middles[0]) / spans[0] * (values[1] - values[0])
        last = values[-1] + (ends[1] - middles[-1]) / spans[1] * (values[-1] - values[-2])
        return Table([ends[0], *middles, ends[1]], np.vstack([first, values, last]), name)


@checked
def inverse_dynamics(
    mechanism: Mechanism,
    motion: Mapping[str, Motion],
    start: Pose | State,
    times: Sequence[float] | Array,
    *,
    inputs: Mapping[str, Input] | None = None,
    elastic: Literal["undeformed", "quasi_static"] = "undeformed",
    joints: Literal["free", "at rest"] | None = None,
    method: MechanismMethod | None = None,
) -> InverseDynamics:
    """Forces and torques at external ports that make a mechanism follow a motion, and its joint forces.

    Each port is replaced by a drive; the multiplier λ of its constraint is the force or torque there. All other
    coordinates, including deformations, stay free, so that not every moving port needs a motion. The mechanism with
    drives is run by :func:`flexph.integrate`, with an energy balance in which the drives do the work. With the result
    ``found``, :func:`flexph.integrate` with ``inputs=found.inputs`` from ``found.start`` reproduces the motion of the
    mechanism without drives, with an error of second order in the step.

    Parameters
    ----------
    mechanism : Mechanism
        With an external port (:func:`flexph.torque`, :func:`flexph.force`) for each motion.
    motion : mapping
        By external port a function of time: for a torque in the plane the angle [rad] of its port, relative to the port
        it acts against; for a force the world position (d,) [m] of its port. Or a :func:`flexph.drive` of the same
        ports, as for torques in space, whose angle has an axis.
    start : Pose or State
        Initial pose, whose velocities follow from the motion, or a consistent initial state.
    times : array
        Ascending [s], one step from each to the next.
    inputs : mapping, optional
        At the other external ports, as for :func:`flexph.integrate`.
    elastic : {"undeformed", "quasi_static"}
        Deformation at a pose, see :meth:`flexph.Mechanism.consistent_state`.
    joints : {"free", "at rest"}, optional
        Velocities at a pose that the motion leaves free, see :meth:`flexph.Mechanism.consistent_state`.
    method : MechanismMethod, optional
        As for :func:`flexph.integrate`.

    Returns
    -------
    InverseDynamics
        Forces by port, the run, joint forces.

    Raises
    ------
    ValueError
        For ports that do not exist or carry distributed loads, drives of other ports, a start where the motion does
        not begin, and motions that contradict the joints or each other.

    Examples
    --------
    A bar of 2 kg that speeds up by 3 rad/s² about its end takes τ = (m l²/3) 3 rad/s²:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, inverse_dynamics, torque
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    >>> pose = arm.assemble({"arm": (0.0, 0.0, 0.0)})
    >>> found = inverse_dynamics(arm, {"motor": lambda t: 1.5 * t**2}, pose, np.linspace(0.0, 0.1, 11))
    >>> found.forces["motor"][:2].round(3)
    array([[2.],
           [2.]])
    >>> found.reaction("hinge arm.root–GROUND").force.shape
    (10, 2)
    """
    grid = check.array("times", times, (None,))
    if grid.size < 2:
        raise ValueError(f"times must be at least two, got {grid.size}")
    driven = driven_mechanism(mechanism, motion)
    if start.anchors.rows.size != _size(mechanism):
        raise ValueError(f"start must be one of this mechanism, got another {type(start).__name__.lower()}")
    first = driven_start(driven, start, time=float(grid[0]), elastic=elastic, joints=joints)
    run = integrate(driven, first, grid, inputs=inputs, method=method)
    kept, values = mechanism.layout.multipliers, _size(mechanism)
    anchors = Anchors(first.anchors.rows[:values], first.anchors.springs)
    begin = State(
        first.time, first.x, first.multipliers[:kept], anchors, joint_forces=first.joint_forces, bodies=first.bodies
    )
    forces = {name: _force(mechanism, run, name) for name in motion}
    return InverseDynamics(run=run, forces=read_only(forces), start=begin)


def driven_mechanism(mechanism: Mechanism, motion: Mapping[str, Motion]) -> Mechanism:
    """Mechanism in which a drive replaces each port of ``motion``, with the name of the port.

    The drives are the last of its connections.
    """
    if not motion:
        raise ValueError("motion must map at least one external port to a function of time, got none")
    ports = {c.name: c for c in mechanism.connections if c.input is not None}
    drives = [_drive(check.lookup("external port", name, ports), given) for name, given in motion.items()]
    others = [c for c in mechanism.connections if c.name not in motion]
    return replace(mechanism, connections=(*others, *(one.formed(mechanism.layout.dim) for one in drives)))


def _drive(port: Connection, given: Motion) -> Connection:
    """Drive that replaces an external port and makes it follow a motion.

    Raises ValueError for a port that has no motion, such as that of a distributed load, and for a drive of other
    ports.
    """
    subject, element = f"motion of {port.name!r}", port.input
    assert element is not None
    if element.kind in ("load", "face"):
        raise ValueError(f"{subject}: a distributed load has no motion; use the port of a torque or a force")
    if element.kind == "factor":
        raise ValueError(f"{subject}: a stiffness or a friction has no motion; use the port of a torque or a force")
    if element.kind == "speed":
        raise ValueError(f"{subject}: the speed of a surface has no motion; use the port of a torque or a force")
    if element.kind == "along":
        raise ValueError(
            f"{subject}: replace its motor by point_on_curve(..., place=function of time): the multiplier "
            f"'{port.name}: along' of a run is the force of a motor that moves it so"
        )
    ports = (element.port, GROUND if element.against is None else element.against)
    if isinstance(given, Connection):
        if given.kind != "drive" or given.ports != ports:
            raise ValueError(f"{subject} must be a drive of {ports[0]} against {ports[1]}, got {given.name}")
        return replace(given, label=port.name)
    moved = drive(*ports, angle=given) if element.kind == "torque" else drive(*ports, position=given)
    return replace(moved, label=port.name)


def driven_start(driven: Mechanism, start: Pose | State, **at_pose: Any) -> State:
    """Convert a pose or state of the original mechanism to a consistent state of the one with drives.

    ``at_pose`` are keywords of :meth:`Mechanism.consistent_state` for a pose. In a state the new multipliers are
    zero.
    """
    of_drives = np.full(_size(driven) - start.anchors.rows.size, np.nan)
    anchors = Anchors(np.append(start.anchors.rows, of_drives), start.anchors.springs)
    if isinstance(start, Pose):
        return driven.consistent_state(replace(start, anchors=anchors), **at_pose)
    multipliers = np.zeros(driven.layout.multipliers)
    multipliers[: start.multipliers.size] = start.multipliers
    return State(start.time, start.x, multipliers, anchors, joint_forces=start.joint_forces, bodies=start.bodies)


def _size(mechanism: Mechanism) -> int:
    """Number of values that the joints measured at the assembly and keep, such as distances and angles."""
    return max((part.stop for part in law_values(mechanism)), default=0)


def _force(mechanism: Mechanism, run: Solution, name: str) -> Array:
    """Force or torque of a drive on its port in the middle of each step, in the axes of the replaced input.

    Shape (k, d) [N] or (k, s) [N m] for k steps.
    """
    element = next(c.input for c in mechanism.connections if c.name == name)
    assert element is not None
    acting = run.reaction(name, frame="first" if element.follows else "world")
    return acting.torque if element.kind == "torque" else acting.force
