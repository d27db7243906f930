"""Large solids by condensed stresses: the same modes and responses as by the mixed matrices, and what is refused."""

import logging

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import connect, modes, positive, weld
from flexph.body_basis import Held
from flexph.elasticity import inverse_by_blocks
from flexph.linearization import linear_body
from flexph.positive import condensed, positive_solver

RUBBER = fem.Material(young=2e6, density=1000.0, poisson=0.3)
SOLVERS = [positive._superlu, *([positive._pardiso] if positive.PARDISO else [])]


@pytest.fixture(scope="module")
def bar():
    mesh = fem.box_mesh((1.0, 0.2, 0.15), (7, 2, 1), simplices=True)
    ports = {"root": "left", "tip": fem.Tie("right", "mean")}
    return fem.solid(mesh, RUBBER, degree=2, ports=ports, reference="root")


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers(solver):
    rng = np.random.default_rng(0)
    root = sparse.random_array((900, 900), density=0.003, rng=rng) + sparse.eye_array(900)
    matrix, load = sparse.csr_array(root @ root.T + sparse.eye_array(900)), rng.standard_normal((900, 3))
    solve = solver(matrix)
    assert matrix @ solve(load) == pytest.approx(load, abs=1e-12)
    assert matrix @ solve(load[:, 0]) == pytest.approx(load[:, 0], abs=1e-12)
    with pytest.raises(ValueError, match="matrix must be positive definite"):
        solver(matrix - 3.0 * sparse.eye_array(900))


def test_a_long_factorisation_is_announced(monkeypatch, caplog):
    monkeypatch.setattr(positive, "ANNOUNCED", 100)
    with caplog.at_level(logging.WARNING, "flexph"):
        positive_solver(2.0 * sparse.eye_array(200, format="csr"))
    assert "factoring a matrix of 200 unknowns and 200 entries by" in caplog.text and "factored in" in caplog.text


@pytest.mark.parametrize(
    "pardiso", [False, pytest.param(True, marks=pytest.mark.skipif(not positive.PARDISO, reason="-"))]
)
def test_modes_are_those_of_dense_algebra(bar, pardiso, monkeypatch):
    """Held and free; with round-off of 1e-16 times the squared ratio of the highest and the lowest frequency."""
    monkeypatch.setattr(positive, "PARDISO", pardiso)
    system = linear_body(bar, "b")
    assert system.size > 1000 and condensed(bar.elasticity.compliance, bar.elasticity.strain) is not None
    found, want = modes(system, 8), modes(system)
    assert found.rigid == want.rigid == 6 and found.self_stress == want.self_stress
    assert found.frequencies == pytest.approx(want.frequencies[:8], rel=1e-8)
    energy = found.shapes.conj().T @ (system.E @ found.shapes)
    assert energy == pytest.approx(2.0 * np.eye(8), abs=1e-6)
    defect = system.J @ found.shapes - 1j * (system.E @ found.shapes) * found.frequencies
    assert np.abs(defect).max() < 1e-6 * np.abs(system.E @ found.shapes * found.frequencies).max()


def test_rigid_motions_of_joined_bodies(bar):
    """Two bars that are welded: no column is without strain then; round-off is told from frequencies by a wide gap."""
    mechanism = connect({"a": bar, "b": bar}, [weld("a.tip", "b.root")])
    system = mechanism.linearize(mechanism.assemble({"a": ((0.0, 0.0, 0.0), np.eye(3))}))
    assert modes(system, 4).rigid == 6


def test_static_responses(bar, monkeypatch):
    """By K, and by the mixed matrix."""
    force = bar.ports["tip"].shape.toarray().T
    fast = Held(bar).response(force, np.zeros((bar.elasticity.size, 3)))
    monkeypatch.setattr(positive, "SMALL", 10**9)
    slow = Held(bar).response(force, np.zeros((bar.elasticity.size, 3)))
    assert fast == pytest.approx(slow, rel=1e-7, abs=1e-10 * np.abs(slow).max())


def test_inverse_by_blocks():
    """Blocks of several sizes, in any order."""
    rng = np.random.default_rng(0)
    blocks = [np.eye(k) * 3.0 + 0.5 * np.ones((k, k)) for k in (1, 3, 2, 3, 1)]
    order = rng.permutation(10)
    matrix = sparse.block_diag(blocks).tocsr()[order][:, order]
    assert inverse_by_blocks(matrix).toarray() == pytest.approx(np.linalg.inv(matrix.toarray()), abs=1e-14)
    assert inverse_by_blocks(sparse.csr_array((0, 0))).shape == (0, 0)
