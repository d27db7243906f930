"""The gyroscope in its gimbal: averaged theory, the equation of β, the lock, and its files.

Five seconds, as steps of rigid systems are taken in Python, in three orientations.
"""

import csv
import math
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cases import gyroscope
from cases import gyroscope_motions as case

TORQUE, SPIN = 1.0, 60.0
MOMENTUM = 0.005 * SPIN  # m r²/2 ω with 1 kg and 0.1 m
ACROSS = (3.0 * 0.1**2 + 0.02**2) / 12.0


@pytest.fixture(scope="module")
def runs():
    """A nutation, released at rest; the pair with 50 and 100 steps in it. Each is run when it is asked for."""
    nutation = 2.0 * math.pi * ACROSS / MOMENTUM

    @cache
    def run(kept, n):
        return case.solve(kept, np.linspace(0.0, 1.1 * nutation, n + 1), TORQUE, SPIN)

    return run


each_pair = pytest.mark.parametrize("kept", [pytest.param("matrix", marks=pytest.mark.slow), "quaternion"])
"""Runs of rotation matrices, twice the unknowns, are also those of tests/rigid/rotations."""


def error(runs, kept, n):
    """Of the axle [rad], against the equation of β."""
    made = runs(kept, n)
    return np.abs(case.suspension(made, kept) - case.reference(made.times, TORQUE, SPIN)).max()


def test_the_reference_satisfies_its_first_integrals(runs):
    """P = 0 and the energy at rest again: C²β̇² = 2CMβ − p² tan²β along the reference."""
    times = np.linspace(0.0, 0.1, 2001)
    beta, gamma = case.reference(times, TORQUE, SPIN).T
    squared = 2.0 * TORQUE / ACROSS * beta - (MOMENTUM / ACROSS * np.tan(beta)) ** 2
    np.testing.assert_allclose(np.gradient(beta, times)[1:-1] ** 2, squared[1:-1], atol=2e-3 * squared.max())
    rate = MOMENTUM / ACROSS * np.sin(beta) / np.cos(beta) ** 2
    np.testing.assert_allclose(np.gradient(gamma, times)[1:-1], rate[1:-1], atol=2e-3 * rate.max())
    assert error(runs, "angles", 28) < 1e-7


@each_pair
def test_steps_are_of_second_order(runs, kept):
    """Measured 1.2e-4 and 8e-5 rad at 100 steps in a nutation."""
    errors = [error(runs, kept, n) for n in (56, 112)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert errors[1] < 2e-4


@each_pair
def test_the_three_coordinates_agree_at_second_order(runs, kept):
    """All entries of R, the spin included: at second order; measured 2e-3 and 8e-4 at 100 steps in a nutation."""
    gaps = [case.apart({"angles": runs("angles", 28), kept: runs(kept, n)}, "angles", kept).max() for n in (56, 112)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2.0, abs=0.1)
    assert gaps[1] < 4e-3


@pytest.mark.parametrize("kept", ["angles", pytest.param("matrix", marks=pytest.mark.slow), "quaternion"])
def test_energy_rotations_spin_and_momentum_are_kept(runs, kept):
    """Energy = work at every step; R and q stay rotations; the spin and P = C γ̇ cos²β − p sin β stay."""
    for made in (runs(kept, n) for n in ((28,) if kept == "angles" else (56, 112))):
        assert max(made.ledger.largest_residual, made.energy_drift()) < 1e-14
        assert case.defects(made, kept).max() < 1e-14
        assert np.ptp(made["spin"][:, 0]) < 1e-12 * SPIN
        done = np.sum(made.ledger.work["second axis"])
        assert done > 1e-5
        gained = made.ledger.total_energy[-1] - made.ledger.total_energy[0]
        assert done == pytest.approx(gained, abs=1e-13 * made.ledger.scale)
        if kept == "angles":
            assert done == pytest.approx(TORQUE * made["orientation"][-1, 1], rel=1e-12)


@pytest.mark.slow
def test_mean_precession_and_nutation_follow_their_expansions():
    """Mean precession M/(Iω)(1 − 5/4 ε²) and nutation Iω/C (1 + 5/2 ε²): slope two, and the constants to O(ε²)."""
    rows = case.rate_table(TORQUE, SPIN)
    small = np.array([row["epsilon"] for row in rows])
    assert small[-1] == pytest.approx(TORQUE * ACROSS / MOMENTUM**2, rel=1e-12)
    for name, constant in (("precession_short", 1.25), ("nutation_beyond", 2.5)):
        assert gyroscope.slope(small, rows, name) == pytest.approx(2.0, abs=0.01)
        np.testing.assert_allclose([row[name] for row in rows] / small**2, constant, rtol=1e-2)


@pytest.mark.parametrize("tilt", [-0.6, *(pytest.param(tilt, marks=pytest.mark.slow) for tilt in (0.0, 1.4))])
def test_steady_precession_stays_steady(tilt):
    """M = Ω cos β (p + CΩ sin β): γ̈ = β̈ = 0 at the start, in all coordinates; β stays (angles to the tolerance)."""
    rate = case.steady(TORQUE, SPIN, tilt)
    assert rate * math.cos(tilt) * (MOMENTUM + ACROSS * rate * math.sin(tilt)) == pytest.approx(TORQUE, rel=1e-12)
    for kept, count in (("angles", 10), ("quaternion", 40)):
        made = case.solve(kept, np.linspace(0.0, 0.02, count + 1), TORQUE, SPIN, tilt=tilt, start="steady")
        beta, gamma = case.suspension(made, kept).T
        # the quaternion turns by 0.03 rad of spin in a step: its rate is off by some (0.03)²/8, the tilt by far less
        near, far = (1e-8, 1e-8) if kept == "angles" else (1e-5, 1.2e-4)
        np.testing.assert_allclose(beta, tilt, atol=near)
        assert gamma[-1] == pytest.approx(0.02 * rate, rel=far)


def test_a_tilt_without_steady_precession_is_refused():
    with pytest.raises(ValueError, match=r"no steady precession at a tilt of -60° .* faster than"):
        case.steady(40.0, SPIN, math.radians(-60.0))


@pytest.mark.slow
def test_angles_lose_digits_near_gimbal_lock_and_others_do_not():
    """Angles warn and lose digits, and have no rates at the lock; the other two do not see it."""
    errors, said = zip(*(case.pass_lock("angles", d, SPIN, 61) for d in (0.5, 0.05, 5e-3)), strict=True)
    assert errors[0] < 1e-8
    assert errors[1] > 1e3 * errors[0]
    assert errors[2] > 1e2 * errors[1]
    assert [len(s) for s in said] == [0, 1, 1]
    assert "near gimbal lock" in said[1][0] and "quaternion() and rotation_matrix()" in said[1][0]
    for kept in ("matrix", "quaternion"):
        far, near = (case.pass_lock(kept, d, SPIN, 61) for d in (0.5, 0.0))
        assert near[0] == pytest.approx(far[0], rel=1e-9)
        assert near[0] < errors[2]
        assert near[1] == []
    with pytest.raises(ValueError, match=r"no rates at gimbal lock.* use quaternion"):
        case.gyroscope(case.KEPT["angles"]).Z(np.array([0.3, 0.5 * math.pi, 0.1]))


@pytest.mark.parametrize("kept", ["matrix", "quaternion"])
def test_the_gimbal_itself_locks(kept):
    """A torque on the second axis has a direction up to the lock, another on its other side, and none there."""
    system, orientation = case.gyroscope(case.KEPT[kept]), case.KEPT[kept]
    before, after = (
        case.KEPT[kept].rotation(zeta) @ system.B(zeta)[:, 0]
        for zeta in (
            orientation.coordinates(Rotation.from_euler("xyz", (0.0, 0.5 * math.pi + d, 0.0))) for d in (-1e-6, 1e-6)
        )
    )
    np.testing.assert_allclose(before, [0.0, 1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(after, [0.0, -1.0, 0.0], atol=1e-9)  # β is at most π/2 when it is found from R
    with pytest.raises(ValueError, match=r"gimbal .* is locked"):
        system.B(orientation.coordinates(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])))


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(case, "DISTANCES", (0.5, 0.02))
    monkeypatch.setattr(case, "SWEEP", (0.25, 0.5))
    result = gyroscope.run(step=2e-3, duration=0.112)
    summary = gyroscope.write(result, tmp_path)
    assert summary["law_rad_s"] == pytest.approx(2.0 / MOMENTUM, rel=1e-12)
    assert summary["energy_residual_max_rel"] <= 1e-12
    assert max(summary["defect_max"].values()) <= 1e-12
    assert summary["order_of_the_law"] == pytest.approx(2.0, abs=0.02)
    for kept, made in summary["motion"].items():
        assert made["precession_rad_s"] == pytest.approx(6.64, rel=2e-3), kept
        with open(tmp_path / f"{kept}.csv", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["t_s", "beta_rad", "gamma_rad", "energy_J"]
        assert len(rows) == (15 if kept == "angles" else 57)
        assert (tmp_path / f"{kept}.h5").exists()
    for table, count in (("rates.csv", 2), ("lock.csv", 2)):
        assert len((tmp_path / table).read_text().splitlines()) == count + 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": 0.0}, "step must be"),
        ({"duration": -1.0}, "duration must be"),
        ({"spin": 0.0}, "spin and torque must not be zero"),
        ({"tilt": 90.0}, "tilt must be between"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        gyroscope.run(**given)
