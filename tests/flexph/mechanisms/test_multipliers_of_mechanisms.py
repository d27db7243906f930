"""Joint forces of mechanisms in motion, from accelerations."""

import math

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, drive, hinge

LENGTH, MASS, SPIN = 0.4, 3.0, 7.0


def pendulum(*more, gravity=(0.0, -9.81)):
    return connect({"bar": rigid.bar(LENGTH, MASS)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), *more], gravity=gravity)


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.0])
def test_the_force_of_a_hinge_on_a_moving_pendulum(angle):
    """By hand: φ̈ = −(3g/2L) cos φ, and the hinge carries m a of the centre, less the weight."""
    mechanism = pendulum()
    state = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, angle)}), velocities={"bar": SPIN})
    state = mechanism.consistent_multipliers(state)
    along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    rate = -1.5 * 9.81 / LENGTH * math.cos(angle)
    wanted = MASS * (0.5 * LENGTH * (rate * across - SPIN**2 * along) + np.array([0.0, 9.81]))
    reaction = mechanism.reaction(state, mechanism.connections[0].name)
    np.testing.assert_allclose(reaction.force[0], wanted, rtol=1e-9)


def test_drives_move_at_the_time_of_the_state():
    """A bar that is driven by φ = t³/6 needs the torque m L²/3 φ̈ = m L²/3 t."""
    mechanism = pendulum(drive("bar.root", GROUND, angle=lambda t: t**3 / 6.0), gravity=(0.0, 0.0))
    pose = mechanism.assemble(guess={"bar": (0.0, 0.0, 1.3)}, time=2.0)
    state = mechanism.consistent_multipliers(mechanism.consistent_state(pose, time=2.0))
    torque = mechanism.reaction(state, mechanism.connections[1].name).torque
    assert abs(float(np.ravel(torque)[0])) == pytest.approx(MASS * LENGTH**2 / 3.0 * 2.0, rel=1e-6)  # by differences


def test_bad_input_is_named():
    mechanism = pendulum()
    with pytest.raises(ValueError, match=r"state must be a State, see mechanism\.consistent_state"):
        mechanism.consistent_multipliers(mechanism.assemble())
    state = mechanism.consistent_state(mechanism.assemble())
    with pytest.raises(ValueError, match="no external port 'torque'"):
        mechanism.consistent_multipliers(state, inputs={"torque": 1.0})
    with pytest.raises(ValueError, match=r"this state has no joint forces yet: .*consistent_multipliers"):
        mechanism.reaction(state, mechanism.connections[0].name)
