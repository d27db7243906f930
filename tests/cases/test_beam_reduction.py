"""The clamped beam reduced by every method: the table, the figures, the picture."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from cases import beam_reduction as case
from flexph import poles
from flexph.cli import main


def test_poles_of_the_beam_are_those_of_euler_bernoulli_theory():
    """400 states; poles of the first modes by Euler-Bernoulli theory: s² + (0.5 + 2e-4 ω²) s + ω² = 0."""
    beam = case.clamped_beam(100)
    assert beam.size == 400 and beam.B.shape == (400, 1)
    for exact in np.array([1.87510407, 4.69409113, 7.85475744]) ** 2:
        damping = 0.5 + 2e-4 * exact**2
        wanted = -0.5 * damping + 1j * np.sqrt(exact**2 - 0.25 * damping**2)
        # the fourth-order error of the mesh, 1e-9 here, and the round-off of the dense poles
        assert np.abs(poles(case.clamped_beam(40)) - wanted).min() < 2e-6 * exact


@pytest.mark.slow
def test_a_run_writes_its_files_and_summary(tmp_path):
    result = CliRunner().invoke(main, ["run", "beam-reduction", "--elements", "30", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    methods = summary["results"]["methods"] if "results" in summary else summary["methods"]
    assert len(methods) >= 4
    for method in methods:
        assert {"name", "order", "hinf_rel", "h2_rel", "seconds", "certificate"} <= set(method)
        assert method["certificate"] is True and 0.0 < method["hinf_rel"] < 0.03
    assert (tmp_path / "out" / "methods.csv").read_text().startswith("name,order,hinf_rel")


@pytest.mark.filterwarnings("ignore::flexph.linear.ReductionWarning")  # the Krylov space is too small at 8 and 12
@pytest.mark.parametrize(
    ("elements", "order"),
    [pytest.param(*case, marks=pytest.mark.slow) for case in ((100, 8), (40, 12), (40, 20))],
)
def test_the_peer_is_not_better(elements, order):
    """Two codes of one fixed point; where there are several, ours begins at the poles that weigh most."""
    pytest.importorskip("pymor")
    found = {m.name: m for m in case.run(elements=elements, order=order).methods}
    ours, theirs = found["IRKA"], found["PHIRKA of pyMOR"]
    assert ours.hinf < 1.05 * theirs.hinf
    assert ours.h2 < 1.05 * theirs.h2
