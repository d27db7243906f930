"""Rigid bodies whose mass changes with time: balance, momenta, closed forms and orders, and what refuses them."""

import math

import numpy as np
import pytest
from scipy.special import jv, yv

import fem
import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, revolute, slider, spherical, spring_damper
from flexph.contacts import KelvinVoigt, Plane, Rigid, contact
from flexph.gradients import Last, gradient
from flexph.laws import scheduled, viscous
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model, write_model
from flexph.results import Solution
from flexph.sensors import position

METHODS = [Exact(), Exact4(), Decaying(), Exact(tolerance=1e-4)]
BALANCE = 1e-13
"""Round-off of energy balances, relative to the largest energy."""
DOWN = (0.0, -9.81)
UPRIGHT = np.eye(3)


def wave(t):
    return 1.0 + 0.5 * math.sin(3.0 * t)


def leaking(t):
    return 1.0 - 0.5 * t


def growing(t):
    return 1.0 + 2.0 * t


def pair(factor=wave, turn=UPRIGHT):
    """Two bodies in space with a spring; the mass of the first one changes."""
    ports = {"pin": (0.1, -0.2, 0.8), "eye": (0.3, 0.1, 0.0)}
    first = rigid.body(2.0, inertia=(0.2, 0.3, 0.42), ports=ports, centre=(0.0, 0.05, 0.1))
    second = rigid.body(0.7, inertia=(0.1, 0.2, 0.15), ports={"pin": (0.1, 0.0, 0.0)})
    joints = [
        spherical("a.pin", GROUND.at(0.0, 0.0, 0.0)),
        revolute("a.eye", "b.pin", axis=(0.0, 1.0, 0.0)),
        spring_damper("b.pin", GROUND.at(*(turn @ (1.0, 1.0, 1.0))), stiffness=20.0, length=1.0),
    ]
    gravity = turn @ (0.3, -0.2, -9.81)
    own = connect({"a": first.with_mass_factor(factor), "b": second}, joints, gravity=gravity)
    pose = own.assemble({"a": (-turn @ (0.1, -0.2, 0.8), turn), "b": (turn @ (0.1, 0.3, -0.8), turn)})
    return own, own.consistent_state(pose, velocities={"a": turn @ (1.0, 0.3, 2.0)}, joints="at rest")


def off(run):
    """Largest energy residual of a run, relative to its largest energy."""
    return run.ledger.largest_residual / np.abs(run.ledger.total_energy).max()


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_energy_balances_at_any_step(method):
    run = integrate(*pair(), np.linspace(0.0, 1.0, 21), method=method)
    assert off(run) < BALANCE
    assert np.abs(run.ledger.work["a"]).max() > 1e-2  # the mass brings energy and takes it away


@pytest.mark.parametrize("method, order", [(Exact(), 2.0), (Exact4(), 4.0), (Decaying(), 2.0)], ids=str)
def test_orders(method, order):
    last = integrate(*pair(), np.linspace(0.0, 0.5, 161), method=Exact4()).states[-1]
    errors = [
        np.abs(integrate(*pair(), np.linspace(0.0, 0.5, n + 1), method=method).states[-1] - last).max()
        for n in (20, 40)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_motions_do_not_depend_on_the_axes_of_the_world():
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    turn = turn * np.sign(np.linalg.det(turn))
    runs = [integrate(*pair(turn=of), np.linspace(0.0, 0.5, 21)) for of in (np.eye(3), turn)]
    np.testing.assert_allclose(runs[1]["b.centre"], runs[0]["b.centre"] @ turn.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(runs[1].ledger.work["a"], runs[0].ledger.work["a"], rtol=0, atol=1e-10)


def test_a_free_body_moves_as_with_its_mass_kept_and_its_momenta_change_in_proportion():
    body = rigid.body(2.0, inertia=(0.2, 0.3, 0.42), ports={"p": (0.0, 0.0, 0.0)})
    times, runs = np.linspace(0.0, 1.0, 41), []
    for own in (body, body.with_mass_factor(wave)):
        mechanism = connect({"a": own}, [])
        start = mechanism.consistent_state(mechanism.assemble(), velocities={"a": ((1.0, -0.5, 0.3), (2.0, 4.0, -3.0))})
        runs.append(integrate(mechanism, start, times))
    np.testing.assert_allclose(runs[1].states, runs[0].states, rtol=0, atol=1e-11)
    factor = np.array([wave(t) for t in times])[:, None]
    for momentum in ("linear_momentum", "angular_momentum"):
        kept, own = (getattr(run, momentum)() for run in runs)
        np.testing.assert_allclose(own, factor * kept, rtol=0, atol=1e-11)
        np.testing.assert_allclose(kept, kept[:1] + 0.0 * kept, rtol=0, atol=1e-11)


def test_a_leaking_pendulum_swings_as_one_that_keeps_its_mass():
    """Its period is that of its length; steps do not see the mass either, as it is in all terms."""
    runs = []
    for body in (rigid.bar(1.0, 2.0), rigid.bar(1.0, 2.0).with_mass_factor(leaking)):
        mechanism = connect({"arm": body}, [hinge("arm.root", GROUND)], gravity=DOWN)
        start = mechanism.consistent_state(mechanism.assemble({"arm": 0.4}))
        runs.append(integrate(mechanism, start, np.linspace(0.0, 1.5, 61)))
    np.testing.assert_allclose(runs[1].states, runs[0].states, rtol=0, atol=1e-12)
    assert off(runs[1]) < BALANCE


def rocket(steps, method=None, gravity=(0.0, 0.0)):
    """A point of 100 kg that loses 5 kg/s at 2000 m/s backwards."""
    body = rigid.point(100.0).with_mass_factor(lambda t: 1.0 - t / 20.0)
    mechanism = connect({"rocket": body}, [force("rocket.point", name="jet")], gravity=gravity)
    start = mechanism.consistent_state(mechanism.assemble())
    times, jet = np.linspace(0.0, 10.0, steps + 1), {"jet": (0.0, 10000.0)}
    return integrate(mechanism, start, times, inputs=jet, method=method or Exact())


@pytest.mark.parametrize("method, order", [(Exact(), 2.0), (Exact4(), 4.0)], ids=str)
def test_a_rocket_reaches_the_speed_of_tsiolkovsky(method, order):
    """v = c ln(m₀/m) − g t (K. Tsiolkovsky 1903)."""
    expected = 2000.0 * math.log(2.0) - 9.81 * 10.0
    errors = [abs(rocket(n, method, DOWN)["rocket.velocity"][-1, 1] - expected) for n in (20, 40)]
    assert errors[1] < 0.05 and math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert off(rocket(20, method, DOWN)) < BALANCE


def bessel(order, k, m, rate, start, at):
    """Solution at a time of (m + rate t) ẍ + order' rate ẋ + k x = 0 by Bessel functions of an order, from rest."""
    z = lambda t: 2.0 * math.sqrt(k * (m + rate * t)) / rate  # noqa: E731
    shapes = [lambda t, f=f: z(t) ** order * f(order, z(t)) for f in (jv, yv)]
    slopes = [lambda t, f=f: z(t) ** order * f(order - 1, z(t)) * 2.0 * k / (rate * z(t)) for f in (jv, yv)]
    a = np.linalg.solve([[f(0.0) for f in shapes], [f(0.0) for f in slopes]], [start, 0.0])
    return float(a @ [f(at) for f in shapes])


@pytest.mark.parametrize("arrives", ["with the body", "at rest"])
def test_a_mass_that_grows_on_a_spring(arrives):
    """m ẍ + k x = 0 where it arrives with the body, (m ẋ)˙ + k x = 0 where it arrives at rest, m = 1 + 2 t."""
    line = {"direction": (1.0, 0.0), "length": 0.0}
    spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=30.0, **line, name="spring")
    caught = spring_damper("mass.point", GROUND.at(0.0, 0.0), damping=scheduled(viscous(2.0), lambda t: 1.0), **line)
    body = rigid.point(1.0).with_mass_factor(growing)
    mechanism = connect({"mass": body}, [spring, *([caught] if arrives == "at rest" else [])])
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.5, 0.0, 0.0)}))
    expected = bessel(1 if arrives == "with the body" else 0, 30.0, 1.0, 2.0, 0.5, 1.0)
    errors = []
    for steps in (40, 80):
        run = integrate(mechanism, start, np.linspace(0.0, 1.0, steps + 1))
        errors.append(abs(run["mass.centre"][-1, 0] - expected))
        assert off(run) < BALANCE
    assert errors[1] < 1e-3 and math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_chain_that_is_lifted_at_constant_speed():
    """F = ρ v² + ρ g y: half of the power ρ v³ of the first term is lost where links at rest are caught."""
    rho, v, first = 3.0, 2.0, 0.5
    body = rigid.point(rho * first).with_mass_factor(lambda t: 1.0 + v * t / first)
    catch = spring_damper("top.point", GROUND.at(0.0, 0.0), damping=rho * v, direction=(0.0, 1.0), length=0.0)
    lift = drive("top.point", GROUND.at(0.0, 0.0), displacement=lambda t: first + v * t, direction=(0.0, 1.0))
    guide = drive("top.point", GROUND.at(0.0, 0.0), displacement=lambda t: 0.0, direction=(1.0, 0.0), name="guide")
    mechanism = connect({"top": body}, [guide, lift, catch], gravity=DOWN)
    start = mechanism.consistent_state(mechanism.assemble({"top": (0.0, first, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 21))
    work = run.ledger.work[lift.name]
    middle = first + v * 0.5 * (run.times[1:] + run.times[:-1])
    np.testing.assert_allclose(work, 0.05 * v * (rho * v**2 + rho * 9.81 * middle), rtol=1e-10)
    assert off(run) < BALANCE


@pytest.mark.parametrize("contact_by", ["events", "compliant"])
def test_contacts_of_a_body_that_leaks(contact_by):
    law = Rigid(restitution=0.7) if contact_by == "events" else KelvinVoigt(2e3, damping=1.0, friction=0.3)
    floor = contact("a.point", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law)
    mechanism = connect({"a": rigid.point(1.0).with_mass_factor(leaking)}, [floor], gravity=DOWN)
    start = mechanism.consistent_state(mechanism.assemble({"a": (0.0, 0.3, 0.0)}), velocities={"a": (1.0, 0.0)})
    method = Exact(contact="events") if contact_by == "events" else Exact()
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 101), method=method)
    assert off(run) < BALANCE
    assert run["a.centre"][:, 1].max() == pytest.approx(0.3) and run["a.centre"][:, 1].min() < 0.02
    if contact_by == "events":
        with pytest.raises(ValueError, match="masses that depend on time"):
            integrate(mechanism, start, [0.0, 0.1], method=Exact(contact="steps"))


def test_runs_that_go_on_are_the_whole_run(tmp_path):
    mechanism, start = pair()
    times = np.linspace(0.0, 0.5, 21)
    whole, first = integrate(mechanism, start, times), integrate(mechanism, start, times[:11])
    first.save(tmp_path / "run.h5")
    loaded = Solution.load(tmp_path / "run.h5", mechanism)
    second = integrate(mechanism, loaded.final, times[10:])
    np.testing.assert_array_equal(second.states, whole.states[10:])
    np.testing.assert_array_equal(second.ledger.total_energy, whole.ledger.total_energy[10:])
    with pytest.raises(ValueError, match="mechanism"):
        Solution.load(tmp_path / "run.h5", pair(leaking)[0])


def test_statics_and_accelerations_take_the_masses_of_a_time():
    line = {"direction": (0.0, 1.0), "length": 0.0}
    spring = spring_damper("a.point", GROUND.at(0.0, 0.0), stiffness=100.0, **line)
    rail = slider("a.point", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), turning=True)
    mechanism = connect({"a": rigid.point(2.0).with_mass_factor(growing)}, [spring, rail], gravity=DOWN)
    for time in (0.0, 0.5):
        state = mechanism.equilibrium(mechanism.assemble(), time=time)
        assert state.x[1] == pytest.approx(-2.0 * growing(time) * 9.81 / 100.0)
        own = mechanism.with_masses_at(time)
        rates = own.spectrum(state).values.imag
        assert np.abs(rates).max() == pytest.approx(math.sqrt(100.0 / (2.0 * growing(time))))
    own, start = pair(growing)
    kept = own.with_masses_at(0.0)
    np.testing.assert_allclose(
        own.consistent_multipliers(start).multipliers, kept.consistent_multipliers(start).multipliers, rtol=1e-12
    )


def test_files_have_masses_by_a_formula(tmp_path):
    text = """
flexph: 1
gravity: [0, -9.81]
bodies:
  bucket: {kind: bar, length: 1 m, mass: 2 kg, mass_factor: 1 - 0.5*t}
connections:
  - {kind: hinge, first: bucket.root, second: ground}
"""
    path = tmp_path / "model.yaml"
    path.write_text(text)
    own = load_model(path).mechanism
    assert own.with_masses_at(1.0).bodies["bucket"].mass == 1.0
    assert "times a factor of time" in own.describe()
    write_model(tmp_path / "again.yaml", own)
    assert load_model(tmp_path / "again.yaml").mechanism.with_masses_at(1.0).bodies["bucket"].mass == 1.0


def make(m):
    body = rigid.point(m).with_mass_factor("input")
    mechanism = connect({"a": body}, [force("a.point", name="push")])
    return mechanism, mechanism.consistent_state(mechanism.assemble())


def test_what_has_no_such_masses_is_refused():
    mechanism, start = pair()
    pose = mechanism.assemble()
    times = np.linspace(0.0, 0.1, 3)
    beam = fem.beam(1.0, fem.Material(young=1e9, density=1e3), fem.Section(diameter=0.1), elements=1)
    bar = rigid.bar(1.0, 2.0)
    ended = connect({"a": rigid.point(1.0).with_mass_factor(lambda t: 1.0 - t)}, [])
    begun = ended.consistent_state(ended.assemble())
    for call, message in (
        (lambda: integrate(mechanism, start, times, method=ExactGauss(2)), "ExactGauss.*that of 'a'"),
        (lambda: mechanism.linearize(pose), "with_masses_at"),
        (lambda: mechanism.spectrum(start), "with_masses_at"),
        (lambda: mechanism.phdae(start), "with_masses_at"),
        (lambda: gradient(make, {"m": 1.0}, times, Last(position("a.point"))), "masses that inputs set"),
        (lambda: beam.with_mass_factor(wave), "for rigid bodies"),
        (lambda: bar.with_mass_factor(2.0), "factor must"),
        (lambda: bar.with_mass_factor(wave).with_mass_factor(wave), "factor of its mass already"),
        (lambda: integrate(ended, begun, [0.0, 0.5, 1.0]), "a: the factor of its mass at t = 1.0 s must be positive"),
        (lambda: ended.with_masses_at(2.0), "the factor of its mass at t = 2.0 s must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
