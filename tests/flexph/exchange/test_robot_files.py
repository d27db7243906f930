"""Robot files that lack something, bear odd names or are wrong: read, or refused by the name of link or joint."""

import pickle
import re
import warnings

import numpy as np
import pytest
from robot_files import file_of, joint, link, moving, solid

from flexph import connect, integrate
from flexph.exchange import read_urdf

GRAVITY = (0.3, -0.8, -9.5)


BEYOND = link("arm", 1.0, (0.2, 0, 0), J=(1e-3, 1e-2, 1.5e-2))


def test_moments_that_no_body_has_are_told_and_repaired(tmp_path):
    """J3 = 1.5e-2 beside 1e-3 and 1e-2: the second moment that is −2e-3 becomes 0, J1 and J2 grow by 2e-3."""
    path = file_of(tmp_path / "r.urdf", link("base"), BEYOND, joint("j", "revolute", "base", "arm"))
    with pytest.warns(UserWarning, match=r"J1 \+ J2 >= J3.*: links arm \(0\.15\); taken as they are"):
        robot = read_urdf(path)
    np.testing.assert_allclose(robot.bodies["arm"].moments, np.diag([1e-3, 1e-2, 1.5e-2]), atol=1e-17)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repaired = read_urdf(path, inertia="repair").bodies["arm"].moments
    np.testing.assert_allclose(repaired, np.diag([3e-3, 1.2e-2, 1.5e-2]), atol=1e-17)
    with pytest.raises(ValueError, match=r"must have J1 \+ J2 >= J3.*arm"):
        read_urdf(path, inertia="refuse")


def test_moments_of_round_off_and_negative_ones(tmp_path):
    """Digits of zero are a point mass; a negative moment of a link that is fixed to another counts in their sum."""
    arm = link("arm", 1.0, (0.2, 0, 0), J=(1e-2, 1e-2, 1e-2))
    fixed = joint("f", "fixed", "arm", "part", (0.1, 0, 0))
    digits = link("part", 1.3, (0.2, 0, 0), products=(0, 2.4e-35, 0))
    negative = link("part", 1e-3, J=(2.4e-5, 2.8e-5, 3.8e-5), products=(6.1e-5, 0, 0))
    turns = joint("j", "revolute", "base", "arm", axis=(0, 1, 0))
    body = read_urdf(file_of(tmp_path / "r.urdf", link("base"), arm, turns, digits, fixed)).bodies["arm"]
    apart = 1.3 / 2.3 * 0.1**2  # reduced mass times the square of the distance of both centres
    np.testing.assert_allclose(body.moments, np.diag([1e-2, 1e-2 + apart, 1e-2 + apart]), atol=1e-15)
    path = file_of(tmp_path / "r.urdf", link("base"), arm, turns, negative, fixed)
    with pytest.warns(UserWarning, match="J1 .* J3.*links part"):
        assert list(read_urdf(path).bodies) == ["arm"]
    alone = file_of(tmp_path / "r.urdf", link("base"), negative, joint("j", "revolute", "base", "part"))
    with pytest.warns(UserWarning, match="links part"), pytest.raises(ValueError, match="link 'part' must have no neg"):
        read_urdf(alone)
    assert np.linalg.eigvalsh(read_urdf(alone, inertia="repair").bodies["part"].moments)[0] > 0.0


def test_mimics_of_and_by_fixed_joints(tmp_path):
    """What is fixed stays, and what follows it stays at its offset."""
    rng, law = np.random.default_rng(2), '<mimic joint="lead" multiplier="2" offset="0.3"/>'
    parts = [link("base"), solid(rng, "palm"), moving(rng, "wrist", "revolute", "base", "palm")]
    parts += [solid(rng, "one"), moving(rng, "lead", "fixed", "palm", "one")]
    parts += [solid(rng, "two"), moving(rng, "follow", "revolute", "palm", "two", law)]
    parts += [solid(rng, "three"), moving(rng, "still", "fixed", "palm", "three", law)]
    path = file_of(tmp_path / "r.urdf", *parts)
    with pytest.warns(UserWarning, match=r"held in place: follow at 0\.3 \(lead is fixed\)"):
        robot = read_urdf(path)
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(robot.placed({"wrist": 0.3})))
    run = integrate(mechanism, start, [0.0, 0.05, 0.1])
    np.testing.assert_allclose(run.measured(robot.joints["follow"].coordinate), 0.3, atol=1e-12)
    assert abs(run.measured(robot.joints["wrist"].coordinate)[-1] - 0.3) > 1e-3


DEAD = [link("base"), link("arm", 1.0, (0.2, 0, 0), J=(1e-2, 1e-2, 1e-2)), link("palm"), link("tip"), link("nail")]
DEAD += [joint("j", "revolute", "base", "arm"), joint("f", "fixed", "arm", "palm", (0.5, 0, 0))]
DEAD += [joint("k", "revolute", "palm", "tip"), joint("n", "prismatic", "tip", "nail")]


def test_names_that_are_not_handed_out_are_told_with_the_reason(tmp_path):
    """Joints that move nothing, fixed ones, links that belong to others: in the mappings, their copies, and poses."""
    robot = read_urdf(file_of(tmp_path / "r.urdf", *DEAD))
    lost = "link '{}' and all that hangs at it have neither mass nor inertia"
    told = {
        ("joints", "k"): f"no 'k' in robot.joints: it is left out, since {lost.format('tip')}; there are 'j'",
        ("joints", "n"): f"no 'n' in robot.joints: it is left out, since {lost.format('nail')}",
        ("joints", "f"): "no 'f' in robot.joints: it is fixed; there are 'j'",
        ("joints", "x"): "no 'x' in robot.joints: there are 'j'",
        ("ports", "tip"): f"no 'tip' in robot.ports: {lost.format('tip')}; there are 'base', 'arm', 'palm'",
        ("bodies", "tip"): f"no 'tip' in robot.bodies: {lost.format('tip')}; there are 'arm'",
        ("bodies", "palm"): "the link is part of body 'arm', and robot.ports has its origin; there are 'arm'",
        ("bodies", "base"): "the link is part of the ground, and robot.ports has its origin",
        ("limits", "f"): "no 'f' in robot.limits: the file gives it none; there are 'j', 'k', 'n'",
    }
    for (mapping, name), words in told.items():
        for values in (getattr(robot, mapping), pickle.loads(pickle.dumps(getattr(robot, mapping)))):
            with pytest.raises(KeyError, match=words):
                values[name]
            assert name not in values and values.get(name) is None
    for name, child in (("k", "tip"), ("n", "nail")):
        with pytest.raises(ValueError, match=f"joint '{name}' moves no body: .*{lost.format(child)}; omit it"):
            robot.placed({"j": 0.1, name: 0.1})
    assert list(robot.placed({"j": 0.1})) == ["arm"]


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
def test_limits_that_are_missing_are_told(tmp_path, kind):
    """The format asks for <limit> of joints that turn or slide within a range; with one end there is one."""
    rest = 'effort="1" velocity="1"'
    for limit, told in (("", True), (f"<limit {rest}/>", True), (f'<limit lower="-1" {rest}/>', False)):
        bare = joint("j", kind, "base", "arm", more="<limit/>").replace("<limit/>", limit)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            read_urdf(file_of(tmp_path / "r.urdf", *GOOD[:2], bare))
        said = [str(one.message) for one in warned]
        assert len(said) == (told and kind != "continuous")
        assert all(re.search("must have a <limit> with lower and upper.*unlimited: joints j", one) for one in said)


def test_mimics_that_do_not_move_are_told(tmp_path):
    still = joint("k", "revolute", "base", "leg", more='<mimic joint="j" multiplier="0" offset="0.25"/>')
    path = file_of(tmp_path / "r.urdf", *GOOD, link("leg", 1.0, J=(1e-2,) * 3), still)
    with pytest.warns(UserWarning, match=r"held in place: k at 0\.25 \(the multiplier is 0\)"):
        robot = read_urdf(path)
    np.testing.assert_allclose(robot.placed()["leg"][1].as_rotvec(), [0.0, 0.0, 0.25], atol=1e-15)


def test_names_of_any_letters(tmp_path):
    """Slashes and dots, names of ports and parts of states, and one name for a link and its joint."""
    rng = np.random.default_rng(1)
    names = ["leg/j", "leg_j", "origin", "velocity", "a.b", "damping leg_j"]
    parts, parent = [link("base")], "base"
    for name in names:
        parts += [solid(rng, name), moving(rng, name, "revolute", parent, name, '<dynamics damping="0.0"/>')]
        parent = name
    parts += [link("näme"), joint("näme", "fixed", parent, "näme")]
    path = file_of(tmp_path / "r.urdf", *parts, name="")
    robot = read_urdf(path)
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(robot.placed(dict.fromkeys(names, 0.1))))
    run = integrate(mechanism, start, [0.0, 1e-3], inputs={"leg_j": (0.1, 0.0, 0.0)})
    for own in robot.joints.values():
        assert run.measured(own.coordinate)[0] == pytest.approx(0.1, abs=1e-13)
    assert mechanism.position(start, robot.ports["näme"]).shape == (3,)
    assert list(robot.joints) == names
    assert list(robot.bodies)[:2] == ["leg_j_2", "leg_j"]
    assert robot.ports["leg/j"] == "leg_j_2.origin"


def test_shapes_and_extensions_are_not_looked_at(tmp_path):
    mesh = '<visual><geometry><mesh filename="package://no/mesh.stl"/></geometry></visual>'
    shapes = f'<collision><geometry><capsule radius="1"/></geometry></collision>{mesh}'
    arm = BEYOND.replace("0.015", "0.01").replace("<inertial>", f"{shapes}<inertial>")
    camera = '<gazebo reference="arm"><sensor:camera name="rgb"/></gazebo>'  # without its namespace
    extra = f'<transmission name="t"><joint name="j"/></transmission>{camera}'
    safety = '<safety_controller k_velocity="1"/><calibration rising="0"/>'
    parts = [link("base"), arm, joint("j", "revolute", "base", "arm", more=safety), extra]
    path = file_of(tmp_path / "r.urdf", *parts)
    path.write_text(f'\n<?xml version="1.0"?>\n{path.read_text(encoding="utf-8")}', encoding="utf-8")
    assert list(read_urdf(path).bodies) == ["arm"]


@pytest.mark.parametrize("masses", [0, pytest.param(11, marks=pytest.mark.slow)])
def test_thousands_of_links_that_are_fixed(tmp_path, masses):
    """1100 of no mass are one body with the link that they hang at, and carry what hangs at them."""
    parts = [link("base"), link("arm", 1.0, (0.2, 0, 0), J=(1e-2, 1e-2, 1e-2)), joint("j", "revolute", "base", "arm")]
    parent = "arm"
    for k in range(1100):
        mass = 1.0 if masses and k % 100 == 0 else None
        parts += [link(f"f{k}", mass, J=(1e-2,) * 3), joint(f"f{k}", "fixed", parent, f"f{k}", (1e-3, 0, 0), (0, 0, 0))]
        parent = f"f{k}"
    robot = read_urdf(file_of(tmp_path / "r.urdf", *parts))
    assert len(robot.bodies) == 1 + masses
    name, port = robot.ports["f1099"].split(".")
    assert robot.bodies[name].ports[port].position[0] + robot.placed()[name][0][0] == pytest.approx(1.1, abs=1e-9)


GOOD = [link("base"), link("arm", 1.0, (0.2, 0, 0), J=(1e-2, 1e-2, 1e-2)), joint("j", "revolute", "base", "arm")]
REFUSED = {
    "mass of link 'arm' must be finite, got nan": ('value="1.0"', 'value="nan"'),
    "mass of link 'arm' must not be negative, got -1": ('value="1.0"', 'value="-1"'),
    "mass of link 'arm' must be a number, got '{m}'.*xacro": ('value="1.0"', 'value="${m}"'),
    "inertial of link 'arm' must have a mass": ('<mass value="1.0"/>', ""),
    "ixx of link 'arm' must be given": ('ixx="0.01"', ""),
    "iyy of link 'arm' must be finite, got inf": ('iyy="0.01"', 'iyy="inf"'),
    "inertia of link 'arm' must have no negative principal moment": ('iyy="0.01"', 'iyy="-0.03"'),
    "link 'arm' must have one inertial, got 2": ("</link>", "<inertial/></link>"),
    "link number 1 of the file must have a name": ('<link name="base"/>', "<link/>"),
    "the file has two links named 'arm'": ('<link name="base"/>', '<link name="base"/><link name="arm"/>'),
    "the file has two joints named 'j'": ("</joint>", "</joint><joint name='j' type='fixed'/>"),
    "joint number 1 of the file must have a name": ('<joint name="j"', "<joint"),
    "joint 'j' must be one of .* got 'ball'": ("revolute", "ball"),
    "joint 'j' must be one of .* got None": ('type="revolute"', ""),
    "joint 'j' must have a parent": ('<parent link="base"/>', ""),
    "the child of joint 'j' must be a link of the file, got 'leg'": ('child link="arm"', 'child link="leg"'),
    "joint 'j' joins link 'arm' to itself": ('parent link="base"', 'parent link="arm"'),
    "axis of joint 'j' must be 3 numbers, got '1 0'": ('axis xyz="0.0 0.0 1.0"', 'axis xyz="1 0"'),
    "joint 'j' must have an axis that is not zero": ('axis xyz="0.0 0.0 1.0"', 'axis xyz="0 0 0"'),
    "origin rpy of joint 'j' must be a number, got 'pi'": ('rpy="0.0 0.0 0.0"/><axis', 'rpy="0 0 pi"/><axis'),
    "damping of joint 'j' must not be negative, got -0.1": ("</joint>", '<dynamics damping="-0.1"/></joint>'),
    "friction of joint 'j' must be finite, got nan": ("</joint>", '<dynamics friction="nan"/></joint>'),
    "limit upper of joint 'j' must be finite, got nan": ('upper="3"', 'upper="nan"'),
    "joint 'j' mimics 'k', which is no joint": ("</joint>", '<mimic joint="k"/></joint>'),
    "joint 'j' mimics itself: j → j": ("</joint>", '<mimic joint="j"/></joint>'),
    "joint 'j' must have a mimic": ("</joint>", "<mimic/></joint>"),
    "must have one root, got 2 links that are no child: base, lost": ("</robot>", '<link name="lost"/></robot>'),
    "is no URDF file: its first element must be robot, got 'sdf'": ("robot", "sdf"),
    "is no URDF file: no element found": ("<robot", ""),
    "the element xacro:macro: expand it first": ("</robot>", "<xacro:macro/></robot>"),
    "the element x:macro: expand it first": ("</robot>", '<x:macro xmlns:x="http://ros.org/xacro"/></robot>'),
    "joint 'j' moves no inertia .*link 'arm' lacks mass or moments": (
        GOOD[1], link("arm", 1.0, (0, 0, 0.2))),
    "a link with mass that is not the ground: no link has mass": (GOOD[1], link("arm")),
}  # fmt: skip


@pytest.mark.parametrize("told", REFUSED)
def test_what_is_wrong_in_a_file_is_named(tmp_path, told):
    path = file_of(tmp_path / "r.urdf", *GOOD)
    assert list(read_urdf(path).bodies) == ["arm"]
    old, new = REFUSED[told]
    text = path.read_text(encoding="utf-8")
    path.write_text("" if told.endswith("no element found") else text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=told.replace("{m}", r"\$\{m\}")):
        read_urdf(path)


def test_circles_and_second_parents_are_named(tmp_path):
    links = [link(name, 1.0, J=(1e-2,) * 3) for name in "abc"]
    two = [joint("p", "fixed", "a", "c"), joint("q", "fixed", "b", "c")]
    with pytest.raises(ValueError, match="link 'c' must be the child of one joint, got 'p' and 'q'"):
        read_urdf(file_of(tmp_path / "r.urdf", *links, *two))
    circle = [joint("p", "fixed", "b", "c"), joint("q", "fixed", "c", "b")]
    with pytest.raises(ValueError, match="joints p, q are not connected to the root 'a'"):
        read_urdf(file_of(tmp_path / "r.urdf", *links, *circle))
    with pytest.raises(ValueError, match="one root, got a circle of joints: p, q"):
        read_urdf(file_of(tmp_path / "r.urdf", *links[1:], *circle))


def test_a_root_without_mass_that_nothing_holds_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'base'"):
        read_urdf(file_of(tmp_path / "r.urdf", *GOOD), fixed=False)
