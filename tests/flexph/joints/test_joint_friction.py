"""Dry friction under the force of the joint: closed forms, sticking, and energy of random mechanisms."""

import math

import numpy as np
import pytest
from complementarity import Pressed, Problem, judged_pressed, solve_pressed
from rubbing_joints import consistent, planar, sound, spatial

import fem
import rigid
from flexph import GROUND, connect, cylindrical, hinge, integrate, prismatic, revolute, slider, weld
from flexph.joints import CoulombFriction, point_on_curve
from flexph.methods import Decaying, Exact4, ExactGauss

GRAVITY = 9.81


def block(friction, *, direction=(1.0, 0.0), turning=False):
    body = rigid.body(2.0, inertia=0.04, ports={"centre": (0.0, 0.0)})
    rail = slider("block.centre", GROUND.at(0.0, 0.0), direction=direction, turning=turning, friction=friction)
    return connect({"block": body}, [rail], gravity=(0.0, -GRAVITY))


def test_a_disc_on_a_shaft_loses_the_same_in_each_radian():
    disc = rigid.body(2.0, inertia=0.04, ports={"centre": (0.0, 0.0)})
    bearing = hinge("disc.centre", GROUND, friction=CoulombFriction(0.1, radius=0.01))
    mechanism = connect({"disc": disc}, [bearing], gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"disc": 0.01})
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 31))
    slowing = 0.1 * 2.0 * GRAVITY * 0.01 / 0.04
    turned = np.arctan2(run["disc.rotation"][-1, 1], run["disc.rotation"][-1, 0])
    assert run["disc.spin"][10, 0] == pytest.approx(0.01 - 0.01 * slowing, abs=1e-12)  # impulses solved to 1e-12
    assert abs(turned) == pytest.approx(
        0.01**2 / (2.0 * slowing), abs=slowing * 1e-6 / 8.0
    )  # less than half a step lost
    assert run["disc.spin"][-1, 0] == pytest.approx(0.0, abs=1e-14)
    assert run.ledger.dissipation["hinge disc.centre–GROUND"].sum() == pytest.approx(0.02 * 0.01**2, rel=1e-12)
    rubbed = run.ledger.impulses["hinge disc.centre–GROUND: friction"]
    assert rubbed[:10].sum() == pytest.approx(0.1 * 2.0 * GRAVITY * 0.01, rel=1e-11)
    sound(run)


@pytest.mark.parametrize("turning", [False, True])
def test_a_block_stops_after_v_squared_over_two_mu_g_and_stays(turning):
    mechanism = block(CoulombFriction(0.3), turning=turning)
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (0.06, 0.0, 0.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 31))
    way = run["block.centre"][:, 0]
    assert way[-1] == pytest.approx(0.0036 / (2.0 * 0.3 * GRAVITY), abs=1e-6)
    assert np.ptp(way[-5:]) == 0.0
    sound(run)


@pytest.mark.parametrize(("share", "holds"), [(1.0 - 1e-9, True), (1.1, False)])
def test_a_block_on_an_incline_holds_up_to_the_angle_of_friction(share, holds):
    slope = math.atan(0.3 * share)
    mechanism = block(CoulombFriction(0.3), direction=(-math.cos(slope), -math.sin(slope)))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0.0, 0.4, 11))
    down = np.linalg.norm(run["block.centre"][-1])
    if holds:
        assert down < 1e-15
    else:
        pull = GRAVITY * (math.sin(slope) - 0.3 * math.cos(slope))
        assert down == pytest.approx(0.5 * pull * 0.16, rel=1e-12)
    sound(run)


def test_a_pendulum_comes_to_rest_where_friction_holds_it_and_turns_no_more():
    rod = rigid.body(2.0, inertia=0.2, ports={"pin": (0.0, 0.5)})
    bearing = hinge("rod.pin", GROUND.at(0.0, 0.0), friction=CoulombFriction(0.5, radius=0.1))
    mechanism = connect({"rod": rod}, [bearing], gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble(guess={"rod": (0.02, -0.5, 0.04)})
    run = integrate(mechanism, mechanism.consistent_state(pose, velocities={"rod": 0.1}), 0.01 * np.arange(12))
    assert np.ptp(run["rod.rotation"][-5:], axis=0).max() < 1e-15
    assert np.abs(run["rod.spin"][-5:]).max() < 1e-14
    sound(run)


def test_what_turns_in_a_cylindrical_joint_slides_almost_freely():
    shaft = rigid.box((0.1, 0.1, 0.4), density=1000.0, ports={"axis": (0.0, 0.0, 0.0)})
    joint = cylindrical(
        "shaft.axis", GROUND.at(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), friction=CoulombFriction(0.2, radius=0.05)
    )
    mechanism = connect({"shaft": shaft}, [joint], gravity=(0.0, -GRAVITY, 0.0))
    pose = mechanism.assemble()

    def pushed(spin):
        start = mechanism.consistent_state(pose, velocities={"shaft": ((0.0, 0.0, 0.1), (0.0, 0.0, spin))})
        run = integrate(mechanism, start, 0.002 * np.arange(11))
        sound(run)
        return 0.1 - run["shaft.velocity"][-1, 2], run.ledger

    still, ledger = pushed(0.0)
    assert still == pytest.approx(0.2 * GRAVITY * 0.02, rel=1e-12)
    turning, _ = pushed(100.0)
    assert turning == pytest.approx(0.2 * GRAVITY * 0.02 * 0.1 / math.hypot(0.1, 5.0), rel=0.02)  # of a mean 0.0996
    name = next(name for name in ledger.dissipation if name.startswith("cylindrical"))
    assert ledger.dissipation[name].sum() == pytest.approx(2.0 * (0.1**2 - (0.1 - still) ** 2), rel=1e-12)  # 4 kg


@pytest.mark.processor
@pytest.mark.parametrize(("make", "seed"), [(planar, 4), (planar, 5), (spatial, 4)])
def test_random_mechanisms_lose_energy(make, seed):
    mechanism, start = make(seed)
    sound(integrate(mechanism, start, 0.005 * np.arange(11)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # the long steps resolve nothing
@pytest.mark.parametrize("make", [planar, spatial])
@pytest.mark.parametrize("step", [0.002, 0.02])
def test_hundreds_of_random_mechanisms_lose_energy(make, step):
    for seed in range(30):
        mechanism, start = make(seed)
        sound(integrate(mechanism, start, step * np.arange(31)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_random_mechanisms_that_strike_a_floor_lose_energy():
    for seed in range(12):
        mechanism, start = planar(seed, floor=True)
        sound(integrate(mechanism, start, 0.005 * np.arange(101)))


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical"])
def test_friction_between_free_bodies_keeps_momenta(kind):
    first = rigid.box((1.0, 0.1, 0.2), density=500.0, ports={"j": (0.5, 0.0, 0.0)})
    second = rigid.box((0.7, 0.2, 0.2), density=700.0, ports={"j": (-0.35, 0.1, 0.0)})
    axis, turns = (0.0, 0.6, 0.8), CoulombFriction(0.1, radius=0.05)
    joint = {
        "revolute": lambda: revolute("first.j", "second.j", axis=axis, friction=turns),
        "cylindrical": lambda: cylindrical("first.j", "second.j", axis=axis, friction=turns),
        "prismatic": lambda: prismatic("first.j", "second.j", direction=axis, friction=CoulombFriction(0.1)),
    }[kind]()
    mechanism = connect({"first": first, "second": second}, [joint])
    motion = {"first": ((1.0, 0.2, 0.1), (1.0, 2.0, 3.0)), "second": ((0.0, 0.0, 0.3), (-1.0, 4.0, 1.0))}
    run = integrate(mechanism, consistent(mechanism, mechanism.assemble(), motion), 0.01 * np.arange(11))
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-13 * np.abs(momentum[0]).max()
    assert run.ledger.dissipation[mechanism.connections[0].name].sum() > 0.0
    sound(run)


def curved(count):
    """Places on a bowl y = 0.3 x²."""
    return [(x, 0.3 * x * x) for x in np.linspace(-1.0, 1.0, count)]


def test_a_bead_in_a_bowl_stays_where_friction_holds_it():
    places = [GROUND.at(*place) for place in curved(5)]
    wire = point_on_curve("bead.point", places, degree=2, friction=CoulombFriction(0.2))
    mechanism = connect({"bead": rigid.point(1.0)}, [wire], gravity=(0.0, -GRAVITY))

    def resting(x, time):
        start = mechanism.consistent_state(mechanism.assemble(guess={"bead": (x, 0.3 * x * x, 0.0)}))
        run = integrate(mechanism, start, np.linspace(0.0, time, 5))
        sound(run)
        return run["bead.centre"][:, 0]

    held = 0.2 / 0.6  # y' = μ
    assert np.ptp(resting(0.99 * held, 0.1)) < 1e-15
    assert np.ptp(resting(1.01 * held, 0.1)) > 1e-5


def test_a_mass_rubs_on_a_beam_that_bends():
    section, steel = fem.Section(width=0.05, height=0.02), fem.Material(young=2.1e11, density=7850.0)
    thirds = {f"p{i}": i * 1.0 / 3 for i in range(1, 3)}
    beam = fem.beam(length=1.0, section=section, material=steel, elements=1, stations=thirds)
    wire = ["beam.root", *(f"beam.{name}" for name in thirds), "beam.tip"]
    joints = [
        weld("beam.root", GROUND),
        point_on_curve("mass.point", wire, degree=3, friction=CoulombFriction(0.2)),
    ]
    mechanism = connect({"beam": beam, "mass": rigid.point(0.5)}, joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble({"beam": (0.0, 0.0, -0.3)}, guess={"mass": (0.3, -0.1, 0.0)})
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.02, 6))
    assert run.ledger.dissipation[mechanism.connections[1].name].min() >= 0.0
    sound(run)


def test_impulses_that_press_each_other_meet_their_laws():
    rng = np.random.default_rng(3)
    for _ in range(40):
        count = rng.integers(1, 5)
        own = rng.normal(size=(count + 2, count))
        D, along = np.zeros((2 * count, 2 * count)), np.arange(count, 2 * count)
        D[np.ix_(along, along)] = own.T @ own
        problem = Problem(D, np.append(np.zeros(count), rng.normal(size=count)), rng.uniform(0.05, 0.3, count))
        by = np.zeros((2 * count, 2 * count))
        by[:, count:] = 0.5 * rng.normal(size=(2 * count, count))
        pressed = Pressed(rng.normal(size=2 * count), by, np.repeat(np.arange(count), 2), count)
        found = solve_pressed(problem, pressed, np.zeros(2 * count))
        assert judged_pressed(problem, pressed, found.flat).defect < 1e-11
        size, _ = pressed.sized(found.flat)
        np.testing.assert_allclose(found.normal, size, atol=1e-11)
        assert np.all(np.abs(found.friction[0]) <= problem.friction * size + 1e-11)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="radius of its bearing"):
        hinge("a.b", GROUND, friction=CoulombFriction(0.1))
    with pytest.raises(ValueError, match="has no radius"):
        slider("a.b", GROUND, friction=CoulombFriction(0.1, radius=0.1))
    with pytest.raises(ValueError, match="coefficient must not be negative"):
        CoulombFriction(-0.1)
    mechanism = block(CoulombFriction(0.3))
    start = mechanism.consistent_state(mechanism.assemble())
    for method in (Exact4(), Decaying(radius=0.5), ExactGauss()):
        with pytest.raises(ValueError, match="CoulombFriction"):
            integrate(mechanism, start, [0.0, 0.1], method=method)
    with pytest.raises(ValueError, match=r"linearize does not support CoulombFriction, and 'slider"):
        mechanism.linearize(mechanism.assemble())
