"""SDF files: the robots of URDF files again, frames and poses relative to others, closed loops, and errors."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flexph import connect, integrate, modes
from flexph.exchange import read_sdf
from flexph.methods import Exact
from flexph.robots import Kinematics, Link, denavit_hartenberg
from flexph.sensors import position

GRAVITY = (0.4, -1.1, -9.7)


def text(values):
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def pose(matrix, more=""):
    angles = Rotation.from_matrix(matrix[:3, :3]).as_euler("xyz")
    return f"<pose{more}>{text(matrix[:3, 3])} {text(angles)}</pose>"


def inertial(mass, centre, J):
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    inertia = "".join(f"<{name}>{value:.17g}</{name}>" for name, value in zip(names, entries, strict=True))
    return f"<inertial><pose>{text(centre)} 0 0 0</pose><mass>{mass:.17g}</mass><inertia>{inertia}</inertia></inertial>"


def written(path, content, version="1.9"):
    path.write_text(f'<sdf version="{version}"><model name="m">{content}</model></sdf>')
    return path


def frame(turn, shift):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn.as_matrix(), shift
    return matrix


def moments(rng):
    second = rng.normal(size=(3, 3))
    second = 0.01 * second @ second.T
    return np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("seed", range(4))
def test_a_table_written_as_a_file_is_the_same_robot(tmp_path, seed):
    """Denavit-Hartenberg's chain with its links written in random frames: efforts agree to round-off."""
    rng, rows, parts = np.random.default_rng(seed), {}, []
    at, parent = np.eye(4), "world"
    for k in range(4):
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        row = Link(a=rng.normal(), alpha=rng.normal(), d=rng.normal(), theta=rng.normal(), kind=kind,
                   mass=rng.uniform(0.5, 2.0), centre=rng.normal(scale=0.2, size=3), moments=moments(rng))  # fmt: skip
        rows[f"j{k}"] = row
        joint = at  # the axis z of the frame before
        turn_up = frame(Rotation.from_rotvec((0, 0, row.theta)), (0, 0, row.d))
        at = at @ turn_up @ frame(Rotation.from_rotvec((row.alpha, 0, 0)), (row.a, 0, 0))
        own = at @ frame(Rotation.random(random_state=seed + k), rng.normal(size=3))  # a frame of the file's own
        seen = np.linalg.inv(own) @ at
        J, centre = seen[:3, :3] @ row.moments @ seen[:3, :3].T, seen[:3, :3] @ row.centre + seen[:3, 3]
        parts.append(f'<link name="l{k}">{pose(own)}{inertial(row.mass, centre, J)}</link>')
        turned = frame(Rotation.random(random_state=7 * seed + k), np.zeros(3))  # the axis is not that of the frame
        axis = turned[:3, :3].T @ (0.0, 0.0, 1.0)
        parts.append(f'<joint name="j{k}" type="{kind}"><parent>{parent}</parent><child>l{k}</child>')
        placed = pose(joint @ turned, ' relative_to="__model__"')
        parts.append(f"{placed}<axis><xyz>{text(axis)}</xyz></axis></joint>")
        parent = f"l{k}"
    table, read = denavit_hartenberg(rows), read_sdf(written(tmp_path / "r.sdf", "".join(parts)))
    q, rates, accelerations = rng.uniform(-2.0, 2.0, (3, 4))
    both = []
    for robot in (table, read):
        arm = connect(robot.bodies, robot.connections, gravity=GRAVITY)
        kinematics = Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
        take = [kinematics.names.index(f"j{k}") for k in range(4)]
        own = np.empty((3, 4))
        own[:, take] = q, rates, accelerations
        both.append(kinematics.efforts(*own)[take])
    np.testing.assert_allclose(both[1], both[0], rtol=0.0, atol=1e-11 * np.abs(both[0]).max())


ROD = np.diag([1e-5, 3e-2, 3e-2])


def four_bar(kind="revolute", last="ball"):
    """Parallel four-bar of two hanging cranks of 0.4 m and a coupler of 0.6 m, closed by the last joint."""
    axis = "<axis><xyz>0 1 0</xyz></axis>"
    crank = inertial(1.0, (0, 0, -0.2), np.diag([3e-2, 3e-2, 1e-5]))
    return f"""<link name="left"><pose>0 0 1 0 0 0</pose>{crank}</link>
      <link name="right"><pose>0.6 0 1 0 0 0</pose>{crank}</link>
      <link name="bar"><pose relative_to="left">0 0 -0.4 0 0 0</pose>{inertial(2.0, (0.3, 0, 0), ROD)}</link>
      <frame name="pin" attached_to="bar"><pose>0.6 0 0 0 0 0</pose></frame>
      <joint name="a" type="{kind}"><parent>world</parent><child>left</child>{axis}</joint>
      <joint name="b" type="{kind}"><parent>world</parent><child>right</child>{axis}</joint>
      <joint name="c" type="{kind}"><parent>left</parent><child>bar</child>{axis}</joint>
      <joint name="d" type="{last}"><parent>right</parent><child>bar</child><pose relative_to="pin"/>{axis}</joint>"""


def test_a_parallel_four_bar_swings_with_its_closed_form(tmp_path):
    """ω² = g (2 m l/2 + M l)/(2 J + M l²) with J about the pivots; the loop stays closed in a large motion."""
    robot = read_sdf(written(tmp_path / "r.sdf", four_bar()))
    bars = connect(robot.bodies, robot.connections, gravity=(0.0, 0.0, -9.81))
    pose = bars.assemble(guess=robot.placed())
    pivot = 3e-2 + 1.0 * 0.2**2
    wanted = np.sqrt(9.81 * (2.0 * 0.2 + 2.0 * 0.4) / (2.0 * pivot + 2.0 * 0.4**2))
    rest = bars.equilibrium(pose, redundant="least_norm")
    assert modes(bars.linearize(rest), 1).frequencies[0] == pytest.approx(wanted, rel=1e-9)
    start = bars.consistent_state(bars.assemble(guess=robot.placed({"a": 0.8, "b": 0.8, "c": -0.8})))
    run = integrate(bars, start, np.linspace(0.0, 0.5, 251), method=Exact(redundant="least_norm"))
    left, right = (run.measured(position(robot.ports[name])) for name in ("d on right", "d on bar"))
    assert np.abs(left - right).max() < 1e-9 and run.ledger.largest_residual < 1e-11


def test_a_spring_a_damper_and_limits_are_read(tmp_path):
    axis = """<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort></limit>
      <dynamics><damping>0.3</damping><spring_reference>0.5</spring_reference><spring_stiffness>7</spring_stiffness>
      </dynamics></axis>"""
    link = f'<link name="l">{inertial(1.0, (0, 0, 0), 0.1 * np.eye(3))}</link>'
    joint = f'<joint name="j" type="revolute"><parent>world</parent><child>l</child>{axis}</joint>'
    robot = read_sdf(written(tmp_path / "r.sdf", link + joint))
    limit = robot.limits["j"]
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (-1.0, 2.0, 5.0, np.inf)
    wheel = connect(robot.bodies, robot.connections)
    rest = wheel.equilibrium(wheel.assemble(guess=robot.placed()))
    own = Kinematics(wheel, robot.coordinates, wheel.assemble(guess=robot.placed()))
    assert own.efforts([0.0], [1.0], [2.0])[0] == pytest.approx(0.1 * 2.0 + 0.3 * 1.0 - 7.0 * 0.5, rel=1e-12)
    assert wheel.position(rest, "l.origin") == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_a_free_model_floats_relative_to_its_pose_or_is_welded(tmp_path):
    content = (
        f'<link name="l"><pose degrees="true">1 2 3 0 0 90</pose>{inertial(1.0, (0, 0, 0), 0.1 * np.eye(3))}</link>'
    )
    robot = read_sdf(written(tmp_path / "r.sdf", content))
    place, turn = robot.placed({"l free": ((1.0, 0.0, 0.0), np.eye(3))})["l"]
    np.testing.assert_allclose(place, (1.0, 3.0, 3.0), atol=1e-15)
    np.testing.assert_allclose(turn.apply((1.0, 0.0, 0.0)), (0.0, 1.0, 0.0), atol=1e-15)
    held = read_sdf(tmp_path / "r.sdf", fixed=True)
    assert [type(one).__name__ for one in held.connections] == ["Connection"] and not held.coordinates
    np.testing.assert_allclose(held.placed()["l"][0], (1.0, 2.0, 3.0), atol=1e-15)


LINK = f'<link name="l">{inertial(1.0, (0, 0, 0), np.eye(3))}</link>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINK + LINK, "two links named 'l'"),
        ('<include><uri>model://x</uri></include>' + LINK, "must not have the element include"),
        (LINK + '<joint name="j" type="screw"><parent>world</parent><child>l</child></joint>', "'j' must be one of"),
        (LINK + '<joint name="j" type="revolute"><parent>world</parent><child>l</child></joint>', "must have an axis"),
        (LINK + '<joint name="j" type="fixed"><parent>x</parent><child>l</child></joint>', "names 'x', which is"),
        (LINK + '<joint name="j" type="fixed"><child>l</child></joint>', "joint 'j' must have a parent"),
        (LINK + '<frame name="f"><pose relative_to="f"/></frame><joint name="j" type="fixed"><parent>world</parent>'
         '<child>l</child><pose relative_to="f"/></joint>', "relative to itself"),
        ('<link name="l"><pose>1 2 3</pose></link>', "pose of 'l' must be 6 numbers"),
        ('<link name="l"><inertial><mass>x</mass></inertial></link>', "mass of link 'l' must be a number"),
        ("", "must have a link"),
        ('<link name="l"><inertial auto="true"/></link>', "inertial of link 'l' must state its mass and inertia"),
        ('<pose relative_to="f">1 0 0 0 0 0</pose>' + LINK, "pose of the model must be relative to the world"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_by_name(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_sdf(written(tmp_path / "r.sdf", content))


def test_other_formats_versions_and_entities_are_refused(tmp_path):
    path = written(tmp_path / "r.sdf", LINK, version="1.4")
    with pytest.raises(ValueError, match=r"must be of SDFormat 1\.7 or later, got '1\.4'"):
        read_sdf(path)
    path.write_text("<robot/>")
    with pytest.raises(ValueError, match="its first element must be sdf"):
        read_sdf(path)
    path.write_text('<!DOCTYPE sdf [<!ENTITY a "b">]><sdf version="1.9"/>')
    with pytest.raises(ValueError, match="document type"):
        read_sdf(path)
    with pytest.warns(UserWarning, match="link 'l' has no inertial"):
        assert read_sdf(written(path, '<link name="l"/>')).bodies["l"].mass == 1.0


def test_a_link_cannot_be_joined_with_itself(tmp_path):
    content = LINK + '<joint name="j" type="ball"><parent>l</parent><child>l</child></joint>'
    with pytest.raises(ValueError, match="joint 'j' must join two links, got 'l' twice"):
        read_sdf(written(tmp_path / "r.sdf", content))


def two_links(joint, more=""):
    """Upper link at the origin, lower one 1 m above it, each led to by a joint about z."""
    axis = "<axis><xyz>0 0 1</xyz></axis>"
    return f"""<link name="a">{INERTIAL}</link><link name="b"><pose>0 0 1 0 0 0</pose>{INERTIAL}</link>{more}
      <joint name="up" type="revolute"><parent>world</parent><child>a</child>{axis}</joint>{joint}"""


INERTIAL = inertial(1.0, (0, 0, 0), 0.1 * np.eye(3))


def test_a_joint_lies_at_the_frame_that_it_names_as_its_child(tmp_path):
    """As in buildPoseRelativeToGraph of libsdformat: the pose of a joint is relative to its child frame."""
    pin = '<frame name="pin" attached_to="b"><pose>0.5 0 0 0 0 0</pose></frame>'
    joint = '<joint name="j" type="revolute"><parent>a</parent><child>pin</child><axis/></joint>'
    robot = read_sdf(written(tmp_path / "r.sdf", two_links(joint, pin)))
    np.testing.assert_allclose(robot.placed({"j": np.pi})["b"][0], (1.0, 0.0, 1.0), atol=1e-15)


def test_a_joint_follows_another_one_relative_to_a_reference(tmp_path):
    law = "<multiplier>-2</multiplier><offset>0.5</offset><reference>0.1</reference>"
    mimic = f'<axis><xyz>0 0 1</xyz><mimic joint="up">{law}</mimic></axis>'
    joint = f'<joint name="j" type="revolute"><parent>a</parent><child>b</child>{mimic}</joint>'
    robot = read_sdf(written(tmp_path / "r.sdf", two_links(joint)))
    pair = connect(robot.bodies, robot.connections)
    state = pair.consistent_state(pair.assemble(guess=robot.placed({"up": 0.3})))
    angle = robot.joints["j"].coordinate
    run = integrate(pair, state, [0.0, 0.01])
    assert run.measured(angle)[0] == pytest.approx(-2.0 * (0.3 - 0.1) + 0.5, abs=1e-12)
    with pytest.raises(ValueError, match="mimic of joint 'j' must name a joint"):
        read_sdf(written(tmp_path / "r.sdf", two_links(joint.replace(' joint="up"', ""))))


def test_a_static_model_is_welded_and_a_model_is_placed_by_its_frame(tmp_path):
    static = read_sdf(written(tmp_path / "r.sdf", "<static>true</static>" + LINK))
    assert not static.coordinates and len(static.connections) == 1
    frame = '<frame name="f"><pose>1 0 0 0 0 0</pose></frame>'
    file = tmp_path / "r.sdf"
    placed = f'<model name="m" placement_frame="f"><pose degrees="1">0 0 2 0 0 90</pose>{frame}{LINK}</model>'
    file.write_text(f'<sdf version="1.9">{placed}</sdf>')
    np.testing.assert_allclose(read_sdf(file).placed()["l"][0], (0.0, -1.0, 2.0), atol=1e-15)


def test_no_joint_is_lost(tmp_path):
    joint = '<joint name="l free" type="revolute"><parent>l</parent><child>b</child><axis/></joint>'
    robot = read_sdf(written(tmp_path / "r.sdf", f'{LINK}<link name="b">{INERTIAL}</link>{joint}'))
    assert set(robot.joints) == {"l free", "l free_"}
    file, outside = tmp_path / "w.sdf", '<joint name="j" type="fixed"><parent>world</parent><child>m::l</child></joint>'
    file.write_text(f'<sdf version="1.11"><world name="w">{outside}<model name="m">{LINK}</model></world></sdf>')
    with pytest.raises(ValueError, match="has a joint between models"):
        read_sdf(file)
    file.write_text(file.read_text().replace(outside, "<include><uri>model://sun</uri></include>"))
    with pytest.warns(UserWarning, match="models that the world includes are left out"):
        read_sdf(file)
    crossed = "<axis><limit><lower>1</lower><upper>-1</upper></limit></axis>"
    joint = f'<joint name="j" type="revolute"><parent>world</parent><child>l</child>{crossed}</joint>'
    with pytest.warns(UserWarning, match="limits of joints must have lower <= upper"):
        read_sdf(written(file, LINK + joint))
