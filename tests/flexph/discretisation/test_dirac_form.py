"""The Dirac-dissipative form ([dg] eq. (25)-(26)) of systems whose descriptor matrix varies and is singular."""

import math

import numpy as np
import pytest
from varying_samples import ENERGIES, algebraic, bent, bent_slope, exact, frame, semi_explicit, turned, unbent

from flexph import integrate
from flexph.discretisation.descriptor_split import split_of
from flexph.discretisation.dirac_form import restricted
from flexph.methods import DiracDissipative, DiscreteGradient
from flexph.numerics.step_failed import StepFailed
from flexph.systems import transform

pytestmark = pytest.mark.processor

END = 1.0
SEEDS = range(3)
FEW = ("pendulum",)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, marks=pytest.mark.slow if name == "pendulum" else ())
        for name, seed in zip(ENERGIES, SEEDS, strict=True)
    ],
)
def test_runs_of_a_varying_singular_descriptor(name, seed):
    energy = ENERGIES[name]
    plain = semi_explicit(energy, seed)
    system, start = turned(plain, seed), np.array([1.0, 0.6])
    x0, wanted, errors = np.append(start, algebraic(plain, energy, start)), exact(plain, energy, start), []
    for steps in (10, 20):
        found = integrate(system, x0, np.linspace(0.0, END, steps + 1), method=DiracDissipative(), progress=False)
        assert found.ledger.residual.max() < 1e-14  # a few round-offs of energies of the order of one
        errors.append(np.abs(found.final[:2] - wanted).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3


@pytest.mark.parametrize("name", ENERGIES)
def test_rows_do_not_change_the_run(name):
    """Multiplied by an orthogonal U, costates stay as near to z: the pair of the semi-explicit system, [dg] theorem 5.

    Given as a function, for which E is not known to be constant.
    """
    plain, start = semi_explicit(ENERGIES[name], 0), np.array([1.0, 0.6, -0.5, 0.4])
    times, orthogonal = np.linspace(0.0, END, 11), np.linalg.qr(frame(0)(start))[0]
    pair = integrate(plain, start, times, method=DiscreteGradient("gonzalez"), progress=False)
    system = transform(plain, lambda x: x, lambda x: np.eye(4), lambda x: orthogonal, sample=start)
    found = integrate(system, start, times, method=DiracDissipative(), progress=False)
    np.testing.assert_allclose(found.states, pair.states, atol=1e-11)  # iterations end at 3e-12 of a state
    assert found.ledger.residual.max() < 1e-14


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ENERGIES)
def test_the_gradient_in_the_range_is_a_discrete_gradient(name, seed):
    """[dg] definition 4 and lemma 1 at random states, far apart: ∇̄H·Δx = ΔH, Ēᵀf = ∇̄H, and ∇H where they meet."""
    rng, energy = np.random.default_rng(seed), ENERGIES[name]
    system = turned(semi_explicit(energy, seed), seed)

    def discrete(x0, x1):
        middle = 0.5 * (x0 + x1)
        slope = system.E(middle).T @ system.z(middle)
        return restricted(split_of(system.E(middle)), slope, x1 - x0, (system.H(x0), system.H(x1)))

    x0, x1 = rng.standard_normal((2, 4))
    gradient, E = discrete(x0, x1), system.E(0.5 * (x0 + x1))
    assert gradient @ (x1 - x0) == pytest.approx(system.H(x1) - system.H(x0), abs=1e-14 * np.linalg.norm(gradient))
    costate = split_of(E).to_costates(E) @ gradient
    np.testing.assert_allclose(E.T @ costate, gradient, atol=1e-13)
    np.testing.assert_allclose(discrete(x0, x0), system.E(x0).T @ system.z(x0), atol=1e-14)
    near = [np.abs(discrete(x0, x0 + h * x1) - discrete(x0, x0)).max() for h in (1e-3, 5e-4)]
    assert near[0] / near[1] == pytest.approx(2.0, rel=0.01)  # it goes to ∇H with the distance


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(m, marks=pytest.mark.slow) for m in ENERGIES if m not in FEW)])
def test_a_null_space_that_turns(name):
    """H depends on φ₁(x): no state is algebraic, and what has no mean is taken in the middle of the step."""
    energy = ENERGIES[name]
    plain = semi_explicit(energy, 1)
    start = np.array([1.0, 0.6])
    x0 = unbent(np.append(start, algebraic(plain, energy, start)))
    system, wanted, errors = transform(plain, bent, bent_slope, frame(1), sample=x0), exact(plain, energy, start), []
    for steps in (10, 20):
        found = integrate(system, x0, np.linspace(0.0, END, steps + 1), method=DiracDissipative(), progress=False)
        assert found.ledger.residual.max() < 1e-14
        errors.append(np.abs(bent(found.final)[:2] - wanted).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3


def test_a_change_of_energy_that_the_descriptor_does_not_see_is_answered():
    """[dg] example 8: ∇H(m)·Δx = 0 ≠ ΔH, where no discrete gradient is in the range of Ēᵀ."""
    energy = lambda x: math.exp(0.5 * x[0] ** 2) - 1.0 + 0.5 * x[1] ** 2  # noqa: E731
    a = 1.5
    x0, x1 = np.array([a, 0.0]), np.array([0.0, a * math.sqrt(math.exp(0.5 * (0.5 * a) ** 2))])
    middle = 0.5 * (x0 + x1)
    slope = np.array([middle[0] * math.exp(0.5 * middle[0] ** 2), middle[1]])
    split = split_of(np.outer([1.0, 1.0], slope))
    with pytest.raises(StepFailed, match="the energy changes along a step in the kernel of Ē"):
        restricted(split, slope, x1 - x0, (energy(x0), energy(x1)))
