"""Dry friction of joints in compiled loops while rigid contacts are closed: motion and energies are those of NumPy."""

import numpy as np
import pytest
from contact_runs import inside
from contact_samples import ball
from covering import covering
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, slider, spring_damper
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.choice import numpy_because
from flexph.integration.contact.stepper import RigidStepper
from flexph.integration.loops import near
from flexph.joints import CoulombFriction
from flexph.methods import Exact

BOUNCE, PLASTIC, SMOOTH = Rigid(restitution=0.5, friction=0.3), Rigid(friction=0.3), Rigid()
PUSH = {"push": lambda t: np.array([-2.0 * np.sin(9.0 * t), 0.0])}


def held(law, *, frictions=(0.3, 0.4), soft=None, driven=False):
    """A pendulum of two links whose hinges rub, over a floor, held by a spring to a ball that slides to it."""
    link = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0), "centre": (0.0, 0.0)})
    spheres = [Sphere(port, 0.1) for port in ("first.tip", "second.tip", "third.centre")]
    rub = [CoulombFriction(friction, radius=0.05) for friction in frictions]
    connections = [
        hinge("first.root", GROUND.at(0.0, 0.35), friction=rub[0]),
        hinge("first.tip", "second.root", friction=rub[1]),
        spring_damper("second.tip", "third.centre", stiffness=30.0, length=0.5, damping=0.5),
        contact(spheres, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor"),
        mutual_contact(spheres, soft or law, name="balls"),
        force("third.centre", name="push"),
        *([drive("first.root", angle=lambda t: -0.3 - 0.3 * np.sin(4.0 * t))] if driven else []),
    ]
    mechanism = connect({"first": link, "second": link, "third": ball(2)}, connections, gravity=(0.0, -9.81))
    guess = {
        "first": (0.2 * np.cos(0.3), 0.35 - 0.2 * np.sin(0.3), -0.3),
        "second": (0.4 * np.cos(0.3) + 0.2, 0.35 - 0.4 * np.sin(0.3), 0.0),
        "third": (1.1, 0.12, 0.0),
    }
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess))


def both(mechanism, start, times, way, monkeypatch, redundant="refuse", **given):
    """Runs by compiled loops, which take all steps, with redundant joints but for one, and by NumPy."""
    taken, step = [], RigidStepper.step
    monkeypatch.setattr(RigidStepper, "step", lambda own, *at: (taken.append(own), step(own, *at))[1])
    by_loops = integrate(
        mechanism, start, times, method=Exact(contact=way, compiled=True, redundant=redundant), **given
    )
    assert len(taken) <= (redundant == "least_norm")
    by_numpy = Exact(contact=way, compiled=False, redundant=redundant)
    return by_loops, integrate(mechanism, start, times, method=by_numpy, **given)


def alike(by_loops, by_numpy, states=1e-9):
    """The same motion and energies, balanced, with laws that are met: none says how joints and contacts share stick."""
    own, ledger = by_loops.ledger, by_numpy.ledger
    np.testing.assert_allclose(by_loops.states, by_numpy.states, rtol=0, atol=states * np.abs(by_numpy.states).max())
    for name, values in ledger.energy.items():
        np.testing.assert_allclose(own.energy[name], values, rtol=0, atol=states * ledger.scale, err_msg=name)
    taken = sum(own.dissipation.values())
    assert taken.min() >= -1e-13 * ledger.scale and np.abs(own.residual).max() <= 1e-12 * ledger.scale
    assert own.complementarity_residual.max() <= max(1e-12, 2.0 * ledger.complementarity_residual.max())
    assert inside(by_loops) <= 1e-12


@pytest.mark.parametrize("way", ["steps", "events"])
def test_joints_rub_beside_contacts_without_friction_as_by_numpy(way, monkeypatch):
    alike(*both(*held(SMOOTH), np.linspace(0.0, 0.4, 33), way, monkeypatch, inputs=PUSH))
    alike(*both(*held(SMOOTH, driven=True), np.linspace(0.0, 0.4, 33), way, monkeypatch), states=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("law", [BOUNCE, PLASTIC], ids=str)
def test_joints_and_contacts_rub_strike_and_stick_as_by_numpy(law, monkeypatch):
    alike(*both(*held(law), np.linspace(0.0, 0.5, 101), "steps", monkeypatch, inputs=PUSH))
    alike(*both(*held(law, frictions=(0.0, 0.4)), np.linspace(0.0, 0.5, 101), "steps", monkeypatch, inputs=PUSH))
    alike(*both(*held(law, driven=True), np.linspace(0.0, 0.4, 81), "steps", monkeypatch), states=1e-8)
    alike(*both(*held(law), np.linspace(0.0, 0.15, 31), "events", monkeypatch, inputs=PUSH), states=1e-8)
    soft = KelvinVoigt(1e4, damping=20.0, friction=0.2)
    alike(*both(*held(law, soft=soft), np.linspace(0.0, 0.5, 101), "steps", monkeypatch, inputs=PUSH))


@pytest.mark.parametrize("way", ["steps", "events"])
def test_an_impact_elsewhere_is_for_a_joint_that_rubs_what_it_is_by_numpy(way, monkeypatch):
    """Velocities of all joints are held there, and what holds them presses the joint."""
    arm = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0)})
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    spheres = [Sphere("arm.tip", 0.1), Sphere("ball.centre", 0.1)]
    joint = hinge("arm.root", GROUND.at(2.0, 0.5), friction=CoulombFriction(0.3, radius=0.05))
    touching = contact(spheres, floor, BOUNCE, name="floor")
    mechanism = connect({"arm": arm, "ball": ball(2)}, [joint, touching], gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"arm": (2.2, 0.5, 0.0), "ball": (0.0, 0.11, 0.0)})
    alike(*both(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.1, 21), way, monkeypatch))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_slides_and_hinges_of_any_friction_land_as_by_numpy(seed, monkeypatch):
    """A carriage on a slide that rubs, with a pendulum whose hinge does, at random speeds over a floor."""
    random = np.random.default_rng(seed)
    carriage = rigid.body(1.0, inertia=0.01, ports={"axis": (0.0, 0.0), "below": (0.0, -0.1)})
    rod = rigid.body(0.5, inertia=0.005, ports={"root": (-0.15, 0.0), "tip": (0.15, 0.0)})
    rub = [CoulombFriction(0.4 * random.random()), CoulombFriction(0.5 * random.random(), radius=0.03)]
    way = (np.cos(0.2), -np.sin(0.2))
    connections = [
        slider("carriage.axis", GROUND.at(0.0, 0.3), direction=way, friction=rub[0]),
        hinge("carriage.below", "rod.root", friction=rub[1]),
        contact(Sphere("rod.tip", 0.03), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), SMOOTH, name="floor"),
    ]
    mechanism = connect({"carriage": carriage, "rod": rod}, connections, gravity=(0.0, -9.81))
    turned = random.uniform(-0.5, 0.2)
    guess = {"carriage": (0.0, 0.3, -0.2), "rod": (0.15 * np.cos(turned), 0.2 + 0.15 * np.sin(turned), turned)}
    along, spin = 0.5 * random.normal(), random.normal()
    v, lever = along * np.array(way), 0.15 * np.array([-np.sin(turned), np.cos(turned)])
    moved = {"carriage": (*v, 0.0), "rod": (*(v + spin * lever), spin)}
    start = mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=moved)
    for way in ("steps", "events"):
        alike(*both(mechanism, start, np.linspace(0.0, 0.2, 41), way, monkeypatch))


RUBS = ({}, {"friction": CoulombFriction(0.3, radius=0.05)})


@covering("law, rub, way", (BOUNCE, PLASTIC, SMOOTH), RUBS, ("steps", "events"))
def test_redundant_joints_share_by_least_norm_beside_contacts_as_by_numpy(law, rub, way, monkeypatch):
    """The first of two links is held by two hinges at one place, of which one may rub."""
    link = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0)})
    spheres = [Sphere(port, 0.1) for port in ("first.tip", "second.tip")]
    floor = contact(spheres, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    guess = {
        "first": (0.2 * np.cos(0.3), 0.35 - 0.2 * np.sin(0.3), -0.3),
        "second": (0.4 * np.cos(0.3) + 0.2, 0.35 - 0.4 * np.sin(0.3), 0.0),
    }
    place = GROUND.at(0.0, 0.35)
    connections = [
        hinge("first.root", place, **rub),
        hinge("first.root", place, name="again"),
        hinge("first.tip", "second.root"),
        floor,
    ]
    mechanism = connect({"first": link, "second": link}, connections, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess=guess))
    alike(*both(mechanism, start, np.linspace(0.0, 0.2, 21), way, monkeypatch, redundant="least_norm"))


def test_a_rubbing_pendulum_of_space_falls_on_a_floor_as_by_numpy(monkeypatch):
    link = rigid.body(1.0, inertia=(0.01, 0.01, 0.005), ports={"root": (0.0, 0.0, 0.2), "tip": (0.0, 0.0, -0.2)})
    connections = [
        hinge("arm.root", GROUND.at(0.0, 0.0, 0.35), axis=(0.0, 1.0, 0.0), friction=CoulombFriction(0.3, radius=0.04)),
        contact(Sphere("arm.tip", 0.05), Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), SMOOTH, name="floor"),
    ]
    mechanism = connect({"arm": link}, connections, gravity=(0.0, 0.0, -9.81))
    turned = Rotation.from_rotvec((0.0, 1.2, 0.0))
    guess = {"arm": (np.array([0.0, 0.0, 0.35]) - turned.apply((0.0, 0.0, 0.2)), turned)}
    start = mechanism.consistent_state(mechanism.assemble(guess=guess))
    for way in ("steps", "events"):
        alike(*both(mechanism, start, np.linspace(0.0, 0.4, 33), way, monkeypatch))


def test_a_list_of_rigid_pairs_leaves_a_rubbing_pendulum_as_it_is(monkeypatch):
    """As of groups with more than 300 pairs."""
    monkeypatch.setattr(near, "LISTED", 2)
    mechanism, start = held(BOUNCE)
    assert mechanism.once(near.NearPairs).lists
    alike(*both(mechanism, start, np.linspace(0.0, 0.3, 25), "steps", monkeypatch, inputs=PUSH))


def test_loops_take_any_number_of_rigid_contacts_beside_friction_of_joints():
    for way in ("steps", "events"):
        assert numpy_because(held(BOUNCE)[0], Exact(contact=way)) is None
    names = [f"ball{i}" for i in range(26)]
    floor = mutual_contact([Sphere(f"{name}.centre", 0.1) for name in names], PLASTIC, name="balls")
    joint = hinge("ball0.centre", GROUND, friction=CoulombFriction(0.3, radius=0.1))
    mechanism = connect(dict.fromkeys(names, ball(2)), [floor, joint])
    assert numpy_because(mechanism, Exact(contact="steps")) is None
    assert mechanism.once(near.NearPairs).lists
