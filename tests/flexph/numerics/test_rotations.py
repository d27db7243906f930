"""The algebra of rotations: identities that hold for every spin, vector and rotation, in the plane and in space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flexph.numerics import rotations as space

ROUND_OFF = 1e-14  # sums of at most nine products of numbers of size one, relative to the numbers that enter
both_dimensions = pytest.mark.parametrize("dim", [2, 3])


def random_spins(dim, count=50, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).standard_normal((count, space.spins(dim)))


def drawn_spins(dim):
    """Of any size, zeros and equal ones among them."""
    return arrays(float, (10, space.spins(dim)), elements=st.floats(-1e6, 1e6))


def random_vectors(dim, count=50, seed=1):
    return np.random.default_rng(seed).standard_normal((count, dim))


def apply(matrices, vectors):
    return np.einsum("nij,nj->ni", matrices, vectors)


@both_dimensions
def test_skew_is_skew(dim):
    a = space.skew(random_spins(dim), dim)
    np.testing.assert_array_equal(a, -np.swapaxes(a, 1, 2))


def test_skew_is_the_cross_product_of_space():
    omega, x = random_spins(3), random_vectors(3)
    np.testing.assert_allclose(apply(space.skew(omega, 3), x), np.cross(omega, x), atol=ROUND_OFF)


def test_the_plane_lies_in_space():
    """A planar spin is one about the normal, a planar moment the component along it."""
    omega, x, f = random_spins(2), random_vectors(2), random_vectors(2, seed=2)
    flat = lambda v: np.column_stack([v, np.zeros(len(v))])  # noqa: E731
    normal = np.column_stack([np.zeros((len(omega), 2)), omega])
    turned = np.cross(normal, flat(x))
    np.testing.assert_allclose(flat(apply(space.skew(omega, 2), x)), turned, atol=ROUND_OFF)
    np.testing.assert_allclose(space.moment(x, f)[:, 0], np.cross(flat(x), flat(f))[:, 2], atol=ROUND_OFF)


@both_dimensions
def test_a_force_has_the_same_power_on_a_lever_and_as_a_moment(dim):
    """f · (ω × ℓ) = ω · (ℓ × f)."""
    omega, lever, force = random_spins(dim), random_vectors(dim), random_vectors(dim, seed=2)
    through_point = np.einsum("ni,ni->n", force, apply(space.skew(omega, dim), lever))
    through_spin = np.einsum("ns,ns->n", omega, space.moment(lever, force))
    np.testing.assert_allclose(through_point, through_spin, atol=10 * ROUND_OFF)


@both_dimensions
def test_a_moment_turns_with_its_vectors(dim):
    """(R ℓ) × (R f) = R (ℓ × f), in the plane ℓ × f itself; ℓ × f = −f × ℓ."""
    R = space.cayley(random_spins(dim), dim)
    lever, force = random_vectors(dim), random_vectors(dim, seed=2)
    moment = space.moment(lever, force)
    expected = moment if dim == 2 else apply(R, moment)
    np.testing.assert_allclose(space.moment(apply(R, lever), apply(R, force)), expected, atol=10 * ROUND_OFF)
    np.testing.assert_array_equal(moment, -space.moment(force, lever))


def test_cross_products_satisfy_jacobis_identity():
    """[a]×[b]× − [b]×[a]× = [a × b]× ([flex] eq. (52))."""
    a, b = random_spins(3), random_spins(3, seed=3)
    A, B = space.skew(a, 3), space.skew(b, 3)
    np.testing.assert_allclose(A @ B - B @ A, space.skew(np.cross(a, b), 3), atol=10 * ROUND_OFF)


@both_dimensions
@given(data=st.data())
def test_cayley_is_a_rotation_whatever_the_spin(dim, data):
    R = space.cayley(data.draw(drawn_spins(dim)), dim)
    identity = np.broadcast_to(np.eye(dim), R.shape)
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), identity, atol=ROUND_OFF)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=ROUND_OFF)


@both_dimensions
def test_cayley_meets_its_definition(dim):
    """(I − [a]×) R = I + [a]×, hence R(−a) = R(a)ᵀ."""
    half = random_spins(dim)
    a, R = space.skew(half, dim), space.cayley(half, dim)
    np.testing.assert_allclose((np.eye(dim) - a) @ R, np.eye(dim) + a, atol=10 * ROUND_OFF)
    np.testing.assert_array_equal(space.cayley(-half, dim), np.swapaxes(R, 1, 2))


def test_cayley_turns_by_twice_the_arc_tangent_in_the_plane():
    half = random_spins(2, scale=3.0)
    np.testing.assert_allclose(space.planar_angle(space.cayley(half, 2)), 2.0 * np.arctan(half[:, 0]), rtol=ROUND_OFF)


def test_cayley_turns_about_its_spin_in_space():
    """R a = a and trace R = 1 + 2 cos(2 atan |a|)."""
    half = random_spins(3)
    R = space.cayley(half, 3)
    np.testing.assert_allclose(apply(R, half), half, atol=10 * ROUND_OFF)
    angle = 2.0 * np.arctan(np.linalg.norm(half, axis=1))
    np.testing.assert_allclose(np.trace(R, axis1=1, axis2=2), 1.0 + 2.0 * np.cos(angle), atol=10 * ROUND_OFF)


@both_dimensions
def test_the_increment_of_a_step_is_exact(dim):
    """R₁ − R₀ = ½(R₀ + R₁)[2a]× for R₁ = R₀ cayley(a): the update of the time scheme at any step size."""
    half = random_spins(dim)
    before = space.cayley(random_spins(dim, seed=4), dim)
    after = before @ space.cayley(half, dim)
    mean = 0.5 * (before + after)
    np.testing.assert_allclose(after - before, mean @ space.skew(2.0 * half, dim), atol=10 * ROUND_OFF)


@both_dimensions
@given(data=st.data())
def test_kept_entries_give_the_rotation_back(dim, data):
    R = space.cayley(data.draw(drawn_spins(dim)), dim)
    kept = space.entries(R)
    assert kept.shape == (len(R), space.entry_count(dim))
    np.testing.assert_allclose(space.from_entries(kept, dim), R, atol=ROUND_OFF)


def test_planar_angle_is_that_of_the_rotation():
    angles = np.linspace(-3.1, 3.1, 30)
    turned = np.array([space.rotation(angle) for angle in angles])
    np.testing.assert_allclose(space.planar_angle(turned), angles, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_other_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"dim must be 2 \(plane\) or 3 \(space\), got 4"):
        space.cross(4)


@both_dimensions
def test_the_basis_cannot_be_changed(dim):
    with pytest.raises(ValueError, match="read-only"):
        space.cross(dim)[0, 0, 0] = 1.0
