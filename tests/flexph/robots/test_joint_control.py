"""Computed torque: errors of its linear law, of first order in the period, and its work in the ledger."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.robots import Kinematics, Link, computed_torque, denavit_hartenberg, polynomial, spline
from flexph.sensors import joint_angle, joint_rate

JOINTS = [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("fore.root", "upper.tip")]
MOTORS = [torque("upper.root", name="shoulder"), torque("fore.root", name="elbow", against="upper.tip")]
ARM = connect({"upper": rigid.bar(1.0, 2.0), "fore": rigid.bar(0.8, 1.0)}, [*JOINTS, *MOTORS], gravity=(0.0, -9.81))
ANGLES = {"a": joint_angle("upper.root"), "b": joint_angle("fore.root", "upper.tip")}
KINEMATICS = Kinematics(ARM, ANGLES, ARM.assemble({"upper": 0.2}, guess={"fore": 0.9}))
REFERENCE = spline([0.0, 0.3, 0.6], {"a": [0.2, 1.0, 0.4], "b": [0.7, -0.5, 0.3]})


def tracked(period, error=0.0):
    """Run from rest at the reference plus an error of the first angle."""
    servo = computed_torque(
        KINEMATICS, REFERENCE, period=period, ports=["shoulder", "elbow"], stiffness=100.0, damping=20.0
    )
    start = ARM.consistent_state(KINEMATICS.pose(REFERENCE(0.0) + np.array([error, 0.0])))
    return integrate(ARM, start, np.linspace(0.0, 0.5, 501), controllers={"servo": servo})


def test_the_error_is_of_first_order_in_the_period():
    sizes = []
    for period in (1e-2, 5e-3):
        run = tracked(period)
        apart = np.stack([run.measured(angle) for angle in ANGLES.values()], axis=1) - REFERENCE(run.times)
        sizes.append(np.abs(apart).max())
        assert run.ledger.largest_residual < 1e-11
    assert np.log2(sizes[0] / sizes[1]) == pytest.approx(1.0, abs=0.1)


def test_an_error_decays_as_the_gains_say():
    """e(t) = e₀ (1 + ωt) exp(−ωt) of critical damping, and nothing in the other joint, up to the period."""
    run = tracked(2e-3, error=0.1)
    wanted = 0.1 * (1.0 + 10.0 * run.times) * np.exp(-10.0 * run.times)
    apart = np.stack([run.measured(angle) for angle in ANGLES.values()], axis=1) - REFERENCE(run.times)
    assert np.abs(apart[:, 0] - wanted).max() < 6e-3
    assert np.abs(apart[:, 1]).max() < 6e-3


def test_its_work_is_the_change_of_energy():
    run = tracked(1e-2)
    ledger = run.ledger
    change = sum(values[-1] - values[0] for values in ledger.energy.values())
    assert ledger.controllers["servo"].sum() == pytest.approx(change, rel=1e-9)


def test_arms_in_space_take_torques_about_their_axes():
    """Two skew joints; held against gravity at rest without a drift."""
    body = {"mass": 1.0, "centre": (-0.2, 0.0, 0.1), "moments": (0.05, 0.06, 0.07)}
    robot = denavit_hartenberg({"one": Link(alpha=1.2, d=0.3, **body), "two": Link(a=0.4, **body)})
    arm = connect(robot.bodies, robot.connections, gravity=(0.0, 0.0, -9.81))
    kinematics = Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
    rest = polynomial({"one": 0.4, "two": -0.3}, {"one": 0.4, "two": -0.3}, duration=1.0)
    servo = computed_torque(kinematics, rest, period=1e-3, ports=["one", "two"], stiffness=100.0, damping=20.0)
    run = integrate(
        arm, arm.consistent_state(kinematics.pose(rest(0.0))), np.linspace(0.0, 0.05, 51), controllers={"servo": servo}
    )
    for name, quantity in robot.coordinates.items():
        assert np.abs(run.measured(quantity) - rest[name](0.0)).max() < 1e-10


@pytest.mark.parametrize(
    "given, words",
    [
        ({"stiffness": -1.0}, "stiffness must not be negative"),
        ({"damping": {"a": 1.0}}, "'b' has none"),
        ({"ports": ["shoulder"]}, "cannot exert that of 'b'"),
        ({"reference": polynomial(0.0, 1.0, duration=1.0)}, "must be a motion of the coordinates a, b"),
    ],
)
def test_wrong_controllers_are_refused(given, words):
    right = {"reference": REFERENCE, "period": 1e-3, "ports": ["shoulder", "elbow"], "stiffness": 1.0, "damping": 1.0}
    with pytest.raises(ValueError, match=words):
        computed_torque(KINEMATICS, **(right | given))


def test_rates_of_the_arm_are_read():
    servo = computed_torque(KINEMATICS, REFERENCE, period=1e-3, ports=["shoulder", "elbow"], stiffness=1.0, damping=1.0)
    assert servo.sensors["a rate"] == joint_rate("upper.root")
