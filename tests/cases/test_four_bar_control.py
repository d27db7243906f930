"""The four-bar driven at its crank: three routes to one response, zeros that are the welded crank, control."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from cases import four_bar_control
from cases.four_bar_control import MOTOR, closed_loops
from flexph import eliminate, poles
from flexph.cli import main


@pytest.fixture(scope="module")
def result():
    return four_bar_control.run(elements=4, points=120)


@pytest.mark.processor
def test_full_eliminated_and_reduced_responses_agree(result):
    figures = four_bar_control.figures(result)
    # digits lost: the highest frequency of the mesh over that of an antiresonance, times its depth
    assert figures["eliminated_error_max_rel"] < 1e-8
    assert figures["reduced_error_max_rel"] < 1e-2
    # what is told compares the model with the system that it was reduced from, which is the eliminated one
    most = figures["reduced_error_max_rel"] + figures["eliminated_error_max_rel"]
    assert figures["reduced_error_estimate"] <= most
    assert figures["states"] == {
        "full": 81,
        "eliminated": 73,
        "reduced": 19,
    }  # a rigid motion and nine others with their stresses


def test_controllers_inject_damping_and_hold_the_pose(result):
    ratios = four_bar_control.figures(result)["damping_ratio"]
    assert max(ratios["open"][:2]) < 2e-3  # βω/2 with β = 1e-5 s and ω near 300 rad/s
    assert min(ratios["damped"][:2]) > 1.5e-2
    for loop in result.loops.values():
        values = poles(loop)
        assert values.real.max() < 1e-12 * np.abs(values).max()
    steps = {name: step.between()[-1] for name, step in result.steps.items()}
    assert steps["damped"] == pytest.approx(1.0, abs=0.02)  # 1/K, within what still rings
    assert abs(steps["servo"]) < 0.05 and abs(steps["observer"]) < 0.05  # the pose is held
    assert steps["open"] > 100.0


@pytest.mark.parametrize("gain", [0.01, 1.0, 100.0])
def test_loops_are_stable_at_any_gain(result, gain):
    plant = eliminate(result.systems["full"])
    for loop in closed_loops(plant, result.systems["reduced"], gain=gain, stiffness=10.0 * gain).values():
        values = poles(loop)
        assert values.real.max() < 1e-12 * np.abs(values).max()
        assert np.linalg.eigvalsh(loop.R)[0] > -1e-12 * np.linalg.norm(loop.R)
        assert MOTOR in loop.ports


def test_a_run_writes_its_files(result, tmp_path):
    summary = json.loads(json.dumps(four_bar_control.write(result, tmp_path)))
    assert summary["zeros_rad_s"] == pytest.approx([292.77, 314.91, 508.6], rel=1e-3)  # a mesh of four
    table = np.genfromtxt(tmp_path / "responses.csv", delimiter=",", names=True)
    assert table.size == 120 and np.all(table["damped_re"] > 0.0)  # a passive port


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--points", "1"], "points must be at least 2"), (["--gain", "-1"], "gain must not be negative")],
)
def test_bad_options_are_refused(options, message, tmp_path):
    found = CliRunner().invoke(main, ["run", "four-bar-control", "--out", str(tmp_path / "out"), *options])
    if "no case" in found.output:
        pytest.skip("the case is not installed yet")
    assert found.exit_code == 1 and message in found.output
