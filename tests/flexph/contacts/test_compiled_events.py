"""Steps by events in compiled loops, split where gaps close: all of them without NumPy, and as NumPy takes them."""

import numpy as np
import pytest
from contact_runs import agree, inside
from contact_samples import ball
from uncompiled import uncompiled

import rigid
from cases import (
    bouncing_ball,
    cam_stop,
    clearance_crank,
    flexible_stop,
    newtons_cradle,
    painleve_rod,
    rocking_block,
    sliding_block,
    woodpecker_toy,
)
from flexph import GROUND, connect, drive, force, hinge, integrate, spring_damper
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.contact import impact_stepper, stepper, strikes
from flexph.integration.contact.stepper import RigidStepper
from flexph.integration.times import events
from flexph.methods import Exact
from flexph.systems.validity import ValidityWarning

CASES = {
    "ball": (bouncing_ball, {"end": 1.5}),
    "woodpecker": (woodpecker_toy, {"end": 0.2}),
    "block": (rocking_block, {"end": 0.7}),
    "crank": (clearance_crank, {}),
    "cam": (cam_stop, {"turns": 0.5}),
    "cam that bounces": (cam_stop, {"turns": 0.1, "friction": 0.2, "restitution": 0.3}),
    "cradle": (newtons_cradle, {"law": "rigid", "gap": 1e-4}),
    "rod": (painleve_rod, {}),
    "slope": (sliding_block, {}),
    "flexible stop": (flexible_stop, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_cases_by_events_run_without_numpy(name, monkeypatch):
    def refuse(own, start, time):
        raise AssertionError(f"NumPy takes the step from {start.time} s")

    monkeypatch.setattr(RigidStepper, "step", refuse)
    case, given = CASES[name]
    by_loops = lambda *a, **k: integrate(*a, **{**k, "method": Exact(compiled=True)})  # noqa: E731
    monkeypatch.setattr(case, "integrate", by_loops)
    run = case.run(**given)
    assert getattr(run, "solution", run).steps_by == "compiled loops"


@pytest.mark.parametrize(
    ("room", "names"),
    [
        ("rigid_steps.by_events", ("SPLITS", "CROWD", "GROUP", "SHORTEST")),
        ("rigid_steps.ways", ("CLOSINGS",)),
        ("rigid_steps.run", ("REACH",)),
        ("strikes.impacts", ("STRIKES", "WIDE", "RESTING")),
        ("rigid_steps.closing_time", ("PRECISION",)),
    ],
)
def test_loops_have_the_limits_of_numpy(room, names):
    loops = uncompiled(f"flexph.integration.loops.{room}")
    for name in names:
        (value,) = {vars(own)[name] for own in (stepper, impact_stepper, strikes, events) if name in vars(own)}
        assert getattr(loops, name) == value


def swing(law, *, angle=None, rest=0.5):
    """A pendulum over a floor, pulled to a free disc that falls on it, by a spring; driven by an angle."""
    link = rigid.body(1.0, inertia=0.01, ports={"root": (-0.2, 0.0), "tip": (0.2, 0.0)})
    spheres = [Sphere("link.tip", 0.1), Sphere("disc.centre", 0.1)]
    connections = [
        hinge("link.root", GROUND.at(0.0, 0.35)),
        spring_damper("link.tip", "disc.centre", stiffness=30.0, damping=0.5, length=rest),
        contact(spheres, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor"),
        mutual_contact(spheres, law, name="balls"),
        force("disc.centre", name="push"),
        *([drive("link.root", angle=angle)] if angle else []),
    ]
    mechanism = connect({"link": link, "disc": ball()}, connections, gravity=(0.0, -9.81))
    guess = {"link": (0.2 * np.cos(0.3), 0.35 - 0.2 * np.sin(0.3), -0.3), "disc": (0.75, 0.13, 0.0)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess))


def both(mechanism, start, times, **given):
    """A run by compiled loops, and by NumPy."""
    return tuple(integrate(mechanism, start, times, method=Exact(compiled=way), **given) for way in (True, False))


BOUNCES = Rigid(restitution=0.4, friction=0.3)


def test_what_time_prescribes_is_asked_for_where_steps_are_split():
    """Of drives, whose rates are those to the right at impacts, of springs and of loads."""
    angle, rest = (lambda t: -0.3 - 0.3 * np.sin(4.0 * t)), (lambda t: 0.5 + 0.05 * np.sin(11.0 * t))
    push = {"push": lambda t: np.array([2.0 * np.sin(9.0 * t), 0.0])}
    times = np.linspace(0.0, 0.26, 14)
    for law in (BOUNCES, Rigid(friction=0.3)):
        agree(*both(*swing(law, angle=angle, rest=rest), times, inputs=push), states=1e-8, impulses=1e-5)
    agree(*both(*swing(BOUNCES, rest=rest), times[:9], inputs=push), impulses=1e-5)


def test_functions_that_fail_where_a_step_is_split_are_said_as_by_numpy():
    """This one has values at the ends and quarters of steps alone, which loops ask for before."""

    def angle(time):
        quarters = 400.0 * time
        if time > 0.02 and abs(quarters - round(quarters)) > 1e-6:
            raise RuntimeError(f"no angle at {time}")
        return -0.3 - 0.3 * np.sin(4.0 * time)

    said = []
    for way in (True, False):
        mechanism, start = swing(BOUNCES, angle=angle)
        with pytest.raises(Exception, match="no angle at") as told:
            integrate(mechanism, start, np.linspace(0.0, 0.5, 51), method=Exact(compiled=way))
        said.append((type(told.value), str(told.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("moves", ["slides", "spins"])
def test_events_are_found_where_something_comes_to_stick(moves):
    """A disc that slides, held from turning by its guide or not: its spin comes to zero together with its velocity."""
    law = Rigid(friction=0.3)
    body = rigid.body(1.0, inertia=0.004, ports={"centre": (0.0, 0.0)})
    shape = Sphere("disc.centre", 0.1) if moves == "spins" else "disc.centre"
    floor = contact(shape, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect({"disc": body}, [floor], gravity=(0.0, -9.81))
    guess = {"disc": (0.0, 0.1 if moves == "spins" else 0.0, 0.0)}
    spin = 10.0 if moves == "spins" else 0.0
    start = mechanism.consistent_state(mechanism.assemble(guess=guess), velocities={"disc": (0.4, 0.0, spin)})
    event = {"slides": lambda t, x: x["disc.velocity"][0], "spins": lambda t, x: x.spin("disc")}[moves]
    for run in both(mechanism, start, np.linspace(0.0, 0.5, 101), events={"rests": event}):
        np.testing.assert_allclose(run.events["rests"].times, [0.4 / (0.3 * 9.81)], rtol=0.0, atol=1e-11)


def discs_in_a_box(law):
    """Six discs that are thrown about between a floor and two walls."""
    rng, names = np.random.default_rng(1), [f"disc{i}" for i in range(6)]
    spheres = [Sphere(f"{name}.centre", 0.1) for name in names]
    floor, left = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Plane(GROUND.at(0.0, 0.0), (1.0, 0.0))
    planes = {"floor": floor, "left": left, "right": Plane(GROUND.at(0.8, 0.0), (-1.0, 0.0))}
    touching = [contact(spheres, plane, law, name=name) for name, plane in planes.items()]
    bodies = dict.fromkeys(names, ball())
    mechanism = connect(bodies, [*touching, mutual_contact(spheres, law, name="discs")], gravity=(0.0, -9.81))
    guess = {name: (0.15 + 0.25 * (i % 3), 0.15 + 0.25 * (i // 3), 0.0) for i, name in enumerate(names)}
    moved = {name: (*rng.standard_normal(2), 5.0 * rng.standard_normal()) for name in names}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=moved)


def test_gaps_that_close_and_open_again_on_the_way_to_another_one_are_not_left_closed():
    """They were pushed open within the next way, however short: half of all energy came and went so, by NumPy, too."""
    for law, steps in ((BOUNCES, 45), (Rigid(friction=0.3), 50)):
        mechanism, start = discs_in_a_box(law)
        run = integrate(mechanism, start, 0.01 * np.arange(steps + 1), method=Exact(compiled=True))
        taken, scale = run.ledger.dissipation, run.ledger.scale
        assert min(taken[f"{name}: arrival"].min() for name in ("floor", "left", "right", "discs")) >= -1e-13 * scale
        assert sum(taken.values()).min() >= -1e-13 * scale
        assert np.abs(run.ledger.residual).max() <= 1e-13 * scale
        assert inside(run) <= 1e-12


@pytest.mark.slow
def test_discs_in_a_box_are_those_of_numpy():
    """Until discs touch two others and a wall, which friction may hold in several ways."""
    agree(*both(*discs_in_a_box(Rigid(friction=0.3)), np.linspace(0.0, 0.28, 29)), states=1e-8, impulses=1e-5)


def test_a_run_is_told_once_that_impacts_of_many_take_long():
    names = [f"disc{i}" for i in range(10)]
    spheres = [Sphere(f"{name}.centre", 0.1) for name in names]
    floor = contact(spheres, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(restitution=0.3), name="floor")
    mechanism = connect(dict.fromkeys(names, ball()), [floor], gravity=(0.0, -9.81))
    places = {name: (0.3 * i, 0.101 + 0.0003 * i, 0.0) for i, name in enumerate(names)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places))
    with pytest.warns(ValidityWarning, match="more than 20 impacts of 10 or more contacts within a step") as told:
        by_loops = integrate(mechanism, start, np.linspace(0.0, 0.05, 2), method=Exact(compiled=True))
    assert len(told) == 1
    with pytest.warns(ValidityWarning):
        by_numpy = integrate(mechanism, start, np.linspace(0.0, 0.05, 2), method=Exact(compiled=False))
    agree(by_loops, by_numpy)
