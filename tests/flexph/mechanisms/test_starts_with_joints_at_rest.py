"""Bodies that nobody gave a velocity: a warning where least kinetic energy moves free joints, and joints at rest."""

import warnings

import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    cylindrical,
    distance,
    drive,
    gear,
    hinge,
    prismatic,
    revolute,
    slider,
    spherical,
    universal,
    weld,
)

TOLD = r"bodies without a given velocity start with the least kinetic energy"
RATE = 20.0
HUB = rigid.body(1.0, inertia=1.0, ports={"c": (0.0, 0.0), "h": (0.3, 0.0)})
BLADE = rigid.bar(2.0, 6.0)
PIN = hinge("hub.c", GROUND.at(0.0, 0.0))
TURN = drive("hub.c", angle=lambda t: RATE * t)
Z = (0.0, 0.0, 1.0)


def silent(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return make()


def rotor(*others):
    mechanism = connect({"hub": HUB, "b": BLADE}, [PIN, *others, hinge("b.root", "hub.h")])
    return mechanism, mechanism.assemble({"hub": (0.0, 0.0, 0.0)}, guess={"b": (0.3, 0.0, 0.0)})


def motion(mechanism, state, body):
    parts = mechanism.layout.parts
    return state.x[parts[f"{body}.velocity"]], state.x[parts[f"{body}.spin"]]


@pytest.mark.parametrize("driven", [True, False])
def test_a_blade_that_nobody_gave_a_velocity(driven):
    """Driven or given, the hub turns with 20 rad/s; of least energy the blade has J θ̇ + m l/2 (v + l/2 θ̇) = 0."""
    mechanism, pose = rotor(*([TURN] if driven else []))
    given = {} if driven else {"hub": RATE}
    with pytest.warns(UserWarning, match=TOLD + r".*: 'b' has -4\.5, not 20 rad/s. Use joints='at rest'"):
        start = mechanism.consistent_state(pose, velocities=given)
    assert motion(mechanism, start, "b")[1] == pytest.approx([-1.5 * 0.3 * RATE / 2.0])
    free = silent(lambda: mechanism.consistent_state(pose, velocities=given, joints="free"))
    assert np.array_equal(free.x, start.x)
    turning = silent(lambda: mechanism.consistent_state(pose, velocities=given, joints="at rest"))
    velocity, spin = motion(mechanism, turning, "b")
    assert spin == pytest.approx([RATE], rel=1e-12)
    assert velocity == pytest.approx([0.0, RATE * 1.3], abs=1e-11)
    named = silent(lambda: mechanism.consistent_state(pose, velocities={**given, "b": (0.0, 0.3 * RATE, 7.0)}))
    assert motion(mechanism, named, "b")[1] == pytest.approx([7.0])


def test_given_velocities_are_kept_beside_joints_at_rest():
    """Of a chain the first link is between the hub and what is given to the second, which the third follows."""
    links = {name: rigid.bar(1.0, 1.0) for name in ("a", "b", "c")}
    joints = [PIN, TURN, hinge("a.root", "hub.h"), hinge("b.root", "a.tip"), hinge("c.root", "b.tip")]
    chain = connect({"hub": HUB, **links}, joints)
    pose = chain.assemble({"hub": 0.0}, guess={"a": (0.3, 0, 0.4), "b": (1.2, 0.4, 0.8), "c": (1.9, 1.1, 1.2)})
    start = silent(lambda: chain.consistent_state(pose, velocities={"b": 3.0}, joints="at rest"))
    spins = [motion(chain, start, name)[1][0] for name in ("hub", "a", "b", "c")]
    assert spins == pytest.approx([RATE, 0.5 * (RATE + 3.0), 3.0, 3.0], rel=1e-11)


def four_bar(*others):
    ground, bars = (GROUND.at(0.0, 0.0), GROUND.at(3.0, 0.0)), {"a": 1.0, "b": 3.0, "c": 2.0}
    bodies = {name: rigid.bar(length, 1.0) for name, length in bars.items()}
    joints = [hinge("a.root", ground[0]), hinge("b.root", "a.tip"), hinge("c.root", "b.tip"), hinge("c.tip", ground[1])]
    return connect({**bodies, **dict(others)}, [*joints, drive("a.root", angle=lambda t: 1.0 + RATE * t)])


def test_loops_determine_their_velocities():
    """A driven four-bar has no free joint: nothing is told, and both starts are one."""
    bars = four_bar()
    pose = bars.assemble({"a": (0.0, 0.0, 1.0)}, guess={"b": 0.5, "c": -1.0})
    free, locked = silent(lambda: [bars.consistent_state(pose, joints=j) for j in (None, "at rest")])
    assert locked.x == pytest.approx(free.x, abs=1e-11 * RATE)


def test_a_floating_base_moves_with_the_least_energy():
    """A motor turns a wheel on a free base: no joint is free, and the momentum of the whole stays zero."""
    base = rigid.body(3.0, inertia=0.5, ports={"c": (0.1, 0.2), "e": (-0.4, 0.0)})
    wheel = rigid.body(1.0, inertia=0.2, ports={"c": (0.3, 0.0)})
    joints = [hinge("wheel.c", "base.c"), drive("wheel.c", "base.c", angle=lambda t: RATE * t)]
    mechanism = connect({"base": base, "wheel": wheel, "tail": BLADE}, [*joints, hinge("tail.root", "base.e")])
    pose = mechanism.assemble({"base": (0.0, 0.0, 0.0)}, guess={"wheel": (0.1, 0.2, 0.0), "tail": (-0.4, 0.0, 2.0)})
    start = silent(lambda: mechanism.consistent_state(pose, joints="at rest"))
    (v, w), (vw, ww), (vt, wt) = (motion(mechanism, start, name) for name in ("base", "wheel", "tail"))
    assert wt == pytest.approx(w, rel=1e-10)
    assert ww - w == pytest.approx([RATE], rel=1e-10)
    momentum = 3.0 * v + 1.0 * vw + 6.0 * vt
    # 1e-8: round-off over the weight of the inertia in the passes
    assert np.abs(momentum).max() < 1e-8 * np.abs(3.0 * v).max()


@pytest.mark.parametrize(
    "joint",
    [
        lambda: revolute("b.root", "hub.h", axis=(0.0, 1.0, 0.0)),
        lambda: spherical("b.root", "hub.h"),
        lambda: universal("b.root", "hub.h", axis=(0.0, 1.0, 0.0), second_axis=(0.0, 0.0, 1.0)),
        lambda: prismatic("b.root", "hub.h", direction=(1.0, 0.0, 0.0)),
        lambda: cylindrical("b.root", "hub.h", axis=(1.0, 0.0, 0.0)),
        lambda: distance("b.root", "hub.c"),
    ],
    ids=["revolute", "spherical", "universal", "prismatic", "cylindrical", "distance"],
)
@pytest.mark.parametrize("sliding", [False, True])
def test_joints_at_rest_move_as_one_body_in_space(joint, sliding):
    """The blade moves as one body with a hub that is driven about an oblique axis, or along it."""
    axis = np.array([0.3, -0.2, 1.0]) / np.linalg.norm([0.3, -0.2, 1.0])
    hub = rigid.body(1.0, inertia=(1.0, 1.2, 1.5), ports={"c": (0.0, 0.0, 0.0), "h": (0.3, 0.1, 0.0)})
    blade = rigid.body(6.0, inertia=(0.1, 2.0, 2.0), ports={"root": (-1.0, 0.0, 0.0)})
    place = GROUND.at(0.0, 0.0, 0.0)
    if sliding:
        along = drive("hub.c", place, displacement=lambda t: RATE * t, direction=tuple(axis))
        held = [prismatic("hub.c", place, direction=tuple(axis)), along]
    else:
        held = [revolute("hub.c", place, axis=tuple(axis)), drive("hub.c", angle=lambda t: RATE * t, axis=tuple(axis))]
    mechanism = connect({"hub": hub, "b": blade}, [*held, joint()])
    pose = mechanism.assemble({"hub": (0.0, 0.0, 0.0)}, guess={"b": (1.3, 0.1, 0.0)})
    start = silent(lambda: mechanism.consistent_state(pose, joints="at rest"))
    velocity, spin = motion(mechanism, start, "b")
    of_hub = np.zeros(3) if sliding else RATE * axis
    assert spin == pytest.approx(of_hub, abs=1e-9)  # both sections have the axes of the world
    moved = RATE * axis if sliding else np.cross(of_hub, start.x[mechanism.layout.parts["b.centre"]])
    assert velocity == pytest.approx(moved, abs=1e-9)


@pytest.mark.parametrize("elastic", ["undeformed", "quasi_static"])
def test_flexible_blades_turn_with_their_hub(elastic):
    """A beam on a free hinge: its frame turns with the hub, and a quasi-static start is that of this motion."""
    section, steel = fem.Section(area=4e-4, second_moment=1.3e-8), fem.Material(young=2e11, density=7800.0)
    joints = [PIN, TURN, hinge("b.root", "hub.h"), hinge("c.root", "b.tip")]
    bodies = {
        "hub": HUB,
        "b": fem.beam(1.0, steel, section, elements=2),
        "c": fem.beam(0.5, steel, section, elements=2),
    }
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble({"hub": 0.0}, guess={"b": (0.3, 0.0, 0.0), "c": (1.3, 0.0, 0.0)})
    start = silent(lambda: mechanism.consistent_state(pose, joints="at rest", elastic=elastic))
    for name in ("b", "c"):
        assert motion(mechanism, start, name)[1] == pytest.approx([RATE], rel=1e-9)
        assert np.abs(start.x[mechanism.layout.parts[f"{name}.deformation_rate"]]).max() < 1e-9 * RATE


def test_rods_move_as_rigid_bodies():
    steel = fem.Material(young=2e11, density=7800.0, poisson=0.3)
    rod = fem.rod(1.0, steel, fem.Section(width=0.01, height=0.02), elements=3)
    hub = rigid.body(1.0, inertia=(1.0, 1.0, 1.0), ports={"c": (0.0, 0.0, 0.0), "h": (0.3, 0.0, 0.0)})
    held = [revolute("hub.c", GROUND.at(0, 0, 0), axis=Z), drive("hub.c", angle=lambda t: RATE * t, axis=Z)]
    mechanism = connect({"hub": hub, "r": rod}, [*held, revolute("r.root", "hub.h", axis=Z)])
    pose = mechanism.assemble({"hub": (0.0, 0.0, 0.0)}, guess={"r": (0.3, 0.0, 0.0)})
    with pytest.warns(UserWarning, match=TOLD):
        mechanism.consistent_state(pose)
    start = silent(lambda: mechanism.consistent_state(pose, joints="at rest"))
    x = start.x[mechanism.layout.parts["r.centre"]].reshape(-1, 3)
    v = start.x[mechanism.layout.parts["r.velocity"]].reshape(-1, 3)
    assert v == pytest.approx(np.cross([0.0, 0.0, RATE], x), abs=1e-8)


def test_point_masses_and_sliders_ride_along():
    bodies = {"hub": HUB, "bead": rigid.point(1.0), "bob": rigid.point(2.0)}
    joints = [
        PIN,
        TURN,
        slider("bead.point", "hub.h", direction=(1.0, 0.0), turning=True),
        distance("bob.point", "hub.h"),
    ]
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble({"hub": 0.0}, guess={"bead": (0.8, 0.0, 0.0), "bob": (0.3, -1.0, 0.0)})
    start = silent(lambda: mechanism.consistent_state(pose, joints="at rest"))
    for name in ("bead", "bob"):
        x, y = start.x[mechanism.layout.parts[f"{name}.centre"]]
        assert start.x[mechanism.layout.parts[f"{name}.velocity"]] == pytest.approx([-RATE * y, RATE * x], abs=1e-10)


def test_what_is_not_told():
    """Nothing that moves, drives from rest, welds, and a wheel that is given its spin on a body at rest."""
    mechanism, pose = rotor(drive("hub.c", angle=lambda t: 1.0 - np.cos(2.0 * t)))
    silent(lambda: mechanism.consistent_state(pose))
    welded = connect({"hub": HUB, "b": BLADE}, [PIN, TURN, weld("b.root", "hub.h")])
    silent(lambda: welded.consistent_state(welded.assemble({"hub": 0.0}, guess={"b": (0.3, 0.0, 0.0)})))
    car = rigid.body(3.0, inertia=1.0, ports={"axle": (0.0, 0.0)})
    driving = connect({"car": car, "hub": HUB}, [hinge("hub.c", "car.axle")])
    start = silent(lambda: driving.consistent_state(driving.assemble(), velocities={"hub": RATE}))
    assert not any(part.any() for part in motion(driving, start, "car"))
    wheels = {"one": HUB, "two": HUB}
    geared = connect(
        wheels,
        [
            hinge("one.c", GROUND.at(0.0, 0.0)),
            hinge("two.c", GROUND.at(1.0, 0.0)),
            gear("one.c", "two.c", ratio=-2.0),
            drive("one.c", angle=lambda t: RATE * t),
        ],
    )
    silent(lambda: geared.consistent_state(geared.assemble(guess={"two": (1.0, 0.0, 0.0)})))


def test_the_choice_is_named():
    mechanism, pose = rotor(TURN)
    with pytest.raises(ValueError, match=r"joints must be .*'free', 'at rest'"):
        mechanism.consistent_state(pose, joints="locked")
