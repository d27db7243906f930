"""Kane's spin-up: published lag, ringing and stretch, an independent modal solution without stiffening, the files."""

import csv
import json
import math
from functools import partial

import numpy as np
import pytest
from case_commands import run_case
from motion_files import body_in
from scipy.integrate import solve_ivp

from cases import spin_up
from flexph import IntegrationError, Solution

run = partial(run_case, "spin-up")


def test_the_hub_angle_reaches_its_speed_smoothly():
    """θ(T) = ω_s T/2; rate and acceleration by central differences, (10⁻³)² and round-off."""
    assert spin_up.hub_angle(0.0) == 0.0
    assert spin_up.hub_angle(15.0) == pytest.approx(45.0, rel=1e-15)
    assert spin_up.hub_angle(15.0 - 1e-12) == pytest.approx(45.0, rel=1e-12)
    h = 1e-3
    rate = lambda t: (spin_up.hub_angle(t + h) - spin_up.hub_angle(t - h)) / (2.0 * h)  # noqa: E731
    for t in (1.0, 7.5, 13.0):
        expected = 6.0 / 15.0 * (t - 15.0 / (2.0 * math.pi) * math.sin(2.0 * math.pi * t / 15.0))
        assert rate(t) == pytest.approx(expected, rel=1e-6)
    assert rate(15.0) == pytest.approx(6.0, rel=1e-6) and rate(19.0) == pytest.approx(6.0, rel=1e-9)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spin") / "out"
    run("--out", str(folder), "--elements", "6", "--steps", "800")
    return folder


def test_the_lag_is_the_published_one(out):
    """Lag 0.575 m ± 2 %, ringing below 5e-3 m, as in the reference.

    Stretch: steps of 0.025 s raise the centrifugal force by (hω_s)²/6 = 3.7e-3, the ringing takes up to 1.6e-3.
    """
    summary = json.loads((out / "summary.json").read_text())
    assert summary["tip_lag_max_m"] == pytest.approx(0.575, rel=0.02)
    assert 1e-3 < summary["ringing_max_m"] < 5e-3
    assert summary["mean_stretch_m"] == pytest.approx(5.14e-4, rel=6e-3)
    assert summary["stretch_of_theory_m"] == pytest.approx(3000.0 * 36.0 * 1000.0 / (3.0 * 7e10), rel=1e-14)
    assert summary["linear_tip_leaves_at_s"] < 15.0
    assert "the tip lags by more than 10 m" in summary["linear_message"]
    assert "a section of 'beam' turns by" in summary["linear_message"]
    # theorems, round-off over 800 steps
    assert summary["energy_residual_max_rel"] <= summary["energy_drift_max_rel"] <= 1e-12
    assert summary["joint_drift_max_m"] <= 1e-13
    assert summary["orthogonality_defect_max"] <= 1e-12


def test_ringing_is_about_zero(out):
    with open(out / "tip.csv", newline="") as file:
        t, lag, _ = np.array(list(csv.reader(file))[1:], dtype=float).T
    late = lag[t >= 15.0]
    assert late.min() < -1e-3 and late.max() > 1e-3
    assert abs(late.mean()) < 0.25 * np.abs(late).max()  # not a whole number of periods
    assert np.all(lag[(t > 0.1) & (t < 14.0)] > 0.0)


def modal_leaving_time(modes: int) -> float:
    """Without stiffening the modes of the clamped beam are independent, q̈ + (ω² − Ω²) q = −Ω̇ b: when is Σq = 10 m?"""
    beta = np.array([1.8751040687, 4.6940911330, 7.8547574382])[:modes]
    x, weight = np.polynomial.legendre.leggauss(40)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight

    def shape(b, z):
        s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        return np.cosh(b * z) - np.cos(b * z) - s * (np.sinh(b * z) - np.sin(b * z))

    phi = np.array([shape(b, x) / shape(b, 1.0) for b in beta])
    force = 10.0 * (phi * weight) @ x / ((phi**2) @ weight)
    stiffness = beta**4 * 7e10 * 2e-7 / (3000.0 * 4e-4 * 1e4)

    def rate(t, y):
        turn = 2.0 * math.pi * t / 15.0
        spin = 6.0 / 15.0 * (t - 15.0 / (2.0 * math.pi) * math.sin(turn))
        return np.concatenate([y[modes:], (spin**2 - stiffness) * y[:modes] - 0.4 * (1.0 - math.cos(turn)) * force])

    def gone(t, y):
        return abs(y[:modes].sum()) - 10.0

    gone.terminal = True
    found = solve_ivp(rate, (0.0, 15.0), np.zeros(2 * modes), rtol=1e-8, atol=1e-8, events=gone)
    return float(found.t_events[0][0])


def test_linear_strain_leaves_when_the_modal_solution_does():
    """Another method: 9.1637 s. The first saved time after it; the steps move it by their square, 4e-3 s here."""
    expected = modal_leaving_time(3)
    assert expected == pytest.approx(9.1637, abs=1e-3)
    solution, message = spin_up.solve_linear(4, 800)
    assert spin_up.left_at(solution) == pytest.approx(expected, abs=0.025)
    assert solution.times[-1] < 10.0  # and the run ends there
    assert f"{spin_up.left_at(solution):.4g} s" in message


def test_pieces_of_the_linear_run_are_one_run():
    """Continued piece by piece: the ledger has every step, times are those of the grid."""
    solution, _ = spin_up.solve_linear(2, 400)
    np.testing.assert_array_equal(solution.times, np.linspace(0.0, 20.0, 401)[: len(solution.times)])
    assert len(solution.ledger.residual) == len(solution.times) - 1
    assert solution.energy_drift() < 1e-12


def test_a_step_without_solution_keeps_the_finished_part(monkeypatch):
    original, calls = spin_up.integrate, []

    def failing(mechanism, start, times, **options):
        calls.append(times)
        if len(calls) == 3:
            raise IntegrationError("no solution", original(mechanism, start, times[:4], **options))
        return original(mechanism, start, times, **options)

    monkeypatch.setattr(spin_up, "integrate", failing)
    solution, message = spin_up.solve_linear(2, 400)
    assert message == "no solution"
    assert len(solution.times) == 1 + 10 + 10 + 3
    assert spin_up.left_at(solution) == math.inf


def test_plane_and_space_are_the_same_motion():
    """Round-off over 200 steps."""
    plane, space = (spin_up.solve(4, 200, dim).displacement("beam.tip") for dim in (2, 3))
    np.testing.assert_allclose(space[:, :2], plane, atol=1e-11)
    np.testing.assert_allclose(space[:, 2], 0.0, atol=1e-14)


def test_the_steady_stretch_is_that_of_theory():
    """E u'' + ρω²(x + u) = 0: u(L) = tan(kL)/k − L with k = ω√(ρ/E), 6e-5 above ρω²L³/3E; the mesh leaves 1e-6."""
    mechanism = spin_up.spin_up(8, "von_karman")
    time = 7.5 + 2.0 * math.pi * 8 / 6.0  # after the rise, the hub points along x again
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)}, time=time)
    state = mechanism.equilibrium(pose, spin=(0.0, 0.0, 6.0), time=time)
    u = state.x[mechanism.layout.parts["beam.deformation"]]
    k = 6.0 * math.sqrt(3000.0 / 7e10)
    found = (mechanism.bodies["beam"].ports["tip"].shape @ u)[0]
    assert found == pytest.approx(math.tan(10.0 * k) / k - 10.0, rel=3e-6)
    assert found == pytest.approx(spin_up.STRETCH, rel=1e-4)


def test_a_run_writes_its_files(out):
    for name, strain in (("solution.h5", "von_karman"), ("linear.h5", "linear")):
        solution = Solution.load(out / name, spin_up.spin_up(6, strain))
        assert len(solution.times) > 100
    assert len(body_in(out, "beam")[0]) == 201
    assert (out / "ledger.csv").read_text().count("\n") == 801


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--elements", "0"], "elements"), (["--steps", "0"], "steps"), (["--dim", "4"], "dim must be")],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output
