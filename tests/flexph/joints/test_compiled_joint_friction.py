"""Dry friction under the force of the joint in compiled loops and under step control: both routes give one motion."""

from functools import partial

import numpy as np
import pytest
from rubbing_joints import GRAVITY, crank_slider, door, planar, ring_on_arm, sound, spatial, stick_slip

import rigid
from flexph import GROUND, Checkpoint, Event, connect, hinge, integrate, slider
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, stop
from flexph.control import Sampled
from flexph.integration.contact.friction_stepper import FrictionStepper
from flexph.integration.contact.stepper import RigidStepper
from flexph.joints import CoulombFriction
from flexph.kernels.convergence.tolerances import RESOLUTION
from flexph.methods import Exact
from flexph.sensors import friction_force, normal_force, sticks

LEAST_NORM = {"redundant": "least_norm"}
CONTROLLED = pytest.param(Exact(tolerance=1e-4), marks=pytest.mark.slow)
SAME = 1e-10
"""Of two iterations that end at round-off, over the size of what is compared."""


@pytest.fixture
def numpy_steps(monkeypatch):
    """Steps that NumPy took in place of the loops."""
    taken = []
    for stepper, name in ((RigidStepper, "step"), (FrictionStepper, "details")):
        own = getattr(stepper, name)

        def counted(self, start, time, own=own):
            taken.append(start.time)
            return own(self, start, time)

        monkeypatch.setattr(stepper, name, counted)
    return taken


def both(mechanism, start, times, **options):
    """A run in loops, and by NumPy, with the same motion, losses and impulses."""
    own = [integrate(mechanism, start, times, method=Exact(compiled=way, **options)) for way in (True, False)]
    loops, arrays = own
    size = np.abs(arrays.states).max(axis=0)
    assert (np.abs(loops.states - arrays.states) <= SAME * np.maximum(size, 1.0)).all()
    scale = max(arrays.ledger.scale, 1e-3)
    for name, taken in arrays.ledger.dissipation.items():
        np.testing.assert_allclose(loops.ledger.dissipation[name], taken, atol=SAME * scale, rtol=0.0)
    unresolved = RESOLUTION * mechanism.network.arrays.mass.sum() / float(np.diff(times).min())  # of places of a metre
    for name, given in arrays.ledger.impulses.items():
        atol = max(SAME * np.abs(given).max(), 10.0 * unresolved)
        np.testing.assert_allclose(loops.ledger.impulses[name], given, atol=atol, rtol=0.0)
    sound(loops)
    return loops


def moving(seed):
    """A random mechanism, in the plane or in space."""
    return (planar if seed % 2 else spatial)(seed)


@pytest.mark.processor
@pytest.mark.parametrize("seed", [4, 5])
def test_random_mechanisms_move_as_by_numpy(seed, numpy_steps):
    mechanism, start = moving(seed)
    loops = integrate(mechanism, start, 0.01 * np.arange(11), method=Exact(compiled=True))
    assert not numpy_steps
    sound(loops)
    both(mechanism, start, 0.01 * np.arange(11))


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
    lost = both(mechanism, start, np.linspace(0.0, 0.1, 101)).ledger.dissipation
    assert lost["floor"].sum() > 0.1 and (lost["rail"] > 0.0).all() == (friction > 0.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # the long steps resolve nothing
@pytest.mark.parametrize("step", [0.002, 0.02])
def test_many_random_mechanisms_move_as_by_numpy(step):
    for seed in range(24):
        both(*moving(seed), step * np.arange(41))


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.2, 0.0])
def test_a_door_that_bounces_off_a_stop_moves_as_by_numpy(friction):
    pin = hinge("door.root", GROUND, name="pin", friction=CoulombFriction(friction, radius=0.05))
    at_one = stop("door.root", GROUND, Rigid(restitution=0.6), upper=1.0, name="stop")
    mechanism = connect({"door": rigid.bar(1.0, 2.0)}, [pin, at_one])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"door": (0.0, 0.0, 3.0)})
    run = both(mechanism, start, np.linspace(0.0, 1.0, 101))
    assert run["door.spin"][-1, 0] < 0.0 < run.ledger.dissipation["stop: impact"].sum()


@pytest.mark.slow
def test_mechanisms_that_strike_a_floor_move_as_by_numpy():
    for seed in range(4):
        mechanism, start = planar(seed, floor=True)
        times = 0.005 * np.arange(61)
        loops, arrays = (integrate(mechanism, start, times, method=Exact(compiled=way)) for way in (True, False))
        # 1e-10 of each step, which impacts make larger
        np.testing.assert_allclose(loops.states, arrays.states, atol=1e-7, rtol=0.0)
        sound(loops)


@pytest.mark.processor
@pytest.mark.parametrize(
    ("make", "step", "options"),
    [
        (partial(ring_on_arm, 2.0), 0.01, {}),
        pytest.param(door, 0.05, LEAST_NORM),
        (stick_slip, 0.01, {}),
        (partial(crank_slider, flexible=True), 1e-3, {}),
    ],
)
def test_what_comes_to_stick_settles_in_loops(make, step, options, numpy_steps):
    mechanism, start = make()
    times = step * np.arange(61)
    loops = integrate(mechanism, start, times, method=Exact(compiled=True, **options))
    assert not numpy_steps
    arrays = integrate(mechanism, start, times, method=Exact(compiled=False, **options))
    size = np.maximum(np.abs(arrays.states).max(axis=0), 1.0)
    assert (np.abs(loops.states - arrays.states) <= SAME * size).all()
    assert loops.ledger.largest_residual < 1e-12
    assert loops.ledger.complementarity_residual.max() < 1e-10


@pytest.mark.processor
def test_what_sticks_on_an_arm_that_swings_does_not_creep():
    mechanism, start = ring_on_arm(20.0)
    run = integrate(mechanism, start, 0.005 * np.arange(401), method=Exact(compiled=True))
    holds = run.measured(sticks("rub"))
    along = np.vecdot(run["arm.rotation"][:, :2], run["ring.centre"] - run["arm.centre"])
    assert holds[:160].all() and holds[-90:].all() and not holds.all()
    for part in (along[:160], along[-90:]):
        assert np.ptp(part) < 1e-13  # a hundred steps of round-off of places of a metre
    assert np.ptp(along) > 0.05
    sound(run)


@pytest.mark.slow
@pytest.mark.parametrize("make", [partial(ring_on_arm, 0.6), stick_slip])
def test_step_control_takes_the_same_steps_in_loops(make, numpy_steps):
    mechanism, start = make()
    times = np.linspace(0.0, 1.0, 11)
    loops, arrays = (
        integrate(mechanism, start, times, method=Exact(tolerance=1e-4, compiled=way)) for way in (True, False)
    )
    assert len(numpy_steps) >= arrays.ledger.steps.sum()  # all of the second run
    np.testing.assert_array_equal(loops.ledger.steps, arrays.ledger.steps)
    np.testing.assert_allclose(loops.states, arrays.states, atol=SAME * np.abs(arrays.states).max())
    for run in (loops, arrays):
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


@pytest.mark.parametrize("method", [Exact(compiled=True), CONTROLLED, Exact(compiled=False)])
def test_a_run_that_goes_on_has_the_same_bits(method, tmp_path):
    mechanism, start = ring_on_arm(2.0)
    times, at = 0.01 * np.arange(41), 20  # it sticks by then
    whole = integrate(mechanism, start, times, method=method)
    first = integrate(mechanism, start, times[: at + 1], method=method)
    second = integrate(mechanism, first.final, times[at:], method=Exact(compiled=method.compiled))
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
    """Steps to an event are taken again from the same start, in loops and by NumPy."""
    mechanism, start = ring_on_arm(2.0)
    low = Event(lambda t, x: x["arm.centre"][1] + 0.2, terminal=True)
    runs = [
        integrate(mechanism, start, 0.01 * np.arange(61), method=Exact(compiled=way, **options), events={"low": low})
        for way in (True, False)
    ]
    first, second = (run.events["low"].times[0] for run in runs)
    assert first == pytest.approx(second, rel=1e-9)
    for run in runs:
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
    run = integrate(mechanism, start, times, method=Exact(compiled=True), controllers={"watch": watch})
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
