"""The spatial beam on a spherical joint ([flex] sec. 6.3): published plateaus, momentum, stresses, files, options.

Ten seconds, as the published plateaus come after ten seconds of motion.
"""

import json
from functools import partial

import numpy as np
import pytest
from case_commands import read_table, run_case
from motion_files import body_in

from cases import hinged_beam, method_comparison
from flexph import Solution, Trajectory
from flexph.consistency import inconsistency

run = partial(run_case, "hinged-beam")

KINKS = [0.0, 0.2, 10.0, 10.2, 15.0, 15.2, 15.4]
INERTIA = 7800.0 * 9e-6 * 0.14145**3 / 3.0  # of the straight beam about its root, ρAL³/3 [kg m²]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """To 16 s in steps of 0.025 s: enough for the energies, see the refinement in docs/cases/hinged-beam.md."""
    folder = tmp_path_factory.mktemp("hinged") / "out"
    run("--out", str(folder), "--elements", "4", "--steps", "640", "--end", "16")
    return folder


@pytest.fixture(scope="module")
def solution(out):
    return Solution.load(out / "solution.h5", hinged_beam.hinged_beam(4, "linear"))


def test_energy_and_spin_are_those_of_the_published_figure(out):
    """[flex] fig. 10: 30.2e-9 J and 0.0302 rad/s after the torque, 126e-9 J after the impulse."""
    header, table = read_table(out / "history.csv")
    assert header == ["t_s", "energy_J", "omega_z_world_rad_s", "omega_y_world_rad_s"]
    t, energy, omega_z, omega_y = table.T
    np.testing.assert_allclose(t, 0.025 * np.arange(641), atol=1e-12)
    between, after = (t >= 10.2) & (t <= 15.0), t >= 15.4
    np.testing.assert_allclose(energy[between], 30.2e-9, rtol=0.01)
    np.testing.assert_allclose(energy[after], 126e-9, rtol=0.02)
    assert omega_z[(t >= 12.0) & (t <= 15.0)].mean() == pytest.approx(0.0302, rel=0.01)
    # nothing changes the energy there: round-off of Newton's method over up to 192 steps
    assert np.ptp(energy[between]) < 1e-11 * 30.2e-9
    assert np.ptp(energy[after]) < 1e-11 * 126e-9
    # the torque about z leaves the motion in the plane, the tip force turns the beam about −y
    assert np.all(omega_y[t <= 15.0] == pytest.approx(0.0, abs=1e-12))
    assert omega_y[after].min() < -0.1


def test_a_nearly_rigid_beam_takes_the_torque(solution):
    """L_z = ∫τ dt and with it L_z²/2J and L_z/J of the straight beam, to the 0.5 % that it vibrates."""
    t = solution.times
    L = solution.angular_momentum()
    np.testing.assert_allclose(L[t >= 10.2, 2], 2e-6, rtol=1e-11)  # the tip force along z has no moment about z
    np.testing.assert_allclose(L[t <= 15.0, :2], 0.0, atol=1e-16)
    energy = solution.ledger.total_energy[np.searchsorted(t, 12.0)]
    assert energy == pytest.approx((2e-6) ** 2 / (2.0 * INERTIA), rel=5e-3)
    found = hinged_beam.plateaus(solution)
    assert found["omega_z_mean_rad_s"] == pytest.approx(2e-6 / INERTIA, rel=5e-3)


def test_stresses_under_the_torque(solution):
    """Uniform angular acceleration bends by M(x) = τ (1 − 3ξ/2 + ξ³/2), ξ = x/L, about which the beam vibrates.

    Mean over 15 periods of 0.574 s (the hinged-free mode, 15.418206 √(EI/ρAL⁴)); piecewise linear moments: 3 %.
    """
    period = 2.0 * np.pi / (15.418206 * np.sqrt(2.1e6 * 6.75e-12 / (7800.0 * 9e-6 * 0.14145**4)))
    t = solution.times
    window = (t >= 0.8) & (t <= 0.8 + 15 * period)
    found = {name: values[window].mean(axis=0) for name, values in hinged_beam.stresses(solution).items()}
    x = (np.arange(16) + 0.5) / 16.0
    expected = 2e-7 * (1.0 - 1.5 * x + 0.5 * x**3) * 1.5e-3 / 6.75e-12  # 44 Pa at the root, tension at y > 0
    np.testing.assert_allclose(found["y_upper"], expected, atol=0.03 * 44.4)
    np.testing.assert_allclose(found["y_lower"], -expected, atol=0.03 * 44.4)
    np.testing.assert_allclose(found["z_upper"], found["z_lower"], atol=1e-9)  # the axial force alone


def test_summary_and_ledger_agree(out):
    summary = json.loads((out / "summary.json").read_text())
    assert summary["steps"] == 640
    assert summary["energy_after_torque_J"] == pytest.approx(30.2e-9, rel=0.01)
    assert summary["energy_residual_max_rel"] <= 1e-13  # of one step; over the run they add up, or cancel
    assert summary["energy_drift_max_rel"] <= 1e-11
    assert summary["position_drift_max_m"] <= 1e-14
    assert summary["orthogonality_defect_max"] <= 1e-12
    assert summary["bending_rotation_max_rad"] < 0.1  # moderate deflections: linear strain is admissible
    header, table = read_table(out / "ledger.csv")
    column = dict(zip(header, table.T, strict=True))
    energy, work = column["total energy [J]"], column["work of torque [J]"] + column["work of tip force [J]"]
    np.testing.assert_allclose(np.cumsum(work), energy, atol=1e-11 * energy.max())
    assert column["work of tip force [J]"].sum() > column["work of torque [J]"].sum() > 30e-9


def test_the_written_series_reads_back(out):
    times, last = body_in(out, "beam")
    assert len(times) == 201
    assert {"axial_stress_y_upper", "axial_stress_z_lower", "bending_moment_y", "torque"} <= last.cell_data.keys()
    np.testing.assert_allclose(last.points[-1, 0], 0.0, atol=1e-14)  # the spherical joint
    assert np.linalg.norm(last.points[-1, -1]) == pytest.approx(0.14145, rel=1e-3)


@pytest.mark.parametrize(
    ("steps", "end"), [(300, 30.0), (3000, 30.0), (320, 16.0), (1000, 30.0), (7, 15.5), (997, 21.3)]
)
def test_kinks_are_ends_of_steps(steps, end):
    times = hinged_beam.instants(steps, end)
    assert np.all(np.isin(KINKS, times))
    assert times[-1] == end
    h = np.diff(times)
    if steps / end >= 20.0 / 3.0:
        assert len(h) == pytest.approx(steps, abs=4)
    if steps % (5.0 * end) == 0.0:
        np.testing.assert_allclose(h, end / steps, rtol=1e-10)


def test_strains_agree_for_small_deflections():
    """Rotations of sections stay below 0.03 rad: the strains differ by the square of that."""
    found = [hinged_beam.plateaus(hinged_beam.solve(2, strain, 320, 16.0)) for strain in ("linear", "von_karman")]
    for key in ("energy_after_torque_J", "omega_z_mean_rad_s", "energy_after_impulse_J"):
        assert found[0][key] == pytest.approx(found[1][key], rel=1e-3)
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--elements", "0"], "elements"),
        (["--steps", "0"], "steps"),
        (["--end", "15"], "after the tip force"),
        (["--end", "nan"], "after the tip force"),
        (["--end", "0", "--method", "radau"], "end must be positive"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output


# --- the methods of general systems ---------------------------------------------------------------------------------

WINDOW = np.linspace(0.0, 0.05, 11)


@pytest.mark.parametrize("method", method_comparison.SAME_STEPS)
def test_methods_of_the_same_steps_agree(method):
    """H has terms of the third and fourth degree in u and its rate, which are small: 1e-8 of the largest values."""
    found = by_method(method)
    assert max(found.differences()[name] for name in ("deformation", "energy")) < 1e-7
    if method != "midpoint":  # which balances quadratic energies only
        assert found.trajectory.ledger.largest_residual < 1e-11


@pytest.mark.parametrize("method", ["gauss4", "gauss6", "radau", "bdf", "ida"])
def test_collocation_and_adaptive_methods_agree(method):
    """Errors of some 100 steps, each below 1e-6, add up to 1.5e-5; Gauss' methods take the torque, which rises, in the

    middle of each step: 3e-3 in 10 steps.
    """
    if method in method_comparison.MODULES:
        pytest.importorskip(method_comparison.MODULES[method])
    found = by_method(method).differences()
    assert max(found[name] for name in ("deformation", "energy")) < (4e-3 if method.startswith("gauss") else 5e-5)


def by_method(method):
    mechanism = hinged_beam.hinged_beam(1, "linear")
    start = mechanism, hinged_beam.at_rest(mechanism)
    return method_comparison.compare(start, WINDOW, body="beam", method=method, inputs=hinged_beam.LOADS)


def test_a_run_by_a_general_method(tmp_path):
    folder = tmp_path / "out"
    run("--out", str(folder), "--elements", "1", "--steps", "10", "--end", "0.05", "--method", "dirac")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["method"] == "dirac"
    assert summary["deformation_difference_max_rel"] < 1e-7
    header, table = read_table(folder / "history.csv")
    assert header == ["t_s", "energy_J", "omega_z_world_rad_s", "omega_y_world_rad_s"]
    assert len(table) == 11
    system = hinged_beam.analysed()
    assert Trajectory.load(folder / "trajectory.h5", system).method == "dirac"


def test_the_analysed_beam_is_consistent():
    system = hinged_beam.case.system()
    assert not inconsistency(system, system.sample)
