"""Broad phase of contacts: no near pair is missing, nothing passes through anything, and no result depends on it."""

import numpy as np
import pytest

import rigid
from cases import disc_pile
from flexph import connect, integrate
from flexph.contacts import Hertz, Rigid, Sphere, broad_phase, mutual_contact
from flexph.integration.loops import near_pairs
from flexph.methods import Exact


def balls(count, law, radius=0.5):
    ball = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    names = [f"ball{i}" for i in range(count)]
    return connect(dict.fromkeys(names, ball), [mutual_contact([Sphere(f"{n}.centre", radius) for n in names], law)])


def test_all_pairs_within_reach_are_near():
    arrays = balls(12, Rigid(), radius=0.1).network.arrays
    broad = broad_phase.broad_phase(arrays.contacts, arrays.node_body.size)
    assert not broad.others.size
    points = np.random.default_rng(3).random((12, 2))
    contacts = arrays.contacts.all()
    near = broad.near(points[np.argsort(np.argsort(broad.nodes))], 0.15)
    place = dict(zip(broad.nodes.tolist(), points, strict=True))
    ends = zip(contacts.plus[0].tolist(), contacts.minus[0].tolist(), strict=True)
    distances = np.array([np.linalg.norm(place[p] - place[m]) for p, m in ends])
    assert 0 < near.size < distances.size
    assert near.tolist() == np.flatnonzero(distances - 0.2 <= 0.15).tolist()


@pytest.mark.parametrize("way", ["events", "steps"])
@pytest.mark.parametrize("aside", [0.0, 0.6])
@pytest.mark.parametrize("count", [2, 10])
def test_a_fast_ball_does_not_pass_through_another_within_a_step(way, aside, count):
    mechanism = balls(count, Rigid(restitution=1.0))
    places = {f"ball{i}": (4.0 * i, 0.0, 0.0) for i in range(count)} | {"ball0": (-5.3, aside, 0.0)}
    speeds = {"ball0": (1000.0, 0.0, 0.0)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places | {"ball1": (0.0, 0.0, 0.0)}), velocities=speeds)
    solution = integrate(mechanism, start, (0.0, 0.01), method=Exact(contact=way))
    hit = solution["ball1.velocity"][-1]
    along = np.array([np.sqrt(1.0 - aside**2), -aside])  # the line of centres where they touch
    assert hit == pytest.approx(1000.0 * along[0] * along, abs=1e-3)
    assert abs(solution.ledger.residual).max() < 1e-12 * solution.ledger.scale


GRAZES = {"events": (0.5, 0.985, 0.995, 1.5), "steps": (0.5, 0.85, 0.95, 1.5)}


@pytest.mark.parametrize("way", GRAZES)
@pytest.mark.parametrize("k", range(4))
def test_straight_ways_that_only_graze_pass(way, k):
    """Of two balls within a step: up to a hundredth of their distance in each other, by steps up to a tenth."""
    aside, passes = GRAZES[way][k], k > 1
    mechanism = balls(2, Rigid(restitution=1.0))
    pose = mechanism.assemble(guess={"ball0": (-3.0, aside, 0.0), "ball1": (0.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"ball0": (400.0, 0.0, 0.0)})
    solution = integrate(mechanism, start, (0.0, 0.01), method=Exact(contact=way))
    assert (np.abs(solution["ball1.velocity"][-1]).max() < 1e-12) == passes
    assert abs(solution.ledger.residual).max() < 1e-12 * solution.ledger.scale


def test_a_pile_is_the_same_with_and_without_lists_of_near_pairs(monkeypatch):
    piles = []
    for listed in (10, 1000):
        monkeypatch.setattr(near_pairs, "LISTED", listed)
        piles.append(disc_pile.run(discs=9, end=0.05))
        pairs = piles[-1].solution.mechanism.once(near_pairs.NearPairs)
        assert pairs.lists == (listed == 10) and (not pairs.lists or pairs.phase.walls.size == 27)
    with_lists, without = piles
    assert with_lists.solution.ledger.dissipation["discs: impact"].sum() > 0.0
    assert disc_pile.centres(with_lists) == pytest.approx(disc_pile.centres(without), abs=1e-13)


@pytest.mark.parametrize("law", [Rigid(), Hertz(1e6)])
def test_balls_with_the_same_centre_are_refused(law):
    mechanism = balls(2, law)
    with pytest.raises(ValueError, match="both bodies have the same centre"):
        integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), (0.0, 0.01))
