"""Steep laws of friction by which a mass comes to rest: steps are solved, the energy balances, and the way is known."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, IntegrationError, connect, force, integrate, slider, spring_damper
from flexph.laws import bouc_wen, bristle, force_law
from flexph.methods import Decaying, Exact

FRICTION = 5.0
METHODS = {"exact": Exact(), "decaying": Decaying(radius=0.5)}


def thrown(law, method, pull=0.0):
    """Run of a mass of 1 kg thrown with 1 m/s against a law, and pulled on."""
    ground = GROUND.at(0.0, 0.0)
    mechanism = connect(
        {"mass": rigid.point(1.0)},
        [
            slider("mass.point", ground, turning=True),
            spring_damper("mass.point", ground, law=law, direction=(1.0, 0.0), length=0.0),
            force("mass.point", name="pull"),
        ],
    )
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"mass": (1.0, 0.0)})
    return integrate(mechanism, start, np.linspace(0.0, 1.0, 1001), method=method, inputs={"pull": (pull, 0.0)})


@pytest.mark.covering(2)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("pull", [0.0, 3.0])
@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("kind", ["bristle", "damped bristle", "falling bristle", "bouc-wen", "sharp bouc-wen"])
def test_a_stiff_law_stops_a_mass(kind, stiffness, pull, method):
    """After v²/2a with a = (F − pull)/m, but for the elastic give F/k; what stops stays."""
    law = {
        "bristle": bristle(FRICTION, stiffness=stiffness),
        "damped bristle": bristle(FRICTION, stiffness=stiffness, damping=stiffness**0.5),
        "falling bristle": bristle(FRICTION, stiffness=stiffness, static=8.0, stribeck=1e-2),
        "bouc-wen": bouc_wen(stiffness, yield_force=FRICTION),
        "sharp bouc-wen": bouc_wen(stiffness, yield_force=FRICTION, exponent=5.0),
    }[kind]
    run = thrown(law, method, pull)
    assert run.ledger.largest_residual <= 1e-14
    if stiffness >= 1e6:
        way = 0.5 / (FRICTION - pull)
        assert run.position("mass.point")[-1, 0] == pytest.approx(way, abs=2e-3 + 20.0 * FRICTION / stiffness)
        assert abs(run.position("mass.point")[-1, 0] - run.position("mass.point")[-50, 0]) <= 1e-3


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_steep_force_of_the_rate_stops_a_mass(width, method):
    """F tanh(v/w) creeps at w artanh(pull/F)."""
    run = thrown(force_law(lambda x, v, t: FRICTION * np.tanh(v / width)), method, 3.0)
    assert run.ledger.largest_residual <= 1e-14
    ends = run.position("mass.point")[[-11, -1], 0]
    assert np.diff(ends)[0] / 0.01 == pytest.approx(width * np.arctanh(0.6), rel=1e-3)


def test_a_force_that_jumps_is_named():
    with pytest.raises(IntegrationError, match=r"force_law\(.*\).*spring mass.point.* jumps.*-5.*5.*rate"):
        thrown(force_law(lambda x, v, t: FRICTION * np.sign(v)), Exact(), 3.0)
