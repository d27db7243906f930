"""Orders of all methods: differential and algebraic states of an index-1 and an index-2 system, by slope and bound."""

import math
from functools import cache

import numpy as np
import pytest
from descriptor_samples import damped_oscillator
from scipy.integrate import solve_ivp

from flexph import PHDAE, integrate
from flexph.integration.general.library import EXTRAS
from flexph.methods import DiscreteGradient, Gauss, by_name
from flexph.systems import Invariants, transform

PAIRS = ("gonzalez", "mean_value", "invariants", "dirac")


# --- index 1: an oscillator with a hardening spring on a damper whose force w follows from v = w + w³ -----------------


def damped():
    energy = Invariants(
        lambda x: x[:2] ** 2,
        lambda x: np.array([[2.0 * x[0], 0.0, 0.0], [0.0, 2.0 * x[1], 0.0]]),
        lambda p: 0.5 * p[0] + 0.25 * p[0] ** 2 + 0.5 * p[1],
        lambda p: np.array([0.5 + 0.5 * p[0], 0.5]),
    )
    return damped_oscillator(invariants=energy)


def force(v):
    """The real root w of w³ + w = v, by Cardano."""
    root = np.sqrt(0.25 * v * v + 1.0 / 27.0)
    return np.cbrt(0.5 * v + root) + np.cbrt(0.5 * v - root)


FIRST = (1.0, 0.5, force(0.5))


@cache
def damped_motion():
    rate = lambda t, y: [y[1], -y[0] - y[0] ** 3 - force(y[1])]  # noqa: E731
    return solve_ivp(rate, (0.0, 2.0), FIRST[:2], method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True).sol


# --- index 2: a bead on a parabola, by the velocity -------------------------------------------------------------------


GRAVITY = 2.0


def bead():
    """x = (q, v, λ) of a unit mass on q₂ = ½q₁² under V = g q₂ + ¼q₁⁴: q̇ = v, v̇ = −∇V − Gᵀλ, 0 = Gv, G = (−q₁, 1)."""

    def structure(x):
        made = np.zeros((5, 5))
        made[:2, 2:4], made[2:4, :2] = np.eye(2), -np.eye(2)
        made[4, 2:4] = -x[0], 1.0
        made[2:4, 4] = -made[4, 2:4]
        return made

    invariants = Invariants(
        lambda x: np.array([x[0] ** 2, x[1], x[2] ** 2 + x[3] ** 2]),
        lambda x: np.array([[2.0 * x[0], 0, 0, 0, 0], [0, 1.0, 0, 0, 0], [0, 0, 2.0 * x[2], 2.0 * x[3], 0]]),
        lambda p: 0.25 * p[0] ** 2 + GRAVITY * p[1] + 0.5 * p[2],
        lambda p: np.array([0.5 * p[0], GRAVITY, 0.5]),
    )
    return PHDAE(
        E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),
        J=structure,
        z=lambda x: np.array([x[0] ** 3, GRAVITY, x[2], x[3], x[4]]),
        H=lambda x: 0.25 * x[0] ** 4 + GRAVITY * x[1] + 0.5 * (x[2] ** 2 + x[3] ** 2),
        sample=np.array([0.5, 0.2, 1.0, 0.5, -0.3]),
        invariants=invariants,
    )


def along(q, s):
    """q̈₁ and λ on the parabola at q₁ and its rate: (1 + q²)q̈ = −q³ − q(s² + g), λ = −g − (s² + q q̈)."""
    a = -(q**3 + q * (s * s + GRAVITY)) / (1.0 + q * q)
    return a, -GRAVITY - (s * s + q * a)


def placed(y):
    """(q, v, λ) of (q₁, q̇₁)."""
    return np.array([y[0], 0.5 * y[0] ** 2, y[1], y[0] * y[1], along(*y)[1]])


@cache
def slid():
    rate = lambda t, y: [y[1], along(*y)[0]]  # noqa: E731
    return solve_ivp(rate, (0.0, 1.0), (0.7, 1.2), method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True).sol


# --- measuring --------------------------------------------------------------------------------------------------------


def slopes(errors_of, count):
    """log₂ of the ratios of errors by ``count`` and twice as many steps, and the latter errors."""
    coarse, fine = np.array(errors_of(count)), np.array(errors_of(2 * count))
    return np.log2(coarse / fine), fine


def errors_of_damped(method, count):
    """Largest errors of (q, v), and of w at the ends and in the middles of the steps."""
    found = integrate(damped(), FIRST, np.linspace(0.0, 2.0, count + 1), method=by_name(method), progress=False)
    exact, middles = damped_motion()(found.times[1:]), damped_motion()(found.output_times)
    w = found.states[1:, 2]
    gaps = (found.states[1:, :2].T - exact, w - force(exact[1]), w - force(middles[1]))
    return [np.abs(gap).max() for gap in gaps]


def errors_of_bead(method, count):
    """Largest errors of q, v, of λ in the middles, of its means over two steps where these meet, and at the ends."""
    found = integrate(
        bead(), placed((0.7, 1.2)), np.linspace(0.0, 1.0, count + 1), method=by_name(method), progress=False
    )
    exact, middles = (np.array([placed(y) for y in slid()(t).T]) for t in (found.times, found.output_times))
    multipliers = found.states[1:, 4]
    means = 0.5 * (multipliers[1:] + multipliers[:-1])
    gaps = (found.states - exact)[1:]
    others = multipliers - middles[:, 4], means - exact[1:-1, 4], gaps[:, 4]
    return [np.abs(gap).max() for gap in (gaps[:, :2], gaps[:, 2:4], *others)]


ROUND_OFF = 1e-12
"""Largest errors that say nothing about an order; NaN for slopes that are not asked for."""


def assert_slopes(found, expected, bounds):
    slope, errors = found
    for measured, error, order, bound in zip(slope, errors, expected, bounds, strict=True):
        if not math.isnan(order):
            assert measured == pytest.approx(order, abs=0.1)
        assert error < bound


# --- steps of given length --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*PAIRS, "midpoint"])
def test_methods_of_order_two_on_index_one(method):
    """[dg] proposition 1. w is the stage value of its step: of order 2 in the middle, where it is, 1 at the end."""
    bounds = (1e-3, 6e-2, 1.2e-3)
    assert_slopes(slopes(lambda n: errors_of_damped(method, n), 20), (2.0, 1.0, 2.0), bounds)


@pytest.mark.parametrize(
    ("method", "count", "orders", "bounds"),
    [("gauss4", 40, (4.0, 2.0), (1e-8, 4e-4)), ("gauss6", 40, (6.0, 3.0), (5e-12, 1.2e-5))],
)
def test_gauss_on_index_one(method, count, orders, bounds):
    """2s as on the equations without w, which is extrapolated from s stages to the end of the step: of order s."""
    slope, errors = slopes(lambda n: errors_of_damped(method, n)[:2], count)
    assert_slopes((slope, errors), orders, bounds)


@pytest.mark.parametrize("method", [*PAIRS, "midpoint"])
def test_methods_of_order_two_on_index_two(method):
    """q and v of order 2. Each step reflects the defect of Gv that the one before has left, e₁ = −e₀ + c h²:

    the λ of a step is off by ±c(0) h/2 in turn, of order 1, unless the start has c = 0 (four particles at rest but
    one); means over two steps are of order 2.
    """
    found = slopes(lambda n: errors_of_bead(method, n), 40)
    assert_slopes(found, (2.0, 2.0, 1.0, 2.0, 1.0), (2e-5, 1.3e-4, 1e-2, 4e-4, 5e-2))


@pytest.mark.parametrize(
    ("method", "count", "orders", "bounds"),
    [
        ("gauss4", 20, (4.0, 2.0, 1.0), (2e-9, 1e-4, 2e-2)),
        pytest.param("gauss6", 160, (math.nan, 4.0, 3.0), (ROUND_OFF, 5e-12, 2e-8), marks=pytest.mark.slow),
    ],
)
def test_gauss_on_index_two(method, count, orders, bounds):
    """Differential states s for even, s + 1 for odd s (Hairer, Lubich, Roche 1989): here those that G sees, v.

    Algebraic ones at least s − 2 and s − 1; λ extrapolated to the end of the step has one order more here. q keeps 2s:
    with gauss6 it is exact to round-off where v shows its order.
    """
    slope, errors = slopes(lambda n: np.array(errors_of_bead(method, n))[[0, 1, 4]], count)
    assert_slopes((slope, errors), orders, bounds)


# --- steps by a tolerance ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["radau", "bdf", "ida"])
def test_errors_of_libraries_follow_the_tolerance(method):
    """Over four decades, differential and algebraic states alike; the solvers change order on the way."""
    pytest.importorskip(EXTRAS[method][0])
    for tolerance in (1e-4, 1e-6, 1e-8):
        found = integrate(
            damped(), FIRST, np.linspace(0.0, 2.0, 5), method=by_name(method, tolerance=tolerance), progress=False
        )
        exact = damped_motion()(found.times)
        w = found.states[:, 2] - force(exact[1])
        for gap in (found.states[:, :2].T - exact, w):
            assert 0.1 < np.abs(gap).max() / tolerance < 20.0


# --- rows that turn: E(x) is not semi-explicit ------------------------------------------------------------------------


def test_rows_that_turn_do_not_change_steps_of_index_two():
    """E = U(x)ᵀ diag(1, 1, 1, 1, 0) with a rotation U of all states."""
    plain, start = bead(), np.array([0.5, 0.125, 1.0, 0.5, -1.0])
    skew = np.subtract.outer(np.arange(5.0), np.arange(5.0))
    one, weight = np.eye(5), np.array([0.3, 0.2, -0.4, 0.1, 0.2])

    def cayley(x):
        turn = 0.1 * math.sin(weight @ x) * skew
        return np.linalg.solve(one - turn, one + turn)

    rows = transform(plain, lambda x: x, one, cayley, sample=start)
    for method in (DiscreteGradient(), Gauss(4)):
        kept, found = (
            integrate(system, start, np.linspace(0.0, 0.5, 5), method=method, progress=False)
            for system in (plain, rows)
        )
        # iterations end at 3e-12 of a state, which multipliers of index 2 divide by the step
        np.testing.assert_allclose(found.states, kept.states, atol=1e-9)
