"""Rigid contacts of free bodies by ``contact="steps"``: impacts at the start of a step, closing in it, rest."""

from dataclasses import replace

import numpy as np
import pytest
from contact_laws import unexplained
from contact_runs import lawful, sound
from contact_samples import ball

import rigid
from cases.disc_pile import RADIUS, pile
from flexph import GROUND, Checkpoint, Event, connect, force, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.control import Sampled
from flexph.methods import Exact
from flexph.sensors import gap

BOUNCE = Rigid(restitution=0.5, friction=0.3)
BY_STEPS = Exact(contact="steps")


def row(law, count=3, *, dim=2, apart=2.1, speed=1.0, height=0.0):
    """Discs or balls side by side over a plane, the first one moving towards the others, each with a spin."""
    up = (0.0,) * (dim - 1) + (1.0,)
    bodies = {f"disc{i}": ball(dim) for i in range(count)}
    spheres = [Sphere(f"{name}.centre", 0.1) for name in bodies]
    plane = contact(spheres, Plane(GROUND.at(*(0.0,) * dim), up), law, name="plane")
    connections = [plane, mutual_contact(spheres, law, name="discs"), force("disc0.centre", name="push")]
    mechanism = connect(bodies, connections, gravity=tuple(-9.81 * x for x in up))
    place = lambda i: (0.1 * apart * i, *(0.003 * i,) * (dim - 2), 0.1 + height * i)  # noqa: E731
    still = (0.0,) * (dim - 1)
    spin = lambda i: 3.0 - i if dim == 2 else (0.5, 3.0 - i, 0.2)  # noqa: E731
    moved = {n: ((speed if i == 0 else 0.0, *still), spin(i)) for i, n in enumerate(bodies)}
    if dim == 2:
        guess = {n: (*place(i), 0.0) for i, n in enumerate(bodies)}
        moved = {n: (*v, w) for n, (v, w) in moved.items()}
    else:
        guess = {n: place(i) for i, n in enumerate(bodies)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=moved)


def heap(count, law=BOUNCE, end=0.1):
    """Discs that fall into a box, and times."""
    radii = RADIUS * (1.0 - 0.1 * np.random.default_rng(2).random(count))
    wide = max(2, round(count**0.5))
    mechanism = pile(radii, 1.05 * RADIUS * wide + 0.3 * RADIUS, law)
    level, column = np.divmod(np.arange(count), wide)
    x = 2.1 * RADIUS * (column - 0.5 * (wide - 1)) + 0.25 * RADIUS * np.where(level % 2, 1.0, -1.0)
    places = {f"disc{i}": (x[i], RADIUS * (1.01 + 2.02 * level[i]), 0.0) for i in range(count)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=places)), np.arange(0.0, end, 5e-3)


@pytest.mark.processor
@pytest.mark.parametrize("law", [BOUNCE, Rigid(friction=0.3), Rigid(restitution=1.0), Rigid()], ids=str)
def test_discs_roll_bounce_and_strike_by_their_laws(law):
    for given in ({"height": 0.01}, {"speed": 0.0}, {"apart": 2.0 + 1e-13}):
        mechanism, start = row(law, **given)
        lawful(integrate(mechanism, start, np.linspace(0.0, 0.1, 11), method=BY_STEPS))


@pytest.mark.processor
@pytest.mark.parametrize("law", [BOUNCE, Rigid()], ids=str)
def test_balls_in_space_roll_bounce_and_strike_by_their_laws(law):
    for given in ({"height": 0.01}, {"speed": 0.0}):
        mechanism, start = row(law, dim=3, **given)
        lawful(integrate(mechanism, start, np.linspace(0.0, 0.06, 7), method=BY_STEPS))


@pytest.mark.parametrize(("friction", "restitution"), [(0.25, 0.5), (0.35, 0.5), (0.3, 0.0)])
def test_laws_with_other_coefficients_do_not_explain_a_motion(friction, restitution, monkeypatch):
    """Of discs that slide and strike: the checks see a little more or less friction, and impacts that should not be."""
    mechanism, start = row(BOUNCE, height=0.01)
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 11), method=BY_STEPS)
    other, _ = row(Rigid(restitution=restitution, friction=friction))
    assert unexplained(run).max() < 1e-12
    assert unexplained(replace(run, mechanism=other)).max() > 1e-4


def test_a_block_on_its_corners_turns_with_the_nodes_that_touch():
    """Arms turn in a step, forces with them, and loads push beside."""
    corners = {f"c{i}": (0.1 * x, 0.05 * y) for i, (x, y) in enumerate(((-1, -1), (1, -1), (1, 1), (-1, 1)))}
    block = rigid.body(1.0, inertia=0.01, ports=corners | {"edge": (0.1, 0.0)})
    floor = contact([f"block.{c}" for c in corners], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), BOUNCE, name="floor")
    pushes = [force("block.edge", name="push")]
    mechanism = connect({"block": block}, [floor, *pushes], gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"block": (0.0, 0.2, 0.4)})
    start = mechanism.consistent_state(pose, velocities={"block": (0.5, 0.0, -2.0)})
    push = {"push": lambda t: np.array([2.0, 5.0 * t])}
    lawful(integrate(mechanism, start, np.linspace(0.0, 0.4, 41), inputs=push, method=BY_STEPS), push)


@pytest.mark.processor
def test_a_heap_meets_its_laws():
    mechanism, start, times = heap(16, end=0.07)
    run = integrate(mechanism, start, times, method=BY_STEPS)
    lawful(run)
    assert run.ledger.impulses["discs: normal"].sum() > 0.1


def test_a_group_of_many_pairs_is_listed_and_steps_are_the_same_with_any_list(monkeypatch):
    """More than 300 pairs: loops look at those that are near, and make another list where bodies go further."""
    mechanism, start, times = heap(27, end=0.06)
    runs = []
    for margin in (0.5, 0.05):
        monkeypatch.setattr("flexph.integration.loops.stepper.MARGIN", margin)
        runs.append(integrate(mechanism, start, times, method=BY_STEPS))
    sound(runs[0])
    assert np.abs(runs[0].states - runs[1].states).max() <= 1e-10  # sums go in another order


def test_a_heap_at_rest_stays():
    mechanism, start, _ = heap(9, Rigid(friction=0.5))
    settled = integrate(mechanism, start, np.arange(0.0, 1.0, 5e-3), method=BY_STEPS)
    more = np.arange(0.0, 0.2, 5e-3) + settled.times[-1]
    resting = integrate(mechanism, settled.final, more, method=BY_STEPS)
    sound(resting)
    r = [resting[f"disc{i}.centre"] for i in range(9)]
    assert max(np.abs(own - own[0]).max() for own in r) <= 1e-10


def test_runs_in_parts_with_events_checkpoints_and_controllers_are_the_whole_run(tmp_path):
    mechanism, start = row(BOUNCE, height=0.01)
    times = np.linspace(0.0, 0.1, 21)
    whole = integrate(mechanism, start, times, method=BY_STEPS, checkpoint=Checkpoint(tmp_path, every=0.0))
    first = integrate(mechanism, start, times[:8], method=BY_STEPS)
    second = integrate(mechanism, first.final, times[7:], method=BY_STEPS)
    np.testing.assert_array_equal(second.states[-1], whole.states[-1])
    sparse = integrate(mechanism, start, times, method=BY_STEPS, save_every=4)
    np.testing.assert_array_equal(sparse.states, whole.states[::4])
    for name, values in whole.ledger.impulses.items():
        assert sparse.ledger.impulses[name].sum() == pytest.approx(values.sum(), abs=1e-13), name
    stop = {"down": Event(lambda t, x: x["disc2.centre"][1] - 0.11, direction=-1, terminal=True)}
    ended = integrate(mechanism, start, times, events=stop, method=BY_STEPS)
    above = int((whole["disc2.centre"][:, 1] > 0.11).sum())
    assert times[above - 1] < ended.times[-1] < times[above]
    assert ended["disc2.centre"][-1, 1] == pytest.approx(0.11, abs=1e-12)
    answer = lambda t, see: {"push": (-200.0 * see["gap"][1], 0.0)}  # noqa: E731
    push = Sampled(function=answer, period=0.02, sensors={"gap": gap("plane")})
    pushed = integrate(mechanism, start, times, controllers={"push": push}, method=BY_STEPS)
    sound(pushed)
    assert np.abs(pushed.states[-1] - whole.states[-1]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.processor
def test_a_dense_pile_meets_its_laws():
    """100 discs that come to rest with friction: redundant contacts."""
    mechanism, start, times = heap(100, Rigid(restitution=0.3, friction=0.3), end=0.6)
    sound(integrate(mechanism, start, times, method=BY_STEPS))
