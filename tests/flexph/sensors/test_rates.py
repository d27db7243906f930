"""Accelerations: rates of rates, known over steps."""

from dataclasses import replace

import numpy as np
import pytest

import rigid
from flexph import GROUND, Simulator, connect, hinge, integrate, torque
from flexph.control import Sampled, plant_of
from flexph.sensors import acceleration, joint_angle, joint_force, joint_rate, offset, rate, velocity

BAR = connect(
    {"bar": rigid.bar(1.0, 2.0)},
    [hinge("bar.root", GROUND.at(0.0, 0.0)), torque("bar.root", name="motor")],
    gravity=(0.0, -9.81),
)
START = BAR.consistent_state(BAR.assemble({"bar": (0.0, 0.0, 0.0)}))


def test_accelerations_of_a_falling_bar():
    """θ̈ = −3g/2L cos θ of the bar, and a = θ̈ × r − θ̇² r of its end, of second order at the saved times."""
    turning, end = rate(joint_rate("bar.root")), acceleration("bar.tip")
    errors = []
    for steps in (40, 80):
        run = integrate(BAR, START, np.linspace(0.0, 0.4, steps + 1))
        angle, spin = run.measured(joint_angle("bar.root")), run.measured(joint_rate("bar.root"))
        c, s, alpha = np.cos(angle), np.sin(angle), -1.5 * 9.81 * np.cos(angle)
        expected = np.stack([-alpha * s - spin**2 * c, alpha * c - spin**2 * s], axis=1)
        off = np.abs(run.measured(turning) - alpha).max(), np.abs(run.measured(end) - expected).max()
        errors.append(max(off))
    assert errors[0] < 0.1
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)


@pytest.mark.parametrize("stop", [12, 13])  # between two calls, and at one
def test_controllers_read_the_mean_of_the_last_step_and_go_on_with_it(stop):
    along = rate(rate(offset("bar.tip", GROUND, (1.0, 0.0))))
    read = {"end": acceleration("bar.tip"), "turning": rate(joint_rate("bar.root")), "along": along}
    seen, times = [], np.linspace(0.0, 0.2, 21)

    def note(time, see):
        seen.append(see)
        return {"motor": -0.05 * see["turning"]}

    def over(start, times):
        loop = Sampled(function=note, period=0.04, sensors=read)
        return integrate(BAR, start, times, controllers={"note": loop})

    whole = over(START, times)
    at = np.arange(4, 20, 4)  # steps that end where it is called
    speed = whole.measured(velocity("bar.tip"))
    mean = (speed[at] - speed[at - 1]) / 0.01
    assert seen[0]["turning"] == 0.0 and not seen[0]["end"].any()
    # round-off of velocities over the length of a step
    np.testing.assert_allclose([see["end"] for see in seen[1:]], mean, atol=1e-11)
    np.testing.assert_allclose([see["along"] for see in seen[1:]], mean[:, 0], atol=1e-11)
    first = over(START, times[: stop + 1])
    np.testing.assert_array_equal(first.followed_by(over(first.final, times[stop:])).states, whole.states)


@pytest.mark.parametrize("controlled", [False, True])
def test_simulators_read_what_steps_leave(controlled):
    """Accelerations and joint forces, as controllers read them; of a state that is restored there is no last step."""
    joint = BAR.connections[0].name
    read = {"end": acceleration("bar.tip"), "turning": rate(joint_rate("bar.root")), "force": joint_force(joint)}
    seen = []

    def note(time, see):
        seen.append(see)
        return {}

    loop = {"note": Sampled(function=note, period=0.01, sensors=read)}
    simulator = Simulator(BAR, START, sensors=read, controllers=loop if controlled else None)
    readings, state = [simulator.readings], simulator.state
    for k in range(4):
        simulator.advance_to(0.01 * (k + 1))
        readings.append(simulator.readings)
    integrate(BAR, START, [0.0, 0.01, 0.02, 0.03, 0.04], controllers=loop)
    for name in read:
        np.testing.assert_array_equal([r[name] for r in readings[:4]], [see[name] for see in seen[-4:]])
    assert readings[1]["turning"] == pytest.approx(-1.5 * 9.81, rel=1e-2)
    simulator.restore(state)
    assert simulator.readings["turning"] == 0.0


def test_accelerations_are_not_of_states():
    refused = "exists over steps only"
    with pytest.raises(ValueError, match=refused):
        integrate(BAR, START, (0.0, 0.1), events={"hard": lambda t, x: x.measured(acceleration("bar.tip"))[0]})
    with pytest.raises(ValueError, match=refused):
        level = replace(BAR, gravity=np.zeros(2))
        rest = level.assemble({"bar": (0.0, 0.0, 0.0)})
        plant_of(level, rest, ports=["motor"], sensors={"a": acceleration("bar.tip")})
    with pytest.raises(ValueError, match="got rate of the rate of the angle"):
        rate(rate(rate(joint_angle("bar.root"))))
    with pytest.raises(ValueError, match=r"no port 'bar.end'"):
        loop = Sampled(function=lambda t, see: {}, period=0.1, sensors={"a": acceleration("bar.end")})
        integrate(BAR, START, (0.0, 0.1), controllers={"note": loop})
