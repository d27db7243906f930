"""Which states a descriptor matrix differentiates does not depend on units, nor which methods take the system."""

import math

import numpy as np
import pytest

from flexph import PHDAE, integrate
from flexph.discretisation.descriptor_split import differential_split, split_of
from flexph.methods import by_name
from flexph.numerics.step_failed import StepFailed
from flexph.systems import transform

pytestmark = pytest.mark.processor

STIFF = np.array([3.0, 1.0])
START = np.array([0.25, 0.75, 0.1, 0.3])


def two_masses():
    """[dg] example 7: M = [[1, 1], [1, 1]] of two redundant velocities has rank 1."""
    E, J = np.zeros((4, 4)), np.zeros((4, 4))
    E[:2, :2], E[2:, 2:] = np.eye(2), np.ones((2, 2))
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    return PHDAE(
        E=E,
        J=J,
        z=lambda x: np.concatenate([STIFF * x[:2], x[2:]]),
        H=lambda x: float(0.5 * STIFF @ x[:2] ** 2 + 0.5 * (x[2] + x[3]) ** 2),
        sample=START,
    )


def in_units(system, start, size, weight):
    """The system of states over ``size`` (n,) with rows times ``weight`` (n,)."""
    D, U = np.diag(size), np.diag(weight)
    return transform(system, lambda x: size * x, D, U, sample=start / size)


@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "dirac", "midpoint", "gauss4"])
@pytest.mark.parametrize(("length", "speed", "row"), [(1e-6, 1e3, 1e-9), (1e5, 1e-8, 1e7), (1e-9, 1e-9, 1.0)])
def test_a_singular_mass_in_other_units(length, speed, row, method):
    """Rows and states of a unit of their own: the run is the same one."""
    size, weight = np.repeat([length, speed], 2), np.repeat([1.0, row], 2)
    times = np.linspace(0.0, 1.0, 11)
    plain = integrate(two_masses(), START, times, method=by_name(method), progress=False)
    other = in_units(two_masses(), START, size, weight)
    assert differential_split(other).V1.shape == (4, 3)
    found = integrate(other, START / size, times, method=by_name(method), progress=False)
    np.testing.assert_allclose(found.states * size, plain.states, atol=1e-11)  # iterations end at 3e-12 of a state


def varying(length):
    """x = (s, v, a) with E = diag(1, m(s), 0), m(s) = √(1 − (s/2ℓ)²) for |s| < 2ℓ; a is the rate of s/ℓ."""
    mass = lambda x: math.sqrt(1.0 - (0.5 * x[0] / length) ** 2)  # noqa: E731
    slope = lambda x: -0.25 * x[0] / length**2 / mass(x)  # noqa: E731
    J = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    return PHDAE(
        E=lambda x: np.diag([1.0, mass(x), 0.0]),
        J=J,
        R=np.diag([0.0, 0.0, 1.0]),
        z=lambda x: np.array([x[0] / length**2 + 0.5 * slope(x) * x[1] ** 2, x[1], x[2]]),
        H=lambda x: 0.5 * mass(x) * x[1] ** 2 + 0.5 * (x[0] / length) ** 2,
        sample=np.array([length, 0.5, 0.0]),
    )


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_a_varying_descriptor_is_looked_at_near_the_sample(length):
    """Probes lie within the size of each state: a metre away, the mass of this system is no number."""
    split = differential_split(varying(length))
    np.testing.assert_array_equal(split.V1, np.eye(3)[:, :2])
    np.testing.assert_array_equal(split.U2, np.eye(3)[:, 2:])


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_a_small_block_of_a_varying_descriptor_is_not_singular(scale):
    def matrix(x):
        return np.diag([1.0, scale * (2.0 + math.sin(x[0]))])

    system = PHDAE(
        E=matrix,
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z=lambda x: np.array([x[0] + 0.5 * scale * math.cos(x[0]) * x[1] ** 2, x[1]]),
        H=lambda x: 0.5 * x[0] ** 2 + 0.5 * scale * (2.0 + math.sin(x[0])) * x[1] ** 2,
        sample=np.array([0.3, 1.0 / math.sqrt(scale)]),
    )
    assert differential_split(system).V2.shape == (2, 0)


def test_a_mean_of_the_descriptor_that_becomes_singular_is_answered():
    """Ē = 0 on the differential state: [dg] assumption (A1) does not hold, in any unit."""
    for scale in (1e-12, 1e12):
        size = np.array([scale, 1.0 / scale])
        E = np.array([[1.0, 2.0], [2.0, 4.0]]) * size[:, None] * size
        with pytest.raises(StepFailed, match="Ē is singular on the differential states"):
            split_of(np.eye(2)).to_costates(E)
    size = 10.0 ** np.array([-12.0, 7.0, 3.0])
    E = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.5, 0.0, 1.0]]) * size
    np.testing.assert_allclose(E.T @ split_of(np.eye(3)).to_costates(E) / size[:, None] * size, np.eye(3), atol=1e-14)
