"""What stands between controllers and mechanisms: answers that are late, limited or made of whole steps."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, InputError, connect, hinge, integrate, torque
from flexph.control import Sampled, StateFeedback, closed_loop, delayed, pid, quantised, rate_limited, saturated
from flexph.control.linear.plants import Plant
from flexph.integration.times.options import Checkpoint
from flexph.sensors import joint_angle, joint_rate

ARM = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")])
START = ARM.consistent_state(ARM.assemble({"arm": (0.0, 0.0, 0.0)}))
PERIOD, TENTH = 0.01, np.linspace(0.0, 0.1, 11)


def works(controller, calls):
    """Torques that act in so many periods, from the work on an arm of 1 kg m² (ΔH of a step from rest is τ²T²/2)."""
    times = PERIOD * np.arange(calls + 1)
    run = integrate(ARM, START, times, controllers={"c": controller})
    rate = run.velocity("arm.tip")
    return np.diff(np.hypot(*rate.T)) / PERIOD, run


def counting(**options):
    """Torques 1, 2, 3 … N m."""
    return Sampled(
        function=lambda t, see, n: ({"motor": float(n)}, n + 1), period=PERIOD, sensors={}, memory=1, **options
    )


def test_late_answers_act_steps_later():
    torques, run = works(delayed(counting(), 2), 6)
    np.testing.assert_allclose(torques, [0.0, 0.0, 1.0, 2.0, 3.0, 4.0], atol=1e-12)
    assert run.ledger.largest_residual < 1e-13


def test_limits_of_answers_and_of_their_rates():
    torques, _ = works(saturated(counting(), {"motor": 2.5}), 4)
    np.testing.assert_allclose(torques, [1.0, 2.0, 2.5, 2.5], atol=1e-12)
    torques, _ = works(rate_limited(counting(), {"motor": 50.0}), 4)
    np.testing.assert_allclose(torques, [0.5, 1.0, 1.5, 2.0], atol=1e-12)
    torques, _ = works(saturated(delayed(counting(), 1), {"motor": 1.5}), 4)
    np.testing.assert_allclose(torques, [0.0, 1.0, 1.5, 1.5], atol=1e-12)


@pytest.mark.parametrize(("around", "name"), [(saturated, "limits"), (rate_limited, "rates")])
def test_ports_that_are_not_answered_for_are_named(around, name):
    controller = around(counting(), {"mtr": 5.0})
    with pytest.raises(ValueError, match=f"has {name} for 'mtr', but returns inputs for 'motor' only"):
        controller.function(0.0, {}, controller.memory)


def test_encoders_see_whole_marks():
    seen = []
    plain = Sampled(
        function=lambda t, see: seen.append(see["angle"]) or {"motor": 1.0},
        period=PERIOD,
        sensors={"angle": joint_angle("arm.root")},
    )
    works(quantised(plain, {"angle": 0.9e-4}), 5)
    exact = 0.5 * (PERIOD * np.arange(5)) ** 2
    np.testing.assert_allclose(seen, 0.9e-4 * np.round(exact / 0.9e-4), atol=1e-12)
    with pytest.raises(ValueError, match="no sensor 'angel'"):
        quantised(plain, {"angel": 1e-4})


def test_delays_of_linear_loops():
    """A mass under proportional control through an integrator of one call: poles against those by hand."""
    integrator = Plant(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)))  # ẏ = u
    loop = closed_loop(integrator, pid(2.0), period=0.1, delay=1)
    np.testing.assert_allclose(np.sort(loop.poles), np.sort(np.roots([1.0, -1.0, 0.2])), rtol=1e-12)  # z² − z + kT
    assert not closed_loop(integrator, pid(2.0), period=0.1, delay=8).is_stable  # beyond a phase of π/2
    with pytest.raises(ValueError, match="delay needs a period"):
        closed_loop(integrator, pid(2.0), delay=1)


def remembering(**memory):
    return Sampled(function=lambda t, see, own: ({"motor": 1.0}, own), period=PERIOD, sensors={}, memory=memory)


def feeding(sensor):
    return StateFeedback(function=lambda t, y: -y[0], sensors={"seen": sensor}, ports=["motor"])


SEEING = {name: Sampled(function=lambda t, see: {"motor": 1.0}, period=PERIOD, sensors={"seen": sensor})
          for name, sensor in {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (saturated(counting(), {"motor": 2.0}), saturated(counting(), {"motor": 3.0})),
        (rate_limited(counting(), {"motor": 2.0}), rate_limited(counting(), {"motor": 3.0})),
        (quantised(SEEING["angle"], {"seen": 0.1}), quantised(SEEING["angle"], {"seen": 0.2})),
        (delayed(counting(), 1), delayed(counting(), 2)),
        (SEEING["angle"], SEEING["rate"]),
        (remembering(gains=np.ones(2)), remembering(gains=np.zeros(2))),
        (feeding(joint_angle("arm.root")), feeding(joint_rate("arm.root"))),
    ],
)
def test_runs_of_other_controllers_are_not_gone_on_with(one, other, tmp_path):
    def kept(controller):
        times, given = np.linspace(0.0, 0.03, 4), Checkpoint(tmp_path / "run", resume=True)
        return integrate(ARM, START, times, controllers={"c": controller}, checkpoint=given)

    run = kept(one)
    np.testing.assert_array_equal(kept(one).states, run.states)
    with pytest.raises(ValueError, match="another run: controllers is"):
        kept(other)


@pytest.mark.parametrize(
    "through",
    [lambda c: delayed(c, 1), lambda c: saturated(c, {"motor": 5.0}), lambda c: rate_limited(c, {"motor": 50.0})],
    ids=["delayed", "saturated", "rate limited"],
)
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "must return a mapping of ports to inputs, got None"),
        ({"motor": float("nan")}, ": the input of 'motor' must be finite"),
        ({"motor": 1.0 + 1.0j}, ": the input of 'motor' must be real"),
        ({"motor": "x"}, ": the input of 'motor' must be numbers, got 'x'"),
    ],
)
def test_wrong_answers_are_told_as_without_what_they_go_through(through, answer, told):
    """At the time of the call, not when they would act, and no part of a number is dropped."""
    loop = Sampled(function=lambda t, see: answer if t > 0.025 else {"motor": 0.0}, period=0.01, sensors={})
    with pytest.raises(InputError, match=rf"controller 'it' at t = 0.03 s ?{told}") as caught:
        integrate(ARM, START, np.linspace(0.0, 0.1, 11), controllers={"it": through(loop)})
    assert caught.value.solution.times.size == 4


def test_references_of_another_size_are_told():
    loop = pid(4.0, derivative=0.4, lag=0.01).sampled(
        0.01, sensors={"angle": joint_angle("arm.root")}, ports=["motor"], reference=lambda t: (0.1, 0.2)
    )
    with pytest.raises(InputError, match=r"reference must return.*number.*one.*each sensor, \(1,\), got"):
        integrate(ARM, START, (0.0, 0.1), controllers={"it": loop})
