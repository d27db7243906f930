"""Rigid contacts by events in compiled loops: the whole history is that of NumPy to round-off, and its ledger."""

import numpy as np
import pytest
from contact_samples import ball, dropped

from cases import bouncing_ball, flexible_stop, newtons_cradle, woodpecker_toy
from flexph import GROUND, Checkpoint, Event, Simulator, connect, force, hinge, integrate
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact
from flexph.control import Sampled
from flexph.integration.choice import numpy_because
from flexph.methods import Exact
from flexph.sensors import gap

RUNS = {
    "ball": (bouncing_ball, {"end": 1.3, "restitution": 0.8}),
    "ball that comes to rest": (bouncing_ball, {"end": 1.5}),
    "cradle, touching": (newtons_cradle, {"law": "rigid", "end": 0.005}),
    "cradle, apart": (newtons_cradle, {"law": "rigid", "gap": 1e-4}),
    "woodpecker": (woodpecker_toy, {"end": 0.2}),
    "flexible stop": (flexible_stop, {"end": 0.03}),
}


def agree(by_loops, by_numpy, left=""):
    """Two runs of one mechanism: the same to round-off, and sound."""
    assert (by_loops.steps_by, by_numpy.steps_by) == (f"compiled loops{left}", "NumPy, as compiled=False")
    np.testing.assert_array_equal(by_loops.times, by_numpy.times)
    np.testing.assert_allclose(by_loops.states, by_numpy.states, rtol=0, atol=1e-9 * np.abs(by_numpy.states).max())
    own, ledger = by_loops.ledger, by_numpy.ledger
    assert np.abs(own.residual).max() <= 2e-13 * own.scale
    assert own.complementarity_residual.max() <= max(1e-12, 2.0 * ledger.complementarity_residual.max())
    for kind, size in (("energy", ledger.scale), ("dissipation", ledger.scale), ("impulses", 1.0)):
        for name, values in getattr(ledger, kind).items():
            np.testing.assert_allclose(getattr(own, kind)[name], values, rtol=0, atol=1e-11 * size, err_msg=name)
    size = np.abs(by_numpy.multipliers).max(initial=1.0)
    np.testing.assert_allclose(by_loops.multipliers, by_numpy.multipliers, rtol=0, atol=1e-7 * size)


def both(mechanism, start, times, **given):
    """A run by compiled loops, and by NumPy."""
    return tuple(integrate(mechanism, start, times, method=Exact(compiled=way), **given) for way in (True, False))


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_history_of_a_case_in_loops_is_that_of_numpy(name, monkeypatch):
    (case, given), runs = RUNS[name], []
    for way in (True, False):
        method = Exact(compiled=way)
        monkeypatch.setattr(case, "integrate", lambda *a, by=method, **k: integrate(*a, **{**k, "method": by}))
        runs.append(case.run(**given))
    agree(*runs)


def over_a_floor_and_a_ball(law):
    """A disc that falls on a floor with restitution, pushed, and strikes another one that rests on a law."""
    spheres = {name: Sphere(f"{name}.centre", 0.1) for name in ("one", "two")}
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    bounce = Rigid(restitution=0.6, friction=0.3)
    touching = [
        contact(spheres["one"], ground, bounce, name="floor"),
        contact(spheres["one"], spheres["two"], bounce, name="discs"),
        contact(spheres["two"], ground, law, name="bed"),
    ]
    bodies = dict.fromkeys(spheres, ball())
    mechanism = connect(bodies, [*touching, force("one.centre", name="push")], gravity=(0.0, -9.81))
    guess = {"one": (0.0, 0.15, 0.0), "two": (0.25, 0.1, 0.0)}
    velocities = {"one": (1.0, 0.0, 5.0), "two": (0.0, 0.0, 0.0)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=velocities)


def test_a_ball_in_loops_bounces_as_by_numpy_and_its_events_are_found():
    mechanism, start = dropped(Rigid(restitution=0.8), gravity=9.81, height=0.05)
    events = {"top": Event(lambda t, x: x["ball.velocity"][1], direction=-1)}
    by_loops, by_numpy = both(mechanism, start, np.linspace(0.0, 0.4, 21), events=events)
    agree(by_loops, by_numpy)
    assert by_loops.events["top"].times.size > 1
    np.testing.assert_allclose(by_loops.events["top"].times, by_numpy.events["top"].times, rtol=0, atol=1e-11)


@pytest.mark.slow
def test_discs_under_a_push_beside_compliant_contacts_move_as_by_numpy():
    mechanism, start = over_a_floor_and_a_ball(KelvinVoigt(1e4, damping=30.0, friction=0.2))
    inputs = {"push": lambda t: (3.0 * np.cos(20.0 * t), 0.0)}
    agree(*both(mechanism, start, np.linspace(0.0, 0.5, 101), inputs=inputs))


def test_a_run_goes_on_to_the_same_bits_from_every_step(tmp_path):
    """In flight, after an impact, and at rest."""
    mechanism, start = dropped(Rigid(restitution=0.1), gravity=9.81)
    times, method = np.linspace(0.0, 0.03, 13), Exact(compiled=True)
    whole = integrate(mechanism, start, times, method=method)
    assert np.ptp(whole.states[-2:, 1]) == 0.0
    integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(tmp_path, 0.0))
    for kept in range(len(list(tmp_path.iterdir())) - 1, 1, -1):
        sorted(tmp_path.iterdir())[kept].unlink()
        again = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(tmp_path, 60.0, resume=True))
        np.testing.assert_array_equal(again.states, whole.states)
        for kind in ("energy", "dissipation", "impulses"):
            for name, values in getattr(whole.ledger, kind).items():
                np.testing.assert_array_equal(getattr(again.ledger, kind)[name], values)
        np.testing.assert_array_equal(again.ledger.residual, whole.ledger.residual)
        for path in sorted(tmp_path.iterdir())[kept:]:
            path.unlink()


@pytest.mark.slow
def test_controllers_between_steps_and_simulators_see_the_impacts_of_loops():
    mechanism, start = dropped(Rigid(restitution=0.5), gravity=9.81, height=0.01)
    pushed = connect(mechanism.bodies, [*mechanism.connections, force("ball.centre", name="push")], gravity=(0, -9.81))
    start = pushed.consistent_state(pushed.assemble(guess={"ball": (0.0, 0.11, 0.0)}))
    up = Sampled(
        function=lambda t, see, held: ({"push": (0.0, 40.0 * see["gap"][0])}, held),
        period=0.01, sensors={"gap": gap("touch")}, memory=0.0,
    )  # fmt: skip
    agree(*both(pushed, start, np.linspace(0.0, 0.2, 41), controllers={"up": up}))
    simulator, times = Simulator(pushed, start, method=Exact(compiled=True)), np.linspace(0.0, 0.2, 41)
    for _ in times[1:]:
        simulator.advance(0.005)
    run = integrate(pushed, start, times, method=Exact(compiled=False))
    np.testing.assert_allclose(simulator.state.x, run.states[-1], rtol=0, atol=1e-9)


def test_a_ball_that_passes_another_one_within_a_step_is_seen_by_loops():
    balls = dict.fromkeys(("one", "two"), ball())
    touch = contact(Sphere("one.centre", 0.1), Sphere("two.centre", 0.1), Rigid(restitution=1.0), name="touch")
    mechanism = connect(balls, [touch])
    pose = mechanism.assemble(guess={"one": (0.0, 0.0, 0.0), "two": (1.0, 0.01, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"one": (2.0, 0.0, 0.0)})
    by_loops, by_numpy = both(mechanism, start, np.linspace(0.0, 2.0, 3))
    left = ", but one step by NumPy (from t = 0 s), which the loops did not solve: shorter steps avoid it"
    agree(by_loops, by_numpy, left=left)
    assert by_loops.ledger.impulses["touch: normal"].sum() > 1.0


def test_bodies_in_each_other_at_the_start_and_what_loops_do_not_know_are_refused():
    mechanism, _ = dropped(Rigid())
    assert numpy_because(mechanism, Exact()) is None
    assert numpy_because(mechanism, Exact(contact="steps")) is None
    deep = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.05, 0.0)}))
    for way in ("events", "steps"):
        with pytest.raises(ValueError, match=r"touch: the bodies are in each other at the start, by 0\.05 m:"):
            integrate(mechanism, deep, np.linspace(0.0, 0.1, 3), method=Exact(contact=way, compiled=True))
    soft = contact("ball.centre", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), KelvinVoigt(1e4), name="soft")
    beside = connect(mechanism.bodies, [*mechanism.connections, soft])
    assert numpy_because(beside, Exact(contact="steps")) is None
    held = connect({"ball": ball()}, [dropped(Rigid())[0].connections[0], hinge("ball.centre", GROUND.at(0, 1))])
    assert numpy_because(held, Exact(contact="steps")) is None
    assert numpy_because(held, Exact(contact="steps", redundant="least_norm")) is None
