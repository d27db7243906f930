"""Rigid contacts of bodies with joints, springs, drives and loads: balanced, and by their laws.

Five seconds, as each mechanism moves until its contacts rest.
"""

from itertools import pairwise

import numpy as np
import pytest
from contact_runs import lawful, sound
from contact_samples import ball
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases import cam_stop, chain_on_ground, clearance_crank, rocking_block, woodpecker_toy
from flexph import GROUND, Checkpoint, connect, drive, force, hinge, integrate, spherical, spring_damper
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.methods import Exact

pytestmark = pytest.mark.filterwarnings("ignore:bodies without a given velocity")
STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)
BY_STEPS = Exact(contact="steps")
PUSH = {"push": lambda t: np.array([2.0 * np.sin(9.0 * t), 0.0])}


def of_case(case, monkeypatch, method=BY_STEPS, **given):
    """Run of a case by a method."""
    monkeypatch.setattr(case, "integrate", lambda *a, **k: integrate(*a, **{**k, "method": method}))
    run = case.run(**given)
    return getattr(run, "solution", run)


def held(law, *, dim=2, driven=False):
    """A pendulum of two balls over a floor, the second one pulled to a third, free one by a spring."""
    up, still = (*(0.0,) * (dim - 1), 1.0), (0.0,) * dim
    link = rigid.body(
        1.0,
        inertia=0.01 if dim == 2 else (0.01, 0.008, 0.009),
        ports={"root": (-0.2, *still[1:]), "tip": (0.2, *still[1:]), "centre": still},
    )
    bodies = {"first": link, "second": link, "third": ball(dim)}
    joint = hinge if dim == 2 else spherical
    spheres = [Sphere(f"{port}", 0.1) for port in ("first.tip", "second.tip", "third.centre")]
    root = drive("first.root", angle=lambda t: -0.3 - 0.3 * np.sin(4.0 * t)) if driven else None
    connections = [
        joint("first.root", GROUND.at(*still[1:], 0.35)),
        joint("first.tip", "second.root"),
        spring_damper("second.tip", "third.centre", stiffness=30.0, damping=0.5, length=0.5),
        contact(spheres, Plane(GROUND.at(*still), up), law, name="floor"),
        mutual_contact(spheres, law, name="balls"),
        force("third.centre", name="push"),
        *([root] if root else []),
    ]
    mechanism = connect(bodies, connections, gravity=tuple(-9.81 * x for x in up))
    middle = (0.0,) * (dim - 2)
    pose_of = lambda at, a: (*at, a) if dim == 2 else (at, Rotation.from_rotvec((0.0, -a, 0.0)))  # noqa: E731
    guess = {
        "first": pose_of((0.2 * np.cos(0.3), *middle, 0.35 - 0.2 * np.sin(0.3)), -0.3),
        "second": pose_of((0.4 * np.cos(0.3) + 0.2, *middle, 0.35 - 0.4 * np.sin(0.3)), 0.0),
        "third": pose_of((1.1, *middle, 0.12), 0.0),
    }
    pose = mechanism.assemble(guess=guess)
    return mechanism, mechanism.consistent_state(pose)


LAWS = [Rigid(restitution=0.5, friction=0.3), Rigid(friction=0.3), Rigid()]


@pytest.mark.processor
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_pendulum_of_balls_beside_a_free_one_strikes_slides_and_rests(law):
    mechanism, start = held(law)
    lawful(integrate(mechanism, start, np.linspace(0.0, 0.5, 31), method=BY_STEPS, inputs=PUSH), PUSH)
    sound(integrate(mechanism, start, np.linspace(0.0, 0.5, 41), inputs=PUSH))


@pytest.mark.parametrize("law", [Rigid(friction=0.2), Rigid(restitution=0.4)])
def test_a_drive_does_its_work_beside_contacts(law):
    mechanism, start = held(law, driven=True)
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 31), method=BY_STEPS)
    lawful(run)
    assert run.contact("floor").normal.max() > 1.0


@pytest.mark.processor
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_pendulum_in_space_strikes_slides_and_rests(law):
    mechanism, start = held(law, dim=3)
    lawful(integrate(mechanism, start, np.linspace(0.0, 0.3, 21), method=BY_STEPS))
    sound(integrate(mechanism, start, np.linspace(0.0, 0.3, 31)))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_impacts_by_events_and_by_steps_converge_to_one_motion(law):
    """By events to the second order of steps, by steps to the first, as impacts are up to a step before their time."""
    mechanism, start = held(law)

    def positions(way, count):
        run = integrate(mechanism, start, np.linspace(0.0, 0.16, count + 1), method=Exact(contact=way))
        return np.array([run[f"{name}.centre"][-1] for name in mechanism.bodies])

    by_events = [positions("events", count) for count in (160, 320, 640)]
    coarse, fine = (np.abs(after - before).max() for before, after in pairwise(by_events))
    assert coarse / fine == pytest.approx(4.0, abs=0.4)
    for count in (20, 80, 640):  # a way at the velocity by which impacts change others, some 2 m/s
        assert np.abs(positions("steps", count) - by_events[-1]).max() < 2.0 * 0.16 / count


def test_a_short_chain_falls_lies_flat_and_rests(monkeypatch):
    """Six links that strike lying flat: impulses along them are 1e4 times those on the ground."""
    lawful(of_case(chain_on_ground, monkeypatch, links=6, end=0.1))


def test_a_long_chain_falls_and_rests(monkeypatch):
    sound(of_case(chain_on_ground, monkeypatch, links=24, end=0.2))


@pytest.mark.parametrize("way", ["steps", "events"])
def test_a_body_that_bends_strikes_a_stop(way):
    """Impulses act on all its coordinates, those of its centre of mass among them, and so do loads and joints."""
    arm = fem.beam(0.5, STEEL, fem.Section(width=0.02, height=0.005), elements=3)
    ground = Plane(GROUND.at(0.0, -0.02), (0.0, 1.0))
    connections = [
        hinge("arm.root", GROUND),
        hinge("arm.tip", "bob.root"),
        contact("arm.tip", ground, Rigid(friction=0.3), name="stop"),
        force("bob.tip", name="push"),
    ]
    bob = rigid.body(0.05, inertia=2e-5, ports={"root": (-0.05, 0.0), "tip": (0.05, 0.0)})
    mechanism = connect({"arm": arm, "bob": bob}, connections, gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"bob": (0.55, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"arm": -1.0, "bob": (0.0, -0.5, 0.0)})
    push = {"push": lambda t: np.array([0.2, -0.5])}
    run = integrate(mechanism, start, np.linspace(0.0, 0.032, 41), method=Exact(contact=way), inputs=push)
    assert run.contact("stop").touches.any()
    lawful(run, push) if way == "steps" else sound(run)


def test_bodies_that_bend_in_space_fall():
    """Free ones, whose contacts couple nothing but themselves."""
    rod = fem.beam(0.4, STEEL, fem.Section(width=0.02, height=0.01), elements=2, dim=3)
    ground = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    touching = [contact(["rod.root", "rod.tip"], ground, Rigid(friction=0.2), name="floor")]
    mechanism = connect({"rod": rod}, touching, gravity=(0.0, 0.0, -9.81))
    turned = Rotation.from_rotvec((0.1, 0.2, 0.0))
    start = mechanism.consistent_state(mechanism.assemble(guess={"rod": ((0.0, 0.0, 0.1), turned)}))
    lawful(integrate(mechanism, start, np.linspace(0.0, 0.12, 41), method=BY_STEPS))


@pytest.mark.processor
@pytest.mark.parametrize("way", ["steps", "events"])
@pytest.mark.parametrize(
    "case, given",
    [
        (clearance_crank, {"end": 0.012}),
        (rocking_block, {"end": 0.4}),
        (woodpecker_toy, {"end": 0.1}),
        (cam_stop, {"turns": 0.3, "friction": 0.2}),
    ],
)
def test_cases_meet_their_laws(case, given, way, monkeypatch):
    run = of_case(case, monkeypatch, Exact(contact=way), **given)
    sound(run)
    assert sum(value.sum() for value in run.ledger.impulses.values()) > 0.0


def test_runs_in_parts_and_from_checkpoints_have_the_same_bits(tmp_path):
    mechanism, start = held(LAWS[0])
    for way in ("steps", "events"):
        times, method, folder = np.linspace(0.0, 0.3, 61), Exact(contact=way), tmp_path / way
        folder.mkdir()
        whole = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(folder, 0.0))
        first = integrate(mechanism, start, times[:32], method=method)
        second = integrate(mechanism, first.final, times[31:], method=method)
        np.testing.assert_array_equal(second.states[-1], whole.states[-1])
        sorted(folder.iterdir())[-1].unlink()
        again = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(folder, 60.0, resume=True))
        np.testing.assert_array_equal(again.states, whole.states)
        np.testing.assert_array_equal(again.ledger.residual, whole.ledger.residual)
