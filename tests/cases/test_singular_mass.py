"""A singular mass matrix: both routes against each other and against the modes, the files."""

import json
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

from cases import singular_mass
from cases.singular_mass import apart, elongations, gap, minimal, redundant, solve

run = partial(run_case, "singular-mass")


def test_matrices_are_the_published_ones():
    """[dg] eq. (36) and (E.3): E has rank 5 of 7 and the singular values 1, 1, 1, m₁, 2m₂."""
    E = redundant(0.0).E(singular_mass.start_redundant())
    values = np.linalg.svd(E, compute_uv=False)
    np.testing.assert_allclose(np.sort(values), np.sort([1.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0]), atol=1e-15)
    # eliminated by hand: T = ½m₁ẋ₁² + ½m₂(ẋ₁ + ẋ₂)²
    x = singular_mass.start_minimal()
    np.testing.assert_allclose(minimal(0.0).E(x)[2:, 2:], [[3.0, 1.0], [1.0, 1.0]], atol=1e-15)
    assert minimal(0.0).H(x) == redundant(0.0).H(singular_mass.start_redundant())


def test_modes_satisfy_the_equations_of_motion():
    """PᵀMP ẍ + K x = 0 by central differences of the superposed modes: h² and round-off over h²."""
    h, t = 1e-4, 0.7
    before, now, after = singular_mass.modes(np.array([t - h, t, t + h]))
    mass = singular_mass.KEPT.T @ singular_mass.M @ singular_mass.KEPT
    np.testing.assert_allclose(mass @ (before - 2.0 * now + after) / h**2, -singular_mass.STIFFNESS * now, atol=1e-5)


def test_hardening_springs_need_the_mean_value():
    """[dg] example 10: Gonzalez' gradient changes with coordinates, at second order; the mean value does not."""
    coarse, fine = (apart(*solve(10.0, h, 1.0, "gonzalez")) for h in (0.02, 0.01))
    assert coarse / fine == pytest.approx(4.0, rel=0.1)
    assert apart(*solve(10.0, 0.02, 1.0, "mean_value")) < 1e-12 < fine


def test_multiplier_is_the_force_of_the_second_spring():
    """The massless direction v₂ − v₃ asks it: exactly, at the stage values of the step."""
    found, _ = solve(0.0, 0.02, 1.0, "gonzalez")
    middle = 0.5 * (elongations(found)[1:] + elongations(found)[:-1])
    np.testing.assert_allclose(found["lam"][1:, 0], 20.0 * middle[:, 1], atol=1e-13)
    assert np.abs(gap(found)).max() < 1e-14


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    run("--out", str(tmp_path / "out"), "--end", "2")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["rank_of_E"] == 5
    difference = summary["largest_difference_of_formulations"]
    assert difference["mean_value"] < 1e-12 < difference["gonzalez"]
    assert max(summary["balance_residual_max_J"].values()) < 1e-13
    table = np.genfromtxt(tmp_path / "out" / "motion.csv", delimiter=",", names=True)
    assert len(table) == 101
    np.testing.assert_allclose(table["q2_m"] - table["x1_m"], 1.2, atol=1e-14)  # l₁₀ + w
    np.testing.assert_allclose(table["H_J"], table["H_J"][0], rtol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--step", "-1"], "step must be positive"),
        (["--end", "inf"], "end must be at least one step"),
        (["--hardening", "-2"], "hardening must not be negative"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
