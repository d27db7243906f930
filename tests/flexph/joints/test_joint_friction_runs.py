"""Runs with dry friction under the force of the joint: settling, step control, events, restarts and sensors."""

from functools import partial

import numpy as np
import pytest
from rubbing_joints import GRAVITY, crank_slider, door, planar, ring_on_arm, sound, stick_slip

import rigid
from flexph import GROUND, Checkpoint, Event, connect, hinge, integrate, slider
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, stop
from flexph.control import Sampled
from flexph.joints import CoulombFriction
from flexph.methods import Exact
from flexph.sensors import friction_force, normal_force, sticks


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.2, 0.0])
def test_each_has_its_own_account_beside_a_compliant_contact(friction):
    """Joint and floor are pressed by the same weight; without friction a joint takes nothing."""
    block = rigid.body(1.0, inertia=0.01, ports={"point": (0.0, 0.0)})
    rail = slider("b.point", GROUND, name="rail", friction=CoulombFriction(friction))
    floor = KelvinVoigt(1e4, damping=20.0, friction=0.3)
    touching = contact(Sphere("b.point", 0.1), Plane(GROUND.at(0.0, -0.099), normal=(0.0, 1.0)), floor, name="floor")
    mechanism = connect({"b": block}, [rail, touching], gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"b": (2.0, 0.0, 0.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 101))
    sound(run)
    lost = run.ledger.dissipation
    assert lost["floor"].sum() > 0.1 and (lost["rail"] > 0.0).all() == (friction > 0.0)


@pytest.mark.parametrize("friction", [0.2, 0.0])
def test_a_door_bounces_off_a_stop(friction):
    """With e = 0.6 of its speed without friction, and with less where the blow presses the pin, which rubs."""
    pin = hinge("door.root", GROUND, name="pin", friction=CoulombFriction(friction, radius=0.05))
    at_one = stop("door.root", GROUND, Rigid(restitution=0.6), upper=1.0, name="stop")
    mechanism = connect({"door": rigid.bar(1.0, 2.0)}, [pin, at_one])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"door": (0.0, 0.0, 3.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 101))
    sound(run)
    assert run.ledger.dissipation["stop: impact"].sum() > 0.0
    if friction:
        assert -1.8 < run["door.spin"][-1, 0] < 0.0 < run.ledger.dissipation["pin"].min()
    else:
        assert run["door.spin"][-1, 0] == pytest.approx(-1.8, rel=1e-12)


@pytest.mark.processor
@pytest.mark.parametrize(
    ("make", "step", "stuck"),
    [
        (partial(ring_on_arm, 2.0), 0.01, ["bearing", "rub"]),
        (stick_slip, 0.01, ["rub"]),
        (partial(crank_slider, flexible=True), 5e-3, ["small end", "rail"]),
    ],
)
def test_what_comes_to_stick_settles(make, step, stuck):
    mechanism, start = make()
    run = integrate(mechanism, start, step * np.arange(61))
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.complementarity_residual.max() < 1e-10
    for name in stuck:
        holds = run.measured(sticks(name))[1:]
        assert holds.any() and not holds.all()
    lost = sum(run.ledger.dissipation[name] for name in stuck)
    assert lost.min() >= -1e-15 * run.ledger.scale


def test_a_door_on_two_hinges_comes_to_rest():
    """Their friction takes its kinetic energy, and holds it from then on."""
    mechanism, start = door()
    run = integrate(mechanism, start, 0.05 * np.arange(81), method=Exact(redundant="least_norm"))
    first = np.flatnonzero(run.measured(sticks("low")))[0]
    assert run.measured(sticks("high"))[first:].all() and run.measured(sticks("low"))[first:].all()
    assert np.abs(run["door.spin"][first:]).max() < 1e-14 and np.ptp(run["door.rotation"][first:], axis=0).max() < 1e-14
    low, high, settled = (run.ledger.dissipation[name].sum() for name in ("low", "high", "joints at impacts"))
    assert 0.0 <= settled < 1e-7  # velocity defects of the joints, which settling takes away
    assert low == pytest.approx(high, rel=0.01)
    energy = 0.5 * 19.2 * (0.4**2 + (0.8**2 + 0.04**2) / 12.0)  # ½ J ω², at 1 rad/s
    assert low + high + settled == pytest.approx(energy, rel=1e-12)
    sound(run)


@pytest.mark.processor
def test_what_sticks_on_an_arm_that_swings_does_not_creep():
    mechanism, start = ring_on_arm(20.0)
    run = integrate(mechanism, start, 0.005 * np.arange(401))
    holds = run.measured(sticks("rub"))
    along = np.vecdot(run["arm.rotation"][:, :2], run["ring.centre"] - run["arm.centre"])
    assert holds[:160].all() and holds[-90:].all() and not holds.all()
    for part in (along[:160], along[-90:]):
        assert np.ptp(part) < 1e-13  # a hundred steps of round-off of places of a metre
    assert np.ptp(along) > 0.05
    sound(run)


@pytest.mark.slow
@pytest.mark.parametrize("make", [partial(ring_on_arm, 0.6), stick_slip])
def test_step_control_keeps_laws_and_follows_short_steps(make):
    mechanism, start = make()
    short = integrate(mechanism, start, np.linspace(0.0, 1.0, 4001)).states[-1]
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 11), method=Exact(tolerance=1e-4))
    np.testing.assert_allclose(run.states[-1], short, rtol=0, atol=2e-3 * np.abs(short).max())
    assert run.ledger.steps.sum() < 200
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.complementarity_residual.max() < 1e-10


@pytest.mark.slow
def test_control_does_not_take_what_settling_takes_from_velocities_for_an_error():
    """A defect of joints that settling takes away is no smaller in shorter steps."""
    mechanism, start = planar(33)
    run = integrate(mechanism, start, 0.05 * np.arange(28), method=Exact(tolerance=1e-4))
    assert run.ledger.rejected.sum() < 20  # it went on to the shortest step at 1.283 s
    sound(run)


@pytest.mark.slow
def test_control_cuts_steps_where_a_block_stops_and_goes_on_with_long_ones():
    """v²/(2μg), to the way of the step in which it stops: its error is judged there, too."""
    body = rigid.body(2.0, inertia=0.04, ports={"centre": (0.0, 0.0)})
    rail = slider("block.centre", GROUND.at(0.0, 0.0), friction=CoulombFriction(0.3), name="rail")
    mechanism = connect({"block": body}, [rail], gravity=(0.0, -GRAVITY))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (1.0, 0.0, 0.0)})
    stops, errors, counts = 1.0 / (2.0 * 0.3 * GRAVITY), [], []
    for tolerance in (1e-3, 1e-4, 1e-5):
        run = integrate(mechanism, start, [0.0, 0.2, 1.0], method=Exact(tolerance=tolerance))
        errors.append(abs(run["block.centre"][-1, 0] - stops))
        counts.append(run.ledger.steps.sum())
        assert run["block.velocity"][-1, 0] == pytest.approx(0.0, abs=1e-14)
        sound(run)
    assert (np.array(errors) <= [1e-4, 1e-6, 1e-8]).all()  # of second order in the length of that step
    assert counts[0] < counts[1] < counts[2] < 400


@pytest.mark.parametrize("method", [Exact(), pytest.param(Exact(tolerance=1e-4), marks=pytest.mark.slow)])
def test_a_run_that_goes_on_has_the_same_bits(method, tmp_path):
    mechanism, start = ring_on_arm(2.0)
    times, at = 0.01 * np.arange(41), 20  # it sticks by then
    whole = integrate(mechanism, start, times, method=method)
    first = integrate(mechanism, start, times[: at + 1], method=method)
    second = integrate(mechanism, first.final, times[at:])
    if method.tolerance is None:
        np.testing.assert_array_equal(second.states, whole.states[at:])
    integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(tmp_path, 0.0))
    pieces = sorted(tmp_path.iterdir())
    for path in pieces[len(pieces) // 2 :]:  # as a kill leaves it
        path.unlink()
    again = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(tmp_path, 0.0, resume=True))
    np.testing.assert_array_equal(again.states, whole.states)
    for name, taken in whole.ledger.dissipation.items():
        np.testing.assert_array_equal(again.ledger.dissipation[name], taken)


@pytest.mark.parametrize("options", [{}, pytest.param({"tolerance": 1e-5}, marks=pytest.mark.slow)])
def test_events_are_found_with_friction_of_joints(options):
    """Steps to an event are taken again from the same start."""
    mechanism, start = ring_on_arm(2.0)
    low = Event(lambda t, x: x["arm.centre"][1] + 0.2, terminal=True)
    run = integrate(mechanism, start, 0.01 * np.arange(61), method=Exact(**options), events={"low": low})
    assert run.times[-1] == run.events["low"].times[0] < 0.6
    assert run["arm.centre"][-1, 1] == pytest.approx(-0.2, abs=1e-9)
    sound(run)


def test_sampled_controllers_read_friction_of_joints():
    mechanism, start = stick_slip()
    read = []
    quantities = {"normal": normal_force("rub"), "friction": friction_force("rub"), "sticks": sticks("rub")}
    watch = Sampled(
        function=lambda t, y: read.append((y["normal"], y["friction"], y["sticks"])) or {},
        period=0.05,
        sensors=quantities,
    )
    times = 0.01 * np.arange(201)
    run = integrate(mechanism, start, times, controllers={"watch": watch})
    normal, friction, holds = np.array(read, dtype=float).T
    assert normal[0] == friction[0] == holds[0] == 0.0  # nothing is known of the start
    np.testing.assert_allclose(normal[1:], GRAVITY, rtol=1e-10)
    assert (friction <= 0.3 * normal * (1.0 + 1e-10)).all()
    np.testing.assert_array_equal(holds[1:] > 0.0, friction[1:] < 0.3 * normal[1:] * (1.0 - 1e-9))
    assert 0.0 < holds[1:].mean() < 1.0
    impulses = run.ledger.impulses
    np.testing.assert_allclose(friction[1:], impulses["rub: friction"][4:-1:5] / 0.01, rtol=1e-10)
    np.testing.assert_array_equal(run.measured(quantities["sticks"])[5:-1:5], holds[1:] > 0.0)
    assert np.abs(run.measured(quantities["friction"])).max() <= 0.3 * GRAVITY * (1.0 + 1e-9)
