"""Point masses, rods, springs and dashpots ([rigid] sec. 3)."""

import numpy as np
import pytest
from four_particles import START, four_particles
from scipy.integrate import solve_ivp

from flexph import integrate
from flexph.laws import quadratic, resistive, viscous
from flexph.methods import DiscreteGradient
from rigid import Dashpot, Rod, Spring, point_masses

HARD = {"energy": lambda at: 25.0 * (at - 1.0) ** 2 + 100.0 * (at - 1.0) ** 4}
HARD["force"] = lambda at: 50.0 * (at - 1.0) + 400.0 * (at - 1.0) ** 3
G = (0.0, 0.0, -9.81)


def run(system, velocities, times, **options):
    return integrate(system.phdae(), system.state(system.sample, velocities), times, progress=False, **options)


def double_pendulum(**options):
    """Spatial: a rod, then a spring with a dashpot."""
    made = {
        "gravity": G,
        "rods": [Rod((0.0, 0.0, 0.0), "a", 1.0)],
        "springs": [Spring("a", "b", **HARD)],
        "dashpots": [Dashpot("a", "b", viscous(0.3))],
    }
    return point_masses({"a": 1.0, "b": 2.0}, [[1.0, 0.0, 0.0], [1.0, 1.0, 0.2]], **(made | options))


def test_the_equations_are_those_of_newton():
    """[rigid] eq. (6), by hand: gravity, the rod's force along it, spring and dashpot along their line."""
    system = double_pendulum(springs=[Spring("a", "b", **HARD)])
    made = system.phdae()
    x = np.random.default_rng(0).standard_normal(13)
    a, b, va, vb, lam = x[:3], x[3:6], x[6:9], x[9:12], x[12]
    d = b - a
    line = d / np.linalg.norm(d)
    pull = HARD["force"](np.linalg.norm(d)) + 0.3 * line @ (vb - va)
    push = np.arange(6.0)
    right = (made.J(x) - made.R(x)) @ made.z(x) + made.B(x) @ push
    np.testing.assert_allclose(right[:6], x[6:12])
    np.testing.assert_allclose(right[6:9], np.array(G) + pull * line - lam * a + push[:3], atol=1e-12)
    np.testing.assert_allclose(right[9:12], 2.0 * np.array(G) - pull * line + push[3:], atol=1e-12)
    assert right[12] == pytest.approx(a @ va)
    assert made.H(x) == pytest.approx(
        0.5 * va @ va + vb @ vb + 9.81 * (a[2] + 2.0 * b[2]) + HARD["energy"](np.linalg.norm(d))
    )


def test_a_spatial_double_pendulum_keeps_its_balance_and_its_rod():
    """1 s with a nonlinear spring and a dashpot; the angular momentum about the vertical is kept."""
    system = double_pendulum()
    made = run(system, [0.0, 1.0, 0.0, 0.0, 0.5, 0.0], np.linspace(0.0, 1.0, 51))
    assert made.method == "pair"
    assert made.energy_drift() < 1e-12
    assert made.ledger.total_dissipation.min() >= 0.0
    assert np.abs(np.linalg.norm(made["a"], axis=1) - 1.0).max() < 1e-12
    r, v = made["positions"].reshape(-1, 2, 3), made["velocities"].reshape(-1, 2, 3)
    vertical = np.einsum("p,tp->t", [1.0, 2.0], np.cross(r, v)[:, :, 2])
    assert np.abs(vertical - vertical[0]).max() < 1e-11
    assert made["multipliers of rod fixed-a"].shape == (51, 1)


def test_momenta_of_free_points_are_kept_to_round_off():
    system = point_masses(
        {"a": 1.0, "b": 2.0, "c": 0.5},
        [[1.0, 0.0], [1.0, 1.0], [2.0, 2.0]],
        springs=[Spring("a", "b", **HARD), Spring.linear("b", "c", stiffness=80.0, length=1.0)],
        rods=[Rod("a", "c", np.sqrt(5.0))],
        dashpots=[Dashpot("a", "b", quadratic(0.5))],
    )
    made = run(system, [0.0, 0.0, 0.5, -0.5, 0.0, 0.0], np.linspace(0.0, 2.0, 41))
    mass, r, v = np.array([1.0, 2.0, 0.5]), made["positions"].reshape(-1, 3, 2), made["velocities"].reshape(-1, 3, 2)
    linear = np.einsum("p,tpi->ti", mass, v)
    angular = np.einsum("p,tp->t", mass, r[..., 0] * v[..., 1] - r[..., 1] * v[..., 0])
    assert np.abs(linear - linear[0]).max() < 1e-13
    assert np.abs(angular - angular[0]).max() < 1e-12
    assert made.ledger.largest_residual < 1e-14
    assert made.energy_drift() < 1e-12


def test_order_two_against_another_library():
    """Free points on a spring, against scipy's DOP853 on Newton's equations."""
    system = point_masses(
        {"a": 1.0, "b": 2.0},
        [[0.0, 0.0], [1.3, 0.0]],
        springs=[Spring("a", "b", **HARD)],
        dashpots=[Dashpot("a", "b", resistive(lambda s: 0.2 * s**3))],
    )
    start, mass = np.array([0.0, 0.0, 0.0, 0.4]), np.array([1.0, 1.0, 2.0, 2.0])

    def rate(_, y):
        d, w = y[2:4] - y[:2], y[6:] - y[4:6]
        line = d / np.linalg.norm(d)
        pull = (HARD["force"](np.linalg.norm(d)) + 0.2 * (line @ w) ** 3) * line
        return np.concatenate([y[4:], np.concatenate([pull, -pull]) / mass])

    exact = solve_ivp(rate, (0.0, 1.0), np.append(system.sample, start), method="DOP853", rtol=1e-12, atol=1e-13)
    counts, errors = (100, 200), []
    for count in counts:
        made = run(system, start, np.linspace(0.0, 1.0, count + 1))
        errors.append(np.abs(made.states[-1] - exact.y[:, -1]).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0], abs=0.1)
    assert errors[-1] < 2e-3


def test_four_particles_of_a_case_are_the_same_system():
    """[dg] sec. 6.3 without its dashpot: the same forces at random states, the same motion of both routes."""
    quartic = {  # ½ k (ℓ² − 1)²
        k: {
            "energy": lambda at, k=k: 0.5 * k * (at**2 - 1.0) ** 2,
            "force": lambda at, k=k: 2.0 * k * at * (at**2 - 1.0),
        }
        for k in (50.0, 500.0)
    }
    system = point_masses(
        dict(zip("abcd", (1.0, 3.0, 2.3, 1.7), strict=True)),
        START[:12].reshape(4, 3),
        rods=[Rod("a", "b", 1.0), Rod("c", "d", 1.0)],
        springs=[Spring("a", "c", **quartic[50.0]), Spring("b", "d", **quartic[500.0])],
    )
    other, made = four_particles(0.0), system.phdae()
    x = START + 0.1 * np.random.default_rng(0).standard_normal(26)
    np.testing.assert_allclose(made.J(x) @ made.z(x), other.J(x) @ other.z(x), atol=1e-12)
    times = np.linspace(0.0, 0.5, 51)
    mine = run(system, START[12:24], times)
    its = integrate(other, START, times, method=DiscreteGradient("invariants"), progress=False)
    assert np.abs(mine["positions"] - its["q"]).max() < 2e-4  # their secants of the springs differ: of second order


def test_a_massless_knot_between_springs_is_carried_by_a_rod():
    """A rod to a massless point at rest on a spring: the spring's force is that of the rod."""
    system = point_masses(
        {"knot": 0.0, "b": 1.0},
        [[1.0, 0.0], [2.0, 0.0]],
        rods=[Rod((0.0, 0.0), "knot", 1.0)],
        springs=[Spring.linear("knot", "b", stiffness=50.0, length=0.9)],
    )
    x = system.state(system.sample, np.zeros(4))
    assert system.split(x).lam[0] == pytest.approx(5.0, rel=1e-12)
    made = integrate(system.phdae(), x, np.linspace(0.0, 1.0, 101), progress=False)
    assert made.energy_drift() < 1e-13
    t = made.times
    np.testing.assert_allclose(made["b"][:, 0], 1.9 + 0.1 * np.cos(np.sqrt(50.0) * t), atol=5e-4)


def test_a_force_does_work_along_the_way():
    system = double_pendulum(dashpots=[])
    made = run(system, np.zeros(6), np.linspace(0.0, 1.0, 21), inputs={"b": [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(made.ledger.work["b"], np.diff(made["b"] @ [1.0, 2.0, 3.0]), atol=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rods": [Rod("a", "c", 1.0)]}, r"no point 'c': there are 'a', 'b'"),
        (
            {"rods": [Rod("a", "a", 1.0)]},
            r"rod a-a must have different ends, at least one of them a particle, got 'a' and 'a'",
        ),
        ({"rods": [Rod("a", "b", 0.0)]}, r"length of rod a-b must be positive, got 0"),
        ({"rods": [Rod((0.0, 0.0), "a", 1.0)]}, r"a fixed end must have shape \(3,\), got \(2,\)"),
        (
            {"springs": [Spring((1.0, 0.0, 0.0), "a", **HARD)]},
            r"spring fixed-a must have a positive length in the given positions",
        ),
        (
            {"springs": [Spring("a", "b", HARD["energy"], lambda at: 2.0)]},
            r"the gradient of the potential\[1\] is .* differences give",
        ),
        ({"rods": [("a", "b", 1.0)]}, r"rods\[0\] must be a Rod, got tuple"),
        ({"springs": HARD}, "springs must be a list of Springs, got"),
        ({"gravity": (0.0, -9.81)}, r"gravity must have shape \(3,\), got \(2,\)"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        double_pendulum(**change)


@pytest.mark.parametrize(
    ("masses", "positions", "message"),
    [
        ({"a": -1.0}, [[0.0, 0.0]], r"mass of 'a' must not be negative, got -1\.0 kg"),
        ([1.0], [[0.0, 0.0]], r"masses must be a dict of names with numbers, got \[1\.0\]"),
        ({"a": 1.0}, [[0.0, 0.0], [1.0, 1.0]], r"positions must have shape \(1, 2\), got \(2, 2\)"),
        ({"a": 1.0}, [0.0, 0.0], r"positions must have shape \(1, any\), got \(2,\)"),
        ({"a": 1.0}, [[0.0]], r"dim must be 2 \(plane\) or 3 \(space\), got 1"),
    ],
)
def test_bad_points_are_refused(masses, positions, message):
    with pytest.raises(ValueError, match=message):
        point_masses(masses, positions)


def test_a_spring_without_length_is_named():
    """A force without a direction; a spring that is slack at no length has none there, and its limit is known."""
    places = np.array([[0.0, 0.0], [1.0, 0.0]])
    stiff = point_masses({"a": 1.0, "b": 1.0}, places, springs=[Spring.linear("a", "b", stiffness=5.0, length=0.3)])
    with pytest.raises(ValueError, match=r"spring a-b has (zero|no) length"):
        stiff.state(np.zeros(4), np.zeros(4))
    loose = point_masses({"a": 1.0, "b": 1.0}, places, springs=[Spring.linear("a", "b", stiffness=5.0, length=0.0)])
    start = loose.state(np.zeros(4), [0.0, 0.0, 2.0, 0.0])
    made = integrate(loose.phdae(start), start, np.linspace(0.0, 0.1, 11), progress=False)
    assert made.ledger.largest_residual < 1e-13
    damped = point_masses({"a": 1.0, "b": 1.0}, places, dashpots=[Dashpot("a", "b", viscous(1.0))])
    with pytest.raises(ValueError, match="dashpot a-b has no length"):
        damped.state(np.zeros(4), [0.0, 0.0, 1.0, 0.0])
