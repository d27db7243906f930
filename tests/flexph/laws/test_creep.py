"""Laws of creep: closed forms, passivity, slopes, and bad input."""

import math

import numpy as np
import pytest

from flexph.laws import creep, magic_formula
from flexph.laws.creep_laws import CreepLaw

LAWS = {
    "linear": creep(longitudinal=3e4, lateral=2e4),
    "cubic": creep(longitudinal=3e4, lateral=2e4, limit=500.0),
    "hyperbolic": creep(longitudinal=3e4, lateral=2e4, limit=500.0, saturation="hyperbolic"),
    "magic": magic_formula(longitudinal=3e4, lateral=2e4, limit=500.0, shape=1.7, curvature=-2.0),
    "spin": creep(longitudinal=3e4, lateral=2e4, limit=500.0, lateral_spin=40.0, spin=0.3),
    "peaked": magic_formula(longitudinal=3e4, limit=500.0, shape=2.0, curvature=1.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_no_slip_gains_energy_and_none_exceeds_friction(law):
    rng = np.random.default_rng(3)
    for _ in range(400):
        size, speed = 3 if law.spins else 2, rng.normal() * 10.0 ** rng.uniform(-5, 2)
        slip = rng.normal(size=size) * 10.0 ** rng.uniform(-6, 2)
        force = law.force(slip, speed)
        assert force @ slip <= 0.0
        assert np.linalg.norm(force[:2]) <= law.parameters[2] * (1.0 + 1e-15)
        np.testing.assert_array_equal(law.force(-slip, -speed), -force)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_slopes_are_those_of_differences(law):
    rng = np.random.default_rng(4)
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        size = 3 if law.spins else 2
        slip, speed = scale * rng.normal(size=size), 10.0 + rng.normal()
        at, step = np.append(slip, speed), 1e-5 * np.array([*[scale] * size, 1.0])
        rows = [law.force((at + e)[:-1], (at + e)[-1]) - law.force((at - e)[:-1], (at - e)[-1]) for e in np.diag(step)]
        slopes = law.slopes(slip, speed)
        expected = np.array(rows).T / (2.0 * step)
        np.testing.assert_allclose(slopes, expected, atol=1e-7 * np.abs(slopes).max())  # second order


def test_small_slips_are_linear_and_large_ones_slide():
    for law in LAWS.values():
        expected = law.parameters[1] * 1e-7
        assert -law.force(np.array([0.0, 1e-6]), 10.0)[1] == pytest.approx(expected, rel=1e-5)  # x = 6e-6
    # the brush slides once the slip is three times the limit: x = c σ/μN
    slides = 10.0 * 3.0 * 500.0 / 3e4
    assert LAWS["cubic"].force(np.array([slides, 0.0]), 10.0)[0] == pytest.approx(-500.0, rel=1e-14)
    assert LAWS["cubic"].force(np.array([0.5 * slides, 0.0]), 10.0)[0] == pytest.approx(-500.0 * 7 / 8, rel=1e-14)
    assert LAWS["hyperbolic"].force(np.array([slides, 0.0]), 10.0)[0] == pytest.approx(-500.0 * 3 / 4, rel=1e-14)


def test_the_magic_formula_has_its_slope_and_its_peak():
    law = magic_formula(longitudinal=3e4, limit=500.0, shape=1.5)
    x = 1.5 * math.tan(math.pi / 3.0)  # C atan(x/C) = π/2
    assert law.force(np.array([x * 500.0 / 3e4 * 10.0, 0.0]), 10.0)[0] == pytest.approx(-500.0, rel=1e-14)
    series, formula = law.ratio(0.99e-4), law.ratio(1.01e-4)
    assert series[0] == pytest.approx(formula[0], abs=1e-9)
    assert series[1] / 0.99e-4 == pytest.approx(formula[1] / 1.01e-4, rel=1e-3)


def test_below_the_least_speed_slips_are_resisted_as_at_this_speed():
    law = creep(longitudinal=100.0, limit=500.0, least_speed=0.2)
    slip = np.array([0.1, 0.0])
    for speed in (0.0, 0.1, -0.2):
        np.testing.assert_array_equal(law.force(slip, speed), law.force(slip, 0.2))
        assert law.slopes(slip, speed)[0, 2] == 0.0


def test_spin_is_that_of_kalker():
    """F₂ = −f₂ξ₂ − f₂₃φ and M = f₂₃ξ₂ − f₃₃φ; the terms of f₂₃ do no work, in saturation neither."""
    law = creep(longitudinal=3e4, lateral=2e4, lateral_spin=40.0, spin=0.3)
    creepage, turned = 0.001, 0.02
    force = law.force(10.0 * np.array([0.0, creepage, turned]), 10.0)
    np.testing.assert_allclose(
        force, [0.0, -2e4 * creepage - 40.0 * turned, 40.0 * creepage - 0.3 * turned], rtol=1e-14
    )
    skew = creep(longitudinal=0.0, lateral=0.0, limit=2.0, lateral_spin=40.0)
    slip = np.array([0.3, 0.7, -0.4])
    force = skew.force(slip, 5.0)
    assert force @ slip == pytest.approx(0.0, abs=1e-14)
    assert 1.0 < abs(force[1]) <= 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: creep(longitudinal=1.0, spin=-1.0), "spin must not be negative"),
        (lambda: creep(longitudinal=1.0, lateral_spin=-1.0), "lateral_spin must not be negative"),
        (lambda: creep(longitudinal=-1.0), "longitudinal must not be negative"),
        (lambda: creep(longitudinal=1.0, limit=0.0), "limit must be positive"),
        (lambda: creep(longitudinal=1.0, saturation="linear"), "saturation must be"),
        (lambda: creep(longitudinal=1.0, least_speed=0.0), "least_speed must be positive"),
        (lambda: magic_formula(longitudinal=1.0, limit=1.0, shape=2.5), "shape must be above 0 and at most 2, got 2.5"),
        (lambda: magic_formula(longitudinal=1.0, limit=1.0, curvature=1.5), "curvature must be at most 1, got 1.5"),
        (lambda: CreepLaw("linear", (1.0,)), "a CreepLaw has a kind of"),
    ],
)
def test_bad_laws_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
