"""Entries that are round-off say nothing about sizes: multipliers of welds, columns of constraints.

Five seconds, as steps of these systems are taken in Python, by four methods.
"""

import numpy as np
import pytest
from covering import covering
from scipy.spatial.transform import Rotation

import rigid
from flexph import PHDAE, integrate
from flexph.consistency.equations import with_algebraic
from flexph.methods import by_name
from rigid.system.probes import independence

pytestmark = pytest.mark.processor

LEVER = np.array([0.0, 0.0, -1.0])
"""From the centre of the first of two welded bodies to that of the second."""


def welded(orientation, turned):
    """Two free bodies under gravity, welded at frames, at a pose."""
    ports = {"f": rigid.Frame((0.0, 0.0, 0.5)), "h": rigid.Frame((0.0, 0.0, -0.5))}
    body = rigid.free_body(
        1.0, inertia=(0.1, 0.1, 0.2), orientation=orientation, gravity=(0.0, 0.0, -9.81), ports=ports
    )
    sample = np.concatenate([orientation.pose([0.0, 0.0, 0.0], turned), orientation.pose(turned.apply(LEVER), turned)])
    return rigid.interconnect({"p": body, "q": body}, [("p.h", "q.f"), ("p.h.turn", "q.f.turn")], sample=sample)


def spun(system, omega):
    """The state in which both turn alike."""
    return system.state(system.sample, np.concatenate([np.zeros(3), omega, np.cross(omega, LEVER), omega]))


@covering(
    "method, speed, make, seed",
    ("pair", "gauss4", "midpoint", "radau"),
    (0.0, 1.0),
    (rigid.quaternion, rigid.rotation_matrix),
    (0, 1, 2),
    strength=1,
)
def test_welds_run_from_any_pose(make, speed, method, seed):
    """Their multipliers are zero where the bodies fall side by side, and turns of the weld carry nothing anyway."""
    system = welded(make(), Rotation.random(random_state=seed))
    x = spun(system, speed * np.random.default_rng(seed).standard_normal(3))
    made = integrate(system.phdae(), x, np.linspace(0.0, 0.02, 3), method=by_name(method), progress=False)
    first, second = (make().placement(part)[1] for part in np.split(made.final[: system.positions], 2))
    np.testing.assert_allclose(first, second, atol=1e-6 if method == "radau" else 1e-12)


def test_multipliers_of_round_off_are_zero_at_starts():
    """Bodies that fall side by side exert no forces; turning, the one force is μ = ½ m l ω² (m the mass of each)."""
    for seed in range(5):
        system = welded(rigid.quaternion(), Rotation.random(random_state=seed))
        assert not system.split(spun(system, np.zeros(3))).mu.any()
        forces = system.split(spun(system, np.array([0.0, 2.0, 0.0]))).mu
        assert np.linalg.norm(forces[:3]) == pytest.approx(0.5 * 4.0, rel=1e-12)
        assert not forces[3:].any()


@pytest.mark.parametrize("method", ["pair", "gauss4", "midpoint", "radau"])
def test_starts_with_multipliers_of_round_off_run(method):
    """As the ends of other runs have them."""
    system = welded(rigid.quaternion(), Rotation.random(random_state=1))
    x = spun(system, np.zeros(3))
    x[system.layout.mu] = 1e-15 * np.random.default_rng(0).standard_normal(6)
    made = integrate(system.phdae(), x, np.linspace(0.0, 0.02, 3), method=by_name(method), progress=False)
    fallen = made.final[2] - x[2]
    assert fallen == pytest.approx(-0.5 * 9.81 * 0.02**2, rel=1e-6 if method == "radau" else 1e-9)


def test_small_states_of_their_own_size_keep_it():
    """A charge of 1e-12 C beside 1e3 V, and a current of 1e-12 A through 1e15 Ω, are no round-off."""
    resistance, capacity = 1e15, 1e-15
    circuit = PHDAE(  # x = (charge, current, voltage): q' = i, 0 = −q/C − R i + v, 0 = −i + u
        E=np.diag([1.0, 0.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
        R=np.diag([0.0, resistance, 0.0]),
        B=np.array([[0.0], [0.0], [1.0]]),
        z=lambda x: np.array([x[0] / capacity, x[1], x[2]]),
        H=lambda x: 0.5 * x[0] ** 2 / capacity,
        sample=np.array([1e-12, 1e-12, 2e3]),
        ports={"source": slice(0, 1)},
        parts={"charge": slice(0, 1), "current": slice(1, 2), "voltage": slice(2, 3)},
    )
    x = circuit.sample
    np.testing.assert_array_equal(with_algebraic(circuit, x, np.abs(x)), np.abs(x))


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_positions_of_round_off_are_not_resolved(method):
    """A centre at 1e-17 m is at the origin: nothing of that size is asked of a method that controls its errors."""
    pair = pinned_pair()
    positions, velocities = pair.nearest(pair.sample, 2 * [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    positions[:3] = 1e-17, -2e-17, 1e-17
    made = integrate(
        pair.phdae(), pair.state(positions, velocities), [0.0, 0.05, 0.1], method=by_name(method), progress=False
    )
    moved = Rotation.from_quat(positions[3:7]).apply([0.1, 0.0, 0.0]) - [0.0, 0.0, 0.5 * 9.81 * 0.01]
    np.testing.assert_allclose(made.final[:3], moved, atol=1e-5)  # rtol is 1e-6, of many steps


def pinned_pair():
    """Two bodies that share a point, under gravity."""
    o, turned = rigid.quaternion(), Rotation.from_euler("xy", [0.3, 0.5])
    body = rigid.free_body(
        1.0,
        inertia=(0.1, 0.1, 0.2),
        orientation=o,
        gravity=(0.0, 0.0, -9.81),
        ports={"a": (0.0, 0.0, 0.5), "b": (0.0, 0.0, -0.5)},
    )
    sample = np.concatenate([o.pose([0.0, 0.0, 0.0], turned), o.pose(turned.apply(LEVER), turned)])
    return rigid.interconnect({"p": body, "q": body}, [("p.b", "q.a")], sample=sample)


# --- columns of constraints -------------------------------------------------------------------------------------------


def test_a_tilted_coin_is_not_near_a_singular_position():
    """Of its rows, one column is zero at the sample, but for round-off; a little later it is not."""
    angles, radius, o = (0.3, 1.2), 0.02, rigid.rotation_matrix()
    turned = Rotation.from_euler("ZX", angles)
    system = rigid.free_body(
        0.1,
        inertia=(1e-5, 1e-5, 2e-5),
        gravity=(0.0, 0.0, -9.81),
        constraints={"roll": rigid.Rolling(radius, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))},
        sample=o.pose([0.0, 0.0, radius * np.sin(angles[1])], turned),
    )
    for heading, tilt, roll in (
        (5.246648753924985, 0.8808013132288701, 4.712722501054755),  # where round-off happens to add up
        (5.330827348307587, 0.6912765257832075, 4.713147024327641),
        (1.8880654904767968, 0.7856823128872219, 4.7123537462953),
    ):
        other = Rotation.from_euler("ZXZ", [heading, tilt, roll])
        assert system.once(independence).caution(o.pose([0.0, 0.0, 0.0], other)) is None


@pytest.mark.parametrize("noise", [0.0, 1e-17, 6e-17])
def test_redundant_planes_are_refused_whatever_their_round_off(noise):
    """The plane y = 0 twice; the normal of one is turned by round-off."""
    planes = {"a": rigid.OnPlane((0.0, 0.0, 0.0), (noise, 1.0, 0.0)), "b": rigid.OnPlane((0.0, 0.0, 0.0), (0, -2.0, 0))}
    for orientation in (rigid.quaternion(), rigid.rotation_matrix()):
        upright = orientation.pose([0.0, 0.0, 0.0], Rotation.identity())
        system = rigid.free_body(
            1.0, inertia=(1.0, 1.0, 1.0), orientation=orientation, constraints=planes, sample=upright
        )
        with pytest.raises(ValueError, match=r"1 of 2 constraints follow from others .* 'a', 'b'"):
            system.phdae()
