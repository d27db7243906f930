"""Rigid contacts beside compliant ones and springs with laws of their own."""

import numpy as np
import pytest
from contact_runs import lawful, sound
from contact_samples import ball

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, spring_damper
from flexph.contacts import Hertz, KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.loops import near_pairs, stepper
from flexph.laws import coulomb, resistive
from flexph.methods import Exact

BOUNCE, PLASTIC = Rigid(restitution=0.5, friction=0.3), Rigid(friction=0.3)
SOFT = {
    "anchored": KelvinVoigt(1e4, damping=30.0, friction=0.2, tangential_stiffness=2e3),
    "hertz": Hertz(1e6, loss=0.2, friction=0.1),
}
LAWS = {"own": resistive(lambda s: 0.4 * s + 0.2 * s**3), "dry": coulomb(0.5, speed=0.01)}
PUSH = {"push": lambda t: np.array([-2.0 * np.sin(9.0 * t), 0.0])}
BY_STEPS = Exact(contact="steps")


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


@pytest.mark.parametrize("law", LAWS)
def test_springs_with_laws_of_their_own_hold_beside_contacts(law):
    times = np.linspace(0.0, 0.3, 41)
    mechanism, start = held(BOUNCE, relation=LAWS[law])
    lawful(integrate(mechanism, start, times, method=BY_STEPS, inputs=PUSH), PUSH)
    mechanism, start = held(PLASTIC, relation=LAWS[law])
    sound(integrate(mechanism, start, times, inputs=PUSH))


@pytest.mark.parametrize("soft", SOFT)
def test_rigid_contacts_beside_compliant_ones(soft):
    times = np.linspace(0.0, 0.3, 41)
    mechanism, start = held(BOUNCE, soft=SOFT[soft], relation=LAWS["own"])
    run = integrate(mechanism, start, times, method=BY_STEPS, inputs=PUSH)
    lawful(run, PUSH)
    assert run.contact("bed").normal.max() > 1.0
    mechanism, start = held(PLASTIC, soft=SOFT[soft])
    sound(integrate(mechanism, start, times, inputs=PUSH))


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
def test_balls_on_any_two_laws(seed):
    """Some of their contacts are compliant."""
    random, laws = np.random.default_rng(seed), [PLASTIC, SOFT["hertz"]]
    floors = [laws[random.integers(2)] for _ in range(4)]
    pairs = lambda spheres: [contact(*spheres[i : i + 2], laws[i % 2], name=f"pair{i}") for i in range(3)]  # noqa: E731
    mechanism, start = row(random, pairs, floors)
    lawful(integrate(mechanism, start, np.linspace(0.0, 0.1, 21), method=BY_STEPS))


@pytest.mark.covering
@pytest.mark.parametrize("way", ["steps", "events"])
@pytest.mark.parametrize("law", [BOUNCE, *SOFT.values()], ids=str)
def test_lists_of_rigid_and_of_compliant_pairs_leave_the_motion_as_it_is(law, way, monkeypatch):
    """As of groups with more than 300 pairs; compliant ones are in the order of unknowns, which is another one then."""
    monkeypatch.setattr(stepper, "MARGIN", 0.02)
    lists, bind, runs = [], stepper.Stepper._bind, []
    monkeypatch.setattr(stepper.Stepper, "_bind", lambda own, m: (lists.append(m.contacts_kind.size), bind(own, m))[1])
    group = lambda spheres: [mutual_contact(spheres, law, name="balls")]  # noqa: E731
    for listed in (2, 1000):
        monkeypatch.setattr(near_pairs, "LISTED", listed)
        floors = [PLASTIC, SOFT["hertz"] if way == "steps" else PLASTIC] * 2
        mechanism, start = row(np.random.default_rng(0), group, floors)
        lists.clear()
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.1, 51), method=Exact(contact=way)))
        assert (len(set(lists)) > 1) == (listed == 2)
    with_lists, without = runs
    np.testing.assert_allclose(with_lists.states, without.states, rtol=0, atol=1e-9 * np.abs(without.states).max())
    assert with_lists.contact("balls").normal.max() > 0.0
    for run in runs:
        sound(run)


def test_a_rod_on_a_hard_floor_and_a_soft_one():
    rubber = fem.Material(young=1e7, density=1000.0, poisson=0.3)
    ports = {f"node{i}": i / 4.0 for i in range(5)}
    rod = fem.rod(1.0, rubber, fem.Section(width=0.01, height=0.01), elements=4, ports=ports)
    ground = Plane(GROUND.at(0.0, 0.0, -1e-3), (0.02, 0.0, 1.0))
    hard = contact([f"rod.node{i}" for i in range(3)], ground, PLASTIC, name="hard")
    soft = contact([f"rod.node{i}" for i in (3, 4)], ground, SOFT["anchored"], name="soft")
    mechanism = connect({"rod": rod}, [hard, soft], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble())
    times = np.linspace(0.0, 0.04, 21)
    lawful(integrate(mechanism, start, times, method=BY_STEPS))
    sound(integrate(mechanism, start, times))
