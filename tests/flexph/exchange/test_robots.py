"""Robots of every kind of joint and link, against recursive Newton-Euler equations that read the file by themselves."""

import numpy as np
import pytest
from robot_dynamics import Tree
from robot_files import file_of, joint, link, moving, solid
from scipy.spatial.transform import Rotation

from flexph import connect, eigenfrequencies, eliminate, integrate
from flexph.contacts import KelvinVoigt
from flexph.control import StateFeedback
from flexph.exchange import read_urdf

GRAVITY = (0.3, -0.8, -9.5)
STEP = 1e-4
"""Of difference quotients [s], whose errors of first and second order cancel between h, 2h and 4h. Shorter ones magnify
the round-off of positions: at 2e-5 s to more than 1e-6."""


def start_of(robot, tree, q, rate):
    """The mechanism, and its state of these coordinates and rates."""
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    found, _ = tree.motion(q, rate, {})
    owner = {f"{name}.{end}": link for link, port in robot.ports.items() for name in robot.bodies for end in ("origin",)
             if port == f"{name}.{end}"}  # fmt: skip
    velocities = {port.partition(".")[0]: (found[link][3], found[link][2]) for port, link in owner.items()}
    pose = mechanism.assemble(robot.placed({name: q[name] for name in tree.moving if name not in tree.laws}))
    return mechanism, mechanism.consistent_state(pose, velocities=velocities)


def compare(path, seed=0, atol=1e-6):
    """Coordinates, rates and accelerations of all joints against the equations of the file, at a random state."""
    rng, robot, tree = np.random.default_rng(seed), read_urdf(path), Tree(path)
    free = [name for name in tree.moving if name not in tree.laws]
    q = tree.coupled({name: rng.uniform(-1, 1) for name in free})
    one, none = tree.coupled({name: rng.uniform(-1, 1) for name in free}), tree.coupled(dict.fromkeys(free, 0.0))
    rate = {name: one[name] - none[name] for name in q}
    mechanism, start = start_of(robot, tree, q, rate)
    run, *longer = (integrate(mechanism, start, [0.0, n * STEP]) for n in (1, 2, 4))
    second = tree.accelerations(q, rate, GRAVITY)
    for name, own in robot.joints.items():
        assert run.measured(own.coordinate)[0] == pytest.approx(q[name], abs=1e-12)
        once, twice, fourfold = (np.diff(each.measured(own.rate))[0] / each.times[1] for each in (run, *longer))
        assert run.measured(own.rate)[0] == pytest.approx(rate[name], abs=1e-10)
        extrapolated = (8.0 * once - 6.0 * twice + fourfold) / 3.0  # leaves the third order of the step
        assert extrapolated == pytest.approx(second[name], abs=atol, rel=1e-6)
    assert run.ledger.largest_residual < 1e-12
    return robot, run


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 30))])
def test_a_random_robot_accelerates_as_its_file_says(tmp_path, seed):
    """Joints that turn and slide at skew axes, links fixed to others with and without mass, mimics of both kinds."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "prismatic", "continuous", *rng.choice(["revolute", "prismatic", "continuous"], 3)]
    parts = [
        link("base"),
        link("mount"),
        joint("m", "fixed", "base", "mount", rng.normal(0, 1, 3), rng.normal(0, 1, 3)),
    ]
    names = ["mount"]
    for k, kind in enumerate(rng.permutation(kinds)):
        follows = f'<mimic joint="j{k - 1}" multiplier="{rng.uniform(-2, 2)}" offset="0.3"/>' if k == 4 else ""
        follows += f'<dynamics damping="{rng.uniform(0, 2)}"/>'
        parent = names[int(rng.integers(max(0, len(names) - 2), len(names)))]
        parts += [solid(rng, f"l{k}"), moving(rng, f"j{k}", kind, parent, f"l{k}", follows)]
        names.append(f"l{k}")
    extra = [link("point", 0.3, (0.1, 0.2, 0)), link("rotor", 0.0, J=(0.02, 0.02, 0.03)), link("frame"),
             link("rod", 0.2, (0.1, 0, 0), J=(0, 0.01, 0.01))]  # fmt: skip
    on = ["l0", "l1", "l2", "frame"]
    for own, name, parent in zip(extra, ("point", "rotor", "frame", "rod"), on, strict=True):
        parts += [own, joint(f"f {name}", "fixed", parent, name, rng.normal(0, 0.2, 3), rng.normal(0, 1, 3))]
    robot, _ = compare(file_of(tmp_path / "r.urdf", *parts), seed)
    assert sorted(robot.bodies) == [f"l{k}" for k in range(6)]
    assert set(robot.ports) == {"base", "mount", *robot.bodies, "point", "rotor", "frame", "rod"}


WEIGHTLESS = {
    "a link without mass between skew axes": [link("a"), "L"],
    "a point mass on its own joint": [link("a", 0.4, (0.3, 0.1, 0.2)), "L"],
    "a mass of 1e-4 after one of 1": ["L", link("a"), "S"],
    "a rotor without mass before a link": [link("a", 0.0, J=(0.01, 0.01, 0.02)), "L"],
    "two links without mass": [link("a"), link("b"), "L"],
    "a rod without thickness at the end": ["L", link("a", 0.5, (0.2, 0, 0), J=(0, 0.01, 0.01))],
}


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        pytest.param(case, kind, marks=[pytest.mark.slow] * (kind == "prismatic" or case not in list(WEIGHTLESS)[:3]))
        for case in WEIGHTLESS
        for kind in ("revolute", "prismatic")
    ],
)
def test_bodies_without_mass_between_joints_do_not_show(tmp_path, case, kind):
    """What they get is 1e-9 of what they carry; round-off of rates, 1e-11 beside it, stands over STEP."""
    rng = np.random.default_rng(5)
    parts, parent = [link("base")], "base"
    for k, own in enumerate(WEIGHTLESS[case]):
        text = solid(rng, f"l{k}", 1.0 if own == "L" else 1e-4) if own in "LS" else own
        name = text.split('"')[1]
        parts += [text, moving(rng, f"j{k}", kind if k == 0 else "revolute", parent, name)]
        parent = name
    compare(file_of(tmp_path / "r.urdf", *parts), 1, atol=1e-5)


def test_small_motions_of_a_cross_without_mass(tmp_path):
    """A bob on two axes swings with √(mgl/(J + ml²)) about each."""
    m, g, length, J = 2.0, 9.81, 0.5, np.array([0.15, 0.2])
    bob = link("bob", m, (0, 0, -length), J=(*J, 0.1))
    parts = [link("base"), link("cross"), joint("a", "revolute", "base", "cross", axis=(1, 0, 0))]
    robot = read_urdf(file_of(tmp_path / "r.urdf", *parts, bob, joint("b", "revolute", "cross", "bob", axis=(0, 1, 0))))
    mechanism = connect(robot.bodies, robot.connections, gravity=(0, 0, -g))
    rest = mechanism.equilibrium(mechanism.assemble(robot.placed()))
    found = eigenfrequencies(eliminate(mechanism.linearize(rest)), count=2)
    np.testing.assert_allclose(found, np.sort(np.sqrt(m * g * length / (J + m * length**2))), rtol=1e-7)


def test_gantries_of_links_without_mass_are_read(tmp_path):
    """Three slides and three turns of massless links to one body that floats freely: gravity and Euler's equations."""
    rng, axes = np.random.default_rng(3), np.vstack([np.eye(3), np.eye(3)])
    parts, parent = [link("world")], "world"
    for k in range(6):
        name = f"l{k}"
        parts += [solid(rng, name) if k == 5 else link(name)]
        parts += [joint(f"j{k}", "prismatic" if k < 3 else "revolute", parent, name, axis=axes[k])]
        parent = name
    compare(file_of(tmp_path / "r.urdf", *parts), 2, atol=1e-5)  # as above


SEVERAL = [
    ("prismatic", "revolute", 0.4),
    ("revolute", "prismatic", -2.0),
    ("prismatic", "prismatic", -1.0),
    ("revolute", "continuous", 0.0),
]


@pytest.mark.parametrize(
    ("leader", "follower", "factor"),
    [*SEVERAL[:2], *(pytest.param(*own, marks=pytest.mark.slow) for own in SEVERAL[2:])],
)
def test_mimic_joints_are_coupled_exactly(tmp_path, leader, follower, factor):
    """On one hand, and in a chain of mimics whose first leader has no mass; ratios hold over large steps."""
    rng = np.random.default_rng(8)
    law = '<mimic joint="{}" multiplier="{}" offset="-0.2"/>'
    parts = [link("base"), solid(rng, "palm"), moving(rng, "wrist", "revolute", "base", "palm")]
    parts += [solid(rng, "one"), moving(rng, "lead", leader, "palm", "one")]
    parts += [solid(rng, "two"), moving(rng, "follow", follower, "palm", "two", law.format("lead", factor))]
    robot, _ = compare(file_of(tmp_path / "r.urdf", *parts), 3)
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(robot.placed({"lead": 0.1})))
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 5))
    lead, follow = (run.measured(robot.joints[name].coordinate) for name in ("lead", "follow"))
    np.testing.assert_allclose(follow, factor * lead - 0.2, atol=1e-12)


def test_mimics_of_a_joint_without_mass_are_coupled_to_each_other(tmp_path):
    law = '<mimic joint="{}" multiplier="{}"/>'
    rng = np.random.default_rng(8)
    parts = [link("base"), link("dummy"), moving(rng, "dummy", "revolute", "base", "dummy")]
    parts += [solid(rng, "one"), moving(rng, "a", "revolute", "base", "one", law.format("dummy", 2.0))]
    parts += [solid(rng, "two"), moving(rng, "b", "revolute", "base", "two", law.format("a", -1.5))]
    robot = read_urdf(file_of(tmp_path / "r.urdf", *parts))
    assert list(robot.joints) == ["a", "b"]
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(robot.placed({"dummy": 0.2})))
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 5))
    a, b = (run.measured(robot.joints[name].coordinate) for name in "ab")
    assert (a[0], b[0]) == pytest.approx((0.4, -0.6), abs=1e-14)
    np.testing.assert_allclose(b, -1.5 * a, atol=1e-12)
    with pytest.raises(ValueError, match="joint 'a' follows 'dummy': give only 'dummy'"):
        robot.placed({"a": 0.1})


@pytest.mark.parametrize("root", ["", "trunk"])
def test_a_robot_that_is_not_fixed_falls(tmp_path, root):
    """With a root without mass as with mass, ½ g t² by Exact steps."""
    rng = np.random.default_rng(0)
    parts = [link("base"), solid(rng, "trunk"), joint("f", "fixed", "base", "trunk", (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))]
    parts = parts[1:2] if root else parts
    robot = read_urdf(file_of(tmp_path / "r.urdf", *parts), fixed=False)
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    placed, turned = robot.placed(), Rotation.from_rotvec([0.4, 0.0, -1.0])
    moved = robot.placed(base=((1.0, 2.0, 3.0), turned))["trunk"][0]
    np.testing.assert_allclose(moved, turned.apply(placed["trunk"][0]) + np.arange(1.0, 4.0), atol=1e-14)
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble(placed)), [0.0, 0.2, 0.5])
    fallen = run.position("trunk.origin")
    np.testing.assert_allclose(fallen[0], placed["trunk"][0], atol=1e-14)
    np.testing.assert_allclose(fallen[-1] - fallen[0], 0.125 * np.array(GRAVITY), atol=1e-12)


def test_floating_and_planar_joints(tmp_path):
    """A body floats over a world, another one glides on a plane of it: free fall, and what is left along the plane."""
    rng, normal = np.random.default_rng(0), np.array([0.0, 0.6, 0.8])
    parts = [link("world"), solid(rng, "trunk"), joint("free", "floating", "world", "trunk", (0, 0, 1))]
    parts += [solid(rng, "puck"), joint("table", "planar", "world", "puck", (1, 0, 0), (0.3, 0, 0.2), normal)]
    robot = read_urdf(file_of(tmp_path / "r.urdf", *parts))
    turned = Rotation.from_rotvec([0.1, 0.2, 0.3])
    placed = robot.placed({"free": ((0.0, 0.0, 1.0), turned), "table": (0.2, -0.1, 0.4)})
    np.testing.assert_allclose(placed["trunk"][0], [0, 0, 2.0])
    np.testing.assert_allclose(placed["trunk"][1].as_matrix(), turned.as_matrix(), atol=1e-14)
    mechanism = connect(robot.bodies, robot.connections, gravity=GRAVITY)
    assert "freedoms 9" in mechanism.describe()
    start = mechanism.consistent_state(mechanism.assemble(placed))
    np.testing.assert_allclose(mechanism.position(start, "puck.origin"), placed["puck"][0], atol=1e-13)
    run = integrate(mechanism, start, [0.0, 0.1, 0.2])
    fallen = run.position("trunk.origin")
    np.testing.assert_allclose(fallen[-1] - fallen[0], 0.02 * np.array(GRAVITY), atol=1e-12)
    across = Rotation.from_euler("xyz", [0.3, 0, 0.2]).apply(normal)
    np.testing.assert_allclose((run.position("puck.origin") - [1.0, 0.0, 0.0]) @ across, 0.0, atol=1e-12)
    with pytest.raises(ValueError, match="base needs a free root, but 'world' is fixed"):
        robot.placed(base=((0.0, 0.0, 1.0), turned))
    with pytest.raises(ValueError, match="joint 'table' is planar: it has no single coordinate"):
        robot.joints["table"].coordinate  # noqa: B018


def knee(path, kind, law='<limit lower="-0.2" upper="0.3" velocity="3" effort="20"/>', **given):
    rng = np.random.default_rng(4)
    parts = [link("base"), solid(rng, "thigh"), solid(rng, "shin")]
    parts += [moving(rng, "hip", "continuous", "base", "thigh"), moving(rng, "knee", kind, "thigh", "shin", law)]
    return read_urdf(file_of(path / "r.urdf", *parts), **given)


def running(robot, *elements, knee=0.1, end=0.1, steps=5):
    mechanism = connect(robot.bodies, [*robot.connections, *elements], gravity=GRAVITY)
    pose = mechanism.assemble(robot.placed({"hip": 0.4, "knee": knee}))
    return integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, end, steps + 1))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_stops_springs_and_drives_count_as_the_file_does(tmp_path, kind):
    robot = knee(tmp_path, kind)
    own = robot.joints["knee"]
    assert own.limit == (-0.2, 0.3, 3.0, 20.0)
    run = running(robot, own.drive(lambda t: 0.1 + 3.0 * t), own.stop(KelvinVoigt(10.0)))
    q = run.measured(own.coordinate)
    np.testing.assert_allclose(q, 0.1 + 3.0 * run.times, atol=1e-12)
    np.testing.assert_allclose(run.contact("stop knee").gap, np.column_stack([q + 0.2, 0.3 - q]), atol=1e-12)
    stiff = running(robot, own.spring(stiffness=1e9, damping=1e5, rest=0.25), knee=0.25)
    np.testing.assert_allclose(stiff.measured(own.coordinate), 0.25, atol=1e-6)  # a load of 100 over 1e9
    with pytest.raises(ValueError, match="joint 'hip' has no limits"):
        robot.joints["hip"].stop(KelvinVoigt(1.0))


def test_motors_and_feedback_count_as_the_file_does(tmp_path):
    """A constant effort accelerates as the file says; one from sensors within the step is the spring between."""
    robot, tree, effort, h = knee(tmp_path, "revolute"), Tree(tmp_path / "r.urdf"), 3.0, STEP
    own, motor = robot.joints["knee"], robot.joints["knee"].effort()
    mechanism = connect(robot.bodies, [*robot.connections, motor], gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(robot.placed({"hip": 0.4, "knee": 0.1})))
    given = {motor.name: effort * np.array(own.axis)}
    runs = [integrate(mechanism, start, [0.0, k * h], inputs=given) for k in (1, 2)]
    once, twice = (run.measured(own.rate)[1] / run.times[1] for run in runs)
    second = tree.accelerations({"hip": 0.4, "knee": 0.1}, {}, GRAVITY, {"knee": effort})
    assert 2.0 * once - twice == pytest.approx(second["knee"], abs=1e-6)

    axis, sensors = np.array(own.axis), {"q": own.coordinate, "rate": own.rate}
    law = StateFeedback(function=lambda t, y: (20.0 * (0.3 - y[0]) - y[1]) * axis, sensors=sensors, ports=[motor.name])
    times = np.linspace(0.0, 0.01, 6)
    held = integrate(mechanism, start, times, controllers={"law": law})
    spring = running(robot, own.spring(stiffness=20.0, damping=1.0, rest=0.3), end=0.01)
    np.testing.assert_allclose(held.measured(own.coordinate), spring.measured(own.coordinate), atol=1e-9)


def test_limits_of_more_than_half_a_turn(tmp_path):
    """Whole turns are left out where stops cannot have them; a range of a turn is refused by name."""
    law = '<limit lower="{}" upper="{}" velocity="3" effort="20"/>'
    far = knee(tmp_path, "revolute", law.format(5.0, 8.0)).joints["knee"]
    run = running(knee(tmp_path, "revolute", law.format(5.0, 8.0)), far.stop(KelvinVoigt(10.0)), knee=6.0, end=1e-3)
    np.testing.assert_allclose(run.contact("stop knee").gap[0], [1.0, 2.0], atol=1e-12)
    with pytest.raises(ValueError, match="joint 'knee': upper must be less than a turn above lower"):
        knee(tmp_path, "revolute", law.format(-6.3, 6.3)).joints["knee"].stop(KelvinVoigt(1.0))
    with pytest.warns(UserWarning, match=r"must have lower <= upper.*: knee"):
        crossed = knee(tmp_path, "revolute", law.format(1.0, -1.0))
    with pytest.raises(ValueError, match="joint 'knee': lower must be below upper"):
        crossed.joints["knee"].stop(KelvinVoigt(1.0))
    only = knee(tmp_path, "revolute", '<limit upper="0.5" velocity="1" effort="1"/>')
    assert only.limits["knee"][:2] == (0.0, 0.5)  # what is missing is 0
    assert knee(tmp_path, "continuous", law.format(-1, 1)).limits["knee"][:2] == (-np.inf, np.inf)
