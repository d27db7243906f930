"""Rotors of motors at the joints of a robot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...bodies.body import Body
from ...joints.lower_pairs import revolute
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import GROUND
from ...joints.transmissions import Turning, coupled_joints
from ...numerics import checks as check
from .elements import free_names
from .joints import RobotJoint
from .masses import Masses
from .parts import rigid_body

AXIS = (0.0, 0.0, 1.0)
"""Axis of every rotor: z, in the axes of its body and in those of the ground."""


def rotors_of(
    joints: Mapping[str, RobotJoint], inertias: Mapping[str, float], taken: Mapping[str, Body]
) -> tuple[dict[str, Body], list[Connection]]:
    """Bodies and connections of motor rotors, for their inertias J by joint.

    ``taken`` are names of bodies in use. A rotor rotates about an axis fixed in the ground by the coordinate of its
    joint, by 1 rad per metre for a sliding joint. It has the energy ½Jq̇² and no other inertia, because it does not
    move with the links.
    """
    for name, inertia in inertias.items():
        joint = check.lookup("joint", name, joints, "the robot")
        check.positive(f"rotors[{name!r}]", inertia)
        joint.coupling  # noqa: B018  # refuses joints with several freedoms
    names = free_names((f"rotor {joints[name].label}" for name in inertias), taken, replaced="/.")
    bodies, connections = {}, []
    for name, inertia in inertias.items():
        joint = joints[name]
        rotor_name = names[f"rotor {joint.label}"]
        bodies[rotor_name] = rigid_body(Masses(inertia, np.zeros(3), inertia * np.eye(3)), {"axle": np.zeros(3)}, 0)
        bearing = revolute(f"{rotor_name}.axle", GROUND.at(0.0, 0.0, 0.0), axis=AXIS, name=f"bearing of {rotor_name}")
        geared = coupled_joints(
            Turning(f"{rotor_name}.axle", GROUND, (AXIS, AXIS)), joint.coupling, ratio=1.0, name=f"gear of {rotor_name}"
        )
        connections += [bearing, geared]
    return bodies, connections
