"""The iteration of a step where stiff dry friction turns over within it."""

import numpy as np
import pytest

from flexph import PHDAE, integrate
from flexph.discretisation.newton import Newton, StepEquations
from flexph.numerics.step_failed import StepFailed

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("speed", [1e-3, 1e-6])
def test_many_frictions_that_turn_over_together_are_found_by_the_search_alone(speed):
    """``M v + F tanh(v/s) = b`` with M symmetric and positive has one solution; half of these stick."""
    rng = np.random.default_rng(1)
    half = rng.standard_normal((6, 6))
    mass, force, b = half @ half.T + np.eye(6), rng.uniform(1.0, 3.0, 6), 4.0 * rng.standard_normal(6)

    def residual(v):
        return mass @ v + force * np.tanh(v / speed) - b

    equations = StepEquations(lambda v, part: (residual(v), None))
    found = Newton().stiff_root(equations, np.linalg.solve(mass, b), np.ones(6)).x
    # an error of v by the round-off of one unknown, 1e-15, is that over the speed in the force
    assert np.abs(residual(found)).max() < 1e-14 * (1.0 + force.max() / speed)
    assert 0 < np.count_nonzero(np.abs(found) < 10.0 * speed) < 6
    with pytest.raises(StepFailed):
        Newton().solve(equations, np.linalg.solve(mass, b), np.ones(6))


def block(speed):
    """2 kg with friction of 5 N that is 8 N at rest, x = (q, p)."""

    def friction(v):
        return np.tanh(v / speed) * (5.0 + 3.0 * np.exp(-((v / 0.1) ** 2)))

    def R(x):
        v = 0.5 * x[1]
        return np.array([[0.0, 0.0], [0.0, 8.0 / speed if v == 0.0 else friction(v) / v]])

    return PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=R,
        z=lambda x: np.array([0.0, 0.5 * x[1]]),
        H=lambda x: 0.25 * x[1] ** 2,
        sample=np.array([0.0, 1.0]),
    )


@pytest.mark.parametrize("speed", [1e-3, 1e-4, 1e-6])
def test_a_block_comes_to_rest_within_a_step(speed):
    """It slides for 1.2 s and 1.8 m, less what 8 N in place of 5 N takes of the last 0.1 m/s."""
    found = integrate(block(speed), (0.0, 6.0), np.linspace(0.0, 2.0, 21), progress=False)
    below = np.linspace(0.0, 0.1, 1001)
    lost = np.trapezoid(2.0 * below * (1.0 / 5.0 - 1.0 / (5.0 + 3.0 * np.exp(-((below / 0.1) ** 2)))), below)
    # the step of 0.1 s with the stop in it meets neither its time nor what happens in the last 0.25 m/s
    assert found.final[0] == pytest.approx(1.8 - lost, abs=0.1 * 0.25 / 4)
    assert found.energy_drift() < 1e-14
    assert np.all(np.diff(found.ledger.total_energy) <= 0.0)
