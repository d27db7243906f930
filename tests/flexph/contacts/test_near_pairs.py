"""Lists of near pairs: no contact is missed, and the motion is that of all pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, distance, hinge, integrate, spring_damper
from flexph.contacts import Box, KelvinVoigt, Plane, Rigid, Skin, Sphere, arrays, contact, mutual_contact
from flexph.integration.loops import near_pairs, stepper
from flexph.integration.loops.build import constants
from flexph.integration.loops.contacts import contacts_of, unknowns_of
from flexph.integration.loops.near_pairs import NearPairs
from flexph.kernels.contacts.gap_arrays import DISTANCE, OFFSET
from flexph.kernels.contacts.gaps import gaps_between, vectors_of
from flexph.kernels.state import derive, touching_points
from flexph.mechanisms.model.state import configuration
from flexph.methods import Decaying, Exact

RADIUS = 0.05


def heap(count, dim, law, *, side=3, bound=False, speed=1.0):
    """Spheres or discs over a floor between walls, thrown at each other; one hangs at a crank if they are bound."""
    rng, names = np.random.default_rng(0), [f"ball {i}" for i in range(count)]
    inertia = 0.4 * RADIUS**2
    ball = rigid.body(1.0, inertia=inertia if dim == 2 else inertia * np.eye(3), ports={"centre": (0.0,) * dim})
    spheres = [Sphere(f"{name}.centre", RADIUS) for name in names]
    half, joints = 0.5 * 2.3 * RADIUS * side, [mutual_contact(spheres, law, name="group")]
    for axis in range(dim):
        for sign in (1.0, -1.0) if axis < dim - 1 else (1.0,):
            at, normal = np.zeros(dim), np.zeros(dim)
            at[axis], normal[axis] = -sign * half * (axis < dim - 1), sign
            joints.append(contact(spheres, Plane(GROUND.at(*at), tuple(normal)), law, name=f"side {axis} {sign:g}"))
    across = dim - 1
    places = np.array([[*(i // side**k % side for k in range(across)), i // side**across] for i in range(count)])
    points = 2.3 * RADIUS * (places - 0.5 * (side - 1) * (np.arange(dim) < across))
    points += rng.uniform(-3e-3, 3e-3, (count, dim))
    points[:, -1] += 1.1 * RADIUS
    bodies = dict.fromkeys(names, ball)
    if bound:
        bodies["crank"] = rigid.bar(0.2, 0.3)
        joints += [hinge("crank.root", GROUND.at(0.0, 1.5)), distance("crank.tip", f"{names[-1]}.centre")]
    mechanism = connect(bodies, joints, gravity=(0.0,) * (dim - 1) + (-9.81,))
    guess = {name: (*place, 0.0) if dim == 2 else tuple(place) for name, place in zip(names, points, strict=True)}
    pose = mechanism.assemble(guess=guess)
    thrown = {name: rng.uniform(-speed, speed, dim) for name in names[: 0 if bound else count]}
    velocities = {name: (*v, 0.0) if dim == 2 else (tuple(v), (0.0, 0.0, 0.0)) for name, v in thrown.items()}
    return mechanism, mechanism.consistent_state(pose, velocities=velocities)


SLIDING = KelvinVoigt(2e4, damping=20.0, friction=0.3, slip_velocity=0.01)
ANCHORED = KelvinVoigt(2e4, damping=20.0, friction=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_no_pair_that_may_touch_is_missing_as_long_as_nobody_went_further_than_half_the_margin(seed):
    mechanism, _ = heap(40, 2, ANCHORED, side=6)
    pairs, rng = mechanism.once(NearPairs), np.random.default_rng(seed)
    c = mechanism.network.arrays.contacts.all()
    assert pairs.lists and pairs.phase.pairs == 780
    pair, wall = np.flatnonzero(c.kind == DISTANCE), pairs.phase.walls
    assert wall.tolist() == np.flatnonzero(c.kind == OFFSET).tolist()
    springs = np.zeros(mechanism.layout.springs)
    held = pair[[3, 700]]
    springs[c.anchor[held[0]] :][:6] = [4.0, 0.0, 1.0, 701.0, 0.0, 1.0]  # numbers from 1 on, and forces
    for margin in (0.0, 0.3 * RADIUS, 2.0 * RADIUS):
        points = rng.uniform(0.0, 1.0, (mechanism.network.arrays.node_body.size, 2))
        listed = pairs.near(points, margin, springs)
        away = rng.normal(size=points.shape)
        points += 0.5 * margin * away / np.linalg.norm(away, axis=1, keepdims=True)
        gap = np.linalg.norm(points[c.plus[0, pair]] - points[c.minus[0, pair]], axis=1) - c.offset[pair]
        assert np.isin(pair[gap < 0.0], listed).all()
        assert np.isin(held, listed).all() and pairs.phase.others.size == 0
        over = np.vecdot(points[c.plus[0, wall]] + c.fixed[0, wall], c.fixed[1, wall]) - c.offset[wall]
        assert np.isin(wall[over < 0.0], listed).all() and not np.isin(wall[over > 2.0 * margin], listed).any()
        assert listed.size < wall.size + pair.size / 4


def test_free_bodies_with_many_pairs_are_a_pile():
    mechanism, _ = heap(60, 2, SLIDING, side=6)
    assert mechanism.once(NearPairs).is_pile
    border = mechanism.once(constants).border
    assert border.size.tolist() == [180, 2] and np.all(np.diff(np.hstack([border.v, border.w]).ravel()) == 1)
    assert not heap(27, 2, SLIDING, bound=True)[0].once(NearPairs).is_pile
    assert not heap(9, 2, SLIDING)[0].once(NearPairs).lists


def margins_of(monkeypatch):
    """The margins of all lists that are made, which are narrow."""
    margins, listed = [], NearPairs.near

    def near_and_kept(own, points, margin, springs):
        margins.append(margin)
        return listed(own, points, margin, springs)

    monkeypatch.setattr(NearPairs, "near", near_and_kept)
    monkeypatch.setattr(stepper, "MARGIN", 0.1)
    return margins


METHODS = {
    "steps": Exact(),
    "control": Exact(tolerance=1e-3),
    "decay": Decaying(0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize(("law", "dim"), [(SLIDING, 2), (ANCHORED, 2), (SLIDING, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_the_motion_is_that_of_all_pairs(method, law, dim, bound, monkeypatch):
    if (bound or method == "decay") and dim == 3:
        pytest.skip("shown in the plane")
    margins, times, runs = margins_of(monkeypatch), np.linspace(0.0, 0.06, 121), []
    for most in (100, 10**6):  # pairs from which on lists are made
        monkeypatch.setattr(near_pairs, "LISTED", most)
        mechanism, start = heap(27, dim, law, bound=bound)
        margins.clear()
        runs.append(integrate(mechanism, start, times, method=METHODS[method], save_every=20))
        assert len(margins) > 3 if most == 100 else not margins
    one, other = runs
    np.testing.assert_allclose(one.states, other.states, rtol=0, atol=1e-8 if method == "steps" else 1e-6)
    assert max(other.contact("group").normal.max(), other.contact("side 1 1").normal.max()) > 0.0
    for run in runs:
        assert np.abs(run.ledger.residual).max() <= 1e-13 * run.ledger.scale


@pytest.mark.parametrize("dim", [2, 3])
def test_a_pile_goes_on_from_its_middle_to_the_same_bits(dim):
    mechanism, start = heap(27, dim, ANCHORED)
    times, method = np.linspace(0.0, 0.06, 121), Exact()
    whole, half = (integrate(mechanism, start, times[:k], method=method, save_every=20) for k in (121, 61))
    table = half["group: anchors"][-1].reshape(-1, 1 + dim)
    assert len(table) < mechanism.network.arrays.contacts.groups[0].number and table[0, 0] > 0.0
    rest = integrate(mechanism, half.final, times[60:], method=method, save_every=20)
    np.testing.assert_array_equal(rest.states[-1], whole.states[-1])


def test_steps_that_go_further_than_the_margin_take_a_wider_list(monkeypatch):
    mechanism, start = heap(27, 2, SLIDING, speed=30.0)
    made, times = margins_of(monkeypatch), np.linspace(0.0, 0.02, 11)  # up to 6 cm a step, where 1 cm is the margin
    run = integrate(mechanism, start, times, method=Exact())
    monkeypatch.setattr(near_pairs, "LISTED", 10**6)
    mechanism, start = heap(27, 2, SLIDING, speed=30.0)
    whole = integrate(mechanism, start, times, method=Exact())
    assert max(made) > 0.1 and min(made) == pytest.approx(0.01)
    np.testing.assert_allclose(run.states, whole.states, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_thousand_spheres_fall_into_a_box():
    mechanism, start = heap(1000, 3, SLIDING, side=10)
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 201), method=Exact(), save_every=50)
    assert np.abs(run.ledger.residual).max() <= 1e-13 * run.ledger.scale
    assert run.contact("side 2 1").normal.max() > 0.0
    assert min(run[f"ball {i}.centre"][-1, 2] for i in range(100)) > 0.8 * RADIUS


def cubes(law):
    """Three cubes that fall on each other and on the floor: 504 gaps."""
    rng, names = np.random.default_rng(1), ["low", "middle", "top"]
    cube = rigid.body(1.0, inertia=(0.2**2 / 6,) * 3, ports={"own": (0.0, 0.0, 0.0)})
    boxes = [Box(f"{name}.own", (0.2, 0.2, 0.2)) for name in names]
    floor = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    joints = [contact(boxes, floor, law, name="floor"), mutual_contact(boxes, law, name="cubes")]
    mechanism = connect(dict.fromkeys(names, cube), joints, gravity=(0.0, 0.0, -9.81))
    turns = Rotation.from_rotvec(rng.normal(0.0, 0.1, (3, 3))).as_matrix()
    places = {name: ((0.05 * k, 0.0, 0.12 + 0.25 * k), turns[k]) for k, name in enumerate(names)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(places))


def marbles(law):
    """Three marbles over a sheet of springs whose faces touch them: 216 gaps."""
    side = 7
    places = np.array([(0.1 * i, 0.1 * j, 0.0) for i in range(side) for j in range(side)])
    firsts = [side * i + j for i in range(side - 1) for j in range(side - 1)]
    cells = [cell for a in firsts for cell in ((a, a + side, a + 1), (a + side, a + side + 1, a + 1))]
    edges = sorted({tuple(sorted((cell[i], cell[i - 1]))) for cell in cells for i in range(3)})
    bodies = {f"n{k}": rigid.point(0.05, 3) for k in range(side**2)}
    joints = [spring_damper(f"n{a}.point", f"n{b}.point", stiffness=200.0, name=f"spring {a} {b}") for a, b in edges]
    names = [f"ball {k}" for k in range(3)]
    skin = Skin([f"n{k}.point" for k in range(side**2)], cells)
    joints.append(contact([Sphere(f"{name}.centre", 0.08) for name in names], skin, law, name="touch"))
    mechanism = connect(bodies | {name: rigid.sphere(0.08, density=200.0) for name in names}, joints)
    pose = {f"n{k}": place for k, place in enumerate(places)}
    pose |= {name: ((0.12 + 0.2 * k, 0.2 + 0.1 * k, 0.1), np.eye(3)) for k, name in enumerate(names)}
    speeds = {name: ((0.4 - 0.3 * k, 0.5, -1.0), (0.0, 0.0, 0.0)) for k, name in enumerate(names)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(pose), velocities=speeds)


@pytest.mark.parametrize(
    ("made", "law", "end"),
    [
        (cubes, ANCHORED, 0.1),
        (cubes, Rigid(friction=0.3), 0.1),
        (marbles, SLIDING, 0.1),
    ],
    ids=["cubes", "rigid-cubes", "marbles"],
)
def test_lists_of_surfaces_keep_the_bits(monkeypatch, made, law, end):
    """Gaps to surfaces, edges and faces outside of a list are open; the order of unknowns does not depend on lists."""
    monkeypatch.setattr(near_pairs, "LISTED", 100)
    mechanism, start = made(law)
    pairs, times, margins = (
        mechanism.once(NearPairs),
        np.linspace(0.0, end, int(1000 * end) + 1),
        margins_of(monkeypatch),
    )
    assert pairs.lists and not pairs.of_balls
    listed = integrate(mechanism, start, times)
    assert len(margins) > 3
    c, a = configuration(mechanism, start.x), mechanism.network.arrays
    near = pairs.near(touching_points(a, c.r, derive(a, c).arm), 0.01, np.zeros(mechanism.layout.springs))
    assert near.size < 0.7 * pairs.contacts.number
    monkeypatch.setattr(NearPairs, "near", lambda own, *_: np.arange(own.contacts.number))
    whole = integrate(mechanism, start, times)
    assert sum(impulses.sum() for impulses in whole.ledger.impulses.values()) > 0.1
    assert np.array_equal(listed.states, whole.states)
    assert np.array_equal(listed.ledger.residual, whole.ledger.residual)


@pytest.mark.parametrize("made", [cubes, marbles])
def test_no_gap_to_a_surface_that_may_close_is_missing(made, monkeypatch):
    """In random places, with both ends of a step within half the margin: gaps that close, and the closest faces before.

    A step that ends in a skin also needs the face that is the closest one at its start.
    """
    monkeypatch.setattr(near_pairs, "LISTED", 10)
    rng, touched = np.random.default_rng(4), 0
    mechanism, start = made(SLIDING)
    pairs, a, c = mechanism.once(NearPairs), mechanism.network.arrays, configuration(mechanism, start.x)
    contacts, springs, arms = a.contacts, np.zeros(mechanism.layout.springs), derive(a, c).arm
    for margin in (0.02, 0.1) * 10:
        middle = c.r + rng.normal(0.0, 0.03, c.r.shape)
        listed = pairs.near(touching_points(a, middle, arms), margin, springs)
        away = rng.normal(size=(2, *c.r.shape))
        away *= 0.5 * margin / np.linalg.norm(away, axis=-1, keepdims=True)
        first, last = (vectors_of(contacts, touching_points(a, middle + own, arms)) for own in away)
        gaps = gaps_between(contacts, first, last)
        needed = np.flatnonzero(gaps.after < 0.0)
        for skin in contacts.skin[needed[contacts.skin[needed] >= 0]]:
            faces = np.flatnonzero(contacts.skin == skin)
            needed = np.append(needed, faces[np.argmin(gaps.before[faces])])
        assert np.isin(needed, listed).all()
        touched += needed.size
    assert touched > 20


def test_couplings_of_boxes_are_set_up_once_for_each_pair_of_bodies(monkeypatch):
    """Of 160 gaps of each pair and 8 with the floor; and each connection is searched once for moving surfaces."""
    names, law, searched = [f"b{k}" for k in range(5)], KelvinVoigt(1e5), []
    boxes = [Box(f"{name}.centre", (0.2, 0.2, 0.2), round=0.01) for name in names]
    floor = contact(boxes, Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), law, name="floor")
    own = arrays.surface_speeds
    monkeypatch.setattr(arrays, "surface_speeds", lambda given: searched.append(len(given)) or own(given))
    cube = rigid.body(1.0, inertia=(7e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    mechanism = connect(dict.fromkeys(names, cube), [mutual_contact(boxes, law, name="boxes"), floor])
    assert mechanism.network.arrays.contacts.kind.size == 10 * 160 + 5 * 8
    assert searched == [2]
    k = constants(mechanism)
    numbers = np.arange(30).reshape(5, 6)
    given = numbers[:, :3], numbers[:, 3:], np.full((5, 3), -1), np.zeros(0, dtype=int)
    touched = unknowns_of(contacts_of(mechanism, np.arange(10 * 160 + 5 * 8)), k.nodes, given)
    assert len({id(one) for one in touched}) == 10 + 5
    assert {tuple(np.unique(one[one >= 0] // 6)) for one in touched} == {
        *combinations(range(5), 2),
        *((body,) for body in range(5)),
    }
