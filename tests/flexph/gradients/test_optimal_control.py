"""Optimal inputs by direct shooting: closed forms of a mass and of an arm, bounds, limits, parameters, bad input."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, spring_damper, torque
from flexph.gradients import Last, MeanSquare, Peak, gradients, optimal_control
from flexph.sensors import joint_angle, joint_rate, position

TIMES = np.linspace(0.0, 1.0, 51)
NODES = np.linspace(0.0, 1.0, 11)
INERTIA = 1.0 * 0.6**2 / 3.0
ANGLE, RATE = joint_angle("bar.root"), joint_rate("bar.root")


def bar(stiffness=0.0):
    """A bar on a hinge with a motor, and a spring that pulls it back."""
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor")]
    if stiffness:
        joints.append(spring_damper("bar.tip", GROUND.at(0.6, 1.0), stiffness=stiffness, length=1.0))
    mechanism = connect({"bar": rigid.bar(0.6, 1.0)}, joints)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


def guess(of=lambda t: 0.0 * t):
    return {"motor": (NODES, of(NODES))}


REST = {"angle": (ANGLE, 0.5), "rate": (RATE, 0.0)}


def test_the_least_effort_of_a_rigid_slew_is_that_of_the_closed_form():
    """u = 6 J θ/T² (1 − 2 t/T), which the table has at its nodes; the cost is 12 J² θ²/T³."""
    best = optimal_control(bar, TIMES, guess(), effort={"motor": 2.0}, ends=REST)
    nodes, torques = best.inputs["motor"]
    # steps take the torque in their middle, five of them between two nodes: an error of (1/5)²/24 of it
    np.testing.assert_allclose(torques[:, 0], 6.0 * INERTIA * 0.5 * (1.0 - 2.0 * nodes), atol=1e-3)
    assert best.cost == pytest.approx(2.0 * 12.0 * INERTIA**2 * 0.25, rel=1e-3)
    assert max(abs(error).max() for error in best.end_errors.values()) < 1e-9
    assert best.solution.ledger.largest_residual < 1e-12
    assert best.solution.measured(ANGLE)[-1] == pytest.approx(0.5, abs=1e-9)


def test_derivatives_by_nodes_are_differences_of_runs():
    table = 0.1 * np.sin(5.0 * NODES)
    mechanism, start = bar(3.0)
    functional = {"f": MeanSquare(ANGLE, target=0.2)}

    def at(values):
        return gradients(lambda: (mechanism, start, {"motor": (NODES, values)}), {}, TIMES, functional)["f"]

    middles = 0.5 * (TIMES[1:] + TIMES[:-1])
    hats = np.stack([np.interp(middles, NODES, row) for row in np.eye(NODES.size)], axis=1)
    own = hats.T @ at(table).by_input["motor"][:, 0]
    for k in (0, 4, 10):
        change = 1e-4 * np.eye(NODES.size)[k]
        expected = (at(table + change).value - at(table - change).value) / 2e-4
        assert own[k] == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_bounds_and_limits_hold_and_cost_more():
    free = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST)
    bounds = {"motor": (-0.3, 0.3)}
    held = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds=bounds)
    assert np.abs(held.inputs["motor"][1]).max() <= 0.3 + 1e-12 < np.abs(free.inputs["motor"][1]).max()
    assert held.cost > free.cost
    slow = {"speed": (Peak(RATE, margin=0.01), None, 0.7)}
    limited = optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, limits=slow)
    assert free.solution.measured(RATE).max() > 0.74
    assert 0.68 < limited.solution.measured(RATE).max() <= limited.values["speed"] <= 0.7 + 1e-7
    assert limited.cost > free.cost


def test_inputs_and_a_stiffness_are_optimised_at_once():
    """A spring that does the work makes the torque cheaper; its stiffness goes to the bound where that is best."""
    alone = optimal_control(lambda: bar(1.0), TIMES, guess(), effort={"motor": 1.0}, ends=REST)
    both = optimal_control(
        bar,
        TIMES,
        guess(),
        effort={"motor": 1.0},
        ends=REST,
        parameters={"stiffness": 1.0},
        bounds={"stiffness": (0.5, 5.0)},
    )
    assert both.cost < alone.cost


def test_a_functional_alone_is_a_cost():
    """The smallest mean square of the distance from an angle, with a bounded torque, brings the bar there."""
    best = optimal_control(
        bar,
        TIMES,
        guess(lambda t: 0.1 + 0.0 * t),
        cost=MeanSquare(ANGLE, target=0.2),
        bounds={"motor": (-10.0, 10.0)},
        tolerance=1e-5,
    )
    assert best.cost < 0.1 * 0.2**2


def test_a_limit_may_have_any_name():
    """One that is named as the cost is in the search does not take its place."""
    of = {"cost": MeanSquare(ANGLE, target=0.2), "effort": {"motor": 1e-2}, "ends": {"rate": (RATE, 0.0)}}
    plain, named = (
        optimal_control(bar, TIMES, guess(), limits={name: (Last(ANGLE), None, 0.1)}, **of)
        for name in ("last", "the cost")
    )
    assert named.cost == plain.cost and named.values["the cost"] == plain.values["last"]


def test_what_cannot_be_optimised_is_said():
    with pytest.raises(ValueError, match="cost or effort must be given"):
        optimal_control(bar, TIMES, guess(), ends=REST)
    with pytest.raises(ValueError, match="ends, limits or cost must be given"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0})
    with pytest.raises(ValueError, match=r"inputs\['motor'\] must cover 0.0 to 1.0 s"):
        optimal_control(bar, TIMES, {"motor": ([0.0, 0.5], [0.0, 0.0])}, effort={"motor": 1.0}, ends=REST)
    with pytest.raises(ValueError, match=r"inputs\['motor'\] must be a table"):
        optimal_control(bar, TIMES, {"motor": 1.0}, effort={"motor": 1.0}, ends=REST)
    with pytest.raises(ValueError, match="no input 'brake'"):
        optimal_control(bar, TIMES, guess(), effort={"brake": 1.0}, ends=REST)
    with pytest.raises(ValueError, match="component must be below 1"):
        optimal_control(bar, TIMES, guess(), cost=Last(ANGLE, 1))
    with pytest.raises(ValueError, match=r"bounds\['motor'\] must have the lower value first, got 1 and -1"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds={"motor": (1.0, -1.0)})
    with pytest.raises(ValueError, match=r"limits\['angle'\] must have the lower value first"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, limits={"angle": (Last(ANGLE), 2.0, 1.0)})
    with pytest.raises(ValueError, match=r"effort\['motor'\] must not be negative"):
        optimal_control(bar, TIMES, guess(), effort={"motor": -1.0}, ends=REST)
    with pytest.raises(ValueError, match=r"ends\['tip'\] must have 2 values for position of bar.tip, got 1"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends={"tip": (position("bar.tip"), 0.5)})
    with pytest.raises(ArithmeticError, match=r"did not converge.*largest relative violation"):
        optimal_control(bar, TIMES, guess(), effort={"motor": 1.0}, ends=REST, bounds={"motor": (-0.01, 0.01)}, most=4)
