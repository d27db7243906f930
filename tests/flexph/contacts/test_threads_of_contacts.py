"""Piles of rigid contacts have the same bits by one thread and by two, which factor both halves of their equations."""

import numpy as np
import pytest
from uncompiled import uncompiled

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.integration.loops import strike_steps
from flexph.methods import Exact

RADIUS = 0.05
has_halves = uncompiled("flexph.numerics.algebra.halves").has_halves


def layers(wide, high, dim):
    """Centres of balls that nearly touch in layers, each shifted by half a radius."""
    across = np.arange(wide) if dim == 2 else np.indices((wide, wide)).reshape(2, -1).T
    pitch = 2.001 * RADIUS
    places = []
    for level in range(high):
        sides = pitch * across.reshape(len(across), -1)
        sides[:, 0] += 0.5 * RADIUS * (level % 2)
        height = np.full((len(sides), 1), RADIUS * (1.001 + 1.9391 * level))
        places.append(np.hstack([sides, height]))
    return np.vstack(places)


def fallen(wide, high, dim):
    """Balls on a floor that move towards each other, with friction and restitution, and the start of their run."""
    places, up = layers(wide, high, dim), (0.0,) * (dim - 1) + (1.0,)
    inertia = 4e-4 if dim == 2 else 4e-4 * np.eye(3)
    ball = rigid.body(1.0, inertia=inertia, ports={"centre": (0.0,) * dim})
    names = [f"ball{i}" for i in range(len(places))]
    spheres, law = [Sphere(f"{name}.centre", RADIUS) for name in names], Rigid(restitution=0.2, friction=0.3)
    touching = [contact(spheres, Plane(GROUND.at(*(0.0,) * dim), up), law, name="floor"), mutual_contact(spheres, law)]
    mechanism = connect(dict.fromkeys(names, ball), touching, gravity=tuple(-9.81 * np.array(up)))
    laid = [(*place, 0.0) if dim == 2 else (place, np.eye(3)) for place in places]
    towards = [4.0 * v for v in places.mean(axis=0) - places]
    moving = [(*v, 0.0) if dim == 2 else (v, np.zeros(3)) for v in towards]
    pose = mechanism.assemble(dict(zip(names, laid, strict=True)))
    return mechanism, mechanism.consistent_state(pose, velocities=dict(zip(names, moving, strict=True)))


@pytest.mark.parametrize("wide, high, dim", [(14, 11, 2), (4, 7, 3)])
def test_two_threads_give_the_bits_of_one(wide, high, dim, monkeypatch):
    spaces, law_space = [], strike_steps.law_space
    monkeypatch.setattr(strike_steps, "law_space", lambda *given: spaces.append(law_space(*given)) or spaces[-1])
    mechanism, start = fallen(wide, high, dim)
    runs = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        times = 2e-3 * np.arange(4)
        runs.append(integrate(mechanism, start, times, method=Exact(contact="steps"), progress=False))
        *_, bodies, reach, allowed = spaces[-1].made
        n = 3 if dim == 2 else 6
        assert allowed == int(threads)
        assert has_halves(n * int(bodies), n * int(reach) + n - 1)
    assert np.array_equal(runs[0].states, runs[1].states)
    assert runs[0].ledger.largest_residual < 1e-9
