"""Groups of balls: their pairs are those that are given one by one, and what is stored grows with the members."""

from itertools import combinations

import numpy as np
import pytest
from uncompiled import uncompiled

import rigid
from flexph import GROUND, IntegrationError, connect, integrate
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.loops import near_pairs
from flexph.integration.loops.memory.structures import Kinds, Parts, no_pair
from flexph.integration.loops.stepper import Stepper
from flexph.kernels.contacts.gap_arrays import Contacts
from flexph.kernels.contacts.laws import anchored, anchors_in
from flexph.mechanisms.model.accounts import Accounts
from flexph.mechanisms.model.state import configuration
from flexph.methods import Exact

RADII = (0.1, 0.08, 0.12, 0.09)
PLACES = {"ball0": (0.0, 0.1, 0.0), "ball1": (0.185, 0.081, 0.0), "ball2": (0.1, 0.3, 0.0), "ball3": (0.6, 0.1, 0.0)}


def members(dim, count):
    """Balls of one mass, and their shapes."""
    inertia = 0.004 if dim == 2 else 0.004 * np.eye(3)
    ball = rigid.body(1.0, inertia=inertia, ports={"centre": (0.0,) * dim})
    names = [f"ball{i}" for i in range(count)]
    radii = [RADII[i % len(RADII)] for i in range(count)]
    return dict.fromkeys(names, ball), [Sphere(f"{name}.centre", r) for name, r in zip(names, radii, strict=True)]


def pairs(shapes, law):
    """The same contacts one by one."""
    return [contact(a, b, law, name=f"pair {k}") for k, (a, b) in enumerate(combinations(shapes, 2))]


@pytest.mark.parametrize("dim", [2, 3])
def test_the_gaps_of_a_group_are_those_of_its_pairs(dim):
    bodies, shapes = members(dim, 6)
    law = KelvinVoigt(1e4, damping=2.0, friction=0.3)
    group = connect(bodies, [mutual_contact(shapes, law)]).network.arrays.contacts
    single = connect(bodies, pairs(shapes, law)).network.arrays.contacts
    assert (group.kind.size, group.number, single.number) == (0, 15, 15)
    for name in set(Contacts._fields) - {"owner", "groups", "anchor", "pair", "rows"}:
        np.testing.assert_array_equal(getattr(group.all(), name), getattr(single, name), err_msg=name)


@pytest.mark.parametrize("count", [3, 50, 3000])
def test_pairs_are_numbered_row_by_row(count):
    bodies, shapes = members(2, 3)
    group = connect(bodies, [mutual_contact(shapes, Rigid())]).network.arrays.contacts.groups[0]
    group = group._replace(node=np.arange(count))
    number = np.unique(np.concatenate([np.arange(min(group.number, 500)), np.arange(group.number)[-500:]]))
    i, j = group.members(number)
    assert (i < j).all() and i.min() == 0 and j.max() == count - 1
    np.testing.assert_array_equal(group.numbers(j, i), number)
    np.testing.assert_array_equal(np.diff(np.stack([i, j]))[:, 0], [0, 1])


def dumbbells(count, law):
    """Bodies of three balls each, and a single one, in a group."""
    three = {"left": (-0.1, 0.0), "right": (0.1, 0.0), "top": (0.0, 0.05)}  # they are in each other
    bodies = {f"body{i}": rigid.body(1.0, inertia=0.01, ports=three) for i in range(count)}
    bodies["ball"] = rigid.body(1.0, inertia=0.01, ports={"centre": (0.0, 0.0)})
    shapes = [Sphere(f"body{i}.{port}", 0.08) for port in three for i in range(count)]
    return bodies, [*shapes[:2], Sphere("ball.centre", 0.1), *shapes[2:]], law


@pytest.mark.parametrize("count", [2, 7])
def test_pairs_of_one_rigid_body_are_left_out(count):
    bodies, shapes, law = dumbbells(count, Rigid(friction=0.3))
    contacts = connect(bodies, [mutual_contact(shapes, law)]).network.arrays.contacts
    body = [shape.port.split(".")[0] for shape in shapes]
    kept = [(i, j) for i, j in combinations(range(len(shapes)), 2) if body[i] != body[j]]
    group = contacts.groups[0]
    assert contacts.number == len(kept)
    i, j = group.members(np.arange(len(kept)))
    np.testing.assert_array_equal(np.stack([i, j], axis=1), kept)
    np.testing.assert_array_equal(group.numbers(j, i), np.arange(len(kept)))
    points, every = np.random.default_rng(count).random((1 + 3 * count, 2)), contacts.all()
    gaps = np.linalg.norm(points[every.plus[0]] - points[every.minus[0]], axis=1) - every.offset
    for reach in (0.0, 0.3, 5.0):
        np.testing.assert_array_equal(contacts.near(points, reach), np.flatnonzero(gaps <= reach))


SOFT = KelvinVoigt(1e4, damping=5.0, friction=0.3)


@pytest.mark.parametrize("law", [SOFT, Rigid(friction=0.3)])
def test_bodies_of_several_balls_each_fall_on_each_other(law):
    bodies, shapes, law = dumbbells(3, law)
    floor = contact(shapes, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect(bodies, [floor, mutual_contact(shapes, law, name="balls")], gravity=(0.0, -9.81))
    places = {f"body{i}": (0.03 * i, 0.081 + 0.2 * i, 0.0) for i in range(3)} | {"ball": (0.45, 0.3, 0.0)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places))
    run = integrate(mechanism, start, np.linspace(0.0, 0.06, 31), method=Exact(contact="steps"))
    between = run.contact("balls")
    assert between.gap.shape[1] == 36 and between.normal.max() > 1.0
    assert between.gap.min() > -(1e-12 if isinstance(law, Rigid) else 0.02)
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale


@pytest.mark.parametrize("seed", range(3))
def test_near_pairs_are_those_with_small_gaps(seed):
    bodies, shapes = members(3, 30)
    contacts = connect(bodies, [mutual_contact(shapes, Rigid())]).network.arrays.contacts
    points, every = np.random.default_rng(seed).random((30, 3)), contacts.all()
    gaps = np.linalg.norm(points[every.plus[0]] - points[every.minus[0]], axis=1) - every.offset
    for reach in (0.0, 0.1, 5.0):
        np.testing.assert_array_equal(contacts.near(points, reach), np.flatnonzero(gaps <= reach))


def test_what_is_stored_grows_with_the_members():
    sizes = []
    for count in (50, 100):
        bodies, shapes = members(2, count)
        mechanism = connect(bodies, [mutual_contact(shapes, Rigid(friction=0.3))])
        group = mechanism.network.arrays.contacts.groups[0]
        sizes.append(sum(part.nbytes for part in (*group[:3], *group.law[:-1])))
    assert sizes[1] - sizes[0] == 50 * 3 * 8
    assert group.number == 4950


@pytest.mark.parametrize("law", [KelvinVoigt(1e4, friction=0.3), Rigid(friction=0.3)])
def test_a_group_moves_as_its_pairs_do(law, monkeypatch):
    monkeypatch.setattr(near_pairs, "LISTED", 3)  # near pairs alone
    bodies, shapes = members(2, 4)
    floor = contact(shapes, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    method, runs = Exact(contact="steps"), []
    for touching in ([mutual_contact(shapes, law, name="group")], pairs(shapes, law)):
        mechanism = connect(bodies, [floor, *touching], gravity=(0.0, -9.81))
        start = mechanism.consistent_state(mechanism.assemble(guess=PLACES))
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.04, 5), method=method))
    group, single = runs
    motion = slice(0, mechanism.layout.parts_of_motion.stop)
    np.testing.assert_allclose(group.states[:, motion], single.states[:, motion], rtol=0, atol=1e-11)
    parts = [single.contact(f"pair {k}") for k in range(6)]
    assert max(part.normal.max() for part in parts) > 1.0
    np.testing.assert_allclose(group.contact("group").normal, sum(part.normal for part in parts), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(group.contact("group").gap, np.hstack([part.gap for part in parts]))
    stored = [sum(values for name, values in run.ledger.energy.items() if "floor" not in name) for run in runs]
    np.testing.assert_allclose(*stored, rtol=0, atol=1e-12)  # those of anchors, too
    for run in runs:
        assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale


@pytest.mark.parametrize("seed", range(3))
def test_forces_of_anchors_are_found_in_the_tables_of_their_groups_and_put_back_there(seed):
    """Of groups between which a contact has an anchor of its own; loops have a place for each pair."""
    bodies, shapes = members(3, 20)
    rng, law = np.random.default_rng(seed), KelvinVoigt(1e4, friction=0.3)
    floor = contact(shapes, Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), law, name="floor")
    groups = [mutual_contact(shapes[:8], law, name="one"), mutual_contact(shapes[6:], law, name="other")]
    mechanism = connect(bodies, [groups[0], floor, groups[1]])
    contacts, layout = mechanism.network.arrays.contacts.all(), mechanism.layout
    x, forces = np.zeros(layout.size), np.zeros((contacts.number, 3))
    single = x[layout.size - layout.springs :][: 3 * len(shapes)]
    single[:] = rng.standard_normal(single.size)
    forces[contacts.pair == 0] = single.reshape(-1, 3)
    for name, first in (("one", 20), ("other", 20 + 28)):
        table = x[layout.parts[f"{name}: anchors"]].reshape(-1, 4)
        pairs = np.sort(rng.choice(28, rng.integers(1, 12), replace=False))
        table[: pairs.size, 0], table[: pairs.size, 1:] = 1 + pairs, rng.standard_normal((pairs.size, 3))
        forces[first + pairs] = table[: pairs.size, 1:]
    springs = configuration(mechanism, x).spring
    np.testing.assert_array_equal(anchors_in(contacts, springs, 3), forces)
    energy = 0.5 * np.sum(forces**2, axis=1) / law.holding
    np.testing.assert_allclose(anchored(contacts, springs), energy, rtol=1e-14)
    stepper = Stepper(
        mechanism, mechanism.once(Accounts), Parts(np.ones(1), np.ones(1), 2, no_pair(), Kinds(contact=1))
    )
    none = np.zeros(0)
    stepper.put(configuration(mechanism, x), np.zeros((0, 1)), none, lambda: np.zeros((20, 3)), none)
    back = np.full(springs.size, np.nan)
    uncompiled("flexph.integration.loops.contact.anchors").store_springs(stepper.memory, 3, back, 0)
    np.testing.assert_array_equal(back, springs)


@pytest.mark.filterwarnings("ignore:.* begins with a penetration")
def test_more_anchors_than_there_are_rows_are_told():
    """Discs of which all touch all others."""
    bodies, shapes = members(2, 30)
    shapes = [Sphere(shape.port, 1.0) for shape in shapes]
    mechanism = connect(bodies, [mutual_contact(shapes, KelvinVoigt(1.0, friction=0.3))])
    contacts = mechanism.network.arrays.contacts
    assert contacts.groups[0].rows == 120 and contacts.number == 435
    rng = np.random.default_rng(0)
    pose = mechanism.assemble(guess={name: (*rng.uniform(-0.2, 0.2, 2), 0.0) for name in bodies})
    start = mechanism.consistent_state(pose, velocities={name: (0.0, 0.0, rng.standard_normal()) for name in bodies})
    with pytest.raises(IntegrationError, match=r"too many pairs.*group stick.*friction: use.*slip_velocity"):
        integrate(mechanism, start, [0.0, 1e-3, 2e-3])


def test_a_pile_goes_on_from_its_middle_to_the_same_bits():
    bodies, shapes = members(2, 4)
    law = KelvinVoigt(1e4, damping=20.0, friction=0.3)
    floor = contact(shapes, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect(bodies, [floor, mutual_contact(shapes, law, name="group")], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess=PLACES))
    times, method = np.linspace(0.0, 0.08, 9), Exact()
    whole = integrate(mechanism, start, times, method=method)
    half = integrate(mechanism, start, times[:6], method=method)
    assert half["group: anchors"][-1, 0] > 0.0
    rest = integrate(mechanism, half.final, times[5:], method=method)
    np.testing.assert_array_equal(rest.states, whole.states[5:])


def test_balls_in_each_other_at_the_start_are_named():
    bodies, shapes = members(2, 12)
    mechanism = connect(bodies, [mutual_contact(shapes, Rigid(), name="heap")])
    places = {name: (0.3 * k, 0.0, 0.0) for k, name in enumerate(bodies)} | {"ball7": (1.85, 0.0, 0.0)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places))
    with pytest.raises(ValueError, match=r"heap: the bodies overlap at the start, by 0\.16"):
        integrate(mechanism, start, (0.0, 0.1))
