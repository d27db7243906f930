"""Elimination of constraints: the same motions, energy and ports, without the multipliers."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import fem
import rigid
from flexph import GROUND, LinearPHDAE, connect, distance, eigenfrequencies, eliminate, hinge, weld
from flexph.linear import RedundantConstraintWarning
from flexph.linear import elimination as module
from flexph.numerics.factors.sparse_null_space import sparse_null_space

pytestmark = pytest.mark.processor

FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
seeds = st.integers(0, 2**32 - 1)


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def random_system(seed, form="dense", n=9, rows=3, **options):
    """A random dissipative system with two ports and random constraints."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((n, n)), draw((n, n)), draw((n, 2))
    made = {"E": root @ root.T + np.eye(n), "J": free - free.T, "R": loss @ loss.T}
    made |= {"B": draw((n, 3)), "G": draw((rows, n))}
    ports = {"a": slice(0, 1), "b": slice(1, 3)}
    return LinearPHDAE(**{k: FORMS[form](v) for k, v in made.items()}, ports=ports, parts={"x": slice(0, n)}, **options)


def pencil(system):
    """Finite eigenvalues of s [E, 0; 0, 0] = [J − R, Gᵀ; −G, 0] by dense QZ.

    The index-2 pencil has 2 infinite ones per constraint; rounding leaves them above eps^(-1/2).
    """
    E, A, G = full(system.E), full(system.J) - full(system.R), full(system.G)
    zero = np.zeros((len(G), len(G)))
    values = scipy.linalg.eig(
        np.block([[A, G.T], [-G, zero]]), scipy.linalg.block_diag(E, zero), right=False, homogeneous_eigvals=True
    )
    size = np.abs(values[1]) / np.abs(values).sum(axis=0)
    finite = np.argsort(-size)[: len(E) - len(G)]
    assert np.sort(size)[: 2 * len(G)].max(initial=0.0) < 1e-6 < size[finite].min()
    return values[0, finite] / values[1, finite]


def assert_same_spectrum(found, expected, rtol):
    """Both sets of complex numbers, paired at least cost, agree relative to the largest."""
    cost = np.abs(found[:, None] - expected[None, :])
    rows, columns = scipy.optimize.linear_sum_assignment(cost)
    assert len(found) == len(expected)
    assert cost[rows, columns].max() < rtol * np.abs(expected).max()


def null_space(rows):
    """The basis P of the states that the given constraints leave."""
    n = rows.shape[1]
    names = tuple(f"row {i}" for i in range(len(rows)))
    return eliminate(LinearPHDAE(np.eye(n), np.zeros((n, n)), G=rows, constraints=names)).lift


@given(seed=seeds)
def test_basis_is_orthonormal_and_spans_the_null_space(seed):
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((4, 11)) * 10.0 ** rng.uniform(-4, 4, (4, 1))
    basis = null_space(g)
    assert basis.shape == (11, 7)
    np.testing.assert_allclose(basis.T @ basis, np.eye(7), atol=1e-14)
    np.testing.assert_allclose(g @ basis, 0.0, atol=1e-14 * np.abs(g).max())


def test_untouched_states_keep_their_columns():
    """Two groups of constraints on states 1, 4 and 2, 6; the others stay as they are, each in one column of 1."""
    g = np.zeros((2, 8))
    g[0, [1, 4]], g[1, [2, 6]] = (1.0, 2.0), (1.0, -1.0)
    basis = null_space(g)
    untouched = [0, 3, 5, 7]
    own = np.abs(basis[untouched]).argmax(axis=1)
    np.testing.assert_array_equal(basis[:, own], np.eye(8)[:, untouched])
    others = np.setdiff1d(np.arange(6), own)
    assert not basis[untouched][:, others].any()
    groups = [set(np.flatnonzero(column)) for column in basis[:, others].T]
    assert sorted(map(sorted, groups)) == [[1, 4], [2, 6]]


@both_forms
@given(seed=seeds)
def test_matrices_are_those_of_the_basis(form, seed):
    """Ê = PᵀEP and so on with P = lift, ‖G P‖ at round-off."""
    system = random_system(seed, form)
    free = eliminate(system)
    assert free.is_sparse == (form == "sparse")
    p = full(free.lift)
    np.testing.assert_allclose(p.T @ p, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(full(system.G) @ p, 0.0, atol=1e-14)
    for name in "EJR":
        np.testing.assert_allclose(full(getattr(free, name)), p.T @ full(getattr(system, name)) @ p, atol=1e-12)
    np.testing.assert_allclose(full(free.B), p.T @ full(system.B), atol=1e-14)
    assert free.G.shape == (0, 6)
    assert free.constraints == ()


@both_forms
@given(seed=seeds)
def test_energy_power_ports_and_parts_are_kept(form, seed):
    system = random_system(seed, form)
    free = eliminate(system)
    x = np.random.default_rng(seed).standard_normal(free.size)
    whole = free.expand(x)
    assert free.energy(x) == pytest.approx(system.energy(whole), rel=1e-13)
    assert x @ (free.R @ x) == pytest.approx(whole @ (system.R @ whole), rel=1e-12)
    assert dict(free.ports) == dict(system.ports)
    for port in free.ports:
        np.testing.assert_allclose(free.inputs(port).T @ x, system.inputs(port).T @ whole, rtol=1e-12)
    np.testing.assert_allclose(system.G @ free.part("x", x), 0.0, atol=1e-13)


def shifted_pencil(system, shift):
    """Finite eigenvalues s of the constrained pencil through 1/(s − shift), the largest of its inverse.

    An independent route without QZ: the infinite eigenvalues become zero, where rounding leaves them below 1e-6.
    """
    E, A, G = full(system.E), full(system.J) - full(system.R), full(system.G)
    zero = np.zeros((len(G), len(G)))
    whole = scipy.linalg.block_diag(E, zero)
    inverse = np.linalg.eigvals(np.linalg.solve(np.block([[A, G.T], [-G, zero]]) - shift * whole, whole))
    inverse = inverse[np.argsort(-np.abs(inverse))]
    finite = len(E) - len(G)
    assert np.abs(inverse[finite:]).max(initial=0.0) < 1e-6 < np.abs(inverse[finite - 1])
    return shift + 1.0 / inverse[:finite]


@both_forms
@pytest.mark.parametrize("limit", [0, 16])
@pytest.mark.parametrize("seed", range(4))
def test_spectra_are_equal(seed, limit, form, monkeypatch):
    """Constrained and eliminated, by dense QR and by sparse elimination: equal to 1e-10 of the largest eigenvalue."""
    monkeypatch.setattr(module, "LARGEST_DENSE", limit)
    system = random_system(seed, form, n=12, rows=4)
    free = eliminate(system)
    found = scipy.linalg.eigvals(full(free.J) - full(free.R), full(free.E))
    assert_same_spectrum(found, shifted_pencil(system, 0.7 + 0.4j), 1e-10)


@both_forms
@given(seed=seeds)
def test_spectrum_of_a_random_system(form, seed):
    """Eigenvalues of a random dissipative pencil; QZ on an index-2 pencil keeps half of the digits at worst."""
    system = random_system(seed, form)
    free = eliminate(system)
    found = scipy.linalg.eigvals(full(free.J) - full(free.R), full(free.E))
    assert_same_spectrum(found, pencil(system), 1e-8)


def two_beams(*extra, elements=1):
    """A clamped beam that carries a second one on a hinge."""
    made = fem.beam(1.0, fem.Material(young=1e3, density=1.0), fem.Section(width=1.0, height=0.5), elements=elements)
    joints = [weld("a.root", GROUND), hinge("a.tip", "b.root"), *extra]
    mechanism = connect({"a": made, "b": made}, joints)
    return mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, 0.4)}, guess={"b": 1.5}))


def test_spectrum_of_a_mechanism():
    system = two_beams()
    assert_same_spectrum(
        1j * np.array([*eigenfrequencies(system), *-eigenfrequencies(system), 0.0]), pencil(system), 1e-8
    )


def test_a_large_system_stays_sparse():
    """A chain of beams: each joint links the velocities of two bodies, and nothing else is filled."""
    system = two_beams(elements=200)
    assert system.is_sparse
    free = eliminate(system)
    assert free.is_sparse
    assert sparse.issparse(free.lift)
    assert free.size == system.size - system.G.shape[0]
    touched = np.unique(system.G.tocoo().col).size
    assert free.lift.nnz <= system.size + touched**2
    assert free.E.nnz <= 2 * system.E.nnz
    assert np.abs(system.G @ free.lift).max() < 1e-13


def random_rows(seed, rows=60, n=150, units=3.0):
    """Sparse random constraints, a chain of neighbours with a few far links, in units that differ by orders."""
    rng = np.random.default_rng(seed)
    g = np.zeros((rows, n))
    for i in range(rows):
        near = rng.choice(np.arange(2 * i, 2 * i + 8), 4, replace=False)
        g[i, near] = rng.standard_normal(4)
        g[i, rng.integers(n)] += 0.1 * (rng.random() < 0.1)
    return g * 10.0 ** rng.uniform(-units, units, (rows, 1)) * 10.0 ** rng.uniform(-units, units, n)


@given(seed=seeds)
def test_the_sparse_basis_spans_the_null_space(seed):
    """Identity on the columns that are kept, ‖G P‖ at round-off, and the dimension of the null space."""
    g = random_rows(seed)
    basis, dependent = sparse_null_space(sparse.csr_array(g))
    assert dependent == []
    assert basis.shape == (150, 90)
    p = basis.toarray()
    scale = np.linalg.norm(g, axis=1)[:, None] * np.linalg.norm(p, axis=0)
    assert np.abs(g @ p / scale).max() < 1e-14
    kept = [k for k in range(150) if np.count_nonzero(p[k]) == 1 and p[k].max() == 1.0]
    assert np.linalg.matrix_rank(p[kept]) == 90
    assert basis.nnz < 10 * 150


@given(seed=seeds)
def test_dependent_rows_of_a_large_group(seed):
    """Three rows made of others are found; the weights of each give zero, in whatever units."""
    rng = np.random.default_rng(seed)
    g = random_rows(seed)
    weights = [{3: 1.0, 10: -2.0}, {20: 0.5, 21: 1.0, 40: 3.0}, {}]
    made = [sum((w / np.linalg.norm(g[i]) * g[i] for i, w in own.items()), np.zeros(150)) for own in weights]
    order = rng.permutation(63)
    whole = np.vstack([g, made])[order]
    basis, dependent = sparse_null_space(sparse.csr_array(whole))
    assert basis.shape[1] == 90
    assert len(dependent) == 3
    found = []
    for own in dependent:
        rest = sum(w * whole[i] for i, w in own.items())
        assert np.linalg.norm(rest) <= 1e-12 * max(np.linalg.norm(w * whole[i]) for i, w in own.items())
        found.append({int(order[i]) for i in own})
    expected = [{3, 10, 60}, {20, 21, 40, 61}, {62}]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def hinged_chain(links):
    """A straight chain of floating beams on hinges: all its joints along an axis are one connected group."""
    names = [f"b{i}" for i in range(links)]
    body = fem.beam(1.0, fem.Material(young=1e3, density=1.0), fem.Section(width=1.0, height=0.5), elements=2)
    joints = [weld("b0.root", GROUND), *(hinge(f"{a}.tip", f"{b}.root") for a, b in pairwise(names))]
    mechanism = connect(dict.fromkeys(names, body), joints)
    return mechanism.linearize(mechanism.assemble(guess={k: (float(i), 0.0, 0.0) for i, k in enumerate(names)}))


def test_a_large_group_stays_local(monkeypatch):
    """Deformations of the tips, which one constraint alone touches, give way: P has a few entries for each of them.

    Both bases make the same system: the QR of the whole group has the same eigenfrequencies.
    """
    system = hinged_chain(40)
    free = eliminate(system)
    assert free.size == system.size - system.G.shape[0]
    assert free.lift.nnz <= free.size + 4 * system.G.shape[0]
    assert free.E.nnz < 1.5 * system.E.nnz
    monkeypatch.setattr(module, "LARGEST_DENSE", 1000)
    filled = eliminate(system)
    assert filled.lift.nnz > 5 * free.lift.nnz
    np.testing.assert_allclose(eigenfrequencies(free), eigenfrequencies(filled), rtol=1e-8)


def test_redundant_constraints_of_a_large_group_are_named(monkeypatch):
    """A hinge over a weld, by either path the same number of warnings about the same rows."""
    monkeypatch.setattr(module, "LARGEST_DENSE", 0)
    with pytest.warns(RedundantConstraintWarning, match=r"'.*: [xy]' follows from .*'.*: [xy]'") as caught:
        found = eigenfrequencies(two_beams(weld("a.tip", "b.root")))
    assert len(caught) == 2
    with pytest.warns(RedundantConstraintWarning):
        monkeypatch.setattr(module, "LARGEST_DENSE", 16)
        expected = eigenfrequencies(two_beams(weld("a.tip", "b.root")))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_constraint_that_mixes_velocities_and_stresses_ends_the_split():
    n = 6
    kinetic = np.arange(n) < 3
    rows = np.zeros((1, n))
    rows[0, [0, 4]] = 1.0
    mixed = eliminate(LinearPHDAE(np.eye(n), np.zeros((n, n)), G=rows, kinetic=kinetic))
    assert mixed.kinetic is None
    rows[0, 4] = 0.0
    assert eliminate(LinearPHDAE(np.eye(n), np.zeros((n, n)), G=rows, kinetic=kinetic)).kinetic.sum() == 2


def test_velocities_and_stresses_stay_apart():
    """Joints bind velocities only: the kinetic mask goes through, and E, J keep their blocks."""
    free = eliminate(two_beams())
    kinetic = free.kinetic
    assert (int(kinetic.sum()), int((~kinetic).sum())) == (12 - 5, 6)
    assert not free.E[np.ix_(kinetic, ~kinetic)].any()
    assert not free.J[np.ix_(kinetic, kinetic)].any()
    full_mask = two_beams().kinetic
    np.testing.assert_array_equal((np.abs(free.lift) > 0.0).T @ full_mask > 0, kinetic)


def test_a_system_without_constraints_is_its_own():
    system = random_system(0, rows=0)
    assert eliminate(system) is system


def test_elimination_of_an_eliminated_system_changes_nothing():
    free = eliminate(random_system(0))
    assert eliminate(free) is free


def doubled_joints():
    return {
        "hinge over a weld": (
            [weld("a.tip", "b.root"), hinge("b.root", "a.tip")],
            [weld("a.tip", "b.root")],
            2,
            r"'(hinge b.root–a.tip|weld a.tip–b.root): [xy]' follows from "
            r".*'(hinge b.root–a.tip|weld a.tip–b.root): [xy]'",
        ),
        "the same rod from both ends": (
            [distance("a.tip", "b.tip"), distance("b.tip", "a.tip")],
            [distance("a.tip", "b.tip")],
            1,
            r"'distance (a.tip–b.tip|b.tip–a.tip): length' follows from 'distance (a.tip–b.tip|b.tip–a.tip): length'",
        ),
    }


@pytest.mark.parametrize("name", doubled_joints())
def test_redundant_constraints_are_named_and_change_nothing(name):
    doubled, once, count, message = doubled_joints()[name]
    body = fem.beam(1.0, fem.Material(young=1e3, density=1.0), fem.Section(width=1.0, height=0.5), elements=2)

    def system(joints):
        mechanism = connect({"a": body, "b": body}, joints)
        return mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, 0.4)}, guess={"b": (1.5, 0.5, 1.5)}))

    with pytest.warns(RedundantConstraintWarning, match=message) as caught:
        found = eigenfrequencies(system(doubled))
    assert len([w for w in caught if w.category is RedundantConstraintWarning]) == count
    assert all("the motion is unaffected" in str(w.message) for w in caught)
    np.testing.assert_allclose(found, eigenfrequencies(system(once)), rtol=1e-9)


def test_parallel_rods_are_redundant():
    """Two parallel rods let a plate translate; the third one of a parallelogram holds nothing more."""
    plate = rigid.body(2.0, inertia=0.3, ports={"p": (0.0, 0.0), "q": (1.0, 0.0), "r": (2.0, 0.0)})
    rods = [distance(f"plate.{k}", GROUND.at(float(x), -1.0)) for x, k in enumerate("pqr")]
    mechanism = connect({"plate": plate}, rods)
    system = mechanism.linearize(mechanism.assemble({"plate": (0.0, 0.0, 0.0)}))
    with pytest.warns(RedundantConstraintWarning, match=r"GROUND at \(\d\.0, -1\.0\): length' follows from") as caught:
        free = eliminate(system)
    assert len(caught) == 1
    assert all(f"plate.{k}" in str(caught[0].message) for k in "pqr")
    assert free.size == 1


def test_an_empty_row_is_redundant():
    with pytest.warns(RedundantConstraintWarning, match=r"'row 1' follows from nothing \(an empty row\)"):
        basis = null_space(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    assert basis.shape == (3, 2)


def test_a_rod_within_a_rigid_body_is_redundant():
    """It holds nothing whatever the motion: an empty row of G."""
    plate = rigid.body(2.0, inertia=0.3, ports={"p": (0.0, 0.0), "q": (1.0, 0.5)})
    mechanism = connect({"plate": plate}, [hinge("plate.p", GROUND), distance("plate.p", "plate.q")])
    with pytest.warns(RedundantConstraintWarning, match=r"'distance plate.p–plate.q: length' follows from nothing"):
        free = eliminate(mechanism.linearize(mechanism.assemble({"plate": 0.4})))
    assert free.size == 1


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_of_a_constraint_make_it_neither_redundant_nor_needed(scale):
    system = random_system(1)
    rows = system.G * np.array([1.0, scale, 1.0])[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert null_space(rows).shape == (9, 6)
    twice = np.vstack([rows, scale * rows[:1]])
    with pytest.warns(RedundantConstraintWarning):
        assert null_space(twice).shape == (9, 6)


def test_as_many_constraints_as_states_leave_nothing():
    free = eliminate(random_system(2, n=4, rows=4))
    assert free.size == 0
    np.testing.assert_array_equal(free.expand(np.zeros(0)), np.zeros(4))


def test_the_elimination_audits_itself(monkeypatch):
    monkeypatch.setattr(module, "null_space", lambda g, names: (sparse.eye_array(g.shape[1]).tocsr(), []))
    with pytest.raises(ArithmeticError, match=r"elimination failed: ‖G P‖/‖G‖ = 1e\+00"):
        eliminate(random_system(0))
