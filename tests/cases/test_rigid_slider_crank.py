"""The slider-crank of two coupled systems against one freedom and against joints, its pin, and its files.

Five seconds, as two numbers of steps show an order, for two routes to the motion.
"""

import csv

import numpy as np
import pytest

from cases import rigid_slider_crank as case
from flexph import PHDAE

END, LOADS = 0.9, (0.06, 0.5)  # [s]; [N m], [N]: one turn
STEPS = (75, 150)


@pytest.fixture(scope="module")
def results():
    """Both steps, with the run of coupled velocities of the longer one."""
    grids = [np.linspace(0.0, END, count + 1) for count in STEPS]
    loose = case.solve(grids[0], *LOADS, places=False)
    return [case.Result(case.solve(times, *LOADS), loose, case.solve_hinged(times, *LOADS), *LOADS) for times in grids]


def order(errors):
    return np.log2(errors[0] / errors[1])


def test_the_inertia_of_one_freedom_is_that_of_the_bodies():
    """Derivatives by differences; I by the velocities of crank and rod."""
    phi, h = np.linspace(0.0, 6.0, 25), 1e-5
    at, ahead, behind = (case.Freedom(phi + d) for d in (0.0, h, -h))
    for rate, name in ((at.shift, "x"), (at.turn, "phi2"), (at.slope, "inertia")):
        np.testing.assert_allclose(rate, (getattr(ahead, name) - getattr(behind, name)) / (2.0 * h), atol=1e-9)
    np.testing.assert_allclose(case.CRANK * np.sin(phi), case.ROD * np.sin(at.phi2), atol=1e-15)
    np.testing.assert_allclose(case.CRANK * np.cos(phi), at.x + case.ROD * np.cos(at.phi2), atol=1e-15)
    for k in (0, 7, 20):
        v = at.shift[k] * np.array([np.cos(at.phi2[k]), -np.sin(at.phi2[k])])
        rates = np.array([1.0, *v, at.turn[k]])
        assert rates @ case.slider_crank().mass @ rates == pytest.approx(at.inertia[k], rel=1e-13)


def test_energy_of_one_freedom():
    """½ I φ̇² stays without loads."""
    times = np.linspace(0.0, 3.0, 200)
    phi, rate, *_ = case.of_one_freedom(times, 0.0, 0.0).T
    energy = 0.5 * case.Freedom(phi).inertia * rate**2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)


def test_the_coupled_motion_converges_to_that_of_one_freedom(results):
    """Measured at 6 ms: 1.1e-3 rad, 4.5e-3 rad/s, 4.5e-4 rad and 1.3e-4 m."""
    errors = []
    for result in results:
        found = case.motion(result.coupled)
        errors.append(np.abs(found - case.of_one_freedom(result.coupled.times, *LOADS)).max(axis=0))
    np.testing.assert_allclose(order(errors), 2.0, atol=0.1)
    assert np.all(errors[1] < [1.8e-3, 7e-3, 7e-4, 2.2e-4])


def test_the_coupled_motion_converges_to_that_of_joints(results):
    """Positions of the slider and forces in the pin of both routes meet at second order."""
    apart = [np.abs(case.motion(r.coupled)[:, 3] - r.hinged.position("rod.B")[:, 0]).max() for r in results]
    assert order(apart) == pytest.approx(2.0, abs=0.1)
    assert apart[1] < 2.2e-4
    forces = []
    for result in results:
        joint = result.hinged.reaction("hinge crank.C–rod.C").force
        forces.append(np.abs(case.pin_force(result.coupled) - 0.5 * (joint[1:] + joint[:-1])).max())
    assert order(forces) == pytest.approx(2.0, abs=0.1)
    assert forces[1] < 0.045  # of 12 N, measured 0.025


@pytest.mark.slow
def test_the_drift_of_velocities_alone_is_of_second_order(results):
    finer = case.solve(results[1].coupled.times, *LOADS, places=False)
    drifts = [case.gap(run).max() for run in (results[0].loose, finer)]
    assert order(drifts) == pytest.approx(2.0, abs=0.1)
    assert drifts[1] > 1e-6
    assert case.energy_residual(finer) <= 1e-12


def test_places_do_not_drift_and_velocities_alone_do(results):
    """With places no drift; velocities alone drift, and balance as well."""
    for result in results:
        assert case.gap(result.coupled).max() < 1e-13
        assert np.abs(result.coupled["rod.position"][:, 1]).max() < 1e-13
        for run in (result.coupled, result.loose, result.hinged):
            assert case.energy_residual(run) <= 1e-12
    assert case.gap(results[0].loose).max() > 4e-6


def test_works_of_the_loads_add_up_to_the_gain_of_energy(results):
    """Both loads work: that of the force is ∫F dx of the one freedom, that of both is the gain of energy."""
    fine = results[1].coupled
    done = {name: work.sum() for name, work in fine.ledger.work.items()}
    errors = [abs(case.done(r) - case.work_along(r)) for r in results]
    assert order(errors) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 2.2e-4
    assert min(abs(work) for work in done.values()) > 1e-3
    gain = fine.ledger.total_energy[-1] - fine.ledger.total_energy[0]
    assert sum(done.values()) == pytest.approx(gain, abs=1e-14)


def test_a_spin_of_round_off_at_the_start():
    """At φ = π/2 the rod does not turn but for round-off: its spin is small beside the other velocities."""
    system = case.slider_crank().phdae()
    assert isinstance(system, PHDAE)
    x = np.zeros(system.size)
    x[system.parts["velocities"]] = [6.0, 0.9, 0.3, -3e-16]
    floor = system.floor(x)
    assert floor[system.parts["rod.spin"]] == pytest.approx(6e-3)
    assert floor[system.parts["rod.velocity"]] == pytest.approx(9e-4)


def test_a_run_writes_its_files(results, tmp_path):
    summary = case.write(results[0], tmp_path)
    assert summary["gap_max_m"] <= 1e-11 < 1e-6 < summary["gap_velocities_only_max_m"]
    assert summary["energy_residual_max_rel"] <= 1e-12
    assert summary["turns"] > 1.0
    with open(tmp_path / "motion.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert len(rows) == STEPS[0] + 1
    assert table["gap_m"].max() == summary["gap_max_m"]
    assert len((tmp_path / "pin.csv").read_text().splitlines()) == STEPS[0]
    assert "work of rod.slider [J]" in (tmp_path / "balance.csv").read_text().splitlines()[0]
    assert (tmp_path / "coupled.h5").exists() and (tmp_path / "hinged.h5").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": 0.0}, "step must be"),
        ({"step": 3e-3}, "step must divide 10 s, got 0.003 s"),
        ({"torque": float("nan")}, "torque must be"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        case.run(**given)
