"""Integrability of modulated structures ([survey] sec. 7): by (7.12), by (7.15), by (7.1) and (7.6), by theory."""

import numpy as np
import pytest

from flexph.dirac import (
    DiracStructure,
    ModulatedDirac,
    PortHamiltonian,
    closedness,
    integrability,
    jacobi_identity,
    regularity,
)
from flexph.numerics.differences import complex_derivative, derivative

pytestmark = pytest.mark.processor

STATE = np.array([0.7, -0.4, 1.3])


def spinning(p):
    """[survey] eq. (2.30): a Poisson structure."""
    return np.array([[0 * p[0], -p[2], p[1]], [p[2], 0 * p[0], -p[0]], [-p[1], p[0], 0 * p[0]]])


def not_poisson(x):
    """With v = (1, 0, x₁): v·rot v = 0 fails: rot v = (0, −1, 0)... v = (x₂, 0, 1): rot v = (0, 0, −1)."""
    v = np.array([x[1], 0 * x[0], 1.0 + 0 * x[0]])
    return np.array([[0 * x[0], -v[2], v[1]], [v[2], 0 * x[0], -v[0]], [-v[1], v[0], 0 * x[0]]])


def kinematic(rows):
    """[survey] eq. (2.39) of constraints A(q)ᵀq̇ = 0, without inputs."""

    def at(x):
        a = np.asarray(rows(x), dtype=float)
        n = a.shape[1]
        J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        return DiracStructure.from_skew(-J, {"x": slice(0, 2 * n)}).constrained(np.hstack([0 * a, a]))

    return at


def coin(x):
    """[survey] example 2.4: q = (x, y, θ, φ)."""
    return [[1.0, 0.0, -np.cos(x[3]), 0.0], [0.0, 1.0, -np.sin(x[3]), 0.0]]


def circle(x):
    """q on a circle, and another coordinate tied to the angle: holonomic."""
    return [[x[0], x[1], 0.0], [-x[1], x[0], -(x[0] ** 2 + x[1] ** 2)]]


def by_brackets(structure, x):
    """[survey] eq. (7.15), largest entry over the size of its terms: vector fields and forms written out."""
    flows = structure.of_storage(x).graph.flow_inputs

    def rows(at):
        D = DiracStructure.from_hybrid(structure.of_storage(at).hybrid(flows), flows)
        return np.stack([D.F, D.E])

    (F, E), slopes = rows(x), derivative(rows, x)
    dbeta, dY = slopes  # (i, a, c) = ∂_c of entry a of row i
    worst, scale = 0.0, 0.0
    for i in range(len(F)):
        for j in range(len(F)):
            bracket = dY[j] @ E[i] - dY[i] @ E[j]
            outer = [d - d.T for d in dbeta]  # (dβ)(X, ·) = X·(outer)ᵀ...
            inner = lambda k, y: outer[k] @ y  # noqa: B023, E731  i_Y dβ, entry a: Σ_c (∂_c β_a − ∂_a β_c) Y_c
            pairing = dbeta[j].T @ E[i] + dY[i].T @ F[j]
            form = inner(j, E[i]) - inner(i, E[j]) + pairing
            worst = max(worst, np.abs(F @ bracket + E @ form).max())
            scale = max(scale, np.abs(F @ bracket).max() + np.abs(E @ form).max())
    return worst / max(scale, 1e-300)


def test_graphs_of_poisson_and_other_matrices():
    assert jacobi_identity(spinning, STATE, slopes="complex").defect < 1e-15
    assert jacobi_identity(spinning, STATE)
    found = jacobi_identity(not_poisson, STATE, slopes="complex")
    assert not found
    assert found.defect > 0.1
    assert jacobi_identity(not_poisson, STATE).defect == pytest.approx(found.defect, abs=1e-9)
    assert str(found).startswith("not integrable: relative defect")


def test_graphs_of_two_forms():
    """dω = 0 of the exact form of θ = (x₂x₃, x₁², 0): ω_ij = ∂_i θ_j − ∂_j θ_i; not of x₃ dx₁∧dx₂."""

    def exact(x):
        slope = np.array([[0 * x[0], x[2], x[1]], [2 * x[0], 0 * x[0], 0 * x[0]], [0 * x[0]] * 3])
        return slope.T - slope

    def other(x):
        return x[2] * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    assert closedness(exact, STATE, slopes="complex").defect < 1e-15
    assert closedness(other, STATE, slopes="complex").defect > 0.9


@pytest.mark.parametrize(("graph", "holds"), [(spinning, True), (not_poisson, False)])
def test_the_general_condition_agrees_with_that_of_graphs(graph, holds):
    structure = ModulatedDirac(lambda x: DiracStructure.from_skew(graph(x), {"x": slice(0, 3)}), STATE)
    found = integrability(structure, STATE)
    assert bool(found) is holds is bool(jacobi_identity(graph, STATE))
    assert bool(by_brackets(structure, STATE) < 1e-9) is holds
    exact = integrability(structure, STATE, slopes=lambda x: complex_derivative(graph, x)) if holds else found
    assert bool(exact) is holds


@pytest.mark.parametrize(
    ("rows", "state", "holds"),
    [
        (circle, [0.8, 0.5, 0.3, 0.1, 0.2, 0.3], True),
        (coin, [0.1, 0.2, 0.3, 0.7, 1.0, 2.0, 3.0, 4.0], False),
        (lambda x: [[1.0, 2.0]], [0.3, 0.4, 0.5, 0.6], True),
    ],
)
def test_kinematic_constraints_are_integrable_where_holonomic(rows, state, holds):
    """[survey] example 7.1, by (7.12) and by (7.15)."""
    structure = ModulatedDirac(kinematic(rows), np.array(state))
    assert bool(integrability(structure, structure.sample)) is holds
    assert bool(by_brackets(structure, structure.sample) < 1e-9) is holds


def test_the_reduced_coin_is_not_poisson():
    """J_c of [survey] eq. (4.21) violates (7.1): the last remark of sec. 7."""

    def reduced(x):
        S = np.array([[0 * x[3], np.cos(x[3])], [0 * x[3], np.sin(x[3])], [0 * x[3], 1 + 0 * x[3]],
                      [1 + 0 * x[3], 0 * x[3]]])  # fmt: skip
        return np.block([[np.zeros((4, 4)), S], [-S.T, np.zeros((2, 2))]])

    assert not jacobi_identity(reduced, np.array([0.1, 0.2, 0.3, 0.7, 1.0, 2.0]), slopes="complex")


def test_inputs_do_not_change_the_structure_of_the_storage():
    """An input that moves with the state does not matter to the structure of the storage."""

    def at(x):
        B = np.array([[np.sin(x[1])], [x[0] * x[2]], [1.0]])
        matrix = np.block([[-spinning(x), -B], [B.T, np.zeros((1, 1))]])
        return DiracStructure.from_hybrid(matrix, np.arange(4) >= 3, {"p": slice(0, 3), "u": slice(3, 4)})

    structure = ModulatedDirac(at, STATE)
    assert structure.storage == ("p",)
    assert integrability(structure, STATE)


def losing_rank(unit=1.0):
    """[rigid] remark 5: D = {f₂ = 0, e₁ = 0} with the constraint e₁ + x e₂ = 0, flows in another unit."""
    D = DiracStructure.from_hybrid(np.zeros((2, 2)), [True, False], {"x": slice(0, 1), "u": slice(1, 2)})
    return lambda x: D.constrained(np.array([[1.0, x[0] / unit]]))


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e3, 1e6])
def test_a_family_that_loses_rank_is_refused(unit):
    """[rigid] remark 5: the structure at x = 0 is no limit of those nearby. Away from it the family is a good one."""
    at = losing_rank(unit)
    found = regularity(at, [[0.0], [unit], [2.0 * unit]])
    assert (found.flows, found.efforts) == ((1, 2, 2), (1, 0, 0))
    assert not found
    message = r"must be continuous at the sample .*\(dim G, dim P\) = \(1, 1\) at x = \[0\.\]; .*\(2, 0\) at x = \["
    with pytest.raises(ValueError, match=message):
        ModulatedDirac(at, np.zeros(1))
    with pytest.raises(ValueError, match=message):
        PortHamiltonian(structure=at, H=float, gradient=lambda x: x, sample=np.zeros(1))
    assert regularity(ModulatedDirac(at, np.array([unit])), [[unit], [-unit]])


def test_ranks_of_flows_and_efforts():
    """J(p) of a body is zero at rest and of rank two elsewhere: a modulated structure, at rest not regular."""
    at = lambda p: DiracStructure.from_skew(spinning(p), {"p": slice(0, 3)})  # noqa: E731
    family = ModulatedDirac(at, np.zeros(3))
    found = regularity(family, [[0.0, 0.0, 0.0], STATE])
    assert (found.flows, found.efforts) == ((0, 2), (3, 3))
    assert str(found).startswith("(dim G, dim P) = (0, 3) at x = [0. 0. 0.]; (dim G, dim P) = (2, 3) at x = [ 0.7 -0.4")
    held = ModulatedDirac(kinematic(coin), np.array([0.1, 0.2, 0.3, 0.7, 1.0, 2.0, 3.0, 4.0]))
    assert regularity(held, np.random.default_rng(0).standard_normal((5, 8))).efforts == (6,) * 5
    with pytest.raises(ValueError, match="must have the same ports at all states"):
        ModulatedDirac(lambda x: DiracStructure.from_skew(np.zeros((1, 1)), {"x" if x[0] == 1.0 else "y": slice(0, 1)}),
                       np.ones(1))  # fmt: skip


def test_bad_input_is_refused():
    at = lambda x: DiracStructure.from_skew(spinning(x), {"x": slice(0, 3)})  # noqa: E731
    with pytest.raises(ValueError, match=r"storage must name ports.*cover.*states;.*\{'x': 3\}"):
        ModulatedDirac(at, np.ones(4))
    with pytest.raises(ValueError, match="storage must have an entry for each of the 2 states"):
        ModulatedDirac(lambda x: at(np.ones(3)), np.zeros(2), ("x",))
    with pytest.raises(ValueError, match="slopes must be a function of the state, 'complex' or None"):
        jacobi_identity(spinning, STATE, slopes="wrong")
    with pytest.raises(ValueError, match="must return complex numbers"):
        jacobi_identity(lambda x: spinning(x.real), STATE, slopes="complex")
