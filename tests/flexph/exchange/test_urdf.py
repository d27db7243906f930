"""Robots of URDF files beside the same mechanisms built by hand."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, integrate, revolute, torque
from flexph.exchange import read_urdf

LINK = """<link name="{name}"><inertial><origin xyz="0.25 0 0" rpy="0 0 0.3"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>{more}</joint>"""
LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.4"/>'


def robot_file(path, *parts):
    path.write_text(f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>')
    return path


def arm_file(path, **more):
    common = {"kind": "revolute", "turn": "0 0 0", "more": "", "place": "0.5 0 0", "axis": "0 1 0"}
    joints = [
        {"name": "shoulder", "parent": "base", "child": "upper", "place": "0 0 1", "turn": "0 0 0.5", "more": LIMIT},
        {"name": "elbow", "kind": "continuous", "parent": "upper", "child": "fore", "turn": "0.2 0 0"},
        {"name": "tool", "kind": "fixed", "parent": "fore", "child": "flange", "axis": "0 0 0"},
    ]
    links = [LINK.format(name="upper", mass=2.0), LINK.format(name="fore", mass=1.0), '<link name="flange"/>']
    return robot_file(path, *links, *(JOINT.format(**common | joint | more.get(joint["name"], {})) for joint in joints))


def fall(mechanism, placed):
    start = mechanism.consistent_state(mechanism.assemble(placed))
    inputs = {"elbow": (0.5, -0.2, 0.1)}
    return integrate(mechanism, start, np.linspace(0.0, 0.1, 6), inputs=inputs)


def test_an_arm_moves_as_the_one_that_is_built_by_hand(tmp_path):
    robot = read_urdf(arm_file(tmp_path / "arm.urdf"))
    assert list(robot.bodies) == ["upper", "fore"]
    assert robot.limits["shoulder"] == (-1.0, 2.0, 4.0, 30.0)
    mechanism = connect(robot.bodies, [c for c in robot.connections if "damping" not in c.name], gravity=(0, 0, -9.81))
    run = fall(mechanism, robot.placed({"shoulder": 0.3, "elbow": -0.4}))
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    J = turn @ np.array([[0.01, 0.001, 0.0], [0.001, 0.2, 0.0], [0.0, 0.0, 0.2]]) @ turn.T
    ports = {"origin": (0, 0, 0), "elbow": (0.5, 0, 0)}
    masses = {"upper": 2.0, "fore": 1.0}
    bodies = {name: rigid.body(m, inertia=J, ports=ports, centre=(0.25, 0, 0)) for name, m in masses.items()}
    yaw = (-np.sin(0.5), np.cos(0.5), 0.0)
    joints = [
        revolute("upper.origin", GROUND.at(0.0, 0.0, 1.0), axis=(0, 1, 0), second_axis=yaw),
        revolute("fore.origin", "upper.elbow", axis=(0, 1, 0), second_axis=(0.0, np.cos(0.2), np.sin(0.2))),
        torque("fore.origin", against="upper.elbow", name="elbow"),
    ]
    hand = fall(connect(bodies, joints, gravity=(0, 0, -9.81)), robot.placed({"shoulder": 0.3, "elbow": -0.4}))
    np.testing.assert_allclose(run.states, hand.states, atol=1e-12)
    assert run.ledger.largest_residual < 1e-12


def test_links_are_flexible_on_request(tmp_path):
    metal, section = fem.Material(young=7e10, density=2700.0, poisson=0.3), fem.Section(width=0.03, height=0.02)
    beam = lambda length: fem.beam(length, metal, section, elements=1, dim=3)  # noqa: E731
    robot = read_urdf(arm_file(tmp_path / "arm.urdf"), flexible={"upper": beam})
    assert robot.bodies["upper"].size > 0
    mechanism = connect(robot.bodies, robot.connections, gravity=(0, 0, -9.81))
    run = fall(mechanism, robot.placed({"elbow": 0.2}))
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.dissipation["damping shoulder"].sum() > 0.0
    np.testing.assert_allclose(run.position("fore.origin")[0], [0.5 * np.cos(0.5), 0.5 * np.sin(0.5), 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("more", "flexible", "told"),
    [
        ({"elbow": {"kind": "ball"}}, {}, "joint 'elbow' must be one of"),
        ({"elbow": {"axis": "0 0 0"}}, {}, "joint 'elbow' must have an axis"),
        ({}, {"fore": fem.beam}, "'fore' has 0"),
        ({}, {"foot": fem.beam}, "no link 'foot'"),
    ],
)
def test_what_is_not_read_is_named(tmp_path, more, flexible, told):
    with pytest.raises(ValueError, match=told):
        read_urdf(arm_file(tmp_path / "arm.urdf", **more), flexible=flexible)


def lift_file(path, link, **more):
    common = {"name": "lift", "parent": "base", "child": "upper", "place": "0 0 0", "turn": "0 0 0", "axis": "0 0 1"}
    more["more"] = more.get("more", "") + '<limit lower="-9" upper="9" effort="30" velocity="4"/>'
    return robot_file(path, link, JOINT.format(**common | {"kind": "prismatic"} | more))


def test_links_of_mass_without_inertia_are_named(tmp_path):
    link = '<link name="upper"><inertial><mass value="2"/></inertial></link>'
    with pytest.raises(ValueError, match="link 'upper' has mass but no inertia"):
        read_urdf(lift_file(tmp_path / "lift.urdf", link))


def test_joints_that_slide_are_damped(tmp_path):
    m, c, g, h, steps = 2.0, 3.0, 9.81, 0.01, 20
    link, damping = LINK.format(name="upper", mass=m), f'<dynamics damping="{c}"/>'
    robot = read_urdf(lift_file(tmp_path / "lift.urdf", link, more=damping))
    mechanism = connect(robot.bodies, robot.connections, gravity=(0, 0, -g))
    start = mechanism.consistent_state(mechanism.assemble(robot.placed()))
    run = integrate(mechanism, start, h * np.arange(steps + 1))
    kept = (2.0 * m - c * h) / (2.0 * m + c * h)  # of the speed over a step, by the midpoint rule
    np.testing.assert_allclose(
        run.velocity("upper.origin")[-1], [0.0, 0.0, -m * g / c * (1.0 - kept**steps)], atol=1e-12
    )


def test_dry_friction_is_told_or_taken(tmp_path):
    """Of 5 N on 2 kg: 4 N of pull is held but for creeping, at tanh(s/v) = 4/5."""
    link, dry = LINK.format(name="upper", mass=2.0), '<dynamics damping="0" friction="5"/>'
    path = lift_file(tmp_path / "lift.urdf", link, more=dry)
    with pytest.warns(UserWarning, match=r"dry friction .* ignored, give friction_speed=.*: joints lift \(5 N\)"):
        assert connect(read_urdf(path).bodies, read_urdf(path).connections, gravity=(0, 0, -2.0)).bodies
    robot = read_urdf(path, friction_speed=1e-3)
    mechanism = connect(robot.bodies, robot.connections, gravity=(0, 0, -2.0))
    start = mechanism.consistent_state(mechanism.assemble(robot.placed()))
    run = integrate(mechanism, start, 1e-3 * np.arange(21))
    assert run.velocity("upper.origin")[-1, 2] == pytest.approx(-1e-3 * np.arctanh(0.8), abs=1e-7)


def test_files_that_are_none_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_urdf(tmp_path / "no.urdf")
    (tmp_path / "bad.urdf").write_text("<robot")
    with pytest.raises(ValueError, match="is no URDF file"):
        read_urdf(tmp_path / "bad.urdf")
