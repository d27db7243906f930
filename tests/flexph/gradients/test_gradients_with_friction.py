"""Gradients of runs with dry friction of joints: closed forms, differences of runs, and joints that stick."""

from functools import partial

import numpy as np
import pytest
from gradient_samples import along, direction_of, spinning, thrown

import rigid
from flexph import GROUND, connect, force, slider
from flexph.gradients import Increase, Last, forward_sensitivities, gradient
from flexph.joints import CoulombFriction
from flexph.methods import Exact4
from flexph.sensors import energy, position

AGREEMENT = 1e-8
"""Of p dΦ/dp, relative to the largest: what sixth-order differences of runs know."""
CASES = {
    "thrown": (
        thrown,
        {"coefficient": 0.3, "length": 0.4, "density": 7850.0, "speed": 3.0, "radius": 0.01},
        Last(position("rod.tip"), 0),
        np.linspace(0.0, 0.15, 61),
    ),
    "spinning": (
        spinning,
        {"coefficient": 0.1, "radius": 0.02, "offset": 0.05, "spin": 30.0, "stiffness": 40.0},
        Last(position("shaft.eye"), 2),
        np.linspace(0.0, 0.1, 41),
    ),
}


@pytest.mark.parametrize("make, parameters, functional, times", CASES.values(), ids=CASES)
def test_gradients_with_friction_are_the_differences_of_runs(make, parameters, functional, times):
    direction = direction_of(parameters)
    found = gradient(make, parameters, times, functional)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    total = sum(found.by[name] * change for name, change in direction.items())
    assert total == pytest.approx(along(make, parameters, direction, functional, times), abs=AGREEMENT * size)
    assert found.defect <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("make, parameters, functional, times", CASES.values(), ids=CASES)
def test_gradients_with_friction_are_those_of_each_parameter(make, parameters, functional, times):
    found = gradient(make, parameters, times, functional)
    size = max(abs(value * found.by[name]) for name, value in parameters.items())
    for name, value in parameters.items():
        expected = along(make, parameters, {name: value}, functional, times)
        assert value * found.by[name] == pytest.approx(expected, abs=AGREEMENT * size)


def test_derivatives_forward_and_back_agree():
    """Two routes: the tangent of each step, and its adjoint."""
    make, parameters, functional, times = CASES["spinning"]
    back = gradient(make, parameters, times, functional)
    along_run = forward_sensitivities(make, parameters, times, {"eye": functional.quantity})
    size = max(abs(value * back.by[name]) for name, value in parameters.items())
    for name, value in parameters.items():
        assert value * along_run.by["eye"][name][-1, 2] == pytest.approx(value * back.by[name], abs=1e-9 * size)


def braked(coefficient=0.3, speed=2.0, push=0.0, *, ends=(0.0, 1.0)):
    """A block on a rail under its weight and a force along it."""
    block = rigid.body(2.0, inertia=0.01, ports={"point": (0.0, 0.0)})
    rail = slider("block.point", GROUND.at(0.0, 0.0), friction=CoulombFriction(coefficient), name="rail")
    mechanism = connect({"block": block}, [rail, force("block.point", name="push")], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (speed, 0.0, 0.0)})
    return mechanism, start, {"push": (ends, [(0.0, 0.0), (push, 0.0)])}


def test_a_sliding_block_has_the_gradient_of_its_closed_form():
    """x = v t − ½ μ g t²; friction takes μ m g x, as the energy tells."""
    times, values = np.linspace(0.0, 0.5, 51), {"coefficient": 0.3, "speed": 2.0}
    found = gradient(braked, values, times, Last(position("block.point"), 0))
    assert found.by["speed"] == pytest.approx(0.5, rel=1e-9)
    assert found.by["coefficient"] == pytest.approx(-0.5 * 9.81 * 0.25, rel=1e-9)
    lost = gradient(braked, values, times, Increase(energy("total")))
    way, by_speed = 2.0 * 0.5 - 0.5 * 0.3 * 9.81 * 0.25, 0.5
    assert lost.value == pytest.approx(-0.3 * 2.0 * 9.81 * way, rel=1e-9)
    assert lost.by["speed"] == pytest.approx(-0.3 * 2.0 * 9.81 * by_speed, rel=1e-9)


def test_a_reversal_within_a_step_is_that_of_the_run_and_one_between_two_steps_is_refused():
    """The push turns the block, whose friction changes its sign; where it settles between steps, velocities jump."""
    x, times, values = Last(position("block.point"), 0), np.linspace(0.0, 0.4, 41), {"coefficient": 0.3}
    turned = partial(braked, push=-200.0)
    expected = along(turned, values, values, x, times, step=1e-4)
    assert 0.3 * gradient(turned, values, times, x).by["coefficient"] == pytest.approx(expected, rel=1e-8)
    with pytest.raises(ValueError, match=r"direction between two steps, as that of 'rail' does at 0.18 s"):
        gradient(partial(braked, push=-190.0), values, times, x)
    with pytest.raises(ValueError, match=r"stick, as 'rail' does in the step from 0.16 s"):
        gradient(partial(braked, push=-210.0), values, times, x)


def test_joints_that_stick_are_refused_with_their_times():
    """The block stops after v/(μ g) = 0.6796 s, within the step from 0.67 s."""
    x = Last(position("block.point"), 0)
    with pytest.raises(ValueError, match=r"joints that stick, as 'rail' does in the step from 0.67 s"):
        gradient(braked, {"coefficient": 0.3}, np.linspace(0.0, 0.8, 81), x)
    with pytest.raises(ValueError, match="stick, as 'rail'"):
        forward_sensitivities(braked, {"coefficient": 0.3}, np.linspace(0.0, 0.8, 81), {"x": x.quantity})
    with pytest.raises(ValueError, match=r"CoulombFriction of joints such as 'rail' needs method=Exact\(\)"):
        gradient(braked, {"coefficient": 0.3}, np.linspace(0.0, 0.1, 11), x, method=Exact4())
    with pytest.raises(ValueError, match="checkpoints=True does not support dry friction of joints"):
        gradient(braked, {"coefficient": 0.3}, np.linspace(0.0, 0.1, 11), x, checkpoints=True)
