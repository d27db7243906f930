"""Planar rigid bodies."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.bodies import floating_body
from flexph.bodies.inertia import contract


def test_moments_of_a_body_follow_steiner():
    made = rigid.body(2.0, inertia=0.3, centre=(0.4, -0.1), ports={"a": (1.0, 2.0)})
    assert made.mass == 2.0
    np.testing.assert_allclose(made.inertia.first, [0.8, -0.2])
    about_centre = contract(made.inertia, about_centre=True).J
    about_origin = contract(made.inertia, about_centre=False).J
    np.testing.assert_allclose(about_centre, [[0.3]], rtol=1e-14)
    np.testing.assert_allclose(about_origin, [[0.3 + 2.0 * (0.4**2 + 0.1**2)]], rtol=1e-14)  # Steiner


def test_bar_is_uniform():
    bar = rigid.bar(2.0, 3.0)
    np.testing.assert_allclose(contract(bar.inertia, about_centre=False).J, [[3.0 * 2.0**2 / 3.0]], rtol=1e-14)
    assert set(bar.ports) == {"root", "middle", "tip"}
    assert contract(rigid.bar(2.0, 3.0, inertia=7.0).inertia, about_centre=True).J[0, 0] == pytest.approx(7.0)


def test_newton_euler_in_the_plane():
    """[flex] remark 3: without deformation the blocks are those of a rigid body."""
    system = floating_body(rigid.body(2.0, inertia=0.3, centre=(0.4, -0.1), ports={"a": (1.0, 2.0)}))
    x = np.array([0.1, 0.2, np.cos(0.7), np.sin(0.7), 1.1, -0.4, 2.3])
    M = np.array([[2.0, 0.0, 0.2], [0.0, 2.0, 0.8], [0.2, 0.8, 0.3 + 2.0 * 0.17]])
    np.testing.assert_allclose(system.E(x)[4:, 4:], M, rtol=1e-14)
    p = M @ x[4:]
    np.testing.assert_allclose(system.J(x)[4:, 4:], [[0, 0, p[1]], [0, 0, -p[0]], [-p[1], p[0], 0]], rtol=1e-14)


def test_point_mass_falls_freely():
    mechanism = connect({"ball": rigid.point(0.7)}, [], gravity=(0.0, -9.81))
    state = mechanism.consistent_state(
        mechanism.assemble({"ball": (1.0, 2.0, 0.0)}), velocities={"ball": (3.0, 4.0, 0.0)}
    )
    solution = integrate(mechanism, state, np.linspace(0.0, 1.0, 11))
    t = solution.times[:, None]
    exact = np.array([1.0, 2.0]) + t * [3.0, 4.0] + 0.5 * t**2 * [0.0, -9.81]
    np.testing.assert_allclose(solution.position("ball.point"), exact, atol=1e-13)  # the scheme is exact here


def test_a_bar_swings_with_its_period():
    """A uniform bar on a hinge: T = 2π √(2L/3g) for small swings."""
    mechanism = connect({"bar": rigid.bar(1.5, 2.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    amplitude = 1e-4
    state = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, amplitude - np.pi / 2.0)}))
    period = 2.0 * np.pi * np.sqrt(2.0 * 1.5 / (3.0 * 9.81))
    end = integrate(mechanism, state, np.linspace(0.0, period, 1001)).position("bar.tip")[-1]
    # period error (hω)²/12 = 3e-6 and amplitude²/16, the swing at its turning point sees its square
    np.testing.assert_allclose(end, [1.5 * np.sin(amplitude), -1.5 * np.cos(amplitude)], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rigid.body(0.0, inertia=1.0, ports={}), "mass must be positive, got 0.0 kg"),
        (lambda: rigid.body(1.0, inertia=-1.0, ports={}), "inertia must be positive"),
        (
            lambda: rigid.body(1.0, inertia=1.0, ports={"a": (np.nan, 0.0)}),
            r"ports\['a'\] must be finite, got NaN or infinity",
        ),
        (lambda: rigid.body(1.0, inertia=1.0, ports={"a": (1.0, 0.0, 0.0)}), "port 'a' must have shape"),
        (lambda: rigid.bar(-1.0, 1.0), "length must be positive"),
        (lambda: rigid.point(float("inf")), "mass must be finite"),
    ],
)
def test_bad_bodies_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
