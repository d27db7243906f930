"""Derivatives by many parameters from samples in which all of them change."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, torque
from flexph.gradients import Last, coded_steps, gradient
from flexph.joints import torsion_spring
from flexph.sensors import energy, position
from flexph.systems.inputs import Table

TIMES = np.linspace(0.0, 0.4, 41)
LINKS = 9


def chain(**own):
    """A chain of bars with torsion springs; each has a mass, a stiffness and a damping."""
    bodies = {f"l{k}": rigid.bar(0.2, own[f"mass{k}"]) for k in range(len(own) // 3)}
    ports = [(GROUND, "l0.root")] + [(f"l{k - 1}.tip", f"l{k}.root") for k in range(1, len(bodies))]
    joints = [hinge(*pair[::-1]) for pair in ports]
    joints += [
        torsion_spring(pair[1], pair[0], stiffness=own[f"stiffness{k}"], damping=own[f"damping{k}"])
        for k, pair in enumerate(ports)
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"l0": (0.0, 0.0, 0.0)}))


PARAMETERS = {f"mass{k}": 0.3 + 0.02 * k for k in range(LINKS)}
PARAMETERS |= {f"stiffness{k}": 5.0 - 0.3 * k for k in range(LINKS)}
PARAMETERS |= {f"damping{k}": 0.01 + 0.001 * k for k in range(LINKS)}


def counting(make):
    """A function that counts its calls, and the list that they are added to."""
    calls = []

    def counted(**own):
        calls.append(own)
        return make(**own)

    return counted, calls


def test_gradients_by_coded_steps_are_those_by_each_parameter(monkeypatch):
    """25 calls of make for 27 parameters, as for thousands, and the same derivatives as by 61."""
    functional, (make, calls) = Last(position(f"l{LINKS - 1}.tip"), 1), counting(chain)
    found = gradient(make, PARAMETERS, TIMES, functional).by
    assert len(calls) == 1 + 2 * (2 * coded_steps.ORDERS[0] - 1) + 6
    monkeypatch.setattr("flexph.gradients.derivatives.MANY", len(PARAMETERS))
    single = gradient(chain, PARAMETERS, TIMES, functional).by
    largest = max(abs(PARAMETERS[name] * value) for name, value in single.items())
    for name, value in single.items():
        assert abs(PARAMETERS[name] * (found[name] - value)) < 1e-8 * largest, name


def test_numbers_of_all_parameters_are_asked_for_each(monkeypatch):
    """The energy at the end is a function of every mass and stiffness: steps of each parameter by itself."""
    monkeypatch.setattr("flexph.gradients.derivatives.MANY", 8)
    make, calls = counting(chain)
    few = {name: value for name, value in PARAMETERS.items() if int(name[-1]) < 3}
    found = gradient(make, few, TIMES, Last(energy("total"))).by
    assert len(calls) > 2 * (2 * coded_steps.ORDERS[0] - 1) + 2 * len(few)
    assert all(np.isfinite(list(found.values())))


def test_nodes_of_a_table_have_the_derivatives_of_the_inputs_of_steps():
    """Of 300 nodes and a mechanism that stays, against those by the inputs, carried to the nodes."""
    nodes = np.linspace(0.0, TIMES[-1], 300)
    bar = connect({"bar": rigid.bar(0.2, 1.0)}, [hinge("bar.root", GROUND), torque("bar.root", name="motor")])
    start = bar.consistent_state(bar.assemble({"bar": (0.0, 0.0, 0.0)}))
    found = gradient(
        lambda **own: (bar, start, {"motor": (nodes, list(own.values()))}),
        {f"n{k}": np.sin(k) for k in range(300)},
        TIMES,
        Last(position("bar.tip"), 1),
    )
    expected = Table(nodes, np.zeros(300)).by_values(0.5 * (TIMES[1:] + TIMES[:-1]), found.by_input["motor"])[:, 0]
    assert np.allclose(list(found.by.values()), expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("count", [40, 400])
def test_sparse_rows_are_resolved_and_full_ones_are_not(count):
    """Numbers of one to four parameters, with round-off of 1e-11, and one of all parameters."""
    rng = np.random.default_rng(3)
    rows = np.zeros((61, count))
    for k, row in enumerate(rows[:60]):
        row[rng.choice(count, 1 + k % 4, replace=False)] = rng.uniform(0.5, 2.0, 1 + k % 4) * 10.0 ** rng.integers(
            -9, 9
        )
    rows[60] = rng.standard_normal(count)
    angles = (rng.permutation(count) + 0.5) * np.pi / count
    code = np.cos(np.arange(2 * coded_steps.ORDERS[-1] - 1)[:, None] * angles)
    moved = rows @ code.T
    moved *= 1.0 + 1e-11 * rng.standard_normal(moved.shape)
    (numbers, parameters), values, left = coded_steps._resolved(moved, code)
    made = np.zeros_like(rows)
    made[numbers, parameters] = values
    assert 60 in left and left.size <= 4  # parameters with near angles may need more samples
    kept = np.setdiff1d(np.arange(61), left)
    assert (np.abs(made - rows)[kept].max(axis=1) < 1e-5 * np.abs(rows[kept]).max(axis=1)).all()
