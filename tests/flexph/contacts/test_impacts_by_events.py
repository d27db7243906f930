"""Rigid contacts by events: steps are split where gaps close, with an impact there."""

from itertools import pairwise

import numpy as np
import pytest
from contact_runs import sound
from contact_samples import ball, dropped

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
from flexph import (
    GROUND,
    Checkpoint,
    Event,
    Simulator,
    connect,
    drive,
    force,
    hinge,
    integrate,
    spring_damper,
)
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.control import Sampled
from flexph.methods import Exact
from flexph.results.unfinished import InputError
from flexph.sensors import gap

CASES = {
    "ball": (bouncing_ball, {"end": 1.5}),
    "ball of steel": (bouncing_ball, {"end": 1.3, "restitution": 0.8}),
    "woodpecker": (woodpecker_toy, {"end": 0.2}),
    "block": (rocking_block, {"end": 0.7}),
    "crank": (clearance_crank, {}),
    "cam": (cam_stop, {"turns": 0.5}),
    "cam that bounces": (cam_stop, {"turns": 0.1, "friction": 0.2, "restitution": 0.3}),
    "cradle": (newtons_cradle, {"law": "rigid", "gap": 1e-4}),
    "cradle, touching": (newtons_cradle, {"law": "rigid", "end": 0.005}),
    "rod": (painleve_rod, {}),
    "slope": (sliding_block, {}),
    "flexible stop": (flexible_stop, {"end": 0.03}),
}
BOUNCES = Rigid(restitution=0.4, friction=0.3)


@pytest.mark.processor
@pytest.mark.parametrize("name", CASES)
def test_cases_meet_their_laws(name):
    case, given = CASES[name]
    run = case.run(**given)
    solution = getattr(run, "solution", run)
    sound(solution)
    assert sum(taken.sum() for taken in solution.ledger.impulses.values()) > 0.0


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


@pytest.mark.parametrize("law", [BOUNCES, Rigid(friction=0.3)], ids=str)
def test_what_time_prescribes_is_asked_for_where_steps_are_split(law):
    """Of drives, whose rates are those to the right at impacts, of springs and of loads: the order stays two."""
    angle, rest = (lambda t: -0.3 - 0.3 * np.sin(4.0 * t)), (lambda t: 0.5 + 0.05 * np.sin(11.0 * t))
    push, ends = {"push": lambda t: np.array([2.0 * np.sin(9.0 * t), 0.0])}, []
    for count in (13, 26, 52, 104):
        mechanism, start = swing(law, angle=angle, rest=rest)
        run = integrate(mechanism, start, np.linspace(0.0, 0.26, count + 1), inputs=push)
        sound(run)
        assert run.ledger.dissipation["floor: impact"].sum() > 0.01
        ends.append(np.concatenate([run["link.centre"][-1], run["disc.centre"][-1]]))
    errors = [np.abs(after - before).max() for before, after in pairwise(ends)]
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]


def test_functions_that_fail_where_a_step_is_split_are_said():
    """This one has values at the ends and quarters of steps alone, which are asked for before."""

    def angle(time):
        quarters = 400.0 * time
        if time > 0.02 and abs(quarters - round(quarters)) > 1e-6:
            raise RuntimeError(f"no angle at {time}")
        return -0.3 - 0.3 * np.sin(4.0 * time)

    mechanism, start = swing(BOUNCES, angle=angle)
    told = r"drive link\.root–GROUND: angle: the prescribed motion at t = (0\.\d+) s raised .*: no angle at \1"
    with pytest.raises(InputError, match=told):
        integrate(mechanism, start, np.linspace(0.0, 0.5, 51))


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
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 101), events={"rests": event})
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


@pytest.mark.parametrize(("law", "steps"), [(BOUNCES, 45), (Rigid(friction=0.3), 50)], ids=str)
def test_gaps_that_close_and_open_again_on_the_way_to_another_one_are_not_left_closed(law, steps):
    """They were pushed open within the next way, however short: half of all energy came and went so."""
    mechanism, start = discs_in_a_box(law)
    sound(integrate(mechanism, start, 0.01 * np.arange(steps + 1)))


def test_a_ball_bounces_and_events_are_found_at_the_tops_of_its_flights():
    mechanism, start = dropped(Rigid(restitution=0.8), gravity=9.81, height=0.05)
    events = {"top": Event(lambda t, x: x["ball.velocity"][1], direction=-1)}
    run = integrate(mechanism, start, np.linspace(0.0, 0.9, 46), events=events)
    sound(run)
    lands = np.sqrt(1.0 + 2.0 * 9.81 * 0.05)  # [m/s], thrown down by 1 m/s
    flights = 2.0 * lands / 9.81 * 0.8 ** np.arange(1, 7)
    tops = (lands - 1.0) / 9.81 + np.cumsum(flights) - 0.5 * flights
    np.testing.assert_allclose(run.events["top"].times, tops, rtol=0, atol=1e-11)


def test_discs_under_a_push_bounce_beside_compliant_contacts():
    """A disc that falls on a floor with restitution, pushed, and strikes another one that rests on a soft bed."""
    spheres = {name: Sphere(f"{name}.centre", 0.1) for name in ("one", "two")}
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    bounce = Rigid(restitution=0.6, friction=0.3)
    touching = [
        contact(spheres["one"], ground, bounce, name="floor"),
        contact(spheres["one"], spheres["two"], bounce, name="discs"),
        contact(spheres["two"], ground, KelvinVoigt(1e4, damping=30.0, friction=0.2), name="bed"),
    ]
    bodies = dict.fromkeys(spheres, ball())
    mechanism = connect(bodies, [*touching, force("one.centre", name="push")], gravity=(0.0, -9.81))
    guess = {"one": (0.0, 0.15, 0.0), "two": (0.25, 0.1, 0.0)}
    velocities = {"one": (1.0, 0.0, 5.0), "two": (0.0, 0.0, 0.0)}
    start = mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=velocities)
    inputs = {"push": lambda t: (3.0 * np.cos(20.0 * t), 0.0)}
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 101), inputs=inputs)
    sound(run)
    assert run.ledger.dissipation["discs: impact"].sum() > 1e-3 and run.ledger.dissipation["bed"].sum() > 1e-3


def test_a_run_goes_on_to_the_same_bits_from_every_step(tmp_path):
    """In flight, after an impact, and at rest."""
    mechanism, start = dropped(Rigid(restitution=0.1), gravity=9.81)
    times = np.linspace(0.0, 0.03, 13)
    whole = integrate(mechanism, start, times)
    assert np.ptp(whole.states[-2:, 1]) == 0.0
    integrate(mechanism, start, times, checkpoint=Checkpoint(tmp_path, 0.0))
    for kept in range(len(list(tmp_path.iterdir())) - 1, 1, -1):
        sorted(tmp_path.iterdir())[kept].unlink()
        again = integrate(mechanism, start, times, checkpoint=Checkpoint(tmp_path, 60.0, resume=True))
        np.testing.assert_array_equal(again.states, whole.states)
        for kind in ("energy", "dissipation", "impulses"):
            for name, values in getattr(whole.ledger, kind).items():
                np.testing.assert_array_equal(getattr(again.ledger, kind)[name], values)
        np.testing.assert_array_equal(again.ledger.residual, whole.ledger.residual)
        for path in sorted(tmp_path.iterdir())[kept:]:
            path.unlink()


@pytest.mark.parametrize("way", ["events", "steps"])
def test_controllers_between_steps_and_simulators_see_impacts(way):
    mechanism, _ = dropped(Rigid(restitution=0.5), gravity=9.81, height=0.01)
    pushed = connect(mechanism.bodies, [*mechanism.connections, force("ball.centre", name="push")], gravity=(0, -9.81))
    start, method = pushed.consistent_state(pushed.assemble(guess={"ball": (0.0, 0.11, 0.0)})), Exact(contact=way)
    up = Sampled(
        function=lambda t, see, held: ({"push": (0.0, 40.0 * see["gap"][0])}, held),
        period=0.01, sensors={"gap": gap("touch")}, memory=0.0,
    )  # fmt: skip
    times = np.linspace(0.0, 0.2, 41)
    held = integrate(pushed, start, times, controllers={"up": up}, method=method)
    sound(held)
    gaps = held.contact("touch").gap[:-1:2, 0]  # where the controller sees them
    inputs = {"push": lambda t: (0.0, 40.0 * gaps[int(t / 0.01)])}
    np.testing.assert_array_equal(held.states, integrate(pushed, start, times, inputs=inputs, method=method).states)
    simulator = Simulator(pushed, start, method=method)
    for _ in times[1:]:
        simulator.advance(0.005)
    run = integrate(pushed, start, times, method=method)
    np.testing.assert_allclose(simulator.state.x, run.states[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("way", ["events", "steps"])
def test_bodies_in_each_other_at_the_start_are_refused(way):
    mechanism, _ = dropped(Rigid())
    deep = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.05, 0.0)}))
    with pytest.raises(ValueError, match=r"touch:.*bodies overlap at the start, by 0\.05 m:"):
        integrate(mechanism, deep, np.linspace(0.0, 0.1, 3), method=Exact(contact=way))
