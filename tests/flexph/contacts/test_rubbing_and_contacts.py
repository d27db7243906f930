"""Dry friction of joints while rigid contacts are closed: both laws at once.

Ten seconds, as each mechanism moves until its contacts stick, strike and slide.
"""

import numpy as np
import pytest
from contact_laws import friction_missed
from contact_runs import lawful, sound
from contact_samples import ball
from covering import covering
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, slider, spring_damper
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.loops import near_pairs
from flexph.joints import CoulombFriction
from flexph.methods import Exact

BOUNCE, PLASTIC, SMOOTH = Rigid(restitution=0.5, friction=0.3), Rigid(friction=0.3), Rigid()
RUBBED = 1e-10
"""Round-off of friction in joints, over the largest, where impulses are nearly undetermined."""
pytestmark = pytest.mark.filterwarnings("ignore:bodies without a given velocity")
SOFT = KelvinVoigt(1e4, damping=20.0, friction=0.2)
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


def run_of(mechanism, start, times, way, redundant="refuse", **given):
    """Run that is checked; by steps its impulses, too."""
    run = integrate(mechanism, start, times, method=Exact(contact=way, redundant=redundant), **given)
    lawful(run, given.get("inputs")) if way == "steps" else sound(run)
    return run


@pytest.mark.parametrize("driven", [False, True])
def test_joints_rub_beside_contacts_without_friction(driven):
    (mechanism, start), inputs = held(SMOOTH, driven=driven), {} if driven else PUSH
    times = np.linspace(0.0, 0.4, 33)
    run = run_of(mechanism, start, times, "steps", inputs=inputs)
    assert friction_missed(run, inputs).max() <= RUBBED
    assert run.contact("floor").touches[-1].sum() > 1
    run_of(mechanism, start, times, "events", inputs=inputs)


@pytest.mark.parametrize("given", [pytest.param({}, marks=pytest.mark.slow), {"frictions": (0.0, 0.4)}, {"soft": SOFT}])
def test_joints_and_contacts_rub_and_stick(given):
    run = run_of(*held(PLASTIC, **given), np.linspace(0.0, 0.4, 33), "steps", inputs=PUSH)
    assert friction_missed(run, PUSH).max() <= RUBBED


@pytest.mark.parametrize("law", [BOUNCE, PLASTIC], ids=str)
def test_joints_and_contacts_rub_and_strike(law):
    run_of(*held(law), np.linspace(0.0, 0.5, 31), "steps", inputs=PUSH)
    run_of(*held(law, driven=True), np.linspace(0.0, 0.4, 25), "steps")
    run_of(*held(law), np.linspace(0.0, 0.15, 31), "events", inputs=PUSH)


@pytest.mark.parametrize("way", ["steps", "events"])
def test_an_impact_elsewhere_leaves_a_joint_that_rubs_as_it_is(way):
    """Velocities of all joints are held there, and what holds them presses the joint."""
    arm = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0)})
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    spheres = [Sphere("arm.tip", 0.1), Sphere("ball.centre", 0.1)]
    joint = hinge("arm.root", GROUND.at(2.0, 0.5), friction=CoulombFriction(0.3, radius=0.05))
    touching = contact(spheres, floor, BOUNCE, name="floor")
    swings, times = [], np.linspace(0.0, 0.1, 21)
    for height in (0.11, 0.3):
        mechanism = connect({"arm": arm, "ball": ball(2)}, [joint, touching], gravity=(0.0, -9.81))
        pose = mechanism.assemble(guess={"arm": (2.2, 0.5, 0.0), "ball": (0.0, height, 0.0)})
        run = run_of(mechanism, mechanism.consistent_state(pose), times, way)
        assert (run.ledger.dissipation["floor: impact"].sum() > 0.0) == (height < 0.2)
        swings.append(run["arm.centre"])
    np.testing.assert_allclose(*swings, rtol=0, atol=1e-6)  # of steps that are parted at the impact


@pytest.mark.parametrize("seed", range(6))
def test_slides_and_hinges_of_any_friction_land(seed):
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
        run = run_of(mechanism, start, np.linspace(0.0, 0.4, 41), way)
        assert run.contact("floor").touches.any()
        assert way == "events" or friction_missed(run).max() <= RUBBED


RUBS = ({}, {"friction": CoulombFriction(0.3, radius=0.05)})


@covering("law, rub, way", (BOUNCE, PLASTIC, SMOOTH), RUBS, ("steps", "events"))
def test_redundant_joints_share_by_least_norm_beside_contacts(law, rub, way):
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
    run_of(mechanism, start, np.linspace(0.0, 0.2, 21), way, redundant="least_norm")


def test_a_rubbing_pendulum_of_space_falls_on_a_floor():
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
        run = run_of(mechanism, start, np.linspace(0.0, 0.4, 33), way)
        assert run.contact("floor").touches.any()


def test_a_list_of_rigid_pairs_leaves_a_rubbing_pendulum_as_it_is(monkeypatch):
    """As of groups with more than 300 pairs."""
    runs = []
    for listed in (2, 1000):
        monkeypatch.setattr(near_pairs, "LISTED", listed)
        mechanism, start = held(BOUNCE)
        assert mechanism.once(near_pairs.NearPairs).lists == (listed == 2)
        runs.append(run_of(mechanism, start, np.linspace(0.0, 0.3, 17), "steps", inputs=PUSH))
    np.testing.assert_allclose(runs[0].states, runs[1].states, rtol=0, atol=1e-9)
