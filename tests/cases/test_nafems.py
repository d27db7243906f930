"""NAFEMS benchmarks: targets, what is known of them, files."""

import csv
import json
import math

import meshio
import numpy as np
import pytest
from click.testing import CliRunner

from cases import nafems as case
from cases.plate_series import YOUNG, mindlin
from flexph.cli import main


def test_bending_targets_of_fv52_are_those_of_mindlins_plate():
    """k = π²/12, hard support: 45.895, 109.444, 109.444, 167.886 Hz."""
    scale = math.sqrt(case.STEEL.young / (YOUNG * case.STEEL.density)) / case.SIDE
    found = case.hertz(scale * mindlin(case.THICK / case.SIDE, 4, correction=math.pi**2 / 12.0))
    assert found == pytest.approx(case.TARGETS["fv52"][:4], rel=5e-5)


@pytest.mark.slow
def test_a_run_writes_its_files_and_summary(tmp_path):
    out = tmp_path / "out"
    result = CliRunner().invoke(main, ["run", "nafems", "--refine", "4", "--out", str(out)])
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    figures = summary.get("results", summary)
    assert np.abs(figures["fv32_plane_stress_nafems_r0015_deviation"]).max() < 6e-3
    lines = np.array(figures["fv52_solid_lines_nafems_r0015_deviation"])
    assert np.all(lines[:4] < 0.02) and lines[0] < -0.02  # softer than the target, as with elements of others
    with open(out / "frequencies.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 + 6 + 4 + 4 + 7
    for name in ("fv12", "fv32", "fv52"):
        assert len(meshio.read(out / f"{name}.vtu").points)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="refine must be from 4 to 16"):
        case.run(refine=1)
