"""MJCF files of random robots, which tests skip without mujoco."""

import numpy as np

from flexph import connect
from flexph.exchange import read_mjcf
from flexph.robots import Kinematics

GRAVITY = (0.4, -1.1, -9.7)
OPTION = f'<option gravity="{GRAVITY[0]} {GRAVITY[1]} {GRAVITY[2]}"/><compiler angle="degree"/>'


def text(values):
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def body(rng, name, joints, inside=""):
    """Body with a random pose, inertia and joints at random places with random reference coordinates."""
    second = rng.normal(size=(3, 3))
    second = 0.01 * second @ second.T
    J = np.trace(second) * np.eye(3) - second
    moments = text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    lines = [f'<body name="{name}" pos="{text(rng.normal(scale=0.3, size=3))}" quat="{text(rng.normal(size=4))}">']
    for joint, kind, more in joints:
        place, axis = text(rng.normal(scale=0.1, size=3)), text(rng.normal(size=3))
        lines.append(
            f'<joint name="{joint}" type="{kind}" axis="{axis}" pos="{place}" ref="{rng.normal():.6g}" {more}/>'
        )
    inertial = f'<inertial pos="{text(rng.normal(scale=0.2, size=3))}" mass="{rng.uniform(0.5, 3.0):.17g}"'
    lines.append(f'{inertial} fullinertia="{moments}"/>{inside}</body>')
    return "".join(lines)


def written(path, world, rest=""):
    import mujoco

    path.write_text(f"<mujoco>{OPTION}<worldbody>{world}</worldbody>{rest}</mujoco>")
    return path, mujoco.MjModel.from_xml_path(str(path))


def arm_of(path):
    robot = read_mjcf(path)
    arm = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    return robot, arm, Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
