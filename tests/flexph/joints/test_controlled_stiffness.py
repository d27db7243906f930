"""Springs whose stiffness an input or a controller sets: the scheme, the work, files, and what is refused."""

import math

import numpy as np
import pytest

import rigid
from flexph import GROUND, Simulator, connect, hinge, integrate, spring_damper, torsion_spring
from flexph.changes import release
from flexph.control import Sampled, StateFeedback
from flexph.joints import rope
from flexph.laws import controlled, polynomial, scheduled
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model, to_model
from flexph.results import Solution
from flexph.sensors import energy, position
from flexph.systems import PiecewiseConstant

TIMES = np.linspace(0.0, 1.0, 101)
METHODS = [Exact(), Exact4(), Decaying(radius=0.6)]
FILE = """
flexph: 1
bodies:
  mass: {kind: point, mass: 1 kg}
connections:
  - kind: spring_damper
    first: mass.point
    second: {ground: [0, 0]}
    law: {kind: controlled, law: 40 N/m}
    direction: [1, 0]
    length: 0 m
    name: spring
runs:
  swing:
    end: 1 s
    steps: 100
    start: {fixed: {mass: [0.1, 0, 0]}}
    inputs: {spring: 0.5*sin(3*t)}
"""


def mass(law, **options):
    spring = spring_damper(
        "mass.point", GROUND.at(0.0, 0.0), law=law, direction=(1.0, 0.0), length=0.0, name="spring", **options
    )
    mechanism = connect({"mass": rigid.point(1.0)}, [spring])
    pose = mechanism.assemble({"mass": (0.1, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"mass": (0.3, 0.0, 0.0)})


def swell(t):
    return 0.5 * np.sin(3.0 * t)


def stiffen():
    """Stiff while stretched, soft else."""
    switched = lambda t, seen: {"spring": 2.0 if seen["x"][0] > 0.05 else -0.5}  # noqa: E731
    return {"switch": Sampled(function=switched, period=0.05, sensors={"x": position("mass.point")})}


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_an_input_is_a_schedule_to_the_same_bits(method):
    runs = [
        integrate(*mass(scheduled(40.0, lambda t: 1.0 + swell(t))), TIMES, method=method),
        integrate(*mass(controlled(40.0)), TIMES, inputs={"spring": swell}, method=method),
    ]
    np.testing.assert_array_equal(runs[0].states, runs[1].states)
    np.testing.assert_array_equal(runs[0].ledger.work["spring"], runs[1].ledger.work["spring"])


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("law", [40.0, polynomial(40.0, 0.0, 500.0)], ids=["linear", "hardening"])
def test_a_controller_does_the_work_of_the_stiffness_that_it_sets(method, law):
    damping = 0.0 if isinstance(method, Exact4) else 0.1
    run = integrate(*mass(controlled(law), damping=damping), TIMES, controllers=stiffen(), method=method)
    ledger = run.ledger
    gained = np.diff(ledger.total_energy) - ledger.total_work + ledger.total_dissipation
    assert np.abs(gained).max() < 1e-14 and ledger.largest_residual < 1e-14
    assert ledger.work["spring"].sum() > 0.1
    assert set(np.unique(run.controls["spring"])) == {-0.5, 2.0}


def test_the_factor_goes_over_the_step_after_a_call():
    """The midpoint scheme of a linear spring, by hand."""
    run = integrate(*mass(controlled(40.0)), TIMES, controllers=stiffen())
    x, v, before, h, places = 0.1, 0.3, 1.0, 0.01, [0.1]
    for u in run.controls["spring"][:, 0]:
        k, before = 20.0 * (before + 1.0 + u), 1.0 + u
        x, v = np.linalg.solve([[1.0, -0.5 * h], [0.5 * h * k, 1.0]], [x + 0.5 * h * v, v - 0.5 * h * k * x])
        places.append(x)
    np.testing.assert_allclose(run["mass.centre"][:, 0], places, rtol=0.0, atol=1e-14)


def test_runs_with_events_and_runs_that_go_on_are_the_same(tmp_path):
    mechanism, start = mass(controlled(40.0))
    whole = integrate(mechanism, start, TIMES, controllers=stiffen())
    watched = integrate(
        mechanism, start, TIMES, controllers=stiffen(), events={"middle": lambda t, x: x["mass.centre"][0]}
    )
    np.testing.assert_array_equal(watched.states, whole.states)
    assert watched.events["middle"].times.size > 1
    first = integrate(mechanism, start, TIMES[:51], controllers=stiffen())
    first.save(tmp_path / "run.h5")
    for half in (first, Solution.load(tmp_path / "run.h5", mechanism)):
        second = integrate(mechanism, half.final, TIMES[50:], controllers=stiffen())
        np.testing.assert_array_equal(second.states, whole.states[50:])
        np.testing.assert_array_equal(second.ledger.work["spring"], whole.ledger.work["spring"][50:])
        assert second.ledger.total_energy[0] == whole.ledger.total_energy[50]


def test_a_torsion_spring_takes_a_controller():
    arm = rigid.bar(1.0, 2.0)
    spring = torsion_spring("arm.root", GROUND, law=controlled(30.0), angle=0.0, damping=0.2, name="muscle")
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND), spring], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"arm": 0.3}))
    tense = Sampled(function=lambda t, seen: {"muscle": min(t, 0.5)}, period=0.02, sensors={})
    run = integrate(mechanism, start, TIMES, controllers={"tense": tense})
    assert run.ledger.largest_residual < 1e-13 and abs(run.ledger.work["muscle"].sum()) > 1e-3


def test_a_file_has_a_stiffness_that_an_input_sets(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(FILE)
    model = load_model(path)
    model.check()
    run = model.run("swing").solution
    mechanism, _ = mass(controlled(40.0))
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.1, 0.0, 0.0)}))
    twin = integrate(mechanism, start, TIMES, inputs={"spring": swell})
    np.testing.assert_allclose(run.states, twin.states, rtol=0.0, atol=1e-15)
    assert to_model(model.mechanism)["connections"][0]["law"] == {"kind": "controlled", "law": 40.0}


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_collocation_takes_a_stiffness_that_is_set(stages):
    """The balance at any step with the work of the port, by an input and by a controller between steps; the order."""
    mechanism, start = mass(controlled(polynomial(40.0, 0.0, 900.0)), damping=0.2)
    for options in ({"inputs": {"spring": swell}}, {"controllers": stiffen()}):
        for steps in (20, 100):
            run = integrate(mechanism, start, np.linspace(0.0, 1.0, steps + 1), method=ExactGauss(stages), **options)
            assert run.ledger.largest_residual < 1e-14
            assert np.abs(run.ledger.work["spring"]).max() > 1e-4
    by_input = [
        integrate(mechanism, start, np.linspace(0.0, 1.0, n + 1), method=ExactGauss(stages), inputs={"spring": swell})
        for n in (10, 20, 160)
    ]
    last = [run["mass.centre"][-1, 0] for run in by_input]
    assert math.log2(abs(last[0] - last[2]) / abs(last[1] - last[2])) > 2.0 * stages - 0.3


@pytest.mark.parametrize("method", [Exact(), ExactGauss(2), ExactGauss(3)], ids=repr)
def test_the_stiffness_goes_linearly_over_the_step_after_a_call(method):
    """A controller by the clock, and the input that goes to its values over the steps of 0.01 s after its calls."""
    mechanism, start = mass(controlled(40.0))
    clock = Sampled(function=lambda t, seen: {"spring": 2.0 if t < 0.24 else -0.5}, period=0.05, sensors={})
    by_input = {"spring": lambda t: np.interp(t, [0.0, 0.01, 0.25, 0.26], [0.0, 2.0, 2.0, -0.5])}
    called = integrate(mechanism, start, TIMES, method=method, controllers={"clock": clock})
    given = integrate(mechanism, start, TIMES, method=method, inputs=by_input)
    np.testing.assert_allclose(called.states, given.states, rtol=0, atol=1e-12)
    np.testing.assert_allclose(called.ledger.work["spring"], given.ledger.work["spring"], rtol=0, atol=1e-13)


def test_an_input_below_minus_one_is_refused():
    """The stiffness k (1 + u) would be negative; at u = -1 it vanishes."""
    mechanism, start = mass(controlled(40.0))
    message = "input of 'spring' must be at least -1.*got -1.5 at t = 0"
    slack = Sampled(function=lambda t, seen: {"spring": -1.0 if t < 0.045 else -1.5}, period=0.05, sensors={})
    assert integrate(mechanism, start, TIMES[:5], inputs={"spring": -1.0}).ledger.largest_residual < 1e-15
    with pytest.raises(ValueError, match=message):
        integrate(mechanism, start, TIMES, inputs={"spring": -1.5})
    with pytest.raises(ValueError, match=message):
        integrate(mechanism, start, TIMES, controllers={"slack": slack})


def test_what_cannot_set_a_stiffness_is_refused():
    mechanism, start = mass(controlled(40.0))
    pose = mechanism.assemble({"mass": (0.1, 0.0, 0.0)})
    feedback = StateFeedback(function=lambda t, seen: {"spring": 1.0}, sensors={}, ports=("spring",))
    run = integrate(mechanism, start, [0.0, 0.1])
    for call, message in (
        (lambda: mechanism.equilibrium(pose, inputs={"spring": 1.0}), "without its input"),
        (lambda: mechanism.spectrum(start), "no laws that depend on time"),
        (lambda: integrate(mechanism, start, TIMES, controllers={"law": feedback}), "for Sampled controllers"),
        (
            lambda: integrate(mechanism, start, TIMES, changes=[release("spring", at=0.5)]),
            "cannot be combined with",
        ),
        (lambda: Simulator(mechanism, start), "which a Simulator does not support"),
        (lambda: run.measured(energy("total")), "laws that do not depend on time"),
        (lambda: controlled(controlled(1.0)), "no factor yet"),
        (lambda: scheduled(controlled(1.0), math.cos), "no factor yet"),
        (lambda: controlled(-1.0), "positive"),
        (lambda: rope(["a.p", "b.p"], law=controlled(1.0)), "for spring_damper and torsion_spring"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def jumping(method, sampled):
    """A mass on a spring whose stiffness jumps at ends of steps."""
    mechanism, start = mass(controlled(40.0))
    u = PiecewiseConstant([0.0, 0.5, 0.6], [0.0, 1.0, 2.0])
    still = Sampled(function=lambda t, seen: {"spring": 0.0}, period=0.03, sensors={"x": position("mass.point")})
    controllers = {"still": still} if sampled else None
    return integrate(mechanism, start, TIMES, inputs={"spring": u}, method=method, controllers=controllers)


@pytest.mark.parametrize("sampled", [False, True])
def test_jumps_act_over_the_step_after_them_by_every_method(sampled):
    """The work of a jump is in the step that begins with it, once, with and without a controller that samples."""
    exact, gauss = (jumping(method, sampled) for method in (Exact(), ExactGauss(2)))
    for run in (exact, gauss):
        assert run.ledger.largest_residual < 1e-13 * (0.5 * 40.0 * 0.1**2 + 0.5 * 0.3**2)  # the energy at the start
        assert np.flatnonzero(np.abs(run.ledger.work["spring"]) > 1e-9).tolist() == [50, 60]
    assert np.abs(exact.states - gauss.states).max() < 5e-3 * np.abs(exact.states).max()  # of the step of Exact


def test_a_run_that_goes_on_at_a_jump_is_the_whole_run():
    whole, method = jumping(ExactGauss(2), False), ExactGauss(2)
    mechanism, start = mass(controlled(40.0))
    u = PiecewiseConstant([0.0, 0.5, 0.6], [0.0, 1.0, 2.0])
    first = integrate(mechanism, start, TIMES[:51], inputs={"spring": u}, method=method)
    second = integrate(mechanism, first.final, TIMES[50:], inputs={"spring": u}, method=method)
    np.testing.assert_allclose(second.states[-1], whole.states[-1], rtol=0, atol=1e-12)
