"""The example of index 1: the published step, exact solutions, completions, orders of all methods, the files."""

import json
import math
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

from cases import index_one
from cases.index_one import completions, quadratic, quartic

run = partial(run_case, "index-one")


@pytest.mark.parametrize("make", [quadratic, quartic])
def test_exact_solutions_satisfy_the_equations(make):
    """ẋ₁ = z₂ and z₁ + z₂ = 0; central differences with (1e-5)² and round-off."""
    problem, t, h = make(), 0.6, 1e-5
    x = np.array([problem.x1(t), problem.x2(t)])
    rate = (problem.x1(t + h) - problem.x1(t - h)) / (2.0 * h)
    right = (problem.system.J(x) - problem.system.R(x)) @ problem.system.z(x)
    np.testing.assert_allclose(right, [rate, 0.0], atol=1e-9)
    assert (problem.x1(0.0), problem.x2(0.0)) == (1.0, -1.0)


def test_one_step_by_hand():
    """[dg] eq. (28) with h = ½: x₁¹ = ¾/1¼ = 0.6, f₂ = −0.8; the completions of example 6."""
    values = completions(quadratic(), 1, 0.5)
    found = values["new state"]
    assert found["x1"][-1, 0] == pytest.approx(0.6, rel=1e-14)
    expected = {
        "new state": [-1.0, -0.8],
        "old state": [-0.8, -0.8],  # what is open at the end keeps the value of its step
        "mean of both": [-1.0, -0.6],
        "algebraic equation": [-1.0, -0.6],
    }
    for name, value in expected.items():
        np.testing.assert_allclose(values[name]["x2"][:, 0], value, rtol=1e-14)
    assert found.ledger.total_energy[-1] - 0.5 == pytest.approx(-0.5 * 0.8**2, rel=1e-13)  # −h f₂²


def test_only_pairs_balance_an_energy_that_is_not_quadratic():
    for row in index_one.order_table(2.0, counts=(4, 8)):
        balanced = row["problem"] == "quadratic" or row["method"] in index_one.PAIRS
        assert (row["balance_residual"] < 1e-12) == balanced
        if not balanced:
            assert row["balance_residual"] > 1e-5


def test_algebraic_states_have_the_orders_of_theory():
    """Stage values are of order 2 in mid-step and 1 at the end; Gauss methods extrapolate with order s."""
    rows = [row for row in index_one.order_table(2.0) if row["problem"] == "quadratic"]
    at_end = {row["method"]: row["order_x2"] for row in rows}
    stages = {"gauss4": 2, "gauss6": 3}
    for method, order in at_end.items():
        assert order == pytest.approx(stages.get(method, 1), abs=0.1)
    assert all(row["order_x2_in_mid_step"] == pytest.approx(2.0, abs=0.1) for row in rows if row["theory"] == 2)


def test_a_slope_needs_two_errors_above_round_off():
    assert math.isnan(index_one.slope_of([0.2, 0.1], [1e-3, 1e-15]))
    assert index_one.slope_of([0.4, 0.2, 0.1], [16e-3, 4e-3, 1e-15]) == pytest.approx(2.0)


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(index_one.completion_table, "__defaults__", ((16, 32),))
    run("--out", str(tmp_path / "out"), "--step", "0.5")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["pair_and_dirac_apart"] < 1e-14 and summary["pair_off_eq_28"] < 1e-14
    assert summary["orders"]["quartic"]["gauss6"] == pytest.approx(6.0, abs=0.1)
    table = np.genfromtxt(tmp_path / "out" / "example.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["x1_exact"], np.exp(-table["t_s"]), rtol=1e-14)
    np.testing.assert_allclose(table["x1"][1:] / table["x1"][:-1], 0.6, rtol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--step", "0"], "step must be positive"),
        (["--end", "0.1"], "end must be at least one step"),
        (["--step", "0.3"], "whole number of steps"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
