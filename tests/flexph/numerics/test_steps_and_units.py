"""Differences and steps of least norm do not depend on the units of states and equations."""

import numpy as np
import pytest

from flexph.numerics.corrections import least_norm_step
from flexph.numerics.differences import derivative, state_sizes
from flexph.numerics.ranks import subspaces

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("left", [1e-20, 1e-15, 0.0])
def test_a_part_at_round_off_has_a_derivative(left):
    """x₁² + x₂ with x₂ = 0 but for round-off: a step of x₂ as small as itself would be lost in the round-off of x₁²."""
    x = np.array([3.0, left])
    sizes = state_sizes(x, [slice(0, 1), slice(1, 2)])
    np.testing.assert_allclose(derivative(lambda x: x[0] ** 2 + x[1], x, sizes=sizes), [6.0, 1.0], rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_units_of_equations_do_not_change_a_step_of_least_norm(seed):
    """Independent equations in units from pico to tera, with one that nothing moves."""
    rng = np.random.default_rng(seed)
    J, r = rng.standard_normal((3, 6)), rng.standard_normal(3)
    J[1], r[1] = 0.0, 0.0
    step = least_norm_step(J, r, rcond=1e-10)
    np.testing.assert_allclose(J @ step, -r, atol=1e-13)
    D = 10.0 ** rng.uniform(-12.0, 12.0, 3)
    np.testing.assert_allclose(least_norm_step(D[:, None] * J, D * r, rcond=1e-10), step, atol=1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_null_spaces_hold_in_each_equation_whatever_its_unit(seed):
    """Four columns over states from pico to tera: each equation misses zero by round-off of its terms."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((8, 4)) @ rng.standard_normal((4, 8)) * 10.0 ** rng.uniform(-12.0, 12.0, 8)
    null = subspaces(matrix).null
    np.testing.assert_allclose(null.T @ null, np.eye(4), atol=1e-14)
    terms = np.abs(matrix) @ np.abs(null)
    assert np.all(np.abs(matrix @ null) <= 1e-14 * terms)
