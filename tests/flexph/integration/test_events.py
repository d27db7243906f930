"""Events of general systems: found in time and state, exact states at terminal ones; inputs as tables."""

import math

import numpy as np
import pytest
from four_particles import START, constraints, four_particles

from flexph import PHDAE, InputError, LinearPHDAE, integrate
from flexph.integration.general.library import EXTRAS
from flexph.integration.times.events import Event
from flexph.methods import by_name
from flexph.systems.inputs import Table

FIXED = ("gonzalez", "mean_value", "dirac", "midpoint", "gauss4", "gauss6")
ADAPTIVE = ("radau", "bdf", "ida")


@pytest.fixture(params=ADAPTIVE)
def adaptive(request):
    pytest.importorskip(EXTRAS[request.param][0])
    return request.param


def oscillator():
    """x = (q, v), ω = 1: q = cos t from (1, 0)."""
    return LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), parts={"q": slice(0, 1), "v": slice(1, 2)})


def run(system, start, times, **options):
    return integrate(system, start, times, progress=False, **options)


GRID = np.linspace(0.0, 7.0, 36)


@pytest.mark.parametrize("method", FIXED)
def test_zeros_are_found_in_time(method):
    events = {"zero": lambda t, x: x[0], "down": Event(lambda t, x: x[0], -1), "late": Event(lambda t, x: t - 6.5, 1)}
    found = run(oscillator(), (1.0, 0.0), GRID, method=by_name(method), events=events)
    expected, error = np.array([0.5, 1.5]) * math.pi, {"gauss4": 1.2e-5, "gauss6": 1e-8}.get(method, 1e-12)  # h⁴t/720
    if error == 1e-12:  # the midpoint rule turns by 2 atan(h/2) a step, also in the shorter one that ends at the event
        turn = 2.0 * math.atan(0.1)
        expected = 0.2 * (expected // turn) + 2.0 * np.tan(0.5 * (expected % turn))
    assert found.events["zero"].times == pytest.approx(expected, abs=error)
    assert found.events["down"].times == pytest.approx(expected[:1], abs=error)
    assert found.events["late"].times == pytest.approx([6.5], abs=1e-13)
    assert np.abs(found.events["zero"].states[:, 0]).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(found.events["zero"].states, axis=1), 1.0, rtol=1e-12)
    plain = run(oscillator(), (1.0, 0.0), GRID, method=by_name(method))
    np.testing.assert_allclose(found.states, plain.states, atol=1e-13)  # the run goes on as without
    assert plain.events == {}


@pytest.mark.parametrize("method", ["gonzalez", "invariants", "gauss6"])
def test_a_terminal_event_ends_the_run_with_a_step_of_its_own(method):
    """Exactness holds at the event state: energy and constraints there are those of any step."""
    events = {"slow": Event(lambda t, x: x[23] - 0.8, direction=-1, terminal=True)}
    inputs = {"push": lambda t: (4.0 * math.sin(5.0 * t), 0.0, 0.0)}
    found = run(
        four_particles(1.0), START, np.linspace(0.0, 1.0, 101), method=by_name(method), events=events, inputs=inputs
    )
    assert 0.05 < found.times[-1] < 0.95
    assert found.times[-1] == found.events["slow"].times[0]
    assert found.final[23] == pytest.approx(0.8, abs=1e-12)
    np.testing.assert_array_equal(found.final[:24], found.events["slow"].states[0, :24])
    assert len(found.ledger.residual) == len(found.times) - 1
    if method != "gauss6":
        assert found.ledger.residual.max() < 1e-13
        assert np.abs(constraints(found["q"])).max() < 1e-13


def test_a_terminal_event_is_kept_between_saved_steps():
    end = Event(lambda t, x: x[0], terminal=True)
    found = run(oscillator(), (1.0, 0.0), GRID, save_every=5, events={"zero": end})
    assert found.times == pytest.approx([0.0, 1.0, math.pi / 2.0], abs=0.01)
    assert found.energy_drift() < 1e-14


def test_events_of_adaptive_methods(adaptive):
    options = {"method": by_name(adaptive, tolerance=(1e-9, 1e-9))}
    events = {"up": Event(lambda t, x: x[1], direction=1), "any": lambda t, x: x[0] - 0.5}
    found = run(oscillator(), (1.0, 0.0), GRID, events=events, **options)
    assert found.events["up"].times == pytest.approx([math.pi], abs=1e-6)
    assert found.events["any"].times == pytest.approx(np.array([1.0, 5.0]) * math.pi / 3.0, abs=1e-6)
    assert found.events["any"].states[:, 1] == pytest.approx([-math.sqrt(0.75), math.sqrt(0.75)], abs=1e-6)
    ended = run(oscillator(), (1.0, 0.0), GRID, events={"zero": Event(events["any"], terminal=True)}, **options)
    assert ended.times == pytest.approx([*GRID[:6], math.pi / 3.0], abs=1e-6)
    assert ended.final == pytest.approx([0.5, -math.sqrt(0.75)], abs=1e-6)
    assert ended.energy_drift() < 1e-6
    assert ended.output_times[-1] > ended.times[-2]


def test_a_start_on_an_event_has_not_passed_it():
    """A ball that leaves the floor: the event at the start is none, that of its return is."""
    ball = PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z=lambda x: np.array([9.81, x[1]]),
        H=lambda x: 9.81 * float(x[0]) + 0.5 * float(x[1]) ** 2,
        sample=np.ones(2),
    )
    events = {"floor": Event(lambda t, x: x[0], terminal=True)}
    found = run(ball, (0.0, 4.0), np.linspace(0.0, 2.0, 21), events=events)
    assert found.times[-1] == pytest.approx(8.0 / 9.81, abs=1e-12)  # the midpoint rule is exact for parabolas
    assert found.final[1] == pytest.approx(-4.0, abs=1e-12)


def test_bad_events_are_named():
    with pytest.raises(ValueError, match="direction of an event must be -1, 0 or 1, got 2"):
        Event(lambda t, x: 0.0, direction=2)
    with pytest.raises(ValueError, match=r"events\['e'\] must be an Event or a function, got 3\.0"):
        run(oscillator(), (1.0, 0.0), GRID, events={"e": 3.0})
    with pytest.raises(ValueError, match=r"at t = 0 s: event 'e' must be a number, got None"):
        run(oscillator(), (1.0, 0.0), GRID, events={"e": lambda t, x: None})
    with pytest.raises(ValueError, match=r"at t = 0 s: event 'e' raised IndexError: index 9.*out.*bounds"):
        run(oscillator(), (1.0, 0.0), GRID, events={"e": lambda t, x: x[9]})
    with pytest.raises(InputError, match=r"^at t = 1\.2 s: event 'e' must be finite") as caught:
        run(oscillator(), (1.0, 0.0), GRID, events={"e": lambda t, x: 1.0 if t < 1.1 else math.nan})
    assert caught.value.solution.times[-1] == pytest.approx(1.0)


# --- tables -----------------------------------------------------------------------------------------------------


def carriage():
    """ẋ = u: a momentum under a force."""
    return LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), B=np.ones((1, 1)), ports={"force": slice(0, 1)})


def test_a_table_is_linear_between_its_rows():
    table = ([0.0, 1.0, 3.0], [0.0, 2.0, -2.0])
    assert [float(Table(*table)(t)) for t in (0.0, 0.5, 1.0, 2.5, 3.0)] == [0.0, 1.0, 2.0, -1.0, -2.0]
    found = run(carriage(), (0.0,), np.linspace(0.0, 3.0, 31), inputs={"force": table})
    assert found.states[[10, 30], 0] == pytest.approx([1.0, 1.0], abs=1e-14)  # areas 1 and 1 + 0: midpoints are exact
    vector = Table([0.0, 2.0], [[1.0, 0.0], [0.0, 4.0]])
    np.testing.assert_array_equal(vector(1.0), [0.5, 2.0])


def test_a_pair_of_numbers_is_no_table():
    both = LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)), B=np.eye(2), ports={"force": slice(0, 2)})
    found = run(both, (0.0, 0.0), [0.0, 0.5], inputs={"force": (1.0, 3.0)})
    assert found.final == pytest.approx([0.5, 1.5])


def test_tables_answer_what_is_wrong():
    with pytest.raises(ValueError, match="times of input 'force' must be at least two, ascending"):
        run(carriage(), (0.0,), [0.0, 1.0], inputs={"force": ([0.0, 0.0], [1.0, 2.0])})
    with pytest.raises(ValueError, match=r"input 'force' must.*one row.*values.*each.*2 times"):
        run(carriage(), (0.0,), [0.0, 1.0], inputs={"force": ([0.0, 1.0], [1.0, 2.0, 3.0])})
    with pytest.raises(InputError, match=r"input 'force' covers 0 to 1 s, .* t = 1\.25 s") as caught:
        run(carriage(), (0.0,), np.linspace(0.0, 2.0, 5), inputs={"force": ([0.0, 1.0], [1.0, 2.0])})
    assert caught.value.solution.times[-1] == 1.0
    with pytest.raises(ValueError, match="input 'force' must have 1 entries"):
        run(carriage(), (0.0,), [0.0, 1.0], inputs={"force": ([0.0, 1.0], [[1.0, 2.0], [1.0, 2.0]])})
