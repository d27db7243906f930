"""Forces of a user by functions: of a spring, of time, of another body and of another joint, in every method."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, connect, force, hinge, integrate, slider, spring_damper, torsion_spring
from flexph.control import Sampled, StateFeedback
from flexph.laws import force_law
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.sensors import joint_angle, joint_rate, position, velocity

RAIL, PIVOT = GROUND.at(0.0, 0.0), GROUND.at(0.0, -1.0)
INERTIA = 0.5**2 / 3.0
METHODS = {
    "exact": (Exact(), 2e-5),
    "exact by a tolerance": (Exact(tolerance=1e-6), 2e-5),
    "decaying": (Decaying(radius=0.9), 1e-3),
    "decaying by a tolerance": (Decaying(radius=0.9, tolerance=1e-6), 1e-3),
    "collocation": (ExactGauss(2), 1e-8),
}


def beside():
    """A cart on a rail, and an arm on a torsion spring, which no joint connects."""
    return connect(
        {"cart": rigid.point(2.0), "arm": rigid.bar(0.5, 1.0)},
        [
            slider("cart.point", RAIL, turning=True),
            hinge("arm.root", PIVOT),
            torsion_spring("arm.root", PIVOT, stiffness=3.0, angle=0.0),
            force("cart.point", name="push"),
        ],
    )


FORCES = {
    "a joint": (
        {"angle": joint_angle("arm.root", PIVOT), "rate": joint_rate("arm.root", PIVOT)},
        lambda t, y: (-4.0 * y[0] - 0.5 * y[1], 0.0),
        lambda t, x, v, a, w: -4.0 * a - 0.5 * w,
    ),
    "another body and time": (
        {"tip": position("arm.tip"), "speed": velocity("arm.tip"), "cart": position("cart.point")},
        lambda t, y: (6.0 * (y[1] + 1.0 - y[4]) + 0.3 * y[3] + np.sin(3.0 * t), 0.0),
        lambda t, x, v, a, w: 6.0 * (0.5 * np.sin(a) - x) + 0.3 * 0.5 * w * np.cos(a) + np.sin(3.0 * t),
    ),
}


@pytest.mark.covering
@pytest.mark.parametrize("method, error", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("sensors, function, of_states", FORCES.values(), ids=FORCES)
def test_a_force_of_sensors(sensors, function, of_states, method, error):
    """Against the equations of motion, integrated by SciPy; the balance holds to round-off in each method."""
    mechanism = beside()
    start = mechanism.consistent_state(mechanism.assemble({"cart": (0.0, 0.0, 0.0), "arm": 0.5}))
    feedback = StateFeedback(function=function, sensors=sensors, ports=["push"])
    times = np.linspace(0.0, 2.0, 801)
    run = integrate(mechanism, start, times, method=method, controllers={"feedback": feedback})

    def rates(t, y):
        x, v, a, w = y
        return v, of_states(t, x, v, a, w) / 2.0, w, -3.0 * a / INERTIA

    exact = solve_ivp(rates, (0.0, 2.0), (0.0, 0.0, 0.5, 0.0), "DOP853", times, rtol=1e-12, atol=1e-14).y[0]
    np.testing.assert_allclose(run.position("cart.point")[:, 0], exact, atol=error)
    assert run.ledger.largest_residual <= 1e-13


@pytest.mark.parametrize("sensors, function, of_states", FORCES.values(), ids=FORCES)
def test_steps_back_in_time_take_sampled_forces(sensors, function, of_states):
    mechanism = beside()
    start = mechanism.consistent_state(mechanism.assemble({"cart": (0.0, 0.0, 0.0), "arm": 0.5}))
    feedback = StateFeedback(function=function, sensors=sensors, ports=["push"])
    with pytest.raises(ValueError, match=r"Exact4\(\).*steps back.*time.* use Exact\(\),.*Sampled"):
        integrate(mechanism, start, [0.0, 1.0], method=Exact4(), controllers={"feedback": feedback})

    def called(time, readings):
        return {"push": function(time, np.concatenate([np.atleast_1d(y) for y in readings.values()]))}

    sampled = Sampled(function=called, period=0.01, sensors=sensors)
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 101), method=Exact4(), controllers={"feedback": sampled})
    assert run.ledger.largest_residual <= 1e-13


@pytest.mark.parametrize("name", ["exact", "exact by a tolerance", "decaying", "decaying by a tolerance"])
def test_a_force_law_between_bodies(name):
    """F(x, v, t) between two carts on one rail, against SciPy."""
    method, error = METHODS[name]

    def law(x, v, t):
        return 30.0 * x + 0.4 * v * abs(v) + np.sin(5.0 * t)

    mechanism = connect(
        {"a": rigid.point(1.0), "b": rigid.point(2.0)},
        [
            slider("a.point", RAIL, turning=True),
            slider("b.point", RAIL, turning=True),
            spring_damper("b.point", "a.point", law=force_law(law), length=1.0),
        ],
    )
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (1.3, 0.0, 0.0)})
    times = np.linspace(0.0, 2.0, 1601)
    run = integrate(mechanism, mechanism.consistent_state(pose), times, method=method)

    def rates(t, y):
        pull = law(y[1] - y[0] - 1.0, y[3] - y[2], t)
        return y[2], y[3], pull, -pull / 2.0

    exact = solve_ivp(rates, (0.0, 2.0), (0.0, 1.3, 0.0, 0.0), "DOP853", times, rtol=1e-12, atol=1e-14).y[0]
    np.testing.assert_allclose(run.position("a.point")[:, 0], exact, atol=error)
    assert run.ledger.largest_residual <= 1e-13


def test_steps_back_in_time_take_no_force_laws():
    mechanism = connect(
        {"a": rigid.point(1.0)}, [spring_damper("a.point", RAIL, law=force_law(lambda x, v, t: x), length=1.0)]
    )
    start = mechanism.consistent_state(mechanism.assemble({"a": (1.2, 0.0, 0.0)}))
    with pytest.raises(ValueError, match=r"use Exact\(\)"):
        integrate(mechanism, start, [0.0, 1.0], method=Exact4())
