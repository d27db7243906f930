"""Trajectories saved and read back: Trajectory.save and Trajectory.load."""

from dataclasses import fields, replace

import h5py
import numpy as np
import pytest
from four_particles import START, four_particles
from scipy.spatial.transform import Rotation

import rigid
from flexph import Event, LinearPHDAE, Trajectory, integrate
from flexph.export.tables import write_ledger
from flexph.methods import DiscreteGradient, Radau
from flexph.results import Ledger

GRID = np.linspace(0.0, 0.4, 9)


def oscillator():
    E, J = np.diag([2.0, 3.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])
    return LinearPHDAE(E=E, J=J, B=np.eye(2)[:, 1:], ports={"push": slice(0, 1)}, parts={"q": slice(0, 1)})


def coin():
    turn, wheel = rigid.quaternion(), rigid.Rolling(0.5, (0, 0, 0), normal=(0, 0, 1), axis=(0, 1, 0))
    system = rigid.free_body(
        2.0, inertia=(1, 2, 1), orientation=turn, constraints={"roll": wheel}, ports={"hub": rigid.Frame((0, 0, 0))}
    )
    tilted = turn.pose((0, 0, 0.5), Rotation.from_euler("x", 0.2))
    return system, system.state(*system.nearest(tilted, [2.0, 0, 0, 0, 4.0, 0.5]))


def read_back(found, system, path):
    found.save(path)
    return Trajectory.load(path, system)


def same(a, b):
    """Equal to the last bit, whatever it is made of."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, str):
        return a == b
    if isinstance(a, float):
        return a == b
    return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "system")


RUNS = {
    "plain": {},
    "every third": {"save_every": 3},
    "by tolerance": {"method": DiscreteGradient(tolerance=1e-4)},
    "events": {"events": {"seen": Event(lambda t, x: x[0] - START[0] - 1e-3), "never": lambda t, x: 1.0}},
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_a_run_is_read_back_to_the_last_bit(options, tmp_path):
    system = four_particles(1.0)
    found = integrate(system, START, GRID, inputs={"push": (0.1, 0.2, 0.3)}, progress=False, **options)
    again = read_back(found, system, tmp_path / "run.h5")
    assert same(found, again)
    assert again.system is system
    assert again.energy_drift() == found.energy_drift()
    further = [integrate(system, run.final, GRID, progress=False).states for run in (found, again)]
    np.testing.assert_array_equal(*further)


def test_other_systems_and_methods(tmp_path):
    linear = oscillator()
    found = integrate(linear, (1.0, 0.0), GRID, progress=False)
    assert same(found, read_back(found, linear, tmp_path / "linear.h5"))
    body, start = coin()
    found = integrate(body.phdae(), start, GRID, progress=False)
    again = read_back(found, body.phdae(), tmp_path / "coin.h5")
    assert same(found, again)
    np.testing.assert_array_equal(again["multipliers of roll.slip"], found["multipliers of roll.slip"])


def test_a_run_of_an_adaptive_method_counts_no_steps(tmp_path):
    pytest.importorskip("scipy_dae")
    found = integrate(oscillator(), (1.0, 0.0), GRID, method=Radau(), progress=False)
    again = read_back(found, oscillator(), tmp_path / "run.h5")
    assert same(found, again)
    assert again.ledger.steps.size == 0


def test_a_file_of_another_system_is_refused(tmp_path):
    path, linear = tmp_path / "run.h5", oscillator()
    integrate(linear, (1.0, 0.0), GRID, progress=False).save(path)
    body, _ = coin()
    for system, message in (
        (replace(linear, parts={"p": slice(0, 1)}), "another system: 'q 0 1' there, 'p 0 1' here"),
        (replace(linear, parts={}), "another system: 'q 0 1' there, 'multipliers 2 2' here"),
        (
            replace(linear, ports={"pull": slice(0, 1)}),
            r"another system: 'port push \(1\)' there, 'port pull \(1\)' here",
        ),
        (
            LinearPHDAE(E=np.eye(4), J=np.zeros((4, 4)), parts={"q": slice(0, 1)}),
            "another system: 'multipliers 2 2' there, 'multipliers 4 4' here",
        ),
        (body, "system must be a PHDAE or LinearPHDAE, got MultibodySystem"),
    ):
        with pytest.raises(ValueError, match=message):
            Trajectory.load(path, system)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(FileNotFoundError, match=r"saved run cannot be read, there is no such file: '.*run\.h5'"):
        Trajectory.load(path, oscillator())
    path.write_text("no file of this kind")
    with pytest.raises(ValueError, match="damaged or not a flexph trajectory"):
        Trajectory.load(path, oscillator())
    found = integrate(oscillator(), (1.0, 0.0), GRID, progress=False)
    for spoil, message in (
        (
            lambda file: file.attrs.__setitem__("format", np.bytes_("flexph solution 1")),
            "format is 'flexph solution 1', expected",
        ),
        (lambda file: file.__delitem__("ledger/energy/system"), "damaged or not a flexph trajectory"),
        (lambda file: file["states"].__setitem__((0, 0), np.nan), "states must be finite"),
        (lambda file: (file.pop("times"), file.create_dataset("times", data=GRID[:4])), "states has shape"),
    ):
        found.save(path)
        with h5py.File(path, "r+") as file:
            spoil(file)
        with pytest.raises(ValueError, match=message):
            Trajectory.load(path, oscillator())


def test_the_ledger_has_one_part_and_is_a_table(tmp_path):
    found = integrate(oscillator(), (1.0, 0.0), GRID, inputs={"push": 0.3}, progress=False)
    ledger = found.ledger
    assert isinstance(ledger, Ledger) and ledger is found.ledger
    assert list(ledger.energy) == list(ledger.dissipation) == ["system"] and not ledger.joint_work
    np.testing.assert_array_equal(ledger.total_energy, ledger.energy["system"])
    np.testing.assert_array_equal(ledger.total_work, ledger.work["push"])
    path = write_ledger(tmp_path / "ledger.csv", found)
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    energies = ["t_s", "total energy [J]", "system [J]"]
    flows = ["work of push [J]", "dissipated in system [J]", "balance residual [J]", "Newton iterations"]
    assert header.split(",") == energies + flows
    assert len(rows) == len(GRID) - 1 and float(rows[-1].split(",")[1]) == ledger.total_energy[-1]
