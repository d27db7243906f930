"""Runs of single bodies by every orientation: manifold, energy, order, and what happens near gimbal lock.

Five seconds, as steps of these systems are taken in Python, by every orientation.
"""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import ValidityWarning, integrate
from flexph.laws import viscous
from flexph.methods import Gauss, by_name

WITHOUT_LIMITS = pytest.mark.parametrize("turn", [rigid.rotation_matrix(), rigid.quaternion()], ids=lambda o: o.name)
TUMBLE = Rotation.from_euler("xyz", (0.5, 0.3, 0.2))


def run(system, start, times, **options):
    x = system.state(*start)
    return integrate(system.phdae(x), x, times, progress=False, **options).states


def energies(system, states):
    n = system.positions
    return np.array([system.energy(x[:n], x[n : n + system.velocities]) for x in states])


# --- without limits


@WITHOUT_LIMITS
def test_a_heavy_top_keeps_its_rotation_and_energy(turn):
    """The step in the middle keeps R a rotation and the energy; its error is of second order."""
    top = rigid.pivoted_body(
        (0.7, 0.8, 0.6), mass=1.0, centre=(0.0, 0.0, 0.4), orientation=turn, gravity=(0.0, 0.0, -9.81)
    )
    start = turn.coordinates(TUMBLE), np.array([0.3, -0.4, 9.0])
    exact = turn.rotation(run(top, start, np.linspace(0.0, 0.5, 51), method=Gauss(6))[-1, : turn.size])
    errors = []
    for steps in (25, 50):
        states = run(top, start, np.linspace(0.0, 0.5, steps + 1))
        assert max(turn.defect(x[: turn.size]) for x in states) < 1e-14
        E = energies(top, states)
        assert np.abs(E - E[0]).max() < 1e-14 * 0.5 * 0.8 * 81.0 * steps
        errors.append(np.abs(turn.rotation(states[-1, : turn.size]) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 5e-3


@pytest.mark.parametrize(
    "turn",
    [rigid.rotation_matrix(), pytest.param(rigid.quaternion(), marks=pytest.mark.slow)],
    ids=lambda o: o.name,
)
def test_free_body_under_its_weight(turn):
    """The centre of mass falls on its parabola, to second order in body axes; energy and rotations to round-off."""
    g = np.array([0.0, 0.0, -9.81])
    body = rigid.free_body(2.0, inertia=(0.3, 0.5, 0.4), centre=(0.1, -0.2, 0.3), orientation=turn, gravity=g)
    omega, v = np.array([1.0, 2.0, -1.5]), np.array([0.5, 0.3, 4.0])
    start = turn.pose((0.0, 0.0, 0.0), TUMBLE), np.concatenate([v, omega])
    c = np.array([0.1, -0.2, 0.3])
    flown = TUMBLE.apply(c) + TUMBLE.apply(v + np.cross(omega, c)) + 0.5 * g
    errors = []
    for steps in (100, 200):
        states = run(body, start, np.linspace(0.0, 1.0, steps + 1))
        r, R = turn.placement(states[:, : body.positions])
        assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 2e-14
        E = energies(body, states)
        assert np.abs(E - E[0]).max() < 1e-15 * 40.0 * steps
        errors.append(np.abs(r[-1] + R[-1] @ c - flown).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3


def test_momenta_are_kept_at_any_step():
    """M is constant, so that p̄ = Mϖ̄: with the rotation matrix Δ(Rp) = 0, and Δ(RL) = 0 about a pivot, at any step."""
    turn, times = rigid.rotation_matrix(), np.linspace(0.0, 10.0, 51)
    body = rigid.free_body(2.0, inertia=(0.3, 0.5, 0.4), centre=(0.1, -0.2, 0.3), orientation=turn)
    start = turn.pose((1.0, 2.0, 3.0), TUMBLE), np.array([0.5, 0.3, 1.0, 1.0, 2.0, -1.5])
    states = run(body, start, times)
    P = np.einsum("nij,nj->ni", turn.rotation(states[:, 3:12]), states[:, 12:] @ body.mass[:, :3])
    np.testing.assert_allclose(P, P[[0] * 51], rtol=0.0, atol=1e-15 * 4 * 50)
    states = run(rigid.pivoted_body((0.3, 0.5, 0.4)), (turn.coordinates(TUMBLE), start[1][3:]), times)
    L = np.einsum("nij,nj->ni", turn.rotation(states[:, :9]), states[:, 9:] * [0.3, 0.5, 0.4])
    np.testing.assert_allclose(L, L[[0] * 51], rtol=0.0, atol=1e-15 * 2 * 50)


# --- gimbal lock


def spinning():
    """A gyroscope whose β goes through a right angle, 1.6° from it, and back."""
    return Rotation.from_euler("xyz", (0.02, 1.2, 0.0)), np.array([0.03, 2.0, 0.02])


@pytest.mark.parametrize("method", ["gauss4", "radau"])
def test_angles_warn_near_gimbal_lock(method):
    turn, (rotation, omega) = rigid.angles(), spinning()
    system = rigid.pivoted_body((0.5, 0.6, 0.4), orientation=turn)
    with pytest.warns(ValidityWarning, match=r"near gimbal lock, .cos β. = .* quaternion...*rotation_matrix.. have"):
        run(system, (turn.coordinates(rotation), omega), np.linspace(0.0, 0.4, 21), method=by_name(method))


@pytest.mark.covering
@WITHOUT_LIMITS
@pytest.mark.parametrize("method", ["gauss4", "radau", None])
def test_other_coordinates_keep_the_angular_momentum(turn, method):
    rotation, omega = spinning()
    system, times = rigid.pivoted_body((0.5, 0.6, 0.4), orientation=turn), np.linspace(0.0, 0.4, 41)
    value = None if method is None else by_name(method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        states = run(system, (turn.coordinates(rotation), omega), times, method=value)
    R = Rotation.from_matrix(turn.rotation(states[:, : turn.size]))
    assert (R.as_matrix()[:, 2, 0] < -0.999).any()  # −sin β: it came by
    world = R.apply(np.array([0.5, 0.6, 0.4]) * states[:, turn.size :])
    # the angular momentum stays: exactly to fourth order and the tolerances of radau, to second in the middle
    np.testing.assert_allclose(world, world[[0] * len(times)], atol=2e-4 if method is None else 2e-6)


def test_dampers_of_builders_dissipate():
    """ΔE is minus the work of the damper, at every step."""
    turn = rigid.quaternion()
    system = rigid.pivoted_body(
        (0.5, 0.6, 0.4), orientation=turn, dampers={"air": (rigid.Torque(axes="body"), viscous(0.2))}
    )
    x = system.state(turn.coordinates(TUMBLE), np.array([1.0, 2.0, 3.0]))
    trajectory = integrate(system.phdae(x), x, np.linspace(0.0, 1.0, 51), progress=False)
    omega = 0.5 * (trajectory.states[1:, 4:] + trajectory.states[:-1, 4:])
    change = np.diff(energies(system, trajectory.states))
    np.testing.assert_allclose(change, -0.02 * 0.2 * np.einsum("ni,ni->n", omega, omega), rtol=1e-11)
    assert (change < 0.0).all()


# --- constraints


def test_disc_rolls_in_a_circle():
    """A disc that rolls upright on a circle of a radius ρ_c, held up by its spin: the steady motion of a thin disc.

    Tilted by θ it rolls steadily at the rate Ω about the vertical; all that is asked here: height and slip stay zero.
    """
    turn, radius = rigid.rotation_matrix(), 0.5
    wheel = rigid.Rolling(radius, at=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0), axis=(0.0, 1.0, 0.0))
    system = rigid.free_body(
        2.0,
        inertia=(0.125, 0.25, 0.125),
        orientation=turn,
        gravity=(0.0, 0.0, -9.81),
        constraints={"wheel": wheel},
        ports={"hub": (0.0, 0.0, 0.0)},
    )
    tilted = turn.pose((0.0, 0.0, radius * np.cos(0.2)), Rotation.from_euler("x", 0.2))
    start = system.nearest(tilted, (2.0, 0.0, 0.0, 0.0, 4.0, 0.5))
    times = np.linspace(0.0, 1.0, 51)
    states = run(system, start, times)
    assert max(np.abs(system.c(x[:12])[0]) for x in states) < 1e-14 * len(times)
    middle = 0.5 * (states[1:] + states[:-1])
    assert max(np.abs(system.A(x[:12]) @ x[12:18]).max() for x in middle) < 1e-12
    E = energies(system, states)
    assert np.abs(E - E[0]).max() < 1e-12 * E[0]
    path = states[:, :2]
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() > 1.5


def test_a_coin_rolls_the_same_in_millimetres():
    """Discrete Jacobians do not mix lengths with turns: each position scales with the unit, to round-off."""
    turn, radius = rigid.quaternion(), 0.02
    tilted, ends = Rotation.from_euler("ZXZ", [0.3, 1.2, 0.1]), []
    for unit in (1.0, 1e3):
        r = radius * unit
        pose = turn.pose((0.0, 0.0, r * np.sin(1.2)), tilted)
        coin = rigid.free_body(
            0.1,
            inertia=0.1 * r**2 * np.array([0.25, 0.25, 0.5]),
            orientation=turn,
            gravity=(0.0, 0.0, -9.81 * unit),
            constraints={"roll": rigid.Rolling(r, (0, 0, 0), normal=(0, 0, 1), axis=(0, 0, 1))},
            sample=pose,
        )
        states = run(coin, coin.nearest(pose, [0.0, 0.0, 0.0, 3.0, 1.0, 40.0]), np.linspace(0.0, 0.03, 16))
        ends.append(states[-1][:7] / np.append(np.full(3, unit), np.ones(4)))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)  # the scheme's own error is some 1e-5 m


def test_a_disc_may_roll_about_a_pivot():
    """Its height is then a function of the orientation alone."""
    turn = rigid.rotation_matrix()
    wheel = rigid.Rolling(0.5, (0.2, 0.0, 0.0), normal=(0, 0, 1), axis=(1, 0, 0), through=(0, 0, -0.5))
    zeta = turn.coordinates(Rotation.from_euler("xyz", (0.4, 0.5, 0.6)))
    top = rigid.pivoted_body(
        (1.0, 1.2, 1.1), orientation=turn, pivot=(0, 0, 0.1), constraints={"w": wheel}, sample=zeta
    )
    R = turn.rotation(zeta)
    expected = 0.1 + 0.2 * R[2, 0] + 0.5 - 0.5 * np.sqrt(1.0 - R[2, 0] ** 2)
    np.testing.assert_allclose(top.c(zeta), [expected], rtol=1e-14)


@pytest.mark.parametrize(
    ("turn", "wrong", "message"),
    [
        (rigid.quaternion(), np.zeros(4), r"unit quaternion \(x, y, z, w\), .q.² = 1"),
        (rigid.quaternion(), np.array([0.0, 0.0, 0.0, 2.0]), r"unit quaternion \(x, y, z, w\), .q.² = 1"),
        (rigid.rotation_matrix(), -np.eye(3).ravel(), "rotation matrix, det R = 1"),
        (rigid.rotation_matrix(), np.ones(9), "rotation matrix, RᵀR = 1"),
    ],
)
def test_starts_that_are_no_rotation(turn, wrong, message):
    system = rigid.pivoted_body((0.5, 0.6, 0.4), orientation=turn)
    with pytest.raises(ValueError, match=f"inconsistent start: positions do not satisfy .*{message}"):
        system.state(wrong, np.zeros(3))
