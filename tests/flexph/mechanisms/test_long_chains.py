"""Starts of long chains: by sparse matrices they are those that dense decompositions find."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, revolute, spherical
from flexph.mechanisms.arrays import network
from flexph.mechanisms.model import constraints
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.poses import assembly

LINKS = 12
ROD = rigid.cylinder(0.5, 0.02, density=2700.0)


def chain(limit, monkeypatch):
    """Rods on spherical joints and revolutes in turn, dense up to a number of velocities."""
    monkeypatch.setattr(network, "DENSE_LIMIT", limit)
    joints = [spherical("rod0.root", GROUND.at(0.0, 0.0, 0.0))]
    for k in range(1, LINKS):
        ends = f"rod{k}.root", f"rod{k - 1}.tip"
        joints.append(spherical(*ends) if k % 2 else revolute(*ends, axis=(0.0, 1.0, 0.0)))
    return connect({f"rod{k}": ROD for k in range(LINKS)}, joints)


def refused(*given, **named):
    raise AssertionError("a dense decomposition was asked for")


@pytest.mark.parametrize("seed", range(2))
def test_poses_and_velocities_are_those_of_dense_matrices(seed, monkeypatch):
    random = np.random.default_rng(seed)
    turns = Rotation.from_rotvec(0.3 * random.standard_normal((LINKS, 3)))
    places = 0.5 * np.arange(LINKS)[:, None] * [1.0, 0.0, 0.0] + 0.03 * random.standard_normal((LINKS, 3))
    guess = {f"rod{k}": (places[k], turns[k]) for k in range(LINKS)}
    fast = {f"rod{k}": (None, random.standard_normal(3)) for k in (2, 7)}
    states = []
    for limit in (10**6, 0):
        mechanism = chain(limit, monkeypatch)
        if limit == 0:  # from here on a dense decomposition fails
            monkeypatch.setattr(assembly.np.linalg, "lstsq", refused)
        pose = mechanism.assemble(guess=guess)
        states.append(mechanism.consistent_state(pose, velocities=fast).x)
    # Newton closes gaps to 1e-15; the tangents along which it does so differ by round-off
    np.testing.assert_allclose(states[1], states[0], rtol=0.0, atol=1e-11)


def test_velocities_that_are_given_for_all_bodies_stay(monkeypatch):
    mechanism = chain(0, monkeypatch)
    places = {f"rod{k}": (np.array([0.5 * k, 0.0, 0.0]), np.eye(3)) for k in range(LINKS)}
    spin = np.array([0.3, -1.0, 2.0])
    velocities = {name: (np.cross(spin, at), spin) for name, (at, _) in places.items()}
    monkeypatch.setattr(constraints.np.linalg, "lstsq", refused)
    state = mechanism.consistent_state(mechanism.assemble(places), velocities=velocities)
    c = configuration(mechanism, state.x)
    np.testing.assert_allclose(c.omega, np.tile(spin, (LINKS, 1)), atol=1e-13)
    np.testing.assert_allclose(c.v, np.cross(spin, c.r), atol=1e-13)
