"""Large solids by condensed stresses: the same modes and responses as by the mixed matrices, and what is refused.

Five seconds, as its solids have more than a thousand states.
"""

import logging
import os
from contextlib import nullcontext
from logging.handlers import BufferingHandler

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

import fem
from flexph import modes
from flexph.bodies.floating.linear_system import linear_body
from flexph.bodies.held_body import HeldBody
from flexph.numerics.factors import memory_cost as factor_cost
from flexph.numerics.factors import positive_definite as positive
from flexph.numerics.factors import symmetric_factor
from flexph.numerics.factors.low_rank import inverse_by_blocks, without_product
from flexph.numerics.factors.positive_definite import condensed

pytestmark = pytest.mark.processor

RUBBER = fem.Material(young=2e6, density=1000.0, poisson=0.3)


def pardiso(matrix):
    """PARDISO is given the upper triangle, and reads beyond its memory where it is given more."""
    return positive._pardiso(positive._upper(matrix))


SOLVERS = [positive._superlu, *([pardiso] if positive.PARDISO else [])]


@pytest.fixture(scope="module")
def bar():
    mesh = fem.box_mesh((1.0, 0.2, 0.15), (7, 2, 1), simplices=True)
    ports = {"root": "left", "tip": fem.Tie("right", "mean")}
    return fem.solid(mesh, RUBBER, degree=2, ports=ports, reference="root")


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_solve_and_refuse_indefinite_matrices(solver):
    rng = np.random.default_rng(0)
    root = sparse.random_array((400, 400), density=0.006, rng=rng) + sparse.eye_array(400)
    matrix, load = sparse.csr_array(root @ root.T + sparse.eye_array(400)), rng.standard_normal((400, 3))
    solve = solver(matrix)
    assert matrix @ solve(load) == pytest.approx(load, abs=1e-12)
    assert matrix @ solve(load[:, 0]) == pytest.approx(load[:, 0], abs=1e-12)
    with pytest.raises(ValueError, match="matrix must be positive definite"):
        solver(matrix - 3.0 * sparse.eye_array(400))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_long_factorisation_is_announced(solver, monkeypatch):
    monkeypatch.setattr(factor_cost, "LONG", 0.0)
    said = BufferingHandler(10)
    monkeypatch.setattr(logging.getLogger("flexph"), "handlers", [said])
    solver(2.0 * sparse.eye_array(200, format="csr"))
    first, second = (record.getMessage() for record in said.buffer)
    assert "factoring a matrix of 200 unknowns by" in first and "factored in" in second
    assert {record.levelno for record in said.buffer} == {logging.WARNING}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_factorisation_beyond_the_memory_is_refused(solver, monkeypatch):
    """Before it starts, with what it needs and what there is."""
    for module in (positive, symmetric_factor):
        monkeypatch.setattr(module, "FEW", 100)
    monkeypatch.setattr(factor_cost, "available_memory", lambda: 2e3)
    chain = sparse.diags_array([-np.ones(199), 2.0 * np.ones(200), -np.ones(199)], offsets=[-1, 0, 1]).tocsr()
    with pytest.raises(MemoryError, match=r"200 unknowns by .* needs about .* MB, 0 MB are available"):
        solver(chain)


def test_available_memory_is_that_of_the_system(monkeypatch, tmp_path):
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
    """Of a plate. With the copies that show the pivots SuperLU takes twice what its factors L and U fill."""
    said = []
    for module in (positive, symmetric_factor):
        monkeypatch.setattr(module, "announced_cost", lambda n, cost, *_: said.append(cost) or nullcontext())
    mesh = fem.box_mesh((1.0, 1.0, 0.05), (12, 12, 1), simplices=True)
    plate = fem.solid(mesh, RUBBER, degree=2, ports={"root": fem.Tie("left", "rigid")}, reference="root")
    matrix = condensed(plate.elasticity.compliance, plate.elasticity.strain).stiffness
    assert matrix.shape[0] > positive.FEW
    factors = splu(sparse.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    solver(matrix)
    (cost,) = said
    one = 1.0 if solver is not positive._superlu else 3.4  # Cholesky has one factor, in the order of PARDISO
    assert one / 2.0 < cost.memory / (12.0 * factors.L.nnz) < 2.0 * one


def test_a_matrix_with_a_dense_row_is_factored(monkeypatch):
    """An arrow takes the entries that it has, not the square of its size: of 20 001 rows 1 MB."""
    n = 20_001
    rows, ones = np.arange(1, n), np.ones(n - 1)
    tip = sparse.csr_array((ones, (0 * rows, rows)), shape=(n, n))
    arrow = sparse.diags_array([2.0 * n, *(2.0 * ones)], format="csr") + tip + tip.T
    said = []
    monkeypatch.setattr(symmetric_factor, "announced_cost", lambda size, cost, *_: said.append(cost) or nullcontext())
    solve = positive._superlu(arrow)
    assert said[0].memory == pytest.approx(symmetric_factor.BYTES * (2 * n - 1)) and said[0].memory < 2e6
    assert said[0].operations == pytest.approx(2.0 * (4 * (n - 1) + 1))
    load = np.sin(np.arange(n))
    assert arrow @ solve(load) == pytest.approx(load, abs=1e-9)


def test_a_matrix_that_is_singular_but_for_round_off_is_refused():
    """A free chain has its last pivot at round-off, of either sign."""
    n = 200
    chain = sparse.diags_array([-np.ones(n - 1), np.array([1.0, *(2.0 * np.ones(n - 2)), 1.0]), -np.ones(n - 1)],
                               offsets=[-1, 0, 1])  # fmt: skip
    for size in np.random.default_rng(0).uniform(0.5, 2.0, (20, n)):
        with pytest.raises(ValueError, match="matrix must be positive definite"):
            positive._superlu(sparse.diags_array(size) @ chain @ sparse.diags_array(size))


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


def test_static_responses_agree_by_both_matrices(bar, monkeypatch):
    """By K, and by the mixed matrix."""
    force = bar.ports["tip"].shape.toarray().T
    fast = HeldBody(bar).response(force, np.zeros((bar.elasticity.size, 3)))
    monkeypatch.setattr(positive, "SMALL", 10**9)
    slow = HeldBody(bar).response(force, np.zeros((bar.elasticity.size, 3)))
    assert fast == pytest.approx(slow, rel=1e-7, abs=1e-10 * np.abs(slow).max())


def test_matrices_of_blocks_are_inverted_by_blocks():
    """Blocks of several sizes, in any order."""
    rng = np.random.default_rng(0)
    blocks = [np.eye(k) * 3.0 + 0.5 * np.ones((k, k)) for k in (1, 3, 2, 3, 1)]
    order = rng.permutation(10)
    matrix = sparse.block_diag(blocks).tocsr()[order][:, order]
    assert inverse_by_blocks(matrix).toarray() == pytest.approx(np.linalg.inv(matrix.toarray()), abs=1e-14)
    assert inverse_by_blocks(sparse.csr_array((0, 0))).shape == (0, 0)


def test_a_product_of_low_rank_is_subtracted_by_woodburys_formula():
    """Solutions of vectors and of matrices with A − left right, from those with A alone."""
    rng = np.random.default_rng(5)
    A, left, right = np.diag(np.arange(1.0, 9.0)), rng.standard_normal((8, 2)), 0.1 * rng.standard_normal((2, 8))
    solve = without_product(lambda y: np.linalg.solve(A, y), left, right)
    for y in (rng.standard_normal(8), rng.standard_normal((8, 3))):
        np.testing.assert_allclose((A - left @ right) @ solve(y), y, atol=1e-12)
    with pytest.raises(RuntimeError, match="singular"):
        without_product(lambda y: y, np.eye(8)[:, :1], np.eye(8)[:1])
