"""Many rigid contacts at once: heaps that fall, spread and stand, with more contacts than their bodies need."""

import math

import numpy as np
import pytest
from contact_runs import inside, lawful, sound

import rigid
from cases.disc_pile import RADIUS, pile
from flexph import GROUND, connect, hinge, integrate
from flexph.contacts import Cylinder, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.methods import Exact

BY_STEPS = Exact(contact="steps")
BAND = "flexph.contacts.loops.island_space.BAND"
"""Space for a factor of the bodies of an island; without it islands of few impulses have a dense D."""


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


ROUGH = 1e-10
"""Defect up to which the velocities of an impact or of settling are taken (strikes.newton_law)."""
LAWS = [Rigid(friction=0.3), Rigid(restitution=0.5, friction=0.3)]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("dim", "joined"), [(2, False), (2, True), (3, False)])
def test_balls_on_a_plate_that_falls_obey_their_laws(monkeypatch, dim, joined, law):
    """By a factor of the bodies, which joints do not allow, and by a dense D."""
    times, runs = np.linspace(0.0, 0.05, 6), []
    for band in (10**6, 0):
        monkeypatch.setattr(BAND, band)
        mechanism, start = group(dim, joined, law)
        runs.append(integrate(mechanism, start, times, method=BY_STEPS))
    lawful(runs[0])
    by_bodies, dense = (np.array([run[f"{name}.centre"] for name in "abc"]) for run in runs)
    np.testing.assert_allclose(by_bodies, dense, rtol=0, atol=1e-11)


def thrown(count):
    """Discs that are thrown at each other in a box."""
    mechanism = pile(np.full(count, RADIUS), 0.4, Rigid(friction=0.3, restitution=0.5))
    places = {f"disc{i}": (2.2 * RADIUS * (i - 1), 1.1 * RADIUS + 0.02 * RADIUS * i, 0.0) for i in range(count)}
    motion = {f"disc{i}": (0.5 * (1.5 - i), -0.5, 1.0) for i in range(count)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=places), velocities=motion)


def test_discs_that_are_thrown_at_each_other_obey_their_laws():
    mechanism, start = thrown(4)
    run = integrate(mechanism, start, np.linspace(0.0, 0.06, 7), method=BY_STEPS)
    lawful(run)
    assert run.ledger.impulses["discs: normal"].sum() > 0.1


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
    solution = integrate(mechanism, start, 5e-3 * np.arange(4), method=BY_STEPS)
    for name in places:
        assert np.abs(solution[f"{name}.centre"] - places[name][:2]).max() < 1e-15
    assert np.abs(solution.ledger.residual).max() < 1e-15 * solution.ledger.scale
    assert solution.ledger.complementarity_residual.max() < 1e-11


@pytest.mark.slow
def test_a_hexagonal_stack_that_spreads_meets_its_laws():
    """Ten rows of ten equal discs without walls: most contacts are redundant, and Newton's method alone cycles."""
    mechanism, start = heap_of(rows_of_ten(), Rigid(friction=0.3))
    run = integrate(mechanism, start, 0.005 * np.arange(4), method=BY_STEPS)
    assert run.ledger.complementarity_residual.max() <= 1e-10
    assert run.ledger.residual.max() <= 1e-11 * run.ledger.scale


@pytest.mark.parametrize(
    ("wide", "steps"),
    [(7, 3), pytest.param(7, 100, marks=pytest.mark.slow), pytest.param(13, 100, marks=pytest.mark.slow)],
)
def test_a_triangular_stack_without_walls_stands(wide, steps):
    """Of 28 and 91 equal discs: with this friction forces in the cones can hold it, others let it slide apart."""
    mechanism, start, places = triangle(wide, friction=0.8)
    solution = integrate(mechanism, start, 5e-3 * np.arange(steps + 1), method=BY_STEPS)
    half = 2.0**-53 * max(np.abs(place).max() for place in places.values())  # an ulp's, which each step may round by
    for name, place in places.items():
        assert np.abs(solution[f"{name}.centre"] - place[:2]).max() < steps * half
    # round-off of as many energies as there are discs, which adds up at random
    assert np.abs(solution.ledger.residual).max() < 2e-16 * np.sqrt(len(places)) * solution.ledger.scale
    # a round-off of the positions over the step, 4e-14 m/s, over the velocity of half a step of free fall
    assert solution.ledger.complementarity_residual.max() < 5e-12


@pytest.mark.parametrize("friction", [0.4, 0.5])
def test_a_triangular_stack_that_friction_hardly_holds_slides_apart(friction):
    """No forces in its cones hold it, and laws have solutions near each other that are nearly redundant."""
    mechanism, start, _ = triangle(7, friction)
    run = integrate(mechanism, start, 5e-3 * np.arange(4), method=BY_STEPS)
    lawful(run)
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale
    assert run["d0_6.centre"][-1, 0] > 1e-5 + run["d0_6.centre"][0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.35, 0.4, 0.45, 0.5])
def test_a_large_triangular_stack_that_friction_hardly_holds_slides_apart(friction):
    """91 discs, which iterations went to and fro between the solutions of, or crept."""
    mechanism, start, _ = triangle(13, friction)
    run = integrate(mechanism, start, 5e-3 * np.arange(41), method=BY_STEPS)
    assert run.ledger.complementarity_residual.max() <= ROUGH
    assert np.abs(run.ledger.residual).max() <= 1e-15 * run.ledger.scale
    assert inside(run) <= 1e-12


@pytest.mark.slow
def test_a_triangular_stack_that_slides_apart_meets_its_laws():
    """28 discs with less friction than would hold them, dropped by 1 mm: more contacts than needed, nearly singular."""
    mechanism, start, _ = triangle(7, friction=0.3, height=1e-3)
    run = integrate(mechanism, start, 5e-3 * np.arange(101), method=BY_STEPS)
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
    run = integrate(mechanism, start, 5e-3 * np.arange(61), method=BY_STEPS)
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


def balls_in_a_box(count, wide):
    """Balls that fall into a box, and times."""
    rng, half = np.random.default_rng(0), 0.06 * wide
    balls = {f"ball{i}": rigid.sphere(0.05, density=1000.0) for i in range(count)}
    law, spheres = Rigid(friction=0.3), [Sphere(f"{name}.centre", 0.05) for name in balls]
    walls = [(half, 0.0), (-half, 0.0), (0.0, half), (0.0, -half)]
    planes = [Plane(GROUND.at(x, y, 0.0), (-np.sign(x), -np.sign(y), 0.0)) for x, y in walls]
    planes.append(Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    touching = [contact(spheres, planes, law, name="box"), mutual_contact(spheres, law, name="balls")]
    mechanism = connect(balls, touching, gravity=(0.0, 0.0, -9.81))
    level, place = np.divmod(np.arange(count), wide * wide)
    x, y = (0.115 * (own - 0.5 * (wide - 1)) + rng.uniform(-0.006, 0.006, count) for own in np.divmod(place, wide))
    guess = {name: (x[i], y[i], 0.051 + 0.101 * level[i]) for i, name in enumerate(balls)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess))


@pytest.mark.processor
def test_a_heap_in_space_is_that_of_a_dense_matrix_before_round_off_grows(monkeypatch):
    """Contacts act on each other by the bodies that they share: islands have a factor of the bodies, or a dense D."""
    mechanism, start = balls_in_a_box(30, 3)
    times = np.arange(0.0, 0.15, 2.5e-3)
    by_bodies = integrate(mechanism, start, times, method=BY_STEPS)
    monkeypatch.setattr(BAND, 0)
    dense = integrate(mechanism, start, times, method=BY_STEPS)
    sound(by_bodies)
    sound(dense)
    apart = np.abs(by_bodies.states - dense.states).max(axis=1)
    assert apart.max() > 0.0 and apart[:20].max() <= 1e-11
    assert by_bodies.ledger.impulses["balls: normal"].sum() > 0.1


@pytest.mark.slow
@pytest.mark.processor
def test_balls_of_a_large_heap_land():
    """150 of them, at last one island of some 1000 impulses."""
    mechanism, start = balls_in_a_box(150, 5)
    run = integrate(mechanism, start, np.arange(0.0, 0.3, 2.5e-3), method=BY_STEPS)
    sound(run, law=1e-11)  # contacts are redundant
    for name in ("box", "balls"):
        own = run.contact(name)
        assert np.all(np.abs(own.friction) <= 0.3 * own.normal * (1.0 + 1e-12))
