"""Rigid contacts in compiled loops beside compliant ones and springs with laws of their own: as by NumPy."""

import numpy as np
import pytest
from contact_runs import agree
from contact_samples import ball

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, spring_damper
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.choice import numpy_because
from flexph.integration.contact.stepper import RigidStepper
from flexph.integration.loops import near, stepper
from flexph.methods import Exact
from flexph.systems import coulomb, resistive

BOUNCE, PLASTIC = Rigid(restitution=0.5, friction=0.3), Rigid(friction=0.3)
SOFT = {
    "anchored": KelvinVoigt(1e4, damping=30.0, friction=0.2, tangential_stiffness=2e3),
    "hertz": Hertz(1e6, loss=0.2, friction=0.1),
}
LAWS = {"own": resistive(lambda s: 0.4 * s + 0.2 * s**3), "dry": coulomb(0.5, speed=0.01)}
SHARED = 1e-5
"""What impulses of contacts that stick side by side agree to (see test_compiled_joints_and_contacts)."""


def held(law, soft=None, relation=None):
    """A pendulum of two balls over a floor, held by a spring to a third that rests on a bed and meets the others."""
    link = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0), "centre": (0.0, 0.0)})
    bodies, spring = {"first": link, "second": link, "third": ball(2)}, relation or resistive(lambda s: 0.5 * s)
    spheres = [Sphere(port, 0.1) for port in ("first.tip", "second.tip", "third.centre")]
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    connections = [
        hinge("first.root", GROUND.at(0.0, 0.35)),
        hinge("first.tip", "second.root"),
        spring_damper("second.tip", "third.centre", stiffness=30.0, length=0.5, damping=spring),
        contact(spheres[:2], floor, law, name="floor"),
        contact(spheres[2], floor, soft or law, name="bed"),
        mutual_contact(spheres, soft or law, name="balls"),
        force("third.centre", name="push"),
    ]
    mechanism = connect(bodies, connections, gravity=(0.0, -9.81))
    guess = {
        "first": (0.2 * np.cos(0.3), 0.35 - 0.2 * np.sin(0.3), -0.3),
        "second": (0.4 * np.cos(0.3) + 0.2, 0.35 - 0.4 * np.sin(0.3), 0.0),
        "third": (1.1, 0.12, 0.0),
    }
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess))


def compare(mechanism, start, way, monkeypatch, **given):
    """Both runs agree; loops take all steps of theirs."""
    taken, step = [], RigidStepper.step
    monkeypatch.setattr(RigidStepper, "step", lambda own, *at: (taken.append(own), step(own, *at))[1])
    times = np.linspace(0.0, 0.3, 61)
    method = Exact(contact=way, compiled=True)
    by_loops = integrate(mechanism, start, times, method=method, **given)
    assert not taken
    agree(
        by_loops,
        integrate(mechanism, start, times, method=Exact(contact=way, compiled=False), **given),
        impulses=SHARED,
    )


PUSH = {"push": lambda t: np.array([-2.0 * np.sin(9.0 * t), 0.0])}


@pytest.mark.parametrize("law", LAWS)
def test_springs_with_laws_of_their_own_hold_beside_contacts_as_by_numpy(law, monkeypatch):
    compare(*held(BOUNCE, relation=LAWS[law]), "steps", monkeypatch, inputs=PUSH)
    compare(*held(PLASTIC, relation=LAWS[law]), "events", monkeypatch, inputs=PUSH)


@pytest.mark.parametrize("soft", SOFT)
def test_rigid_contacts_beside_compliant_ones_are_those_of_numpy(soft, monkeypatch):
    compare(*held(BOUNCE, soft=SOFT[soft], relation=LAWS["own"]), "steps", monkeypatch, inputs=PUSH)
    compare(*held(PLASTIC, soft=SOFT[soft]), "events", monkeypatch, inputs=PUSH)


def row(random, pairs, floors):
    """Free balls in a row on a floor of such laws, at random places and speeds."""
    names, floor = [f"ball{i}" for i in range(4)], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    spheres = [Sphere(f"{name}.centre", 0.1) for name in names]
    touching = [contact(s, floor, floors[i], name=f"floor{i}") for i, s in enumerate(spheres)]
    mechanism = connect(dict.fromkeys(names, ball(2)), [*touching, *pairs(spheres)], gravity=(0.0, -9.81))
    x, y = 0.21 * np.arange(4) + 0.005 * random.random(4), 0.1 + 0.02 * random.random(4)
    guess = {name: (x[i], y[i], 0.0) for i, name in enumerate(names)}
    moved = {name: (*random.normal(0.0, 0.5, 2), random.normal(0.0, 5.0)) for name in names}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=moved)


@pytest.mark.parametrize("seed", range(6))
def test_balls_on_any_two_laws_are_those_of_numpy(seed):
    """Some of their contacts are compliant."""
    random, laws = np.random.default_rng(seed), [PLASTIC, SOFT["hertz"]]
    floors = [laws[random.integers(2)] for _ in range(4)]
    pairs = lambda spheres: [contact(*spheres[i : i + 2], laws[i % 2], name=f"pair{i}") for i in range(3)]  # noqa: E731
    mechanism, start = row(random, pairs, floors)
    times = np.linspace(0.0, 0.1, 21)
    runs = [integrate(mechanism, start, times, method=Exact(contact="steps", compiled=c)) for c in (True, False)]
    agree(*runs, impulses=SHARED)


@pytest.mark.parametrize("way", ["steps", "events"])
@pytest.mark.parametrize("law", [BOUNCE, *SOFT.values()], ids=str)
def test_lists_of_rigid_and_of_compliant_pairs_leave_the_motion_as_it_is(law, way, monkeypatch):
    """As of groups with more than 300 pairs; compliant ones are in the order of unknowns, which is another one then."""
    monkeypatch.setattr(near, "LISTED", 2)
    monkeypatch.setattr(stepper, "MARGIN", 0.02)
    lists, bind = [], stepper.Stepper._bind
    monkeypatch.setattr(stepper.Stepper, "_bind", lambda own, m: (lists.append(m.contacts_kind.size), bind(own, m))[1])
    group = lambda spheres: [mutual_contact(spheres, law, name="balls")]  # noqa: E731
    mechanism, start = row(np.random.default_rng(0), group, [PLASTIC, SOFT["hertz"] if way == "steps" else PLASTIC] * 2)
    times = np.linspace(0.0, 0.1, 51)
    runs = [integrate(mechanism, start, times, method=Exact(contact=way, compiled=c)) for c in (True, False)]
    agree(*runs, impulses=SHARED)
    assert len(set(lists)) > 1 and runs[0].contact("balls").normal.max() > 0.0


def test_a_rod_on_a_hard_floor_and_a_soft_one_is_that_of_numpy():
    rubber = fem.Material(young=1e7, density=1000.0, poisson=0.3)
    ports = {f"node{i}": i / 4.0 for i in range(5)}
    rod = fem.rod(1.0, rubber, fem.Section(width=0.01, height=0.01), elements=4, ports=ports)
    ground = Plane(GROUND.at(0.0, 0.0, -1e-3), (0.02, 0.0, 1.0))
    hard = contact([f"rod.node{i}" for i in range(3)], ground, PLASTIC, name="hard")
    soft = contact([f"rod.node{i}" for i in (3, 4)], ground, SOFT["anchored"], name="soft")
    mechanism = connect({"rod": rod}, [hard, soft], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble())
    for way in ("steps", "events"):
        ways = (Exact(contact=way, compiled=c) for c in (True, False))
        agree(*(integrate(mechanism, start, np.linspace(0.0, 0.04, 21), method=m) for m in ways), impulses=SHARED)


def test_loops_take_rigid_contacts_beside_any_number_of_compliant_ones():
    for way in ("steps", "events"):
        assert numpy_because(held(BOUNCE, soft=SOFT["hertz"], relation=LAWS["own"])[0], Exact(contact=way)) is None
    names = [f"ball{i}" for i in range(26)]
    many = mutual_contact([Sphere(f"{name}.centre", 0.1) for name in names], KelvinVoigt(1e4), name="balls")
    floor = contact("ball0.centre", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), PLASTIC, name="floor")
    mechanism = connect(dict.fromkeys(names, ball(2)), [many, floor])
    assert numpy_because(mechanism, Exact(contact="steps")) is None
    assert mechanism.once(near.NearPairs).lists
