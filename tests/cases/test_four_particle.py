"""Four particles: published energies, constraints, momenta, orders against an independent solution, the files."""

import csv
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

from cases import four_particle_runs, four_particle_system
from cases.four_particle_runs import drifts, solve
from cases.four_particle_system import constraint_rates, constraints, four_particles
from cases.times import equal_steps
from flexph import integrate
from flexph.methods import DiscreteGradient

run = partial(run_case, "four-particle")


def test_system_against_differences_and_hand():
    """Dg, forces and viscosity at a state without symmetry; central differences leave 1e-9 of round-off."""
    rng = np.random.default_rng(1)
    q, v, h = rng.normal(size=12), rng.normal(size=12), 1e-6
    rate = (constraints(q + h * v) - constraints(q - h * v))[0] / (2.0 * h)
    np.testing.assert_allclose(four_particle_system.constraint_jacobian(q) @ v, rate, rtol=1e-8)
    np.testing.assert_allclose(constraint_rates(q, v)[0], rate, rtol=1e-8)
    system, x = four_particles(2.0), np.concatenate([q, v, [0.3, -0.7]])
    system.check(x)  # J = −Jᵀ, R ⪰ 0, Eᵀz = ∇H
    apart, moving = q[6:9] - q[3:6], v[6:9] - v[3:6]
    lost = 2.0 * (1.0 + 0.5 * apart @ apart) * (moving @ moving)  # [dg] eq. (48): zᵀR z = 2 G
    assert x[12:24] @ (system.R(x) @ x)[12:24] == pytest.approx(lost, rel=1e-13)


def test_the_system_is_that_of_the_paper():
    """[dg] eq. (43) to (50) by hand at a state without symmetry: forces, bars, H."""
    system, x = four_particles(2.0), np.random.default_rng(2).normal(size=26)
    q, v, lam = x[:12], x[12:24], x[24:]
    bars, masses = four_particle_system.constraint_jacobian(q), four_particle_system.M
    rest = system.J(x) @ system.z(x)
    np.testing.assert_array_equal(rest[:12], v)
    np.testing.assert_allclose(rest[12:24], -four_particle_system.spring_forces(q) - bars.T @ lam, atol=1e-11)
    np.testing.assert_allclose(rest[24:], bars @ v, atol=1e-14)
    np.testing.assert_array_equal(np.diag(system.E(x)), [*np.ones(12), *masses, 0.0, 0.0])
    stretches = [(q[6:9] - q[:3]) @ (q[6:9] - q[:3]) - 1.0, (q[9:] - q[3:6]) @ (q[9:] - q[3:6]) - 1.0]
    stored = 0.5 * (50.0 * stretches[0] ** 2 + 500.0 * stretches[1] ** 2) + 0.5 * v @ (masses * v)
    assert system.H(x) == pytest.approx(stored, rel=1e-14)
    push = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal((system.B(x) @ push)[21:24], push)


def test_loops_take_the_steps_that_numpy_takes():
    """Differential states to round-off, λ to what its differences of velocities over a step leave."""
    system, times = four_particles(1.0), equal_steps(0.01, 0.5)
    fast, plain = (
        integrate(given, four_particle_system.START, times, method=DiscreteGradient("gonzalez"))
        for given in (system, replace(system, terms=None))
    )
    np.testing.assert_allclose(fast.states[:, :24], plain.states[:, :24], atol=1e-12)
    np.testing.assert_allclose(fast["lam"], plain["lam"], atol=1e-10)


def test_values_of_the_start():
    system, start = four_particles(1.0), four_particle_system.START
    assert system.H(start) == pytest.approx(20.0 / 17.0, abs=1e-15)  # ½ 1.7 (20/17)² , springs at their length of 1 m
    np.testing.assert_array_equal(constraints(start[:12]), 0.0)
    np.testing.assert_array_equal(constraint_rates(start[:12], start[12:24]), 0.0)
    # the bar 3-4 holds the fourth particle on its circle: λ = μ v²/l with the reduced mass of both ends
    held = four_particle_runs.multipliers(system, start[:24])
    np.testing.assert_allclose(held, [0.0, 1.7 * 2.3 / 4.0 * (20.0 / 17.0) ** 2], atol=1e-14)


@pytest.mark.parametrize(("gradient", "kept"), [("gonzalez", False), ("invariants", True)])
def test_the_gradient_through_invariants_keeps_momenta(gradient, kept):
    """[dg] remark 13: the gradient through invariants keeps both momenta, Gonzalez' leaks 1.8e-5 within 1000 steps.

    That leak is the first swing of the springs, so 100 steps show it. Round-off of 100 iterations stays below 1e-12.
    """
    found = integrate(
        four_particles(0.0),
        four_particle_system.START,
        equal_steps(0.01, 1.0),
        method=DiscreteGradient(gradient),
    )
    linear, angular = drifts(found)
    if kept:
        assert linear < 1e-12 and angular < 1e-12
    else:
        assert linear == pytest.approx(1.8e-5, rel=0.05)
        assert angular > 1e-6
    assert np.abs(found.ledger.total_energy - 20.0 / 17.0).max() < 1e-13


def test_long_steps_lose_energy_and_the_midpoint_rule_gains():
    """[dg] fig. 6, right: h = 0.25 s."""
    pair, midpoint = (solve(0.25, 10.0, 1.0, method).ledger.total_energy for method in ("gonzalez", "midpoint"))
    assert np.diff(pair).max() <= 1e-13
    assert np.diff(midpoint).max() > 0.1


def test_orders_against_the_eliminated_equations():
    """Order 2 in q, v and in λ at the middle of its step, 1 where it is taken at the end ([dg] fig. 6).

    Slopes over 0.005 to 0.0025 s still carry 0.15 of higher orders.
    """
    rows = list(four_particle_runs.converge(1.0, ("gonzalez",), counts=(20, 40)))
    found = four_particle_runs.orders(rows, "gonzalez")
    for name, order in {"q4": 2, "v4": 2, "lam1_at_middle": 2, "lam1_at_end": 1}.items():
        assert found[name] == pytest.approx(order, abs=0.2)
    assert rows[-1]["q4"] < 3e-6 and rows[-1]["v4"] < 2e-5 and rows[-1]["lam1_at_middle"] < 3e-4


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("four") / "out"
    run("--out", str(folder), "--end", "0.5", "--gradient", "invariant")
    return folder


def test_the_summary_has_the_published_energies(out):
    summary = json.loads((out / "summary.json").read_text())
    assert summary["H0"] == pytest.approx(20.0 / 17.0, abs=1e-15)
    exact = four_particle_runs.reference(1.0, 0.5)
    end = four_particles(1.0).H(np.append(exact(0.5), [0.0, 0.0]))
    assert summary["H_end"] == pytest.approx(end, abs=5e-5)  # order 2, 2e-5 measured with h = 0.01
    np.testing.assert_allclose(summary["q4_end"], exact(0.5)[9:12], atol=1e-4)  # order 2
    held = four_particle_runs.multipliers(four_particles(1.0), exact(summary["lambda_time"]))
    assert summary["lambda_time"] == pytest.approx(0.495)
    np.testing.assert_allclose(summary["lambda_end"], held, atol=0.04)  # 2 % of 1.3, order 2
    assert summary["balance_residual_max"] <= 1e-13 and summary["position_drift_max"] <= 1e-13
    assert summary["energy_increment_max"] <= 1e-15
    assert summary["linear_momentum_drift"] < 1e-12  # the dashpot takes none
    assert 1e-6 < summary["angular_momentum_drift"] < 1.0  # but its couple does
    assert summary["undamped_angular_momentum_drift"] < 1e-12
    assert summary["midpoint_balance_residual_max"] > 1e-6
    assert summary["steps_per_s"] > 0.0


def test_written_tables_balance(out):
    """The written columns themselves: ΔH = −W, by two of their round-offs."""
    with open(out / "states.csv", newline="") as file:
        states = list(csv.DictReader(file))
    with open(out / "steps.csv", newline="") as file:
        steps = list(csv.DictReader(file))
    assert (len(states), len(steps)) == (51, 50)
    energy = np.array([float(row["H_J"]) for row in states])
    lost = np.array([float(row["dissipated_J"]) for row in steps])
    np.testing.assert_allclose(np.diff(energy), -lost, atol=1e-14)
    assert lost.min() >= 0.0 and lost.max() > 1e-5
    assert max(abs(float(row[f"g_{k}"])) for row in states for k in (1, 2)) < 1e-14


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--step", "0"], "step must be positive"),
        (["--step", "nan"], "step must be positive"),
        (["--end", "0.001"], "end must be at least one step"),
        (["--step", "0.03", "--end", "0.1"], "whole number of steps"),
        (["--eta", "-1"], "eta must not be negative"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output


def test_times_end_where_asked():
    times = equal_steps(0.1, 0.3, filling=True)
    assert len(times) == 4 and times[-1] == 0.3
    assert math.isclose(times[1], 0.1)
