"""Consistent initial values: what is violated is named, the nearest consistent state is found."""

import math

import numpy as np
import pytest
from four_particles import START, constraints, four_particles

from flexph import PHDAE, LinearPHDAE, integrate
from flexph.consistency.start import consistent, inconsistency

pytestmark = pytest.mark.processor

MASSES = np.array([1.0, 3.0, 2.3, 1.7])


def velocities(x):
    return x[12:24].reshape(4, 3)


def rates(x):
    """Rates of the distances of both rods, by hand."""
    q, v = x[:12].reshape(4, 3), velocities(x)
    return np.array([(q[1] - q[0]) @ (v[1] - v[0]), (q[3] - q[2]) @ (v[3] - v[2])])


def test_multipliers_that_are_guesses_are_named():
    found = inconsistency(four_particles(1.0), START)
    assert found
    assert found.algebraic == pytest.approx({"lam[0]": 0.0, "lam[1]": 0.0}, abs=1e-15)
    # the fourth particle turns about the third, a unit away: its acceleration would have to be −v²
    assert found.hidden == pytest.approx({"lam[0]": 0.0, "lam[1]": (20.0 / 17.0) ** 2}, abs=1e-9)
    assert "rate of equation 'lam[1]' by 1.38" in str(found)


def test_multipliers_follow_from_accelerations():
    """λ carries the centripetal force of two masses on a rod: λ = v²/(1/m₃ + 1/m₄)."""
    system = four_particles(1.0)
    x = consistent(system, START)
    np.testing.assert_array_equal(x[:24], START[:24])
    expected = (20.0 / 17.0) ** 2 / (1.0 / 2.3 + 1.0 / 1.7)
    assert x[24:] == pytest.approx([0.0, expected], abs=1e-9)
    assert not inconsistency(system, x)
    assert str(inconsistency(system, x)) == "consistent"


@pytest.mark.parametrize("seed", range(3))
def test_consistent_velocities_are_the_nearest_in_kinetic_energy(seed):
    """Kept positions: the least change of kinetic energy, M-orthogonal to what the constraints leave free."""
    system, rng = four_particles(0.5), np.random.default_rng(seed)
    start = START.copy()
    start[12:24] += 0.3 * rng.standard_normal(12)
    assert max(abs(v) for v in inconsistency(system, start).algebraic.values()) == pytest.approx(
        np.abs(rates(start)).max()
    )
    x = consistent(system, start, keep=["q"])
    np.testing.assert_array_equal(x[:12], start[:12])
    assert np.abs(rates(x)).max() < 1e-13
    change = (velocities(x) - velocities(start)) * MASSES[:, None]
    q = x[:12].reshape(4, 3)
    along = [q[1] - q[0], q[3] - q[2]]
    for (i, j), d in zip(((0, 1), (2, 3)), along, strict=True):  # impulses along the rods, equal and opposite
        assert change[i] + change[j] == pytest.approx(np.zeros(3), abs=1e-6)
        assert np.cross(change[j], d) == pytest.approx(np.zeros(3), abs=1e-6)
    assert inconsistency(system, x).relative < 1e-9


def test_both_positions_and_velocities_move_unless_kept():
    start = START.copy()
    start[15] = 0.5
    x = consistent(four_particles(0.0), start)
    assert np.abs(x[:12] - start[:12]).max() > 0.0
    assert np.abs(rates(x)).max() < 1e-13
    # positions stand behind the constraints on velocities: nothing in the system fixes them
    assert np.abs(constraints(x[:12])).max() < 0.1


def test_a_consistent_start_stays_on_the_constraints():
    start = START.copy()
    start[12:24] += 0.2 * np.random.default_rng(7).standard_normal(12)
    x = consistent(four_particles(0.0), start, keep=["q"])
    found = integrate(four_particles(0.0), x, np.linspace(0.0, 0.5, 51), progress=False)
    assert np.abs(constraints(found["q"])).max() < 1e-13


# --- index one, inputs, other descriptors ---------------------------------------------------------------------------


def diode():
    """A capacitor on a resistor and a diode: C u̇ = −i, 0 = u − R i − arsinh(i) + source, all in V and A."""
    return PHDAE(
        E=np.diag([2.0, 0.0]),
        J=np.array([[0.0, -1.0], [1.0, 0.0]]),
        R=lambda x: np.diag([0.0, 3.0 + (math.asinh(x[1]) / x[1] if x[1] else 1.0)]),
        B=np.array([[0.0], [1.0]]),
        z=lambda x: x,
        H=lambda x: float(x[0] ** 2),
        sample=np.array([1.0, 0.2]),
        ports={"source": slice(0, 1)},
        parts={"voltage": slice(0, 1), "current": slice(1, 2)},
    )


def test_a_nonlinear_algebraic_state():
    x = consistent(diode(), (1.0, 0.0), time=0.3, inputs={"source": lambda t: 10.0 * t})
    assert x[0] == 1.0
    assert 3.0 * x[1] + math.asinh(x[1]) == pytest.approx(4.0, abs=1e-14)
    found = inconsistency(diode(), (1.0, 0.5))
    assert found.algebraic["current"] == pytest.approx(1.0 - 1.5 - math.asinh(0.5))
    assert found.hidden == {}


def driven():
    """A mass whose velocity follows an input, 0 = −v + u: index 2, λ = −m u̇ + k q."""
    J = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return PHDAE(
        E=np.diag([1.0, 2.0, 0.0]),
        J=J,
        B=np.array([[0.0], [0.0], [1.0]]),
        z=lambda x: x * [5.0, 1.0, 1.0],
        H=lambda x: float(2.5 * x[0] ** 2 + x[1] ** 2),
        sample=np.ones(3),
        ports={"drive": slice(0, 1)},
        parts={"q": slice(0, 1), "v": slice(1, 2), "force": slice(2, 3)},
    )


def test_inputs_of_constraints_are_differentiated():
    inputs = {"drive": lambda t: math.sin(3.0 * t)}
    x = consistent(driven(), (0.1, 0.0, 0.0), time=0.2, inputs=inputs, keep=["q"])
    assert x[:2] == pytest.approx([0.1, math.sin(0.6)], abs=1e-14)
    assert x[2] == pytest.approx(2.0 * 3.0 * math.cos(0.6) + 0.5, rel=1e-9)
    with pytest.raises(ValueError, match=r"no derivative at t = 0\.2 s"):
        consistent(driven(), (0.1, 0.0, 0.0), time=0.2, inputs={"drive": lambda t: 1.0 if t > 0.2 else 0.0})


def test_a_constant_singular_mass_by_its_singular_values():
    """M = [[1, 1], [1, 1]] ([dg] example 7): 0 = f₁ − f₂, whose rate 0 = 3 v₁ − v₂ is hidden."""
    E = np.zeros((4, 4))
    E[:2, :2], E[2:, 2:] = np.eye(2), np.ones((2, 2))
    J = np.zeros((4, 4))
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    stiff = np.array([3.0, 1.0])
    system = PHDAE(
        E=E,
        J=J,
        z=lambda x: np.concatenate([stiff * x[:2], x[2:]]),
        H=lambda x: float(0.5 * stiff @ x[:2] ** 2 + 0.5 * (x[2] + x[3]) ** 2),
        sample=np.array([0.25, 0.75, 0.1, 0.3]),
    )
    x = consistent(system, (0.25, 0.8, 0.3, 0.1))
    assert 3.0 * x[0] - x[1] == pytest.approx(0.0, abs=1e-13)
    assert 3.0 * x[2] - x[3] == pytest.approx(0.0, abs=1e-9)
    assert x[2] + x[3] == pytest.approx(0.4, abs=1e-12)  # the momentum is differential and no constraint touches it


def test_linear_systems_and_those_without_algebraic_states():
    linear = LinearPHDAE(E=np.diag([1.0, 0.0]), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), R=np.diag([0.0, 1.0]))
    assert consistent(linear, (1.0, 5.0)) == pytest.approx([1.0, -1.0])
    free = LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]))
    assert not inconsistency(free, (1.0, 2.0))
    np.testing.assert_array_equal(consistent(free, (1.0, 2.0)), (1.0, 2.0))


# --- what cannot be done is said ----------------------------------------------------------------------------------


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="no part 'x': there are 'q', 'v', 'lam'"):
        consistent(four_particles(0.0), START, keep=["x"])
    with pytest.raises(ValueError, match=r"state must have shape \(26,\), got \(3"):
        inconsistency(four_particles(0.0), (1.0, 2.0, 3.0))
    start = START.copy()
    start[15] = 0.3
    with pytest.raises(ArithmeticError, match="no consistent state was found near the given one: violated"):
        consistent(four_particles(0.0), start, keep=["q", "v"])


def test_an_index_above_two_is_said():
    """A position prescribed by its own multiplier: index 3."""
    J = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    system = PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=J,
        z=lambda x: x * [1.0, 1.0, 0.0],
        H=lambda x: 0.5 * float(x[:2] @ x[:2]),
        sample=np.ones(3),
    )
    with pytest.raises(ArithmeticError, match="index is above 2, or equations are dependent"):
        consistent(system, (1.0, 0.0, 0.0))
