"""The forms of [survey] sec. 3.1: every way in and out is the same subspace, over random structures."""

import pickle
from copy import deepcopy
from time import perf_counter

import numpy as np
import pytest
from dirac_samples import ported, random_structure
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.linalg import null_space, subspace_angles
from scipy.sparse import csr_array

from flexph.dirac import CanonicalForm, DiracStructure

# Conversions lose the digits of the basis [J; 1] in which a structure is kept (DiracStructure.condition), and of the
# rows that were given: both stay below 1e4 here, so that 1e-10 leaves a margin of a hundred over eps times both.
CLOSE = 1e-10


@st.composite
def structures(draw, most=40):
    """Structures of 1 to `most` pairs, of which any number is free, without those that keep too few digits."""
    n = draw(st.integers(1, most))
    D = random_structure(draw(st.integers(0, 2**32 - 1)), n, free=draw(st.integers(0, n)))
    assume(D.condition < 1e4)
    return D


def exact(D):
    """An orthonormal basis of all members by the singular values of the equations: another route to the subspace."""
    return null_space(np.hstack([D.F, D.E]))


@given(structures())
@example(random_structure(0, 1))
@example(random_structure(1, 1, free=1))
def test_every_form_comes_back(D):
    made = {
        "kernel": DiracStructure(D.F, D.E),
        "image": DiracStructure.from_image(*D.image()),
        "constrained": DiracStructure.from_constrained(*D.constrained_form()),
        "hybrid": DiracStructure.from_hybrid(D.hybrid(D.graph.flow_inputs), D.graph.flow_inputs),
        "canonical": DiracStructure.from_canonical(D.canonical()),
    }
    for name, again in made.items():
        assert np.max(subspace_angles(exact(again), exact(D))) < CLOSE, name
        assert again.distance(D) < (CLOSE if D.condition > 1e2 else 0.1 * CLOSE), name


@given(structures(), st.integers(0, 2**32 - 1))
def test_relaxed_forms_are_reduced(D, seed):
    """More rows than n: combinations of rows do no harm ([survey] sec. 3.1.1)."""
    n = D.size
    mixed = np.random.default_rng(seed).standard_normal((2 * n + 3, n))
    again = DiracStructure(mixed @ D.F, mixed @ D.E)
    assert again.F.shape == again.E.shape == (n, n)
    assert again.distance(D) < CLOSE
    flows, efforts = D.image()
    assert DiracStructure.from_image(flows @ mixed.T, efforts @ mixed.T).distance(D) < CLOSE


@given(structures())
def test_constrained_form_is_that_of_the_theory(D):
    """im G = {f : (f, 0) ∈ D} and J is skew ([survey] sec. 3.1.2); rank G + rank F = n."""
    n = D.size
    J, G = D.constrained_form()
    assert np.array_equal(J, -J.T)
    assert np.linalg.matrix_rank(G) == G.shape[1] == n - np.linalg.matrix_rank(D.F, tol=1e-9)
    for column in G.T:
        assert D.contains(column, np.zeros(n))
    e = null_space(G.T) @ np.ones(n - G.shape[1])
    assert D.contains(J @ e, e)
    if G.shape[1] < n:
        assert not D.contains(J @ e + 0.1 * np.linalg.norm(J @ e) * e + e, e)


@given(structures(), st.integers(0, 2**32 - 1))
def test_members_satisfy_the_canonical_form(D, seed):
    """[survey] eq. (3.7) for random members, in the coordinates of T; 2 pairs + fixed + free = n."""
    n, form = D.size, D.canonical()
    k, r = form.pairs, form.fixed
    assert 2 * k + r + form.free == n
    flows, efforts = (m @ np.random.default_rng(seed).standard_normal(n) for m in D.image())
    f, e = np.linalg.solve(form.basis, flows), form.basis.T @ efforts
    size = np.linalg.cond(form.basis) * (np.abs(f).max() + np.abs(e).max())
    q, p, fixed, free_ones = slice(0, k), slice(k, 2 * k), slice(2 * k, 2 * k + r), slice(2 * k + r, n)
    for residual in (f[q] + e[p], f[p] - e[q], f[fixed], e[free_ones]):
        assert np.abs(residual).max(initial=0.0) < 1e-11 * size


def test_hybrid_form_by_ports():
    """Any choice of inputs that is possible gives the same subspace; of the wrong parity none is."""
    D = ported(3, {"a": 2, "b": 2, "c": 1})
    possible = 0
    for flows in ([], ["a"], ["b"], ["a", "b"], ["c"], ["a", "c"]):
        mask = np.zeros(5, dtype=bool)
        for name in flows:
            mask[D.ports[name]] = True
        if (mask.sum() - D.graph.flow_inputs.sum()) % 2:
            with pytest.raises(ValueError, match="cannot be inputs together: the block of J"):
                D.hybrid(flows)
            continue
        J = D.hybrid(flows)
        possible += 1
        assert np.array_equal(J, -J.T)
        assert DiracStructure.from_hybrid(J, mask, D.ports).distance(D) < CLOSE
    assert possible == 2  # of 1 and of 3 flows: this one is of the odd kind


def test_large_entries_are_exchanged_and_come_back():
    """Entries of 1e6 (a transformer of many turns): the basis inside stays well conditioned, J is what was given."""
    J = np.array([[0.0, 1e6, 2.0], [-1e6, 0.0, 3e3], [-2.0, -3e3, 0.0]])
    D = DiracStructure.from_skew(J)
    assert D.condition < 2e2
    np.testing.assert_allclose(D.hybrid(np.zeros(3, dtype=bool)), J, rtol=1e-9)


def test_matrices_are_kept_as_they_were_written():
    """[survey] example 3.3: rows of topology stay zeros and ones."""
    D = DiracStructure([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, -1.0]])
    J, G = D.constrained_form()
    assert np.array_equal(J, np.zeros((2, 2)))
    assert np.array_equal(np.abs(G), [[1.0], [1.0]])
    assert G[0, 0] == -G[1, 0]
    assert DiracStructure.from_presymplectic([[0.0, 2.0], [-2.0, 0.0]]).contains([1.0, 3.0], [6.0, -2.0])


def test_ports_in_another_order_are_the_same_structure():
    D = ported(5, {"a": 2, "b": 1, "c": 3}, free=2)
    other = D.reordered(["c", "a", "b"])
    assert list(other.ports) == ["c", "a", "b"]
    assert D.distance(other) < CLOSE
    assert D.equals(other)
    f, e = (m @ np.arange(6.0) for m in D.image())
    by_name = [{name: v[s] for name, s in D.ports.items()} for v in (f, e)]
    assert other.contains(*by_name)
    renamed = D.renamed({"a": "x"})
    assert list(renamed.ports) == ["x", "b", "c"]
    assert D.split("c", {"c1": 1, "c2": 2}).ports == {"a": slice(0, 2), "b": slice(2, 3), "c1": slice(3, 4),
                                                     "c2": slice(4, 6)}  # fmt: skip


def test_closed_ports_keep_members_without_flow_or_effort():
    """Members with zero flow at a port, or zero effort, and no others."""
    D = ported(6, {"a": 3, "b": 2}, free=1)
    for word in ("flows", "efforts"):
        made = D.closed(**{word: ["b"]})
        assert made.ports == {"a": slice(0, 3)}
        b, rows = D.ports["b"], np.hstack([D.F, D.E])
        n = D.size
        held = np.zeros((2, 2 * n))
        held[:, (b.start if word == "flows" else n + b.start) : (b.stop if word == "flows" else n + b.stop)] = np.eye(2)
        members = null_space(np.vstack([rows, held]))
        a = np.r_[0:3, n : n + 3]
        basis = np.vstack(made.image())
        assert np.linalg.matrix_rank(np.hstack([members[a], basis]), tol=1e-9) == 3
    with pytest.raises(ValueError, match="zero flow and zero effort"):
        D.closed(flows=["a"], efforts=["a"])


def test_copies_and_sparse_matrices():
    D = ported(5, {"a": 2, "b": 1, "c": 3}, free=2)
    for again in (pickle.loads(pickle.dumps(D)), deepcopy(D)):
        assert np.array_equal(again.F, D.F)
        assert np.array_equal(again.E, D.E)
        assert again.ports == D.ports
        assert not again.F.flags.writeable
    J = csr_array([[0.0, 2.0], [-2.0, 0.0]])
    assert np.array_equal(DiracStructure.from_skew(J).E, -J.toarray())
    assert DiracStructure.from_presymplectic(J).contains([1.0, 3.0], [6.0, -2.0])
    assert D.closed(flows=(name for name in ["b"])).equals(D.closed(flows=["b"]))


def test_large_matrices_are_taken_as_they_are():
    """Without elimination: 1000 flows and efforts in well below a second."""
    rng, n = np.random.default_rng(0), 1000
    J = rng.standard_normal((n, n))
    begin = perf_counter()
    D = DiracStructure.from_skew(J - J.T)
    assert perf_counter() - begin < 5.0  # elimination takes tens
    assert np.array_equal(D.E, J.T - J)


def test_bad_input_is_refused():
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match=r"conserves power: ‖F Eᵀ \+ E Fᵀ‖ = 1e\+00"):
        DiracStructure.from_skew([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"maximal: rank \[F E\] = 1, it must be 2"):
        DiracStructure([[1.0, 0.0], [2.0, 0.0]], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"F must.*least.*many rows.*columns, got shape \(1, 2\)"):
        DiracStructure([[1.0, 0.0]], [[0.0, 0.0]])
    with pytest.raises(ValueError, match=r"E must have shape \(2, 2\)"):
        DiracStructure(np.eye(2), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="ports must cover the 2 flows and efforts once each"):
        DiracStructure.from_skew(skew, {"a": slice(0, 1)})
    with pytest.raises(ValueError, match=r"J must have shape \(2, 2\), got \(2, 3\)"):
        DiracStructure.from_skew(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="flows must be a list of names, got 'a'"):
        ported(0, {"a": 1, "b": 1}).closed(flows="a")
    with pytest.raises(ValueError, match="flow_inputs must be 2 truth values"):
        DiracStructure.from_hybrid(skew, [0, 1])
    with pytest.raises(ValueError, match="J must be skew-symmetric"):
        DiracStructure.from_hybrid([[0.0, 1.0], [1.0, 0.0]], [True, False])
    with pytest.raises(ValueError, match="no port 'c': there are 'a', 'b'"):
        ported(0, {"a": 1, "b": 1}).hybrid(["c"])
    with pytest.raises(ValueError, match=r"basis must have shape \(3, 3\)"):
        CanonicalForm(np.eye(2), 1, 0, 1)
