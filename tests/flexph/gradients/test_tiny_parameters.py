"""Derivatives by parameters that are added to something much larger, and lose digits in small steps."""

import numpy as np
import pytest

import rigid
from cases import identify
from flexph import GROUND, ValidityWarning, connect, hinge
from flexph.gradients import Last, forward_sensitivities, gradient
from flexph.gradients.parameters import origin_of, step_of, stepped
from flexph.gradients.runs.problems import problem_of
from flexph.sensors import position

TIMES = np.linspace(0.0, 0.2, 21)
TIP = Last(position("b.tip"), 1)


def links(length=0.5, mass=2.0, offset=0.0):
    """Two bars, the first of which is longer by an offset."""
    bodies = {"a": rigid.bar(length + offset, mass), "b": rigid.bar(0.3, 1.0)}
    mechanism = connect(bodies, [hinge("a.root", GROUND), hinge("a.tip", "b.root")], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"a": (0.0, 0.0, 0.0)}, guess={"b": 0.0}))


@pytest.mark.parametrize("offset", [1e-10, -1e-12, 1e-15])
def test_an_offset_has_the_derivative_of_the_length(offset):
    """Beside other parameters, by itself, and carried forward."""
    expected = gradient(links, {"length": 0.5}, TIMES, TIP).by["length"]
    for others in ({"length": 0.5, "mass": 2.0}, {}):
        found = gradient(links, {**others, "offset": offset}, TIMES, TIP).by
        assert found["offset"] == pytest.approx(expected, rel=1e-8)
    forward = forward_sensitivities(links, {"offset": offset}, TIMES, {"tip": position("b.tip")}).by["tip"]
    assert forward["offset"][-1, 1] == pytest.approx(expected, rel=1e-8)


def test_larger_steps_that_are_not_smooth_or_fail_are_told():
    def bent(length, mass, offset):
        return links(length, mass, abs(offset))

    def positive(length, mass, offset):
        if offset <= 0.0:
            raise ValueError("offset must be positive")
        return links(length, mass, offset)

    parameters = {"length": 0.5, "mass": 2.0, "offset": 1e-10}
    with pytest.raises(ValueError, match=r"parameter 'offset' does not change .* smoothly"):
        gradient(bent, parameters, TIMES, TIP)
    with pytest.warns(ValidityWarning, match="of the parameter 'offset' change the numbers of the run by"):
        gradient(positive, parameters, TIMES, TIP)


@pytest.mark.filterwarnings("error::flexph.ValidityWarning")
def test_steps_of_a_mass_beside_large_stiffnesses_are_not_enlarged():
    """A mass of 0.033 kg is compared with other masses, not with stiffnesses that have 1e10 times its number."""
    problem = problem_of(identify.crank_slider, identify.TRUTH, TIMES)
    assert problem.memory.constants.reals.max() > 1e10 * identify.TRUTH["load"]
    origin = origin_of(identify.crank_slider, identify.TRUTH, TIMES, problem, {})
    for name, value in origin.parameters.items():
        assert stepped(origin, name, step_of(value))[0] == step_of(value)
