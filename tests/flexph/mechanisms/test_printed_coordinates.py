"""Poses of fixed bodies whose coordinates were printed: nine digits close, what is open by more is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from spatial_bodies import random_rotation

import rigid
from flexph import GROUND, connect, integrate, weld
from flexph.numerics.rotations import rotation_matrix

pytestmark = pytest.mark.processor

LEVER, HEEL = np.array([1.234567890123, 0.7, -0.3]), np.array([0.1, 0.2, 0.3])


def printed(values, digits):
    return np.array([float(f"{v:.{digits}g}") for v in np.ravel(values)]).reshape(np.shape(values))


def welded(unit):
    """Two bodies welded at ports away from their origins, lengths in ``unit``."""
    moments = np.diag([0.02, 0.03, 0.04]) * unit**2
    one = rigid.body(1.0, inertia=moments, ports={"q": unit * LEVER, "p": (0.0, 0.0, 0.0)})
    return connect({"a": one, "b": rigid.body(1.0, inertia=moments, ports={"p": unit * HEEL})}, [weld("b.p", "a.q")])


def places(unit, seed, digits):
    rng = np.random.default_rng(seed)
    R, p = random_rotation(rng), rng.standard_normal(3)
    other = p + R @ LEVER - R @ HEEL
    return {name: (printed(unit * at, digits), printed(R, digits)) for name, at in (("a", p), ("b", other))}


@pytest.mark.parametrize("unit", [1.0, 1e3], ids=["m", "mm"])
@pytest.mark.parametrize("seed", range(4))
def test_fixed_bodies_with_nine_digits_close(seed, unit):
    """They move by what was not printed, and the joint is closed to round-off: no gap enters the energy of a run."""
    mechanism, fixed = welded(unit), places(unit, seed, 9)
    pose = mechanism.assemble(fixed)
    gap = np.diff([pose.centres[i] + pose.rotations[i] @ (unit * x) for i, x in ((0, LEVER), (1, HEEL))], axis=0)
    assert np.abs(gap).max() < 1e-14 * unit  # round-off
    for i, name in enumerate("ab"):
        assert np.abs(pose.centres[i] - fixed[name][0]).max() < 2e-8 * unit
        assert np.abs(pose.rotations[i] - fixed[name][1]).max() < 2e-8
    start = mechanism.consistent_state(pose, velocities={"a": (0.3, 0.1, -0.2)})
    assert integrate(mechanism, start, [0.0, 0.1, 0.2], progress=False).ledger.largest_residual < 1e-13  # round-off


def test_less_digits_are_refused():
    exact = {name: (printed(at, 7), R) for name, (at, R) in places(1.0, 0, 17).items()}
    with pytest.raises(ValueError, match=r"the loop cannot close.*pose: weld b\.p–a\.q.*open.*e-0[78] m"):
        welded(1.0).assemble(exact)


def test_exact_places_are_kept():
    mechanism = connect({"a": rigid.cylinder(0.5, 0.02, density=2700.0)}, [weld("a.root", GROUND.at(0.25, 0.5, 1.0))])
    pose = mechanism.assemble({"a": ((0.25, 0.5, 1.0), np.eye(3))})
    np.testing.assert_array_equal(pose.rotations[0], np.eye(3))


def test_printed_rotations_are_brought_to_the_nearest_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        R = random_rotation(rng)
        np.testing.assert_array_equal(
            rotation_matrix("R", Rotation.from_matrix(R)), Rotation.from_matrix(R).as_matrix()
        )
        found = rotation_matrix("R", printed(R, 9))
        np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(found, R, atol=1e-9)  # digits printed
