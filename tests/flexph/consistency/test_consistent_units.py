"""Consistent starts do not depend on the units of states and equations."""

from dataclasses import replace

import numpy as np
import pytest

from flexph import PHDAE, LinearPHDAE
from flexph.consistency.start import consistent, inconsistency
from flexph.systems.linear import from_linear

pytestmark = pytest.mark.processor

STARTS = [(1.0, 1e-12), (1.0, 1e-300), (1.0, 0.0), (1.0, 1e12), (1e9, -1e-3), (1e-12, 1.0), (0.0, 1.0), (1e-9, 1e-9)]


def lossy(derivatives):
    """0 = −x₂ beside ẋ₁ = −x₁: an algebraic state that no other one drives."""
    if derivatives:
        return LinearPHDAE(E=np.diag([1.0, 0.0]), J=np.zeros((2, 2)), R=np.eye(2))
    return PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.zeros((2, 2)),
        R=np.eye(2),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.ones(2),
    )


@pytest.mark.parametrize("derivatives", [True, False])
@pytest.mark.parametrize("start", STARTS)
def test_an_algebraic_state_near_its_value_of_zero(start, derivatives):
    x = consistent(lossy(derivatives), start)
    assert x[0] == start[0]
    assert abs(x[1]) <= 1e-15 * max(abs(start[1]), abs(start[0]))
    assert not inconsistency(lossy(derivatives), x)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("gain", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_an_algebraic_state_of_another_size(gain, start):
    """0 = −g x₁ − x₂ with any gain g, as states of other units have."""
    system = LinearPHDAE(E=np.diag([1.0, 0.0]), J=gain * np.array([[0.0, 1.0], [-1.0, 0.0]]), R=np.diag([0.0, 1.0]))
    x = consistent(system, start)
    assert x[0] == start[0]
    assert x[1] == pytest.approx(-gain * start[0], rel=1e-12, abs=1e-15 * abs(start[1]))


@pytest.mark.parametrize("derivatives", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_constraints_in_other_units(seed, derivatives):
    """q̇ = v + s, v̇ = −q + λ, 0 = −v, 0 = −q − s with a multiplier λ (index 2) and s of index 1, in random units."""
    E, J, R = np.diag([1.0, 2.0, 0.0, 0.0]), np.zeros((4, 4)), np.diag([0.0, 0.0, 0.0, 1.0])
    for i, j in ((0, 1), (1, 2), (0, 3)):
        J[i, j], J[j, i] = 1.0, -1.0
    start, wanted = np.array([0.7, 0.2, 0.1, 0.3]), [0.7, 0.0, 0.7, -0.7]
    D = np.diag(10.0 ** np.random.default_rng(seed).uniform(-6.0, 6.0, 4))
    system = LinearPHDAE(E=D @ E @ D, J=D @ J @ D, R=D @ R @ D)
    if not derivatives:
        system = replace(from_linear(system), derivatives=None)
    found = consistent(system, np.linalg.solve(D, start))
    assert D @ found == pytest.approx(wanted, abs=1e-7)  # by differences, to the root of round-off
    assert not inconsistency(system, found)
