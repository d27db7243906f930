"""Runs whose arrays stay in their file: the same numbers, read when they are asked for."""

import pickle
import tracemalloc

import numpy as np
import pytest
from four_particles import START, four_particles
from sample_mechanisms import pendulum

from flexph import PHDAE, Solution, Trajectory, integrate
from flexph.files.stored_array import StoredArray
from flexph.methods import DiscreteGradient
from flexph.switching import SwitchingTrajectory


def test_a_solution_in_its_file_has_the_same_numbers(tmp_path):
    mechanism, start, *_ = pendulum()
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 21), observe=lambda t, x: x.x)
    run.save(tmp_path / "run.h5")
    lazy = Solution.load(tmp_path / "run.h5", mechanism, lazy=True)
    assert all(isinstance(values, StoredArray) for values in (lazy.states, lazy.multipliers, lazy.observations))
    for part in mechanism.layout.parts:
        assert np.array_equal(lazy[part], run[part])
    name = next(iter(mechanism.bodies))
    port = next(iter(mechanism.bodies[name].ports))
    assert np.array_equal(lazy.position(f"{name}.{port}"), run.position(f"{name}.{port}"))
    joint = mechanism.connections[0].name
    assert np.array_equal(lazy.reaction(joint).force, run.reaction(joint).force)
    assert np.array_equal(lazy.angular_momentum(), run.angular_momentum())
    assert np.array_equal(lazy.at(0.05).x, run.at(0.05).x)
    assert (lazy.orthogonality(), lazy.energy_drift()) == (run.orthogonality(), run.energy_drift())
    assert np.array_equal(lazy.states[[3, 1]], run.states[[3, 1]])
    assert np.array_equal(2.0 * lazy.states - run.states, run.states)
    again = integrate(mechanism, lazy.final, (0.1, 0.105))
    assert np.array_equal(again.states, integrate(mechanism, run.final, (0.1, 0.105)).states)
    assert np.array_equal(pickle.loads(pickle.dumps(lazy)).states, run.states)
    lazy.save(tmp_path / "copy.h5")
    assert np.array_equal(Solution.load(tmp_path / "copy.h5", mechanism).states, run.states)


def test_a_trajectory_in_its_file_has_the_same_outputs(tmp_path):
    system = four_particles(1.0)
    times = np.linspace(0.0, 0.1, 6)
    run = integrate(system, START, times, method=DiscreteGradient(), inputs={"push": (1.0, 0.0, 0.0)})
    run.save(tmp_path / "run.h5")
    lazy = Trajectory.load(tmp_path / "run.h5", system, lazy=True)
    assert np.array_equal(lazy.outputs["push"], run.outputs["push"])
    assert np.array_equal(lazy["q"], run["q"])
    assert lazy.method == run.method


def test_memory_is_that_of_what_is_read(tmp_path):
    """A run of 16 MB, and its last state and one part of 64."""
    n = 64
    system = PHDAE(E=np.eye(n), J=np.zeros((n, n)), z=lambda x: x, H=lambda x: x @ x / 2, sample=np.ones(n))
    short = integrate(system, np.ones(n), (0.0, 0.5, 1.0), method=DiscreteGradient())
    k = 32_000
    vectors = {name: np.zeros(k) for name in ("residual", "iterations", "steps", "rejected")}
    ledger = type(short.ledger)(
        energy={"system": np.zeros(k + 1)}, work={}, dissipation={"system": np.zeros(k)}, **vectors
    )
    times = np.arange(k + 1.0)
    states = np.broadcast_to(times[:, None], (k + 1, n))
    run = Trajectory(
        system=system, times=times, states=states, ledger=ledger, output_times=times[1:], outputs={}, method="gonzalez"
    )
    run.save(tmp_path / "run.h5")
    tracemalloc.start()
    lazy = Trajectory.load(tmp_path / "run.h5", system, lazy=True)
    assert lazy.final[0] == k
    assert np.array_equal(lazy.states[:, 3], times)
    assert tracemalloc.get_traced_memory()[1] < 8e6
    tracemalloc.stop()


def test_damage_is_seen_when_it_is_read(tmp_path):
    system = four_particles(1.0)
    run = integrate(system, START, np.linspace(0.0, 0.1, 41), method=DiscreteGradient())
    path = tmp_path / "run.h5"
    run.save(path)
    data = path.read_bytes()
    where = data.index(run.states[20].tobytes())
    path.write_bytes(data[:where] + bytes(8) + data[where + 8 :])
    lazy = Trajectory.load(path, system, lazy=True)
    with pytest.raises(OSError, match=r"checksum|filter|read"):
        lazy.states[20]


@pytest.mark.parametrize("kind", [Solution, Trajectory, SwitchingTrajectory])
def test_what_is_no_system_is_told_before_the_file_is_read(kind):
    with pytest.raises(ValueError, match=r"must be a .*, got NoneType"):
        kind.load("missing.h5", None)
