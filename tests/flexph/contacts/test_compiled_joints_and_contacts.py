"""Rigid contacts of rigid bodies with joints and springs in compiled loops: motion and ledger are those of NumPy."""

import numpy as np
import pytest
from contact_runs import agree, sound
from contact_samples import ball
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases import cam_stop, chain_on_ground, clearance_crank, rocking_block, woodpecker_toy
from flexph import GROUND, Checkpoint, connect, drive, force, hinge, integrate, spherical, spring_damper
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.contact.stepper import RigidStepper
from flexph.methods import Exact

STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)
REDUNDANT = 1e-5
"""What impulses of contacts that stick side by side agree to: how they share friction has no law. Round-off moves where
iterations end among the shares, with the kernels of other processors by some 1e-6, while motions agree to 1e-12."""

RESOLVED = 1e-11
"""What laws are met to over the velocities of chains at rest: positions resolve gaps over a step no better."""


def both(mechanism, start, times, way, **given):
    """A run by compiled loops, and by NumPy."""
    ways = (Exact(contact=way, compiled=loops) for loops in (True, False))
    return tuple(integrate(mechanism, start, times, method=method, **given) for method in ways)


def of_case(case, monkeypatch, way="steps", ways=(True, False), **given):
    """Runs of a case by loops, by NumPy or by both."""
    runs = []
    for loops in ways:
        method = Exact(contact=way, compiled=loops)
        monkeypatch.setattr(case, "integrate", lambda *a, by=method, **k: integrate(*a, **{**k, "method": by}))
        run = case.run(**given)
        runs.append(getattr(run, "solution", run))
    return runs


def by_numpy(monkeypatch):
    """Times at which NumPy takes a step, from now on."""
    taken, step = [], RigidStepper.step

    def counted(own, start, time):
        taken.append(start.time)
        return step(own, start, time)

    monkeypatch.setattr(RigidStepper, "step", counted)
    return taken


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
def test_a_pendulum_of_balls_beside_a_free_one_strikes_slides_and_rests_as_by_numpy(law):
    mechanism, start = held(law)
    push = {"push": lambda t: np.array([2.0 * np.sin(9.0 * t), 0.0])}
    agree(*both(mechanism, start, np.linspace(0.0, 0.5, 41), "steps", inputs=push), impulses=REDUNDANT)


def test_a_drive_beside_contacts_does_its_work_as_by_numpy(monkeypatch):
    taken = by_numpy(monkeypatch)
    for law in (Rigid(friction=0.2), Rigid(restitution=0.4)):
        mechanism, start = held(law, driven=True)
        by_loops, other = both(mechanism, start, np.linspace(0.0, 0.5, 41), "steps")
        agree(by_loops, other, states=1e-8, impulses=REDUNDANT)
    assert len(taken) == 80  # those of the runs by NumPy


@pytest.mark.slow
@pytest.mark.processor
@pytest.mark.parametrize("way", ["steps", "events"])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_pendulum_in_space_is_that_of_numpy(law, way):
    mechanism, start = held(law, dim=3)
    agree(*both(mechanism, start, np.linspace(0.0, 0.3, 61), way), impulses=REDUNDANT)


def test_a_short_chain_falls_and_rests_without_numpy(monkeypatch):
    # six links that strike lying flat: impulses along them are 1e4 times those on the ground
    taken = by_numpy(monkeypatch)
    run, other = of_case(chain_on_ground, monkeypatch, links=6, end=0.1)
    agree(run, other, states=1e-7, impulses=REDUNDANT, law=RESOLVED)
    assert taken == list(run.times[:-1])  # those of the run by NumPy
    of_case(chain_on_ground, monkeypatch, ways=(True,), links=6, end=0.2)
    assert len(taken) == len(run.times) - 1


@pytest.mark.slow
def test_a_long_chain_is_that_of_numpy_before_round_off_grows(monkeypatch):
    by_loops, other = of_case(chain_on_ground, monkeypatch, links=24, end=0.2)
    sound(by_loops, RESOLVED)
    assert np.abs(by_loops.states - other.states).max(axis=1)[:30].max() <= 1e-10


@pytest.mark.parametrize("way", ["steps", "events"])
def test_a_body_that_bends_strikes_a_stop_as_by_numpy(way, monkeypatch):
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
    # a stiff body: what its velocities are known to is that of its fastest vibration, and impulses of a node are short
    agree(*both(mechanism, start, np.linspace(0.0, 0.032, 41), way, inputs=push), states=1e-7, impulses=REDUNDANT)


@pytest.mark.slow
def test_bodies_that_bend_in_space_and_fall_are_those_of_numpy():
    """Free ones, whose contacts couple nothing but themselves."""
    rod = fem.beam(0.4, STEEL, fem.Section(width=0.02, height=0.01), elements=2, dim=3)
    ground = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    touching = [contact(["rod.root", "rod.tip"], ground, Rigid(friction=0.2), name="floor")]
    mechanism = connect({"rod": rod}, touching, gravity=(0.0, 0.0, -9.81))
    turned = Rotation.from_rotvec((0.1, 0.2, 0.0))
    start = mechanism.consistent_state(mechanism.assemble(guess={"rod": ((0.0, 0.0, 0.1), turned)}))
    agree(*both(mechanism, start, np.linspace(0.0, 0.12, 121), "steps"), states=1e-7, impulses=REDUNDANT)


@pytest.mark.slow
@pytest.mark.processor
def test_by_events_loops_take_the_steps_on_which_contacts_hold(monkeypatch):
    runs = {
        clearance_crank: {"end": 0.012},
        rocking_block: {"end": 0.4},
        woodpecker_toy: {"end": 0.1},
        cam_stop: {"turns": 0.3, "friction": 0.2},
    }
    for case, given in runs.items():
        agree(*of_case(case, monkeypatch, "events", **given), impulses=REDUNDANT)
    taken = by_numpy(monkeypatch)
    run, _ = of_case(rocking_block, monkeypatch, "events", end=0.3)
    assert taken == list(run.times[:-1])


def test_runs_in_parts_and_from_checkpoints_have_the_same_bits(tmp_path):
    mechanism, start = held(LAWS[0])
    for way in ("steps", "events"):
        times, method, folder = np.linspace(0.0, 0.3, 61), Exact(contact=way, compiled=True), tmp_path / way
        folder.mkdir()
        whole = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(folder, 0.0))
        first = integrate(mechanism, start, times[:32], method=method)
        second = integrate(mechanism, first.final, times[31:], method=method)
        np.testing.assert_array_equal(second.states[-1], whole.states[-1])
        sorted(folder.iterdir())[-1].unlink()
        again = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(folder, 60.0, resume=True))
        np.testing.assert_array_equal(again.states, whole.states)
        np.testing.assert_array_equal(again.ledger.residual, whole.ledger.residual)
