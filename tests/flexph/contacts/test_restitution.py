"""Damping by a coefficient of restitution: the measured one is the given one."""

import math

import numpy as np
import pytest
from contact_samples import dropped

from flexph import integrate
from flexph.contacts import Hertz, KelvinVoigt, restitution_damping, restitution_loss

FORMULAS = ["hunt_crossley", "lankarani_nikravesh", "herbert_mcwhannell", "flores"]


def rebound(law, speed, steps=1600):
    """Velocity after a head-on impact without weight, over that before."""
    mechanism, start = dropped(law, speed=speed)
    length = (0.1 + 1.5e-2) / speed if law.stiffness < 1e6 else 1.2e-2 / speed**0.2
    run = integrate(mechanism, start, np.linspace(0.0, length, steps + 1))
    assert run["ball.velocity"][-1, 1] == run["ball.velocity"][-2, 1]  # it has left
    return run["ball.velocity"][-1, 1] / speed


@pytest.mark.parametrize("e, speed", [(0.95, 1.0), (0.6, 2.0), (0.2, 0.5)])
def test_hertz_with_the_loss_of_a_restitution_has_it(e, speed):
    assert rebound(Hertz(1e7, restitution=e, speed=speed), speed) == pytest.approx(e, abs=2e-6)  # of second order


@pytest.mark.parametrize("e", [0.95, 0.6, 0.2, 0.05])
@pytest.mark.parametrize("speed", [1.5, 3.0])
def test_springs_with_the_damping_of_a_restitution_have_it_at_every_speed(e, speed):
    law = KelvinVoigt(1e5, restitution=e, mass=1.0)
    assert rebound(law, speed) == pytest.approx(e, abs=5e-5)  # of second order


def test_the_loss_solves_the_relation_of_its_law_and_scales_with_the_speed():
    for e in np.linspace(0.05, 0.9999, 40).tolist():
        y = 2.5 * restitution_loss(e, 2.5)
        left, right = y - math.log1p(y), -e * y - math.log1p(-e * y)
        assert left == pytest.approx(right, rel=1e-9)
        assert restitution_loss(e, 1.0) == pytest.approx(y, rel=1e-12)
    assert restitution_loss(0.74843493, 1.0) == pytest.approx(0.5, rel=1e-7)
    assert restitution_loss(1.0, 1.0) == 0.0
    assert restitution_damping(1.0, 1e5, 1.0) == 0.0


@pytest.mark.parametrize("formula", FORMULAS)
def test_published_formulas_agree_where_nothing_is_lost(formula):
    """To first order in 1 − e; that of Flores and others has 8/5 in place of 3/2."""
    ratio = restitution_loss(0.999, 1.0, formula=formula) / restitution_loss(0.999, 1.0)
    assert ratio == pytest.approx(16.0 / 15.0 if formula == "flores" else 1.0, abs=3e-3)


def test_the_damping_is_the_closed_form_below_and_above_critical_damping():
    """e = exp(−2 arccos(ζ) ζ/√(1 − ζ²)): at ζ = ½ exp(−2π/3√3), at 1 exp(−2), at 2 exp(−4 arcosh(2)/√3)."""
    k, m = 3e4, 2.0
    for ratio, e in ((0.5, math.exp(-2.0 * math.pi / 3.0 / math.sqrt(3.0))), (1.0, math.exp(-2.0))):
        assert restitution_damping(e, k, m) == pytest.approx(2.0 * ratio * math.sqrt(k * m), rel=1e-6)
    assert restitution_damping(math.exp(-4.0 * math.acosh(2.0) / math.sqrt(3.0)), k, m) == pytest.approx(
        4.0 * math.sqrt(k * m), rel=1e-9
    )


def test_what_a_restitution_cannot_be():
    for e in (-0.1, 0.0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="restitution"):
            restitution_loss(e, 1.0)
        with pytest.raises(ValueError, match="restitution"):
            KelvinVoigt(1e5, restitution=e, mass=1.0)
    with pytest.raises(ValueError, match="speed"):
        restitution_loss(0.5, 0.0)
    with pytest.raises(ValueError, match="mass"):
        restitution_damping(0.5, 1e5, -1.0)
    with pytest.raises(ValueError, match="formula"):
        restitution_loss(0.5, 1.0, formula="mine")
    with pytest.raises(ValueError, match="must both be given"):
        Hertz(1e7, restitution=0.5)
    with pytest.raises(ValueError, match="either loss"):
        Hertz(1e7, restitution=0.5, speed=1.0, loss=0.1)
