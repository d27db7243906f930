"""Every joint of space: the freedoms it leaves, its gradient, its reactions, its axes, and how it is assembled.

Ten seconds, as each joint is assembled, moved and differentiated.
"""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from covering import covering
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from spatial_bodies import (
    Sight,
    beam,
    block,
    cloud,
    matrix_and_gap,
    moved,
    perpendicular,
    random_positions,
    random_rotation,
    random_velocities,
    unit,
)

import rigid
from flexph import (
    GROUND,
    connect,
    cylindrical,
    distance,
    drive,
    force,
    hinge,
    integrate,
    planar,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torsion_spring,
    universal,
    weld,
)
from flexph.joints import bushing
from flexph.kernels.convergence.tolerances import NEWTON
from flexph.methods import Exact

FIRST, SECOND, PLACED = "a.p", "b.q", GROUND.at(0.3, -0.2, 0.4)
A1, A2 = (0.3, -0.5, 0.8), (0.1, 0.9, -0.2)
SAME = {"axis": A1, "second_axis": A2}
STATED = Rotation.from_rotvec((0.7, -0.4, 0.5))
RATE = np.array([0.5, -0.8, 0.6])


def turning(t):
    return 0.3 + 1.5 * t - 2.0 * t**2


def path(t):
    return 0.3 + t, 0.4 - 0.5 * t**2, -0.2 + 0.3 * t


def orientation(t):
    return Rotation.from_rotvec((0.2, 0.3, -0.1)) * Rotation.from_rotvec(t * RATE)


JOINTS = {  # maker, number of freedoms that it takes
    "spherical": (spherical, 3),
    "hinge": (lambda p, q: hinge(p, q, **SAME), 5),
    "revolute": (lambda p, q: revolute(p, q, axis=A1), 5),
    "universal": (lambda p, q: universal(p, q, **SAME), 4),
    "cylindrical": (lambda p, q: cylindrical(p, q, **SAME), 4),
    "prismatic": (lambda p, q: prismatic(p, q, direction=A2), 5),
    "turning slider": (lambda p, q: slider(p, q, direction=A2, turning=True), 2),
    "planar": (lambda p, q: planar(p, q, normal=A1, second_normal=A2), 3),
    "weld": (weld, 6),
    "stated weld": (lambda p, q: weld(p, q, rotation=STATED), 6),
    "distance": (distance, 1),
    "stated distance": (lambda p, q: distance(p, q, length=0.6), 1),
    "driven rotation": (lambda p, q: drive(p, q, rotation=orientation), 3),
    "driven displacement": (lambda p, q: drive(p, q, displacement=turning, direction=A2), 1),
    "driven position": (lambda p, q: drive(p, position=path), 3),
}
ALL = [
    *((name, SECOND) for name in JOINTS if name != "driven position"),
    *((name, PLACED) for name in JOINTS if name != "driven position"),
    *((name, GROUND) for name in JOINTS if "distance" not in name and name != "driven displacement"),
]
KINDS = ("rigid", "flexible", "mixed")
FAST = {(KINDS[place % 3], *pair) for place, pair in enumerate(ALL)} | {("rigid", "stated distance", SECOND)}
"""Runs at which fast tests look: each joint with all kinds of bodies, between other parts."""


def rows(names, *given):
    """Rows of a kind, a joint and its second part, of which the named ones are parameters."""
    at = [("kind", "joint", "second").index(name) for name in names]
    marked = [pytest.param(*(row[k] for k in at), marks=() if row in FAST else pytest.mark.slow) for row in given]
    return pytest.mark.parametrize(names, marked, ids=str)


each = rows(("kind", "joint", "second"), *((kind, *pair) for pair in ALL for kind in KINDS))
each_joint = rows(("joint", "second"), *(("rigid", *pair) for pair in ALL))
between_bodies = rows(("kind", "joint"), *((kind, *pair) for kind in KINDS for pair in ALL if pair[1] == SECOND))


@cache
def bodies(kind):
    """Two bodies of a kind with the ports p, q, s."""
    stiff = {"rigid": lambda s: block(seed=s), "flexible": lambda s: cloud(s, stiffness=200.0)}
    first, second = {"rigid": ("rigid", "rigid"), "mixed": ("flexible", "rigid")}.get(kind, (kind, kind))
    return {"a": stiff[first](1), "b": stiff[second](2)}


def jointed(kind, *connections, gravity=(0.5, -1.0, -2.0)):
    return connect(bodies(kind), connections, gravity=gravity)


GUESS = {
    "a": ((0.1, 0.2, 0.3), Rotation.from_rotvec((0.4, -0.3, 0.5))),
    "b": ((0.5, -0.2, 0.1), Rotation.from_rotvec((-0.6, 0.2, 0.7))),
}


def run_of(mechanism, seed=0, end=0.1, steps=5):
    start = mechanism.consistent_state(mechanism.assemble(guess=GUESS), velocities=random_velocities(mechanism, seed))
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1))


@cache
def run_with(kind, joint, second):
    return run_of(jointed(kind, JOINTS[joint][0](FIRST, second)))


# --- freedoms and gradients -------------------------------------------------------------------------------------------


@each
def test_the_rank_of_the_constraints(kind, joint, second):
    """At poses that a joint admits it takes as many freedoms as its name says, of rigid motions alone."""
    run = run_with(kind, joint, second)
    mechanism = run.mechanism
    for t, x in zip(run.times, run.states, strict=True):
        G, gap = matrix_and_gap(mechanism, x, run.anchors, t)
        rigid_columns = G[:, : sum(mechanism.layout.velocity_sizes[:2])]
        values = np.linalg.svd(rigid_columns, compute_uv=False)
        assert len(G) == JOINTS[joint][1]
        assert values[-1] > 0.02 * values[0]  # lengths are tenths of a metre, turns of order one
        assert np.abs(gap).max() < 1e-13


@each
def test_the_gradient_is_the_derivative_of_the_constraints(kind, joint, second, seed=0):
    """G v against central differences of g along random velocities, at states that fit no joint."""
    run = run_with(kind, joint, second)
    m, rng = run.mechanism, np.random.default_rng(seed)
    x, time = random_positions(m, run.states[0], seed), 0.04
    G, _ = matrix_and_gap(m, x, run.anchors, time)
    for v in rng.standard_normal((3, m.layout.velocities)):
        at = lambda e, v=v: matrix_and_gap(m, moved(m, x, e * v), run.anchors, time)[1]  # noqa: E731
        numeric = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3
        # fourth-order differences: 1e-3**4 of fifth derivatives of order 1e3, and round-off 1e-16/1e-3
        assert np.abs(G @ v - numeric).max() < 1e-9 * max(1.0, np.abs(numeric).max())


def lined(joint, second):
    """Names of the directions of a joint: axis of the first section, axis of the second."""
    return {
        "hinge": (A1, A2),
        "revolute": (A1, A1),
        "universal": (A1, A2),
        "cylindrical": (A1, A2),
        "prismatic": (A2, A2),
        "turning slider": (A2, A2),
        "driven displacement": (A2, A2),
        "planar": (A1, A2),
    }.get(joint, (A1, A1))


def anchored(run, second, x):
    """World position of the second port; of bare GROUND where the first port was."""
    if second == GROUND:
        return Sight(run.mechanism, run.states[0]).point(FIRST)
    return Sight(run.mechanism, x).point(second)


def held(joint, now, first, second, gap, t):
    """What a joint keeps at zero, by the words of its docstring."""
    a1, a2 = (unit(a) for a in lined(joint, second))
    S1, S2 = now.section(FIRST), now.section(second)
    kept, together = first.section(FIRST).T @ first.section(second), S1.T @ S2
    start = np.linalg.norm(first.point(FIRST) - first.point(second))
    return {
        "spherical": lambda: [gap],
        "hinge": lambda: [gap, S1 @ a1 - S2 @ a2],
        "revolute": lambda: [gap, S1 @ a1 - S2 @ a2],
        "universal": lambda: [gap, (S1 @ a1) @ (S2 @ a2)],
        "cylindrical": lambda: [np.cross(gap, S2 @ a2), S1 @ a1 - S2 @ a2],
        "prismatic": lambda: [np.cross(gap, S2 @ a2), together - kept],
        "turning slider": lambda: [np.cross(gap, S2 @ a2)],
        "planar": lambda: [gap @ (S2 @ a2), S1 @ a1 - S2 @ a2],
        "weld": lambda: [gap, together - kept],
        "stated weld": lambda: [gap, S2.T @ S1 - STATED.as_matrix()],
        "distance": lambda: [np.linalg.norm(gap) - start],
        "stated distance": lambda: [np.linalg.norm(gap) - 0.6],
        "driven rotation": lambda: [S2.T @ S1 - orientation(t).as_matrix()],
        "driven displacement": lambda: [gap @ (S2 @ a2) - turning(t)],
        "driven position": lambda: [now.point(FIRST) - path(t)],
    }[joint]()


@each_joint
def test_joints_hold_what_their_definition_says(joint, second):
    """Of rigid sections, where directions have length one: points, axes and rotations."""
    run = run_with("rigid", joint, second)
    first = Sight(run.mechanism, run.states[0])
    for t, x in zip(run.times, run.states, strict=True):
        now = Sight(run.mechanism, x)
        gap = now.point(FIRST) - anchored(run, second, x)
        values = held(joint, now, first, second, gap, t)
        assert max(np.abs(value).max() for value in values) < 1e-13  # round-off of lengths near one over five steps


# --- free motions and wrenches ----------------------------------------------------------------------------------------


def screws(joint, gap, S1, S2):
    """Twists (velocity of the first port, spin) of the first section against the second that a joint allows."""
    a1, a2 = (np.array(a) for a in lined(joint, None))
    w1, w2, none, every = S1 @ a1, S2 @ a2, np.zeros(3), np.eye(3)
    turns = [np.concatenate([none, e]) for e in every]
    slide = lambda d: np.concatenate([d, none])  # noqa: E731
    spin = lambda d: np.concatenate([none, d])  # noqa: E731
    frame = np.array([S2 @ e for e in perpendicular(a2)])
    along = np.cross(*frame)  # stays across both directions where the section is deformed
    return {
        "spherical": lambda: turns,
        "hinge": lambda: [spin(w1)],
        "revolute": lambda: [spin(w1)],
        "universal": lambda: [spin(w1), spin(w2)],
        "cylindrical": lambda: [spin(w1), slide(along)],
        "prismatic": lambda: [slide(along)],
        "turning slider": lambda: [*turns, slide(along)],
        "planar": lambda: [spin(w1), *(slide(d) for d in perpendicular(w2))],
        "weld": lambda: [],
        "stated weld": lambda: [],
        "distance": lambda: [*turns, *(slide(d) for d in perpendicular(gap))],
        "stated distance": lambda: [*turns, *(slide(d) for d in perpendicular(gap))],
        "driven rotation": lambda: [slide(d) for d in every],
        "driven displacement": lambda: [*turns, *(slide(d) for d in perpendicular(w2))],
    }[joint]()


def twisting(mechanism, x, body, port, twist):
    """Velocities (ṙ, ω, u̇) of one body that moves rigidly with a twist about one of its ports."""
    sight, layout = Sight(mechanism, x), mechanism.layout
    v, at = np.zeros(layout.velocities), list(mechanism.bodies).index(body)
    _, r, R, _ = sight.body(body)
    v[3 * at : 3 * at + 3] = twist[:3] + np.cross(twist[3:], r - sight.point(port))
    start = layout.velocity_sizes[0] + 3 * at
    v[start : start + 3] = R.T @ twist[3:]
    return v


@between_bodies
def test_free_motions_do_no_work_against_the_constraints(kind, joint):
    """Tᵀ S = 0 and both together span all six: rank T = 6 − rank S."""
    run = run_with(kind, joint, SECOND)
    x, now = run.states[-1], Sight(run.mechanism, run.states[-1])
    G, _ = matrix_and_gap(run.mechanism, x, run.anchors, run.times[-1])
    gap = now.point(FIRST) - now.point(SECOND)
    allowed = screws(joint, gap, now.section(FIRST), now.section(SECOND))
    assert len(allowed) == 6 - JOINTS[joint][1]
    for twist in allowed:
        v = twisting(run.mechanism, x, "a", FIRST, twist)
        assert np.abs(G @ v).max() < 1e-13 * max(1.0, np.abs(G).max())
    forbidden = np.array([G @ twisting(run.mechanism, x, "a", FIRST, e) for e in np.eye(6)])
    assert np.linalg.matrix_rank(forbidden, tol=1e-3) == JOINTS[joint][1]


@each
def test_reactions_are_equal_and_opposite(kind, joint, second):
    """Forces add up to zero, and so do their moments about one point; in every frame."""
    for frame in ("world", "first", "second"):
        check_reactions(kind, joint, second, frame)


def check_reactions(kind, joint, second, frame):
    run = run_with(kind, joint, second)
    m, state = run.mechanism, run.final
    name = next(c.name for c in m.connections if c.rows)
    one, other = (m.reaction(state, name, on=on, frame=frame) for on in ("first", "second"))
    now = Sight(m, state.x)
    p1 = now.point(FIRST)
    p2 = p1 if second == GROUND else now.point(second)
    S = {"world": np.eye(3), "first": now.section(FIRST), "second": now.section(second)}[frame]
    size = np.abs(state.multipliers).max()
    assert size > 1e-3
    assert np.abs(one.force + other.force).max() < 1e-13 * size
    turned = np.linalg.solve(S.T, np.column_stack([one.force[0], one.torque[0], other.torque[0]]))
    total = turned[:, 1] + turned[:, 2] + np.cross(p1 - p2, turned[:, 0])
    assert np.abs(total).max() < 1e-13 * size * max(1.0, np.linalg.cond(S) - 1.0)
    assert (one.on, one.frame) == (FIRST, frame)


@between_bodies
def test_reactions_are_the_transposed_gradient(kind, joint):
    """λᵀG v = F·v₁ + T·ω₁ + F₂·v₂ + T₂·ω₂ for rigid motions of both bodies about their ports."""
    run = run_with(kind, joint, SECOND)
    m, state = run.mechanism, run.final
    # drives take their coefficients from the time of the state
    G, _ = matrix_and_gap(m, state.x, run.anchors, state.time)
    name, rng = m.connections[0].name, np.random.default_rng(5)
    one, other = (m.reaction(state, name, on=on) for on in ("first", "second"))
    for t1, t2 in rng.standard_normal((3, 2, 6)):
        v = twisting(m, state.x, "a", FIRST, t1) + twisting(m, state.x, "b", SECOND, t2)
        power = one.force[0] @ t1[:3] + one.torque[0] @ t1[3:] + other.force[0] @ t2[:3] + other.torque[0] @ t2[3:]
        assert state.multipliers @ G @ v == pytest.approx(power, abs=1e-13 * np.abs(state.multipliers).max() * 10)


def test_frames_of_reactions_turn_with_the_sections():
    run = run_with("rigid", "weld", SECOND)
    now, name = Sight(run.mechanism, run.final.x), "weld a.p–b.q"
    world = run.mechanism.reaction(run.final, name)
    for frame, port in (("first", FIRST), ("second", SECOND)):
        own = run.mechanism.reaction(run.final, name, frame=frame)
        assert now.section(port) @ own.force[0] == pytest.approx(world.force[0], abs=1e-13)
        assert now.section(port) @ own.torque[0] == pytest.approx(world.torque[0], abs=1e-13)


# --- exchange of the bodies -------------------------------------------------------------------------------------------

BACK = STATED.inv()
TORSION = {"stiffness": 9.0, "damping": 0.3}
EXCHANGES = {
    "spherical": (spherical(FIRST, SECOND), spherical(SECOND, FIRST)),
    "revolute": (revolute(FIRST, SECOND, **SAME), revolute(SECOND, FIRST, axis=A2, second_axis=A1)),
    "universal": (universal(FIRST, SECOND, **SAME), universal(SECOND, FIRST, axis=A2, second_axis=A1)),
    "cylindrical": (cylindrical(FIRST, SECOND, **SAME), cylindrical(SECOND, FIRST, axis=A2, second_axis=A1)),
    "planar": (
        planar(FIRST, SECOND, normal=A1, second_normal=A2),
        planar(SECOND, FIRST, normal=A2, second_normal=A1),
    ),
    "weld": (weld(FIRST, SECOND), weld(SECOND, FIRST)),
    "stated weld": (weld(FIRST, SECOND, rotation=STATED), weld(SECOND, FIRST, rotation=BACK)),
    "distance": (distance(FIRST, SECOND), distance(SECOND, FIRST)),
    "driven rotation": (
        drive(FIRST, SECOND, rotation=orientation),
        drive(SECOND, FIRST, rotation=lambda t: orientation(t).inv()),
    ),
    "spring": tuple(
        spring_damper(*p, stiffness=9.0, damping=0.3, length=0.2) for p in ((FIRST, SECOND), (SECOND, FIRST))
    ),
}


def with_joint(*connections):
    """Connections on a hinge about one axis, exchanged: what an angle needs."""
    return (
        (revolute(FIRST, SECOND, **SAME), connections[0]),
        (revolute(FIRST, SECOND, **SAME), connections[1]),
    )


ABOUT = {
    "driven angle": with_joint(
        drive(FIRST, SECOND, angle=turning, **SAME),
        drive(SECOND, FIRST, angle=lambda t: -turning(t), axis=A2, second_axis=A1),
    ),
    "torsion spring": with_joint(
        torsion_spring(FIRST, SECOND, angle=0.2, **TORSION, **SAME),
        torsion_spring(SECOND, FIRST, angle=-0.2, **TORSION, axis=A2, second_axis=A1),
    ),
}


@pytest.mark.parametrize("name", [name for name in (*EXCHANGES, *ABOUT) if name != "cylindrical"])
def test_exchanged_bodies_make_the_same_motion(name):
    """Of rigid sections over one second."""
    pair = EXCHANGES.get(name) or ABOUT[name]
    one, other = (jointed("rigid", *(c if isinstance(c, tuple) else (c,))) for c in pair)
    one = run_of(one, end=1.0, steps=40)
    start = other.consistent_state(other.assemble(guess=placed(one)), velocities=random_velocities(other, 0))
    other = integrate(other, start, one.times)
    own = sum(one.mechanism.layout.position_sizes) + one.mechanism.layout.velocities  # the spring force changes sign
    assert np.abs(one.states[-1, :own] - one.states[0, :own]).max() > 0.1
    # poses agree to 1e-15, and differences of neighbouring motions grow in a second
    assert np.abs(other.states[:, :own] - one.states[:, :own]).max() < 1e-10


def test_an_exchanged_cylindrical_joint_makes_the_same_motion_to_second_order():
    """The same constraints, but x̄₂ and ȳ₂ that carry the force turn with one body or with the other."""
    apart = []
    for steps in (20, 40, 80):
        one, other = (jointed("rigid", c) for c in EXCHANGES["cylindrical"])
        one = run_of(one, end=1.0, steps=steps)
        start = other.consistent_state(other.assemble(guess=placed(one)), velocities=random_velocities(other, 0))
        apart.append(np.abs(integrate(other, start, one.times).states[-1] - one.states[-1]).max())
    assert np.log2(np.divide(apart[:-1], apart[1:])) == pytest.approx(2.0, abs=0.15)
    assert apart[-1] < 1e-4


def test_a_prismatic_joint_may_be_exchanged():
    """The line is fixed in the rail's section: of rigid bodies, with the direction carried over."""
    turn = GUESS["a"][1].inv() * GUESS["b"][1]
    one = run_of(jointed("rigid", prismatic(FIRST, SECOND, direction=A2)), end=1.0, steps=40)
    at = Sight(one.mechanism, one.states[0])
    carried = at.section(FIRST).T @ at.section(SECOND) @ A2
    assert np.linalg.norm(carried - turn.apply(A2)) < 0.1
    back = jointed("rigid", prismatic(SECOND, FIRST, direction=tuple(carried)))
    start = back.consistent_state(back.assemble(guess=placed(one)), velocities=random_velocities(back, 0))
    other = integrate(back, start, one.times)
    assert np.abs(one.states[-1] - one.states[0]).max() > 0.1
    assert np.abs(other.states - one.states).max() < 1e-10


def placed(run):
    """Guesses at the first pose of a run."""
    now, found = Sight(run.mechanism, run.states[0]), {}
    for name in run.mechanism.bodies:
        body, r, R, _ = now.body(name)
        found[name] = (r - R @ body.inertia.centre, R)
    return found


def arms(load, first, second, joint):
    """Two beams, the first held, jointed and bent by a force at the end: the tip displacement in equilibrium."""
    made = {"a": beam(0.5, strain="linear"), "b": beam(0.4, strain="linear")}
    bend = np.array([0.03, 0.4, -0.7])
    mechanism = connect(made, [weld("a.root", GROUND), joint(first, second), *holding(joint), force("b.tip")])
    pose = mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3))}, guess={"b": ((0.5, 0.0, 0.0), KNEE)})
    state = mechanism.equilibrium(pose, inputs={"force b.tip": load * bend})
    return Sight(mechanism, state.x).point("b.tip") - pose_tip()


KNEE = Rotation.from_rotvec((0.3, 0.2, 1.1))
AXIS_A = (0.3, 0.5, 0.8)
AXIS_B = tuple(KNEE.inv().apply(AXIS_A))


def pose_tip():
    return np.array([0.5, 0.0, 0.0]) + KNEE.apply([0.4, 0.0, 0.0])


def holding(joint):
    """A spring that keeps a hinged arm where it is assembled."""
    axes = {"axis": AXIS_A, "second_axis": AXIS_B}
    return [] if joint is weld else [torsion_spring("a.tip", "b.root", stiffness=1.0, **axes)]


def hinged(p, q):
    axes = {"a": AXIS_A, "b": AXIS_B}
    return revolute(p, q, axis=axes[p[0]], second_axis=axes[q[0]])


@pytest.mark.slow
def test_exchange_on_flexible_sections_differs_with_the_square_of_their_rotation():
    """a₁·x₂ = a₁·y₂ = 0 against a₂·x₁ = a₂·y₁ = 0 with linearised sections: half the load, a quarter of it."""
    loads = (0.05, 0.025, 0.0125)
    one = np.array([arms(s, "a.tip", "b.root", hinged) for s in loads])
    other = np.array([arms(s, "b.root", "a.tip", hinged) for s in loads])
    apart = np.linalg.norm(one - other, axis=1)
    assert np.log2(apart[:-1] / apart[1:]) == pytest.approx(2.0, abs=0.15)
    assert 1e-5 < apart[0] / np.linalg.norm(one[0]) < 0.1


def test_an_exchanged_weld_is_the_same_on_flexible_sections():
    """A A₀ᵀ is symmetric if and only if AᵀA₀ is."""
    one, other = (arms(0.4, *ports, weld) for ports in (("a.tip", "b.root"), ("b.root", "a.tip")))
    assert np.linalg.norm(one) > 1e-3
    assert other == pytest.approx(one, abs=1e-11)


# --- stated and as assembled ------------------------------------------------------------------------------------------


def test_stated_values_equal_to_those_assembled_make_the_same_run():
    relative = GUESS["b"][1].inv() * GUESS["a"][1]
    for pair in (
        (weld(FIRST, SECOND), weld(FIRST, SECOND, rotation=relative)),
        (spherical(FIRST, GROUND), spherical(FIRST, GROUND.at(*port_at("a", "p")))),
    ):
        one, other = (run_of(jointed("rigid", c)) for c in pair)
        assert np.abs(one.states - other.states).max() < 1e-12


def port_at(name, port):
    position, turn = GUESS[name]
    return np.add(position, turn.as_matrix() @ bodies("rigid")[name].ports[port].position)


def test_a_stated_weld_turns_the_assembled_body():
    for rotation in (STATED, STATED.as_matrix()):
        mechanism = jointed("rigid", weld(FIRST, SECOND, rotation=rotation))
        pose = mechanism.assemble({"b": GUESS["b"]})
        assert pose.rotations[1].T @ pose.rotations[0] == pytest.approx(STATED.as_matrix(), abs=1e-14)


# --- axes -------------------------------------------------------------------------------------------------------------


def smallest_turn(a, b):
    """The smallest rotation that takes direction a to direction b."""
    a, b = unit(a), unit(b)
    axis = np.cross(a, b)
    angle = math.atan2(np.linalg.norm(axis), a @ b)
    return Rotation.from_rotvec(angle * unit(axis)).as_matrix() if angle > 0.0 else np.eye(3)


AXES = {
    "equal": (A1, A1),
    "other": (A1, A2),
    "z": ((0, 0, 1), (0, 0, 1)),
    "x to y": ((1, 0, 0), (0, 1, 0)),
    "not of length one": ((0, 0, 5), (0, 0, 0.1)),
    "nearly opposite": ((0, 0, 1), (0, 1e-5, -1)),
}


@covering("name, second, angle", tuple(AXES), ("body", "ground"), (0.0, 0.4, -1.2, 2.9))
def test_a_driven_angle_is_positive_about_its_axis(name, second, angle):
    """R₁ = R₂ C exp(α [a₁]×), C the smallest rotation with C a₁ = a₂: the angle is zero where R₁ = R₂ C."""
    a1, a2 = AXES[name]
    other = "b.q" if second == "body" else PLACED
    joints = [
        revolute(FIRST, other, axis=a1, second_axis=a2),
        drive(FIRST, other, angle=lambda t: angle, axis=a1, second_axis=a2),
    ]
    mechanism = jointed("rigid", *joints)
    R2 = GUESS["b"][1].as_matrix() if second == "body" else np.eye(3)
    expected = R2 @ smallest_turn(a1, a2) @ Rotation.from_rotvec(angle * unit(a1)).as_matrix()
    near = Rotation.from_matrix(expected) * Rotation.from_rotvec((0.2, -0.3, 0.25))
    pose = mechanism.assemble({"b": GUESS["b"]}, guess={"a": near})
    assert pose.rotations[0] == pytest.approx(expected, abs=1e-9)  # nearly opposite axes: 1e-16/1e-5


def test_sections_of_opposite_axes_stand_back_to_back():
    """A joint of opposite axes: sections back to back, positive about the axis of the first."""
    angle = 0.5
    axes = {"axis": (0, 0, 1), "second_axis": (0, 0, -1)}
    joints = [revolute(FIRST, PLACED, **axes), drive(FIRST, PLACED, angle=lambda t: angle + t, **axes)]
    mechanism = jointed("rigid", *joints)
    poses = [
        mechanism.assemble(guess={"a": Rotation.from_rotvec((math.pi - 0.4, 0.2, 0.3))}, time=t) for t in (0.0, 0.3)
    ]
    R = [p.rotations[0] for p in poses]
    assert R[0] @ [0, 0, 1] == pytest.approx([0, 0, -1], abs=1e-14)
    assert Rotation.from_matrix(R[0].T @ R[1]).as_rotvec() == pytest.approx([0, 0, 0.3], abs=1e-13)
    # zero where both are apart by π about the first direction of the frame, which is x
    zero = R[0] @ Rotation.from_rotvec((0, 0, -angle)).as_matrix()
    assert zero == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-13)


@pytest.mark.parametrize("rate", [3.0, -3.0])
def test_driven_angles_turn_on_without_bound(rate):
    """Three turns: spins about the axis with the sign of the rate, no jump at ±π."""
    joints = [revolute(FIRST, PLACED, **SAME), drive(FIRST, PLACED, angle=lambda t: 0.2 + rate * t, **SAME)]
    mechanism = connect({"a": block()}, joints)
    start = mechanism.consistent_state(mechanism.assemble(guess={"a": Rotation.from_rotvec((0.6, -0.8, 0.9))}))
    run = integrate(mechanism, start, np.linspace(0.0, 7.0, 71))
    expected = 2.0 / 0.1 * math.tan(0.5 * 0.1 * rate)  # mean spin over a step of Cayley's rotation
    assert run.spin("a").mean(axis=0) == pytest.approx(expected * unit(A2), rel=2e-2)
    assert start.x[mechanism.layout.parts["a.spin"]] == pytest.approx(rate * unit(A1), rel=1e-7)
    total = 0.2 + rate * run.times
    want = np.array([smallest_turn(A1, A2) @ Rotation.from_rotvec(t * unit(A1)).as_matrix() for t in total])
    assert np.abs(run.rotations("a") - want).max() < 1e-13


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_torsion_spring_turns_towards_its_angle(sign):
    """J α̈ = k (α₀ − α) at the start, positive about the axis."""
    spring = torsion_spring("a.root", GROUND, stiffness=2.0, angle=0.3 * sign, axis=(0, 0, 1))
    mechanism = connect(
        {"a": rigid.cylinder(1.0, 0.1, density=100.0)}, [hinge("a.root", GROUND, axis=(0, 0, 1)), spring]
    )
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, np.linspace(0.0, 1e-3, 11))
    m = mechanism.bodies["a"].mass
    J = m * (3.0 * 0.01 + 4.0 * 1.0) / 12.0
    assert run.spin("a")[-1] == pytest.approx([0.0, 0.0, sign * 2.0 * 0.3 / J * 1e-3], rel=1e-4, abs=1e-12)


def test_a_bushing_has_the_signs_of_its_axes():
    """Small displacements and turns of the first section against the second: −k d, −κ α in the axes of the second."""
    k, kt = np.array([3.0, 5.0, 7.0]), np.array([0.2, 0.4, 0.6])
    turn = Rotation.from_rotvec((0.5, 0.2, -0.7))
    bush = bushing("a.centre", "b.centre", stiffness=k, torsional_stiffness=kt)
    made = {"a": rigid.sphere(0.3, density=10.0), "b": rigid.sphere(0.3, density=10.0)}
    mechanism = connect(made, [bush, weld("b.centre", GROUND)])
    pose = mechanism.assemble({"a": ((0, 0, 0), turn), "b": ((0, 0, 0), turn)})
    state = mechanism.consistent_state(pose)
    small, turned = 1e-5 * np.array([1.0, -2.0, 0.5]), 1e-5 * np.array([0.3, 1.0, -0.8])
    x = moved(mechanism, state.x, np.concatenate([turn.apply(small), np.zeros(3), turned, np.zeros(3)]))
    h, m, J = 1e-4, made["a"].mass, 0.4 * made["a"].mass * 0.09
    values = np.concatenate([k * small, kt * turned])
    x[-6:] = values  # the spring forces that go with it
    run = integrate(mechanism, replace(state, x=x), [0.0, h])
    v, spin = run["a.velocity"][-1], run["a.spin"][-1]
    assert turn.inv().apply(v) == pytest.approx(-h / m * k * small, rel=1e-4)
    assert spin == pytest.approx(-h / J * kt * turned, rel=1e-4)  # sections are 1e-5 apart


# --- assembly ---------------------------------------------------------------------------------------------------------

FAR = [Rotation.from_rotvec(angle * unit(axis)) for angle in (1.6, 3.0) for axis in ((1, 0, 0), (1, -2, 3))]
CLOSING = ["hinge", "revolute", "universal", "cylindrical", "planar", "stated weld", "spherical"]


@covering("joint, far, second", tuple(CLOSING), tuple(FAR), (SECOND, PLACED))
def test_joints_close_from_far_guesses(joint, far, second):
    """From 90° to 172° away and metres apart; the axes point the same way then."""
    mechanism = jointed("rigid", JOINTS[joint][0](FIRST, second))
    pose = mechanism.assemble({"b": GUESS["b"]}, guess={"a": ((3.0, -2.0, 1.0), GUESS["b"][1] * far)})
    now = Sight(mechanism, mechanism.consistent_state(pose).x)
    a1, a2 = lined(joint, second)
    S1, S2 = now.section(FIRST), now.section(second)
    if joint in ("hinge", "revolute", "cylindrical", "planar"):
        assert S1 @ unit(a1) == pytest.approx(S2 @ unit(a2), abs=1e-13)
    if joint == "stated weld":
        assert np.abs(S2.T @ S1 - STATED.as_matrix()).max() < 1e-13
    if joint == "universal":
        assert abs((S1 @ a1) @ (S2 @ a2)) < 1e-13
    if joint not in ("cylindrical", "planar"):
        assert now.point(FIRST) == pytest.approx(now.point(second), abs=1e-13)


@pytest.mark.parametrize("joint", ["hinge", "cylindrical", "planar", "stated weld"])
@pytest.mark.parametrize("seed", range(4))
def test_joints_close_from_exactly_opposite_guesses(joint, seed):
    """Axes back to back (and a weld that is half a turn off) are stationary: they must not be taken for closed."""
    mechanism = jointed("rigid", JOINTS[joint][0](FIRST, PLACED))
    a1, a2 = (unit(a) for a in lined(joint, PLACED))
    flip = Rotation.from_rotvec(math.pi * perpendicular(a2)[seed % 2]).as_matrix()
    turn = STATED.as_matrix() if joint == "stated weld" else smallest_turn(a1, a2)
    spin = Rotation.from_rotvec(0.4 * seed * a1).as_matrix() if joint != "stated weld" else np.eye(3)
    pose = mechanism.assemble(guess={"a": flip @ turn @ spin, "b": GUESS["b"]})
    S1 = pose.rotations[0]
    if joint == "stated weld":
        assert np.abs(S1 - STATED.as_matrix()).max() < 1e-13
    else:
        assert np.abs(S1 @ a1 - a2).max() < 1e-13


@pytest.mark.parametrize("angle", [1.0, 1.7, 2.6, math.pi])
def test_driven_rotations_are_met_from_far_guesses(angle):
    """The pose must be the driven one, not one that differs from it by half a turn."""
    mechanism = jointed("rigid", spherical(FIRST, PLACED), drive(FIRST, PLACED, rotation=orientation))
    far = orientation(0.0) * Rotation.from_rotvec(angle * unit((1, 2, -1)))
    pose = mechanism.assemble(guess={"a": far, "b": GUESS["b"]})
    assert pose.rotations[0] == pytest.approx(orientation(0.0).as_matrix(), abs=1e-13)


@pytest.mark.parametrize("off", [1.0, 1.7, 2.6, -2.8])
def test_driven_angles_are_met_from_far_guesses(off):
    joints = [revolute(FIRST, PLACED, axis=A1), drive(FIRST, PLACED, angle=lambda t: 0.3, axis=A1)]
    mechanism = jointed("rigid", *joints)
    pose = mechanism.assemble(guess={"a": Rotation.from_rotvec((0.3 + off) * unit(A1)), "b": GUESS["b"]})
    assert pose.rotations[0] == pytest.approx(Rotation.from_rotvec(0.3 * unit(A1)).as_matrix(), abs=1e-13)


# --- closed loops -----------------------------------------------------------------------------------------------------

ROUND = {"radius": 0.02, "density": 1000.0}
Z = (0.0, 0.0, 1.0)


def rods(*lengths):
    return {name: rigid.cylinder(length, **ROUND) for name, length in zip("abcd", lengths, strict=False)}


LENGTHS = 0.3, 0.8, 0.6, 0.7  # crank, coupler, follower, ground


def four_bar(kinds, tilt=None, gravity=(0.0, 0.0, 0.0)):
    """A planar four-bar linkage posed in space: four joints about one axis of the world, or a choice of others."""
    turn = np.eye(3) if tilt is None else tilt.as_matrix()
    make = {
        "revolute": lambda p, q: revolute(p, q, axis=Z, second_axis=Z if isinstance(q, str) else tuple(turn @ Z)),
        "spherical": spherical,
        "universal": lambda p, q: universal(p, q, axis=Z, second_axis=tuple(turn @ (1.0, 0.0, 0.0))),
    }
    pairs = [
        ("a.root", GROUND.at(0.0, 0.0, 0.0)),
        ("a.tip", "b.root"),
        ("b.tip", "c.root"),
        ("c.tip", GROUND.at(*(turn @ (LENGTHS[3], 0.0, 0.0)))),
    ]
    joints = [make[kind](*pair) for kind, pair in zip(kinds, pairs, strict=True)]
    mechanism = connect(rods(*LENGTHS[:3]), joints, gravity=tuple(turn @ gravity))
    about = lambda angle: turn @ Rotation.from_rotvec((0, 0, angle)).as_matrix()  # noqa: E731
    pose = mechanism.assemble({"a": about(1.0)}, guess={"b": about(0.4), "c": about(-1.2)})
    return mechanism, pose


def test_four_revolutes_are_refused_by_name():
    """A planar loop in space: three constraints too many, each named with what it follows from."""
    mechanism, pose = four_bar(["revolute"] * 4)
    start = mechanism.consistent_state(pose)
    with pytest.raises(ValueError, match=r"redundant constraint.*revolute .*follows from") as caught:
        integrate(mechanism, start, [0.0, 0.1])
    assert "least_norm" in str(caught.value)
    with pytest.raises(ValueError, match="least_norm"):
        mechanism.equilibrium(pose)


def test_a_four_bar_without_redundance():
    """Two hinges, a universal and a spherical joint leave one freedom: the loop moves as the planar one does."""
    mechanism, pose = four_bar(NEEDED)
    G, _ = matrix_and_gap(mechanism, mechanism.consistent_state(pose).x, pose.anchors)
    assert G.shape == (17, 18)
    assert np.linalg.matrix_rank(G, tol=1e-8) == 17


@pytest.mark.parametrize("seed", range(3))
def test_an_rssr_loop_closes_and_balances(seed):
    """Revolute, spherical, spherical, revolute: closes from rough guesses, two freedoms (the coupler's own spin)."""
    rng = np.random.default_rng(seed)
    crank, rocker = ((0.0, 0.0, 1.0), tuple(unit((0.2, 1.0, 0.3) + 0.2 * rng.standard_normal(3))))
    joints = [
        revolute("a.root", GROUND.at(0.0, 0.0, 0.0), axis=Z, second_axis=crank),
        spherical("a.tip", "b.root"),
        spherical("b.tip", "c.tip"),
        revolute("c.root", GROUND.at(0.8, 0.1, -0.2), axis=Z, second_axis=rocker),
    ]
    mechanism = connect(rods(0.2, 0.9, 0.5), joints, gravity=(0.0, 0.0, -9.81))
    rough = {name: ((0.1, 0.1, 0.2), random_rotation(rng)) for name in "abc"}
    pose = mechanism.assemble(guess=rough)
    start = mechanism.consistent_state(pose, velocities={"a": tuple(4.0 * np.array(crank))})
    G, gap = matrix_and_gap(mechanism, start.x, pose.anchors)
    assert np.linalg.matrix_rank(G, tol=1e-9) == 16
    assert np.abs(gap).max() < 1e-14
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 41))
    assert run.ledger.position_residual.max() < 1e-14
    assert run.ledger.largest_residual < 1e-13
    assert np.abs(run.rotations("a") @ Z - crank).max() < 1e-13


NEEDED = ["revolute", "revolute", "spherical", "universal"]
TILT = Rotation.from_rotvec((0.6, -0.9, 0.4))


def swing(kinds, tilt=None, end=0.5, **options):
    mechanism, pose = four_bar(kinds, tilt, gravity=(0.0, -9.81, 0.0))
    axis = (np.eye(3) if tilt is None else tilt.as_matrix()) @ Z
    start = mechanism.consistent_state(pose, velocities={"a": tuple(6.0 * axis)})
    return integrate(mechanism, start, np.linspace(0.0, end, round(end / 0.01) + 1), **options)


@pytest.mark.parametrize("tilt", [None, TILT], ids=["straight", "tilted"])
def test_redundant_hinges_make_the_motion_of_those_that_are_needed(tilt):
    one, other = swing(["revolute"] * 4, tilt, method=Exact(redundant="least_norm")), swing(NEEDED, tilt)
    own = sum(one.mechanism.layout.position_sizes) + one.mechanism.layout.velocities
    assert np.abs(one.states[-1, :own] - one.states[0, :own]).max() > 0.5
    # round-off of 1e-16 per step, which the motion of a linkage near its dead centres amplifies
    assert np.abs(one.states[:, :own] - other.states[:, :own]).max() < 1e-10
    assert one.ledger.position_residual.max() < 1e-13
    assert one.ledger.largest_residual < 1e-13
    assert one.orthogonality() < 1e-13
    forces = [run.reaction("revolute a.root–GROUND at (0.0, 0.0, 0.0)").force for run in (one, other)]
    plane = np.eye(3) if tilt is None else tilt.as_matrix()
    off = np.abs((forces[0] - forces[1]) @ plane[:, :2]).max(axis=1)
    # the correction that makes stage multipliers second order is taken by the last Jacobian of the step; a run may make
    # that anew where the other goes on with the first, which is then as good as the rate at which it converges
    correction = np.abs(other.multipliers - other.stage_multipliers).max(axis=1)
    assert np.all(off <= 1e-8 + NEWTON.slow * correction)
    assert np.sum(off > 1e-8) <= 2


def unforced(mechanism, x, anchors):
    """Multipliers without any force: a basis of the null space of Gᵀ, in columns."""
    G, _ = matrix_and_gap(mechanism, x, anchors)
    left, values, _ = np.linalg.svd(G)
    return left[:, np.sum(values > 1e-9 * values[0]) :]


def size_of(mechanism):
    """Forces count as they are, torques as forces at the lever of the mechanism's size."""
    size = max(LENGTHS[:3]) / 2.0  # of the farthest port from its centre of mass
    units = [row.unit for c in mechanism.connections for row in c.rows]
    return np.array([size if unit == "N m" else 1.0 for unit in units])


def test_multipliers_of_redundant_joints_are_the_smallest():
    """λ is perpendicular, in the norm ‖W⁻¹λ‖, to all multipliers that make no force."""
    run = swing(["revolute"] * 4, TILT, end=0.05, method=Exact(redundant="least_norm"))
    weight = size_of(run.mechanism)
    for x, lam in zip(run.states[1:], run.stage_multipliers, strict=True):
        free = unforced(run.mechanism, x, run.anchors)
        assert free.shape[1] == 3
        # the joints are about one axis at all times: what makes no force does not change
        assert np.abs(free.T @ (lam / weight**2)).max() < 1e-9 * np.abs(lam / weight**2).max()


def test_redundant_joints_in_equilibrium_are_those_of_the_run():
    """At rest under gravity: the multipliers of statics, and of a step that goes nowhere, are the same."""
    mechanism, pose = four_bar(["revolute"] * 4, TILT, gravity=(0.0, -9.81, 0.0))
    state = mechanism.equilibrium(pose, redundant="least_norm")
    run = integrate(mechanism, state, np.linspace(0.0, 0.1, 6), method=Exact(redundant="least_norm"))
    own = sum(mechanism.layout.position_sizes)
    assert np.abs(run.states[:, :own] - state.x[:own]).max() < 1e-12
    force_of = lambda lam: matrix_and_gap(mechanism, state.x, pose.anchors)[0].T @ lam  # noqa: E731
    assert force_of(run.multipliers[-1]) == pytest.approx(force_of(state.multipliers), abs=1e-9)
    assert run.multipliers[-1] == pytest.approx(state.multipliers, abs=1e-8)


# --- Bennett's linkage

LINKS = {"a": (0.4, 0.9), "b": (0.3, math.asin(0.75 * math.sin(0.9)))}  # length, twist: sin of it as the length


def bennett(theta):
    """Four hinges about skew axes, opposite links equal; it moves although counting says −2 freedoms.

    ``tan ½θ₁ tan ½θ₂ = sin ½(β + α)/sin ½(β − α)`` (Bennett 1903; Hunt, Kinematic Geometry of Mechanisms, sec. 10).
    """
    made, far, place = {}, {}, []
    at, turn = np.zeros(3), np.eye(3)
    for name, link, angle in zip("abcd", "abab", theta, strict=True):
        length, twist = LINKS[link]
        turn = turn @ Rotation.from_rotvec((0.0, 0.0, angle)).as_matrix()
        place.append((at, turn))
        at = at + turn @ (length, 0.0, 0.0)
        turn = turn @ Rotation.from_rotvec((twist, 0.0, 0.0)).as_matrix()
        far[name] = (0.0, -math.sin(twist), math.cos(twist))
        made[name] = rigid.body(
            0.5,
            inertia=(0.002, 0.006, 0.007),
            centre=(0.5 * length, 0.0, 0.0),
            ports={"root": (0.0, 0.0, 0.0), "tip": (length, 0.0, 0.0)},
        )
    assert at == pytest.approx(np.zeros(3), abs=1e-12)  # the loop closes
    assert turn == pytest.approx(np.eye(3), abs=1e-12)
    joints = [revolute(f"{q}.root", f"{p}.tip", axis=Z, second_axis=far[p]) for p, q in ("ab", "bc", "cd", "da")]
    mechanism = connect(made, [*joints, weld("d.root", GROUND)], gravity=(0.0, -9.81, 3.0))
    return mechanism, dict(zip("abcd", place, strict=True))


def angles(first):
    alpha, beta = LINKS["a"][1], LINKS["b"][1]
    ratio = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    second = 2.0 * math.atan(ratio / math.tan(0.5 * first))
    return first, second, -first, -second


def test_bennetts_loop_keeps_the_relation_of_its_angles():
    """Three constraints too many; the loop moves, and keeps the relation of its angles."""
    theta = angles(1.9)
    mechanism, place = bennett(theta)
    pose = mechanism.assemble({"d": place["d"]}, guess={name: place[name] for name in "abc"})
    start = mechanism.consistent_state(pose)
    G, gap = matrix_and_gap(mechanism, start.x, pose.anchors)
    assert np.abs(gap).max() < 1e-14
    values = np.linalg.svd(G, compute_uv=False)
    assert G.shape == (26, 24)
    assert values[22] > 1e-3 * values[0]
    assert values[23] < 1e-13 * values[0]
    with pytest.raises(ValueError, match="redundant"):
        integrate(mechanism, start, [0.0, 0.01])
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 51), method=Exact(redundant="least_norm"))
    assert run.ledger.position_residual.max() < 1e-12
    assert run.ledger.largest_residual < 1e-12
    turned = []
    for R, previous, twist in (("a", "d", LINKS["b"][1]), ("b", "a", LINKS["a"][1])):
        before = run.rotations(previous) @ Rotation.from_rotvec((twist, 0.0, 0.0)).as_matrix()
        relative = np.swapaxes(before, 1, 2) @ run.rotations(R)
        turned.append(np.arctan2(relative[:, 1, 0], relative[:, 0, 0]))
    assert np.ptp(turned[0]) > 0.3
    product = np.tan(0.5 * turned[0]) * np.tan(0.5 * turned[1])
    assert product == pytest.approx(math.tan(0.5 * theta[0]) * math.tan(0.5 * theta[1]), rel=1e-10)


@pytest.mark.filterwarnings("ignore:velocities leave:flexph.ValidityWarning")  # of round-off at rest
def test_multipliers_of_bennetts_linkage():
    """In equilibrium: the smallest by the norm that ``integrate`` states, and the same in statics and in a run."""
    mechanism, place = bennett(angles(1.9))
    pose = mechanism.assemble({"d": place["d"]}, guess={name: place[name] for name in "abc"})
    state = mechanism.equilibrium(pose, redundant="least_norm")
    run = integrate(mechanism, state, np.linspace(0.0, 0.1, 6), method=Exact(redundant="least_norm"))
    assert np.abs(run.states - state.x).max() < 1e-11
    free = unforced(mechanism, state.x, pose.anchors)
    assert free.shape[1] == 3
    turns = np.array([row.unit == "N m" for c in mechanism.connections for row in c.rows])
    for lam in (run.multipliers[-1], state.multipliers):
        # forces and torques/size² are perpendicular to what makes no force: one number, size⁻², meets three equations
        forces, torques = free[~turns].T @ lam[~turns], free[turns].T @ lam[turns]
        square = -float(torques @ forces) / float(torques @ torques)
        assert np.abs(forces + square * torques).max() < 1e-8 * np.abs(forces).max()
        assert 0.1 < square**-0.5 < 0.9  # the linkage is half a metre large
    assert run.multipliers[-1] == pytest.approx(state.multipliers, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("count", [30, 70])
def test_multipliers_of_many_loops(count):
    """Four-bars of revolutes in a row: three constraints of each follow from others.

    All rods turn alike: ((n + 1) J + n m l²) θ̈ = −((n + 1)/2 + n) m g l cos θ.
    """
    rod = rigid.body(
        1.0, inertia=(1e-3, 1.0 / 12.0, 1.0 / 12.0), centre=(0.5, 0, 0), ports={"root": (0, 0, 0), "tip": (1, 0, 0)}
    )
    up, across = Rotation.from_euler("z", 0.5 * np.pi), (0.0, 0.0, 1.0)
    places = {f"rod{k}": ((float(k), 0.0, 0.0), up) for k in range(count + 1)}
    places |= {f"bar{k}": ((float(k), 1.0, 0.0), Rotation.identity()) for k in range(count)}
    joints = [revolute(f"rod{k}.root", GROUND.at(float(k), 0.0, 0.0), axis=across) for k in range(count + 1)]
    for k in range(count):
        ends = (f"bar{k}.root", f"rod{k}.tip"), (f"bar{k}.tip", f"rod{k + 1}.tip")
        joints += [revolute(*own, axis=across) for own in ends]
    mechanism = connect(dict.fromkeys(places, rod), joints, gravity=(0.0, -9.81, 0.0))
    swinging = {n: ((-1.0, 0, 0), (0, 0, 0)) if n[0] == "b" else ((0, 0, 0), (0, 0, 1.0)) for n in places}
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities=swinging)
    run = integrate(mechanism, start, np.linspace(0.0, 2e-3, 3), method=Exact(redundant="least_norm"))
    assert mechanism.layout.multipliers == 15 * count + 5
    loaded, inertia = 0.5 * (count + 1) + count, (count + 1) / 3.0 + count
    turning = lambda t, y: [y[1], -9.81 * loaded / inertia * math.cos(y[0])]  # noqa: E731
    angle, _ = solve_ivp(turning, (0.0, 2e-3), [0.5 * math.pi, 1.0], rtol=1e-12, atol=1e-12).y[:, -1]
    for k in (0, 7, count):
        tip = run.position(f"rod{k}.tip")[-1] - (float(k), 0.0, 0.0)
        np.testing.assert_allclose(tip, [math.cos(angle), math.sin(angle), 0.0], rtol=0, atol=2e-9)  # of order h²
    assert run.ledger.largest_residual < 1e-12 and run.ledger.position_residual.max() < 1e-13
    free = unforced(mechanism, run.states[-1], start.anchors)
    assert free.shape[1] == 3 * count
    assert np.abs(free.T @ run.multipliers[-1]).max() < 1e-10  # no part that makes no force, whatever its unit
