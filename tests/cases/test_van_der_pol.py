"""The degenerate Van der Pol oscillator: impasse points, jumps, what happens without a jump rule, the files."""

import json
import math
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

from cases import van_der_pol
from cases.van_der_pol import branch, characteristic, other_current, solve
from flexph import IntegrationError, integrate
from flexph.methods import Gauss
from flexph.switching import SwitchingPHDAE, Transition

run = partial(run_case, "van-der-pol")


@pytest.mark.parametrize("current", [-1.9, -1.0, 1.0, 1.4])
def test_the_jump_keeps_the_voltage(current):
    charge = characteristic(current)
    _, other = other_current(0.0, np.array([charge, current]))
    assert characteristic(other) == pytest.approx(charge, abs=1e-14)
    assert np.sign(other) == -np.sign(current)


def test_the_equations_are_the_published_ones():
    """Q̇ = I and V = I − I³/3 are the two rows."""
    system, x = branch(-1.5), np.array([0.3, -1.7])
    right = (system.J(x) - system.R(x)) @ system.z(x) + system.B(x) @ np.ones(1)
    np.testing.assert_allclose(right, [x[1], characteristic(x[1]) - x[0]], atol=1e-15)


def test_steps_stay_on_their_branch():
    """Stage values lie on the characteristic in the middle of the steps, and never between the folds."""
    found = solve(1.6e-2, 1.0)
    assert np.abs(found["I"]).min() > 1.0 - 1e-6
    middle = 0.5 * (found["Q"][1:, 0] + found["Q"][:-1, 0])
    smooth = np.flatnonzero(np.diff(found.times) > 1.59e-2)
    smooth = smooth[:-1]  # the last state has the current that solves the equation there
    np.testing.assert_allclose(characteristic(found["I"][1:, 0])[smooth], middle[smooth], atol=1e-13)


def test_without_a_jump_rule_the_run_ends_and_says_where():
    one = SwitchingPHDAE(
        {"left": branch(-1.5)},
        [Transition(source="left", target="left", when=van_der_pol.Impasse(), condition=lambda t, x: False)],
    )
    start = (characteristic(-2.0), -2.0)
    with pytest.raises(IntegrationError, match=r"mode 'left' ends at an impasse point at t = 0\.80\d+ s") as caught:
        integrate(one, start, np.linspace(0.0, 1.0, 101), inputs={"supply": 1.0}, progress=False)
    assert caught.value.solution.times[-1] == pytest.approx(1.5 - math.log(2.0), abs=1e-3)
    assert caught.value.solution.final == pytest.approx([-2.0 / 3.0, -1.0], abs=1e-4)


def test_two_stages_may_lie_on_two_branches():
    with pytest.raises(ValueError, match=r"a system.*Impasse\(\) needs a method.*one stage \(DiscreteGradient\(\)"):
        integrate(van_der_pol.oscillator(), (2.0 / 3.0, -2.0), [0.0, 1.0], method=Gauss(4))


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    run("--out", str(tmp_path / "out"), "--end", "2.5", "--step", "0.01")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["period_s"] == pytest.approx(summary["period_closed_form_s"], abs=2e-4)
    assert summary["lost_at_jumps_J"] == 0.0
    jumps = np.genfromtxt(tmp_path / "out" / "jumps.csv", delimiter=",", names=True)
    np.testing.assert_allclose(jumps["I_after"], [2.0, -2.0, 2.0], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--step", "-1"], "step must be positive"),
        (["--end", "nan"], "end must be at least one step"),
        (["--current", "0.5"], "current must be below -1 or above 1"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
