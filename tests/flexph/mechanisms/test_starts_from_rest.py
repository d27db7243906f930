"""Drives that start from rest: their rate there is round-off of a difference, with nothing to be compared with."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import (
    GROUND,
    connect,
    drive,
    hinge,
    integrate,
    inverse_dynamics,
    prismatic,
    revolute,
    spherical,
    torque,
)
from flexph.methods import Gauss

BEGIN, LENGTH, MASS = 0.7, 1.0, 2.0
MOTIONS = {  # from BEGIN at rest, with the angular acceleration at time zero
    "cosine": (lambda t: BEGIN + 0.3 * (1.0 - np.cos(2.0 * t)), 1.2),
    "square": (lambda t: BEGIN + 1.5 * t**2, 3.0),
    "cycloid": (lambda t: BEGIN + t - np.sin(2.0 * np.pi * t) / (2.0 * np.pi), 0.0),
    "polynomial": (lambda t: BEGIN + 10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5, 0.0),
    "slow": (lambda t: BEGIN + 0.5 * (1.0 - np.cos(np.pi * t / 100.0)), 0.5 * (np.pi / 100.0) ** 2),
}
motions = pytest.mark.parametrize(("motion", "acceleration"), MOTIONS.values(), ids=MOTIONS)
BAR = rigid.bar(LENGTH, MASS)
TIMES = np.linspace(0.0, 0.004, 5)
Z = (0.0, 0.0, 1.0)


@motions
def test_inverse_dynamics_starts_from_a_state_at_rest(motion, acceleration):
    arm = connect({"arm": BAR}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    pose = arm.assemble({"arm": (0.0, 0.0, BEGIN)})
    of_state, of_pose = (
        inverse_dynamics(arm, {"motor": motion}, start, TIMES).forces["motor"]
        for start in (arm.consistent_state(pose), pose)
    )
    # the first middle of a step stands 0.5 ms after the start, third derivatives are below 40 rad/s³
    assert of_state[0] == pytest.approx(MASS * LENGTH**2 / 3.0 * acceleration, abs=2e-2)
    assert of_state == pytest.approx(of_pose, abs=1e-8)  # velocities of 1e-12 rad/s over steps of 1 ms


@motions
def test_an_equilibrium_starts_with_its_drives(motion, acceleration):
    driven = [hinge("arm.root", GROUND.at(0.0, 0.0)), drive("arm.root", angle=motion)]
    mechanism = connect({"arm": BAR}, driven, gravity=(0.0, -9.81))
    rest = mechanism.equilibrium(mechanism.assemble({"arm": (0.0, 0.0, BEGIN)}))
    for method, tolerance in ((None, 1e-9), (Gauss(2), 1e-3)):  # exact, and of second order in steps of 0.05 s
        run = integrate(mechanism, rest, 50.0 * TIMES, method=method)
        centre = run["arm.centre"][-1]
        assert np.arctan2(*centre[::-1]) == pytest.approx(motion(50.0 * TIMES[-1]), abs=tolerance)
    assert mechanism.consistent_multipliers(rest).multipliers[2] == pytest.approx(
        MASS * LENGTH**2 / 3.0 * acceleration + 9.81 * MASS * LENGTH / 2.0 * np.cos(BEGIN), abs=1e-5
    )  # by second differences of the drive


@motions
def test_velocities_of_zero_do_not_contradict_a_drive_from_rest(motion, acceleration):
    tip = drive("arm.tip", position=lambda t: (LENGTH * np.cos(motion(t)), LENGTH * np.sin(motion(t))))
    joints = [hinge("arm.root", GROUND.at(0.0, 0.0)), drive("arm.root", angle=motion)]
    for others in ([], [tip]):  # a redundant drive disagrees by round-off
        mechanism = connect({"arm": BAR}, [*joints, *others])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, BEGIN)}), velocities={"arm": 0.0})


@pytest.mark.covering
@pytest.mark.parametrize(
    "joints",
    [
        lambda motion: [revolute("b.c", GROUND.at(0, 0, 0), axis=Z), drive("b.c", angle=motion, axis=Z)],
        lambda motion: [
            prismatic("b.c", GROUND.at(0, 0, 0), direction=Z),
            drive("b.c", GROUND.at(0, 0, 0), displacement=motion, direction=Z),
        ],
        lambda motion: [
            spherical("b.c", GROUND.at(0, 0, 0)),
            drive("b.c", rotation=lambda t: Rotation.from_rotvec((0.0, 0.3 * motion(t), motion(t)))),
        ],
    ],
    ids=["angle", "displacement", "rotation"],
)
@motions
def test_drives_in_space_start_from_rest(joints, motion, acceleration):
    body = rigid.body(1.0, inertia=(1.0, 2.0, 2.5), ports={"c": (0.0, 0.0, 0.0)})
    mechanism = connect({"b": body}, joints(motion))
    rest = mechanism.equilibrium(mechanism.assemble())
    integrate(mechanism, rest, TIMES)


@pytest.mark.parametrize("rate", [0.1, 1e-7])
def test_motions_that_do_not_start_at_rest_are_refused(rate):
    arm = connect({"arm": BAR}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, BEGIN)}))
    with pytest.raises(ValueError, match=r"inconsistent initial velocity.*t = 0\.0 s: motor: angle.*violated by"):
        inverse_dynamics(arm, {"motor": lambda t: BEGIN + rate * t + 1.5 * t**2}, start, TIMES)
