"""The large chain at small size: exact beams, a mechanism of the same parts, elimination, growth and files."""

import json
from itertools import pairwise

import numpy as np
import pytest
from exact_beams import axial_frequencies, bending_frequencies

import fem
from cases import large_beam_chain as case
from flexph import GROUND, connect, eigenfrequencies, eliminate, hinge, modes, torsion_spring, weld


def test_the_chain_is_that_of_a_mechanism():
    """Bodies, hinges and torsion springs of the multibody route, linearised at rest: the same frequencies."""
    beams, elements = 4, 3
    body = fem.beam(case.LENGTH, case.MATERIAL, case.SECTION, elements=elements)
    names = [f"b{i}" for i in range(beams)]
    joints = [weld("b0.root", GROUND)]
    for before, after in pairwise(names):
        joints += [
            hinge(f"{before}.tip", f"{after}.root"),
            torsion_spring(f"{before}.tip", f"{after}.root", stiffness=case.STIFFNESS),
        ]
    mechanism = connect(dict.fromkeys(names, body), joints)
    pose = mechanism.assemble(guess={name: (float(i), 0.0, 0.0) for i, name in enumerate(names)})
    system = case.chain(beams, elements)
    assert system.size == mechanism.linearize(pose).size == 4 * 21 + 3
    expected = eigenfrequencies(mechanism.linearize(pose))
    np.testing.assert_allclose(eigenfrequencies(system), expected, rtol=1e-9)
    found = modes(eliminate(system))
    assert (found.rigid, found.self_stress) == (0, 0)


def test_exact_frequencies_of_one_beam():
    """Without hinges the transfer matrices give the roots of cos x cosh x + 1 and the closed form along x."""
    bending = bending_frequencies("clamped-free", 12) * np.sqrt(case.RIGIDITY / (case.LINE_DENSITY * case.LENGTH**4))
    axial = axial_frequencies("fixed-free", 3) * np.sqrt(case.MATERIAL.young / case.MATERIAL.density) / case.LENGTH
    expected = np.sort(np.concatenate([bending, axial]))[:10]
    np.testing.assert_allclose(case.exact_frequencies(1, 10), expected, rtol=1e-9)


def test_frequencies_converge_at_fourth_order():
    """The chain of three meshes against exact beams: order 4 in the element length."""
    exact = case.exact_frequencies(5, 6)
    errors = [np.abs(eigenfrequencies(eliminate(case.chain(5, n)), 6) / exact - 1.0).max() for n in (2, 4, 8)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.15)


def test_elimination_keeps_matrices_sparse():
    """101 constraints for 50 beams, of which those along x are one group: P has a few entries for each."""
    system = case.chain(50, 2)
    free = eliminate(system)
    assert (system.G.shape[0], free.size) == (101, system.size - 101)
    assert free.lift.nnz < system.size + 200
    assert free.E.nnz < 1.5 * system.E.nnz
    np.testing.assert_allclose(eigenfrequencies(free, 3), case.exact_frequencies(50, 3), rtol=1e-7)


def test_the_checks_of_a_system_run_once(monkeypatch):
    """Assembly is linear in the number of beams: two conditions are checked for the whole, whatever its length."""
    counts = []
    for beams in (5, 50):
        calls = []
        with monkeypatch.context() as patch:
            patch.setattr(
                "flexph.systems.linear.check_semi_definite", lambda name, a, calls=calls: calls.append(a.shape[0])
            )
            system = case.chain(beams, 2)
        counts.append(calls.count(system.size))
    assert counts == [2, 2]


def test_a_run_writes_its_files(tmp_path):
    found = json.loads(json.dumps(case.write(case.run(beams=6, elements=4), tmp_path)))
    names = {"assembly_s", "elimination_s", "frequencies_s", "reduction_s", "peak_memory_mb", "omega"}
    assert names <= found.keys()
    assert found["reduced_states"] == 40
    assert found["omega_reduced_deviation"] < 1e-9
    assert found["omega_exact_deviation"] < 1e-2  # 4 elements; the tenth is a wave of 2 of them
    table = np.genfromtxt(tmp_path / "frequencies.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["omega_rad_s"], found["omega"], rtol=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beams": 0}, "beams must be at least 1, got 0"),
        ({"elements": 0}, "elements must be at least 1, got 0"),
        ({"beams": 1, "elements": 2}, "must have more than 40 states"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        case.run(**options)
