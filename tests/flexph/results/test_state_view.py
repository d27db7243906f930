"""States by name: what events are given, and the saved states of runs."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, LinearPHDAE, connect, hinge, integrate, spherical
from flexph.integration.times.events import Event
from flexph.methods import DiscreteGradient, Exact, Gauss, Radau
from flexph.results.state_view import MechanismView, StateView
from flexph.sensors import energy, stress

TIMES = np.linspace(0.0, 0.3, 16)
BEAM = {"length": 0.8, "material": fem.Material(young=2e7, density=200.0, poisson=0.3)}


def planar():
    rod = fem.beam(*BEAM.values(), fem.Section(width=0.1, height=0.05), elements=2)
    bodies = {"crank": rigid.bar(0.3, 0.5), "rod": rod, "bob": rigid.point(0.2)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "bob.point"),
    ]
    return connect(bodies, joints, gravity=(0.0, -9.81)), {"crank": (0.0, 0.0, 0.7)}, {"rod": -0.2}


def spatial():
    rod = fem.beam(*BEAM.values(), fem.Section(width=0.1, height=0.05), elements=2, dim=3)
    joints = [spherical("rod.root", GROUND.at(0.0, 0.0, 0.0)), spherical("rod.tip", "bob.point")]
    return connect({"rod": rod, "bob": rigid.point(0.2, dim=3)}, joints, gravity=(0.0, 0.0, -9.81)), {}, {}


@pytest.fixture(scope="module", params=[planar, spatial])
def run(request):
    mechanism, pose, guess = request.param()
    start = mechanism.consistent_state(mechanism.assemble(pose, guess=guess))
    return integrate(mechanism, start, TIMES, progress=False)


def test_a_state_is_read_as_a_run_is(run):
    state, k = run.at(TIMES[9]), 9
    assert isinstance(state, MechanismView)
    for name in state.parts:
        np.testing.assert_array_equal(state[name], run[name][k])
    for body in run.mechanism.bodies:
        np.testing.assert_array_equal(state.rotations(body), run.rotations(body)[k])
        np.testing.assert_allclose(state.spin(body), run.spin(body)[k], rtol=1e-15)
        np.testing.assert_array_equal(state.deformation(body), run.deformation(body)[k])
    for port in ("rod.root", "rod.tip", "bob.point"):
        for read in ("position", "velocity", "displacement"):
            own, saved = getattr(state, read)(port), getattr(run, read)(port)
            np.testing.assert_allclose(own, saved[k], rtol=0.0, atol=1e-14 * max(np.abs(saved).max(), 1e-3))


def test_a_state_is_an_array_where_one_is_needed(run):
    state = run.at(0.0)
    np.testing.assert_array_equal(state.x, run.states[0])
    np.testing.assert_array_equal(np.asarray(state), state.x)
    np.testing.assert_array_equal(np.hypot(state, 1.0), np.hypot(state.x, 1.0))
    np.testing.assert_array_equal(2.0 * state - 1.0, 2.0 * state.x - 1.0)
    assert state @ state == state.x @ state.x and len(state) == run.mechanism.layout.size
    assert state[3] == state.x[3] and state[2:4] @ state[2:4] == state.x[2:4] @ state.x[2:4]


def test_names_that_there_are_not(run):
    state = run.at(0.0)
    for read, message in (
        (lambda: state["rod.spn"], "no part 'rod.spn': there are 'crank.centre'|no part 'rod.spn': there are 'rod"),
        (lambda: state[run.mechanism.constraint_names[0]], "no part"),  # multipliers are no part of a state
        (lambda: state.spin("rd"), "no body 'rd'"),
        (lambda: state.position("rod.tp"), "no port 'rod.tp': rod has 'root', 'tip'"),
        (lambda: run.at(0.001), r"no state was saved at t = 0\.001 s: the nearest is at 0\.0 s"),
    ):
        with pytest.raises(ValueError, match=message):
            read()


@pytest.mark.parametrize("method", [Exact(), Gauss(2)], ids=["exact", "midpoint"])
def test_events_of_mechanisms_are_given_names(method):
    mechanism, pose, guess = planar()
    start = mechanism.consistent_state(mechanism.assemble(pose, guess=guess))
    spin = mechanism.layout.parts["crank.spin"].start
    events = {
        "by name": lambda t, state: state.spin("crank"),
        "by part": lambda t, state: state["crank.spin"][0],
        "by place": lambda t, x: x[spin],
        "low": Event(lambda t, state: state.position("bob.point")[1] + 0.1, direction=-1),
    }
    run = integrate(mechanism, start, np.linspace(0.0, 0.6, 61), method=method, events=events, progress=False)
    times = [run.events[name].times for name in ("by name", "by part", "by place")]
    assert len(times[0]) >= 1
    np.testing.assert_array_equal(times[0], times[2])
    np.testing.assert_array_equal(times[1], times[2])
    (low,) = run.events["low"].states[:1]
    assert MechanismView(mechanism, low).position("bob.point")[1] == pytest.approx(-0.1, abs=1e-12)


METHODS = {"steps": DiscreteGradient(), "control": DiscreteGradient(tolerance=1e-4), "radau": Radau()}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_events_of_general_systems_are_given_names(method):
    if isinstance(method, Radau):
        pytest.importorskip("scipy_dae")
    parts = {"q": slice(0, 1), "v": slice(1, 2)}
    system = LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), parts=parts)
    events = {"by name": lambda t, state: state["q"], "by place": lambda t, x: x[0]}
    run = integrate(system, (1.0, 0.0), np.linspace(0.0, 7.0, 71), method=method, events=events, progress=False)
    np.testing.assert_array_equal(run.events["by name"].times, run.events["by place"].times)
    assert len(run.events["by name"].times) == 2
    state = run.at(7.0)
    assert isinstance(state, StateView) and state["v"] == run["v"][-1]


def test_what_a_state_cannot_read_is_said_by_name(run):
    state = run.at(0.0)
    wrong = [
        (stress("rod", "N", (0.3,)), r"sensor 'N at \(0.3,\) of rod': no stress 'N'"),
        (energy("rod"), "sensor \"energy 'rod'\": energy must be one of"),
        ("rod.tip", r"quantity must be one of flexph.sensors, such as joint_angle\(…\), got 'rod.tip'"),
    ]
    for quantity, told in wrong:
        with pytest.raises(ValueError, match=told):
            state.measured(quantity)
    with pytest.raises(ValueError, match=r"sensor 'N at \(0.3,\) of rod': no stress 'N'"):
        run.measured(wrong[0][0])
    with pytest.raises(AttributeError, match=r"a State.*no 'measured', .* static_solution\(mechanism, state\)"):
        _ = run.final.measured


def test_parts_are_asked_for_by_name(run):
    for named in (run, run.at(0.0)):
        assert "rod.centre" in named and "rod" not in named
