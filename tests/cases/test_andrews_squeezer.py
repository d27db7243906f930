"""Andrews' squeezing mechanism against published values and the published kinetic energy, and its files."""

import csv

import numpy as np
import pytest
from motion_files import body_in

from cases import andrews_squeezer as case
from flexph import Solution

END = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304]
END = np.array([*END, 0.5347301163226948, 1.048080741042263])  # rad, at 0.03 s


def mass_matrix(q):
    """Of the seven angles (7, 7) [kg m²], as published with the equations of motion."""
    m1, m2, m3, m4, m5, m6, m7 = 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498
    i1, i2, i3, i4, i5, i6, i7 = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
    da, rr, ra, sa, sb, ta, tb, ua, ub = 0.0115, 0.007, 0.00092, 0.01874, 0.01043, 0.02308, 0.00916, 0.01228, 0.00449
    u, zt, short, stub = 0.04, 0.04, 0.02 - 0.01421, 0.02 - 0.01421  # e − ea, zf − fa
    cos, phi, omega = np.cos(q[1]), np.sin(q[3]), np.sin(q[5])
    M = np.zeros((7, 7))
    M[0, 0] = m1 * ra**2 + m2 * (rr**2 - 2.0 * da * rr * cos + da**2) + i1 + i2
    M[0, 1] = M[1, 0] = m2 * (da**2 - da * rr * cos) + i2
    M[1, 1] = m2 * da**2 + i2
    M[2, 2] = m3 * (sa**2 + sb**2) + i3
    M[3, 3] = m4 * short**2 + i4
    M[3, 4] = M[4, 3] = m4 * (short**2 + zt * short * phi) + i4
    M[4, 4] = m4 * (zt**2 + 2.0 * zt * short * phi + short**2) + m5 * (ta**2 + tb**2) + i4 + i5
    M[5, 5] = m6 * stub**2 + i6
    M[5, 6] = M[6, 5] = m6 * (stub**2 - u * stub * omega) + i6
    M[6, 6] = m6 * (stub**2 - 2.0 * u * stub * omega + u**2) + m7 * (ua**2 + ub**2) + i6 + i7
    return M


@pytest.fixture(scope="module")
def runs():
    return [case.solve(steps) for steps in (3000, 6000)]


def test_the_published_angles_are_reached_at_second_order(runs):
    """Within 1e-4 at steps of 10 µs and 5 µs (measured 9.1e-5 and 2.3e-5), of second order."""
    errors = [np.abs(found.angles[-1] - END).max() for found in runs]
    assert errors[0] < 1e-4
    assert errors[1] < 2.5e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02)


def test_exact4_is_of_fourth_order():
    """Six substeps in each of 600 steps: measured 1.3e-7 rad."""
    errors = [np.abs(case.solve(steps, "exact4").angles[-1] - END).max() for steps in (300, 600)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)
    assert errors[1] < 2e-7


def test_published_rates_and_forces(runs):
    """Extrapolated from both runs; what is left is of fourth order in the rates, of third in the forces at the end."""
    rates = (4.0 * runs[1].rates[-1] - runs[0].rates[-1]) / 3.0
    np.testing.assert_allclose(rates, case.RATES_END, atol=1e-5)  # rad/s, of up to 1424; measured 9e-7
    forces = [case.end_forces(found.solution) for found in runs]
    np.testing.assert_allclose((4.0 * forces[1] - forces[0]) / 3.0, case.FORCES_END, atol=2e-4)  # N, measured 8e-5


def test_published_angles_close_the_loops_at_rest(runs):
    """The published angles close the loops, and the forces at rest are those of the spring through K2 and K3 only."""
    found = runs[0]
    np.testing.assert_allclose(found.angles[0], case.START, atol=1e-14)
    np.testing.assert_array_equal(found.rates[0], 0.0)
    first = case.common_forces(found.solution)[0]
    np.testing.assert_allclose(first, [(98.56687039624, -6.12268834426), (0.0, 0.0), (0.0, 0.0)], atol=2e-5)  # h² λ″


def test_kinetic_energy_of_the_published_mass_matrix(runs):
    """½ q̇ᵀM(q)q̇ along the run: all masses, inertias and lengths enter; velocities close the loops to second order."""
    errors = []
    for found in runs:
        at = np.linspace(0, len(found.angles) - 1, 40).astype(int)
        energy = [0.5 * w @ mass_matrix(q) @ w for q, w in zip(found.angles[at], found.rates[at], strict=True)]
        errors.append(np.abs(energy - found.solution.ledger.kind("kinetic")[at]).max())
    assert errors[1] < 1e-4  # J, of 1.5 J
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_energy_and_joints_are_kept(runs):
    for found in runs:
        assert found.solution.energy_drift() <= 1e-12
        assert found.solution.ledger.largest_residual <= 1e-13
        assert found.solution.ledger.position_residual.max() <= 1e-14  # m
        work = found.solution.ledger.work["motor"].sum()
        assert work == pytest.approx(0.033 * (found.angles[-1, 0] - found.angles[0, 0]), rel=1e-5)  # tan of h ω/2


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    result = case.run(steps=1000)
    summary = case.write(result, tmp_path)
    assert summary["angles_error_max_rad"] == np.abs(result.angles[-1] - END).max() < 1e-3
    assert summary["energy_residual_max_rel"] <= 1e-12
    assert summary["joint_drift_max_m"] <= 1e-14
    with open(tmp_path / "angles.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["t_s", "beta_rad", "Theta_rad"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[-1, 1:8], result.angles[-1])
    with open(tmp_path / "forces.csv", newline="") as file:
        assert len(list(csv.reader(file))) == 1001
    run = Solution.load(tmp_path / "solution.h5", case.squeezer())
    np.testing.assert_array_equal(run.states, result.solution.states)
    assert len(body_in(tmp_path, next(iter(run.mechanism.bodies)))[0]) >= 200


@pytest.mark.parametrize("steps", [0, -3])
def test_bad_steps_are_refused(steps):
    with pytest.raises(ValueError, match=f"steps must be .*at least 1, got {steps}"):
        case.run(steps=steps)
