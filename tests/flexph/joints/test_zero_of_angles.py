"""Zeros of joint coordinates: sensors, springs, stops and drives count from the same one, in the plane and in space."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, drive, hinge, integrate, prismatic, revolute, spring_damper, torsion_spring
from flexph.contacts import KelvinVoigt, stop
from flexph.results import IntegrationError
from flexph.sensors import joint_angle, offset

ZERO = 0.7
AXIS, SECOND = (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)


def arm(dim, *elements, angle):
    """A bar in a joint, at an angle from the zero of ``AXES[dim]``."""
    if dim == 2:
        mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, [hinge("bar.root", GROUND), *elements])
        return mechanism, mechanism.assemble({"bar": (0.0, 0.0, ZERO + angle)})
    body = rigid.body(1.0, inertia=np.diag([0.1, 0.2, 0.25]), ports={"root": (0.0, 0.0, 0.0)})
    joint = revolute("bar.root", GROUND, axis=AXIS, second_axis=SECOND)
    mechanism = connect({"bar": body}, [joint, *elements])
    start = mechanism.assemble({"bar": ((0.0, 0.0, 0.0), turned(ZERO + angle))})
    return mechanism, start


def turned(angle):
    """The smallest rotation from AXIS to SECOND, after it a turn about SECOND."""
    a, b = np.array(AXIS), np.array(SECOND)
    v = np.cross(a, b)
    cross = lambda w: np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])  # noqa: E731
    together = np.eye(3) + cross(v) + cross(v) @ cross(v) / (1.0 + a @ b)
    return (np.eye(3) + np.sin(angle) * cross(b) + (1.0 - np.cos(angle)) * cross(b) @ cross(b)) @ together


def about(dim):
    return {"zero": ZERO} | ({} if dim == 2 else {"axis": AXIS, "second_axis": SECOND})


def run(mechanism, pose, end, steps):
    return integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, end, steps + 1))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("angle", [0.0, -1.3])
def test_a_sensor_reads_the_angle_from_its_zero(dim, angle):
    mechanism, pose = arm(dim, angle=angle)
    assert run(mechanism, pose, 1e-3, 1).measured(joint_angle("bar.root", **about(dim)))[0] == pytest.approx(
        angle, abs=1e-14
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_a_spring_swings_about_its_zero(dim):
    """Half a period brings it from 0.3 to −0.3; the phase is behind by π³/12/20² = 6e-3, the angle by its square."""
    k, J = 40.0, 0.5**2 / 3.0 if dim == 2 else float(np.array(AXIS) @ np.diag([0.1, 0.2, 0.25]) @ AXIS)
    mechanism, pose = arm(dim, torsion_spring("bar.root", GROUND, stiffness=k, angle=0.0, **about(dim)), angle=0.3)
    swing = run(mechanism, pose, np.pi * np.sqrt(J / k), 20).measured(joint_angle("bar.root", **about(dim)))
    assert swing[-1] == pytest.approx(-0.3, abs=1e-5)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_drive_and_stops_count_from_the_same_zero(dim):
    """The drive goes through 0.2 into a stop there: its depth is the angle beyond."""
    law, motor = KelvinVoigt(100.0), drive("bar.root", GROUND, angle=lambda t: t, **about(dim))
    ends = stop("bar.root", GROUND, law, lower=-0.1, upper=0.2, name="ends", **about(dim))
    mechanism, pose = arm(dim, motor, ends, angle=0.0)
    driven = run(mechanism, pose, 0.3, 3)
    np.testing.assert_allclose(driven.measured(joint_angle("bar.root", **about(dim))), driven.times, atol=1e-12)
    np.testing.assert_allclose(driven.contact("ends").gap[-1], [0.4, -0.1], atol=1e-12)


def test_a_spring_along_a_direction_passes_its_zero():
    """An oscillator about −0.1 m, from 0.1 to −0.3, past zero."""
    k, m, x = 50.0, 2.0, (1.0, 0.0, 0.0)
    body = rigid.body(m, inertia=np.eye(3), ports={"centre": (0.0, 0.0, 0.0)})
    place = GROUND.at(0.5, 0.0, 0.0)
    joints = [
        prismatic("block.centre", place, direction=x),
        spring_damper("block.centre", place, stiffness=k, length=-0.1, direction=x),
    ]
    mechanism = connect({"block": body}, joints)
    pose = mechanism.assemble({"block": ((0.6, 0.0, 0.0), np.eye(3))})
    swing = run(mechanism, pose, np.pi * np.sqrt(m / k), 20).measured(offset("block.centre", place, x))
    assert swing[-1] == pytest.approx(-0.3, abs=1e-5)
    assert swing[0] == pytest.approx(0.1, abs=1e-14)


def test_zeros_without_an_angle_are_refused():
    with pytest.raises(ValueError, match="zero= needs angle="):
        drive("bar.root", GROUND, displacement=lambda t: t, direction=(1.0, 0.0), zero=0.1)
    with pytest.raises(ValueError, match=r"zero.*an angle"):
        stop("bar.root", GROUND, KelvinVoigt(1.0), lower=0.0, along_axis=(1.0, 0.0), zero=0.1)
    with pytest.raises(ValueError, match="zero must be finite, got nan"):
        joint_angle("bar.root", zero=np.nan)


def test_an_angle_that_vanishes_is_named():
    """The axes of a torsion spring of free bodies become perpendicular, where its angle is undefined."""
    body = rigid.body(1.0, inertia=(0.1, 0.2, 0.3), ports={"centre": (0.0, 0.0, 0.0)})
    twist = torsion_spring("body.centre", GROUND, stiffness=5.0, axis=(0.0, 0.0, 1.0), name="twist")
    mechanism = connect({"body": body}, [twist])
    spin = {"body": ((0.0, 0.0, 0.0), (0.02, 3.0, 0.02))}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=spin)
    with pytest.raises(IntegrationError, match="'twist' become perpendicular") as caught:
        integrate(mechanism, start, np.linspace(0.0, 1.0, 101))
    assert caught.value.solution.times[-1] == pytest.approx(0.5 * np.pi / 3.0, abs=0.02)
