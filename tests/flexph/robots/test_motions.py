"""Motions as piecewise polynomials: values at their ends, rates by differences, and their use in drives and runs."""

import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import rigid
from flexph import GROUND, connect, drive, hinge, integrate
from flexph.robots import Motion, polynomial, sequence, spline, trapezoid
from flexph.sensors import joint_angle, joint_rate

RNG = np.random.default_rng(4)


def ends_of(motion, t):
    return [np.asarray(f(t)) for f in (motion, motion.velocity, motion.acceleration)]


@pytest.mark.parametrize("degree", [3, 5])
def test_polynomials_have_the_given_ends(degree):
    x0, x1, v0, v1, a0, a1 = RNG.normal(size=(6, 3))
    given = {"accelerations": (a0, a1)} if degree == 5 else {}
    motion = polynomial(x0, x1, duration=0.7, begin=0.2, rates=(v0, v1), degree=degree, **given)
    for t, wanted in ((motion.begin, (x0, v0, a0)), (motion.end, (x1, v1, a1))):
        for own, value in list(zip(ends_of(motion, t), wanted, strict=True))[: 3 if degree == 5 else 2]:
            np.testing.assert_allclose(own, value, rtol=1e-12, atol=1e-12)
    assert motion(0.0) == pytest.approx(x0) and motion(5.0) == pytest.approx(x1)
    assert not motion.velocity(5.0).any() and not motion.acceleration(0.0).any()


@pytest.mark.parametrize(
    "motion",
    [
        polynomial({"a": 0.1, "b": -1.0}, {"a": 2.0, "b": 0.5}, duration=1.3),
        trapezoid({"a": 0.0, "b": 1.0}, {"a": 2.0, "b": 0.5}, velocity=1.0, acceleration={"a": 3.0, "b": 5.0}),
        spline([0.0, 0.4, 1.0], {"a": [0.0, 1.0, -1.0], "b": [0.0, 0.2, 0.1]}, rates=(0.3, {"a": 1.0})),
    ],
)
def test_rates_are_derivatives(motion):
    h = 1e-5
    for t in np.linspace(motion.begin, motion.end, 8)[1:-1] + 0.01:  # not where pieces meet
        np.testing.assert_allclose(motion.velocity(t), (motion(t + h) - motion(t - h)) / (2 * h), atol=1e-7)
        second = (motion.velocity(t + h) - motion.velocity(t - h)) / (2 * h)
        np.testing.assert_allclose(motion.acceleration(t), second, atol=1e-7)
    grid = np.linspace(-1.0, 3.0, 9)
    np.testing.assert_array_equal(motion(grid), [motion(float(t)) for t in grid])
    np.testing.assert_array_equal(motion["b"](grid), motion(grid)[:, 1])
    again = pickle.loads(pickle.dumps(motion))
    assert again["a"](0.3) == motion["a"](0.3)


def test_a_trapezoid_is_as_fast_as_its_limits():
    """The slowest coordinate is at its limits; T = d/v + v/a, or 2 √(d/a) of a triangle; all arrive together."""
    move = trapezoid((0.0, 0.0), (3.0, -0.5), velocity=(1.5, 1.0), acceleration=(3.0, 9.0))
    assert move.end == pytest.approx(3.0 / 1.5 + 1.5 / 3.0)
    grid = np.linspace(0.0, move.end, 2001)
    assert np.abs(move.velocity(grid)).max(axis=0) == pytest.approx((1.5, 0.25))
    assert np.abs(move.acceleration(grid)).max(axis=0) == pytest.approx((3.0, 0.5))
    short = trapezoid(0.0, 0.5, velocity=1.5, acceleration=3.0)
    assert short.end == pytest.approx(2.0 * np.sqrt(0.5 / 3.0)) and len(short.times) == 3
    assert (short(short.end), short.velocity(short.end)) == pytest.approx((0.5, 0.0))


def test_splines_are_those_of_scipy():
    times, points = np.cumsum(RNG.uniform(0.1, 1.0, 6)), RNG.normal(size=(6, 2))
    for ends in ("clamped", "natural", "not-a-knot"):
        own, theirs = spline(times, points, ends=ends), CubicSpline(times, points, bc_type=ends)
        grid = np.linspace(times[0], times[-1], 33)
        np.testing.assert_allclose(own(grid), theirs(grid), atol=1e-13)
        np.testing.assert_allclose(own.acceleration(grid[:-1]), theirs(grid[:-1], 2), atol=1e-11)


def test_a_sequence_stands_still_between_its_motions():
    one = polynomial((0.0, 1.0), (1.0, 0.0), duration=1.0)
    two = trapezoid((1.0, 0.0), (2.0, 2.0), velocity=1.0, acceleration=1.0, begin=1.5)
    way = sequence(one, two)
    for t in (0.0, 0.3, 1.0, 1.2, 1.6, 3.0, 9.0):
        np.testing.assert_allclose(way(t), one(t) if t < 1.5 else two(t), atol=1e-15)
    assert way.end == two.end and not way.velocity(1.2).any()
    for wrong, words in ((two.later(-1.0), "must begin after the end"), (one.later(2.0), "must begin where")):
        with pytest.raises(ValueError, match=words):
            sequence(one, wrong)


def test_a_motion_drives_a_joint():
    arm = connect(
        {"arm": rigid.bar(1.0, 2.0)},
        [
            hinge("arm.root", GROUND),
            drive("arm.root", angle=polynomial({"arm": 0.0}, {"arm": 1.2}, duration=0.5)["arm"]),
        ],
    )
    run = integrate(arm, arm.consistent_state(arm.assemble()), np.linspace(0.0, 0.6, 61))
    assert run.measured(joint_angle("arm.root"))[-1] == pytest.approx(1.2, abs=1e-12)
    assert run.measured(joint_rate("arm.root"))[-1] == pytest.approx(0.0, abs=1e-9)
    assert run.ledger.largest_residual < 1e-12


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: polynomial(0.0, 1.0, duration=0.0), "duration must be positive"),
        (lambda: polynomial({"a": 0.0}, {"b": 1.0}, duration=1.0), "name the same coordinates"),
        (lambda: polynomial(0.0, 1.0, duration=1.0, degree=3, accelerations=(0.0, 0.0)), "degree=5"),
        (lambda: trapezoid(0.0, 1.0, velocity=-1.0, acceleration=1.0), "velocity must be positive"),
        (lambda: trapezoid(1.0, 1.0, velocity=1.0, acceleration=1.0), "must differ"),
        (lambda: spline([0.0, 0.0], [1.0, 2.0]), "ascend"),
        (lambda: spline([0.0, 1.0], [1.0, 2.0], ends="natural", rates=(0.0, 0.0)), "clamped"),
        (lambda: Motion(np.array([0.0, 1.0]), np.zeros((1, 2, 3)), ("a",)), "names must be 2"),
        (lambda: polynomial((0.0, 1.0), (1.0, 2.0), duration=1.0)[4], "coordinate must be 0 to 1"),
    ],
)
def test_wrong_motions_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
