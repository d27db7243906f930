"""Many rigid contacts at once: sparse matrices are the dense ones, and both ways lead to the same motion."""

import math

import numpy as np
import pytest
from contact_runs import inside
from scipy import sparse
from scipy.sparse.linalg import splu

import rigid
from cases.disc_pile import RADIUS, pile
from flexph import GROUND, connect, hinge, integrate
from flexph.contacts import Cylinder, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.contacts.complementarity import Problem, by_weights, judged, linear_system, solve, together
from flexph.contacts.cones import NewtonSteps, cones, gauss_seidel, uncoupled_groups
from flexph.contacts.coupled import Coupled, pattern_of
from flexph.contacts.interior import interior_points
from flexph.contacts.loops.dense import solve_dense
from flexph.contacts.many import solve_coupled
from flexph.integration.contact import closing, impact_stepper, part_stepper
from flexph.integration.contact.linearised import dense_step
from flexph.methods import Exact

BY_NUMPY = Exact(contact="steps", compiled=False)


def group(dim, joined, law):
    """Balls that fall on a plate with a pole, which falls on the ground, and where they are."""
    flat = lambda *x: x if dim == 3 else (x[0], x[2])  # noqa: E731
    inertia, up = (0.1 if dim == 2 else np.diag([0.1, 0.2, 0.25])), flat(0.0, 0.0, 1.0)
    feet = {f"foot{i}": flat(x, 0.3 * (-1.0) ** i, -0.1) for i, x in enumerate((-1.0, 0.0, 1.5))}
    plate = rigid.body(2.0, inertia=inertia, ports=feet | {"top": flat(0.0, 0.0, 0.0), "pole": flat(-0.7, 0.0, 0.4)})
    ball = rigid.body(1.0, inertia=inertia, ports={"centre": flat(0.0, 0.0, 0.0)})
    places = {"plate": (0.0, 0.0, 0.11), "a": (0.0, 0.0, 0.52), "b": (0.81, 0.0, 0.52), "c": (0.4, 0.1, 1.235)}
    spheres = [Sphere(f"{name}.centre", 0.4) for name in "abc"]
    pole = Cylinder("plate.pole", 0.2) if dim == 2 else Cylinder("plate.pole", 0.2, (0.0, 0.0, 1.0))
    connections = [
        contact([f"plate.{foot}" for foot in feet], Plane(GROUND.at(*flat(0.0, 0.0, 0.0)), up), law),
        contact(spheres, [Plane("plate.top", up), pole], law),
        mutual_contact(spheres, law),
    ]
    if joined:
        connections.append(hinge("plate.foot0", GROUND.at(-1.0, 0.01)))
    mechanism = connect({"plate": plate} | dict.fromkeys("abc", ball), connections, gravity=flat(0.0, 0.0, -9.81))
    pose = mechanism.assemble(guess={n: p if dim == 3 else (p[0], p[2], 0.0) for n, p in places.items()})
    motion = {n: ((0.3, -0.1, -0.4), (0.1, -0.2, 1.0)) if dim == 3 else (0.3, -0.4, 1.0) for n in "abc"}
    return mechanism, mechanism.consistent_state(pose, velocities=motion)


@pytest.mark.parametrize(("dim", "joined"), [(2, False), (2, True), (3, False)])
def test_sparse_and_dense_matrices_and_motions_are_the_same(monkeypatch, dim, joined):
    law, times, compared = Rigid(friction=0.3), np.linspace(0.0, 0.05, 6), []
    mechanism, start = group(dim, joined, law)
    dense = integrate(mechanism, start, times, method=BY_NUMPY)
    sparse_step = closing.sparse_step

    def both(a, iterate, index, sides, known):
        own = sparse_step(a, iterate, index, sides, known)
        other = dense_step(a, iterate, index, (1, 0.0, np.zeros(own.problem.given.size)))
        spread = splu(own.problem.K).solve(own.problem.acting.T.toarray())[: own.velocities]
        for ours, theirs in ((own.problem.moved[:, : own.velocities] @ spread, other.problem.D),
                             (spread, other.spread[: own.velocities])):  # fmt: skip
            compared.append(np.abs(ours - theirs).max() / np.abs(theirs).max())
        return own

    monkeypatch.setattr(closing, "sparse_step", both)
    monkeypatch.setattr(part_stepper, "MANY", 0)
    solution = integrate(mechanism, start, times, method=BY_NUMPY)
    assert len(compared) > 8 and max(compared) < 1e-13
    assert np.abs(solution.ledger.residual).max() < 1e-13 * solution.ledger.scale
    assert solution.ledger.complementarity_residual.max() < 1e-11
    for name in "abc":
        assert solution[f"{name}.centre"] == pytest.approx(dense[f"{name}.centre"], abs=1e-11)


def thrown(count):
    """Discs that are thrown at each other in a box."""
    mechanism = pile(np.full(count, RADIUS), 0.4, Rigid(friction=0.3, restitution=0.5))
    places = {f"disc{i}": (2.2 * RADIUS * (i - 1), 1.1 * RADIUS + 0.02 * RADIUS * i, 0.0) for i in range(count)}
    motion = {f"disc{i}": (0.5 * (1.5 - i), -0.5, 1.0) for i in range(count)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=places), velocities=motion)


@pytest.mark.parametrize("made", [lambda: thrown(4), lambda: group(2, True, Rigid(restitution=0.5, friction=0.3)),
                                  lambda: group(3, False, Rigid(restitution=0.5, friction=0.3))])  # fmt: skip
def test_impacts_by_one_matrix_are_those_by_matrices_of_their_own(monkeypatch, made):
    """Of discs those that follow are foreseen exactly; the others are compared one by one."""
    monkeypatch.setattr(part_stepper, "MANY", 0)
    mechanism, start = made()
    runs, acting, struck = [], impact_stepper.Strikes.acting, []
    monkeypatch.setattr(impact_stepper.Strikes, "acting", lambda *given: struck.append(None) or acting(*given))
    for most in (0, impact_stepper.MOST):
        assert not struck
        monkeypatch.setattr(impact_stepper, "MOST", most)
        monkeypatch.setattr(impact_stepper, "STRIKES", 200 if "disc0" in mechanism.bodies else 1)
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.03, 4), method=BY_NUMPY))
    assert len(struck) > 2
    for solution in runs:
        assert np.abs(solution.ledger.residual).max() < 1e-13 * solution.ledger.scale
    assert runs[0].states == pytest.approx(runs[1].states, abs=1e-10)


def stack(wide):
    """Rows of contacts between unit discs in a hexagonal heap: H (m, n), more of them than needed, and their number."""
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
    return sparse.csr_array((values, (rows, columns)), shape=(2 * len(contacts), 3 * len(places))), len(contacts)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_heap_with_more_contacts_than_needed_is_solved_by_all_ways(friction):
    rng = np.random.default_rng(4)
    H, count = stack(4)
    H = H if friction else H[:count]
    M = sparse.csc_array(sparse.diags_array(np.tile([1.0, 1.0, 0.5], H.shape[1] // 3)))
    D, mu = (H @ splu(M).solve(H.T.toarray())), np.full(count, friction)
    for _ in range(3):
        b = H @ (np.tile([0.0, -1.0, 0.0], H.shape[1] // 3) + 0.3 * rng.standard_normal(H.shape[1]))
        none, laws = np.zeros(H.shape[1]), cones(mu, D.diagonal())
        problem = Coupled(M, H, H, none, b, np.zeros(b.size), laws, 0.0, pattern_of(M, H, H, count))
        by_bodies, by_matrix = solve_coupled(problem, none).impulses, solve(Problem(D, b, mu))
        assert max(by_bodies.defect, by_matrix.defect) < 1e-11
        assert judged(Problem(D, b, mu), by_bodies.flat).defect < 1e-10
        for _, near in interior_points(problem):
            assert judged(Problem(D, b, mu), near).defect < 1e-4
        if not friction:  # then the rates are unique
            assert D @ by_bodies.flat == pytest.approx(D @ by_matrix.flat, abs=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_sweeps_over_a_heap_lead_to_impulses_that_obey_its_laws(friction):
    """Rates that are unique are those of Newton's method; contacts of a group do not act on each other."""
    rng = np.random.default_rng(7)
    H, count = stack(3)
    H = (H if friction else H[:count]).toarray()
    M = np.tile([1.0, 1.0, 0.5], H.shape[1] // 3)
    v = np.tile([0.0, -1.0, 0.0], M.size // 3) + 0.3 * rng.standard_normal(M.size)
    problem = Problem((H / M) @ H.T, H @ v, np.full(count, friction))
    groups = uncoupled_groups(problem.D, count)
    assert sorted(np.concatenate(groups)) == list(range(count)) and len(groups) < 7
    for own in groups:
        rows = np.add.outer(count * np.arange(len(H) // count), own).ravel()
        acting = np.abs(problem.D[np.ix_(rows, rows)]).reshape(-1, own.size, len(H) // count, own.size).max((0, 2))
        assert np.abs(acting - np.diag(np.diag(acting))).max() < 1e-12
    x = gauss_seidel(problem.cones, (problem.D, problem.b), np.zeros(len(H)), 1000, groups)
    normal, along = problem.split(x)
    assert normal.min() >= 0.0 and np.all(np.abs(along) <= friction * normal * (1.0 + 1e-15))
    assert judged(problem, x).defect < 1e-6
    if not friction:
        assert problem.at(x) == pytest.approx(problem.at(solve(problem).flat), abs=1e-5)


@pytest.mark.parametrize("t", [0, 1, 2])
def test_newton_steps_on_closed_contacts_are_those_on_all(t):
    """With and without friction, in the plane and in space, from iterates with open, sticking and slipping contacts."""
    rng, count = np.random.default_rng(5), 12
    H = rng.standard_normal(((1 + t) * count, 40))
    problem = Problem(H @ H.T, rng.standard_normal(len(H)), np.where(np.arange(count) % 3 > 0, 0.4, 0.0) * (t > 0))
    steps = NewtonSteps(problem.D, problem.friction > 0.0)
    for _ in range(3):
        x = 0.1 * rng.standard_normal(len(H))
        matrix, defect = linear_system(problem, x)
        for _ in range(2):  # with factors of its own, and with those that are kept
            step = steps.change(problem.cones.linear(x, problem.at(x)), x)
            assert step == pytest.approx(-np.linalg.solve(matrix, defect), abs=1e-11)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_hexagonal_stack_of_equal_discs_that_all_touch_stays(friction):
    """More contacts than the discs need, all closed to round-off, in a box that just holds them."""
    wide, places = 4, {}
    for y in range(wide):
        for x in range(wide - y % 2):
            column = 2.0 * x - wide + 1.0 + y % 2
            places[f"disc{len(places)}"] = (RADIUS * column, RADIUS * (1.0 + 2.0 * y * np.sqrt(0.75)), 0.0)
    mechanism = pile(np.full(len(places), RADIUS), RADIUS * wide, Rigid(friction=friction))
    start = mechanism.consistent_state(mechanism.assemble(guess=places))
    solution = integrate(mechanism, start, 5e-3 * np.arange(4), method=Exact(contact="steps"))
    for name in places:
        assert np.abs(solution[f"{name}.centre"] - places[name][:2]).max() < 1e-15
    assert np.abs(solution.ledger.residual).max() < 1e-15 * solution.ledger.scale
    assert solution.ledger.complementarity_residual.max() < 1e-11


@pytest.mark.slow
def test_a_hexagonal_stack_that_spreads_meets_its_laws():
    """Ten rows of ten equal discs without walls: most contacts are redundant, and Newton's method alone cycles."""
    mechanism, start = heap_of(rows_of_ten(), Rigid(friction=0.3))
    run = integrate(mechanism, start, 0.005 * np.arange(4), method=Exact(contact="steps"))
    assert run.ledger.complementarity_residual.max() <= 1e-10
    assert run.ledger.residual.max() <= 1e-11 * run.ledger.scale


@pytest.mark.parametrize(
    ("wide", "steps"),
    [(7, 3), pytest.param(7, 100, marks=pytest.mark.slow), pytest.param(13, 100, marks=pytest.mark.slow)],
)
def test_a_triangular_stack_without_walls_stands(wide, steps):
    """Of 28 and 91 equal discs: with this friction forces in the cones can hold it, others let it slide apart."""
    mechanism, start, places = triangle(wide, friction=0.8)
    solution = integrate(mechanism, start, 5e-3 * np.arange(steps + 1), method=Exact(contact="steps"))
    half = 2.0**-53 * max(np.abs(place).max() for place in places.values())  # an ulp's, which each step may round by
    for name, place in places.items():
        assert np.abs(solution[f"{name}.centre"] - place[:2]).max() < steps * half
    # round-off of as many energies as there are discs, which adds up at random
    assert np.abs(solution.ledger.residual).max() < 2e-16 * np.sqrt(len(places)) * solution.ledger.scale
    # a round-off of the positions over the step, 4e-14 m/s, over the velocity of half a step of free fall
    assert solution.ledger.complementarity_residual.max() < 5e-12


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("friction", [0.4, 0.5])
def test_a_triangular_stack_that_friction_hardly_holds_slides_apart(friction, compiled):
    """No forces in its cones hold it, and laws have solutions near each other that are nearly redundant."""
    mechanism, start, _ = triangle(7, friction)
    run = integrate(mechanism, start, 5e-3 * np.arange(4), method=Exact(contact="steps", compiled=compiled))
    assert run.ledger.complementarity_residual.max() <= 1e-12
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale
    assert run["d0_6.centre"][-1, 0] > 1e-5 + run["d0_6.centre"][0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.35, 0.4, 0.45, 0.5])
def test_a_large_triangular_stack_that_friction_hardly_holds_slides_apart(friction):
    """91 discs, which iterations went to and fro between the solutions of, or crept."""
    mechanism, start, _ = triangle(13, friction)
    run = integrate(mechanism, start, 5e-3 * np.arange(41), method=Exact(contact="steps", compiled=True))
    assert run.ledger.complementarity_residual.max() <= 1e-11
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale
    assert inside(run) <= 1e-12


@pytest.mark.parametrize(("wide", "friction"), [(4, 0.3), (6, 0.3), (6, 0.45)])
def test_weights_that_become_lighter_and_heavier_lead_to_impulses_of_a_heap(wide, friction):
    """Where Newton's method with one weight cycles."""
    H, count = stack(wide)
    H = H.toarray()
    M = np.tile([1.0, 1.0, 0.5], H.shape[1] // 3)
    problem = Problem((H / M) @ H.T, -H @ np.tile([0.0, 1.0, 0.0], M.size // 3), np.full(count, friction))
    nothing = judged(problem, np.zeros(len(H)))
    assert together(problem, nothing).defect > 1e-3
    assert by_weights(problem, nothing).defect < 1e-11


@pytest.mark.slow
def test_a_triangular_stack_that_slides_apart_meets_its_laws():
    """28 discs with less friction than would hold them, dropped by 1 mm: more contacts than needed, nearly singular."""
    mechanism, start, _ = triangle(7, friction=0.3, height=1e-3)
    run = integrate(mechanism, start, 5e-3 * np.arange(101), method=Exact(contact="steps"))
    assert run.ledger.complementarity_residual.max() <= 1e-12
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale


@pytest.mark.slow
@pytest.mark.parametrize(("restitution", "height"), [(0.0, 0.1), (0.3, 0.01)])
@pytest.mark.parametrize("rows", ["wide", "narrowing"])
def test_a_hexagonal_stack_that_is_dropped_goes_on(rows, restitution, height):
    """Rows of 100 and 91 discs with much friction: sets that Newton's method ends at are found by sweeps alone."""
    law = Rigid(friction=0.8, restitution=restitution)
    if rows == "wide":
        mechanism, start = heap_of(rows_of_ten(height), law)
    else:
        mechanism, start, _ = triangle(13, friction=0.8, height=height, restitution=restitution)
    run = integrate(mechanism, start, 5e-3 * np.arange(61), method=Exact(contact="steps", compiled=True))
    assert run.ledger.complementarity_residual.max() <= 1e-11
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale
    assert sum(run.ledger.dissipation.values()).min() >= -1e-15 * run.ledger.scale
    assert inside(run) <= 1e-12


def rows_of_ten(height=0.0):
    """Where ten rows of ten equal discs are that touch."""
    radius = 0.05
    return {
        f"d{j}_{i}": (radius * (2.0 * i + j % 2), height + radius * (1.0 + math.sqrt(3.0) * j), 0.0)
        for j in range(10)
        for i in range(10)
    }


def triangle(wide, friction, height=0.0, restitution=0.0):
    """Equal discs in a hexagonal heap on a floor, the lowest row so many, and where they are."""
    radius, law = 0.05, Rigid(friction=friction, restitution=restitution)
    places = {
        f"d{j}_{i}": (radius * (2.0 * i + j), height + radius * (1.0 + math.sqrt(3.0) * j), 0.0)
        for j in range(wide)
        for i in range(wide - j)
    }
    return *heap_of(places, law), places


def heap_of(places, law):
    """Discs of 0.05 m at places over a floor."""
    radius = 0.05
    bodies = {name: rigid.body(1.0, inertia=0.5 * radius**2, ports={"centre": (0.0, 0.0)}) for name in places}
    discs = [Sphere(f"{name}.centre", radius) for name in bodies]
    floor = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touching = [contact(discs, floor, law, name="floor"), mutual_contact(discs, law, name="discs")]
    mechanism = connect(bodies, touching, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=places))


@pytest.mark.parametrize("tangents", [0, 1, 2])
def test_impulses_by_compiled_loops_are_those_of_numpy(tangents):
    """By a dense D, as long as impulses are unique; redundant ones obey the laws."""
    rng = np.random.default_rng(tangents)
    for count, redundant in ((3, 0), (8, 0), (8, 5), (30, 0)):
        m = count * (1 + tangents)
        H = rng.standard_normal((m, max(m + 3 - redundant - m * (redundant > 0) // 2, 2)))
        problem = Problem(H @ H.T, H @ rng.standard_normal(H.shape[1]), 0.5 * rng.random(count))
        weight = 1e-9 * float(problem.D.diagonal().max())
        given = (problem.D, problem.b), problem.cones, np.zeros(m)
        x, defect = solve_dense(*given, scale=problem.scale, weight=weight)
        assert judged(problem, x).defect == pytest.approx(defect, abs=1e-14) and defect < 1e-11
        if not redundant:
            assert x == pytest.approx(solve(problem).flat, abs=1e-10 * np.abs(x).max())
