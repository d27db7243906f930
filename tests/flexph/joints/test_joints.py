"""Every joint: what it fixes, the force it carries, and that it does no work."""

import inspect
import math
from functools import cache, partial

import numpy as np
import pytest
from covering import covering

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distance,
    drive,
    hinge,
    integrate,
    joints,
    slider,
    spring_damper,
    torsion_spring,
    weld,
)
from flexph.laws import viscous
from flexph.sensors import joint_force

SOFT = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
ALONG = (0.6, 0.8)
PLACES = {"a": (0.1, 0.2, 0.3), "b": (0.8, 0.1, -0.5)}  # where the bodies start: x, y, angle of their origins


def turning(t):
    return 0.4 + 2.0 * t - 3.0 * t**2


def path(t):
    return 0.3 + t, 0.4 - 0.5 * t**2


JOINTS = {  # maker, number of freedoms that it takes
    "hinge": (hinge, 2),
    "weld": (weld, 3),
    "weld at an angle": (lambda p, q: weld(p, q, angle=0.7), 3),
    "slider": (lambda p, q: slider(p, q, direction=ALONG), 2),
    "turning slider": (lambda p, q: slider(p, q, direction=ALONG, turning=True), 1),
    "distance": (distance, 1),
    "distance of a length": (lambda p, q: distance(p, q, length=0.6), 1),
    "driven angle": (lambda p, q: drive(p, q, angle=turning), 1),
    "driven position": (lambda p, q: drive(p, q, position=path), 2),
}
FIRST = "a.tip"
BODY, PLACED = "b.tip", GROUND.at(0.5, 0.3)
IDEAL = [name for name in JOINTS if "driven" not in name]
TO_BODY = [name for name in JOINTS if name != "driven position"]
ALL = [
    *((name, BODY) for name in TO_BODY),
    *((name, PLACED) for name in TO_BODY),
    *((name, GROUND) for name in JOINTS if "distance" not in name),
]
KINDS = ("flexible", "rigid")
each = pytest.mark.parametrize(  # fast with one kind of bodies; each joint has both, between other parts
    ("kind", "joint", "second"),
    [
        pytest.param(kind, *pair, marks=() if kind == KINDS[(place + place // len(TO_BODY)) % 2] else pytest.mark.slow)
        for place, pair in enumerate(ALL)
        for kind in KINDS
    ],
    ids=str,
)
each_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def beam():
    return fem.beam(0.7, SOFT, SECTION, elements=2, strain="von_karman").with_mass("tip", 0.1, 1e-3)


def block():
    return rigid.body(0.5, inertia=0.02, ports={"root": (0.0, 0.1), "tip": (0.4, -0.1)}, centre=(0.1, 0.0))


def jointed(kind, *connections):
    """Two bodies of a kind in a gravity field."""
    make = beam if kind == "flexible" else block
    return connect({"a": make(), "b": make()}, connections, gravity=(0.5, -2.0))


def run_of(mechanism, seed=0):
    """Eight steps from near the places, with random velocities."""
    given = {name: tuple(v) for name, v in zip("ab", np.random.default_rng(seed).standard_normal((2, 3)), strict=True)}
    start = mechanism.consistent_state(mechanism.assemble(guess=PLACES), velocities=given)
    return integrate(mechanism, start, np.linspace(0.0, 0.16, 9))


@cache
def run_with(kind, joint, second):
    """The run of one joint; several tests look at it."""
    return run_of(jointed(kind, JOINTS[joint][0](FIRST, second)))


class Sight:
    """World points and section directions of a mechanism in a state, by their definitions."""

    def __init__(self, mechanism, x):
        self.bodies, self.parts, self.x = mechanism.bodies, mechanism.layout.parts, x

    def placed(self, port):
        name, _, at = port.partition(".")
        body = self.bodies[name]
        c, s = self.x[self.parts[f"{name}.rotation"]]
        u = self.x[self.parts[f"{name}.deformation"]] if body.size else np.zeros(0)
        return body, body.ports[at], self.x[self.parts[f"{name}.centre"]], np.array([[c, -s], [s, c]]), u

    def point(self, port):
        """r + R(X − c + (φ − φ̄)u); bare GROUND is the origin."""
        if not isinstance(port, str):
            return np.array(port.position or (0.0, 0.0))
        body, at, r, R, u = self.placed(port)
        return r + R @ (at.position - body.inertia.centre + (at.shape.toarray() - body.inertia.mean_shape) @ u)

    def direction(self, port, n):
        """R(n + ψu × n)."""
        n = np.array(n)
        if not isinstance(port, str):
            return n
        _, at, _, R, u = self.placed(port)
        return R @ (n + (at.rotation @ u)[0] * QUARTER @ n)

    def sine_and_cosine(self, second):
        d = self.direction(FIRST, (1.0, 0.0))
        return d @ self.direction(second, (0.0, 1.0)), d @ self.direction(second, (1.0, 0.0))

    def gap(self, second):
        return self.point(FIRST) - self.point(second)


def values(joint, now, kept, second):
    """g of a joint by its docstring, up to constants; ``kept`` is where an angle or a length is taken from."""

    def angle(theta=None):
        s, c = now.sine_and_cosine(second)
        theta = math.atan2(*kept.sine_and_cosine(second)) if theta is None else theta
        return [s * math.cos(theta) - c * math.sin(theta)]

    gap = now.gap(second)
    across = now.direction(second, QUARTER @ ALONG) @ gap
    length = 0.6 if "length" in joint else np.linalg.norm(kept.gap(second))
    return {
        "hinge": lambda: gap,
        "weld": lambda: [*gap, *angle()],
        "weld at an angle": lambda: [*gap, *angle(0.7)],
        "slider": lambda: [across, *angle()],
        "turning slider": lambda: [across],
        "distance": lambda: [0.5 * (gap @ gap / length - length)],
        "distance of a length": lambda: [0.5 * (gap @ gap / length - length)],
        "driven angle": angle,
        "driven position": lambda: gap,
    }[joint]()


def moved(mechanism, x, v):
    """The state after small motions v = (ṙ, ω, u̇): translations, rotations and deformations."""
    layout, x = mechanism.layout, x.copy()
    translations, turns, deformations = layout.position_sizes
    spins = v[translations : translations + turns // 2]
    x[:translations] += v[:translations]
    for i, angle in enumerate(spins):
        at = slice(translations + 2 * i, translations + 2 * i + 2)
        x[at] = math.cos(angle) * x[at] + math.sin(angle) * QUARTER @ x[at]
    start = translations + turns
    x[start : start + deformations] += v[translations + spins.size :]
    return x


def constraint_matrix(mechanism, system, x):
    """G(q), the block of J in the rows of the multipliers, with its sign."""
    layout = mechanism.layout
    first = sum(layout.position_sizes)
    J = system.J(np.concatenate([x, np.zeros(layout.multipliers)]))
    return -J[layout.size :, first : first + layout.velocities]


@each
def test_constraint_matrix_and_freedoms(kind, joint, second):
    mechanism = jointed(kind, JOINTS[joint][0](FIRST, second))
    state = mechanism.consistent_state(mechanism.assemble(guess=PLACES))
    rng = np.random.default_rng(3)
    x = state.x + 0.1 * rng.standard_normal(state.x.size)
    x = moved(mechanism, x, rng.standard_normal(mechanism.layout.velocities))
    G = constraint_matrix(mechanism, mechanism.phdae(state), x)
    assert len(G) == np.linalg.matrix_rank(G) == JOINTS[joint][1]
    kept = Sight(mechanism, x if joint == "driven angle" else state.x)
    g = lambda v: np.array(values(joint, Sight(mechanism, moved(mechanism, x, v)), kept, second))  # noqa: E731
    numeric = np.array([(g(e) - g(-e)) / 2e-5 for e in 1e-5 * np.eye(mechanism.layout.velocities)]).T
    assert np.abs(G - numeric).max() < 1e-8  # differences: 1e-5**2 and 1e-16/1e-5 of lengths near one


@each
def test_the_joint_holds_during_a_run(kind, joint, second):
    run = run_with(kind, joint, second)
    kept = Sight(run.mechanism, run.states[0])
    for t, x in zip(run.times, run.states, strict=True):
        now = Sight(run.mechanism, x)
        if joint == "driven angle":
            s, c = now.sine_and_cosine(second)
            gap = [math.sin(math.atan2(s, c) - turning(t))]
        elif joint == "driven position":
            gap = now.gap(second) - path(t)
        elif second == GROUND:
            gap = np.subtract(values(joint, now, kept, second), values(joint, kept, kept, second))
        else:
            gap = values(joint, now, kept, second)
        assert np.abs(gap).max() < 1e-13  # round-off of lengths near one over eight steps


@each_kind
@pytest.mark.parametrize("joint", TO_BODY)
def test_reactions_are_equal_and_opposite(kind, joint):
    """No resultant force and torque on both bodies: G vanishes on motions of both as one rigid body."""
    run = run_with(kind, joint, BODY)
    mechanism, x = run.mechanism, run.states[-1]
    G = constraint_matrix(mechanism, mechanism.phdae(run.final), x)
    centres = x[:4].reshape(2, 2)
    together = np.zeros((mechanism.layout.velocities, 3))
    together[:4, :2] = np.tile(np.eye(2), (2, 1))
    together[:4, 2] = (centres @ QUARTER.T).ravel()
    together[4:6, 2] = 1.0
    assert np.abs(G[:, :6]).max() > 0.5
    assert np.abs(G @ together).max() < 1e-13  # the joint is closed to this


@each
def test_ideal_joints_do_no_work_and_drives_are_in_the_ledger(kind, joint, second):
    run = run_with(kind, joint, second)
    ledger, size = run.ledger, run.ledger.total_energy.max()
    if joint in IDEAL:
        (work,) = ledger.joint_work.values()
        assert not ledger.work
        assert np.abs(work).max() < 1e-13 * max(size, np.abs(run.multipliers).max())  # force × round-off of length
    else:
        (work,) = ledger.work.values()
        assert not ledger.joint_work
        assert np.abs(work).min() > 1e-5 * size
    assert np.abs(run.multipliers).max() > 1e-4  # it carries a force


@each_kind
def test_work_of_a_driven_position(kind):
    run = run_of(jointed(kind, drive(FIRST, position=path)))
    increments = np.diff([path(t) for t in run.times], axis=0)
    (work,) = run.ledger.work.values()
    # increments of positions near one come with 1e-16, against forces of order ten
    assert work == pytest.approx(np.einsum("ti,ti->t", run.stage_multipliers, increments), abs=1e-14)


def test_work_of_a_driven_angle():
    """λ (c̄ Δs − s̄ Δc) of sines and cosines on the circle: λ sin Δθ."""
    run = run_of(jointed("rigid", drive(FIRST, angle=turning)))
    increments = np.diff([turning(t) for t in run.times])
    (work,) = run.ledger.work.values()
    assert work == pytest.approx(run.stage_multipliers[:, 0] * np.sin(increments), abs=1e-14)


def test_torque_of_a_drive_is_that_of_the_angular_acceleration():
    """J θ″ of a bar driven about its centre, at the middle of the steps."""
    make = connect({"bar": rigid.bar(1.0, 12.0)}, [drive("bar.middle", angle=turning)])
    start = make.consistent_state(make.assemble())
    run = integrate(make, start, np.linspace(0.0, 0.1, 101))
    smooth = 0.5 * (run.multipliers[1:, 0] + run.multipliers[:-1, 0])
    assert smooth == pytest.approx(-6.0, rel=1e-4)  # steps of 2e-3 rad: their square


EXCHANGES = {
    "hinge": (hinge(FIRST, BODY), hinge(BODY, FIRST)),
    "weld": (weld(FIRST, BODY), weld(BODY, FIRST)),
    "weld at an angle": (weld(FIRST, BODY, angle=-0.4), weld(BODY, FIRST, angle=0.4)),
    "distance": (distance(FIRST, BODY), distance(BODY, FIRST)),
    "drive": (drive(FIRST, BODY, angle=turning), drive(BODY, FIRST, angle=lambda t: -turning(t))),
    "spring": tuple(spring_damper(*p, stiffness=9.0, damping=0.3, length=0.2) for p in ((FIRST, BODY), (BODY, FIRST))),
    "torsion spring": (
        torsion_spring(FIRST, BODY, stiffness=9.0, damping=0.3, angle=0.2),
        torsion_spring(BODY, FIRST, stiffness=9.0, damping=0.3, angle=-0.2),
    ),
}


@covering("kind, name", KINDS, tuple(EXCHANGES))
def test_exchanged_ports_make_the_same_motion(kind, name):
    one, other = (run_of(jointed(kind, connection)) for connection in EXCHANGES[name])
    own = sum(one.mechanism.layout.position_sizes) + one.mechanism.layout.velocities  # the spring force changes sign
    assert np.abs(one.states[-1, :own] - one.states[0, :own]).max() > 0.1
    # the same sums in another order; axial stiffness 1e5 amplifies round-off
    assert np.abs(other.states[:, :own] - one.states[:, :own]).max() < 1e-10


def test_a_slider_and_its_rail_may_be_exchanged():
    """Between rigid bodies, with the direction carried over to the other one."""
    relative = PLACES["b"][2] - PLACES["a"][2]
    c, s = math.cos(relative), math.sin(relative)
    carried = (c * ALONG[0] - s * ALONG[1], s * ALONG[0] + c * ALONG[1])
    one = run_of(jointed("rigid", slider(FIRST, BODY, direction=ALONG)))
    other = run_of(jointed("rigid", slider(BODY, FIRST, direction=carried)))
    assert np.abs(one.states[-1] - one.states[0]).max() > 0.1
    assert np.abs(other.states - one.states).max() < 1e-12


def test_bare_ground_keeps_the_port_where_it_is():
    """Joints to GROUND hold the assembled place and, for the slider, the assembled line."""
    pinned = run_of(jointed("rigid", hinge(FIRST, GROUND)))
    assert pinned.position(FIRST) == pytest.approx(np.tile(pinned.position(FIRST)[0], (9, 1)), abs=1e-14)
    guided = run_of(jointed("rigid", slider(FIRST, GROUND, direction=ALONG)))
    way = guided.position(FIRST) - guided.position(FIRST)[0]
    assert np.abs(way @ (QUARTER @ ALONG)).max() < 1e-14
    assert np.abs(way @ ALONG).max() > 0.01
    assert guided["a.rotation"] == pytest.approx(np.tile(guided["a.rotation"][0], (9, 1)), abs=1e-14)


def test_joints_are_called_as_they_are_asked_to_be():
    """By their names go multipliers, wrenches, sensors and accounts; all joints take one."""
    arm = rigid.body(1.0, inertia=0.1, ports={"pin": (0.0, 0.5)})
    pin = hinge("arm.pin", GROUND.at(0.0, 0.0), friction=viscous(0.1), name="elbow")
    mechanism = connect({"arm": arm}, [pin, drive("arm.pin", angle=turning, name="turn")], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 6))
    assert mechanism.constraint_names == ("elbow: x", "elbow: y", "turn: angle")
    assert np.array_equal(run["elbow: y"], run.reaction("elbow").force[:, 1])
    assert run.measured(joint_force("elbow")).shape == (6, 2)
    assert {*run.ledger.work, *run.ledger.dissipation, *run.ledger.joint_work} == {"turn", "elbow"}
    with pytest.raises(ValueError, match=r"connection given twice: elbow.*name="):
        connect({"arm": arm}, [pin, hinge("arm.pin", GROUND, name="elbow")])


def test_every_joint_takes_a_name():
    functions = [kind for kind in map(partial(getattr, joints), dir(joints)) if inspect.isfunction(kind)]
    kinds = [kind for kind in functions if "Connection" in str(inspect.signature(kind).return_annotation)]
    assert len(kinds) >= 26
    assert [kind.__name__ for kind in kinds if "name" not in inspect.signature(kind).parameters] == []
