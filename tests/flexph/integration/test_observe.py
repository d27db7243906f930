"""What ``observe`` is handed at the times that a run keeps, and how its values are kept."""

import math

import numpy as np
import pytest
from covering import covering

from flexph import GROUND, PHDAE, Event, InputError, IntegrationInterrupted, connect, hinge, integrate
from flexph.integration.blocks import block_stepper
from flexph.methods import BDF, DiscreteGradient, Exact, Exact4, Gauss, Radau
from flexph.results import Solution, Trajectory
from flexph.switching import At, SwitchingPHDAE, SwitchingTrajectory, Transition
from rigid import bar

TIMES = np.linspace(0.0, 0.5, 11)


def pendulum():
    """A bar that hangs from a hinge, 0.7 rad from its rest."""
    mechanism = connect({"bar": bar(0.3, 0.5)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.7)}))


def published(resistance=1.0):
    """ẋ₁ = x₂, 0 = −x₁ − r x₂."""
    return PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, resistance]),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.array([1.0, -1.0]),
        parts={"q": slice(0, 1), "flow": slice(1, 2)},
    )


def both(t, state):
    """The time and all states, to compare with what a run keeps."""
    return np.append(t, state.x)


def assert_observed(run):
    np.testing.assert_array_equal(run.observations, np.column_stack([run.times, run.states]))


@covering("save_every, method", (1, 3), (Exact(), Exact(tolerance=1e-4), Exact4(), Gauss(2)))
def test_runs_of_mechanisms_are_observed(method, save_every):
    mechanism, start = pendulum()
    run = integrate(mechanism, start, TIMES, method=method, observe=both, save_every=save_every, progress=False)
    assert_observed(run)
    spin = integrate(mechanism, start, TIMES, method=method, observe=lambda t, s: s.spin("bar"), progress=False)
    np.testing.assert_array_equal(spin.observations[:, 0], spin["bar.spin"][:, 0])


@pytest.mark.parametrize("save_every", [1, 3])
@pytest.mark.parametrize(
    "method",
    [
        DiscreteGradient(),
        DiscreteGradient(completion="old"),
        DiscreteGradient(completion="mean"),
        DiscreteGradient(tolerance=1e-4),
        Gauss(4),
        pytest.param(Radau(), id="radau"),
        pytest.param(BDF(), id="bdf"),
    ],
    ids=str,
)
def test_runs_of_general_systems_are_observed(method, save_every):
    if isinstance(method, Radau | BDF):
        pytest.importorskip("scipy_dae")
    run = integrate(published(), (1.0, -1.0), TIMES, method=method, observe=both, save_every=save_every, progress=False)
    assert_observed(run)


@pytest.mark.parametrize("save_every", [1, 3])
def test_runs_of_switching_systems_are_observed_before_and_after_a_switch(save_every):
    modes = {"slow": published(1.0), "fast": published(0.5)}
    system = SwitchingPHDAE(modes, [Transition(source="slow", target="fast", when=At([0.17, 0.25]))])
    run = integrate(system, (1.0, -1.0), TIMES, observe=both, save_every=save_every, progress=False)
    assert len(run.switches) == 1
    assert_observed(run)


def test_an_event_that_ends_a_run_is_observed():
    mechanism, start = pendulum()
    lowest = {"lowest": Event(lambda t, state: state.position("bar.tip")[0], terminal=True)}
    run = integrate(
        mechanism, start, np.linspace(0.0, 1.0, 101), events=lowest, observe=both, save_every=70, progress=False
    )
    assert run.times[-1] == run.events["lowest"].times[-1]
    assert_observed(run)


def test_numbers_arrays_and_nothing():
    def observed(function):
        return integrate(published(), (1.0, -1.0), TIMES, observe=function, progress=False).observations

    assert observed(lambda t, state: None).shape == (0,)
    assert observed(None).shape == (0,)
    assert observed(lambda t, state: 1).tolist() == [1.0] * 11
    assert observed(lambda t, state: np.ones((2, 3))).shape == (11, 2, 3)
    now_and_then = observed(lambda t, state: state["q"] if t > 0.2 else None)
    np.testing.assert_array_equal(np.isnan(now_and_then[:, 0]), TIMES <= 0.2)


@pytest.mark.parametrize("kind", [Solution, Trajectory, SwitchingTrajectory])
def test_observations_are_kept_in_files(kind, tmp_path):
    start, system = (1.0, -1.0), published()
    if kind is Solution:
        system, start = pendulum()
    elif kind is SwitchingTrajectory:
        system = SwitchingPHDAE({"one": system})
    run = integrate(system, start, TIMES, observe=lambda t, state: state.x[:2] if t > 0.2 else None, progress=False)
    run.save(tmp_path / "run.h5")
    read = kind.load(tmp_path / "run.h5", system)
    np.testing.assert_array_equal(read.observations, run.observations)
    assert np.isnan(read.observations[0]).all() and read.observations.shape == (11, 2)


@pytest.mark.parametrize(
    ("observe", "message"),
    [
        (lambda t, state: state["speed"], "at t = 0 s: observe raised ValueError: no part 'speed'"),
        (lambda t, state: 1.0 / (t < 0.22), "at t = 0.25 s: observe raised ZeroDivisionError"),
        (
            lambda t, state: np.ones(2 if t < 0.22 else 3),
            r"t = 0.25 s: observe returned the shape \(3,\), before \(2,\)",
        ),
        (lambda t, state: "far", "must return a number, an array of numbers or None, got 'far'"),
    ],
)
@pytest.mark.parametrize("kind", ["mechanism", "system", "switching"])
def test_an_observer_that_fails_is_named(observe, message, kind):
    system, start = pendulum() if kind == "mechanism" else (published(), (1.0, -1.0))
    system = SwitchingPHDAE({"one": system}) if kind == "switching" else system
    with pytest.raises(InputError, match=message) as failed:
        integrate(system, start, TIMES, observe=observe, progress=False)
    done = failed.value.solution
    if "0.25" in message:
        assert not np.isnan(done.observations[:5]).any() and np.isnan(done.observations[5:]).all()


@pytest.mark.parametrize("observe", ["far", 3.0, float])
def test_what_is_no_function_is_refused(observe):
    with pytest.raises(ValueError, match="observe must be a function"):
        integrate(published(), (1.0, -1.0), TIMES, observe=observe, progress=False)


def test_an_interrupted_run_is_observed_to_its_end(monkeypatch):
    """Up to the block of steps in which it is interrupted."""
    monkeypatch.setattr(block_stepper, "largest_size", lambda numbers: 2)

    def force(t):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0.1

    mechanism, start = pendulum()
    with pytest.raises(IntegrationInterrupted) as interrupted:
        integrate(
            mechanism,
            start,
            TIMES,
            observe=both,
            save_every=3,
            events={"never": lambda t, state: 1.0 if force(t) else math.nan},
            progress=False,
        )
    done = interrupted.value.solution
    assert 0.0 < done.times[-1] < 0.5
    assert_observed(done)
