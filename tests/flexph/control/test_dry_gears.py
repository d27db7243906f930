"""Dry friction of gearboxes and motors holds without creep, ends motion as in closed form, and never gives energy."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.control import Continuous, DryFriction, Sampled, Terminated, gearbox, motor, port_spring
from flexph.control.laws import Limit, Line, Smooth, meet_all
from flexph.laws import coulomb, quadratic
from flexph.numerics.step_failed import StepFailed
from flexph.sensors import joint_angle, joint_rate
from flexph.systems import LinearPHDAE

TURNS, ROTOR, WOUND = 50.0, 2e-5, {"constant": 0.05, "resistance": 0.8, "inductance": 1e-3}
LENGTH, MASS, GRAVITY = 0.5, 2.0, 9.81
WEIGHT = MASS * GRAVITY * 0.5 * LENGTH  # [N m] at the shaft, of a level arm
ANGLE, RATE = joint_angle("arm.root"), joint_rate("arm.root")


def arm(body=None, **options):
    joints = [hinge("arm.root", GROUND, **options), torque("arm.root", name="drive")]
    return connect({"arm": body or rigid.bar(LENGTH, MASS)}, joints, gravity=(0.0, -GRAVITY))


OWN = MASS * LENGTH**2 / 3.0
INERTIA = OWN + TURNS**2 * ROTOR
HEAVY, FREE = (
    arm(),
    arm(rigid.body(MASS, inertia=OWN, ports={"root": (0.0, 0.0)})),
)  # of one inertia, with and without weight


def driven(system, times, *, mechanism=HEAVY, rate=0.0, others=None, given=0.0, angle=0.0):
    start = mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, angle)}), velocities={"arm": rate})
    first = np.zeros(system.size)
    first[system.size - 2] = TURNS * rate  # the spin
    port = next(port for port in system.ports if port != "shaft")
    train = Continuous(system=system, ports={"shaft": "drive"}, inputs={port: given}, start=first)
    return integrate(mechanism, start, times, controllers={"train": train} | (others or {}))


def is_sound(run, closed=1e-12):
    assert run.ledger.largest_residual < closed
    assert run.ledger.dissipation["train"].min() >= 0.0


TRAINS = {
    "gearbox": lambda level: gearbox(ratio=TURNS, inertia=ROTOR, dry_friction=level),
    "motor": lambda level: motor(**WOUND, ratio=TURNS, inertia=ROTOR, dry_friction=level),
    "limited": lambda level: motor(**WOUND, ratio=TURNS, inertia=ROTOR, dry_friction=level, torque_limit=0.3),
}


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("train", TRAINS)
@pytest.mark.parametrize("h", [1e-3, 0.05])
def test_a_load_is_held_without_creep(train, h):
    """n T above the weight: nothing moves, at any step; smooth friction would creep by v artanh(P/F) t/n."""
    run = driven(TRAINS[train](1.01 * WEIGHT / TURNS), h * np.arange(13.0))
    is_sound(run)
    assert abs(run.measured(ANGLE)).max() < 1e-15
    assert abs(run.measured(RATE)).max() < 1e-14
    assert run.ledger.dissipation["train"].sum() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("train", TRAINS)
def test_loops_meet_laws_as_python_does(train, by_python):
    """A supply that lets the arm stick, go and turn over, and exceeds the limit."""
    system, times = TRAINS[train](0.6 * WEIGHT / TURNS), 2e-3 * np.arange(301.0)
    given = (lambda t: 0.5 * np.sin(20.0 * t)) if train == "gearbox" else (lambda t: 12.0 * np.sin(20.0 * t))
    runs = [driven(system, times, given=given, mechanism=FREE)]
    with by_python():
        runs.insert(0, driven(system, times, given=given, mechanism=FREE))
    for run in runs:
        is_sound(run)
    turned = np.sign(runs[0].measured(RATE))
    assert {-1.0, 0.0, 1.0} == set(np.where(abs(runs[0].measured(RATE)) < 1e-12, 0.0, turned).tolist())
    for name in ("states", "multipliers"):
        expected, found = (getattr(run, name) for run in runs)
        np.testing.assert_allclose(found, expected, atol=1e-9 * abs(expected).max())
    lost = [run.ledger.dissipation["train"].sum() for run in runs]
    assert lost[1] == pytest.approx(lost[0], rel=1e-9)
    np.testing.assert_allclose(runs[1].controls["drive"], runs[0].controls["drive"], atol=1e-9 * 30.0)


@pytest.mark.slow
def test_laws_of_several_trains_are_met_together(by_python):
    """Two joints with dry gears, of which one is limited too: three laws, in loops and by Python."""
    bars = {"arm": rigid.bar(LENGTH, MASS), "hand": rigid.bar(LENGTH, 0.5 * MASS)}
    joints = [hinge("arm.root", GROUND), hinge("hand.root", "arm.tip")]
    ports = [torque("arm.root", name="drive"), torque("hand.root", against="arm.tip", name="wrist")]
    two = connect(bars, [*joints, *ports], gravity=(0.0, -GRAVITY))
    start = two.consistent_state(two.assemble({"arm": (0.0, 0.0, -1.0)}, guess={"hand": (0.3, -0.4, -1.0)}))
    loops = {
        "shoulder": Continuous(
            system=TRAINS["limited"](0.8 * WEIGHT / TURNS), ports={"shaft": "drive"}, inputs={"supply": 4.0}
        ),
        "elbow": Continuous(system=TRAINS["gearbox"](0.01 * WEIGHT / TURNS), ports={"shaft": "wrist"}),
    }
    runs = [integrate(two, start, 1e-3 * np.arange(201.0), controllers=loops)]
    with by_python():
        runs.insert(0, integrate(two, start, 1e-3 * np.arange(201.0), controllers=loops))
    np.testing.assert_allclose(runs[1].states, runs[0].states, atol=1e-9 * abs(runs[0].states).max())
    for run in runs:
        assert run.ledger.largest_residual < 1e-12
        assert min(run.ledger.dissipation[name].min() for name in loops) >= 0.0
    assert abs(runs[0].measured(joint_rate("hand.root", "arm.tip"))).max() > 0.1


def test_less_friction_lets_the_load_go():
    h, level = 1e-3, 0.99 * WEIGHT / TURNS
    run = driven(TRAINS["gearbox"](level), h * np.arange(21.0))
    is_sound(run)
    falls = (TURNS * level - WEIGHT) / INERTIA * run.times
    np.testing.assert_allclose(run.measured(RATE), falls, rtol=1e-4)  # the weight goes with the cosine of the angle


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("h", [7e-3, 0.012])
def test_motion_ends_in_rest_that_stays(h):
    """A spin ω₀ is braked by nT/I, to rest within a step, and all of its energy goes to friction in the ledger."""
    level, rate = 0.02, 0.3
    braked = TURNS * level / INERTIA
    run = driven(TRAINS["gearbox"](level), h * np.arange(16.0), mechanism=FREE, rate=rate)
    is_sound(run)
    resting = run.times >= rate / braked + h
    assert 3 < resting.sum() < 12
    assert abs(run.measured(RATE)[resting]).max() < 1e-13
    assert np.ptp(run.measured(ANGLE)[resting]) < 1e-14
    moving = run.times < rate / braked
    np.testing.assert_allclose(run.measured(RATE)[moving], rate - braked * run.times[moving], rtol=1e-12)
    np.testing.assert_allclose(run.ledger.dissipation["train"].sum(), 0.5 * INERTIA * rate**2, rtol=1e-13)
    last, turned = (
        braked * h**2 / 8.0,
        h**2 * rate**3 * (rate / braked) / 12.0,
    )  # of the last step, of tangents of angles
    assert abs(run.measured(ANGLE)[-1] - 0.5 * rate**2 / braked) < 1.01 * last + turned


def test_it_breaks_away_and_turns_over_as_in_closed_form():
    """τ = 2T sin: from rest at sin = ½ on, I ω̇ = n (τ − T sign ω), until the rate is zero again; of second order."""
    level, pace = 0.05, 4.0
    errors = []
    for steps in (20, 40):
        times = np.linspace(0.0, 0.6, steps + 1)
        run = driven(TRAINS["gearbox"](level), times, mechanism=FREE, given=lambda t: 2.0 * level * np.sin(pace * t))
        is_sound(run)
        t, go = run.times, np.arcsin(0.5) / pace
        moving = 2.0 * (np.cos(pace * go) - np.cos(pace * t)) / pace - (t - go)
        errors.append(abs(run.measured(RATE) - TURNS * level / INERTIA * np.where(t > go, moving, 0.0)).max())
    assert errors[1] < 1e-3  # [rad/s], of 3.8
    assert errors[0] / errors[1] > 3.0


def test_smooth_friction_creeps_to_it():
    """Two routes to one creep: smooth friction in the gears, and n times of it at n times less speed in the hinge."""
    times, level = np.linspace(0.0, 0.2, 6), 1.5 * WEIGHT / TURNS
    ways = []
    for speed in (1e-3, 1e-4):
        geared = driven(gearbox(ratio=TURNS, inertia=ROTOR, friction=coulomb(level, speed=speed)), times)
        is_sound(geared)
        ways.append(geared.measured(ANGLE)[-1])
    hinged = arm(friction=coulomb(TURNS * level, speed=1e-4 / TURNS))
    start = hinged.consistent_state(hinged.assemble({"arm": (0.0, 0.0, 0.0)}))
    creep = integrate(hinged, start, times).measured(ANGLE)[-1]
    assert ways[1] == pytest.approx(creep, rel=1e-4)
    assert ways[0] / ways[1] == pytest.approx(10.0, rel=1e-3)
    assert ways[1] == pytest.approx(-1e-4 / TURNS * np.arctanh(1.0 / 1.5) * 0.2, rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_random_drives_are_sound_at_large_steps(seed):
    rng = np.random.default_rng(seed)
    system = motor(
        **WOUND,
        ratio=float(rng.choice([-1.0, 1.0]) * rng.uniform(5.0, 80.0)),
        inertia=10 ** rng.uniform(-6, -4),
        friction=[1e-6, coulomb(0.02, speed=1e-3), quadratic(1e-7)][seed % 3],
        dry_friction=rng.uniform(0.01, 0.3),
        torque_limit=[None, 0.4][seed % 2],
    )
    pace, size = rng.uniform(2.0, 30.0), rng.uniform(5.0, 30.0)
    times = np.cumsum(np.append(0.0, 10 ** rng.uniform(-3.5, -1.5, 12)))  # every step of another length
    run = driven(system, times, given=lambda t: size * np.sin(pace * t))
    is_sound(run)
    assert run.ledger.work["train: supply"].sum() > 0.0


def test_it_stands_beside_other_controllers():
    hold = Sampled(function=lambda t, see: {"motor": -2.0 * see["rate"]}, period=0.02, sensors={"rate": RATE})
    joints = [hinge("arm.root", GROUND), torque("arm.root", name="drive"), torque("arm.root", name="motor")]
    both = connect({"arm": rigid.bar(LENGTH, MASS)}, joints, gravity=(0.0, -GRAVITY))
    spring = Continuous(system=port_spring(3.0, 0.1), ports={"spring": "motor"})
    system = TRAINS["limited"](0.05)
    for others in ({"spring": spring}, {"hold": hold}):
        run = driven(system, np.linspace(0.0, 0.1, 11), mechanism=both, others=others, rate=1.0, angle=0.3)
        is_sound(run)
    state = run.final
    first = Continuous(system=system, ports={"shaft": "drive"})
    again = integrate(both, state, np.linspace(0.1, 0.14, 3), controllers={"train": first, "hold": hold})
    assert again.ledger.largest_residual < 1e-12  # states of the train go on


@pytest.mark.parametrize("seed", range(40))
def test_laws_are_met_on_any_line(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    sizes = 10 ** rng.uniform(-2.0, 2.0, count)
    across, skew = rng.normal(size=(count, count + 2)), 3.0 * rng.normal(size=(count, count))
    slopes, free = (across @ across.T + skew - skew.T) * np.outer(sizes, sizes), rng.normal(size=count)
    kinds = [DryFriction(2.0), Smooth(coulomb(2.0, speed=1e-4)), Limit(0.1, 1e3), Smooth(quadratic(3.0))]
    laws = [kinds[k] for k in rng.integers(0, 4, count)]
    before = rng.normal(size=count) * (seed % 2)
    rates, forces = meet_all(laws, Line(free, slopes, before, free, free), np.zeros(count))
    assert np.all(rates * forces >= 0.0)
    terms = np.max(abs(free) + abs(slopes) @ abs(forces))
    assert np.abs(free - slopes @ forces - rates).max() < 1e-13 * terms
    for law, rate, force, first in zip(laws, rates, forces, before, strict=True):
        if isinstance(law, Smooth):
            assert force == pytest.approx(law.relation.force(rate), rel=1e-9)
        if isinstance(law, DryFriction):
            assert abs(force) <= law.level
            sliding = abs(force) == law.level or (force == 0.0 and rate * first > 0.0)
            assert sliding or rate in (0.0, 0.5 * first)


def test_laws_that_contradict_each_other_are_a_failed_step():
    line = Line(np.array([-0.15, -0.13]), np.array([[4.0, 2.0], [2.0, 1.0]]), *np.zeros((3, 2)))
    with pytest.raises(StepFailed, match=r"forces.*friction.*limits.*controllers did not converge"):
        meet_all([DryFriction(50.0)] * 2, line, np.zeros(2))


@pytest.mark.parametrize(
    ("ports", "laws", "told"),
    [
        ({"rope": 1, "ground": 1}, {"grund": DryFriction(1.0)}, "no port 'grund'"),
        ({"ground": 1, "rope": 1}, {"ground": DryFriction(1.0)}, "behind all others, got 'ground'"),
        ({"rope": 1, "ground": 1}, {"ground": 1.0}, "must be a Relation or a DryFriction, got 1.0"),
        ({"rope": 1, "light": 1}, {"light": DryFriction(1.0)}, "at a state that stores no energy"),
    ],
)
def test_what_laws_cannot_close_is_named(ports, laws, told):
    B = np.array([[1.0, float("light" not in ports)], [0.0, 1.0]])
    slices = {name: slice(k, k + 1) for k, name in enumerate(ports)}
    system = LinearPHDAE(E=np.diag([2.0, 0.0]), J=np.zeros((2, 2)), R=np.eye(2), B=B, ports=slices)
    with pytest.raises(ValueError, match=told):
        Terminated(system=system, laws=laws)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 0.3])
@pytest.mark.parametrize("speed", [None, 1.0, 1e-2, 1e-4])
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize(("route", "h"), [("loops", 1e-2), ("loops", 1e-3), ("Python", 1e-2)], indirect=["route"])
def test_arms_turn_over_under_weight_and_friction(limit, speed, h):
    """Under a supply to and fro and one that rises, friction lets go, slides and holds, with a limit and without."""
    smooth = {"dry_friction": 0.15} if speed is None else {"friction": coulomb(0.15, speed=speed)}
    system = motor(**WOUND, ratio=TURNS, inertia=ROTOR, torque_limit=limit, **smooth)
    times = h * np.arange(round(0.8 / h) + 1)
    for given in (lambda t: 24.0 * np.sin(8.0 * t), lambda t: 24.0 * t):
        is_sound(driven(system, times, given=given))


@pytest.mark.parametrize(("h", "end"), [(1e-2, 0.1), pytest.param(1e-3, 0.4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{"dry_friction": 0.4}, {"dry_friction": 0.1, "torque_limit": 0.5}])
def test_many_motors_hold_and_let_go_at_once(h, end, options):
    """Three joints of one arm: friction that turns over at one moves the others in ways that were not seen before."""
    joints, train = [hinge("l0.root", GROUND), torque("l0.root", name="m0")], {}
    for i in (1, 2):
        joints += [hinge(f"l{i - 1}.tip", f"l{i}.root"), torque(f"l{i}.root", against=f"l{i - 1}.tip", name=f"m{i}")]
    links = connect({f"l{i}": rigid.bar(LENGTH, MASS) for i in range(3)}, joints, gravity=(0.0, -GRAVITY))
    start = links.consistent_state(links.assemble({f"l{i}": (LENGTH * i, 0.0, 0.0) for i in range(3)}))
    system = motor(**WOUND, inertia=ROTOR, ratio=80.0, **options)
    for i, pace in enumerate((3.0, 4.0, 5.0)):
        supply = {"supply": lambda t, pace=pace: 20.0 * np.sin(pace * t)}
        train[f"c{i}"] = Continuous(system=system, ports={"shaft": f"m{i}"}, inputs=supply)
    times = h * np.arange(round(end / h) + 1)
    run = integrate(links, start, times, controllers=train)
    assert run.ledger.largest_residual < 1e-12
    assert all(run.ledger.dissipation[name].min() >= 0.0 for name in train)
