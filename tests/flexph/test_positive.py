"""Large solids by condensed stresses: the same modes and responses as by the mixed matrices, and what is refused."""

import logging
import os
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

import fem
from flexph import block_lanczos, connect, factor_cost, modes, positive, weld
from flexph.block_lanczos import lowest_modes
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


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_long_factorisation_is_announced(solver, monkeypatch, caplog):
    monkeypatch.setattr(factor_cost, "LONG", 0.0)
    with caplog.at_level(logging.WARNING, "flexph"):
        solver(2.0 * sparse.eye_array(200, format="csr"))
    assert "factoring a matrix of 200 unknowns by" in caplog.text and "factored in" in caplog.text


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_factorisation_beyond_the_memory_is_refused(solver, monkeypatch):
    """Before it starts, with what it needs and what there is."""
    monkeypatch.setattr(positive, "FEW", 100)
    monkeypatch.setattr(factor_cost, "available_memory", lambda: 2e3)
    chain = sparse.diags_array([-np.ones(199), 2.0 * np.ones(200), -np.ones(199)], offsets=[-1, 0, 1]).tocsr()
    with pytest.raises(MemoryError, match=r"200 unknowns by .* needs about .* MB, 0 MB are available"):
        solver(chain)


def test_available_memory(monkeypatch, tmp_path):
    """That of Linux, of the machine where it does not say, and no bound where that is unknown too."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0.0 < factor_cost.available_memory() <= machine
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    3 kB\n")
    monkeypatch.setattr(factor_cost, "MEMORY", tmp_path / "meminfo")
    assert factor_cost.available_memory() == 3072.0
    monkeypatch.setattr(factor_cost, "MEMORY", tmp_path / "nothing")
    assert factor_cost.available_memory() == machine
    monkeypatch.delattr(os, "sysconf")
    assert factor_cost.available_memory() == np.inf


@pytest.mark.parametrize("solver", SOLVERS)
def test_announced_memory_is_that_of_the_factors(solver, monkeypatch):
    """Of SuperLU within a factor of three: its law is fitted, and this plate is the furthest from it."""
    said = []
    monkeypatch.setattr(positive, "announced", lambda n, cost, *_: said.append(cost) or nullcontext())
    mesh = fem.box_mesh((1.0, 1.0, 0.05), (12, 12, 1), simplices=True)
    plate = fem.solid(mesh, RUBBER, degree=2, ports={"root": fem.Tie("left", "rigid")}, reference="root")
    matrix = condensed(plate.elasticity.compliance, plate.elasticity.strain).stiffness
    assert matrix.shape[0] > positive.FEW
    factors = splu(sparse.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    solver(matrix)
    (cost,) = said
    one = 0.5 if solver is not positive._superlu else 1.0  # Cholesky has one factor
    assert one / 3.0 < cost.memory / (12.0 * factors.nnz) < 3.0 * one


def test_lowest_modes(monkeypatch):
    """Of a chain with known frequencies, in pairs; beside a motion that is taken out; loud where they do not settle."""
    n = 700
    chain = sparse.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    pair, mass = sparse.block_diag([chain, chain]).tocsr(), 3.0 * sparse.eye_array(2 * n, format="csr")
    solve = positive_solver(pair)
    found = lowest_modes(solve, mass, 5)
    assert found.T @ (mass @ found) == pytest.approx(np.eye(5), abs=1e-12)
    exact = 4.0 * np.sin(0.5 * np.pi * np.arange(1, 4) / (n + 1)) ** 2 / 3.0
    values = np.linalg.eigvalsh(found.T @ (pair @ found))
    assert values == pytest.approx(np.repeat(exact, 2)[:5], rel=1e-9)  # K has a condition of 2e5
    lowest = found[:, [np.argmin(np.einsum("nk,nk->k", found, pair @ found))]]
    beside = lowest_modes(solve, mass, 2, lambda x: x - lowest @ (lowest.T @ (mass @ x)))
    assert np.abs(lowest.T @ (mass @ beside)).max() < 1e-12
    monkeypatch.setattr(block_lanczos, "BLOCKS", 2)
    with pytest.raises(ArithmeticError, match="did not settle"):
        lowest_modes(solve, mass, 3)


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
