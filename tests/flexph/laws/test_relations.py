"""Resistive relations: s ρ(s) >= 0, slopes, and what is refused."""

import numpy as np
import pytest

from flexph.laws import coulomb, quadratic, resistive, viscous

RELATIONS = [
    viscous(3.0),
    quadratic(0.5),
    coulomb(2.0, speed=1e-2, static=3.0, stribeck=0.05, viscous=0.1),
    resistive(lambda s: s**3 + np.sin(s) * s**2 + 2.0 * s),
]
RATES = np.concatenate([-np.logspace(1, -5, 25), np.logspace(-5, 1, 25)])


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.kind)
def test_dissipates_and_its_slope_is_its_derivative(relation):
    force = relation.force(RATES)
    assert np.all(RATES * force >= 0.0)
    assert relation.force(0.0) == 0.0
    step = 1e-6 * np.maximum(np.abs(RATES), 1e-2)
    numeric = (relation.force(RATES + step) - relation.force(RATES - step)) / (2.0 * step)
    # central differences with these steps: round-off 1e-16 / 1e-8 of the force, truncation below that
    np.testing.assert_allclose(relation.slope(RATES), numeric, rtol=1e-6, atol=1e-6 * np.abs(numeric).max())


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.kind)
def test_resistance_is_force_over_rate(relation):
    np.testing.assert_allclose(relation.resistance(RATES) * RATES, relation.force(RATES), rtol=1e-13, atol=0.0)
    assert relation.resistance(0.0) == pytest.approx(float(relation.force(1e-9)) / 1e-9, rel=1e-5, abs=1e-8)


def test_a_derivative_is_used():
    given = resistive(lambda s: s**3, lambda s: 3.0 * s**2)
    np.testing.assert_allclose(given.slope(RATES), 3.0 * RATES**2, rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: viscous(-1.0), "coefficient must not be negative|coefficient"),
        (lambda: coulomb(1.0, speed=0.0), "speed must be"),
        (lambda: resistive(None), "must be a function, got None"),
        (lambda: resistive(lambda s: s, 1.0), r"must be a function, got 1\.0"),
        (lambda: resistive(lambda s: -s), "must not generate energy"),
        (lambda: resistive(lambda s: s + 1.0), "must not generate energy"),
        (lambda: resistive(lambda s: np.nan), "must be finite"),
    ],
)
def test_refuses_what_generates_energy(make, message):
    with pytest.raises(ValueError, match=message):
        make()
