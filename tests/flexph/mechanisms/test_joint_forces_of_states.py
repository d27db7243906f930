"""States know whether their multipliers are joint forces, zero or not."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import rigid
from flexph import (
    GROUND,
    Simulator,
    Solution,
    State,
    connect,
    drive,
    hinge,
    integrate,
    inverse_dynamics,
    spring_damper,
    torque,
)

HUB = rigid.body(1.0, inertia=1.0, ports={"c": (0.0, 0.0)})
PIN = "hinge hub.c–GROUND at (0.0, 0.0)"
LACKS = r"this state has no joint forces yet.* mechanism\.equilibrium"


def hub(*others):
    return connect({"hub": HUB}, [hinge("hub.c", GROUND.at(0.0, 0.0)), *others])


def refused(mechanism, state):
    with pytest.raises(ValueError, match=LACKS):
        mechanism.reaction(state, PIN)


def test_a_balanced_hub_that_turns_has_the_force_zero():
    mechanism = hub(drive("hub.c", angle=lambda t: 30.0 * t))
    turning = mechanism.equilibrium(mechanism.assemble(), spin=30.0)
    assert turning.joint_forces
    assert not mechanism.reaction(turning, PIN).force.any()
    for kept in (pickle.loads(pickle.dumps(turning)), copy.deepcopy(turning), replace(turning, time=1.0)):
        assert not mechanism.reaction(kept, PIN).force.any()


def test_a_hub_that_turns_freely_has_the_force_zero_after_a_run(tmp_path):
    mechanism = hub()
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"hub": 30.0})
    refused(mechanism, start)
    refused(mechanism, mechanism.impact(start, "hub.c", impulse=(0.0, 0.0)))
    assert not mechanism.reaction(mechanism.consistent_multipliers(start), PIN).force.any()
    run = integrate(mechanism, start, [0.0, 0.01, 0.02])
    run.save(tmp_path / "run.h5")
    for final in (run.final, Solution.load(tmp_path / "run.h5", mechanism).final):
        assert not final.multipliers.any()
        assert not mechanism.reaction(final, PIN).force.any()


def test_forces_at_rest_without_gravity_are_no_guess():
    """A stretched spring pulls its hinge although nothing moves and nothing weighs: no answer yet, not zero."""
    arm = connect(
        {"arm": rigid.bar(1.0, 2.0)},
        [
            hinge("arm.root", GROUND.at(0.0, 0.0)),
            spring_damper("arm.tip", GROUND.at(2.0, 0.0), stiffness=50.0, length=0.5),
        ],
    )
    start = arm.consistent_state(arm.assemble())
    pin = arm.connections[0].name
    with pytest.raises(ValueError, match=LACKS):
        arm.reaction(start, pin)
    found = arm.reaction(arm.consistent_multipliers(start), pin).force
    assert found == pytest.approx(np.array([[-25.0, 0.0]]), abs=1e-12)  # the hinge holds what the spring pulls


def test_states_made_by_hand():
    mechanism = hub(drive("hub.c", angle=lambda t: 30.0 * t))
    turning = mechanism.equilibrium(mechanism.assemble(), spin=30.0)
    by_hand = State(turning.time, turning.x, turning.multipliers, turning.anchors)
    refused(mechanism, by_hand)
    assert not mechanism.reaction(replace(by_hand, joint_forces=True), PIN).force.any()
    pulled = State(turning.time, turning.x, turning.multipliers + 1.0, turning.anchors)
    assert np.abs(mechanism.reaction(pulled, PIN).force) == pytest.approx(np.ones((1, 2)))


def test_simulators_and_inverse_dynamics_hand_on_what_they_were_given():
    mechanism = hub()
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"hub": 30.0})
    simulator = Simulator(mechanism, start)
    refused(mechanism, simulator.state)
    simulator.advance(0.01)
    assert not mechanism.reaction(simulator.state, PIN).force.any()
    assert Simulator(mechanism, mechanism.consistent_multipliers(start)).state.joint_forces

    moved = hub(torque("hub.c", name="motor"))
    begin = moved.consistent_state(moved.assemble(), velocities={"hub": 30.0})
    for given, known in ((begin, False), (moved.consistent_multipliers(begin), True)):
        found = inverse_dynamics(moved, {"motor": lambda t: 30.0 * t}, given, [0.0, 0.01, 0.02])
        assert found.start.joint_forces is known
