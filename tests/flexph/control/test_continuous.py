"""Port-Hamiltonian controllers within the steps of a mechanism, beside the same systems joined by other routes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.signal

import rigid
from flexph import (
    GROUND,
    PHDAE,
    Checkpoint,
    Event,
    IntegrationError,
    IntegrationInterrupted,
    Solution,
    connect,
    eliminate,
    force,
    hinge,
    integrate,
    torque,
    torsion_spring,
)
from flexph.control import Continuous, Sampled, coupled_controllers, feedback, passive_observer, pid, port_spring
from flexph.exchange import from_scipy
from flexph.interconnection import gyrator
from flexph.methods import DiscreteGradient, Exact4, Gauss
from flexph.sensors import joint_angle, joint_rate

STIFF, DAMPED = 40.0, 8.0
SPRING = port_spring(STIFF, DAMPED)
ANGLE = joint_angle("arm.root")
BALL = connect({"ball": rigid.point(2.0)}, [force("ball.point", name="push")], gravity=(0.0, -9.81))


def pendulum(*actuators):
    arm = {"arm": rigid.bar(1.0, 2.0)}
    return connect(arm, [hinge("arm.root", GROUND.at(0.0, 0.0)), *actuators], gravity=(0.0, -9.81))


MOTOR = pendulum(torque("arm.root", name="motor"))


def start_of(mechanism):
    return mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))


def aim(t):
    return 0.5 * np.sin(3.0 * t)


def of_motor(system=SPRING, **options):
    return Continuous(system=system, ports={next(iter(system.ports)): "motor"}, **options)


def controlled(*, times=None, mechanism=MOTOR, method=None, name="servo", given=None, **options):
    times = np.linspace(0.0, 0.5, 26) if times is None else times
    given = of_motor(references={"spring": aim}) if given is None else given
    return integrate(mechanism, start_of(mechanism), times, method=method, controllers={name: given}, **options)


def lag():
    """A passive controller of two inputs with states of its own: lags that are coupled and feed through."""
    a = np.array([[-3.0, 8.0], [-8.0, -1.0]])
    return from_scipy(scipy.signal.StateSpace(a, np.eye(2), np.eye(2), np.diag([0.5, 2.0])))


def test_the_ledger_of_plant_and_controller_closes():
    run = controlled()
    ledger = run.ledger
    assert ledger.largest_residual < 1e-14
    assert ledger.drift < 1e-14
    assert abs(ledger.work["motor"]).max() < 1e-14 * ledger.scale  # it is within
    assert ledger.energy["stored servo"].max() > 0.1
    assert ledger.dissipation["servo"].min() >= 0.0
    whole = ledger.total_work.sum() - ledger.total_dissipation.sum()
    assert abs(ledger.work["servo: spring"].sum()) > 0.1
    np.testing.assert_allclose(ledger.total_energy[-1] - ledger.total_energy[0], whole, atol=1e-12)


def test_a_controller_is_the_spring_in_the_limit_of_short_steps():
    spring = pendulum(torsion_spring("arm.root", GROUND, stiffness=STIFF, damping=DAMPED, angle=aim, name="motor"))
    errors = []
    for steps in (10, 20):  # angles of springs are exact, spins of steps tangents of half angles: second order
        times = np.linspace(0.0, 0.5, steps + 1)
        plain = integrate(spring, start_of(spring), times)
        errors.append(abs(controlled(times=times).measured(ANGLE)[-1] - plain.measured(ANGLE)[-1]))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)
    assert errors[-1] < 1e-5


def test_a_linear_plant_gives_what_feedback_joins_by_hand():
    times = np.linspace(0.0, 1.0, 21)
    given = Continuous(system=lag(), ports={"u": "push"}, start=[1.0, -2.0, 0.0, 0.0])
    start = BALL.consistent_state(BALL.assemble({"ball": (0.0, 0.0, 0.0)}), velocities={"ball": (3.0, 1.0)})
    run = integrate(BALL, start, times, inputs={"push": (0.0, 19.62)}, controllers={"lag": given})
    plant = replace(BALL, gravity=np.zeros(2)).linearize(BALL.assemble({"ball": (0.0, 0.0, 0.0)}))
    whole = feedback(plant, lag(), "push", "u")
    first = np.zeros(whole.size)
    first[: plant.size], first[plant.size : plant.size + 2] = (3.0, 1.0), (1.0, -2.0)
    by_hand = integrate(whole, first, times, method=DiscreteGradient())
    np.testing.assert_allclose(run.velocity("ball.point"), by_hand.states[:, :2], atol=1e-12)
    assert run.ledger.largest_residual < 1e-14
    assert run.ledger.work["push"].sum() > 1.0  # of the weight that is balanced from outside


@pytest.mark.slow
def test_a_nonlinear_plant_gives_what_a_gyrator_joins_by_hand():
    cubic = PHDAE(
        E=np.eye(1), J=np.zeros((1, 1)), B=np.eye(1), z=lambda x: 30.0 * x + 50.0 * x**3,
        H=lambda x: float(15.0 * x[0] ** 2 + 12.5 * x[0] ** 4), sample=np.array([0.2]), ports={"c": slice(0, 1)},
    )  # fmt: skip
    whole = gyrator(MOTOR.phdae(start_of(MOTOR)), cubic, ("motor", "c"), np.eye(1))
    start = start_of(MOTOR)
    fine = integrate(
        whole, np.concatenate([start.x, start.multipliers, [0.2]]), np.linspace(0.0, 0.4, 11), method=Gauss(4)
    )
    errors = []
    for steps in (10, 20):
        run = controlled(times=np.linspace(0.0, 0.4, steps + 1), given=of_motor(cubic, start=[0.2]), name="cubic")
        assert run.ledger.largest_residual < 1e-12
        errors.append(np.linalg.norm(run.states[-1] - fine.states[-1, : run.states.shape[1]]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert errors[1] < 0.1


def test_a_passive_compensator_is_joined_at_ports_and_others_are_refused():
    lead = pid(STIFF, derivative=DAMPED, lag=0.01).continuous(["motor"], references={"motor": aim})
    run = controlled(given=lead)
    assert run.ledger.largest_residual < 1e-14
    servo, slow = lead.system, pid(STIFF, derivative=DAMPED, lag=0.01)
    rates = 1j * 20.0
    ours = servo.B.T @ np.linalg.solve(rates * servo.E - servo.J + servo.R, servo.B)
    theirs = (slow.C @ np.linalg.solve(rates * np.eye(1) - slow.A, slow.B) + slow.D) / rates
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    with pytest.raises(ValueError, match="not passive"):
        pid(1.0, integral=1.0).continuous(["motor"])


def test_observers_reductions_and_sampled_controllers_work_side_by_side():
    model = eliminate(replace(MOTOR, gravity=np.zeros(2)).linearize(MOTOR.assemble({"arm": (0.0, 0.0, 0.0)})))
    observer = passive_observer(model, "motor", 5.0)
    hold = lambda time, see: {"motor": 4.0 * (0.5 - see["angle"]) - see["rate"]}  # noqa: E731
    plain = Sampled(function=hold, period=0.02, sensors={"angle": ANGLE, "rate": joint_rate("arm.root")})
    loops = {"observer": of_motor(observer), "servo": of_motor(), "hold": plain}
    run = integrate(MOTOR, start_of(MOTOR), np.linspace(0.0, 0.2, 11), controllers=loops)
    assert run.ledger.largest_residual < 1e-13
    assert set(run.ledger.controllers) == {"hold", "observer", "servo"}
    np.testing.assert_allclose(run.ledger.work["motor"], run.ledger.controllers["hold"], atol=1e-13)


def test_torques_in_space_and_forces_that_follow_are_joined():
    arm = {"arm": rigid.body(2.0, inertia=np.diag([0.1, 0.2, 0.3]), ports={"root": (-0.5, 0, 0), "tip": (0.5, 0, 0)})}
    loads = [torque("arm.root", name="motor"), force("arm.tip", name="push", axes="section")]
    flying = connect(arm, loads, gravity=(0.0, 0.0, -9.81))
    start = flying.consistent_state(
        flying.assemble({"arm": (0.0, 0.0, 0.0)}), velocities={"arm": ((1, 2, 0), (3, 1, 2))}
    )
    soft = {name: port_spring(k, 2.0, width=3) for name, k in (("motor", 5.0), ("push", 20.0))}
    loops = {f"{name} servo": Continuous(system=own, ports={"spring": name}) for name, own in soft.items()}
    run = integrate(flying, start, np.linspace(0.0, 0.5, 11), controllers=loops)
    assert run.ledger.largest_residual < 1e-13
    assert all(abs(run.ledger.work[name]).max() < 1e-12 for name in ("motor", "push"))


@pytest.mark.usefixtures("route")
def test_a_run_ends_at_an_event_and_goes_on_from_its_checkpoint(tmp_path):
    whole, broken = controlled(), []
    assert whole.ledger.largest_residual < 1e-14
    stopped = controlled(events={"half": Event(lambda t, x: t - 0.25, terminal=True)})
    assert stopped.times[-1] == pytest.approx(0.25)
    assert stopped.ledger.largest_residual < 1e-14

    def stop(t, x):
        if t > 0.3 and not broken:
            broken.append(t)
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(IntegrationInterrupted):
        controlled(observe=stop, checkpoint=Checkpoint(tmp_path / "run", every=0.0))
    again = controlled(observe=stop, checkpoint=Checkpoint(tmp_path / "run", every=0.0, resume=True))
    np.testing.assert_array_equal(again.states, whole.states)


@pytest.mark.slow
def test_loops_and_python_agree(by_python):
    run = controlled()
    with by_python():
        np.testing.assert_allclose(controlled().states, run.states, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ports": {"spin": "motor"}}, "no port 'spin'"),
        ({"ports": {}}, "at least one port"),
        ({"start": [1.0, 2.0, 3.0]}, "start"),
        ({"inputs": {"spring": 1.0}}, "not joined"),
    ],
)
def test_wrong_controllers_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        Continuous(**{"system": SPRING, "ports": {"spring": "motor"}, **given})


def test_what_a_run_cannot_join_is_named():
    with pytest.raises(ValueError, match=r"Exact4\(\).*steps back.*time, .*controller 'servo' may"):
        controlled(method=Exact4())
    with pytest.raises(ValueError, match="no external port 'moter'"):
        controlled(given=Continuous(system=SPRING, ports={"spring": "moter"}))
    with pytest.raises(ValueError, match="has 2 components, 'motor' of the mechanism 1"):
        controlled(given=Continuous(system=port_spring(1.0, width=2), ports={"spring": "motor"}))
    arm = {"arm": rigid.bar(1.0, 2.0)}
    spring = torsion_spring("arm.root", GROUND, stiffness=1.0, name="servo")
    named = connect(arm, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor"), spring])
    with pytest.raises(ValueError, match="'servo' needs another name"):
        controlled(mechanism=named)


def test_inputs_that_answers_do_not_determine_are_a_failed_step(monkeypatch, by_python):
    monkeypatch.setattr(
        coupled_controllers.TrialSteps, "slope", lambda self, inputs, forces: np.zeros((inputs.size, inputs.size))
    )
    with by_python(), pytest.raises(IntegrationError, match="inputs undetermined") as caught:
        controlled()
    assert caught.value.solution.times.tolist() == [0.0]


def test_a_run_from_the_end_of_another_goes_on(tmp_path):
    """States of controllers are in the final state, and in files."""
    times = np.linspace(0.0, 0.5, 26)
    whole, first = controlled(), controlled(times=times[:13])
    first.save(tmp_path / "first.h5")
    read = Solution.load(tmp_path / "first.h5", MOTOR)
    np.testing.assert_array_equal(read.controller_states["servo"], first.controller_states["servo"])
    servo = of_motor(references={"spring": aim})
    go_on = partial(integrate, MOTOR, times=times[12:])
    later = go_on(read.final, controllers={"servo": servo})
    both = first.followed_by(later)
    np.testing.assert_allclose(both.states, whole.states, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(both.controller_states["servo"], whole.controller_states["servo"], rtol=1e-9, atol=1e-11)
    assert both.ledger.drift < 1e-12
    anew = go_on(replace(read.final, controllers={}), controllers={"servo": servo})
    assert anew.controller_states["servo"][0] == pytest.approx(0.0)
    with pytest.raises(ValueError, match="state of controller 'servo'"):
        go_on(replace(read.final, controllers={"servo": np.zeros(3)}), controllers={"servo": servo})


def test_events_end_steps_of_controllers_too():
    """The last, shorter step starts where mechanism and controller stood, as in a run to that time."""
    stop = Event(lambda t, x: t - 0.333, terminal=True)
    run = controlled(events={"stop": stop})
    assert run.ledger.drift < 1e-12
    other = controlled(times=run.times)
    assert run.ledger.energy["stored servo"][-1] == pytest.approx(other.ledger.energy["stored servo"][-1], rel=1e-10)
    np.testing.assert_allclose(run.states[-1], other.states[-1], rtol=1e-10, atol=1e-12)
