"""Derivatives of Floquet multipliers: Mathieu's equation, motions that follow the parameters, repeated multipliers.

The slow tests take half a minute, as each step of a period is linearised at several values of a parameter.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, connect, drive, force, hinge, integrate, spring_damper
from flexph.analysis import floquet
from flexph.joints import cartesian_spring_damper
from flexph.laws import polynomial
from flexph.methods import Exact, ExactGauss
from flexph.studies import multiplier_sensitivities


def shaken(frequency, amplitude, length):
    """A rod that hangs from a pivot which goes up and down, with the period of the pivot."""
    pivot = drive("rod.root", position=lambda t: (0.0, amplitude * math.cos(frequency * t)))
    mechanism = connect({"rod": rigid.bar(length, 1.0)}, [pivot], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"rod": -math.pi / 2}))
    return mechanism, start, 2.0 * math.pi / frequency


def trace(frequency, amplitude, length):
    """Trace of the monodromy matrix of Mathieu's equation, also of complex parameters."""
    size = 2.0 * length / 3.0
    period = 2.0 * np.pi / frequency

    def rates(s, y):
        return [
            period * y[1],
            -period * (9.81 - amplitude * frequency**2 * np.cos(2.0 * np.pi * s)) / size * y[0],
        ]

    starts = np.eye(2, dtype=complex)
    ends = [solve_ivp(rates, (0.0, 1.0), y, rtol=1e-13, atol=1e-15, method="DOP853").y[:, -1] for y in starts]
    return ends[0][0] + ends[1][1]


@pytest.mark.parametrize(
    ("names", "per_period", "accuracy"),
    [(("amplitude",), 10, 2e-5), pytest.param(("frequency", "amplitude", "length"), 64, 1e-8, marks=pytest.mark.slow)],
)
def test_multipliers_of_mathieus_equation(names, per_period, accuracy):
    """μ² − tr μ + 1 = 0, so that dμ = μ dtr/(2μ − tr); with few steps off by their error, of sixth order."""
    at = {"frequency": 9.0, "amplitude": 0.1, "length": 1.0}
    own = {name: at[name] for name in names}
    fixed = {name: value for name, value in at.items() if name not in names}
    found = multiplier_sensitivities(lambda **given: shaken(**given, **fixed), own, 2, per_period=per_period)
    whole = trace(**at)
    assert abs(found.multipliers[0]) > 1.2  # in the first band of growth
    assert found.multipliers.sum() == pytest.approx(whole, abs=accuracy)
    for name in names:
        slope = trace(**{**at, name: at[name] + 1e-20j}).imag / 1e-20
        expected = slope * found.multipliers / (2.0 * found.multipliers - whole)
        assert at[name] * np.abs(found.derivatives[name] - expected).max() < accuracy
    if "frequency" in names:  # the period changes, too
        growths = [
            floquet(*shaken(9.0 + by, 0.1, 1.0)[:2], period=2.0 * np.pi / (9.0 + by)).growth for by in (-1e-4, 1e-4)
        ]
        # the curvature of the band takes 2e-8 of the difference, round-off of the exponents, 1e-12, 1e-8
        assert found.growth["frequency"][0] == pytest.approx((growths[1] - growths[0]) / 2e-4, abs=1e-7)


def swaying(cubic, pace=3.0):
    """A mass on a bent spring under a force; the state is near its periodic motion only."""
    line = {"direction": (1.0, 0.0), "length": 0.0, "name": "spring"}
    parts = [
        spring_damper("mass.point", GROUND.at(0.0, 0.0), law=polynomial(2.0, 0.0, cubic), damping=0.4, **line),
        spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=1.0, damping=0.5, direction=(0.0, 1.0), length=0.0),
        force("mass.point", name="push"),
    ]
    mechanism = connect({"mass": rigid.point(1.0)}, parts)
    start = mechanism.consistent_state(mechanism.assemble({"mass": (-0.6, 0.0, 0.0)}))
    return mechanism, start, 2.0 * math.pi / pace, {"push": lambda t: (4.0 * math.cos(pace * t), 0.0)}


def settled(cubic, steps):
    """Multipliers of the periodic motion that a long run comes to, by another route."""
    mechanism, start, period, inputs = swaying(cubic)
    count = 30
    times = np.linspace(0.0, count * period, count * steps + 1)
    run = integrate(mechanism, start, times, method=Exact(), inputs=inputs, progress=False)
    again = replace(run.final, memory=np.zeros((0, 0)))
    return floquet(mechanism, again, period=period, steps=steps, inputs=inputs, method=Exact()).multipliers


@pytest.mark.slow
def test_the_periodic_motion_follows_the_parameter():
    """Against differences of multipliers of settled runs, of which 1e-6 is left by the damping."""
    found = multiplier_sensitivities(swaying, {"cubic": 1.0}, 4, per_period=16, method=Exact())
    step = 0.02
    ends = [settled(1.0 + by * step, 16) for by in (-1, 0, 1)]
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(ends[1]), atol=1e-5)
    traces = [np.sum(own).real for own in ends]
    assert np.sum(found.derivatives["cubic"]).real == pytest.approx((traces[2] - traces[0]) / (2.0 * step), rel=2e-2)


def test_repeated_multipliers_part_as_the_form_on_their_eigenvectors_says():
    """Two equal directions of a mass on springs, one of which becomes stiffer: e^{λT} with λ² + d λ + k = 0."""

    def mass(stiffness):
        held = cartesian_spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=(stiffness, 4.0), damping=0.2)
        mechanism = connect({"mass": rigid.point(1.0)}, [held])
        return mechanism, mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.0, 0.0)})), 0.5

    found = multiplier_sensitivities(mass, {"stiffness": 4.0}, 4, per_period=6, method=ExactGauss())
    root = -0.1 + 1j * math.sqrt(4.0 - 0.01)
    np.testing.assert_allclose(found.multipliers[:2], np.exp(0.5 * root), atol=1e-10)
    expected = 0.5 * np.exp(0.5 * root) * -1.0 / (2.0 * root + 0.2)
    own = found.derivatives["stiffness"][:2]
    np.testing.assert_allclose(own[np.argsort(np.abs(own))], [0.0, expected], atol=1e-7)


def test_what_has_no_derivative_is_said():
    def swinging(length):
        mechanism = connect({"rod": rigid.bar(length, 1.0)}, [hinge("rod.root", GROUND)], gravity=(0.0, -9.81))
        start = mechanism.consistent_state(mechanism.assemble({"rod": -0.5}))
        return mechanism, start, 1.5

    with pytest.raises(ArithmeticError, match=r"no periodic motion of 1\.5 s was found"):
        multiplier_sensitivities(swinging, {"length": 1.0}, 1, per_period=8)
    with pytest.raises(ValueError, match="motion must return a mechanism, a state and a period"):
        multiplier_sensitivities(lambda length: swinging(length)[:2], {"length": 1.0}, 1)
    with pytest.raises(ValueError, match="count must be at most 2"):
        multiplier_sensitivities(
            shaken,
            {"frequency": 9.0, "amplitude": 0.0, "length": 1.0},
            3,
            per_period=4,
            steps={"frequency": 1e-3, "amplitude": 1e-3, "length": 1e-3},
        )
