"""Events of mechanisms under the exact scheme: found in time, exact where they occur, kept on disk."""

import math

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, Event, InputError, Solution, connect, drive, force, hinge, integrate, slider
from flexph.methods import Exact

MATERIAL = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
TIMES = np.linspace(0.0, 0.5, 51)
ROUND_OFF = 1e-8  # of stresses, 1e5 times the strains, by kernels that add in another order
INPUTS = {"force slider.point": lambda t: (math.cos(9.0 * t), 0.0)}


def crank_slider():
    rod = fem.beam(0.8, MATERIAL, SECTION, elements=2, strain="von_karman", damping=fem.Damping(mass=0.5))
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 0.7 + 12.0 * t),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
        force("slider.point"),
    ]
    bodies = {"crank": rigid.bar(0.3, 0.5), "rod": rod, "slider": rigid.point(0.4)}
    return connect(bodies, connections, gravity=(0.0, -9.81))


MECHANISM = crank_slider()
PLACE, SPEED = (MECHANISM.layout.parts[f"slider.{kind}"].start for kind in ("centre", "velocity"))
START = MECHANISM.consistent_state(MECHANISM.assemble({"crank": (0.0, 0.0, 0.7)}, guess={"rod": -0.2}))


def run(times=TIMES, start=START, **options):
    return integrate(MECHANISM, start, times, inputs=INPUTS, **options)


def beyond(place):
    return lambda t, x: x[PLACE] - place


@pytest.fixture(scope="module")
def whole():
    return run(events={"dead point": lambda t, x: x[SPEED], "out": Event(beyond(0.9), direction=1)})


def test_zeros_are_found_by_steps_that_end_there(whole):
    """The state at an event is that of a step from the last time before it."""
    assert len(whole.events["dead point"].times) == 2
    assert len(whole.events["out"].times) == 1
    for name, what in (("dead point", lambda x: x[SPEED]), ("out", lambda x: x[PLACE] - 0.9)):
        for time, state in zip(whole.events[name].times, whole.events[name].states, strict=True):
            before = TIMES[: np.searchsorted(TIMES, time)]
            assert abs(what(state)) < 1e-11  # 1e-13 of a step, at speeds and accelerations below a hundred
            again = run([*before, time])
            assert again.final.x == pytest.approx(state, abs=ROUND_OFF)
            assert again.ledger.residual[-1] < 1e-13 * again.ledger.scale
            assert again.ledger.position_residual[-1] < 1e-14


def test_watching_changes_nothing(whole):
    plain = run()
    assert plain.states == pytest.approx(whole.states, abs=ROUND_OFF)
    assert plain.events == {}


@pytest.mark.parametrize("every", [1, 7])
def test_a_terminal_event_ends_the_run_with_a_step_of_its_own(whole, every):
    ended = run(events={"out": Event(beyond(0.9), direction=1, terminal=True)}, save_every=every)
    time = whole.events["out"].times[0]
    assert ended.times[-1] == ended.events["out"].times[0] == time
    steps = np.arange(np.searchsorted(TIMES, time))
    np.testing.assert_array_equal(ended.times, [*TIMES[steps[steps % every == 0]], time])
    np.testing.assert_array_equal(ended.final.x, whole.events["out"].states[0])
    assert ended.ledger.largest_residual < 1e-13
    assert ended.energy_drift() < 1e-12
    assert ended.multiplier_times[-1] == pytest.approx(0.5 * (TIMES[steps[-1]] + time))


def test_a_run_goes_on_from_where_an_event_ended_it(whole):
    """The event that ended a run has occurred: it does not end the next one at once."""
    out = {"out": Event(beyond(0.9), terminal=True)}
    first = run(events=out)
    second = run([first.times[-1], *TIMES[np.searchsorted(TIMES, first.times[-1]) :]], first.final, events=out)
    assert second.times[-1] > first.times[-1] + 0.05
    both = first.followed_by(second)
    np.testing.assert_array_equal(both.events["out"].times, [first.times[-1], second.times[-1]])
    assert both.events["out"].states.shape == (2, MECHANISM.layout.size)


def test_events_are_kept_on_disk(whole, tmp_path):
    whole.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", MECHANISM)
    assert again.events.keys() == whole.events.keys()
    for name, event in whole.events.items():
        np.testing.assert_array_equal(again.events[name].times, event.times)
        np.testing.assert_array_equal(again.events[name].states, event.states)


def test_a_ball_bounces():
    """From 1 m, e = 0.8: floor at √(2h/g), then 2e√(2h/g) later; the midpoint rule is exact for parabolas."""
    ball = connect({"ball": rigid.point(1.0)}, [], gravity=(0.0, -9.81))
    height, speed = (ball.layout.parts[f"ball.{kind}"].start + 1 for kind in ("centre", "velocity"))
    floor = {"floor": Event(lambda t, x: x[height], direction=-1, terminal=True)}
    state = ball.consistent_state(ball.assemble({"ball": (0.0, 1.0, 0.0)}))
    falling = math.sqrt(2.0 / 9.81)
    for expected in (falling, falling * 2.6, falling * (2.6 + 1.28)):
        found = integrate(ball, state, state.time + np.linspace(0.0, 1.0, 30), events=floor)
        assert found.times[-1] == pytest.approx(expected, abs=1e-12)
        x = found.final.x.copy()
        x[speed] *= -0.8
        state = type(state)(found.final.time, x, found.final.multipliers, found.final.anchors)


def test_events_with_redundant_constraints():
    """Two parallel hinges: least-norm multipliers, and a step of its own at the event."""
    bar = {"bar": rigid.bar(1.0, 1.0), "twin": rigid.bar(1.0, 2.0)}
    joints = [hinge("bar.root", GROUND.at(0.0, 0.0)), hinge("twin.root", "bar.root"), hinge("twin.tip", "bar.tip")]
    mechanism = connect(bar, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0, "twin": 0.0}))
    low = {"low": Event(lambda t, x: x[1] + 0.2, terminal=True)}
    method = Exact(redundant="least_norm")
    found = integrate(mechanism, start, np.linspace(0.0, 1.0, 51), events=low, method=method)
    assert found.final.x[1] == pytest.approx(-0.2, abs=1e-12)
    assert found.ledger.largest_residual < 1e-13


def test_bad_events_are_answered_and_lose_nothing():
    with pytest.raises(ValueError, match="at t = 0 s: event 'e' must be a number, got None"):
        run(events={"e": lambda t, x: None})
    with pytest.raises(InputError, match=r"^at t = 0\.11 s: event 'e'") as caught:
        run(events={"e": lambda t, x: 1.0 if t < 0.105 else math.nan})
    assert caught.value.solution.times[-1] == TIMES[10]


@pytest.mark.parametrize(
    "events, reason",
    [
        (3, "events must be a dict of names with entries that are an Event or a function, got 3"),
        ({"a/b": lambda t, x: t}, "the name of an event must be a text without '/', and not empty or '.', got 'a/b'"),
        ({"": lambda t, x: t}, "the name of an event must be a text"),
        ({3: lambda t, x: t}, "a name of events must be a text, got 3"),
        ({"a": 3}, r"events\['a'\] must be an Event or a function, got 3"),
        ({"a": Event}, "event 'a': the function of an event must be a function of"),
    ],
)
def test_events_that_are_none(events, reason):
    ball = connect({"ball": rigid.point(1.0)}, [])
    with pytest.raises(ValueError, match=reason):
        integrate(ball, ball.consistent_state(ball.assemble()), [0.0, 1.0], events=events)
