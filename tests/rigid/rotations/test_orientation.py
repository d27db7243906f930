"""Orientations: what they keep is that of scipy's rotations, and their rates are those of Ṙ = R[ω]×."""

import re
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph.numerics.rotations import skew

SPATIAL = [
    rigid.rotation_matrix(),
    rigid.quaternion(),
    *(rigid.angles(s) for s in ("xyz", "ZYX", "zyx", "XZY", "ZXZ", "zxz", "yxy")),
]
PLANAR = [rigid.angle(), rigid.planar_matrix()]
EVERY = pytest.mark.parametrize("kept", SPATIAL + PLANAR, ids=lambda o: o.name)
IN_SPACE = pytest.mark.parametrize("kept", SPATIAL, ids=lambda o: o.name)
POLYNOMIAL = pytest.mark.parametrize("kept", [o for o in SPATIAL + PLANAR if o.polynomial], ids=lambda o: o.name)
CLOSE = 1e-14  # a few products of numbers of at most 1; near a gimbal lock more, which the seeds keep away from


def some(kept, count=7):
    """Random rotations as this orientation takes them."""
    return Rotation.random(count, random_state=3) if kept.dim == 3 else np.random.default_rng(3).uniform(-3, 3, count)


def matrices(rotation):
    if isinstance(rotation, Rotation):
        return rotation.as_matrix()
    c, s = np.cos(rotation), np.sin(rotation)
    return np.moveaxis(np.array([[c, -s], [s, c]]), -1, 0)


@EVERY
def test_coordinates_of_a_rotation_lead_back_to_it(kept):
    """R(ζ(R)) = R, of one and of many; ζ has no defect."""
    rotation = some(kept)
    zeta = kept.coordinates(rotation)
    assert zeta.shape == (7, kept.size)
    np.testing.assert_allclose(kept.rotation(zeta), matrices(rotation), atol=CLOSE)
    for one, z in zip(matrices(rotation), zeta, strict=True):
        np.testing.assert_allclose(kept.coordinates(one), z, atol=1e-14)
        np.testing.assert_allclose(kept.rotation(z), one, atol=CLOSE)
        assert kept.defect(z) < 1e-14
        assert kept.caution(z) is None
        np.testing.assert_array_equal(kept.check("zeta", z), z)


@pytest.mark.parametrize("last", SPATIAL, ids=lambda o: o.name)
@IN_SPACE
def test_conversions_of_coordinates_are_inverse(kept, last):
    """From each to each other and back is the identity, up to the sign of quaternions."""
    zeta = kept.coordinates(some(kept))
    back = kept.coordinates(last.rotation(last.coordinates(kept.rotation(zeta))))
    np.testing.assert_allclose(kept.rotation(back), kept.rotation(zeta), atol=2e-14)
    if kept.size != 4:
        np.testing.assert_allclose(back, zeta, atol=1e-13)


def test_conventions_are_those_of_scipy():
    """Quaternions have the scalar last; letters and order of angles are those of from_euler."""
    rotation = Rotation.from_euler("xyz", [0.3, -0.5, 1.1])
    np.testing.assert_allclose(rigid.quaternion().coordinates(rotation), rotation.as_quat(), atol=CLOSE)
    np.testing.assert_allclose(rigid.quaternion().rotation([0.0, 0.0, 0.0, 1.0]), np.eye(3))
    np.testing.assert_allclose(rigid.angles().coordinates(rotation), [0.3, -0.5, 1.1], atol=CLOSE)
    np.testing.assert_allclose(rigid.angles("ZYX").coordinates(rotation), [1.1, -0.5, 0.3], atol=CLOSE)
    for sequence in ("xyz", "ZYX", "zyx", "ZXZ", "yzy"):
        expected = Rotation.from_euler(sequence, [0.3, -0.5, 1.1]).as_matrix()
        np.testing.assert_allclose(rigid.angles(sequence).rotation([0.3, -0.5, 1.1]), expected, atol=CLOSE)
    R = rotation.as_matrix()
    np.testing.assert_array_equal(rigid.rotation_matrix().coordinates(R), np.concatenate([R[:, 0], R[:, 1], R[:, 2]]))
    np.testing.assert_allclose(rigid.planar_matrix().coordinates(0.3), [np.cos(0.3), np.sin(0.3)])
    np.testing.assert_array_equal(rigid.angle().coordinates(7.0), [7.0])  # turns are counted


@EVERY
def test_rates_against_differences_of_conversions(kept):
    """ζ̇ = Z ω along R exp([ω]×t), where scipy turns and converts."""
    h = 1e-5
    for k, rotation in enumerate(some(kept)):
        omega = np.random.default_rng(k).standard_normal(kept.spins)
        by = lambda t: Rotation.from_rotvec(t * omega) if kept.dim == 3 else t * omega[0]  # noqa: B023,E731
        turned = lambda t: kept.coordinates(rotation * by(t) if kept.dim == 3 else rotation + by(t))  # noqa: B023,E731
        difference = (turned(h) - turned(-h)) / (2.0 * h)
        zeta = turned(0.0)
        if kept.size == 4:  # scipy may change the sign of a quaternion on the way
            ahead, behind = (s * np.sign(s @ zeta) for s in (turned(h), turned(-h)))
            difference = (ahead - behind) / (2.0 * h)
        # h²/6 ω³ζ''' and round-off 1e-16/h, the angles' rates 1/|cos β| ≤ 5 times those of the body
        np.testing.assert_allclose(kept.Z(zeta) @ omega, difference, atol=3e-8)


@EVERY
def test_slopes_are_derivatives_of_the_rotation(kept):
    """∂R/∂ζ against differences; along Z ω it is R[ω]×."""
    rng = np.random.default_rng(5)
    zeta, X, h = kept.coordinates(some(kept)[2]), rng.standard_normal(kept.dim), 1e-6
    difference = np.stack(
        [(kept.rotation(zeta + e) - kept.rotation(zeta - e)) / (2 * h) for e in h * np.eye(kept.size)]
    )
    np.testing.assert_allclose(kept.slopes(zeta), difference, atol=1e-9)
    np.testing.assert_allclose(kept.jacobian(zeta, X), (difference @ X).T, atol=1e-9)
    omega = rng.standard_normal(kept.spins)
    expected = kept.rotation(zeta) @ skew(omega, kept.dim)
    np.testing.assert_allclose(np.tensordot(kept.Z(zeta) @ omega, kept.slopes(zeta), 1), expected, atol=CLOSE)


@POLYNOMIAL
def test_steps_in_the_middle_stay_on_the_manifold(kept):
    """Z is linear and tangent to the sphere through ζ: ζ₁ = ζ₀ + h Z(½(ζ₀ + ζ₁)) ω keeps R a rotation at any h."""
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((2, kept.size))
    np.testing.assert_allclose(kept.Z(2.0 * a - 3.0 * b), 2.0 * kept.Z(a) - 3.0 * kept.Z(b), atol=CLOSE)
    np.testing.assert_allclose(a @ kept.Z(a), 0.0, atol=CLOSE)
    # off the manifold too, so that B = p'Z of a force at a point holds in the middle of a step
    omega = rng.standard_normal(kept.spins)
    R = kept.rotation(a) @ skew(omega, kept.dim)
    np.testing.assert_allclose(np.tensordot(kept.Z(a) @ omega, kept.slopes(a), 1), R, atol=CLOSE * 10)
    zeta = kept.coordinates(some(kept)[0])
    for _ in range(50):
        rates = np.einsum("iaj,a->ij", np.stack([kept.Z(e) for e in np.eye(kept.size)], axis=-1), 0.8 * omega)
        zeta = np.linalg.solve(np.eye(kept.size) - 0.5 * rates, (np.eye(kept.size) + 0.5 * rates) @ zeta)
    assert kept.defect(zeta) < 50 * 1e-15
    R = kept.rotation(zeta)
    np.testing.assert_allclose(R.T @ R, np.eye(kept.dim), atol=50 * 1e-15)


@pytest.mark.parametrize("kept", [rigid.rotation_matrix(), rigid.quaternion()], ids=lambda o: o.name)
def test_equal_spins_turn_by_equal_rotations(kept):
    """Frame: two orientations of one kind whose world spins in the middle of a step are equal keep R₁ᵀR₂ exactly."""
    first, by = Rotation.random(2, random_state=9)
    zeta = [kept.coordinates(first), kept.coordinates(first * by)]
    relative = kept.rotation(zeta[0]).T @ kept.rotation(zeta[1])
    # world spins Ω = R(ζ̄)ω; ω and ζ₁ by iteration (contracting at |hΩ| = 1), Ω the same for both
    after, spin = [z.copy() for z in zeta], np.array([0.6, -0.5, 0.7])
    for i in range(2):
        for _ in range(200):
            middle = 0.5 * (zeta[i] + after[i])
            after[i] = zeta[i] + kept.Z(middle) @ np.linalg.solve(kept.rotation(middle), spin)
    np.testing.assert_allclose(kept.rotation(after[0]).T @ kept.rotation(after[1]), relative, atol=1e-14)


@POLYNOMIAL
def test_conditions_are_kept_by_the_kinematics(kept):
    """g(ζ) = 0 of a rotation, g' against differences, g'Z = 0 on the manifold: no multipliers are needed."""
    zeta, off = kept.coordinates(some(kept)[1]), np.random.default_rng(7).standard_normal(kept.size)
    assert {c.name.split(",")[0] for c in kept.conditions} <= {"rotation matrix", "unit quaternion (x", "(cos φ"}
    for condition in kept.conditions:
        g = condition.map
        np.testing.assert_allclose(g.value(zeta), 0.0, atol=CLOSE)
        np.testing.assert_allclose(g.jacobian(zeta) @ kept.Z(zeta), 0.0, atol=CLOSE)
        difference = np.stack([(g.value(off + e) - g.value(off - e)) / 2e-6 for e in 1e-6 * np.eye(kept.size)], axis=-1)
        np.testing.assert_allclose(g.jacobian(off), difference, atol=1e-8)


def test_poses_hold_position_and_rotation():
    turn, rotation = rigid.quaternion(), Rotation.from_euler("xyz", (0.3, -0.5, 1.1))
    zeta = turn.pose((1.0, 2.0, 3.0), rotation)
    np.testing.assert_allclose(zeta, [1.0, 2.0, 3.0, *rotation.as_quat()], atol=CLOSE)
    np.testing.assert_array_equal(turn.pose((1.0, 2.0, 3.0), zeta[3:]), zeta)
    np.testing.assert_allclose(turn.pose((1.0, 2.0, 3.0), rotation.as_matrix()), zeta, atol=CLOSE)
    r, R = turn.placement(np.stack([zeta, zeta]))
    np.testing.assert_array_equal(r, [[1.0, 2.0, 3.0]] * 2)
    np.testing.assert_allclose(R[1], rotation.as_matrix(), atol=CLOSE)
    np.testing.assert_array_equal(rigid.angle().pose((1.0, 2.0), 4.0), [1.0, 2.0, 4.0])
    r, R = rigid.planar_matrix().placement(rigid.planar_matrix().pose((1.0, 2.0), 4.0))
    np.testing.assert_allclose(R, matrices(np.array([4.0]))[0])
    with pytest.raises(ValueError, match=r"zeta must have shape \(\.\.\., 7\), got \(9,\)"):
        turn.placement(np.zeros(9))


def test_gimbal_lock_is_named():
    kept = rigid.angles()
    assert kept.caution(np.array([0.0, 1.4, 0.0])) is None
    said = kept.caution(np.array([0.3, np.radians(88.0), 0.0]))
    assert "|cos β| = 0.035 at β = 88°" in said
    assert "quaternion() and rotation_matrix() have no such limit" in said
    with pytest.raises(ValueError, match=re.escape("angles('xyz') has no rates at gimbal lock, |cos β| = 6.1e-17")):
        kept.Z(np.array([0.3, 0.5 * np.pi, 0.0]))
    euler = rigid.angles("ZXZ")
    assert "|sin β| = 0" in euler.caution(np.zeros(3))
    with pytest.raises(ValueError, match="use quaternion"):
        euler.Z(np.zeros(3))
    assert euler.caution(euler.sample) is None
    with warnings.catch_warnings():  # scipy's own is not passed on
        warnings.simplefilter("error")
        locked = kept.coordinates(Rotation.from_euler("xyz", [0.3, 0.5 * np.pi, 0.1]))
    assert kept.caution(locked) is not None


def test_drift_is_named():
    """A method that leaves the manifold is told so."""
    assert "its norm is 1.01" in rigid.quaternion().caution(np.array([0.0, 0.0, 0.0, 1.01]))
    assert "|RᵀR − 1| = 2e-02" in rigid.rotation_matrix().caution(1.01 * np.eye(3).ravel())
    assert "|c² + s² − 1| = 2e-02" in rigid.planar_matrix().caution(np.array([1.01, 0.0]))
    assert rigid.angle().caution(np.array([1e3])) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: rigid.quaternion().check("start", np.zeros(4)),
            "start must be a unit quaternion .x, y, z, w.: its norm",
        ),
        (lambda: rigid.quaternion().pose(np.zeros(3), np.zeros(4)), "its norm is 0, allowed"),
        (lambda: rigid.quaternion().pose(np.zeros(3), (0.0, 0.0, 0.0, 2.0)), "its norm is 2"),
        (lambda: rigid.rotation_matrix().check("zeta", np.ones(9)), r"columns of a rotation matrix: \|RᵀR − 1\| = 3e"),
        (lambda: rigid.rotation_matrix().check("zeta", -np.eye(3).ravel()), "its determinant is -1, a reflection"),
        (lambda: rigid.planar_matrix().check("zeta", (1.0, 1.0)), "cos φ, sin φ"),
        (lambda: rigid.angles().coordinates(np.diag([1.0, 1.0, -1.0])), "determinant is −1, a reflection"),
        (lambda: rigid.angles().coordinates(2.0 * np.eye(3)), "rotation must be orthogonal"),
        (lambda: rigid.angles().coordinates([1.0, 2.0]), "rotation must be a scipy Rotation or matrices"),
        (lambda: rigid.angles().coordinates("east"), "rotation must be a scipy Rotation"),
        (lambda: rigid.angles().coordinates(np.full((3, 3), np.nan)), "rotation must be finite"),
        (lambda: rigid.angle().coordinates(np.inf), "rotation must be finite"),
        (lambda: rigid.angle().coordinates(np.eye(3)), "rotation must be angles"),
        (lambda: rigid.angle().coordinates(np.diag([1.0, -1.0])), "a reflection"),
        (lambda: rigid.angles("xxy"), "sequence must be three axes"),
        (lambda: rigid.angles("xYz"), "sequence must be three axes"),
        (lambda: rigid.angles(3), "sequence must be a text, got 3"),
        (lambda: rigid.quaternion().pose((0.0, 0.0), Rotation.identity()), "position must have shape"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
