"""Derivatives of the steps of multibody systems by their ends, of what their terms know."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from cases import rigid_slider_crank, rolling_coin_motions
from flexph import integrate
from flexph.laws.resistive_relations import quadratic, viscous
from flexph.numerics.differences import derivative
from tests.samples.multibody_samples import everything
from tests.samples.multibody_systems import body


def free(orientation):
    """A heavy body with a damper and ports of both kinds, on a plane."""
    planar = orientation.dim == 2
    g, point = (np.array([0.0, -9.81]), (0.1, 0.2)) if planar else (np.array([0.0, 0.0, -9.81]), (0.1, 0.2, -0.3))
    along = (1.0, 0.0) if planar else (1.0, 0.0, 0.0)
    return rigid.free_body(
        2.0,
        inertia=0.3 if planar else (0.2, 0.3, 0.4),
        centre=point,
        orientation=orientation,
        gravity=g,
        ports={"place": point, "thrust": rigid.Force(point, along=along, axes="body"), "turn": rigid.Torque()},
        dampers={"air": (point, quadratic(0.4))},
        constraints={"plane": rigid.OnLine(point, along) if planar else rigid.OnPlane(point, (0.0, 0.0, 1.0))},
    )


def lines():
    """Points with a rod, springs and a dashpot."""
    places = [(0.0, 0.1, 0.0), (1.0, 0.0, 0.2), (1.9, 0.3, 0.1)]
    return rigid.point_masses(
        {"a": 1.0, "b": 2.0, "c": 0.5},
        places,
        gravity=(0.0, 0.0, -9.81),
        rods=[rigid.Rod("a", "b", 1.0)],
        springs=[rigid.Spring.linear("b", "c", stiffness=200.0, length=0.8)],
        dashpots=[rigid.Dashpot("a", "c", viscous(0.7))],
    )


def disc():
    """Rolling, with a wheel of the same kind beside it."""
    inertia = {"inertia": (0.1, 0.1, 0.2), "gravity": (0.0, 0.0, -9.81)}
    rolls = {"ground": rigid.Rolling(0.5, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))}
    one = rigid.free_body(1.0, **inertia, orientation=rigid.quaternion(), constraints=rolls)
    return rigid.interconnect({"one": one, "other": one})


def drawn():
    """Functions of the user's own: a force that no damper is, G of the positions, V of the fourth degree."""
    G = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return rigid.MultibodySystem(
        mass=np.diag([1.0, 2.0]),
        sample=np.array([0.4, 0.3]),
        gyroscopic=lambda zeta, momenta: (zeta[0] ** 2 * momenta[1]) * G,
        potential=rigid.Potential(lambda q: 0.25 * float(q @ q) ** 2, lambda q: (q @ q) * q),
        dissipation=(rigid.Dissipation("wind", lambda zeta, omega: (1.0 + zeta[1] ** 2) * (omega @ omega) * omega),),
    )


def overlapping():
    """A constraint whose terms share a position."""

    def slope(q):
        return np.array([[np.cos(q[0]) * q[1], np.sin(q[0])]])

    one = rigid.PositionMap(lambda q: np.array([np.sin(q[0]) * q[1]]), slope)
    both = rigid.PositionMap.of_terms(3, ((slice(0, 2), one), (slice(1, 3), one)))
    held = rigid.PositionConstraint("both", both)
    return rigid.MultibodySystem(mass=np.eye(3), sample=np.array([0.3, 0.5, -0.3]), constraints=(held,), spread=0.0)


SYSTEMS = {
    **{of.name: lambda of=of: free(of) for of in (rigid.rotation_matrix(), rigid.quaternion(), rigid.angles("ZXZ"))},
    **{of.name: lambda of=of: free(of) for of in (rigid.angle(), rigid.planar_matrix())},
    "mean": body,
    "lines": lines,
    "disc": disc,
    "drawn": drawn,
    "overlapping": overlapping,
    "coin": rolling_coin_motions.constrained,
    "slider-crank": rigid_slider_crank.slider_crank,
    "everything": lambda: everything(3),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_slope_of_a_step_is_that_of_differences(name):
    system = SYSTEMS[name]()
    f, phdae, rng = system.layout, system.phdae(), np.random.default_rng(1)
    x0 = np.concatenate([system.sample, rng.uniform(-1.0, 1.0, f.size - f.positions.stop)])
    x1 = x0 + 0.1 * rng.uniform(-1.0, 1.0, f.size)  # off all that constrains: derivatives hold there too
    u = rng.uniform(-1.0, 1.0, phdae.inputs_size)

    def flow(x):
        matrices = (phdae.means[of](x0, x) for of in "JRBz")
        J, R, B, z = matrices
        return (J - R) @ z + B @ u

    numeric = derivative(flow, x1)
    np.testing.assert_allclose(phdae.mean_slope(x0, x1, u), numeric, rtol=0.0, atol=3e-7 * np.abs(numeric).max())


TURNED = rigid.rotation_matrix().pose((0.0, 0.0, 0.0), Rotation.from_rotvec((0.5, 0.3, 0.1)))


def with_and_without(system, positions, velocities, step):
    """The same run with and without the derivatives that terms know."""
    start, times = system.state(*system.nearest(positions, velocities)), step * np.arange(16)
    phdae = replace(system.phdae(start), terms=None)
    return [integrate(of, start, times, progress=False) for of in (phdae, replace(phdae, mean_slope=None))]


@pytest.mark.parametrize(
    ("system", "positions", "velocities", "step"),
    [
        (free(rigid.rotation_matrix()), TURNED, (1.0, 0.0, 0.0, 1.0, 0.5, 9.0), 0.01),
        (lines(), lines().sample, np.zeros(9), 0.005),
        (rigid_slider_crank.slider_crank(), (1.57, 0.37, 0.0, 2.757), (6.28, 0.0, 0.0, 0.0), 0.01),
    ],
    ids=["body", "lines", "slider-crank"],
)
def test_steps_are_the_same_in_fewer_iterations(system, positions, velocities, step):
    given, plain = with_and_without(system, positions, velocities, step)
    f = system.layout
    size = np.abs(plain.states[:, : f.velocities.stop]).max()
    np.testing.assert_allclose(
        given.states[:, : f.velocities.stop], plain.states[:, : f.velocities.stop], rtol=0.0, atol=1e-10 * size
    )
    assert given.ledger.iterations[4:].mean() < 0.75 * plain.ledger.iterations[4:].mean()
    assert given.energy_drift() < 2e-14
    assert max(np.abs(system.c(zeta)).max(initial=0.0) for zeta in given["positions"]) < 1e-13


def test_given_derivatives_take_the_place_of_differences():
    asked = []
    circle = rigid.Differentiable(lambda q: q[None].copy(), lambda q: asked.append(q) or np.eye(2)[:, None])
    rod = rigid.PositionConstraint("rod", rigid.PositionMap(lambda q: np.array([0.5 * (q @ q - 1.0)]), circle))
    system = rigid.MultibodySystem(mass=np.eye(2), sample=np.array([1.0, 0.0]), constraints=(rod,))
    start = system.state([1.0, 0.0], [0.0, 2.0])
    run = integrate(system.phdae(), start, np.linspace(0.0, 1.0, 21), progress=False)
    assert asked
    assert run.ledger.iterations[3:].max() <= 4
    np.testing.assert_allclose(np.linalg.norm(run["positions"], axis=1), 1.0, rtol=0.0, atol=1e-14)
