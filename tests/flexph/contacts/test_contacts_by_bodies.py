"""Contacts in space that act on each other by the bodies they share: a factor of the bodies in place of a dense D."""

import numpy as np
import pytest
from contact_runs import sound
from uncompiled import uncompiled

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.contacts.cones import Cones
from flexph.contacts.loops.problem import Chain, Coupled
from flexph.integration.contact.stepper import RigidStepper
from flexph.methods import Exact
from flexph.numerics.loops.views import stored

RADIUS = 0.05


def problem(rows, rng):
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
    band = np.zeros((N, width)), np.zeros(N, dtype=int), np.zeros(4, dtype=int)
    space = np.zeros((c, d, d)), np.zeros((c, d, d)), np.zeros(m), np.zeros(N), np.zeros((9, m))
    return given, Chain(half, *band, *space, np.zeros(c, dtype=int), np.zeros((15, c))), D


@pytest.mark.parametrize("rows", [2, 3])
def test_a_step_meets_the_linearised_laws(rows):
    """Those of NumPy, with a dense D and the weight on what changes."""
    newton_step = uncompiled("flexph.contacts.loops.newton_coupled").newton_step
    rng, states = np.random.default_rng(rows), set()
    for _ in range(20):
        p, space, D = problem(rows, rng)
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


def heap(count, wide):
    """Balls that fall into a box, and times."""
    rng, half = np.random.default_rng(0), 0.06 * wide
    balls = {f"ball{i}": rigid.sphere(RADIUS, density=1000.0) for i in range(count)}
    law, spheres = Rigid(friction=0.3), [Sphere(f"{name}.centre", RADIUS) for name in balls]
    walls = [(half, 0.0), (-half, 0.0), (0.0, half), (0.0, -half)]
    planes = [Plane(GROUND.at(x, y, 0.0), (-np.sign(x), -np.sign(y), 0.0)) for x, y in walls]
    planes.append(Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    touching = [contact(spheres, planes, law, name="box"), mutual_contact(spheres, law, name="balls")]
    mechanism = connect(balls, touching, gravity=(0.0, 0.0, -9.81))
    level, place = np.divmod(np.arange(count), wide * wide)
    x, y = (0.115 * (own - 0.5 * (wide - 1)) + rng.uniform(-0.006, 0.006, count) for own in np.divmod(place, wide))
    guess = {name: (x[i], y[i], 0.051 + 0.101 * level[i]) for i, name in enumerate(balls)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess))


@pytest.mark.slow
@pytest.mark.processor
def test_a_heap_in_space_is_that_of_a_dense_solver_before_round_off_grows(monkeypatch):
    """Without space for a band of bodies islands of few impulses have a dense D."""
    mechanism, start = heap(30, 3)
    times, method = np.arange(0.0, 0.15, 2.5e-3), Exact(contact="steps", compiled=True)
    by_bodies = integrate(mechanism, start, times, method=method)
    monkeypatch.setattr("flexph.contacts.loops.island_space.BAND", 0)
    dense = integrate(mechanism, start, times, method=method)
    sound(by_bodies)
    sound(dense)
    apart = np.abs(by_bodies.states - dense.states).max(axis=1)
    assert apart.max() > 0.0 and apart[:20].max() <= 1e-11
    assert by_bodies.ledger.impulses["balls: normal"].sum() > 0.1


@pytest.mark.slow
@pytest.mark.processor
def test_balls_of_a_large_heap_land_in_loops(monkeypatch):
    """150 of them, at last one island of some 1000 impulses."""
    mechanism, start = heap(150, 5)
    taken, step = [], RigidStepper.step
    monkeypatch.setattr(RigidStepper, "step", lambda own, *given: taken.append(given) or step(own, *given))
    times = np.arange(0.0, 0.3, 2.5e-3)
    run = integrate(mechanism, start, times, method=Exact(contact="steps", compiled=True))
    assert len(taken) <= 2  # motions of other processors are others
    sound(run, law=1e-11)  # contacts are redundant
    for name in ("box", "balls"):
        own = run.contact(name)
        assert np.all(np.abs(own.friction) <= 0.3 * own.normal * (1.0 + 1e-12))
