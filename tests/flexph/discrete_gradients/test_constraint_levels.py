"""Constraints on positions and velocities at the ends of steps ([dg] remark 12)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from four_particles import START, M, constraint_jacobian, constraints, four_particles, momenta

from cases.four_particle_runs import reference
from cases.four_particle_system import constraint_rates
from flexph import PHDAE, integrate
from flexph.discrete_gradients import Constraints, holonomic, with_constraints
from flexph.methods import by_name

pytestmark = pytest.mark.processor

PAIRS = ("gonzalez", "mean_value", "invariants")
BOTH = holonomic(
    lambda q: constraints(q)[0],
    constraint_jacobian,
    lambda q, v: constraint_jacobian(v),  # Dg is linear in q
    positions=slice(0, 12),
    velocities=slice(12, 24),
)


def free(eta):
    """The four particles without their bars: the first 24 states."""
    whole = four_particles(eta)
    full = lambda x: np.append(x, [0.0, 0.0])  # noqa: E731
    invariants = replace(
        whole.invariants,
        values=lambda x: whole.invariants.values(full(x)),
        jacobian=lambda x: whole.invariants.jacobian(full(x))[:, :24],
    )
    return PHDAE(
        E=np.diag([*np.ones(12), *M]),
        J=np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(12)),
        R=lambda x: whole.R(full(x))[:24, :24],
        B=whole.B(START)[:24],
        z=lambda x: whole.z(full(x))[:24],
        H=lambda x: whole.H(full(x)),
        sample=START[:24],
        ports=whole.ports,
        parts={"q": slice(0, 12), "v": slice(12, 24)},
        invariants=invariants,
    )


FIRST = np.append(START[:24], np.zeros(4))


def run(system, start, times, method="gonzalez", **options):
    return integrate(system, start, times, method=by_name(method), progress=False, **options)


SLOW = [pytest.param(method, 0.1, marks=pytest.mark.slow) for method in PAIRS[1:]]


@pytest.mark.parametrize(("method", "step"), [("gonzalez", 0.01), ("gonzalez", 0.1), *SLOW])
def test_both_levels_and_the_energy(method, step):
    """Fig. 4 of [dg] shows velocities off by 1e-4 at h = 0.01 with one level; here both are round-off."""
    push = {"push": lambda t: (math.sin(9.0 * t), 0.5, -0.2)}
    found = run(with_constraints(free(1.0), BOTH), FIRST, np.linspace(0.0, 5 * step, 6), method, inputs=push)
    assert np.abs(constraints(found["q"])).max() < 1e-13
    assert np.abs(constraint_rates(found["q"], found["v"])).max() < 1e-13 / step  # divided by a step
    assert found.ledger.residual.max() < 1e-12
    assert found.energy_drift() < 1e-11
    plain = run(four_particles(1.0), START, np.linspace(0.0, 5 * step, 6), method, inputs=push)
    if (method, step) == ("gonzalez", 0.01):
        assert 1e-5 < np.abs(constraint_rates(plain["q"], plain["v"])).max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("method", PAIRS)
def test_positions_and_velocities_are_of_second_order(method):
    """Positions and velocities at 0.1 s against a Runge-Kutta method on the equations without multipliers."""
    exact, errors = reference(1.0)(0.1), []
    for count in (20, 40):
        found = run(with_constraints(free(1.0), BOTH), FIRST, np.linspace(0.0, 0.1, count + 1), method)
        errors.append([np.abs(found[p][-1] - e).max() for p, e in (("q", exact[:12]), ("v", exact[12:]))])
    np.testing.assert_allclose(np.log2(np.array(errors[0]) / np.array(errors[1])), 2.0, atol=0.1)
    assert np.max(errors[1]) < 1e-3


@pytest.mark.slow
def test_the_second_multipliers_are_errors_of_a_step():
    """γ → 0 and q̇ → v as h → 0; λ is that of the system with one level, in mid-step."""
    sizes, gaps = [], []
    for count in (2, 4, 8):
        times = np.linspace(0.0, 0.05, count + 1)
        found, plain = run(with_constraints(free(1.0), BOTH), FIRST, times), run(four_particles(1.0), START, times)
        sizes.append(np.abs(found["multipliers"][1:, 2:]).max())
        gaps.append(np.abs(found["multipliers"][-1, :2] - plain["lam"][-1]).max())
    assert sizes[0] > 3.0 * sizes[1] > 9.0 * sizes[2] > 0.0
    assert gaps[2] < 0.3 * gaps[0]


def test_gradients_through_invariants_keep_momenta():
    """Without dissipation: bars are rotation invariant, and so is their discrete Jacobian, a value in the middle."""
    found = run(with_constraints(free(0.0), BOTH), FIRST, np.linspace(0.0, 0.2, 6), "invariants")
    linear, _ = momenta(found)
    assert np.abs(linear - linear[0]).max() < 1e-11
    assert found.energy_drift() < 1e-12


def pendulum(stiff):
    """A unit mass on a rod of 1 m: ½(|q|² − 1) = 0, in a gravity of 1 m/s² scaled by units of length ``stiff``."""
    system = PHDAE(
        E=np.eye(4),
        J=np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(2)),
        z=lambda x: np.array([0.0, stiff, x[2], x[3]]),
        H=lambda x: stiff * x[1] + 0.5 * float(x[2:] @ x[2:]),
        sample=stiff * np.array([1.0, 0.0, 0.0, 0.0]),
        parts={"q": slice(0, 2), "v": slice(2, 4)},
    )
    both = holonomic(
        lambda q: np.array([0.5 * (q @ q - stiff**2)]),
        lambda q: q[None],
        lambda q, v: v[None],
        positions=slice(0, 2),
        velocities=slice(2, 4),
    )
    return with_constraints(system, both)


@pytest.mark.parametrize("method", ["gonzalez", "dirac", "midpoint"])
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_long_steps_in_any_unit(unit, method):
    """A pendulum let go from the side, at 20 steps in its period of 7.4 s, in m and mm; H is quadratic."""
    found = run(pendulum(unit), unit * np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.linspace(0.0, 7.4, 21), method)
    q, v = found["q"] / unit, found["v"] / unit
    assert np.abs(np.sum(q**2, axis=1) - 1.0).max() < 1e-13
    assert np.abs(np.sum(q * v, axis=1)).max() < 1e-12
    assert found.ledger.largest_residual < 1e-13


def test_what_cannot_be_kept_is_refused():
    system = free(1.0)
    one = Constraints(
        lambda x: constraints(x[:12])[0], lambda x: np.hstack([constraint_jacobian(x[:12]), np.zeros((2, 12))])
    )
    with pytest.raises(ValueError, match=r"must determine their multipliers: .* give both levels"):
        with_constraints(system, one)
    twice = Constraints(lambda x: np.tile(BOTH.function(x), 2), lambda x: np.tile(BOTH.jacobian(x), (2, 1)))
    with pytest.raises(ValueError, match="must determine their multipliers"):
        with_constraints(system, twice)
    with pytest.raises(ValueError, match="E must be invertible"):
        with_constraints(four_particles(1.0), BOTH)
    with pytest.raises(ValueError, match=r"the jacobian of the constraints must have shape \(4, 24\)"):
        with_constraints(system, Constraints(BOTH.function, lambda x: np.zeros((4, 23))))
    off = FIRST.copy()
    off[3] += 0.1
    with pytest.raises(ValueError, match=r"inconsistent start: constraint 0 .* 0\.105"):
        run(with_constraints(system, BOTH), off, [0.0, 0.1])
