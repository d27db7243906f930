"""Theorems of [dg] on system transformations, and the counterexamples of its appendices, in numbers.

Five seconds, as steps of general systems are taken in Python.
"""

import math

import numpy as np
import pytest
from four_particles import START, constraints, four_particles
from scipy.integrate import solve_ivp

from flexph import PHDAE, IntegrationError, integrate
from flexph.discretisation.own_pair import with_pair
from flexph.methods import by_name
from flexph.systems import Derivatives, transform
from flexph.systems.discrete_gradients import discrete_jacobian, gonzalez

PAIRS = ("gonzalez", "mean_value", "invariants")


def run(system, start, times, method="pair", **options):
    return integrate(system, start, times, method=by_name(method), progress=False, **options)


def bent(x):
    """A diffeomorphism of the plane, and its derivative, far from the identity."""
    a, b = x
    return np.array([a + 0.3 * b**2, np.sinh(b)])


def bent_slope(x):
    return np.array([[1.0, 0.6 * x[1]], [0.0, np.cosh(x[1])]])


def unbent(x):
    b = np.arcsinh(x[1])
    return np.array([x[0] - 0.3 * b**2, b])


def turned(x):
    """U(x̃), invertible everywhere."""
    return np.array([[1.0, math.sin(x[0])], [0.0, 2.0 + x[1] ** 2]])


def pendulum(**options):
    """x = (θ, p), H = p²/2 − cos θ, with a torque."""
    made = {
        "E": np.eye(2),
        "J": np.array([[0.0, 1.0], [-1.0, 0.0]]),
        "R": np.diag([0.0, 0.1]),
        "B": np.array([[0.0], [1.0]]),
        "z": lambda x: np.array([np.sin(x[0]), x[1]]),
        "H": lambda x: 0.5 * x[1] ** 2 - np.cos(x[0]),
        "sample": np.array([1.0, 0.3]),
        "ports": {"torque": slice(0, 1)},
    }
    return PHDAE(**(made | options))


# --- theorems 6 and 9: transformations carry discrete gradient pairs --------------------------------------------------


@pytest.mark.parametrize("method", ["gonzalez", "mean_value"])
def test_a_carried_pair_takes_the_steps_of_the_original(method):
    """A pendulum in bent coordinates, with a frame of its own and a torque: to round-off, at long steps."""
    times, torque, start = np.linspace(0.0, 5.0, 26), {"torque": np.sin}, np.array([2.5, 0.0])
    original = run(pendulum(), start, times, method, inputs=torque)
    other = transform(with_pair(pendulum(), method), bent, bent_slope, turned, sample=unbent([1.0, 0.3]))
    carried = run(other, unbent(start), times, inputs=torque)
    np.testing.assert_allclose([bent(x) for x in carried.states], original.states, atol=1e-13)
    for found in (original, carried):
        assert found.ledger.largest_residual < 1e-15
        assert found.energy_drift() < 1e-13
    np.testing.assert_allclose(carried.outputs["torque"], original.outputs["torque"], atol=1e-13)
    # remark 10: the method itself makes another gradient there, as near as its order
    again = run(other, unbent(start), times, method, inputs=torque)
    assert again.ledger.largest_residual < 1e-14
    assert 1e-3 < np.abs([bent(x) for x in again.states] - original.states).max() < 0.5


def mixed(seed=0):
    """An invertible matrix that mixes positions, velocities and multipliers among themselves."""
    draw = np.random.default_rng(seed).standard_normal
    D = np.eye(26)
    for part in (slice(0, 12), slice(12, 24)):
        D[part, part] += 0.3 * draw((12, 12))
    D[24:, 24:] = [[2.0, 1.0], [0.0, 1.0]]
    return D, np.eye(26) + 0.2 * draw((26, 26))


TIMES = np.linspace(0.0, 0.3, 16)


@pytest.fixture(scope="module")
def originals():
    return {method: run(four_particles(1.0), START, TIMES, method) for method in PAIRS}


@pytest.mark.parametrize("method", PAIRS)
def test_four_particles_in_linear_coordinates(method, originals):
    """Index 2. Multipliers are differences of velocities over a step of 0.02 s, of 10 N/m: to 1e-12 of them."""
    D, U = mixed()
    other = transform(with_pair(four_particles(1.0), method), lambda x: D @ x, D, U, sample=np.linalg.solve(D, START))
    found = run(other, np.linalg.solve(D, START), TIMES)
    states, original = found.states @ D.T, originals[method].states
    np.testing.assert_allclose(states[:, :24], original[:, :24], atol=1e-12)
    np.testing.assert_allclose(states[1:, 24:], original[1:, 24:], atol=1e-9)
    assert found.ledger.residual.max() < 1e-13
    assert np.abs(constraints(states[:, :12])).max() < 1e-13
    assert dict(other.parts) == dict(four_particles(1.0).parts)


@pytest.mark.parametrize(("method", "commutes"), [("gonzalez", False), ("mean_value", True), ("invariants", True)])
def test_which_gradients_commute_with_linear_maps(method, commutes, originals):
    """The mean value does, and so do quadratic invariants, which are carried; Gonzalez' Δx is not Dφ⁻ᵀΔx̃."""
    D, U = mixed()
    other = transform(four_particles(1.0), lambda x: D @ x, D, U, sample=np.linalg.solve(D, START))
    found = run(other, np.linalg.solve(D, START), TIMES, method)
    apart = np.abs(found.states @ D.T - originals[method].states)[:, :24].max()
    assert (apart < 1e-12) == commutes
    if not commutes:
        assert 1e-5 < apart < 1e-2  # h²
    assert found.ledger.residual.max() < 1e-13
    assert np.abs(constraints((found.states @ D.T)[:, :12])).max() < 1e-13


def test_constant_transformations_keep_what_is_constant():
    """E and B, the derivatives (which are checked at the sample), and parts whose states stay together."""
    D, U = mixed()
    given = four_particles(1.0)
    other = transform(given, lambda x: D @ x, D, U, sample=np.linalg.solve(D, given.sample))
    np.testing.assert_array_equal(other.E(START), other.E(0.0 * START))
    assert isinstance(other.derivatives, Derivatives)
    assert dict(other.ports) == dict(given.ports)
    D[0, 12] = 1.0  # a position with a velocity in it
    parts = transform(given, lambda x: D @ x, D, U, sample=np.linalg.solve(D, given.sample), parts={"w": slice(0, 3)})
    assert set(parts.parts) == {"v", "lam", "w"}


def test_four_particles_in_curved_coordinates(originals):
    """Positions qᵢ = yᵢ + yᵢ²/5, velocities and multipliers stay; U couples rows by the state."""

    def phi(x):
        return np.concatenate([x[:12] + 0.2 * x[:12] ** 2, x[12:]])

    def slope(x):
        return np.diag(np.concatenate([1.0 + 0.4 * x[:12], np.ones(14)]))

    def frame(x):
        made = np.eye(26)
        made[0, 25], made[13, 2], made[24, 3] = x[1], np.cos(x[3]), x[14]
        return made

    start = np.concatenate([(np.sqrt(1.0 + 0.8 * START[:12]) - 1.0) / 0.4, START[12:]])
    other = transform(with_pair(four_particles(1.0)), phi, slope, frame, sample=start)
    found = run(other, start, TIMES)
    states = np.array([phi(x) for x in found.states])
    np.testing.assert_allclose(states[:, :24], originals["gonzalez"].states[:, :24], atol=1e-12)
    assert found.ledger.residual.max() < 1e-13
    assert np.abs(constraints(states[:, :12])).max() < 1e-13


@pytest.mark.parametrize("method", PAIRS)
def test_the_pair_of_a_method_takes_its_steps(method, originals):
    found = run(with_pair(four_particles(1.0), method), START, TIMES)
    np.testing.assert_allclose(found.states[:, :24], originals[method].states[:, :24], atol=1e-12)


def test_a_wrong_pair_is_refused():
    with pytest.raises(ValueError, match=r"means.*E.*z must.*discrete gradient pair.*H: .* near.*sample"):
        pendulum(means={"z": lambda x0, x1: np.array([math.sin(x0[0]), x0[1]])})
    with pytest.raises(ValueError, match=r"DiscreteGradient\('pair'\) needs a system with a mean of z"):
        run(pendulum(), (1.0, 0.0), [0.0, 0.1])
    with pytest.raises(ValueError, match=r"method must.*one.* 'invariants', 'dirac', got 'midpoint'"):
        with_pair(pendulum(), "midpoint")
    with pytest.raises(ValueError, match=r"a mean must.*one.*'E', 'J', 'R', 'B', 'z', 'P', 'S', 'N', got 'H'"):
        pendulum(means={"H": lambda x0, x1: 0.0})


# --- example 8: no costate, whatever the discrete gradient ------------------------------------------------------------


def energy(x):
    return math.exp(0.5 * x[0] ** 2) - 1.0 + 0.5 * x[1] ** 2


def gradient(x):
    return np.array([x[0] * math.exp(0.5 * x[0] ** 2), x[1]])


def discrete(x0, x1):
    """Gonzalez' gradient of the energy."""
    return gonzalez(gradient(0.5 * (x0 + x1)), x1 - x0, energy(x0), energy(x1))


def test_example_8_directions_in_which_the_energy_changes_and_the_middle_does_not_see_it():
    """∇H(m)·Δx = 0 ≠ ΔH: every f has Δxᵀ Ēᵀf = 0, every discrete gradient has Δxᵀ∇̄H = ΔH."""
    a = 1.5
    b = a * math.sqrt(math.exp(0.5 * (0.5 * a) ** 2))
    x0, x1 = np.array([a, 0.0]), np.array([0.0, b])
    seen = float(gradient(0.5 * (x0 + x1)) @ (x1 - x0))
    assert seen == pytest.approx(0.0, abs=1e-15)
    assert energy(x1) - energy(x0) == pytest.approx(-0.59, abs=0.01)
    E = np.outer([1.0, 1.0], gradient(0.5 * (x0 + x1)))
    f = np.linalg.lstsq(E.T, discrete(x0, x1), rcond=None)[0]
    missing = discrete(x0, x1) - E.T @ f
    assert float(missing @ (x1 - x0)) == pytest.approx(energy(x1) - energy(x0), rel=1e-13)


def sliding(**options):
    """[dg] example 8 with R = diag(x₁², x₂²): rows (1, 1) dH/dt = −½(x₁², x₂²), so that x₁ = x₂ = s slide to rest."""
    return PHDAE(
        E=lambda x: np.outer([1.0, 1.0], gradient(x)),
        J=np.zeros((2, 2)),
        R=lambda x: np.diag(x**2),
        z=lambda x: np.array([0.5, 0.5]),
        H=energy,
        sample=np.array([1.0, 0.5]),
        **options,
    )


def slid(t):
    """s(t): (s e^{s²/2} + s) ṡ = −s²/2 from 1."""
    rate = lambda _, s: [-0.5 * s[0] / (math.exp(0.5 * s[0] ** 2) + 1.0)]  # noqa: E731
    return solve_ivp(rate, (0.0, t), [1.0], rtol=1e-12, atol=1e-14).y[0, -1]


@pytest.mark.parametrize("method", ["dirac", "gonzalez", pytest.param("mean_value", marks=pytest.mark.slow)])
def test_example_8_by_a_gradient_in_the_range(method):
    """Where the middle sees the change of energy, a gradient in the range of Ēᵀ solves the system."""
    errors = []
    for count in (20, 40):
        found = run(sliding(), (1.0, 1.0), np.linspace(0.0, 4.0, count + 1), method)
        assert found.ledger.residual.max() < 1e-14
        np.testing.assert_allclose(found.states[:, 0], found.states[:, 1], atol=1e-12)  # the constraint x₁² = x₂²
        errors.append(abs(found.final[0] - slid(4.0)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-4


def test_example_8_has_a_discrete_gradient_pair():
    """Ē = (1, 1)ᵀ∇̄Hᵀ with z̄ = z: not the value in the middle, but consistent, and z̄ᵀĒΔx = ΔH."""
    own = {"E": lambda x0, x1: np.outer([1.0, 1.0], discrete(x0, x1)), "z": lambda x0, x1: np.array([0.5, 0.5])}
    errors = []
    for count in (20, 40):
        found = run(sliding(means=own), (1.0, 1.0), np.linspace(0.0, 4.0, count + 1))
        assert found.ledger.residual.max() < 1e-14
        np.testing.assert_allclose(found.states[:, 0], found.states[:, 1], atol=1e-12)  # the constraint x₁² = x₂²
        errors.append(abs(found.final[0] - slid(4.0)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-4


# --- example 9: a diffeomorphism with a singular discrete Jacobian ----------------------------------------------------


def turn(angle):
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def whirl(x):
    """φ(x) = Rot(xᵀx) x."""
    return turn(x @ x) @ x


def whirl_slope(x):
    return turn(x @ x) @ (np.eye(2) + 2.0 * np.outer(turn(0.5 * math.pi) @ x, x))


FAR = np.array([math.sqrt(2.0 * math.pi), 0.0])


def test_example_9_discrete_jacobians_need_not_be_invertible():
    singular = discrete_jacobian(whirl, whirl_slope, np.zeros(2), FAR)
    np.testing.assert_allclose(singular, [[1.0, -1.0], [0.0, 0.0]], atol=1e-14)
    assert abs(np.linalg.det(singular)) < 1e-14
    for x in np.random.default_rng(0).uniform(-3.0, 3.0, (20, 2)):
        assert np.linalg.det(whirl_slope(x)) == pytest.approx(1.0, rel=1e-11)  # a shear on every circle


def straight(**options):
    """ẋ = (1, 0) by H = −x₂ and J."""
    return PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, -1.0], [1.0, 0.0]]),
        z=lambda x: np.array([0.0, -1.0]),
        H=lambda x: -float(x[1]),
        sample=np.array([0.3, 0.2]),
        **options,
    )


def test_example_9_a_carried_pair_is_not_solved_with():
    """One step from 0 to (√2π, 0), over which D̄φ and so Ê are singular: the equations of the step are not."""
    other = transform(with_pair(straight()), whirl, whirl_slope, np.eye(2), sample=np.array([0.3, 0.2]))
    found = run(other, np.zeros(2), [0.0, FAR[0]])
    np.testing.assert_allclose(whirl(found.final), FAR, atol=5e-9)  # at which the iteration stops halving the error
    assert found.ledger.residual.max() < 5e-9


def test_example_9_an_inverse_that_does_not_exist_is_answered():
    """[dg] assumption A1: over a step with a singular mean of E there is no z̄ = Ē⁻ᵀ∇̄H; shorter steps have one."""
    made = transform(straight(), whirl, whirl_slope, np.eye(2), sample=np.array([0.3, 0.2]))

    def with_mean(mean):
        return PHDAE(E=made.E, J=made.J, z=made.z, H=made.H, sample=made.sample, means={"E": mean})

    long = with_mean(lambda x0, x1: discrete_jacobian(whirl, whirl_slope, np.zeros(2), FAR).round(14))
    with pytest.raises(IntegrationError, match=r"from t = 0 s to 2\.5.* Ē is singular .* smaller step") as caught:
        run(long, np.zeros(2), [0.0, FAR[0]], "gonzalez")
    assert caught.value.solution.times.size == 1
    own = with_mean(lambda x0, x1: discrete_jacobian(whirl, whirl_slope, x0, x1))
    short = run(own, np.zeros(2), np.linspace(0.0, 0.5, 11), "gonzalez")
    np.testing.assert_allclose(whirl(short.final), [0.5, 0.0], atol=1e-3)
    assert short.ledger.residual.max() < 1e-14


# --- example 10: Gonzalez' gradient does not commute with transformations ---------------------------------------------


SHEAR = np.array([[1.0, 1.0], [0.0, 1.0]])


def test_example_10_two_discrete_gradients():
    """Of f = ¼‖x‖⁴ along φ(x) = (x₁ + x₂, x₂) at (0, 2e₁), in the direction e₂: 1 and, by the chain rule, 2."""
    f, slope, x0, x1 = lambda x: 0.25 * float(x @ x) ** 2, lambda x: (x @ x) * x, np.zeros(2), np.array([2.0, 0.0])
    there = gonzalez(SHEAR.T @ slope(SHEAR @ (0.5 * x1)), x1, f(SHEAR @ x0), f(SHEAR @ x1))
    here = SHEAR.T @ gonzalez(slope(0.5 * SHEAR @ x1), SHEAR @ x1, f(SHEAR @ x0), f(SHEAR @ x1))
    assert there[1] == pytest.approx(1.0, rel=1e-15)
    assert here[1] == pytest.approx(2.0, rel=1e-15)
    assert there @ x1 == pytest.approx(here @ x1, rel=1e-15)  # both are: ΔH = 4


def quartic():
    return PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, 0.3]),
        z=lambda x: (x @ x) * x,
        H=lambda x: 0.25 * float(x @ x) ** 2,
        sample=np.array([1.0, 0.3]),
    )


@pytest.mark.parametrize(("method", "commutes"), [("gonzalez", False), ("mean_value", True), ("pair", True)])
def test_example_10_in_a_run(method, commutes):
    """f as a Hamiltonian, and the frame U = Dφ⁻ᵀ that leaves an ODE ([dg] remark 8): another motion, or the same."""
    times, start = np.linspace(0.0, 2.0, 21), np.array([1.0, 0.0])
    original = run(quartic(), start, times, "gonzalez" if method == "pair" else method)
    given = with_pair(quartic()) if method == "pair" else quartic()
    frame = np.linalg.inv(SHEAR).T
    other = transform(given, lambda x: SHEAR @ x, SHEAR, frame, sample=np.linalg.solve(SHEAR, quartic().sample))
    np.testing.assert_allclose(other.E(start), np.eye(2), atol=1e-15)
    found = run(other, np.linalg.solve(SHEAR, start), times, method)
    apart = np.abs(found.states @ SHEAR.T - original.states).max()
    assert apart < 1e-13 if commutes else 1e-5 < apart < 1e-3  # h² of it
    assert found.ledger.residual.max() < 1e-15 and original.ledger.residual.max() < 1e-15
