"""What other choices of elements and ports change, as docs/guide/solids.md prints it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from matrix_texts import nodal_model
from scipy import sparse
from solid_meshes import SOLID, box, plane_of

import fem
from fem.meshes.solid_mesh import Block
from fem.solids import model
from fem.solids.elasticity import SolidElasticity, nodal_stiffness
from flexph import ValidityWarning, eigenfrequencies
from flexph.bodies import linear_body
from flexph.interconnection import constrain

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
BAR, COUNTS = (1.0, 0.1, 0.08), (10, 2, 2)


def matrices(model):
    D = model.strain.toarray()
    return D.T @ np.linalg.solve(model.compliance.toarray(), D), np.kron(model.mass.toarray(), np.eye(3))


def frequencies(K, M):
    """The first eight of a free body."""
    return np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True, subset_by_index=[6, 13]))


@pytest.mark.slow
def test_reduced_integration_is_softer():
    nodal = nodal_model(box("hexahedron20", COUNTS, BAR), STEEL)
    blocks = tuple(Block(replace(b.kind, stress=2), b.nodes) for b in nodal.mesh.blocks)  # 2 x 2 x 2 points
    K, M = matrices(nodal)
    reduced, _ = matrices(replace(nodal, mesh=replace(nodal.mesh, blocks=blocks)))
    off = (frequencies(K, M) / frequencies(reduced, M) - 1.0)[:7]  # the eighth is of the axis, without bending
    assert off.min() == pytest.approx(4e-4, rel=0.15) and off.max() == pytest.approx(4e-3, rel=0.05)  # digits printed


@pytest.mark.slow
def test_lumped_masses_are_slower():
    K, M = matrices(nodal_model(box("hexahedron", COUNTS, BAR), STEEL))
    off = frequencies(K, M) / frequencies(K, np.diag(M.sum(axis=1))) - 1.0
    assert off.min() == pytest.approx(0.05, rel=0.1) and off.max() == pytest.approx(0.23, rel=0.03)  # digits printed


@pytest.mark.slow
def test_rigid_faces_cost_stiffness():
    mesh, found = box("hexahedron20", (6, 4, 1), (0.3, 0.2, 0.02)), {}
    for how in ("rigid", "mean"):
        ports = {"root": fem.Tie("left", "rigid"), "tip": fem.Tie("right", how)}
        system = linear_body(fem.solid(mesh, STEEL, ports=ports, reference="root"), "b")
        found[how] = eigenfrequencies(constrain(system, np.eye(6, system.size)), 6)
    off = found["rigid"] / found["mean"] - 1.0
    assert off[:2] == pytest.approx([7e-4, 1.9e-2], rel=0.1) and off[5] == pytest.approx(
        0.16, rel=0.05
    )  # digits printed


@pytest.mark.parametrize("kind", ["tetra10", "hexahedron20", "triangle6", "quad9"])
def test_stiffness_is_summed_from_the_cells(kind, monkeypatch):
    """That of strains and compliances, DᵀC⁻¹D, of a bar of two materials in turn, three cells at once."""
    monkeypatch.setattr(model, "CHUNK", 3)
    dim = 3 if kind in SOLID else 2
    bar = nodal_model(box(kind, (4, 2, 1)[:dim], BAR[:dim]), STEEL, **plane_of(kind))
    other = fem.Orthotropic(young=(2e9, 3e9, 1e9), shear=(1e9, 0.5e9, 0.7e9), poisson=(0.2, 0.3, 0.1), density=1e3)
    bar = replace(bar, materials={"a": STEEL, "b": other}, material_of=np.arange(int(bar.mesh.starts[-1])) % 2)
    D, C = bar.strain.toarray(), bar.compliance.toarray()
    want = D.T @ np.linalg.solve(C, D)
    np.testing.assert_allclose(nodal_stiffness(bar).toarray(), want, atol=1e-13 * np.abs(want).max())  # round-off
    energy = SolidElasticity(bar, sparse.eye_array(bar.size, format="csr"))
    vectors = np.random.default_rng(0).standard_normal((bar.size, 3))
    np.testing.assert_allclose(energy.energies(vectors), vectors.T @ want @ vectors, rtol=1e-11)
    stress = np.linalg.solve(C, D @ vectors)
    np.testing.assert_allclose(energy.stress_basis(vectors), stress, atol=1e-12 * np.abs(stress).max())


def test_locking_is_warned_of_above_the_stated_bound_only(recwarn):
    """Poisson's ratio 0.45 itself is no reason for a warning, 0.4501 is."""
    mesh = fem.box_mesh((0.1, 0.02, 0.02), (2, 1, 1))
    fem.solid(mesh, fem.Material(young=1e9, density=1e3, poisson=0.45))
    assert not recwarn.list
    with pytest.warns(ValidityWarning, match="poisson above 0.45"):
        fem.solid(mesh, fem.Material(young=1e9, density=1e3, poisson=0.4501))
