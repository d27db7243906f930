"""Feedback of readings within the step, beside springs, controllers that are held, and the energy that it gives."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import rigid
from flexph import (
    GROUND,
    Checkpoint,
    InputError,
    IntegrationInterrupted,
    Solution,
    connect,
    hinge,
    integrate,
    torque,
    torsion_spring,
)
from flexph.control import Continuous, Sampled, StateFeedback, port_spring
from flexph.sensors import energy, joint_angle, joint_rate

STIFF, DAMPED = 40.0, 8.0
SENSORS = {"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")}
TIMES = np.linspace(0.0, 0.5, 26)


def pendulum(*actuators):
    arm = {"arm": rigid.bar(1.0, 2.0)}
    return connect(arm, [hinge("arm.root", GROUND.at(0.0, 0.0)), *actuators], gravity=(0.0, -9.81))


MOTOR = pendulum(torque("arm.root", name="motor"))


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))


def aim(t):
    return 0.5 * np.sin(3.0 * t)


def law(t, y):
    return STIFF * (0.5 * np.sin(3.0 * t) - y[0]) + DAMPED * (1.5 * np.cos(3.0 * t) - y[1])


def fed_back(function=law, *, times=TIMES, mechanism=MOTOR, others=None, **options):
    loop = StateFeedback(function=function, sensors=SENSORS, ports=["motor"])
    loops = {"law": loop, **(others or {})}
    return integrate(mechanism, start_of(mechanism), times, controllers=loops, **options)


def ends_of_spring(times):
    spring = pendulum(torsion_spring("arm.root", GROUND, stiffness=STIFF, damping=DAMPED, angle=aim, name="motor"))
    return integrate(spring, start_of(spring), times).measured(SENSORS["angle"])[-1]


def test_proportional_and_derivative_feedback_is_the_spring_to_second_order():
    errors = []
    for steps in (10, 20):
        times = np.linspace(0.0, 0.5, steps + 1)
        errors.append(abs(fed_back(times=times).measured(SENSORS["angle"])[-1] - ends_of_spring(times)))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)
    assert errors[-1] < 5e-4


@pytest.mark.parametrize("period", [None, 0.02])
def test_a_run_from_the_end_of_another_knows_its_turns(period, tmp_path):
    times = np.linspace(0.0, 0.4, 41)
    loop = StateFeedback(
        function=lambda t, y: 4.0 * (2.0 - y[0]) - y[1], sensors=SENSORS, ports=["motor"], period=period
    )
    spinning = MOTOR.consistent_state(MOTOR.assemble({"arm": (0.0, 0.0, 0.0)}), velocities={"arm": 18.0})
    over = partial(integrate, MOTOR, controllers={"law": loop})
    whole, first = over(spinning, times), over(spinning, times[:27])
    assert abs(whole.measured(SENSORS["angle"])[26]) > np.pi
    first.save(tmp_path / "run.h5")
    later = over(Solution.load(tmp_path / "run.h5", MOTOR).final, times[26:])
    np.testing.assert_allclose(later.states[-1], whole.states[-1], rtol=1e-9, atol=1e-10)
    reason = r"state of controller 'law' must (be the data of a StateFeedback|come from a run)"
    with pytest.raises(ValueError, match=reason):
        over(replace(first.final, controllers={"law": np.zeros(1)}), times[26:])


@pytest.mark.usefixtures("route")
def test_inputs_are_those_of_the_means_of_the_step_and_the_balance_closes():
    run = fed_back(lambda t, y: (np.tanh(3.0 * (aim(t) - y[0])) - y[1] ** 3,))
    angle, rate = (run.measured(SENSORS[name]) for name in ("angle", "rate"))
    mean = [0.5 * (values[1:] + values[:-1]) for values in (angle, rate)]
    middle = 0.5 * (TIMES[1:] + TIMES[:-1])
    given = run.controls["motor"][:, 0]
    np.testing.assert_allclose(given, np.tanh(3.0 * (aim(middle) - mean[0])) - mean[1] ** 3, atol=1e-11)
    assert run.ledger.largest_residual < 1e-14
    work = run.ledger.controllers["law"]
    np.testing.assert_array_equal(work, run.ledger.work["motor"])
    np.testing.assert_allclose(work, given * np.diff(angle), rtol=1e-3, atol=1e-6)  # spins are tangents of half angles


@pytest.mark.slow
def test_loops_and_python_agree(by_python):
    servo = Continuous(system=port_spring(STIFF, DAMPED), ports={"spring": "motor"}, references={"spring": aim})
    for others in ({}, {"servo": servo}):
        run = fed_back(law, others=others)
        with by_python():
            other = fed_back(law, others=others)
        np.testing.assert_allclose(run.states, other.states, rtol=0.0, atol=1e-11)
        assert max(run.ledger.largest_residual, other.ledger.largest_residual) < 1e-14


@pytest.mark.usefixtures("route")
def test_errors_of_functions_end_a_run():
    def ends(t, y):
        return 1.0 / 0.0 if t > 0.3 else law(t, y)

    with pytest.raises(InputError, match=r"'law' raised ZeroDivisionError at t = 0.31 s") as caught:
        fed_back(ends)
    assert len(caught.value.solution.times) == 16


@pytest.mark.slow
def test_a_run_goes_on_from_the_end_of_another():
    whole, half = fed_back(), fed_back(times=TIMES[:14])
    loop = StateFeedback(function=law, sensors=SENSORS, ports=["motor"])
    again = integrate(MOTOR, half.final, TIMES[13:], controllers={"law": loop})
    np.testing.assert_allclose(again.states[-1], whole.states[-1], atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit()])
def test_what_ends_a_function_within_steps_ends_the_run(error):
    def ends(t, y):
        if t > 0.3:
            raise error
        return law(t, y)

    seen = IntegrationInterrupted if isinstance(error, KeyboardInterrupt) else type(error)
    with pytest.raises(seen) as caught:
        fed_back(ends)
    if isinstance(error, KeyboardInterrupt):
        np.testing.assert_array_equal(caught.value.solution.states, fed_back().states[:16])


@pytest.mark.slow
def test_functions_may_keep_their_readings():
    kept = []
    run = fed_back(lambda t, y: kept.append((t, y)) or float(law(t, y)))
    angle, middle = run.measured(SENSORS["angle"]), 0.5 * (TIMES[1:] + TIMES[:-1])
    last = {round(t, 6): y[0] for t, y in kept}  # of the last try of each step
    found = [last[round(t, 6)] for t in middle.tolist()]
    np.testing.assert_allclose(found, 0.5 * (angle[1:] + angle[:-1]), rtol=0.0, atol=1e-13)


def test_it_acts_beside_others_at_the_same_port():
    spring = port_spring(STIFF, DAMPED)
    servo = Continuous(system=spring, ports={next(iter(spring.ports)): "motor"})
    run = fed_back(lambda t, y: 1.0, others={"servo": servo})
    assert run.ledger.largest_residual < 1e-14
    np.testing.assert_allclose(run.ledger.controllers["law"].sum(), run.measured(SENSORS["angle"])[-1], rtol=1e-3)


@pytest.mark.slow
def test_angles_count_turns():
    whole = fed_back(lambda t, y: 15.0 - 3.0 * y[0], times=np.linspace(0.0, 1.5, 101))
    angle = whole.measured(SENSORS["angle"])
    assert angle.max() > 6.5
    np.testing.assert_allclose(whole.controls["motor"][:, 0], 15.0 - 1.5 * (angle[1:] + angle[:-1]), atol=1e-10)


@pytest.mark.slow
def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path):
    whole, file = fed_back(), tmp_path / "run.h5"

    def watch(time, state):
        if time > 0.25 and not list(tmp_path.glob("ended")):
            (tmp_path / "ended").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fed_back(checkpoint=Checkpoint(file, 1e-9), observe=watch)
    again = fed_back(checkpoint=Checkpoint(file, 1e-9, resume=True), observe=watch)
    np.testing.assert_array_equal(again.states, whole.states)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda t, y: np.nan, "'law' at t = 0.01 s: the inputs of its ports must be finite"),
        (lambda t, y: (1.0, 2.0), "must return 1 inputs, got 2"),
        (lambda t, y: y["angle"], "'law' raised IndexError at t = 0.01 s"),
    ],
)
def test_answers_that_are_none_are_said(function, told):
    with pytest.raises(InputError, match=told):
        fed_back(function)


def test_what_does_not_fit_is_refused():
    loop = StateFeedback(function=law, sensors=SENSORS, ports=["motor"])
    start = start_of(MOTOR)
    with pytest.raises(ValueError, match="no external port 'moter'"):
        unknown = StateFeedback(function=law, sensors=SENSORS, ports=["moter"])
        integrate(MOTOR, start, TIMES, controllers={"law": unknown})
    with pytest.raises(ValueError, match="'motor' is set by more than one controller: 'law', 'other'"):
        integrate(MOTOR, start, TIMES, controllers={"law": loop, "other": loop})
    held = Sampled(function=lambda t, see: {"motor": 0.0}, period=0.02, sensors={})
    with pytest.raises(InputError, match="set by more than one controller"):
        integrate(MOTOR, start, TIMES, controllers={"law": loop, "held": held})
    for ports in ("motor", [], ["motor", "motor"]):
        with pytest.raises(ValueError, match="ports must be"):
            StateFeedback(function=law, sensors=SENSORS, ports=ports)


def test_states_are_read_too():
    loop = StateFeedback(function=lambda t, y: -0.1 * y[0], sensors={"all": energy("total")}, ports=["motor"])
    run = integrate(MOTOR, start_of(MOTOR), TIMES, controllers={"law": loop})
    whole = run.measured(energy("total"))
    np.testing.assert_allclose(run.controls["motor"][:, 0], -0.05 * (whole[1:] + whole[:-1]), atol=1e-11)


def test_held_feedback_is_that_of_a_sampled_controller():
    times, period = np.linspace(0.0, 0.3, 31), 0.015  # steps end between the times, too
    told = {"period": period, "sensors": SENSORS}
    loop = Sampled(function=lambda t, see: {"motor": float(law(t, (see["angle"], see["rate"])))}, **told)
    by_hand = integrate(MOTOR, start_of(MOTOR), times, controllers={"law": loop})
    held = StateFeedback(function=law, ports=["motor"], **told)
    run = integrate(MOTOR, start_of(MOTOR), times, controllers={"law": held})
    np.testing.assert_allclose(run.states, by_hand.states, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(run.ledger.controllers["law"], run.ledger.work["motor"])
    ends = StateFeedback(function=lambda t, y: np.nan if t > 0.1 else law(t, y), ports=["motor"], **told)
    with pytest.raises(InputError, match=r"'law' at t = 0.105 s: the inputs of its ports must be finite") as caught:
        integrate(MOTOR, start_of(MOTOR), times, controllers={"law": ends})
    assert caught.value.solution.times[-1] == pytest.approx(0.105)
