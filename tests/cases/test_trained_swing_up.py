"""The gradient of the training through its feedback is that of differences of controlled runs."""

import numpy as np
import pytest

from cases import trained_swing_up
from flexph.numerics.loops.built import are_compiled


@pytest.mark.skipif(not are_compiled(), reason="gradients need compiled loops")
def test_the_gradient_of_the_weights_is_that_of_differences():
    training = trained_swing_up.Training(10, 2)
    w = trained_swing_up.first_weights(4)
    value, gradient = training(w)

    def cost(weights):
        run = trained_swing_up.controlled(trained_swing_up.Network.of(weights), training.times)
        angles, torques = run.measured(trained_swing_up.ANGLE)[::2], run.controls["motor"][::2, 0]
        return trained_swing_up.cost(angles, torques)[0]

    assert value == pytest.approx(cost(w), rel=1e-9)  # the run with the torques as a table is that with the controller
    along = np.random.default_rng(5).standard_normal(w.size)
    step = 1e-5
    slope = (cost(w + step * along) - cost(w - step * along)) / (2.0 * step)  # the error is of the order of step²
    assert gradient @ along == pytest.approx(slope, rel=1e-6)
