"""The plate on a hinge: what is kept, the rigid limit, files."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from motion_files import body_in

from cases import swinging_plate as case
from flexph.cli import main


@pytest.mark.filterwarnings("ignore:.*deflection is off by about:flexph.ValidityWarning")
@pytest.mark.slow
def test_both_theories_agree_on_a_thin_plate():
    """The plate is thin: shear changes the deflection by less than (t/L)² times some tens."""
    runs = [case.run(theory=theory, elements=3, steps=100, end=0.2).deflection[:, 2] for theory in case.THEORIES]
    assert np.abs(runs[0]).max() > 0.05
    assert np.abs(runs[0] - runs[1]).max() < 50.0 * (case.THICKNESS / case.LENGTH) ** 2 * np.abs(runs[0]).max()


@pytest.mark.filterwarnings("ignore:.*deflection is off by about:flexph.ValidityWarning")
@pytest.mark.slow
def test_a_run_writes_its_files_and_summary(tmp_path):
    out = tmp_path / "out"
    words = ["run", "swinging-plate", "--elements", "3", "--steps", "50", "--end", "0.3", "--out", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    figures = summary.get("results", summary)
    assert figures["energy_drift_rel"] < 1e-13 and figures["joint_drift_max"] < 1e-14
    with open(out / "tip.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 51 and max(float(r["von_mises_max_Pa"]) for r in rows) == pytest.approx(
        figures["von_mises_max_Pa"]
    )
    _, frame = body_in(out, "plate")
    assert frame.cells[0][0] == "quad9"
    for name in ("von_mises_largest_in_cell", "stress_bottom_largest_principal", "moment_xx", "membrane_force_xy"):
        assert name in frame.cell_data


@pytest.mark.parametrize(("options", "message"), [({"steps": 0}, "steps must"), ({"end": -1.0}, "end must")])
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        case.run(**options)
