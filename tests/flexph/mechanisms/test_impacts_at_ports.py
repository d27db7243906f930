"""Impacts at ports against closed forms."""

import math

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge
from flexph.mechanisms.model.state import angular_momentum, configuration
from flexph.numerics.rotations import rotation

MASS, INERTIA, ARM = 2.0, 0.3, np.array([0.4, 0.1])
VELOCITY, SPIN, ANGLE = np.array([0.5, -1.0]), 2.0, 0.7


def plate():
    """A free body that moves and spins, and a port away from its centre."""
    body = rigid.body(MASS, inertia=INERTIA, ports={"corner": tuple(ARM)})
    mechanism = connect({"plate": body}, [])
    pose = mechanism.assemble(guess={"plate": (0.2, 0.3, ANGLE)})
    return mechanism, mechanism.consistent_state(pose, velocities={"plate": (*VELOCITY, SPIN)})


def kinetic(mechanism, state):
    c = configuration(mechanism, state.x)
    return 0.5 * MASS * c.v[0] @ c.v[0] + 0.5 * INERTIA * c.omega[0, 0] ** 2


def test_an_impulse_gives_a_free_body_its_momentum_and_its_moment_and_does_its_work():
    mechanism, start = plate()
    impulse, arm = np.array([1.5, 0.4]), rotation(ANGLE) @ ARM
    after = mechanism.impact(start, "plate.corner", impulse=impulse)
    c = configuration(mechanism, after.x)
    spin = SPIN + (arm[0] * impulse[1] - arm[1] * impulse[0]) / INERTIA
    np.testing.assert_allclose(c.v[0], VELOCITY + impulse / MASS, rtol=1e-14)
    assert c.omega[0, 0] == pytest.approx(spin, rel=1e-14)
    before_and_after = [v + w * np.array([-arm[1], arm[0]]) for v, w in ((VELOCITY, SPIN), (c.v[0], spin))]
    work = impulse @ np.mean(before_and_after, axis=0)
    assert kinetic(mechanism, after) - kinetic(mechanism, start) == pytest.approx(work, rel=1e-13)
    np.testing.assert_array_equal(c.r, configuration(mechanism, start.x).r)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_restitution_takes_its_share_of_the_energy_along_the_direction(e):
    mechanism, start = plate()
    arm = rotation(ANGLE) @ ARM
    n = np.array([-0.6, 0.8])
    speed = n @ (VELOCITY + SPIN * np.array([-arm[1], arm[0]]))
    n, speed = (n, speed) if speed < 0.0 else (-n, -speed)
    after = mechanism.impact(start, "plate.corner", restitution=e, direction=5.0 * n)
    c = configuration(mechanism, after.x)
    corner = c.v[0] + c.omega[0, 0] * np.array([-arm[1], arm[0]])
    assert n @ corner == pytest.approx(-e * speed, abs=1e-14)
    gives = 1.0 / MASS + (arm[0] * n[1] - arm[1] * n[0]) ** 2 / INERTIA
    lost = 0.5 * (1.0 - e * e) * speed**2 / gives
    assert kinetic(mechanism, start) - kinetic(mechanism, after) == pytest.approx(lost, abs=1e-14)


def test_in_space_an_impulse_is_the_change_of_momentum_and_of_angular_momentum():
    body = rigid.body(1.5, inertia=np.diag([0.1, 0.2, 0.25]), ports={"corner": (0.3, -0.2, 0.1)})
    mechanism = connect({"a": body}, [])
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
    pose = mechanism.assemble(guess={"a": ((0.1, 0.2, 0.3), turn * np.linalg.det(turn))})
    start = mechanism.consistent_state(pose, velocities={"a": ((1.0, 0.0, -1.0), (0.5, 2.0, -1.0))})
    impulse = np.array([0.3, -0.7, 1.1])
    after = mechanism.impact(start, "a.corner", impulse=impulse)
    v0, v1 = (configuration(mechanism, s.x).v[0] for s in (start, after))
    np.testing.assert_allclose(1.5 * (v1 - v0), impulse, rtol=1e-13)
    moment = angular_momentum(mechanism, after.x) - angular_momentum(mechanism, start.x)
    np.testing.assert_allclose(moment, np.cross(mechanism.position(start, "a.corner"), impulse), rtol=1e-12)


def test_joints_hold_and_what_deforms_takes_the_momentum():
    bar = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND)])
    start = bar.consistent_state(bar.assemble({"arm": 0.3}), velocities={"arm": 2.0})
    spins = [configuration(bar, s.x).omega[0, 0] for s in (start, bar.impact(start, "arm.tip", restitution=0.3))]
    assert spins == pytest.approx([2.0, -0.6], rel=1e-13)
    across = np.array([-math.sin(0.3), math.cos(0.3)])
    struck = configuration(bar, bar.impact(start, "arm.tip", impulse=0.5 * across).x).omega[0, 0]
    assert struck == pytest.approx(2.0 + 0.5, rel=1e-13)  # J L over m L²/3
    steel = fem.Material(young=2e11, density=7800.0)
    beam = fem.beam(0.3, steel, fem.Section(area=1e-4, second_moment=1e-9), elements=2)
    free = connect({"a": beam}, [])
    rest = free.consistent_state(free.assemble())
    after = free.impact(rest, "a.tip", impulse=(0.2, 0.1))
    c = configuration(free, after.x)
    np.testing.assert_allclose(beam.inertia.mass * c.v[0], [0.2, 0.1], rtol=1e-12)
    arm = free.position(rest, "a.tip")
    assert float(angular_momentum(free, after.x)[0]) == pytest.approx(arm[0] * 0.1 - arm[1] * 0.2, rel=1e-10)
    assert np.abs(c.du).max() > 0.0
    with pytest.raises(ValueError, match=r"restitution is undefined at 'a.tip', where the body deforms"):
        free.impact(after, "a.tip", restitution=0.5)


def test_impacts_that_cannot_be_are_refused():
    mechanism, start = plate()
    bar = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND)])
    swings = bar.consistent_state(bar.assemble({"arm": 0.0}), velocities={"arm": 2.0})
    for system, state, port, given, words in (
        (mechanism, start, "plate.corner", {}, "either impulse=… or restitution=…"),
        (mechanism, start, "plate.corner", {"impulse": (1.0, 0.0), "restitution": 0.5}, "impulse.* or restitution"),
        (mechanism, start, "plate.corner", {"impulse": (1.0, 0.0), "direction": (1.0, 0.0)}, "direction= must be"),
        (mechanism, start, "plate.corner", {"impulse": (1.0, 0.0, 0.0)}, "impulse must"),
        (mechanism, start, "plate.corner", {"restitution": 1.2}, "between 0 and 1, got 1.2"),
        (mechanism, start, "plate.corner", {"restitution": 0.5, "direction": (0.0, 0.0)}, "must not be zero"),
        (mechanism, start, "plate.corer", {"restitution": 0.5}, "no port 'plate.corer'"),
        (bar, swings, "arm.tip", {"restitution": 0.5, "direction": (0.0, 1.0)}, "must move against"),
        (bar, swings, "arm.root", {"restitution": 0.5}, "'arm.root' is at rest"),
        (bar, swings, "arm.root", {"restitution": 0.5, "direction": (1.0, 0.0)}, "must move against"),
    ):
        with pytest.raises(ValueError, match=words):
            system.impact(state, port, **given)
