"""Cases of circuits: their checks, identities beside them, files and options."""

import json
import math

import numpy as np
import pytest
from case_commands import run_case as run

from cases import boost_converter, controlled_lc, lc_circuit, rlc_graph


def test_multiplier_form_is_that_of_the_graph():
    """J of [survey] eq. (1.5) with λ = I₁, up to the order of states."""
    system, published = lc_circuit.graph(0.0).phdae(), lc_circuit.multiplier(0.0)
    order = [system.parts[name].start for name in ("C1", "C2", "L", "i(C1)")]
    x = published.sample
    np.testing.assert_array_equal(system.J(x)[np.ix_(order, order)], published.J(x))
    np.testing.assert_allclose(system.z(x[np.argsort(order)])[order], published.z(x), rtol=1e-15)


def test_kernel_form_follows_from_the_multiplier_form():
    """[survey] eq. (1.5) times (1 1 0; 0 0 1) and the constraint are (1.6)."""
    J = lc_circuit.multiplier(0.0).J(np.ones(4))
    kept = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(kept @ J[:3, 3:], 0.0)
    np.testing.assert_array_equal(kept @ J[:3, :3], lc_circuit.K[:2])
    np.testing.assert_array_equal(lc_circuit.F[:2], kept)


def test_hardening_ties_the_charges_at_second_order():
    """Constraints hold for discrete gradients; at the ends of the steps within h²."""
    gaps = []
    for steps in (32, 64):
        found = lc_circuit.solve(0.5, 1.0, steps).states["graph"]
        laws = lc_circuit.Laws(0.5)
        gaps.append(max(abs(float(np.diff(laws.slopes(x)[:2])[0])) for x in found))
    assert math.log2(gaps[0] / gaps[1]) == pytest.approx(2.0, abs=0.1)
    assert gaps[1] < 1e-2


def test_step_response_satisfies_the_ladder():
    """½(τ‴ + 2τ″ + 2τ′ + τ) of the closed form by differences: s³ + 2s² + 2s + 1 is the Butterworth polynomial."""
    h = 1e-2 / rlc_graph.OMEGA
    t = 2.0 / rlc_graph.OMEGA + h * np.arange(-2, 3)
    y = rlc_graph.step_of(t)
    first, second = (y[3] - y[1]) / 0.02, (y[3] - 2.0 * y[2] + y[1]) / 1e-4
    third = (y[4] - 2.0 * y[3] + 2.0 * y[1] - y[0]) / 2e-6
    assert third + 2.0 * second + 2.0 * first + y[2] == pytest.approx(0.5, abs=1e-4)
    assert rlc_graph.transfer(rlc_graph.OMEGA) == pytest.approx(0.5 / ((1j + 1.0) * 1j))


def test_the_casimir_is_none_while_the_source_is_on():
    result = controlled_lc.run(periods=4.0)
    assert controlled_lc.drift(result.linear, 0) > 0.1


def test_a_converter_changes_its_kind_of_conduction_at_the_limit():
    """At 2L/(RT) = D(1 − D)² both closed forms of the mean output agree."""
    limit = boost_converter._limit(boost_converter.Converter(1e-3, 1e-4, 1.0, 0.4))
    below, above = (boost_converter.Converter(1e-3, 1e-4, r * limit, 0.4) for r in (1.0 - 1e-9, 1.0 + 1e-9))
    assert below.conducts and not above.conducts
    assert below.ideal == pytest.approx(above.ideal, rel=1e-6)


def test_the_mean_output_holds_for_other_duties():
    """Volt-seconds of the inductor: exact at any ripple while the switch is open."""
    converter = boost_converter.Converter(1e-3, 20e-6, 10.0, 0.6)
    found = converter.run(converter.periodic(20), 1, 20, "S closed, D open")
    mean = boost_converter.mean(converter, found, 0.6 * boost_converter.PERIOD, boost_converter.PERIOD)
    assert mean == pytest.approx(30.0, rel=1e-9)
    assert boost_converter.ripple(converter, found) > 0.1


@pytest.mark.slow  # periods until it is steady; its limits and mean above
def test_the_boost_converter_reaches_twenty_volts(tmp_path):
    run("boost-converter", "--out", str(tmp_path / "out"), "--steps", "20", "--periods", "8")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["mean_output_V"] == pytest.approx(20.0, rel=1e-2) and summary["ripple"] < 1e-2
    assert all(count > 0 for count in summary["modes_entered"]["started"].values())
    assert summary["modes_entered"]["steady"]["S open, D open"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lc-circuit", "--hardening", "-1"], "hardening must not be negative"),
        (["lc-circuit", "--steps", "2"], "steps must be at least 8 a period"),
        (["rlc-graph", "--resistance", "0"], "resistance must be positive"),
        (["controlled-lc", "--periods", "0"], "periods must be at least 1"),
        (["clamped-capacitor", "--current", "0"], "current must be positive"),
        (["boost-converter", "--duty", "1"], "duty must be between 0 and 1"),
        (["boost-converter", "--resistance", "1000"], "resistance must be below 138.889 Ω for continuous conduction"),
        (["boost-converter", "--light", "10"], "light must be above 55.5556 Ω for discontinuous conduction"),
    ],
)
def test_bad_options_are_refused(words, message, tmp_path):
    assert message in run(*words, "--out", str(tmp_path / "out"), code=1).output
