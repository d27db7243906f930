"""Masses that an input or a controller sets: as a function of time, the work of their port, and what refuses them."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, Simulator, connect, force, hinge, integrate
from flexph.control import Sampled, StateFeedback
from flexph.methods import Decaying, Exact, Exact4
from flexph.models import load_model, write_model
from flexph.sensors import velocity

TIMES = np.linspace(0.0, 0.5, 51)


def swell(t):
    return 0.5 * np.sin(3.0 * t)


def swinging(factor, **options):
    """A run of a pendulum whose mass has a factor."""
    bar = rigid.bar(1.0, 2.0).with_mass_factor(factor)
    mechanism = connect({"bar": bar}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))
    return integrate(mechanism, start, options.pop("times", TIMES), **options)


@pytest.mark.parametrize("method", [Exact(), Exact4(), Decaying(), Exact(tolerance=1e-4)], ids=str)
def test_an_input_is_a_function_of_time_to_the_same_bits(method):
    given = swinging("input", inputs={"bar": swell}, method=method)
    timed = swinging(lambda t: 1.0 + swell(t), method=method)
    np.testing.assert_array_equal(given.states, timed.states)
    np.testing.assert_array_equal(given.ledger.work["bar"], timed.ledger.work["bar"])
    assert list(given.ledger.work) == ["bar"] and np.abs(given.ledger.work["bar"]).max() > 1e-2
    assert given.ledger.largest_residual < 1e-13


def test_a_controller_fills_a_free_body_and_its_work_is_that_of_the_mass():
    """What arrives with the velocity v of a body without forces does the work Δm v²/2, and v stays."""
    ball = connect({"ball": rigid.point(2.0).with_mass_factor("input")}, [force("ball.point", name="push")])
    start = ball.consistent_state(ball.assemble(), velocities={"ball": (3.0, 0.0)})
    fill = Sampled(function=lambda t, seen: {"ball": 0.25 if t < 0.2 else 1.0}, period=0.1, sensors={})
    run = integrate(ball, start, TIMES, controllers={"fill": fill})
    np.testing.assert_allclose(run["ball.velocity"][:, 0], 3.0, rtol=0, atol=1e-14)
    work = run.ledger.work["ball"]
    assert work[0] == pytest.approx(0.25 * 9.0) and work[20] == pytest.approx(0.75 * 9.0)
    assert work.sum() == pytest.approx(9.0) and run.ledger.largest_residual < 1e-13


def test_a_thrust_that_burns_the_mass_reaches_the_speed_of_tsiolkovsky():
    """v = c ln(m₀/m) for a controller that burns by what it measures."""
    rocket = connect({"rocket": rigid.point(1.0).with_mass_factor("input")}, [force("rocket.point", name="jet")])
    start = rocket.consistent_state(rocket.assemble())
    burn = Sampled(
        function=lambda t, seen: {"rocket": -t, "jet": (2.0, 0.0)},  # 1 kg/s at 2 m/s
        period=0.01,
        sensors={"speed": velocity("rocket.point")},
    )
    run = integrate(rocket, start, TIMES, controllers={"burn": burn})
    assert run["rocket.velocity"][-1, 0] == pytest.approx(2.0 * np.log(2.0), rel=2e-2)  # the mass is a sample late
    assert run.ledger.largest_residual < 1e-13


def test_files_have_masses_by_an_input(tmp_path):
    text = """
flexph: 1
bodies:
  ball: {kind: point, mass: 2 kg, mass_factor: input}
connections:
  - {kind: force, port: ball.point, name: push}
"""
    path = tmp_path / "model.yaml"
    path.write_text(text)
    own = load_model(path).mechanism
    write_model(tmp_path / "again.yaml", own)
    again = load_model(tmp_path / "again.yaml").mechanism
    assert own.input_names == again.input_names == ("push", "ball")
    assert "a factor that is an input" in again.describe()
    assert again.with_masses_at(0.0).bodies["ball"].mass == 2.0


def test_what_has_no_such_masses_is_refused():
    run = swinging("input", times=[0.0, 0.01, 0.02])
    mechanism, start = run.mechanism, run.final
    loop = StateFeedback(function=lambda t, seen: {"bar": 1.0}, sensors={}, ports=("bar",))
    twice = [hinge("bar.root", GROUND), force("bar.tip", name="bar")]
    for call, message in (
        (lambda: swinging("input", inputs={"bar": -1.0}), "must be above -1"),
        (lambda: rigid.bar(1.0, 2.0).with_mass_factor("inputs"), "function or 'input'"),
        (lambda: Simulator(mechanism, start), "mass of 'bar' is an input"),
        (lambda: connect({"bar": mechanism.bodies["bar"]}, twice), "another name"),
        (lambda: run.linear_momentum(), "is an input, which states do not know"),
        (lambda: integrate(mechanism, start, 0.02 + TIMES, controllers={"loop": loop}), "mass of 'bar' is for Sampled"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
