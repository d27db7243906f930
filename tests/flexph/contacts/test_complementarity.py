"""Impulses of contacts by the compiled solvers obey their laws, also where contacts are redundant or wedge.

Judged by the natural map of the laws (samples/cones.py), and compared with the plain solver beside it.
"""

import numpy as np
import pytest
from complementarity import Problem, judged, solve
from cones import Cones
from scipy import sparse
from uncompiled import uncompiled

from flexph.contacts.loops.dense import solve_dense
from flexph.contacts.loops.problem import Chain, Cone, Coupled, space_of
from flexph.numerics.loops.views import padded, stored


def by_loops(problem, guess=None, share=1e-9):
    """Impulses by loops near a guess, with a proximal weight over the largest entry of D, and their defect."""
    start, weight = np.zeros(problem.b.size) if guess is None else guess, share * float(problem.D.diagonal().max())
    x, defect = solve_dense((problem.D, problem.b), problem.cones, start, scale=problem.scale, weight=weight)
    found = judged(problem, x)
    assert found.defect == pytest.approx(defect, abs=1e-13)
    return found


def test_the_defect_is_the_gap_that_impulses_leave_over_the_largest_rate():
    problem = Problem(np.diag([2.0, 4.0]), np.array([-1.0, -3.0]), np.zeros(2))
    right = by_loops(problem).flat
    assert right == pytest.approx([0.5, 0.75])
    for change, defect in ((0.01, 0.02 / 3.0), (-0.01, 0.02 / 3.0)):
        assert judged(problem, right + np.array([change, 0.0])).defect == pytest.approx(defect)


@pytest.mark.parametrize("tangents", [0, 1, 2])
def test_impulses_that_are_unique_are_those_of_the_plain_solver(tangents):
    """Without friction, in the plane and in space; redundant ones obey the laws."""
    rng = np.random.default_rng(tangents)
    for count, redundant in ((3, 0), (8, 0), (8, 5), (30, 0)):
        m = count * (1 + tangents)
        H = rng.standard_normal((m, max(m + 3 - redundant - m * (redundant > 0) // 2, 2)))
        problem = Problem(H @ H.T, H @ rng.standard_normal(H.shape[1]), 0.5 * rng.random(count))
        found = by_loops(problem)
        assert found.defect < 1e-11
        if not redundant:
            assert found.flat == pytest.approx(solve(problem).flat, abs=1e-10 * np.abs(found.flat).max())


def test_laws_are_met_to_round_off():
    """0 ≤ y_N ⟂ Λ_N ≥ 0 and Coulomb's law, entry by entry."""
    rng = np.random.default_rng(5)
    for contacts in (1, 3, 6):
        for _ in range(10):
            freedoms = 2 * contacts + 2 if rng.random() < 0.6 else max(2, 2 * contacts - 2)
            H = rng.standard_normal((2 * contacts, freedoms))
            problem = Problem(H @ H.T, H @ rng.standard_normal(H.shape[1]), rng.choice([0.2, 0.8, 1.5], contacts))
            found = by_loops(problem)
            normal, slip = np.split(problem.at(found.flat), 2)
            assert found.normal.min() >= -1e-10 and normal.min() > -1e-10
            assert np.abs(found.normal * normal).max() < 1e-9
            left = problem.friction * found.normal - np.abs(found.friction[0])
            assert left.min() > -1e-10 and np.abs(left * slip).max() < 1e-9
            assert (found.friction[0] * slip).max() < 1e-9


@pytest.mark.parametrize("apart", [1e-4, 1e-8])
def test_two_contacts_that_a_stiff_link_ties_together_wedge_until_one_slips(apart):
    """Both cannot stick, by however little: the one that slides has all its friction, which the other must hold."""
    D = np.eye(4)
    D[2:, 2:] = 1.0
    found = by_loops(Problem(D, np.array([-1.0, -1.0, 0.0, apart]), np.full(2, 0.3)))
    assert found.defect <= 1e-11
    assert found.normal == pytest.approx([1.0, 1.0])
    assert found.friction[0] == pytest.approx([0.3, -0.3], abs=1e-7)


def test_contacts_apart_are_solved_as_if_each_were_alone():
    rng = np.random.default_rng(5)
    square = rng.standard_normal((2, 4, 4))
    D, b = square @ np.swapaxes(square, 1, 2), rng.standard_normal((2, 4))
    one = [by_loops(Problem(D[i], b[i], np.full(2, 0.4))) for i in range(2)]
    rows = [np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])]
    whole, right = np.zeros((8, 8)), np.zeros(8)
    for i, own in enumerate(rows):
        whole[np.ix_(own, own)], right[own] = D[i], b[i]
    both = by_loops(Problem(whole, right, np.full(4, 0.4)))
    for i, own in enumerate(rows):
        assert both.flat[own] == pytest.approx(one[i].flat, abs=1e-12)


def heap(wide, friction, velocity):
    """Contacts between unit discs in a hexagonal heap, more of them than needed, from their velocities (n,)."""
    places = [(x + 0.5 * (y % 2), y * np.sqrt(0.75)) for y in range(wide) for x in range(wide)]
    pairs = [
        (i, j)
        for j in range(len(places))
        for i in range(j)
        if abs(np.hypot(*np.subtract(places[j], places[i])) - 1) < 1e-9
    ]
    contacts = [(None, i, (0.0, 1.0)) for i in range(wide)]
    contacts += [(i, j, tuple(np.subtract(places[j], places[i]))) for i, j in pairs]
    rows, columns, values = [], [], []
    for k, (first, second, (x, y)) in enumerate(contacts):
        for row, own in ((k, (x, y, 0.0)), (k + len(contacts), (y, -x, 1.0))):
            for body, sign in ((first, -1.0), (second, 1.0)):
                if body is not None:
                    rows += 3 * [row]
                    columns += range(3 * body, 3 * body + 3)
                    values += [sign * own[0], sign * own[1], own[2]]
    H = sparse.csr_array((values, (rows, columns)), shape=(2 * len(contacts), 3 * len(places))).toarray()
    H = H if friction else H[: len(contacts)]
    M = np.tile([1.0, 1.0, 0.5], len(places))
    return Problem((H / M) @ H.T, H @ velocity(M.size), np.full(len(contacts), friction))


def falling(rng):
    """Velocities of discs that fall, each a little differently."""
    return lambda size: np.tile([0.0, -1.0, 0.0], size // 3) + 0.3 * rng.standard_normal(size)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_heap_with_more_contacts_than_needed_is_solved(friction):
    rng = np.random.default_rng(4)
    for _ in range(3):
        problem = heap(4, friction, falling(rng))
        found = by_loops(problem)
        assert found.defect < 1e-11
        if not friction:  # then the rates are unique
            assert problem.at(found.flat) == pytest.approx(problem.at(solve(problem).flat), abs=1e-9)


@pytest.mark.parametrize(("wide", "friction"), [(4, 0.3), (6, 0.3), (6, 0.45)])
def test_a_heap_at_rest_is_solved_where_newtons_method_with_one_weight_cycles(wide, friction):
    problem = heap(wide, friction, lambda size: np.tile([0.0, -1.0, 0.0], size // 3))
    assert by_loops(problem).defect < 1e-11


def space_for(problem):
    """The problem as loops take it, and their work space, with rates as long as they are in memory."""
    ends, columns = np.cumsum(np.count_nonzero(problem.D, axis=1)), np.nonzero(problem.D)[1]
    pattern = np.append(0, ends), columns, np.arange(problem.contacts)
    space = space_of(problem.b.size, problem.contacts)._replace(rates=np.empty(padded(problem.b.size)))
    return Cone(problem.D, problem.b, *problem.cones, problem.scale, *pattern), space


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_sweeps_over_a_heap_lead_to_impulses_that_obey_its_laws(friction):
    """To few digits, but in their cones."""
    sweep = uncompiled("flexph.contacts.loops.sweeps").sweep_dense
    problem = heap(3, friction, falling(np.random.default_rng(7)))
    p, space = space_for(problem)
    x = np.zeros(problem.b.size)
    sweep(p, x, 400, space)
    found = judged(problem, x)
    assert found.normal.min() >= 0.0 and np.all(np.abs(found.friction) <= friction * found.normal * (1.0 + 1e-15))
    assert found.defect < 1e-6
    if not friction:
        assert problem.at(x) == pytest.approx(problem.at(solve(problem).flat), abs=1e-5)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_interior_points_lead_to_impulses_of_a_heap(friction):
    interior = uncompiled("flexph.contacts.loops.interior").interior
    problem = heap(3, friction, falling(np.random.default_rng(3)))
    p, space = space_for(problem)
    x = np.zeros(problem.b.size)
    assert interior(p, x, 1e-9, False, space, np.empty((2, x.size))) < 1e-11
    assert judged(problem, x).defect < 1e-11


def coupled_bodies(rows, rng):
    """Contacts of three bodies with each other and the ground, what their steps overwrite, and D."""
    side, n, d = np.array([[0, -1], [1, 0], [2, 1], [-1, 2], [0, 2]]), 3 * (rows - 1), rows
    c, N, half = len(side), 3 * n, 3 * n - 1
    rate, inverse = rng.normal(size=(2 * c, d, n)), np.stack([np.diag(own) for own in rng.uniform(0.5, 2.0, (3, n))])
    answer = np.einsum("eab,eib->eia", inverse[side.ravel()], rate)
    R, P = np.zeros((rows * c, N)), np.zeros((rows * c, N))
    for k, e, i in np.ndindex(c, 2, rows):
        if (b := side[k, e]) >= 0:
            R[i * c + k, b * n : b * n + n] = rate[2 * k + e, i]
            P[i * c + k, b * n : b * n + n] = answer[2 * k + e, i]
    D = R @ P.T
    steps = 1.0 / D.diagonal().reshape(rows, c)[:2]
    none, m = np.zeros(rows * c), rows * c
    given = Coupled(side, rate, answer, rng.normal(size=m), none, np.full(c, 0.4), *steps, 1.0, rows)
    width = stored(half)
    band = np.zeros((N, width)), np.zeros(N, dtype=int), np.zeros(5, dtype=int)
    space = np.zeros((c, d, d)), np.zeros((c, d, d)), np.zeros(m), np.zeros(N), np.zeros(N), np.zeros((9, m))
    return given, Chain(half, *band, *space, np.zeros(c, dtype=int), np.zeros((15, c))), D


@pytest.mark.parametrize("rows", [2, 3])
def test_a_step_by_the_factor_of_the_bodies_meets_the_linearised_laws(rows):
    """Those of samples/cones.py, with a dense D and the weight on what changes."""
    newton_step = uncompiled("flexph.contacts.loops.newton_coupled").newton_step
    rng, states = np.random.default_rng(rows), set()
    for _ in range(20):
        p, space, D = coupled_bodies(rows, rng)
        c, weight = p.friction.size, 1e-3
        x, y = np.append(rng.uniform(0.0, 1.0, c), rng.normal(size=(rows - 1) * c)), rng.normal(size=rows * c)
        before, laws = x.copy(), Cones(p.friction, p.normal_step, p.tangent_step)
        assert newton_step(p, x, y.copy(), weight, space)
        change, now = x - before, laws.linear(before, y)
        r = np.concatenate([p.normal_step, *[p.tangent_step] * (rows - 1)])
        (dn, dt), (dy_n, dy_t) = laws.split(change), laws.split(D @ change + weight / r * change)
        left = np.where(now.open, dn / p.normal_step, dy_n)
        along = np.einsum("ijc,jc->ic", now.on_rates, dy_t) + np.einsum("ijc,jc->ic", now.on_impulses, dt)
        missed = now.defect + np.append(left, along - now.on_normal * dn)
        assert np.abs(missed).max() <= 1e-10 * np.abs(D @ change).max()
        states |= set(np.where(now.open, 0, 1 + now.on_normal.any(axis=0)))
    assert states == {0, 1, 2}
