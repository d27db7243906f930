"""The Cartesian spring-damper: springs and dampers along directions that are fixed in the world."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from spatial_bodies import block, cloud

import rigid
from flexph import GROUND, connect, eigenfrequencies, integrate, spherical
from flexph.joints import cartesian_spring_damper
from flexph.laws import coulomb
from flexph.linear import damping_ratios

AXES = Rotation.from_rotvec((0.3, -0.8, 0.5))
K, C = (30.0, 70.0, 0.0), (0.4, 0.0, 0.9)


def chain(**given):
    """Three bodies, two of them flexible: springs and dampers in the world between two of them, across a joint."""
    joints = [
        spherical("b.p", "a.q"),
        cartesian_spring_damper("a.p", "b.s", **given),
        cartesian_spring_damper("c.p", "b.q", stiffness=5.0, damping=(0.0, 0.3, 0.1), axes=AXES),
    ]
    return connect({"a": block(seed=1), "b": cloud(2, damping=0.3), "c": cloud(4)}, joints)


def start_of(mechanism, seed=0):
    rng = np.random.default_rng(seed)
    guess = {"a": AXES, "b": Rotation.from_rotvec(rng.standard_normal(3)), "c": ((0.4, 0.3, 0.9), AXES)}
    pose = mechanism.assemble(guess=guess)
    velocities = {name: (rng.standard_normal(3), rng.standard_normal(3)) for name in ("a", "c")}
    return mechanism.consistent_state(pose, velocities=velocities)


@pytest.mark.parametrize("damping", [C, (coulomb(0.3, speed=0.1), 0.2, 0.0)], ids=["numbers", "relation"])
def test_energy_is_balanced_at_large_steps(damping):
    """To round-off; what is dissipated is in the ledger by direction."""
    mechanism = chain(stiffness=K, damping=damping, offset=(0.1, -0.2, 0.3))
    run = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.8, 17))
    assert run.ledger.largest_residual < 5e-13  # round-off
    lost = {name: values.sum() for name, values in run.ledger.dissipation.items()}
    assert min(values.min() for values in run.ledger.dissipation.values()) >= 0.0
    assert lost["cartesian spring-damper a.p–b.s: x"] > 0.0 and "cartesian spring-damper c.p–b.q: x" not in lost


def test_force_law_at_a_random_state():
    """f = −Σ (k d + c ḋ) e on the one point, −f on the other, at the middle of a step; and the stored energy."""
    masses = {"a": rigid.point(0.7, dim=3), "b": rigid.point(1.3, dim=3)}
    free, e = np.array([0.1, -0.2, 0.3]), AXES.as_matrix()
    joint = cartesian_spring_damper("a.point", "b.point", stiffness=K, damping=C, offset=free, axes=AXES)
    mechanism = connect(masses, [joint])
    p, v = np.random.default_rng(5).standard_normal((2, 2, 3))
    pose = mechanism.assemble({"a": p[0], "b": p[1]})
    start = mechanism.consistent_state(pose, velocities={"a": (v[0], (0, 0, 0)), "b": (v[1], (0, 0, 0))})
    h = 1e-4
    run = integrate(mechanism, start, [0.0, h], progress=False)
    gap = np.diff([run.position(f"{name}.point") for name in ("b", "a")], axis=0)[0]  # p₁ − p₂ at both instants
    force = -e @ (np.array(K) * (e.T @ gap.mean(axis=0) - free) + np.array(C) * (e.T @ np.diff(gap, axis=0)[0]) / h)
    for name, sign, mass in (("a", 1.0, 0.7), ("b", -1.0, 1.3)):
        change = mass * np.diff(run[f"{name}.velocity"], axis=0)[0]
        np.testing.assert_allclose(change, sign * h * force, rtol=1e-9)  # the step in exact arithmetic, at round-off
    stored = sum(values[0] for name, values in run.ledger.energy.items() if name.startswith("stored"))
    assert stored == pytest.approx(0.5 * np.sum(np.array(K) * (e.T @ (p[0] - p[1]) - free) ** 2), rel=1e-12)


def test_damper_between_moving_bodies_in_world_axes():
    """Along x the relative velocity falls by (1 − hc/2μ)/(1 + hc/2μ) a step, across it does not change; P is kept."""
    m1, m2, c, h = 0.7, 1.3, 2.0, 0.1
    masses = {"a": rigid.point(m1, dim=3), "b": rigid.point(m2, dim=3)}
    mechanism = connect(masses, [cartesian_spring_damper("a.point", "b.point", damping=(c, 0.0, 0.0))])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (0.3, 1.0, -0.5)})
    velocities = {"a": ((1.0, 2.0, -1.0), (0, 0, 0)), "b": ((-0.5, 0.3, 0.2), (0, 0, 0))}
    run = integrate(
        mechanism, mechanism.consistent_state(pose, velocities=velocities), h * np.arange(11), progress=False
    )
    relative = run["a.velocity"] - run["b.velocity"]
    reduced = m1 * m2 / (m1 + m2)
    factor = (1.0 - 0.5 * h * c / reduced) / (1.0 + 0.5 * h * c / reduced)
    np.testing.assert_allclose(relative[:, 0], relative[0, 0] * factor ** np.arange(11), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(relative[:, 1:], relative[[0] * 11, 1:], rtol=1e-12)
    np.testing.assert_allclose(m1 * run["a.velocity"] + m2 * run["b.velocity"], [[0.05, 1.79, -0.44]] * 11, atol=1e-13)


def test_angular_momentum_is_kept_by_equal_stiffness():
    """Equal k and offset zero make a central force; fixed directions of unequal k, and dampers, are none."""
    drift = []
    for k, c in ((40.0, 0.0), ((40.0, 50.0, 40.0), 0.0), (40.0, 0.5)):
        mechanism = chain(stiffness=k, damping=c, offset=(0.0, 0.0, 0.0))
        one = connect({n: mechanism.bodies[n] for n in "ab"}, mechanism.connections[:2])
        pose = one.assemble(guess={"a": AXES, "b": Rotation.from_rotvec((0.4, 0.1, -0.7))})
        start = one.consistent_state(pose, velocities={"a": ((0.3, -0.2, 0.5), (1.0, 2.0, -1.0))})
        run = integrate(one, start, np.linspace(0.0, 1.0, 21), progress=False)
        L = run.angular_momentum()
        drift.append(np.abs(L - L[0]).max() / np.abs(L).max())
        assert run.ledger.largest_residual < 5e-13  # round-off, in both
    assert drift[0] < 1e-12 < 1e-3 < min(drift[1:])


@pytest.mark.parametrize("dim", [2, 3])
def test_frequencies_on_the_ground(dim):
    """A point mass: ω_i = √(k_i/m) along each direction, whatever their rotation, and ζ_i = c_i/2√(k_i m)."""
    m, k, c = 0.5, np.array([20.0, 45.0, 80.0])[:dim], np.array([0.1, 0.4, 0.2])[:dim]
    axes = 0.7 if dim == 2 else AXES
    ground = GROUND.at(*np.zeros(dim))
    found = {}
    for name, damping in (("free", 0.0), ("damped", c)):
        joint = cartesian_spring_damper("a.point", ground, stiffness=k, damping=damping, axes=axes)
        mechanism = connect({"a": rigid.point(m, dim=dim)}, [joint])
        placed = (0.0, 0.0, 0.0)
        found[name] = mechanism.linearize(mechanism.assemble({"a": placed}))
    np.testing.assert_allclose(eigenfrequencies(found["free"], dim), np.sqrt(k / m), rtol=1e-12)
    ratios = damping_ratios(found["damped"])[1]
    np.testing.assert_allclose(np.sort(ratios), np.sort(c / (2.0 * np.sqrt(k * m))), rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a cartesian spring-damper needs a positive stiffness or damping"),
        ({"stiffness": (1.0, 2.0)}, r"stiffness must have shape \(3,\), got \(2"),
        ({"stiffness": (1.0, -2.0, 0.0)}, "stiffness must not be negative"),
        ({"damping": lambda s: s}, "damping must be a number, a Relation or a list of"),
        ({"stiffness": 1.0, "offset": (1.0, 2.0)}, r"offset must have shape \(3,\)"),
        ({"stiffness": 1.0, "axes": np.diag([1.0, 2.0, 1.0])}, "axes must be orthogonal"),
        ({"stiffness": 1.0, "offset": (0.0, 0.0, 0.0), "second": GROUND}, "an offset from the ground needs"),
        ({"stiffness": 1.0, "first": GROUND}, "first must be a text, got Ground"),
    ],
)
def test_bad_input_is_refused(given, message):
    ports = {"first": "a.point", "second": GROUND.at(0.0, 0.0, 0.0), **given}
    with pytest.raises(ValueError, match=message):
        connect(
            {"a": rigid.point(1.0, dim=3)}, [cartesian_spring_damper(ports.pop("first"), ports.pop("second"), **ports)]
        )
