"""The Dirac-dissipative form under nonlinear transformations ([dg] remark 15), and pairs of any discrete gradient."""

import math

import numpy as np
import pytest

from flexph import PHDAE, discrete_gradients, integrate
from flexph.consistency import consistent
from flexph.discretisation import with_pair
from flexph.methods import DiracDissipative, by_name
from flexph.systems import transform
from flexph.systems.discrete_gradients import discrete_jacobian

START = np.array([0.8, -0.4, 0.3])


def energy(x):
    return 0.25 * x[0] ** 4 + math.cosh(x[1])


def slope(x):
    return np.array([x[0] ** 3, math.sinh(x[1]), 0.0])


def rows(x):
    """U(x), by which the rows of diag(1, 1, 0) are mixed."""
    return np.array([[1.0, 0.4 * x[1], 0.0], [-0.3, 1.0, 0.2], [0.2 * x[0], 0.1, 1.0]])


def system(**options):
    """E(x) = U(x)ᵀ diag(1, 1, 0), of rank 2 and without a zero row; z = U⁻¹(∇H₁, x₃); a force on x₂."""
    J = np.array([[0.0, 1.0, 0.3], [-1.0, 0.0, 0.8], [-0.3, -0.8, 0.0]])
    given = {
        "E": lambda x: rows(x).T @ np.diag([1.0, 1.0, 0.0]),
        "J": lambda x: rows(x).T @ J @ rows(x),
        "R": lambda x: rows(x).T @ np.diag([0.0, 0.1, 1.0]) @ rows(x),
        "B": lambda x: rows(x).T @ np.array([[0.0], [1.0], [0.2]]),
        "z": lambda x: np.linalg.solve(rows(x), np.array([x[0] ** 3, math.sinh(x[1]), x[2]])),
        "H": energy,
        "sample": START,
        "ports": {"force": slice(0, 1)},
    }
    return PHDAE(**(given | options))


def phi(x):
    return np.array([x[0] + 0.2 * x[2] ** 2, math.sinh(x[1]) + 0.1 * x[0], x[2] + 0.3 * x[1] ** 2])


def phi_slope(x):
    return np.array([[1.0, 0.0, 0.4 * x[2]], [0.1, math.cosh(x[1]), 0.0], [0.0, 0.6 * x[1], 1.0]])


def frame(x):
    return np.array([[1.0, 0.0, math.sin(x[0])], [0.3 * x[1], 2.0, 0.0], [0.0, 0.5, 1.0 + x[2] ** 2]])


def back(x):
    y = np.array(x)
    for _ in range(50):
        y = y - np.linalg.solve(phi_slope(y), phi(y) - x)
    return y


FORCE = {"force": lambda t: math.sin(3.0 * t)}


def run(given, start, times, method="dirac"):
    return integrate(given, start, times, method=by_name(method), inputs=FORCE, progress=False)


@pytest.mark.parametrize("step", [0.1, 0.4])
def test_transformed_systems_take_the_same_steps(step):
    """The form and its completion, carried by φ and U(x̃), take the same steps, seen through φ."""
    times = step * np.arange(6)
    here = run(system(), START, times)
    other = transform(with_pair(system(), "dirac"), phi, phi_slope, frame, sample=back(START))
    there = run(other, back(START), times, "pair")
    np.testing.assert_allclose([phi(x) for x in there.states], here.states, atol=1e-10)
    np.testing.assert_allclose(there.outputs["force"], here.outputs["force"], atol=1e-10)
    for found in (here, there):
        assert found.ledger.largest_residual < 1e-12
        assert found.energy_drift() < 1e-12


def test_remark_15_step_by_step():
    """(D.3) at random steps: Êᵀf̃ = D̄φᵀ(∇̄H∘φ), and f̃ is nearest to ẑ in the norm ‖Ū ·‖ of all that Êᵀ leaves open."""
    original = with_pair(system(), "dirac")
    other = transform(original, phi, phi_slope, frame, sample=back(START))
    rng = np.random.default_rng(0)
    for _ in range(5):
        a, b = back(START) + 0.2 * rng.uniform(-1.0, 1.0, (2, 3))
        x0, x1 = phi(a), phi(b)
        E, f, U = other.means["E"](a, b), other.means["z"](a, b), frame(0.5 * (a + b))
        gradient = original.means["E"](x0, x1).T @ original.means["z"](x0, x1)
        assert float(gradient @ (x1 - x0)) == pytest.approx(energy(x1) - energy(x0), abs=1e-14)
        np.testing.assert_allclose(E.T @ f, discrete_jacobian(phi, phi_slope, a, b).T @ gradient, atol=1e-13)
        middle = np.append(0.5 * (x0 + x1)[:2], x1[2])  # z̄ of the completion: x₃ is a stage value
        wanted = np.linalg.solve(U, system().z(middle))
        open_ = np.linalg.svd(E)[0][:, 2:]
        assert np.abs(E.T @ open_).max() < 1e-12
        assert abs(float((U @ open_[:, 0]) @ (U @ (f - wanted)))) < 1e-12


@pytest.mark.slow
def test_taken_anew_there_it_is_another_form():
    """As near as its order ([dg] remark 10), from a consistent start: x̃₃ is at the nodes, since φ mixes it in."""
    gaps, start = [], consistent(flat(), START)
    for count in (8, 16):
        times = np.linspace(0.0, 1.0, count + 1)
        other = transform(system(), phi, phi_slope, frame, sample=back(START))
        there = run(other, back(start), times)
        assert there.ledger.largest_residual < 1e-12
        gaps.append(np.abs(phi(there.final) - run(system(), start, times).final)[:2].max())
    assert gaps[0] > 1e-6
    assert math.log2(gaps[0] / gaps[1]) > 1.8


@pytest.mark.parametrize("completion", ["old", "mean"])
def test_completions_where_rows_vary(completion):
    """The null space of E(x) is constant: x₃ is algebraic, whatever the rows; ``mean`` starts consistently."""
    times, start = np.linspace(0.0, 1.0, 6), START if completion == "old" else consistent(flat(), START)
    plain = run(system(), start, times)
    found = integrate(
        system(), start, times, method=DiracDissipative(completion=completion), inputs=FORCE, progress=False
    )
    np.testing.assert_allclose(found.states[:, :2], plain.states[:, :2], atol=1e-13)
    stages = found.states[:-1, 2] if completion == "old" else 0.5 * (found.states[1:, 2] + found.states[:-1, 2])
    np.testing.assert_allclose(stages, plain.states[1:, 2], atol=1e-12)


# --- any discrete gradient --------------------------------------------------------------------------------------------


def flat(**options):
    """The same system by the rows U⁻ᵀ: E = diag(1, 1, 0)."""
    J = np.array([[0.0, 1.0, 0.3], [-1.0, 0.0, 0.8], [-0.3, -0.8, 0.0]])
    return PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=J,
        R=np.diag([0.0, 0.1, 1.0]),
        B=np.array([[0.0], [1.0], [0.2]]),
        z=lambda x: np.array([x[0] ** 3, math.sinh(x[1]), x[2]]),
        H=energy,
        sample=START,
        ports={"force": slice(0, 1)},
        **options,
    )


@pytest.mark.parametrize("name", ["gonzalez", "mean_value", "coordinate_increments"])
def test_a_discrete_gradient_of_the_user(name):
    """As a function of (x₀, x₁): those of the methods take the same steps, increments of coordinates others."""
    discrete, times = getattr(discrete_gradients, name), np.linspace(0.0, 2.0, 11)
    found = run(with_pair(flat(), lambda a, b: discrete(energy, slope, a, b, states=[0, 1])), START, times, "pair")
    assert found.ledger.largest_residual < 1e-13
    method = name if name != "coordinate_increments" else "gonzalez"
    built = run(flat(), START, times, method)
    if name == "coordinate_increments":
        assert 1e-6 < np.abs(found.states - built.states).max() < 1e-1
    else:
        np.testing.assert_allclose(found.states, built.states, atol=1e-11)


def test_what_is_no_discrete_gradient_is_refused():
    with pytest.raises(ValueError, match="not a discrete gradient"):
        with_pair(flat(), lambda a, b: discrete_gradients.midpoint(slope, a, b))
    with pytest.raises(ValueError, match=r"the discrete gradient must have shape \(3,\), got \(2,\)"):
        with_pair(flat(), lambda a, b: np.zeros(2))
