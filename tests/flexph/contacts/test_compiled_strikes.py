"""Rigid contacts of free bodies by steps in compiled loops: their motion and ledger are those of NumPy."""

import numpy as np
import pytest
from contact_runs import agree, sound
from contact_samples import ball

import rigid
from cases.disc_pile import RADIUS, pile
from flexph import GROUND, Checkpoint, Event, connect, force, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.control import Sampled
from flexph.integration.contact.stepper import RigidStepper
from flexph.methods import Exact
from flexph.sensors import gap

BOUNCE = Rigid(restitution=0.5, friction=0.3)


def both(mechanism, start, times, **given):
    """A run by compiled loops, and by NumPy."""
    ways = (Exact(contact="steps", compiled=way) for way in (True, False))
    return tuple(integrate(mechanism, start, times, method=way, **given) for way in ways)


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
def test_discs_in_loops_roll_bounce_and_strike_as_by_numpy(law):
    for given in ({"height": 0.01}, {"speed": 0.0}, {"apart": 2.0 + 1e-13}):
        mechanism, start = row(law, **given)
        agree(*both(mechanism, start, np.linspace(0.0, 0.1, 11)))


@pytest.mark.slow
@pytest.mark.processor
@pytest.mark.parametrize("law", [BOUNCE, Rigid()], ids=str)
def test_balls_in_space_are_those_of_numpy(law):
    for given in ({"height": 0.01}, {"speed": 0.0}):
        mechanism, start = row(law, dim=3, **given)
        agree(*both(mechanism, start, np.linspace(0.0, 0.06, 13)))


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
    agree(*both(mechanism, start, np.linspace(0.0, 0.4, 41), inputs=push))


@pytest.mark.processor
def test_a_heap_in_loops_meets_its_laws_and_is_that_of_numpy_before_round_off_grows():
    mechanism, start, times = heap(16)
    by_loops, by_numpy = both(mechanism, start, times)
    sound(by_loops)
    first = np.abs(by_loops.states - by_numpy.states).max(axis=1)
    assert first[:6].max() <= 1e-11
    assert by_loops.ledger.impulses["discs: normal"].sum() > 0.1


def test_a_group_of_many_pairs_is_listed_and_steps_are_the_same_with_any_list(monkeypatch):
    """More than 300 pairs: loops look at those that are near, and make another list where bodies go further."""
    mechanism, start, times = heap(27, end=0.06)
    method, runs = Exact(contact="steps", compiled=True), []
    for margin in (0.5, 0.05):
        monkeypatch.setattr("flexph.integration.loops.stepper.MARGIN", margin)
        runs.append(integrate(mechanism, start, times, method=method))
    sound(runs[0])
    assert np.abs(runs[0].states - runs[1].states).max() <= 1e-10  # sums go in another order


def test_a_heap_at_rest_stays_without_numpy(monkeypatch):
    mechanism, start, _ = heap(9, Rigid(friction=0.5))
    settled = integrate(mechanism, start, np.arange(0.0, 1.0, 5e-3), method=Exact(contact="steps", compiled=True))
    taken = []
    monkeypatch.setattr(RigidStepper, "step", lambda *given: taken.append(given))
    more = np.arange(0.0, 0.2, 5e-3) + settled.times[-1]
    resting = integrate(mechanism, settled.final, more, method=Exact(contact="steps", compiled=True))
    assert not taken
    sound(resting)
    r = [resting[f"disc{i}.centre"] for i in range(9)]
    assert max(np.abs(own - own[0]).max() for own in r) <= 1e-10


def test_what_loops_do_not_solve_numpy_does(monkeypatch):
    """Balls that pass each other within a step: NumPy divides it."""
    balls = dict.fromkeys(("one", "two"), ball())
    touch = contact(Sphere("one.centre", 0.1), Sphere("two.centre", 0.1), Rigid(restitution=1.0), name="touch")
    mechanism = connect(balls, [touch])
    pose = mechanism.assemble(guess={"one": (0.0, 0.0, 0.0), "two": (1.0, 0.01, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"one": (2.0, 0.0, 0.0)})
    taken, step = [], RigidStepper.step
    monkeypatch.setattr(RigidStepper, "step", lambda own, *given: taken.append(given) or step(own, *given))
    by_loops = integrate(mechanism, start, np.linspace(0.0, 2.0, 3), method=Exact(contact="steps", compiled=True))
    assert taken
    assert by_loops.ledger.impulses["touch: normal"].sum() > 1.0


def test_runs_in_parts_with_events_checkpoints_and_controllers_are_the_whole_run(tmp_path):
    mechanism, start = row(BOUNCE, height=0.01)
    times, method = np.linspace(0.0, 0.1, 21), Exact(contact="steps", compiled=True)
    whole = integrate(mechanism, start, times, method=method, checkpoint=Checkpoint(tmp_path, every=0.0))
    first = integrate(mechanism, start, times[:8], method=method)
    second = integrate(mechanism, first.final, times[7:], method=method)
    np.testing.assert_array_equal(second.states[-1], whole.states[-1])
    sparse = integrate(mechanism, start, times, method=method, save_every=4)
    np.testing.assert_array_equal(sparse.states, whole.states[::4])
    for name, values in whole.ledger.impulses.items():
        assert sparse.ledger.impulses[name].sum() == pytest.approx(values.sum(), abs=1e-13), name
    stop = {"down": Event(lambda t, x: x["disc2.centre"][1] - 0.11, direction=-1, terminal=True)}
    ended, by_numpy = both(mechanism, start, times, events=stop)
    assert ended.times[-1] == pytest.approx(by_numpy.times[-1], abs=1e-9) and ended.times[-1] < 0.1
    answer = lambda t, see: {"push": (-20.0 * see["gap"][0], 0.0)}  # noqa: E731
    push = Sampled(function=answer, period=0.02, sensors={"gap": gap("plane")})
    agree(*both(mechanism, start, times, controllers={"push": push}))


@pytest.mark.slow
@pytest.mark.processor
def test_a_dense_pile_meets_its_laws_in_loops(monkeypatch):
    """100 discs that come to rest with friction: redundant contacts, of which NumPy took some steps out of balance."""
    mechanism, start, times = heap(100, Rigid(restitution=0.3, friction=0.3), end=0.6)
    taken, step = [], RigidStepper.step
    monkeypatch.setattr(RigidStepper, "step", lambda own, *given: taken.append(given) or step(own, *given))
    run = integrate(mechanism, start, times, method=Exact(contact="steps", compiled=True))
    assert len(taken) <= 6  # motions of other processors are others
    sound(run, law=1e-12 if not taken else 1e-8)  # NumPy's impacts may be met less well
