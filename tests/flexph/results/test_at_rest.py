"""Systems at rest: their energies are round-off, and so are the errors that a run of them reports."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, PHDAE, connect, hinge, integrate, spherical, spring_damper, weld
from flexph.methods import by_name
from flexph.results.ledger import relative_error

pytestmark = pytest.mark.processor

STEPS = 50
# A few round-offs of the largest term that the energies are sums of.
CLOSED = 1e-14
TILTED = Rotation.from_rotvec([0.3, 0.4, -0.2]).as_matrix()
DOWN = Rotation.from_rotvec([0.0, 0.5 * math.pi, 0.0]).as_matrix()


def chain(dim, bodies, *, gravity):
    """Bodies that hang below each other, or that lie along a skew line where nothing pulls at them."""
    joint, anchor = (hinge, (0.3, 0.1)) if dim == 2 else (spherical, (0.3, 0.1, -0.2))
    names = [f"b{k}" for k in range(len(bodies))]
    ports = [GROUND.at(*anchor), *(f"{name}.tip" for name in names)]
    joints = [joint(f"{name}.root", port) for name, port in zip(names, ports, strict=False)]
    down, skew = (-0.5 * math.pi, 0.4) if dim == 2 else (DOWN, TILTED)
    mechanism = connect(dict(zip(names, bodies, strict=True)), joints, gravity=gravity)
    return mechanism, mechanism.assemble(dict.fromkeys(names, skew if gravity is None else down))


def beam(dim, size=1.0, **options):
    steel = fem.Material(young=2e11, density=7800.0, poisson=0.3)
    section = fem.Section(width=0.02 * size, height=0.01 * size)
    return fem.beam(0.5 * size, steel, section, elements=2, dim=dim, **options)


def gravity(dim):
    return (0.0, -9.81, 0.0)[:2] if dim == 2 else (0.0, 0.0, -9.81)


def assert_at_rest(run, *, per_step=1.5):
    """Nothing moves, the balance is closed, and a step takes one correction."""
    ledger = run.ledger
    assert ledger.largest_residual < CLOSED
    assert run.energy_drift() < CLOSED
    assert ledger.relative_residual == pytest.approx(np.zeros(len(run.times) - 1), abs=CLOSED)
    # The first steps may take more: no multipliers are known there.
    assert ledger.iterations.sum() <= per_step * (len(run.times) - 1) + 10


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_rigid_pendulum_at_rest(dim, pull):
    """Three bodies without gravity: all energy was round-off, 1e-33 J, and the reported error 100 %."""
    body = rigid.bar(0.5, 1.3) if dim == 2 else rigid.cylinder(0.5, 0.02, density=1000.0)
    mechanism, pose = chain(dim, [body] * 3, gravity=gravity(dim) if pull else None)
    start = mechanism.consistent_state(pose)
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1))
    assert_at_rest(run)
    assert np.abs(run.states - run.states[0]).max() < 1e-10  # 50 steps with velocities of up to 1e-14 m over 10 ms


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_an_elastic_arch_at_rest(size, pull):
    """Held at both ends: round-off of positions stretches it, and its elastic energy is that."""
    body = beam(2, size, strain="von_karman")
    pins = [hinge("b.root", GROUND.at(0.1 * size, 0.0)), hinge("b.tip", GROUND.at(0.6 * size, 0.0))]
    mechanism = connect({"b": body}, pins, gravity=gravity(2) if pull else None)
    pose = mechanism.assemble({"b": 0.0})
    start = mechanism.equilibrium(pose) if pull else mechanism.consistent_state(pose)
    assert_at_rest(integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1)))


@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_an_elastic_cantilever_in_space_at_rest(size):
    mechanism = connect({"b": beam(3, size)}, [weld("b.root", GROUND)], gravity=gravity(3))
    start = mechanism.equilibrium(mechanism.assemble({"b": np.eye(3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1))
    assert_at_rest(run, per_step=2.5)


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_a_relaxed_spring_at_rest(size):
    bodies = {"a": rigid.bar(size, size**3), "b": rigid.bar(1.1 * size, size**3)}
    spring = spring_damper("b.tip", GROUND.at(2.5 * size, 0.3 * size), stiffness=10.0 * size, damping=0.1 * size)
    mechanism = connect(bodies, [hinge("a.root", GROUND), hinge("a.tip", "b.root"), spring])
    start = mechanism.equilibrium(mechanism.assemble({"a": 0.3, "b": -0.2}))
    assert_at_rest(integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1)))


def test_a_wrong_balance_is_still_seen():
    """Energies of 1e-20 J are not round-off of a rigid bar: an error of theirs is one."""
    mechanism = connect({"b": rigid.bar(0.5, 1.3)}, [hinge("b.root", GROUND)])
    start = mechanism.consistent_state(mechanism.assemble({"b": 0.4}), velocities={"b": 1e-9})
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1))
    assert run.ledger.scale < 1e-18
    wrong = replace(run.ledger, residual=np.full(STEPS, run.ledger.scale))
    assert wrong.largest_residual == pytest.approx(1.0, abs=1e-3)


def test_where_the_height_is_counted_from_does_not_matter():
    """A pendulum let go at height zero: H passes zero, and is zero but for the scale of what it is a sum of."""
    runs = []
    for height in (0.0, 2.0):
        mechanism = connect({"b": rigid.bar(0.5, 1.3)}, [hinge("b.root", GROUND.at(0.0, height))], gravity=gravity(2))
        start = mechanism.consistent_state(mechanism.assemble({"b": 0.0}))
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.5, STEPS + 1)))
    for run in runs:
        assert run.ledger.largest_residual < CLOSED
    assert runs[0].ledger.scale >= 0.5 * 1.3 * 9.81 * 0.5  # m g over half the length
    assert runs[1].ledger.scale / runs[0].ledger.scale < 10.0


def test_relative_errors_of_nothing_are_zero():
    assert relative_error(np.zeros(2), 0.0).tolist() == [0.0, 0.0]
    assert relative_error(np.array([1.0, -3.0]), 2.0, 1.0).tolist() == [0.0, 1.0]
    assert relative_error(np.array([1.0]), 0.0).tolist() == [math.inf]


# --- general systems --------------------------------------------------------------------------------------------------


def hanging(size, *, damped):
    """A pendulum by the angle q from the horizontal, H = p²/(2 m l²) + m g l (1 + sin q), which is zero at rest."""
    mass, length = size**3, size
    inertia, weight = mass * length**2, mass * 9.81 * length
    return PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, inertia if damped else 0.0]),
        z=lambda x: np.array([weight * math.cos(x[0]), x[1] / inertia]),
        H=lambda x: 0.5 * x[1] ** 2 / inertia + weight * (1.0 + math.sin(x[0])),
        sample=np.array([0.3, 0.2 * inertia]),
        parts={"angle": slice(0, 1), "momentum": slice(1, 2)},
    )


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e-6], ids=["m", "µm"])
@pytest.mark.parametrize("method", ["gonzalez", "midpoint", "mean_value", "radau"])
def test_a_general_system_in_equilibrium(method, size, damped):
    """∇H is round-off at the start, which was refused as no gradient of H; and H = 0 is no scale for its errors."""
    system = hanging(size, damped=damped)
    run = integrate(system, [-0.5 * math.pi, 0.0], np.linspace(0.0, 1.0, STEPS + 1), method=by_name(method))
    assert run.ledger.largest_residual < CLOSED
    assert run.energy_drift() < CLOSED
    assert run.ledger.scale == pytest.approx(0.5 * (0.5 * math.pi) ** 2 * size**4 * 9.81, rel=1e-4)  # ½ q² ∂²H/∂q²


def test_no_gradient_is_refused_in_equilibrium_too():
    system = hanging(1.0, damped=False)
    with pytest.raises(ValueError, match="must be a gradient pair of H"):
        replace(system, z=lambda x: np.array([1.0, x[1]]), sample=np.array([-0.5 * math.pi, 0.0]))


def test_a_general_system_that_rests_at_zero():
    system = replace(hanging(1.0, damped=False), H=lambda x: 0.5 * x @ x, z=lambda x: x)
    run = integrate(system, np.zeros(2), np.linspace(0.0, 1.0, STEPS + 1))
    assert run.ledger.largest_residual == 0.0
    assert run.ledger.scale == 0.0
