"""Springs whose stiffness follows a schedule: closed forms and independent integration, balance, momenta, order."""

import math

import numpy as np
import pytest
import scipy

import rigid
from flexph import GROUND, Event, Solution, connect, hinge, integrate, spring_damper, torsion_spring
from flexph.contacts import Plane, Rigid, contact
from flexph.joints import rope
from flexph.laws import polynomial, potential, scheduled
from flexph.methods import Decaying, DiscreteGradient, Exact, Exact4, ExactGauss
from flexph.models import load_model, to_model
from flexph.sensors import energy, spring_force

OMEGA, SHARE, RATE = 2.0, 0.3, 1.3
METHODS = [Exact(), Exact4(), Decaying(radius=0.8), Exact(tolerance=1e-7)]


def factor(t):
    """Factor of the stiffness, as in Mathieu's equation."""
    return 1.0 + SHARE * math.cos(RATE * t)


def mass(law, *more, **options):
    """A mass on a spring along a line."""
    given = {"length": 0.0, "direction": (1.0, 0.0), "name": "spring"} | options
    spring = spring_damper("mass.point", GROUND.at(0.0, 0.0), law=law, **given)
    mechanism = connect({"mass": rigid.point(1.0)}, [spring, *more])
    return mechanism, mechanism.consistent_state(
        mechanism.assemble({"mass": (1.0, 0.0, 0.0)}), velocities={"mass": (0.0, 0.0)}
    )


def balance(run):
    """Largest |ΔH − work + dissipation| between saved times."""
    ledger = run.ledger
    return float(np.abs(np.diff(ledger.total_energy) - ledger.total_work + ledger.total_dissipation).max())


def mathieu(end):
    """Place of the mass by an independent integrator."""

    def rates(t, y):
        return [y[1], -(OMEGA**2) * factor(t) * y[0]]

    return scipy.integrate.solve_ivp(rates, (0.0, end), [1.0, 0.0], rtol=1e-12, atol=1e-13).y[0, -1]


def test_mathieus_equation_by_its_order_with_an_exact_balance():
    mechanism, start = mass(scheduled(OMEGA**2, factor))
    expected = mathieu(20.0)
    errors = {}
    for method, order in ((Exact(), 2.0), (Exact4(), 4.0)):
        runs = [integrate(mechanism, start, np.linspace(0.0, 20.0, n), method=method) for n in (401, 801)]
        errors[order] = [abs(run["mass.centre"][-1, 0] - expected) for run in runs]
        assert math.log2(errors[order][0] / errors[order][1]) == pytest.approx(order, abs=0.1)
        assert max(map(balance, runs)) < 1e-13
    assert errors[2.0][1] < 1e-2 and errors[4.0][1] < 1e-6


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_energy_is_that_of_the_stiffness_and_the_schedule_works(method):
    mechanism, start = mass(scheduled(OMEGA**2, factor), damping=0.1)
    if isinstance(method, Exact4):
        mechanism, start = mass(scheduled(OMEGA**2, factor))
    run = integrate(mechanism, start, np.linspace(0.0, 5.0, 51), method=method)
    x, k = run["mass.centre"][:, 0], OMEGA**2 * np.array([factor(t) for t in run.times])
    np.testing.assert_allclose(run.ledger.energy["stored spring"], 0.5 * k * x**2, rtol=1e-13, atol=1e-14)
    assert abs(run.ledger.work["spring"]).max() > 1e-3
    assert max(balance(run), run.ledger.residual.max()) < 1e-13


def test_a_factor_that_jumps_does_the_work_of_the_jump():
    mechanism, start = mass(scheduled(3.0, lambda t: 1.0 if t < 0.5 else 4.0))
    run = integrate(mechanism, start, [0.0, 0.5 - 1e-9, 0.5, 1.0])
    x = run["mass.centre"][1, 0]
    assert run.ledger.work["spring"][1] == pytest.approx(0.5 * 9.0 * x**2, rel=1e-7)
    assert balance(run) < 1e-14


def test_any_law_may_have_a_schedule_beside_a_moving_length_and_others_without():
    soft = potential(lambda x: math.cosh(x) - 1.0, math.sinh, math.cosh)
    more = [
        torsion_spring("b.root", "a.tip", law=scheduled(polynomial(1.0, 0.0, 2.0), lambda t: math.exp(-t)), name="turn")
    ]
    more += [hinge("a.tip", "b.root"), spring_damper("a.root", "b.tip", stiffness=2.0, name="plain")]
    tie = spring_damper(
        "a.root", "b.tip", law=scheduled(soft, factor), length=lambda t: 1.2 + 0.1 * t, damping=0.2, name="tie"
    )
    mechanism = connect({"a": rigid.bar(1.0, 2.0), "b": rigid.bar(0.7, 1.5)}, [*more, tie])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.3)}, guess={"b": (1.0, 0.3, 0.9)})
    start = mechanism.consistent_state(pose, velocities={"a": (0.1, 0.2, 1.0)}, joints="free")
    run = integrate(mechanism, start, np.linspace(0.0, 4.0, 41))
    assert set(run.ledger.work) == {"tie", "turn"}
    momenta = *np.ptp(run.linear_momentum(), axis=0), *np.ptp(run.angular_momentum(), axis=0)
    assert max(balance(run), *momenta) < 1e-13


def test_a_rope_a_contact_and_an_event_meet_a_schedule():
    floor = contact("mass.point", Plane(GROUND.at(-0.4, 0.0), (1.0, 0.0)), Rigid(restitution=0.7), name="wall")
    mechanism, start = mass(scheduled(9.0, factor), floor)
    ends = {"slow": Event(lambda t, x: t - 2.345, terminal=True)}
    run = integrate(mechanism, start, np.linspace(0.0, 4.0, 81), events=ends)
    assert run.times[-1] == pytest.approx(2.345) and run.ledger.dissipation["wall: impact"].sum() > 0.1
    assert balance(run) < 1e-13
    with pytest.raises(ValueError, match="use contact='events'"):
        integrate(mechanism, start, [0.0, 0.1], method=Exact(contact="steps"))
    lift = rope([GROUND.at(0.0, 2.0), "mass.point"], law=scheduled(polynomial(50.0), factor), length=1.9, name="rope")
    hung = connect({"mass": rigid.point(1.0)}, [lift], gravity=(0.0, -9.81))
    start = hung.consistent_state(hung.assemble({"mass": (0.1, 0.0, 0.0)}), velocities={})
    run = integrate(hung, start, np.linspace(0.0, 2.0, 201))
    assert balance(run) < 1e-12


def test_an_equilibrium_takes_the_factor_of_its_time():
    spring = spring_damper(
        "mass.point", GROUND.at(0.0, 0.0), law=scheduled(100.0, lambda t: 1.0 + t), direction=(0.0, 1.0)
    )
    hung = connect(
        {"mass": rigid.point(2.0)},
        [spring, spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=1.0, direction=(1.0, 0.0), name="side")],
        gravity=(0.0, -10.0),
    )
    pose = hung.assemble({"mass": (0.0, 0.0, 0.0)})
    depth = [hung.position(hung.equilibrium(pose, time=t), "mass.point")[1] for t in (0.0, 1.0)]
    assert depth == pytest.approx([-0.2, -0.1], rel=1e-9)


def test_a_saved_run_is_of_the_same_schedule(tmp_path):
    mechanism, start = mass(scheduled(4.0, factor))
    run = integrate(mechanism, start, [0.0, 0.1, 0.2])
    run.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(Solution.load(tmp_path / "run.h5", mechanism).states, run.states)
    with pytest.raises(ValueError, match="another mechanism"):
        Solution.load(tmp_path / "run.h5", mass(scheduled(4.0, lambda t: 1.0 + t))[0])


def test_a_model_file_has_a_schedule(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(
        """
flexph: 1
bodies:
  mass: {kind: point, mass: 1 kg}
connections:
  - {kind: spring_damper, first: mass.point, second: {ground: [0, 0]}, length: 0, direction: [1, 0], name: spring,
     law: {kind: scheduled, law: 4 N/m, factor: 1 + 0.3*cos(1.3*t)}}
runs:
  it: {end: 2, steps: 40, start: {guess: {mass: [1, 0, 0]}}}
"""
    )
    model = load_model(path)
    run = model.run("it").solution
    mechanism, start = mass(scheduled(OMEGA**2, factor))
    np.testing.assert_allclose(run.states, integrate(mechanism, start, np.linspace(0.0, 2.0, 41)).states, atol=1e-13)
    assert to_model(model.mechanism)["connections"][0]["law"] == {
        "kind": "scheduled",
        "law": 4.0,
        "factor": "1 + 0.3*cos(1.3*t)",
    }


@pytest.mark.parametrize(("stages", "steps", "order"), [(1, 200, 2.0), (2, 40, 4.0), (3, 20, 6.0)])
def test_collocation_of_schedules_and_references_has_its_order(stages, steps, order):
    """Mathieu's equation by an independent integrator; x'' = −ω²(x − sin Ωt) in closed form."""
    shaken = mass(polynomial(OMEGA**2), length=lambda t: math.sin(RATE * t))
    amplitude = OMEGA**2 / (OMEGA**2 - RATE**2)
    end = 4.0
    forced = math.cos(OMEGA * end) + amplitude * (math.sin(RATE * end) - RATE / OMEGA * math.sin(OMEGA * end))
    for (mechanism, start), expected in (
        (mass(scheduled(OMEGA**2, factor)), mathieu(end)),
        ((shaken[0], shaken[1]), forced),
    ):
        runs = [
            integrate(mechanism, start, np.linspace(0.0, end, n + 1), method=ExactGauss(stages))
            for n in (steps, 2 * steps)
        ]
        errors = [abs(run["mass.centre"][-1, 0] - expected) for run in runs]
        assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
        assert max(map(balance, runs)) < 1e-13


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_collocation_balances_laws_with_schedules_and_references_at_any_step(stages):
    """No polynomials, long steps: the ledger closes, and work is that of the factor and of the reference."""
    law = scheduled(potential(lambda x: math.cosh(x), lambda x: math.sinh(x), lambda x: math.cosh(x)), factor)
    mechanism, start = mass(law, length=lambda t: 0.3 * math.sin(2.0 * t))
    run = integrate(mechanism, start, np.linspace(0.0, 12.0, 31), method=ExactGauss(stages))
    assert balance(run) < 1e-13
    assert abs(run.ledger.work["spring"].sum()) > 0.01
    still = scheduled(polynomial(4.0, 0.0, 3.0), lambda t: 1.0)
    run = integrate(*mass(still), np.linspace(0.0, 12.0, 31), method=ExactGauss(stages))
    assert np.abs(run.ledger.work["spring"]).max() < 1e-14  # round-off of the rate of a constant
    plain = integrate(*mass(polynomial(4.0, 0.0, 3.0)), np.linspace(0.0, 12.0, 31), method=ExactGauss(stages))
    np.testing.assert_allclose(run["mass.centre"], plain["mass.centre"], rtol=0, atol=1e-12)


def test_collocation_keeps_momenta_under_a_schedule():
    """Two free bodies on a spring whose stiffness and length change."""
    bodies = {n: rigid.box((0.4, 0.3, 0.2), density=300.0, ports={"p": (0.2, 0.1, 0.1)}) for n in "ab"}
    spring = spring_damper("a.p", "b.p", law=scheduled(90.0, factor), length=lambda t: 0.8 + 0.2 * math.sin(3.0 * t))
    mechanism = connect(bodies, [spring])
    pose = mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3)), "b": ((1.2, 0.3, 0.1), np.eye(3))})
    moving = {"a": ((0.1, 0.5, 0.0), (1.0, -2.0, 0.5)), "b": ((0.0, -0.5, 0.3), (0.3, 0.4, -1.0))}
    run = integrate(
        mechanism, mechanism.consistent_state(pose, velocities=moving), np.linspace(0.0, 2.0, 41), method=ExactGauss()
    )
    assert balance(run) < 1e-12
    for values in (run.linear_momentum(), run.angular_momentum()):
        np.testing.assert_allclose(values, np.broadcast_to(values[0], values.shape), atol=1e-12)


def test_what_cannot_have_a_schedule_is_refused():
    mechanism, start = mass(scheduled(4.0, factor))
    with pytest.raises(ValueError, match="no laws that depend on time"):
        integrate(mechanism, start, [0.0, 0.1], method=DiscreteGradient())
    for call in (lambda: mechanism.linearize(start), lambda: mechanism.phdae(start), lambda: mechanism.spectrum(start)):
        with pytest.raises(ValueError, match="no laws that depend on time"):
            call()
    run = integrate(mechanism, start, [0.0, 0.1])
    for quantity in (energy("total"), spring_force("spring")):
        with pytest.raises(ValueError, match="laws that do not depend on time"):
            run.measured(quantity)
    with pytest.raises(ValueError, match=r"the schedule at t = 0\.05 s must be finite"):
        integrate(*mass(scheduled(4.0, lambda t: math.inf if t == 0.05 else 1.0)), [0.0, 0.05, 0.1])
    with pytest.raises(ValueError, match=r"the factor at t = 0\.0 s must be a number, got 'x'"):
        mechanism = mass(scheduled(4.0, lambda t: "x"))[0]
        mechanism.equilibrium(mechanism.assemble())
    for law, given, message in (
        (-1.0, factor, "must be positive"),
        (scheduled(1.0, factor), factor, "no factor yet"),
        (1.0, 3.0, "factor"),
    ):
        with pytest.raises(ValueError, match=message):
            scheduled(law, given)
