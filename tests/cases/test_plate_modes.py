"""Square plates against series: the series themselves, published numbers, files."""

import json

import meshio
import numpy as np
import pytest
from click.testing import CliRunner

from cases import plate_modes as case
from cases import plate_series as series
from flexph.cli import main


def test_series_are_the_published_ones():
    """A. W. Leissa, J. Sound Vib. 31 (1973): clamped 35.992, 73.413, 108.27, free 13.489, 19.789, 24.432, upper bounds.

    To the digits of later Ritz solutions: 35.985, 73.394, 108.22, 131.58, 132.21 and 13.468, 19.596, 24.270, 34.801.
    """
    assert series.thin_ritz("clamped", 6) == pytest.approx([35.985, 73.394, 73.394, 108.22, 131.58, 132.205], rel=5e-5)
    assert series.thin_ritz("free", 4) == pytest.approx([13.468, 19.596, 24.270, 34.801], rel=3e-5)
    assert np.all(series.thin_ritz("free", 3) < [13.489, 19.789, 24.432])
    assert series.navier(4) == pytest.approx(np.pi**2 * np.array([2.0, 5.0, 5.0, 8.0]))


def test_series_with_shear_come_to_the_thin_ones():
    for thick, thin in (
        (series.mindlin(1e-3, 4), series.navier(4)),
        (series.thick_ritz(1e-2, 4), series.thin_ritz("clamped", 4)),
    ):
        t = 1e-3 if thin[0] < 30.0 else 1e-2
        assert np.all(thick < t * thin)
        assert thick == pytest.approx(t * thin, rel=60.0 * t**2)


@pytest.mark.slow
def test_triangles_converge_and_write_their_files(tmp_path):
    """Two meshes of triangles: files, summary, convergence."""
    out = tmp_path / "out"
    words = ["run", "plate-modes", "--cells", "triangle", "--refine", "2", "--out", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    figures = summary.get("results", summary)
    assert figures["cells_along_side"] == 4
    assert all(2.0 < order < 4.5 for order in figures["order_of_first"].values())
    assert figures["error_max"]["hinged_kirchhoff"] < 0.1
    modes = meshio.read(out / "modes_clamped.vtu")
    assert modes.cells[0].type == "triangle6" and modes.point_data["mode_6"].shape == (len(modes.points), 3)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="refine must be from 2 to 5"):
        case.run(refine=1)
