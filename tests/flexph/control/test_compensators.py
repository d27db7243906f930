"""Compensators and regulators: their laws, and closed loops against runs of the mechanism."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.control import angles_of, append, closed_loop, lqr, margins, notch, passive, pid, port_spring
from flexph.sensors import joint_angle, joint_rate

ARM = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.root", name="motor")])
REST = ARM.assemble({"arm": (0.0, 0.0, 0.0)})  # about its root the arm has an inertia of 1 kg m²
PLANT = angles_of(ARM.linearize(REST), ["motor"])


def response(compensator, s):
    k = compensator
    return k.C @ np.linalg.solve(s * np.eye(len(k.A)) - k.A, k.B) + k.D


def test_compensators_have_their_transfer_functions():
    s = 3.0j
    np.testing.assert_allclose(
        response(pid(2.0, integral=5.0, derivative=0.3, lag=0.1), s), [[2.0 + 5.0 / s + 0.3 * s / (1.0 + 0.1 * s)]]
    )
    np.testing.assert_allclose(response(pid(2.0), s), [[2.0]])
    filtered = notch(3.0, damping=0.5, depth=0.1)
    np.testing.assert_allclose(response(filtered, s), [[0.1]], atol=1e-14)
    np.testing.assert_allclose(
        response(filtered * pid(2.0, integral=5.0), 4.0j), response(filtered, 4.0j) * (2.0 + 5.0 / 4.0j)
    )
    np.testing.assert_allclose(response(append(pid(1.0), pid(2.0, integral=1.0)), s), np.diag([1.0, 2.0 + 1.0 / s]))
    np.testing.assert_allclose(response(passive(port_spring(4.0, 0.5)), s), [[4.0 / s + 0.5]], rtol=1e-12)


def test_regulator_of_a_double_integrator():
    """∫ y² + u²: poles of the regulator at the roots of s² + √2 s + 1 (Kalman), whatever the filter sees."""
    regulator = lqr(PLANT, stiffness=[1.0], effort=[1.0], load=[1.0], noise=[1e-4])
    poles = closed_loop(PLANT, regulator).poles
    for pole in (-1.0 + 1.0j, -1.0 - 1.0j):
        assert np.abs(poles - pole / np.sqrt(2.0)).min() < 1e-6
    known = margins(PLANT, pid(1.0, derivative=np.sqrt(2.0), lag=1e-6))  # full state feedback, nearly
    assert known.modulus == pytest.approx(1.0, abs=1e-5)  # the circle criterion of Kalman
    assert margins(PLANT, regulator).modulus < 1.0
    with pytest.raises(ValueError, match="must be stable"):
        margins(PLANT, pid(-1.0))


def test_sampled_loops_are_what_runs_do():
    """A step of the reference: the arm without weight follows the linear prediction, exact at the samples."""
    period, law = 0.02, pid(40.0, derivative=8.0, lag=0.05)
    loop = law.sampled(period, sensors={"angle": joint_angle("arm.root")}, ports=["motor"], reference=lambda t: 0.3)
    times = np.arange(26) * period
    run = integrate(ARM, ARM.consistent_state(REST), times, controllers={"pid": loop})
    linear, x, angles = closed_loop(PLANT, law, period=period), np.zeros(3), []
    for _ in times:
        angles.append((linear.C @ x)[0])
        x = linear.A @ x + linear.B @ [0.3]
    # the scheme is exact for constant torques, but angles are those of Cayley's map: of second order in h ω
    np.testing.assert_allclose(run.measured(joint_angle("arm.root")), angles, atol=3e-4)
    assert linear.is_stable


def test_passive_compensators_take_energy_out():
    spring = passive(port_spring(20.0, 4.0)).sampled(1e-3, sensors={"rate": joint_rate("arm.root")}, ports=["motor"])
    start = ARM.consistent_state(REST, velocities={"arm": 2.0})
    run = integrate(ARM, start, np.linspace(0.0, 1.0, 1001), controllers={"spring": spring})
    assert run.ledger.total_energy[-1] < 0.1 * run.ledger.total_energy[0]


def test_what_does_not_fit_is_said():
    with pytest.raises(ValueError, match="1 errors and 1 outputs, got 2 sensors"):
        sensors = {"a": joint_angle("arm.root"), "b": joint_rate("arm.root")}
        pid(1.0).sampled(1e-3, sensors=sensors, ports=["motor"])
    with pytest.raises(ValueError, match="no port 'moter'"):
        angles_of(ARM.linearize(REST), ["moter"])
    with pytest.raises(ValueError, match="must lead from 1 errors to 1 inputs"):
        closed_loop(PLANT, append(pid(1.0), pid(1.0)))
    with pytest.raises(ValueError, match="in series must fit"):
        _ = append(pid(1.0), pid(1.0)) * pid(1.0)
