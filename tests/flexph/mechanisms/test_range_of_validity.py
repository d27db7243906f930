"""The look at all frames of a mechanism at once says nothing where the looks at each of them say something."""

import numpy as np
import pytest
from sample_mechanisms import crank_slider

from flexph.mechanisms.model import range_of_validity as validity
from flexph.mechanisms.model.range_of_validity import held_sections


@pytest.mark.parametrize("stressed", [False, True])
@pytest.mark.parametrize("size", 10.0 ** np.arange(-5.0, 1.0))
def test_straight_frames_raise_no_doubts(size, stressed):
    mechanism = crank_slider("linear")[0]
    held, times = held_sections(mechanism.bodies, mechanism.connections), np.arange(4.0)
    states = size * np.random.default_rng(5).standard_normal((4, mechanism.layout.size))
    if stressed:  # from far below the buckling load of the rod to far above
        states[:, mechanism.layout.parts["rod.stress"]] *= 1e4
    looks = (
        validity._deflection(mechanism, "rod", times, states, held),
        validity._frames(mechanism, "rod", times, states),
    )
    assert mechanism.once(validity._Frames).are_straight(states) <= (not any(looks))
    assert mechanism.once(validity._Frames).are_straight(0.0 * states)
