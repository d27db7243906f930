"""The four-bar mechanism: files, mode shapes, options, its two data sets."""

import itertools
import json

import meshio
import numpy as np
import pytest
from case_commands import read_table
from case_commands import run_case as run

from cases import four_bar


def test_a_run_writes_frequencies_and_modes(tmp_path):
    out = tmp_path / "out"
    run("four-bar", "--out", str(out), "--angles", "0:90:22.5", "--elements", "3", "--mode-angle", "45")
    header, table = read_table(out / "frequencies.csv")
    assert header == ["angle_deg", "omega1_rad_s", "omega2_rad_s", "omega3_rad_s"]
    np.testing.assert_array_equal(table[:, 0], [0.0, 22.5, 45.0, 67.5, 90.0])
    assert np.all(np.diff(table[:, 1:], axis=1) > 0.0)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["parameters"]["elements"] == 3
    # the frequencies of the exported modes are those of the table at the same angle, by another route (vectors)
    np.testing.assert_allclose(summary["mode_omega_rad_s"], table[2, 1:], rtol=1e-9)
    mesh = meshio.read(out / "modes.vtu")
    assert {"mode_1", "mode_2", "mode_3"} <= mesh.point_data.keys()
    clamped = np.linalg.norm(mesh.points, axis=1) < 1e-12
    assert clamped.sum() == 1
    for mode in ("mode_1", "mode_2", "mode_3"):
        size = np.linalg.norm(mesh.point_data[mode], axis=1)
        assert size.max() == pytest.approx(1.0, abs=1e-12)
        assert size[clamped] < 1e-9  # the crank is clamped there: round-off


def test_mode_shapes_meet_at_the_pins(tmp_path):
    run("four-bar", "--out", str(tmp_path / "out"), "--angles", "30", "--elements", "4", "--mode-angle", "30")
    mesh = meshio.read(tmp_path / "out" / "modes.vtu")
    ends = [block.data[[0, -1], [0, 1]] for block in mesh.cells]
    for first, second in itertools.pairwise(ends):
        np.testing.assert_allclose(mesh.points[first[1]], mesh.points[second[0]], atol=1e-12)
        for mode in ("mode_1", "mode_2", "mode_3"):
            shape = mesh.point_data[mode]
            np.testing.assert_allclose(shape[first[1]], shape[second[0]], atol=1e-9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:360:90", [0, 90, 180, 270, 360]),
        ("0:1:0.1", np.linspace(0, 1, 11)),
        ("10:24:5", [10, 15, 20]),
        ("45", [45]),
        ("-10:10:10", [-10, 0, 10]),
    ],
)
def test_ranges_of_angles_are_read(text, expected):
    np.testing.assert_allclose(four_bar.parse_angles(text), expected, atol=1e-12)


@pytest.mark.parametrize("text", ["", "a", "0:360", "0:360:0", "0:360:-10", "360:0:10", "0:360:10:5", "nan", "0:inf:1"])
def test_bad_angles_are_refused(text, tmp_path):
    result = run("four-bar", "--out", str(tmp_path / "out"), "--angles", text, code=1)
    assert "angles" in result.output


def test_paper_pair_agrees_on_the_first_modes():
    """The paper's own pair has the right first modes here; it is its higher axial ones that are spurious."""
    ours, paper = (four_bar.run(angles="90", elements=8, pair=pair).frequencies[0] for pair in ("compatible", "paper"))
    np.testing.assert_allclose(paper, ours, rtol=1e-3)  # both within 1e-4 of the converged values in bending


def test_inch_data_differs_little_from_si():
    si, inch = (four_bar.run(angles="0:270:90", elements=4, data=data).frequencies for data in ("si", "inch"))
    np.testing.assert_allclose(inch, si, rtol=2e-3)  # the data are the same mechanism rounded to 3 digits
    assert np.all(inch != si)
