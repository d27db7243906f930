"""The bar as a solid: beam theory, convergence, files."""

import csv
import json

import meshio
import numpy as np
import pytest
from click.testing import CliRunner

from cases import solid_cantilever as case
from flexph.cli import main


def test_timoshenkos_frequencies_lie_below_euler_bernoullis():
    """Timoshenko's beam is Euler-Bernoulli's where it is slender, and below it otherwise, more so for higher modes."""
    found = case.theory()
    ratio = found["bending"] / found["euler"]
    assert np.all(ratio < 1.0) and np.all(np.diff(ratio) < 0.0)
    assert ratio[0] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("cells", "degree", "bound"),
    [pytest.param(*case, marks=pytest.mark.slow) for case in (("hexahedron", 1, 0.12), ("tetra", 2, 0.01))],
)
def test_frequencies_fall_towards_those_of_beams(cells, degree, bound):
    """A Ritz method comes from above; the clamp of a solid is a little stiffer than that of a beam."""
    result = case.run(degree=degree, refine=2, cells=cells)
    coarse, fine = (case.deviations(result, level)["bending"] for level in result.levels)
    assert np.all(fine > 0.0) and np.all(fine < coarse) and np.all(fine < bound)


@pytest.mark.slow
def test_a_run_writes_its_files_and_summary(tmp_path):
    out = tmp_path / "out"
    words = ["run", "solid-cantilever", "--degree", "2", "--refine", "2", "--cells", "tetra", "--out", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    figures = summary.get("results", summary)
    assert figures["degree"] == 2 and figures["coordinates"] == 3000
    assert max(map(abs, figures["deviation"]["bending"])) < 0.01
    with open(out / "convergence.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(float(row["cells_over_height"])) for row in rows] == [1, 2]
    modes = meshio.read(out / "modes.vtu")
    assert modes.cells[0].type == "tetra10" and modes.point_data["mode_1"].shape == (len(modes.points), 3)


@pytest.mark.parametrize(
    ("options", "message"), [({"degree": 3}, "degree must be 1 or 2"), ({"refine": 0}, "at least 1")]
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        case.run(**options)
