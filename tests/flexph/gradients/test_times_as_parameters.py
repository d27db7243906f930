"""Gradients by the times of a run: against differences of runs, by all methods, functionals and functions of time."""

import numpy as np
import pytest
from gradient_samples import CASES, along, crank, direction_of, pendulum

import rigid
from flexph import GROUND, connect, hinge, spring_damper
from flexph.gradients import Integral, Last, MeanSquare, Responses, forward_sensitivities, gradient
from flexph.laws import force_law
from flexph.methods import Exact, Exact4, ExactGauss
from flexph.sensors import joint_angle, joint_force, position

AGREEMENT = 1e-8
"""Of p dΦ/dp, relative to the largest: sixth-order differences of runs."""


FAST = ["mass of time", "tumbler"]
SLOW = [kind for kind in CASES if kind not in [*FAST, "crank"]]  # whose torque jumps at given times


def times(duration, **_):
    return np.linspace(0.0, duration, 21)


def timed(make):
    """The run of a sample, which does not depend on the duration."""
    return lambda duration, **own: make(**own)


def agree(make, parameters, functional, method=Exact()):  # noqa: B008
    direction = direction_of(parameters)
    found = gradient(make, parameters, times, functional, method=method)
    expected = along(make, parameters, direction, functional, times, method)
    largest = max(abs(parameters[name] * value) for name, value in found.by.items())
    assert abs(sum(change * found.by[name] for name, change in direction.items()) - expected) < AGREEMENT * largest
    assert abs(direction["duration"] * found.by["duration"]) > 1e-3 * largest  # it matters


@pytest.mark.parametrize("kind", FAST)
def test_the_duration_is_a_parameter_as_any_other(kind):
    make, parameters, quantity = CASES[kind]
    agree(timed(make), {**parameters, "duration": 0.05}, Last(quantity, 0 if quantity.scalar else 1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SLOW)
def test_the_duration_is_a_parameter_of_every_kind(kind):
    make, parameters, quantity = CASES[kind]
    agree(timed(make), {**parameters, "duration": 0.05}, Last(quantity, 0 if quantity.scalar else 1))


@pytest.mark.parametrize("method", [Exact(), Exact4(), ExactGauss(2)], ids=str)
def test_functionals_depend_on_the_times_by_their_weights_too(method):
    agree(timed(pendulum), {"speed": 2.0, "duration": 0.05}, MeanSquare(position("b.tip"), 1), method)


def swing(law):
    """A bar on a hinge and a spring with a force of time."""
    spring = spring_damper("bar.tip", GROUND.at(0.5, 0.4), law=force_law(law))
    pin = hinge("bar.root", GROUND, name="pin")
    mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, [pin, spring], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


@pytest.mark.parametrize("method", [Exact(), ExactGauss(2)], ids=str)
def test_forces_that_are_functions_of_time_move_with_the_times(method):
    made = swing(lambda x, v, t: 3.0 * np.sin(40.0 * t) - 20.0 * x - 0.2 * v)
    parameters, functional = {"duration": 0.2}, Last(joint_angle("bar.root"))
    found = gradient(lambda duration: made, parameters, times, functional, method=method).by["duration"]
    expected = along(lambda duration: made, parameters, {"duration": 0.2}, functional, times, method) / 0.2
    assert found == pytest.approx(expected, rel=AGREEMENT)


def test_forces_of_joints_depend_on_the_lengths_of_steps():
    """Against differences of runs."""
    made, found = swing(lambda x, v, t: -20.0 * x), {}
    run = Responses(lambda duration: made, times, {"force": Integral(joint_force("pin"), 1)})
    for k in (-3, -2, -1, 1, 2, 3):
        found[k] = run(duration=0.2 * (1.0 + 1e-3 * k))["force"]
    expected = sum(w * (found[k] - found[-k]) for k, w in ((1, 45.0), (2, -9.0), (3, 1.0))) / (60.0 * 0.2e-3)
    assert run.derivatives(duration=0.2)[1]["force"]["duration"] == pytest.approx(expected, rel=AGREEMENT)


def test_derivatives_forward_and_back_are_the_same():
    make, parameters = timed(pendulum), {"young": 2.1e9, "duration": 0.05}
    back = gradient(make, parameters, times, Last(position("b.tip"), 1)).by
    forward = forward_sensitivities(make, parameters, times, {"tip": position("b.tip")}).by["tip"]
    for name, value in back.items():
        assert forward[name][-1, 1] == pytest.approx(value, rel=1e-9)


def test_readings_along_the_run_move_with_their_times():
    """To the first order: the reading at the share s of the duration changes by s times its rate."""
    make, parameters = timed(pendulum), {"duration": 0.02}
    found = forward_sensitivities(
        make, parameters, lambda duration: np.linspace(0.0, duration, 201), {"tip": position("b.tip")}
    )
    run, share = found.solution, np.linspace(0.0, 1.0, 201)
    rates = np.gradient(run.measured(position("b.tip")), run.times, axis=0)
    own = found.by["tip"]["duration"]
    # steps of 0.1 ms leave 1e-3 of the oscillations of the beam
    np.testing.assert_allclose(own[50:150], share[50:150, None] * rates[50:150], atol=5e-3 * np.abs(rates).max())


def test_a_table_that_stretches_and_one_that_does_not():
    """The inputs of steps are equal in the first case; in the second they are others on a table without kinks."""
    mechanism, start, _ = crank()
    functional, parameters = Last(joint_angle("rod.tip", "rocker.root")), {"duration": 0.05}
    for brake in (
        lambda duration: (duration * np.array([0.0, 0.5, 1.0]), np.array([0.1, 5.0, -0.2])),
        lambda duration: (np.array([0.0, 1.0]), np.array([0.1, 100.0])),
    ):

        def make(duration, brake=brake):
            return mechanism, start, {"brake": brake(duration)}

        found = gradient(make, parameters, times, functional).by["duration"]
        expected = along(make, parameters, parameters, functional, times) / 0.05
        assert found == pytest.approx(expected, rel=AGREEMENT)


def test_times_that_cannot_be_differentiated_are_refused():
    make = timed(pendulum)
    with pytest.raises(ValueError, match=r"'duration' changes the number of .* steps"):
        gradient(make, {"duration": 0.05}, lambda duration: np.arange(0.0, duration, 0.01), Last(position("b.tip"), 1))
    with pytest.raises(ValueError, match="times must have at least one step"):
        gradient(make, {"duration": 0.05}, lambda duration: [], Last(position("b.tip"), 1))
