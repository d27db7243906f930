"""The double pendulum of point masses: what is kept, Newton's equations, the knot without mass, and its files."""

import csv

import numpy as np
import pytest

from cases import point_masses as case

CORDS = pytest.mark.parametrize("cord", ["spring", "knot"])


@pytest.mark.parametrize(
    ("cord", "damping"), [pytest.param("spring", 0.3, marks=pytest.mark.slow), ("spring", 0.0), ("knot", 0.3)]
)
def test_kept_at_a_long_step(cord, damping):
    """Rods, angular momentum about the vertical and the balance to round-off in steps of 20 ms, over 2 s."""
    found = case.solve(np.linspace(0.0, 2.0, 101), damping, cord)
    kept = case.kept(found)
    assert kept["rod_drift_max_m"] < 1e-13
    assert kept["angular_momentum_drift_rel"] < 1e-13
    assert kept["energy_residual_max_rel"] < 1e-13
    assert kept["dissipation_min_J"] >= 0.0
    lost = found.ledger.total_energy[0] - found.ledger.total_energy[-1]
    assert found.ledger.total_dissipation.sum() == pytest.approx(lost, abs=1e-13)
    assert (lost > 0.5) == (damping > 0.0)
    # it is no plane motion: the masses go round
    assert np.ptp(case.places(found)[:, 1], axis=0).min() > 0.5


@CORDS
def test_motions_are_of_second_order(cord):
    """Measured over 0.4 s at 5 ms: 3.0e-5 m with the spring, 1.4e-4 m with the knot."""
    rows = case.order_table(0.3, cord, 0.4, (20, 40, 80))
    assert case.slope(rows) == pytest.approx(2.0, abs=0.1)
    assert rows[-1]["error_m"] < 2e-4


@CORDS
def test_collocation_finds_newtons_motion(cord):
    """The same equations by a general integrator of order 6."""
    times = np.linspace(0.0, 0.2, 11)
    found = case.places(case.solve(times, 0.3, cord, "gauss6"))[:, :2]
    np.testing.assert_allclose(found, case.newton(times, 0.3, cord), atol=1e-7)


def test_radau_finds_newtons_motion():
    pytest.importorskip("scipy_dae")
    times = np.linspace(0.0, 0.2, 3)
    found = case.places(case.solve(times, 0.3, method="radau"))
    np.testing.assert_allclose(found, case.newton(times, 0.3), atol=1e-7)


def test_newton_keeps_the_energy_without_a_damper():
    """A reference of another kind: places to 1e-12, velocities by differences of fourth order."""
    h = 1e-3
    r = case.newton(h * np.arange(401), 0.0)
    v = (8.0 * (r[3:-1] - r[1:-3]) - (r[4:] - r[:-4])) / (12.0 * h)
    r = r[2:-2]
    masses = np.array([*case.MASSES.values()])
    length = np.linalg.norm(r[:, 1] - case.TOP, axis=1)
    law = case.spring(case.TOP, "b", case.FREE, "one")
    energy = 0.5 * np.sum(v**2, axis=2) @ masses + 9.81 * r[:, :, 2] @ masses + [law.energy(one) for one in length]
    np.testing.assert_allclose(energy, energy[0], atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(r[:, 0], axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(r[:, 1] - r[:, 0], axis=1), 0.7, atol=1e-10)


def test_the_force_is_the_slope_of_the_energy():
    """The force is the slope of the energy, and it hardens."""
    law, at, h = case.spring(case.TOP, "b", 1.2, "one"), np.array([0.5, 1.2, 2.3]), 1e-6
    for length in at:
        assert law.force(length) == pytest.approx(
            (law.energy(length + h) - law.energy(length - h)) / (2.0 * h), abs=1e-8
        )
    assert law.force(1.2) == 0.0
    assert law.force(3.2) > 2.0 * law.force(2.2)


def test_the_massless_knot_stays_on_its_line():
    """M is singular; the knot stays on the line from the top to b, at second order, and relaxes along it."""
    system = case.pendulum(0.3, "knot")
    assert system.massless.shape == (9, 3)
    aside, along = [], []
    for count in (30, 60):
        r = case.places(case.solve(np.linspace(0.0, 0.6, count + 1), 0.3, "knot"))
        whole, part = r[:, 1] - case.TOP, r[:, 2] - case.TOP
        length = np.linalg.norm(whole, axis=1)
        aside.append((np.linalg.norm(np.cross(whole, part), axis=1) / length).max())
        along.append(np.einsum("ki,ki->k", whole, part) / length**2)
    assert np.log2(aside[0] / aside[1]) == pytest.approx(2.0, abs=0.1)
    assert aside[1] < 2e-4
    assert along[1][0] == pytest.approx(0.5, abs=1e-12)
    assert np.ptp(along[1]) > 0.01


def test_a_run_writes_its_files(tmp_path):
    result = case.Result(
        case.solve(np.linspace(0.0, 0.6, 31), 0.3, "knot"),
        case.pendulum(0.3, "knot"),
        ({"step_s": 0.02, "error_m": 4e-3}, {"step_s": 0.01, "error_m": 1e-3}),
    )
    summary = case.write(result, tmp_path)
    assert summary["order"] == pytest.approx(2.0)
    assert summary["massless_velocities"] == 3
    assert summary["rod_drift_max_m"] <= 1e-11
    with open(tmp_path / "motion.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert {"a_x_m", "knot_z_m", "upper_rod_defect_m", "L_z_N_m_s"} <= set(header)
    assert len(rows) == 31
    for name, count in (("balance.csv", 31), ("orders.csv", 3)):
        assert len((tmp_path / name).read_text().splitlines()) == count
    assert (tmp_path / "trajectory.h5").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": 0.0}, "step must be"),
        ({"step": 3e-3}, "step must divide 10 s, got 0.003 s"),
        ({"damping": -1.0}, "damping must"),
        ({"damping": 0.0, "cord": "knot"}, "damping must be positive with a knot"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        case.run(**given)
