"""Constants of cross sections and materials, in the plane and in space."""

import re

import numpy as np
import pytest

import fem


def test_circles_have_their_closed_forms():
    """A = π(d² − d_i²)/4, I = π(d⁴ − d_i⁴)/64 about every axis, J = I_p = 2I."""
    for d, hole in ((6e-3, 0.0), (6e-3, 4e-3), (6e-3, 5.99e-3)):
        made = fem.Section(diameter=d, inner_diameter=hole or None)
        assert made.area == pytest.approx(np.pi * (d**2 - hole**2) / 4.0, rel=1e-12)
        second = np.pi * (d**4 - hole**4) / 64.0
        np.testing.assert_allclose([made.second_moment, made.second_moment_y], second, rtol=1e-12)
        np.testing.assert_allclose([made.torsion_constant, made.polar_moment], 2.0 * second, rtol=1e-12)
        assert (made.fibre, made.fibre_z) == (d / 2.0, d / 2.0)
    assert fem.Section(diameter=2.0, inner_diameter=0.0).area == fem.Section(diameter=2.0).area


def test_thin_tubes_tend_to_the_formula_of_bredt():
    """J → 2πr³t and I → πr³t of a wall t around the mean radius r, errors of order (t/2r)²."""
    r, t = 0.5, 1e-3
    tube = fem.Section(diameter=2 * r + t, inner_diameter=2 * r - t)
    assert tube.torsion_constant == pytest.approx(2.0 * np.pi * r**3 * t, rel=(t / (2 * r)) ** 2 * 1.01)
    assert tube.second_moment == pytest.approx(np.pi * r**3 * t, rel=(t / (2 * r)) ** 2 * 1.01)


def test_rectangles_have_their_closed_forms():
    """The width lies along z: I_z = bh³/12 bends in x-y, I_y = hb³/12 in x-z; I_p their sum."""
    made = fem.Section(width=3.0, height=2.0)
    assert (made.second_moment, made.second_moment_y, made.polar_moment) == (2.0, 4.5, 6.5)
    assert (made.fibre, made.fibre_z) == (1.0, 1.5)
    turned = fem.Section(width=2.0, height=3.0)
    assert (turned.second_moment, turned.second_moment_y) == (made.second_moment_y, made.second_moment)
    assert turned.torsion_constant == made.torsion_constant


@pytest.mark.parametrize(
    "ratio, published",
    # J / (long side × short side³), Timoshenko and Goodier, Theory of Elasticity, table of rectangular bars
    [(1.0, 0.1406), (1.2, 0.166), (1.5, 0.196), (2.0, 0.229), (2.5, 0.249), (3.0, 0.263), (4.0, 0.281), (10.0, 0.312)],
)
def test_torsion_constants_of_rectangles_are_the_published_ones(ratio, published):
    made = fem.Section(width=ratio * 0.3, height=0.3).torsion_constant
    assert made / (ratio * 0.3**4) == pytest.approx(published, abs=0.51 * (1e-4 if ratio == 1.0 else 1e-3))


@pytest.mark.parametrize("ratio", [1.0, 1.7, 5.0])
def test_torsion_agrees_with_the_series_summed_term_by_term(ratio):
    n = np.arange(1, 4001, 2)[::-1]  # small terms first; the rest is below 1e-15
    a, b = ratio, 1.0
    series = np.sum(np.tanh(n * np.pi * a / (2 * b)) / n**5.0)
    expected = a * b**3 * (1 / 3 - 64 / np.pi**5 * b / a * series)
    assert fem.Section(width=b, height=a).torsion_constant == pytest.approx(expected, rel=1e-13)


def test_torsion_of_long_strips():
    """J → a b³/3 (1 − 0.630 b/a), without overflow of the series."""
    made = fem.Section(width=1e4, height=1.0).torsion_constant
    assert made == pytest.approx(1e4 / 3.0 * (1.0 - 0.630249e-4), rel=1e-9)


def test_constants_define_a_section():
    plane = fem.Section(area=2.0, second_moment=0.5)
    assert (plane.second_moment_y, plane.torsion_constant, plane.polar_moment, plane.fibre_z) == (None,) * 4
    space = fem.Section(area=2.0, second_moment=0.5, second_moment_y=0.25, torsion_constant=0.1)
    assert space.polar_moment == 0.75
    given = fem.Section(area=2.0, second_moment=0.5, second_moment_y=0.25, torsion_constant=0.1, polar_moment=0.8)
    assert given.polar_moment == 0.8


@pytest.mark.parametrize(
    "given, message",
    [
        ({"diameter": 1.0, "inner_diameter": 1.0}, "inner_diameter must be smaller than the diameter 1.0 m, got 1.0 m"),
        ({"diameter": 1.0, "inner_diameter": 1.5}, "inner_diameter must be smaller than the diameter 1.0 m, got 1.5 m"),
        ({"diameter": 1.0, "inner_diameter": -0.5}, "inner_diameter must not be negative, got -0.5 m"),
        ({"inner_diameter": 0.5}, "without diameter="),
        ({"diameter": 1.0, "inner_diameter": 0.5, "width": 1.0}, "only one"),
        ({"diameter": 1.0, "torsion_constant": 1.0}, "only one"),
        ({"width": 1.0, "height": 1.0, "second_moment_y": 1.0}, "only one"),
        ({"width": 1.0, "height": 1.0, "inner_diameter": 0.5}, "only one"),
        ({"area": 1.0, "second_moment": 1.0, "second_moment_y": 0.0}, "second_moment_y must be positive, got 0.0 m⁴"),
        ({"area": 1.0, "second_moment": 1.0, "torsion_constant": -1.0}, "torsion_constant must be positive"),
        ({"area": 1.0, "second_moment": 1.0, "polar_moment": np.nan}, "polar_moment must be finite"),
        ({"area": 1.0, "second_moment": 1.0, "fibre_z": 0.0}, "fibre_z must be positive, got 0.0 m"),
    ],
)
def test_wrong_sections_are_refused(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fem.Section(**given)


def test_the_shear_modulus_follows_from_poissons_ratio():
    """G = E/(2(1 + ν)), or as given."""
    assert fem.Material(young=2.6, density=1.0, poisson=0.3).shear_modulus == pytest.approx(1.0, rel=1e-15)
    assert fem.Material(young=3.0, density=1.0, poisson=0.5).shear_modulus == 1.0
    assert fem.Material(young=3.0, density=1.0, poisson=0).shear_modulus == 1.5
    assert fem.Material(young=3.0, density=1.0, shear=0.7).shear_modulus == 0.7


@pytest.mark.parametrize(
    "given, message",
    [
        ({"poisson": -1.0}, "poisson must be above -1 and not above 0.5, got -1.0"),
        ({"poisson": 0.51}, "poisson must be above -1 and not above 0.5, got 0.51"),
        ({"poisson": np.nan}, "poisson must be finite"),
        ({"poisson": "steel"}, "poisson must be a number, got 'steel'"),
        ({"shear": 0.0}, "shear must be positive, got 0.0 Pa"),
        ({"poisson": 0.3, "shear": 1.0}, "only one"),
    ],
)
def test_wrong_materials_are_refused(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fem.Material(young=1.0, density=1.0, **given)


def test_a_material_without_shear_modulus_says_so():
    with pytest.raises(ValueError, match="material needs poisson= or shear= in space"):
        _ = fem.Material(young=1.0, density=1.0).shear_modulus
