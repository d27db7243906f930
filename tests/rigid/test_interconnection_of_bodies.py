"""Single bodies, in orientations of several kinds, coupled in space and in the plane."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, integrate

ORIENTATIONS = {"matrix": rigid.rotation_matrix, "quaternion": rigid.quaternion}
LENGTH, GRAVITY = 0.6, (0.0, 0.0, -9.81)


def rod(kind):
    """A rod along x' with ports at its ends, in space."""
    ports = {"root": (0.0, 0.0, 0.0), "tip": (LENGTH, 0.0, 0.0)}
    inertia, centre = (1e-3, 0.03, 0.03), (0.5 * LENGTH, 0.0, 0.0)
    return rigid.free_body(
        1.0, inertia=inertia, centre=centre, orientation=ORIENTATIONS[kind](), gravity=GRAVITY, ports=ports
    )


def double_pendulum(first, second):
    """Two rods on spherical joints, spinning: the system and its start."""
    system = rigid.interconnect(
        {"a": rod(first), "b": rod(second)}, [("a.root", GROUND.at(0.0, 0.0, 0.0)), ("a.tip", "b.root")]
    )
    turn = [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]]  # hangs: x' points along (0.8, 0, −0.6)
    places = np.zeros(3), LENGTH * np.array([0.8, 0.0, -0.6])
    zeta = np.concatenate([ORIENTATIONS[k]().pose(p, turn) for k, p in zip((first, second), places, strict=True)])
    omega = np.array([0.0, 0.0, 0.0, 3.0, -1.0, 2.0, 0.0, 0.0, 0.0, -2.0, 1.0, 4.0])
    return system, system.state(*system.nearest(zeta, omega))


@pytest.mark.parametrize(("first", "second"), [("matrix", "matrix"), ("quaternion", "matrix")])
def test_spherical_joints_in_space(first, second):
    """Places and orientations stay to round-off, the balance closes."""
    system, x = double_pendulum(first, second)
    run = integrate(system.phdae(x), x, np.linspace(0.0, 0.6, 41), progress=False)
    zeta = system.split(run.states).positions
    assert np.ptp(zeta[:, system.parts["b.position"]], axis=0).min() > 0.1
    for constraint in system.velocity_constraints:
        assert max(np.abs(constraint.position.value(z)).max() for z in zeta) < 1e-13
    assert {c.name.partition(".")[0] for c in system.coordinates} == {"a", "b"}
    for condition in system.coordinates:
        assert max(np.abs(condition.map.value(z)).max() for z in zeta) < 1e-13
    assert run.ledger.largest_residual < 1e-13


def test_orientations_of_parts_agree():
    """Rotation matrices and quaternions: both of second order, to the same motion."""
    gaps = []
    for steps in (10, 20):
        ends = []
        for first in ORIENTATIONS:
            system, x = double_pendulum(first, "matrix")
            run = integrate(system.phdae(x), x, np.linspace(0.0, 0.2, steps + 1), progress=False)
            ends.append(run.states[-1][system.parts["b.position"]])
        gaps.append(np.abs(ends[0] - ends[1]).max())
    assert gaps[1] < max(0.3 * gaps[0], 1e-11)  # a quarter, or the same to round-off
    assert gaps[1] < 1e-3


def test_own_means_of_the_kinematics_go_along():
    """Z̄ of a part is a block of that of the whole, next to the middle of a part without one; and Z̄ S when resolved."""
    free = rod("matrix")
    given = lambda z0, z1: 2.0 * free.Z(0.5 * (z0 + z1)) - 0.5 * (free.Z(z0) + free.Z(z1))  # noqa: E731
    own = rigid.MultibodySystem(
        mass=free.mass, sample=free.sample, kinematics=free.kinematics, kinematics_mean=given, parts=free.parts
    )
    whole = rigid.interconnect({"own": own, "plain": free})
    z0, z1 = whole.sample, whole.sample + 0.1 * np.arange(24.0)
    found = whole.Z_mean(z0, z1)
    np.testing.assert_array_equal(found[:12, :6], given(z0[:12], z1[:12]))
    np.testing.assert_array_equal(found[12:, 6:], free.Z(0.5 * (z0 + z1)[12:]))
    assert rigid.interconnect({"plain": free}).kinematics_mean is None
    S = np.diag([1.0, 2.0, 3.0, 1.0, 1.0, 0.5])
    np.testing.assert_allclose(rigid.resolve(own, S).Z_mean(z0[:12], z1[:12]), given(z0[:12], z1[:12]) @ S)


@pytest.mark.slow
def test_a_slider_crank_of_bodies():
    """[rigid] sec. 7.3 by the builders: a pivoted crank and a free rod on a line, coupled at C (remark 4)."""
    crank = rigid.pivoted_body(0.4, ports={"M": rigid.Torque(), "C": (0.7, 0.0)})
    rod = rigid.free_body(
        1.3,
        inertia=2.2,
        centre=(1.1, 0.0),
        about=(0.0, 0.0),
        ports={"C": (1.9, 0.0)},
        constraints={"slot": rigid.OnLine((0.0, 0.0), along=(1.0, 0.0))},
    )
    system = rigid.interconnect({"crank": crank, "rod": rod}, [("crank.C", "rod.C")])
    zeta, omega = system.nearest([0.9, 2.2, 0.0, 2.8], [2.0, 0.0, 0.0, 0.0])
    x = system.state(zeta, omega)
    run = integrate(system.phdae(x), x, np.linspace(0.0, 2.0, 201), inputs={"crank.M": 1.0}, progress=False)
    path = system.split(run.states).positions
    place = system.velocity_constraints[-1].position
    assert max(np.abs(place.value(z)).max() for z in path) < 1e-13
    assert np.abs(path[:, 2]).max() < 1e-14
    assert run.ledger.largest_residual < 1e-13
