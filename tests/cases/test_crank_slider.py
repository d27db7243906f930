"""The crank-slider: tables, ledger, series, refinement, interruption.

Five seconds, as the case runs with its pictures and series.
"""

import json

import numpy as np
import pytest
from case_commands import read_table
from case_commands import run_case as run

from cases import crank_slider
from flexph import Solution
from flexph.export import read_series, write_series
from flexph.files.vtkhdf import read_vtkhdf


def test_a_run_by_a_general_method(tmp_path):
    """The exact scheme imposes angles, other methods speeds: hω/2 for tan(hω/2)."""
    folder = tmp_path / "out"
    run(
        "crank-slider", "--out", str(folder), "--elements", "1", "--steps", "40", "--turns", "0.01", "--method", "dirac"
    )
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["method"] == "dirac"
    assert summary["spin_difference_max_rel"] == pytest.approx((2.0 * np.pi * 0.01 / 40) ** 2 / 12.0, rel=0.1)
    assert summary["energy_difference_max_rel"] < 1e-6
    header, table = read_table(folder / "history.csv")
    assert header == ["t_s", "energy_J", "ux_over_L", "uy_over_L"] and len(table) == 41


def test_refinement_belongs_to_the_exact_scheme(tmp_path):
    options = ["--method", "ida", "--refinement"]
    assert "refinement belongs to" in run("crank-slider", "--out", str(tmp_path / "out"), *options, code=1).output


@pytest.fixture(scope="module")
def crank_slider_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("crank") / "out"
    run(
        "crank-slider", "--out", str(out), "--strain", "von_karman", "--elements", "4", "--steps", "300", "--turns", "1"
    )
    return out


def test_tables_and_summary_agree(crank_slider_run):
    header, table = read_table(crank_slider_run / "midpoint.csv")
    assert header == ["t_s", "ux_over_L", "uy_over_L"]
    assert table.shape == (301, 3)
    assert table[-1, 0] == pytest.approx(2.0 * np.pi / 150.0, rel=1e-15)
    summary = json.loads((crank_slider_run / "summary.json").read_text())
    assert summary["energy_residual_max_rel"] <= 1e-11
    assert summary["position_drift_max_m"] <= 1e-11
    assert summary["uy_max_over_L"] == table[:, 2].max()
    assert summary["uy_min_over_L"] == table[:, 2].min()
    assert summary["steps"] == 300
    assert summary["wall_s"] > 0.0
    assert 1.0 <= summary["newton_iterations_mean"] <= 10.0


def test_crank_slider_ledger_balances(crank_slider_run):
    """The written columns themselves balance: energy differences are the work of the drive."""
    header, table = read_table(crank_slider_run / "ledger.csv")
    column = dict(zip(header, table.T, strict=True))
    energy, work = column["total energy [J]"], column["work of drive crank.root–GROUND [J]"]
    parts = [v for k, v in column.items() if k.startswith(("kinetic", "elastic", "potential"))]
    np.testing.assert_allclose(np.sum(parts, axis=0), energy, rtol=1e-14)
    np.testing.assert_allclose(np.diff(energy), work[1:], atol=1e-13 * energy.max())  # round-off of two energies
    assert np.abs(work).max() > 1e-3 * energy.max()


def test_crank_slider_series_reads_back(crank_slider_run):
    times, grids, _ = read_vtkhdf(crank_slider_run / "motion.vtkhdf")
    assert len(times) == 201
    assert {"crank", "rod", "slider"} <= {grid.name for grid in grids if grid.group == "bodies"}
    assert len([grid for grid in grids if grid.group == "joints"]) == 5
    rod = next(grid for grid in grids if grid.name == "rod")
    assert {"displacement", "velocity"} <= rod.point_data.keys()
    assert {"axial_force", "bending_moment", "axial_stress_upper", "axial_stress_lower"} <= rod.cell_data.keys()
    # after one turn the pin of the rod is back, and moves with the crank
    np.testing.assert_allclose(rod.points[-1, 0], [0.15, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(rod.point_data["displacement"][-1, 0], 0.0, atol=1e-12)
    # N/A ∓ M c/I of the circular section
    area, modulus = np.pi * 6e-3**2 / 4.0, np.pi * 6e-3**3 / 32.0
    last = {name: values[-1] for name, values in rod.cell_data.items()}
    force, moment = last["axial_force"], last["bending_moment"]
    np.testing.assert_allclose(last["axial_stress_upper"], force / area - moment / modulus, rtol=1e-10)
    np.testing.assert_allclose(last["axial_stress_lower"], force / area + moment / modulus, rtol=1e-10)


def test_crank_slider_velocity_is_the_rate_of_position(crank_slider_run):
    solution = Solution.load(crank_slider_run / "solution.h5", crank_slider.crank_slider(4, "von_karman"))
    (path,) = write_series(crank_slider_run / "all.vtkhdf", solution, bodies=["rod"], frames=301)
    series = read_series(path)
    rate = (series.points[151] - series.points[149]) / (solution.times[151] - solution.times[149])
    # central difference over 2h: (hω)² of the crank and less than one period of the axial mode, about 2 %
    np.testing.assert_allclose(series.point_data["velocity"][150], rate, atol=0.02 * 150 * 0.15)


def test_quasi_static_start_is_smoother():
    """Axial stretch rings from an undeformed start ([flex] sec. 6.2) and not from the quasi-static one."""
    ringing = []
    for start in ("undeformed", "quasi_static"):
        _, midpoint = crank_slider.solve(4, "linear", 1000, 0.25, start=start)
        ringing.append(np.abs(np.diff(midpoint[:200, 0], 2)).max())
    assert ringing[1] < 0.1 * ringing[0]


def test_refinement_table_converges():
    """Both refinements approach the published extremes (linear strain, two turns)."""
    rows = crank_slider.refine("linear", 2.0, grids=((1, 1000), (2, 1000), (4, 250), (4, 1000)))
    error = [abs(row["uy_max_over_L"] / 1.8764e-2 - 1.0) for row in rows]
    assert error[0] > 5.0 * error[1] > 5.0 * error[3]
    assert error[2] > error[3]
    assert error[3] < 5e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--elements", "0"], "elements"),
        (["--steps", "0"], "steps"),
        (["--turns", "-1"], "turns"),
        (["--turns", "nan"], "turns"),
    ],
)
def test_crank_slider_bad_options(options, message, tmp_path):
    assert message in run("crank-slider", "--out", str(tmp_path / "out"), *options, code=1).output


def test_interrupted_command_keeps_finished_steps(tmp_path, monkeypatch):
    calls = {"n": 0}

    def angle(t: float) -> float:
        calls["n"] += 1
        if calls["n"] > 40000:  # a drive is asked for a whole block of steps, four times each; the first has some 6000
            raise KeyboardInterrupt
        return 150.0 * float(t)  # of one time, not of many at once

    original = crank_slider.drive
    monkeypatch.setattr(crank_slider, "drive", lambda port, reference, **_: original(port, reference, angle=angle))
    out = tmp_path / "out"
    result = run("crank-slider", "--out", str(out), "--elements", "2", "--steps", "20000", code=130)
    assert "interrupted at t = " in result.output
    monkeypatch.undo()
    kept = Solution.load(out / "unfinished.h5", crank_slider.crank_slider(2, "linear"))
    assert len(kept.times) > 5
    whole, _ = crank_slider.solve(2, "linear", 20000, 2.0)
    np.testing.assert_array_equal(kept.states, whole.states[: len(kept.times)])
