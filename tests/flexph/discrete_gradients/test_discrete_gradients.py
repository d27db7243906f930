"""Discrete gradients as functions: directionality, consistency, order, and what the paper says of them."""

import math

import numpy as np
import pytest

from flexph import discrete_gradients
from flexph.discrete_gradients import check_discrete_gradient, coordinate_increments, gonzalez, mean_value, midpoint

ALL = (gonzalez, mean_value, coordinate_increments)
RNG = np.random.default_rng(0)
PAIRS = [tuple(RNG.uniform(-2.0, 2.0, (2, 4))) for _ in range(10)]


def energy(x):
    return math.exp(0.3 * x[0]) * math.cos(x[1]) + x[2] ** 2 * x[3] + 0.1 * float(x @ x) ** 3


def gradient(x):
    a, c, s = math.exp(0.3 * x[0]), math.cos(x[1]), math.sin(x[1])
    return np.array([0.3 * a * c, -a * s, 2.0 * x[2] * x[3], x[2] ** 2]) + 0.6 * float(x @ x) ** 2 * x


@pytest.mark.parametrize("discrete", ALL)
def test_discrete_gradients_give_the_increment_and_are_consistent(discrete):
    """∇̄f·Δx = Δf over distances of the size of the states, and ∇̄f(x, x) = ∇f(x), to round-off."""
    check_discrete_gradient(lambda a, b: discrete(energy, gradient, a, b), energy, gradient, PAIRS)
    for x0, x1 in PAIRS:
        found = discrete(energy, gradient, x0, x1)
        scale = float(np.abs(found) @ np.abs(x1 - x0))
        assert float(found @ (x1 - x0)) == pytest.approx(energy(x1) - energy(x0), abs=1e-13 * scale)
        np.testing.assert_allclose(found, discrete(energy, gradient, x1, x0), atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("discrete", ALL)
def test_discrete_gradients_are_of_second_order(discrete):
    """The error of the gradient in the middle goes with the square of the distance."""
    x, d, gaps = np.array([0.3, -0.2, 0.5, 0.1]), np.array([1.0, -0.7, 0.4, 0.9]), []
    for h in (2e-2, 1e-2):
        gaps.append(np.abs(discrete(energy, gradient, x - h * d, x + h * d) - gradient(x)).max())
    assert math.log2(gaps[0] / gaps[1]) == pytest.approx(2.0, abs=0.1)
    assert gaps[1] < 1e-3


@pytest.mark.parametrize("discrete", ALL)
def test_discrete_gradients_are_zero_for_states_that_do_not_enter(discrete):
    """Of a function of some states: zero for the others, along whatever these change."""

    def inner(x):
        return 0.25 * x[0] ** 4 + 0.5 * x[2] ** 2 * x[0]

    def slope(x):
        return np.array([x[0] ** 3 + 0.5 * x[2] ** 2, 0.0, x[0] * x[2], 0.0])

    for x0, x1 in PAIRS:
        found = discrete(inner, slope, x0, x1, states=[0, 2])
        assert found[1] == found[3] == 0.0
        assert float(found @ (x1 - x0)) == pytest.approx(inner(x1) - inner(x0), abs=1e-12)
    others = gonzalez(inner, slope, x0, x1)
    assert np.abs(others[[1, 3]]).min() > 1e-6  # along all of Δx they are not


def test_quadratic_functions_have_the_midpoint():
    """[dg] below definition 5; the mean value is exact up to degree 8, from 4 points."""
    A = RNG.standard_normal((4, 4))
    A = A + A.T
    for x0, x1 in PAIRS:
        middle = midpoint(lambda x: A @ x, x0, x1)
        for discrete in (gonzalez, mean_value):
            found = discrete(lambda x: 0.5 * float(x @ A @ x), lambda x: A @ x, x0, x1)
            np.testing.assert_allclose(found, middle, atol=1e-13)
    with pytest.raises(ValueError, match=r"not a discrete gradient: .* must be f"):
        check_discrete_gradient(lambda a, b: midpoint(gradient, a, b), energy, gradient, PAIRS)


def test_the_chain_rule_fails_as_in_example_10():
    """f = ¼‖x‖⁴ along φ = (x₁ + x₂, x₂) at (0, 2e₁), in the direction e₂: 1, by the chain rule 2 ([dg] example 10)."""
    D = np.array([[1.0, 1.0], [0.0, 1.0]])
    f, slope = lambda x: 0.25 * float(x @ x) ** 2, lambda x: (x @ x) * x
    x0, x1 = np.zeros(2), np.array([2.0, 0.0])
    there = gonzalez(lambda x: f(D @ x), lambda x: D.T @ slope(D @ x), x0, x1)
    here = D.T @ gonzalez(f, slope, D @ x0, D @ x1)
    np.testing.assert_allclose([there[1], here[1]], [1.0, 2.0], rtol=1e-14)
    commutes = mean_value(lambda x: f(D @ x), lambda x: D.T @ slope(D @ x), x0, x1)
    np.testing.assert_allclose(commutes, D.T @ mean_value(f, slope, D @ x0, D @ x1), rtol=1e-14)


def test_the_discrete_jacobian_is_that_of_example_9():
    """D̄φ of φ(x) = Rot(xᵀx) x from 0 to (√2π, 0) is [[1, −1], [0, 0]] ([dg] example 9)."""
    turn = lambda a: np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])  # noqa: E731
    slope = lambda x: turn(x @ x) @ (np.eye(2) + 2.0 * np.outer(turn(0.5 * math.pi) @ x, x))  # noqa: E731
    found = discrete_gradients.jacobian(lambda x: turn(x @ x) @ x, slope, [0.0, 0.0], [math.sqrt(2.0 * math.pi), 0.0])
    np.testing.assert_allclose(found, [[1.0, -1.0], [0.0, 0.0]], atol=1e-14)


def test_increments_need_no_derivative_where_coordinates_change():
    for x0, x1 in PAIRS:
        right, wrong = (coordinate_increments(energy, of, x0, x1) for of in (gradient, np.ones_like))
        np.testing.assert_allclose(wrong, right, rtol=1e-12, atol=1e-12)  # round-off of differences of the energy


@pytest.mark.parametrize("form", ALL)
def test_a_gradient_of_another_shape_is_named(form):
    with pytest.raises(ValueError, match=r"the value of gradient must have shape \(4,\)"):
        form(energy, lambda x: np.ones((4, 4)), *PAIRS[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros(4)), r"x1 must have shape \(3,\), got \(4,\)"),
        (([0.0, math.nan], [0.0, 0.0]), "x0 must be finite"),
        (("x", np.zeros(2)), "x0 must be numbers"),
    ],
)
def test_bad_states_are_refused(arguments, message):
    for discrete in ALL:
        with pytest.raises(ValueError, match=message):
            discrete(energy, gradient, *arguments)


def test_what_is_no_discrete_gradient_is_found_out():
    wrong = lambda a, b: gonzalez(energy, gradient, a, b) * (1.0 + 1e-6)  # noqa: E731
    with pytest.raises(ValueError, match=r"∇̄f·\(x₁ − x₀\) must be f\(x₁\) − f\(x₀\)"):
        check_discrete_gradient(wrong, energy, gradient, PAIRS)
    only = lambda a, b: (energy(b) - energy(a)) * (b - a) / max(float((b - a) @ (b - a)), 1e-300)  # noqa: E731
    with pytest.raises(ValueError, match=r"∇̄f\(x, x\) must be ∇f\(x\).* off by"):
        check_discrete_gradient(only, energy, gradient, PAIRS)
