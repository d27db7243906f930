"""Actuators of robots: forces along joint coordinates, or weighted sums of these, which depend on commands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...joints.forces.load import force
from ...joints.rows.connection import Connection
from ...numerics import checks as check
from ...numerics.arrays import Array
from .elements import SLIDING, TURNING
from .joints import RobotJoint

Command = float | Callable[[float], float]
UNBOUNDED = -math.inf, math.inf


@dataclass(frozen=True, eq=False)
class Actuator:
    """Actuator of a robot, with the law of MuJoCo's actuators without activation:

        f = k u + b₀ + b₁ ℓ + b₂ ℓ̇,   ℓ = Σ γ_j q_j,   τ_j = γ_j f,

    for joints with the coordinates q_j and the efforts τ_j. The command u is limited to its range and the force f to
    its bounds. A motor has k = 1, a position servo b₁ = −k and b₂ = −k_v with a velocity gain k_v, a velocity servo
    b₂ = −k. An actuator of several joints acts on a fixed tendon of length ℓ.

    Attributes
    ----------
    gears : mapping
        Ratios γ by joint.
    gain : float
        k: force [N, N m] per unit of the command.
    bias : tuple of float
        b₀, b₁ and b₂.
    range : tuple of float
        Lower and upper end of the command.
    force : tuple of float
        Lower and upper bound of the force [N, N m].
    """

    gears: Mapping[str, float]
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    range: tuple[float, float] = UNBOUNDED
    force: tuple[float, float] = UNBOUNDED


def efforts_of(joints: Mapping[str, RobotJoint], actuators: Mapping[str, Actuator]) -> list[Connection]:
    """Connections that are external ports, through which actuators act on their joints.

    A rotating joint has one, a torque with its reaction on the parent; a sliding joint has a force at each of its ends
    that is not the ground.
    """
    connections: list[Connection] = []
    for name in _driven(actuators):
        joint = joints[name]
        if joint.kind in TURNING:
            connections.append(joint.effort())
            continue
        ports = zip((joint.port, joint.reference), _ports(joint), strict=False)
        connections += [force(str(port), axes="section", name=effort_name) for port, effort_name in ports]
    return connections


def _driven(actuators: Mapping[str, Actuator]) -> list[str]:
    """Names of the joints that actuators move."""
    return list(dict.fromkeys(name for actuator in actuators.values() for name in actuator.gears))


def _ports(joint: RobotJoint) -> list[str]:
    """Names of the external ports of an actuated joint."""
    effort = f"effort {joint.label}"
    return [effort, f"{effort} reaction"] if joint.kind in SLIDING and isinstance(joint.reference, str) else [effort]


def _directions(joint: RobotJoint) -> list[tuple[float, ...]]:
    """Input of each external port of a joint that exerts a unit effort on the joint."""
    return [tuple(joint.axis), tuple(-x for x in joint.second_axis)][: len(_ports(joint))]


@dataclass(frozen=True, eq=False)
class ActuatorLaw:
    """Function from time and readings to the inputs (m,) of the ports of all actuated joints.

    The readings are the coordinate and the rate of each joint, alternating. For a actuators and j joints, ``ratios``
    (a, j) are γ, ``laws`` (a, 8) have k, b₀, b₁, b₂, the range of the command and the bounds of the force, ``limits``
    (j,) are the largest efforts of joints, and ``inputs`` (m, j) the inputs at unit efforts.
    """

    commands: Sequence[Command]
    ratios: Array
    laws: Array
    limits: Array
    inputs: Array

    def __call__(self, time: float, readings: Array) -> Array:
        """Inputs (m,) at a time [s], for the readings (2 j,) of the coordinates and rates of the joints."""
        given = [command(time) if callable(command) else command for command in self.commands]
        k, b0, b1, b2, least, most, weakest, strongest = self.laws.T
        length, rate = self.ratios @ readings[0::2], self.ratios @ readings[1::2]
        pull = np.clip(k * np.clip(given, least, most) + b0 + b1 * length + b2 * rate, weakest, strongest)
        return np.asarray(self.inputs @ np.clip(self.ratios.T @ pull, -self.limits, self.limits))


def feedback_of(
    joints: Mapping[str, RobotJoint],
    actuators: Mapping[str, Actuator],
    commands: Mapping[str, Command],
    unread: Sequence[str] = (),
) -> tuple[ActuatorLaw, dict[str, Any], list[str]]:
    """Law of the actuators for given commands, its sensors by name, and names of the ports whose inputs it gives.

    A missing command is zero. Raises ValueError for an unknown actuator, for ``unread`` ones, and without actuators.
    """
    for name in unread if not actuators else [name for name in commands if name in unread]:
        raise ValueError(
            f"actuator {name!r} of the file has no counterpart (activation, a spatial tendon or another law), so "
            "that it was not read: give inputs to the ports of the robot, or drives and springs to its joints"
        )
    if not actuators:
        raise ValueError("the robot has no actuators: give inputs to its ports, or drives and springs to its joints")
    for name, command in commands.items():
        check.lookup("actuator", name, actuators, "the robot")
        if not callable(command):
            check.number(f"commands[{name!r}]", command)
    driven = [joints[name] for name in _driven(actuators)]
    ratios = np.array([[actuator.gears.get(joint.name, 0.0) for joint in driven] for actuator in actuators.values()])
    laws = np.array(
        [(actuator.gain, *actuator.bias, *actuator.range, *actuator.force) for actuator in actuators.values()]
    )
    limits = np.array([math.inf if joint.limit is None else joint.limit.effort for joint in driven])
    unit = [np.concatenate(_directions(joint)) for joint in driven]
    inputs, row = np.zeros((sum(map(len, unit)), len(driven))), 0
    for k, actuator in enumerate(unit):
        inputs[row : row + len(actuator), k] = actuator
        row += len(actuator)
    sensors: dict[str, Any] = {}
    for joint in driven:
        sensors |= {joint.name: joint.coordinate, f"{joint.name} rate": joint.rate}
    law = ActuatorLaw([commands.get(name, 0.0) for name in actuators], ratios, laws, limits, inputs)
    return law, sensors, [port for joint in driven for port in _ports(joint)]
