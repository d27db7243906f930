"""Rotors at the joints of robots, and actuators without a file."""

from dataclasses import replace

import numpy as np
import pytest

from flexph import connect, integrate
from flexph.exchange import read_urdf
from flexph.joints.transmissions import coupled_joints
from flexph.robots import Actuator, Kinematics
from flexph.robots.links.actuators import efforts_of
from flexph.sensors import joint_angle

LINK = """<link name="{0}"><inertial><origin xyz="{1}"/><mass value="0.8"/><inertia ixx="2e-3" iyy="2e-2" izz="2e-2"
ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}"/><axis xyz="{5}"/>
<limit lower="-9" upper="9" velocity="3" effort="20"/></joint>"""


@pytest.fixture
def robot(tmp_path):
    """A turning and a sliding link."""
    links = '<link name="base"/>' + LINK.format("arm", "0.2 0 0") + LINK.format("tool", "0 0 0.05")
    joints = JOINT.format("turn", "revolute", "base", "arm", "0 0 0", "0 1 0")
    joints += JOINT.format("slide", "prismatic", "arm", "tool", "0.4 0 0", "0.6 0 0.8")
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    return read_urdf(path)


def moved(robot, gravity=(0.0, 0.0, 0.0)):
    mechanism = connect(robot.bodies, robot.connections, gravity=gravity)
    return mechanism, mechanism.consistent_state(mechanism.assemble(robot.placed({"turn": 0.3, "slide": 0.1})))


def test_rotors_turn_by_the_coordinates_of_their_joints(robot):
    """Exactly, at any step; their energy is ½Jq̇² up to the second order in the step, as gears hold mean rates."""
    inertias = {"turn": 0.05, "slide": 0.4}
    mechanism, start = moved(robot.with_rotors(inertias), (0.0, 1.0, -9.81))
    apart = []
    for steps in (25, 50, 100):
        loaded = {"turn": lambda t: (0.0, 2.0 - t, 0.0)}
        run = integrate(mechanism, start, np.linspace(0.0, 0.5, steps + 1), inputs=loaded)
        assert np.abs(run.ledger.residual).max() < 1e-12 * run.ledger.scale
        defects = []
        for name, inertia in inertias.items():
            turned = run.measured(joint_angle(f"rotor {name}.axle", axis=(0.0, 0.0, 1.0)))
            moves = run.measured(robot.joints[name].coordinate)
            np.testing.assert_allclose(turned - turned[0], moves - moves[0], rtol=0.0, atol=1e-12)
            energy = 0.5 * inertia * run.measured(robot.joints[name].rate)[-1] ** 2
            defects.append(run.ledger.energy[f"kinetic rotor {name}"][-1] / energy - 1.0)
        apart.append(np.abs(defects).max())
    assert apart[0] < 0.05 and apart[0] / apart[1] > 3.0 and apart[1] / apart[2] > 3.0


def test_actuators_of_sliding_joints_act_with_their_reaction(robot):
    """A servo on both joints: the force has its reaction on the link before, and the command its range."""
    acting = {
        "lift": Actuator({"slide": 2.0}, gain=30.0, bias=(0.0, -30.0, -4.0), range=(-0.5, 0.5)),
        "both": Actuator({"turn": 0.5, "slide": -0.1}, gain=1.0, force=(-0.2, 0.2)),
    }
    driven = replace(robot, connections=(*robot.connections, *efforts_of(robot.joints, acting)), actuators=acting)
    mechanism, start = moved(driven)
    ends = []
    for command in (0.5, 7.0):
        feedback = driven.actuated({"lift": lambda t, u=command: u, "both": 0.1})
        run = integrate(mechanism, start, np.linspace(0.0, 0.2, 101), controllers={"actuators": feedback})
        assert np.abs(run.ledger.residual).max() < 1e-12 * run.ledger.scale
        ends.append(run.states[-1])
    np.testing.assert_array_equal(ends[0], ends[1])
    with pytest.raises(ValueError, match="has no actuators"):
        robot.actuated({})


def test_kinematics_of_a_robot_with_rotors(robot):
    """Rotors add J to the diagonal of the mass matrix; efforts are those of a run that inverse dynamics drives."""
    inertias, q, rates = {"turn": 0.05, "slide": 0.4}, (0.3, 0.1), (1.1, -0.4)
    both = []
    for own in (robot, robot.with_rotors(inertias)):
        mechanism = connect(own.bodies, own.connections, gravity=(0.0, 1.0, -9.81))
        both.append(Kinematics(mechanism, own.coordinates, mechanism.assemble(own.placed({"turn": 0.3}))))
    plain, geared = both
    np.testing.assert_allclose(geared.mass_matrix(q) - plain.mass_matrix(q), np.diag([0.05, 0.4]), atol=1e-12)
    moved = geared.efforts(q, rates, (2.0, 3.0)) - plain.efforts(q, rates, (2.0, 3.0))
    np.testing.assert_allclose(moved, (0.1, 1.2), atol=1e-12)
    np.testing.assert_allclose(
        geared.place("tool.origin", q).position, plain.place("tool.origin", q).position, atol=1e-12
    )


def test_gears_between_links_are_refused_by_kinematics(robot):
    geared = coupled_joints(robot.joints["turn"].coupling, robot.joints["slide"].coupling, ratio=2.0, name="geared")
    mechanism = connect(robot.bodies, [*robot.connections, geared])
    home = mechanism.assemble(robot.placed({"turn": 0.3}))
    with pytest.raises(ValueError, match="gears of rotors, and 'geared' constrains rates"):
        Kinematics(mechanism, {"turn": robot.coordinates["turn"]}, home)
