"""Sizes of states: they follow the units, the energy and the equations, and round-off decides nothing."""

import numpy as np
import pytest

from flexph import PHDAE
from flexph.consistency.equations import balances, sizes, slope

pytestmark = pytest.mark.processor


def storage(energy, gradient, parts):
    """A lossless system without ports that stores an energy."""
    n = sum(part.stop - part.start for part in parts.values())
    return PHDAE(
        E=np.eye(n), J=np.zeros((n, n)), R=np.zeros((n, n)), z=gradient, H=energy, sample=np.ones(n), parts=parts
    )


PARTS = {"a": slice(0, 1), "b": slice(1, 2), "c": slice(2, 3)}


def test_sizes_grow_with_the_states():
    """With a quadratic energy the sizes are homogeneous of degree one, those of states at zero without energy, too."""
    system = storage(
        lambda x: 0.5 * (4.0 * x[0] ** 2 + 9.0 * x[1] ** 2), lambda x: np.array([4.0, 9.0, 0.0]) * x, PARTS
    )
    x = np.array([3.0, -0.2, 0.0])
    one = sizes(system, x)
    for factor in (1e-6, 1e3, 1e9):
        np.testing.assert_allclose(sizes(system, factor * x), factor * one, rtol=1e-6)


def test_each_spring_would_hold_all_of_the_energy():
    """½ k size² = H for each of them, within the error of a forward difference, of linear springs: round-off."""
    stiffness = np.array([4.0, 900.0, 1e4])
    system = storage(lambda x: 0.5 * float(stiffness @ x**2), lambda x: stiffness * x, PARTS)
    x = np.array([3.0, -0.02, 1e-3])
    np.testing.assert_allclose(0.5 * stiffness * sizes(system, x) ** 2, system.H(x), rtol=1e-6)


def test_round_off_of_a_constant_force_is_no_stiffness():
    """A weight has the same size whether its force is written as a constant or as one that is so but for round-off."""
    weight = lambda x: 7.0 * np.array([x[0] / 7.0, 1.0, 1.0])  # noqa: E731
    unity = lambda x: np.cos(x) ** 2 + np.sin(x) ** 2  # noqa: E731
    rounded = lambda x: 7.0 * np.array([x[0] / 7.0, unity(x[1]), unity(x[2])])  # noqa: E731
    energy = lambda x: 0.5 * x[0] ** 2 + 7.0 * (x[1] + x[2])  # noqa: E731
    for heights in np.linspace(0.1, 3.0, 40).reshape(20, 2):
        x = np.array([2.0, *heights])
        np.testing.assert_allclose(
            sizes(storage(energy, rounded, PARTS), x), sizes(storage(energy, weight, PARTS), x), rtol=1e-12
        )


@pytest.mark.parametrize("own", [0.0, 3.0, -50.0])
def test_what_balances_an_equation_does_not_depend_on_where_the_state_is(own):
    """0 = −g x₁ − r x₂ is balanced by |g x₁|/r."""
    system = PHDAE(
        E=np.diag([1.0, 0.0]),
        J=5.0 * np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, 4.0]),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.ones(2),
    )
    balance = balances(system, np.array([2.0, own]), np.ones(2))
    assert balance[1] == pytest.approx(5.0 * 2.0 / 4.0, rel=1e-9)


@pytest.mark.parametrize("digits", [8, 9, 10])
def test_the_rate_of_an_input_that_is_read_with_few_digits(digits):
    """Short windows divide the round-off by their length; the best of all windows counts, not the last."""
    rate = slope(lambda t: round(float(np.sin(t)), digits), 0.7, (0.0, 10.0), 1e-3)
    assert rate == pytest.approx(np.cos(0.7), rel=1e4 * 10.0**-digits)
