"""Equilibria as solutions of one instant: stresses, section forces, envelopes, files."""

import numpy as np
import pytest
from solid_meshes import box
from spatial_bodies import random_rotation

import fem
from flexph import GROUND, Solution, connect, distributed_load, integrate, weld
from flexph.bodies import energy_norm, peak_von_mises
from flexph.export import read_series, stress_envelope, write_series
from flexph.results import section_forces, static_solution

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
PULL = np.array([3.0e5, -2.0e4, 1.0e4])


@pytest.fixture(scope="module")
def loaded():
    """A cantilever in any direction, in equilibrium under a traction at its end; the tip stays soft."""
    R = random_rotation(np.random.default_rng(3))
    body = fem.solid(
        box("hexahedron20", (4, 1, 1), (1.0, 0.2, 0.2)),
        STEEL,
        ports={"root": "left", "tip": fem.Tie("right", "mean")},
        reference="root",
        loads={"end": "right"},
        sections={"middle": lambda x: np.abs(x[0] - 0.5) < 1e-9},
    )
    place = R @ body.ports["root"].position
    mechanism = connect(
        {"bar": body}, [weld("bar.root", GROUND.at(*place)), distributed_load("bar.end", axes="body", name="pull")]
    )
    pose = mechanism.assemble({"bar": ((0.0, 0.0, 0.0), R)})
    return mechanism, mechanism.equilibrium(pose, inputs={"pull": PULL}, time=2.0), R


def test_sections_and_energies_of_an_equilibrium(loaded):
    mechanism, state, _ = loaded
    found = static_solution(mechanism, state)
    assert found.times.tolist() == [2.0] and "1 times from 2 to 2 s" in repr(found)
    cut = section_forces(found, "bar.middle")
    force = 0.04 * PULL
    # round-off of nodal forces some thousand times as large as the load
    assert cut.force[0] == pytest.approx(force, abs=1e-9 * np.linalg.norm(force))
    assert cut.moment[0] == pytest.approx(np.cross([0.5, 0.0, 0.0], force), abs=1e-9 * np.linalg.norm(force))
    work = 0.5 * force @ found.displacement("bar.tip")[0]  # Clapeyron; the uniform traction works on the mean
    assert found.ledger.total_energy == pytest.approx([work], rel=1e-9)
    field = mechanism.bodies["bar"].view.tensors["stress"]
    assert 0.5 * energy_norm(field, found["bar.stress"][0]) ** 2 == pytest.approx(work, rel=1e-9)
    assert stress_envelope(found, "bar").peak_von_mises == pytest.approx(peak_von_mises(field, found["bar.stress"])[0])


@pytest.mark.parametrize("suffix", ["pvd", "xdmf"])
def test_a_file_of_an_equilibrium_has_the_deformation(loaded, suffix, tmp_path):
    """Its displacements are those from the undeformed body where it is."""
    mechanism, state, R = loaded
    found = static_solution(mechanism, state)
    write_series(tmp_path / f"bar.{suffix}", found)
    series = read_series(tmp_path / f"bar.{suffix}")
    view = mechanism.bodies["bar"].view
    moved = found.points("bar", view.points, view.shape)[0] - view.points @ R.T
    assert np.abs(moved).max() > 5e-6
    assert series.point_data["displacement"][0] == pytest.approx(moved, abs=1e-14)


def test_it_is_where_a_run_starts(loaded):
    mechanism, state, _ = loaded
    run, found = integrate(mechanism, state, [2.0, 2.001], inputs={"pull": PULL}), static_solution(mechanism, state)
    assert np.array_equal(found.states[0], run.states[0])
    # the compiled loops of the run sum the parts in another order
    assert found.ledger.total_energy[0] == pytest.approx(run.ledger.total_energy[0], rel=1e-15)


def test_other_states_are_refused(loaded):
    mechanism, state, _ = loaded
    other = connect({"bar": mechanism.bodies["bar"], "more": mechanism.bodies["bar"]}, [])
    with pytest.raises(ValueError, match=r"state must have the \d+ entries of this mechanism, got"):
        static_solution(other, state)
    with pytest.raises(ValueError, match=r"state must.*State, see mechanism.consistent_state\(pose\).*mech"):
        static_solution(other, other.assemble())


def test_the_last_state_has_the_joint_forces(loaded, tmp_path):
    mechanism, state, _ = loaded
    solution = static_solution(mechanism, state)
    joint = mechanism.connections[0].name
    expected, computed = (mechanism.reaction(own, joint) for own in (state, solution.final))
    np.testing.assert_array_equal(computed.force, expected.force)
    solution.save(tmp_path / "rest.h5")
    np.testing.assert_array_equal(Solution.load(tmp_path / "rest.h5", mechanism).states, solution.states)
