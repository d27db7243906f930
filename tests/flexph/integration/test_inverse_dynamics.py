"""Inverse dynamics: closed forms, and the motion that comes back from its forces."""

import numpy as np
import pytest

import rigid
from cases.hardware_in_the_loop import link
from flexph import (
    GROUND,
    connect,
    drive,
    force,
    hinge,
    integrate,
    inverse_dynamics,
    revolute,
    torque,
)
from flexph.sensors import joint_angle, position

G = 9.81
LONG, SHORT, MASS, TIP_MASS = 1.0, 0.7, 2.0, 1.3
ANGLES = {"shoulder": joint_angle("upper.root"), "elbow": joint_angle("lower.root", "upper.tip")}
MOTION = {"shoulder": lambda t: 0.3 + 1.2 * np.sin(2.0 * t), "elbow": lambda t: -0.5 * np.cos(3.0 * t)}
BARS = {"upper": rigid.bar(LONG, MASS), "lower": rigid.bar(SHORT, TIP_MASS)}
ARM = connect(
    BARS,
    [
        hinge("upper.root", GROUND.at(0.0, 0.0)),
        hinge("lower.root", "upper.tip"),
        torque("upper.root", name="shoulder"),
        torque("lower.root", against="upper.tip", name="elbow"),
        force("lower.tip", name="hand"),
    ],
    gravity=(0.0, -G),
)


def pose_of(mechanism, upper, lower):
    return mechanism.assemble({"upper": (0.0, 0.0, upper), "lower": upper + lower})


POSE = pose_of(ARM, MOTION["shoulder"](0.0), MOTION["elbow"](0.0))


def lagrange(t):
    """τ = M(q) q̈ + c(q, q̇) + g(q) of two bars, q₂ relative (Spong, Robot Modeling and Control, sec. 7.4)."""
    q1, v1, a1 = MOTION["shoulder"](t), 2.4 * np.cos(2.0 * t), -4.8 * np.sin(2.0 * t)
    q2, v2, a2 = MOTION["elbow"](t), 1.5 * np.sin(3.0 * t), 4.5 * np.cos(3.0 * t)
    r1, r2, i1, i2 = LONG / 2.0, SHORT / 2.0, MASS * LONG**2 / 12.0, TIP_MASS * SHORT**2 / 12.0
    m22 = i2 + TIP_MASS * r2**2
    m12 = m22 + TIP_MASS * LONG * r2 * np.cos(q2)
    m11 = i1 + MASS * r1**2 + TIP_MASS * LONG**2 + 2.0 * m12 - m22
    h = TIP_MASS * LONG * r2 * np.sin(q2)
    lower = TIP_MASS * r2 * G * np.cos(q1 + q2)
    upper = (MASS * r1 + TIP_MASS * LONG) * G * np.cos(q1)
    return {
        "shoulder": m11 * a1 + m12 * a2 - h * (2.0 * v1 * v2 + v2**2) + upper + lower,
        "elbow": m12 * a1 + m22 * a2 + h * v1**2 + lower,
    }


def largest(one):
    return max(float(np.abs(values).max()) for values in one)


def test_torques_of_two_links_are_those_of_lagrange_and_give_the_motion_back():
    errors = []
    for steps in (10, 20, 40):
        found = inverse_dynamics(ARM, MOTION, POSE, np.linspace(0.0, 0.5, steps + 1))
        closed = lagrange(found.run.multiplier_times)
        back = integrate(ARM, found.start, found.run.times, inputs=found.inputs)
        torques = largest(found.forces[name][:, 0] - closed[name] for name in MOTION)
        angles = largest(back.measured(ANGLES[name]) - MOTION[name](back.times) for name in MOTION)
        errors.append((torques, angles))
    np.testing.assert_allclose(np.diff(-np.log2(errors), axis=0), 2.0, atol=0.15)
    assert errors[-1][0] < 4e-3  # [N m], of torques up to 37
    assert errors[-1][1] < 3e-4  # [rad], of angles up to 1.3
    assert found.run.ledger.largest_residual < 1e-14
    assert list(found.run.ledger.work) == ["hand", *MOTION]


def test_joint_forces_carry_the_weights_and_the_other_inputs():
    stand = {"shoulder": lambda t: 0.4, "elbow": lambda t: -0.3}
    push, times = (3.0, 5.0), np.linspace(0.0, 0.1, 6)
    found = inverse_dynamics(ARM, stand, pose_of(ARM, 0.4, -0.3), times, inputs={"hand": push})
    held = np.array([0.0, (MASS + TIP_MASS) * G]) - push
    carried = found.reaction("hinge upper.root–GROUND at (0.0, 0.0)").force
    np.testing.assert_allclose(carried, np.tile(held, (5, 1)), atol=1e-10)
    (x1, y1), (x2, y2) = (ARM.position(found.start, port) for port in ("upper.tip", "lower.tip"))
    elbow = TIP_MASS * G * (x2 - x1) / 2.0 - (x2 - x1) * push[1] + (y2 - y1) * push[0]
    shoulder = (MASS * x1 + TIP_MASS * (x1 + x2)) * G / 2.0 - x2 * push[1] + y2 * push[0]
    np.testing.assert_allclose(found.forces["shoulder"], shoulder, rtol=1e-11)
    np.testing.assert_allclose(found.forces["elbow"], elbow, rtol=1e-11)


def test_a_flexible_arm_follows_at_its_motor_alone():
    arm = link()
    turn = {"motor": lambda t: 20.0 * t**3 * (1.0 - t)}
    start = arm.assemble({"hub": (0.0, 0.0, 0.0), "link": 0.0})
    errors = []
    for steps in (20, 40):
        found = inverse_dynamics(arm, turn, start, np.linspace(0.0, 0.2, steps + 1))
        back = integrate(arm, found.start, found.run.times, inputs=found.inputs)
        errors.append(largest([back.measured(position("link.tip")) - found.run.measured(position("link.tip"))]))
    assert np.all(-np.diff(np.log2(errors)) > 1.9)
    assert errors[-1] < 1e-5  # [m], of a path of 0.1 m
    assert found.run.ledger.largest_residual < 1e-12


def test_axes_of_space_come_with_a_drive():
    tilt = (0.0, 0.6, 0.8)
    ports = {"end": (-0.4, 0.0, 0.0)}
    door = {"door": rigid.box((0.8, 0.04, 2.0), density=600.0, ports=ports)}
    own = connect(
        door,
        [revolute("door.end", GROUND.at(0.0, 0.0, 0.0), axis=tilt), torque("door.end", axes="section", name="motor")],
        gravity=(0.0, 0.0, -G),
    )
    pose, times = own.assemble({"door": ((0.4, 0.0, 0.0), np.eye(3))}), np.linspace(0.0, 0.2, 21)
    motion = {"motor": drive("door.end", angle=lambda t: 2.0 * t**2, axis=tilt)}
    found = inverse_dynamics(own, motion, pose, times)
    np.testing.assert_allclose(np.cross(found.forces["motor"], tilt), 0.0, atol=1e-10)
    back = integrate(own, found.start, times, inputs=found.inputs)
    assert largest([back.final.x - found.run.final.x]) < 1e-3
    with pytest.raises(ValueError, match="axis"):
        inverse_dynamics(own, {"motor": lambda t: t}, pose, times)


def test_a_force_carries_its_port_along_a_path():
    mass = connect({"mass": rigid.point(2.0)}, [force("mass.point", name="hand")], gravity=(0.0, -G))
    path = {"hand": lambda t: (t**2, 0.5 * t**2)}
    found = inverse_dynamics(mass, path, mass.assemble(), np.linspace(0.0, 1.0, 5))
    np.testing.assert_allclose(found.forces["hand"], np.tile([4.0, 2.0 + 2.0 * G], (4, 1)), atol=1e-9)
    one = inverse_dynamics(mass, path, found.start, [0.0, 0.1])  # from a state, in one step
    np.testing.assert_allclose(one.inputs["hand"](0.1), [4.0, 2.0 + 2.0 * G], atol=1e-9)


TIMES = [0.0, 0.1]
ELBOW = {"elbow": drive("lower.root", angle=MOTION["elbow"])}
WRONG = [
    ({}, "motion must map at least one external port"),
    ({"shoulder": 1.0}, r"motion\['shoulder'\] must be a function .*, got 1.0"),
    ({"sholder": MOTION["shoulder"]}, "no external port 'sholder': there are 'shoulder', 'elbow', 'hand'"),
    (ELBOW, "motion of 'elbow' must be a drive of lower.root against upper.tip, got drive lower.root–GROUND"),
    ({"shoulder": lambda t: 1.0}, "inconsistent initial position at t = 0.0 s: shoulder: angle is violated by 0.7 rad"),
    ({"shoulder": lambda t: 0.3 + np.pi}, "shoulder: angle is violated by 3.14 rad"),  # of which the sine is none
    ({**MOTION, "hand": lambda t: (1.0 + t, 1.0)}, "the drives contradict the joints"),
]


@pytest.mark.parametrize(("motion", "told"), WRONG)
def test_motions_that_do_not_fit_are_refused(motion, told):
    with pytest.raises(ValueError, match=told):
        inverse_dynamics(ARM, motion, POSE, TIMES)


def test_the_start_of_another_mechanism_is_refused():
    mass = connect({"mass": rigid.point(2.0)}, [force("mass.point", name="hand")])
    with pytest.raises(ValueError, match="start must be one of this mechanism, got another pose"):
        inverse_dynamics(mass, {"hand": lambda t: (t, t)}, POSE, TIMES)
