"""Composition of Dirac structures: [survey] theorems 6.1 and 6.2, gyrative and by elements, against the core."""

import itertools

import numpy as np
import pytest
from dirac_samples import ported
from scipy.linalg import null_space, orth, subspace_angles

import flexph
from flexph import LinearPHDAE
from flexph.dirac import (
    DiracStructure,
    common_effort,
    common_flow,
    compose,
    feedback_structure,
    gyrator_structure,
    kirchhoff,
    product,
    symplectic_gyrator,
    transformer_structure,
)

CLOSE = 1e-10  # bases of conditions below 1e4, composed two or three times
seeds = pytest.mark.parametrize("seed", range(6))


def by_members(A, B, shared):
    """All members of A ∥ B: solutions of both systems of equations with f_A = −f_B, e_A = e_B, the shared left out."""
    n, m = A.size, B.size
    rows = [np.hstack([A.F, A.E, np.zeros((n, 2 * m))]), np.hstack([np.zeros((m, 2 * n)), B.F, B.E])]
    for name in shared:
        a, b = np.arange(n)[A.ports[name]], np.arange(m)[B.ports[name]]
        for i, j in zip(a, b, strict=True):
            flow, effort = np.zeros((2, 1, 2 * n + 2 * m))
            flow[0, i], flow[0, 2 * n + j] = 1.0, 1.0
            effort[0, n + i], effort[0, 2 * n + m + j] = 1.0, -1.0
            rows += [flow, effort]
    members = null_space(np.vstack(rows))
    left_a = np.setdiff1d(np.arange(n), np.concatenate([np.arange(n)[A.ports[name]] for name in shared]))
    left_b = np.setdiff1d(np.arange(m), np.concatenate([np.arange(m)[B.ports[name]] for name in shared]))
    kept = np.concatenate([left_a, 2 * n + left_b, n + left_a, 2 * n + m + left_b])
    return orth(members[kept], rcond=1e-9)


@seeds
def test_composition_is_what_the_definition_says(seed):
    """[survey] eq. (6.2) by solving both systems of equations; n1 + n3 dimensions (theorem 6.1)."""
    A = ported(seed, {"a": 3, "s": 2, "t": 1}, free=seed % 3)
    B = ported(seed + 50, {"s": 2, "b": 4, "t": 1}, free=(seed + 1) % 4)
    made = compose(A, B)
    assert list(made.ports) == ["a", "b"]
    found = by_members(A, B, ["s", "t"])
    assert found.shape[1] == made.size == 7
    assert np.max(subspace_angles(found, np.vstack(made.image()))) < CLOSE
    f, e = (m @ np.random.default_rng(seed).standard_normal(7) for m in made.image())
    assert abs(f @ e) <= 1e-12 * np.linalg.norm(f) * np.linalg.norm(e)


@seeds
def test_order_and_grouping_do_not_matter(seed):
    A = ported(seed, {"a": 5, "ab": 3, "ac": 2}, free=2)
    B = ported(seed + 10, {"b": 6, "ab": 3, "bc": 2})
    C = ported(seed + 20, {"c": 4, "ac": 2, "bc": 2}, free=seed % 4)
    one = compose(compose(A, B), C)
    for other in (compose(A, compose(B, C)), compose(compose(C, A), B), compose(C, compose(B, A))):
        assert one.distance(other) < CLOSE
    assert sorted(one.ports) == ["a", "b", "c"]


@seeds
def test_many_in_any_order(seed):
    """A ring of five, composed in all orders that stay connected."""
    ring = [ported(seed + 7 * k, {f"x{k}": 2, f"{k}": 2, f"{(k + 1) % 5}": 2}, free=k % 3) for k in range(5)]
    found = []
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 7):
        made = ring[order[0]]
        try:
            for k in order[1:]:
                made = compose(made, ring[k])
        except ValueError:  # not connected in between
            continue
        found.append(made)
    assert len(found) > 5
    assert max(found[0].distance(other) for other in found[1:]) < CLOSE


@seeds
def test_gyrative_composition_is_that_through_a_gyrator(seed):
    """D_A ∥ I ∥ D_B ([survey] eq. (6.8)-(6.9))."""
    A, B = ported(seed, {"a": 3, "s": 2}, free=1), ported(seed + 5, {"b": 2, "t": 2})
    direct = compose(A, B, ports={"s": "t"}, gyrative=True)
    through = compose(compose(A, symplectic_gyrator(("s", "t"), 2)), B)
    assert direct.distance(through) < CLOSE
    assert direct.distance(compose(A, B, ports={"s": "t"})) > 1e-3


def graph_of_system(J, B, ports):
    """(2.42): f_S = −J e_S − B u, y = Bᵀe_S with external flows u and efforts y."""
    n, m = B.shape
    matrix = np.block([[-J, -B], [B.T, np.zeros((m, m))]])
    return DiracStructure.from_hybrid(matrix, np.arange(n + m) >= n, ports)


def linear(seed, n, sizes):
    rng = np.random.default_rng(seed)
    J, m = rng.standard_normal((n, n)), sum(sizes.values())
    ends = np.cumsum(list(sizes.values())).tolist()
    ports = {name: slice(e - s, e) for (name, s), e in zip(sizes.items(), ends, strict=True)}
    return LinearPHDAE(E=np.eye(n), J=J - J.T, B=rng.standard_normal((n, m)), ports=ports)


def structure_of(system, storage):
    n = system.size
    ports = {storage: slice(0, n)} | {k: slice(n + s.start, n + s.stop) for k, s in system.ports.items()}
    return graph_of_system(system.J, system.B, ports)


@seeds
@pytest.mark.parametrize("kind", ["gyrator", "transformer"])
def test_agreement_with_the_interconnections_of_the_core(seed, kind):
    """The structure of a gyrator or transformer between two systems is that of their structures and the element."""
    first, second = linear(seed, 4, {"u": 2, "other": 1}), linear(seed + 1, 3, {"v": 1})
    C = np.random.default_rng(seed + 2).standard_normal((2, 1))
    joined = getattr(flexph.interconnection, kind)(first, second, ("u", "v"), C)
    element = {"gyrator": gyrator_structure, "transformer": transformer_structure}[kind](("u", "v"), C)
    composed = compose(compose(structure_of(first, "x"), element), structure_of(second, "z"))
    whole = structure_of(joined, "xz").split("xz", {"x": 4, "z": 3})
    rows = np.zeros((joined.G.shape[0], whole.size))
    rows[:, :7] = joined.G
    assert composed.distance(whole.constrained(rows)) < CLOSE


def test_feedback_is_the_gyrator_of_unit_coupling():
    """[survey] eq. (6.11) and the closed loop of example 6.1."""
    first, second = linear(1, 3, {"u": 1}), linear(2, 2, {"v": 1})
    made = compose(compose(structure_of(first, "x"), feedback_structure(("u", "v"))), structure_of(second, "z"))
    J = np.block([[first.J, -first.B @ second.B.T], [second.B @ first.B.T, second.J]])
    assert made.distance(DiracStructure.from_skew(-J, made.ports)) < CLOSE


def test_junctions_share_voltages_and_loops_currents():
    """All edges between two nodes have one voltage; those of a loop one current."""
    parallel = kirchhoff([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]], ["a", "b", "c"])
    assert parallel.distance(common_effort(["a", "b", "c"])) < CLOSE
    assert parallel.contains([1.0, 2.0, -3.0], [5.0, 5.0, 5.0])
    loop = kirchhoff([[-1.0, 0.0, 1.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]], ["a", "b", "c"])
    assert loop.distance(common_flow(["a", "b", "c"])) < CLOSE
    assert loop.contains([2.0, 2.0, 2.0], [1.0, 2.0, -3.0])


def test_bad_input_is_refused():
    A, B = ported(0, {"a": 1, "s": 2}), ported(1, {"b": 1, "t": 2})
    with pytest.raises(ValueError, match=r"no ports.*shared:.*first structure.*'a', 's',.*second 'b', 't'"):
        compose(A, B)
    with pytest.raises(ValueError, match=r"shared ports must.*one size: 's'.*2 entries, 'b'.*1"):
        compose(A, B, ports={"s": "b"})
    with pytest.raises(ValueError, match="no port 'x': the second structure has 'b', 't'"):
        compose(A, B, ports={"s": "x"})
    with pytest.raises(ValueError, match=r"ports.*not shared must.*different names, both .* \['a'\]"):
        compose(A, B.renamed({"b": "a"}), ports={"s": "t"})
    with pytest.raises(ValueError, match="must have named ports"):
        compose(A, DiracStructure.from_skew(np.zeros((2, 2))))
    with pytest.raises(ValueError, match=r"different names, .* \['a', 's'\]"):
        product(A, A)
    with pytest.raises(ValueError, match="a junction must have at least two ports"):
        common_flow(["a"])
    with pytest.raises(ValueError, match="ports must be two different names"):
        feedback_structure(("a", "a"))
