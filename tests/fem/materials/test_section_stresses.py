"""Largest stresses over cross sections against closed forms: circles, rings, rectangles, and sections by constants."""

import numpy as np
import pytest
from scipy import sparse

import fem
from fem.materials.section_stresses import section_points, torsion_of_rectangle
from flexph.bodies.fields import SectionStress

ROUND = fem.Section(diameter=0.02)
RING = fem.Section(diameter=0.02, inner_diameter=0.012)
FLAT, UPRIGHT = fem.Section(width=0.03, height=0.01), fem.Section(width=0.01, height=0.03)


def one(section):
    """A single section whose stress coordinates are its resultants."""
    points = section_points(section, 3)
    return SectionStress(
        resultants=sparse.eye_array(6).tocsr(),
        factors=points.factors[None],
        round=np.array([float(points.round)]),
        corners=np.zeros((1, 4, 6)),
        cell=np.zeros(1, dtype=int),
        ring=np.zeros(1, dtype=int),
        drawn=np.zeros(1, dtype=int),
        positions=np.zeros((1, 3)),
        complete=points.complete,
    )


def largest(section, **resultants):
    """The largest √(σ² + 3τ²) of forces and moments by name."""
    given = [resultants.get(name, 0.0) for name in ("N", "Qy", "Qz", "T", "My", "Mz")]
    return float(one(section).von_mises(np.array([given]))[0, 0])


@pytest.mark.parametrize("section", [ROUND, RING], ids=["circle", "ring"])
def test_a_shaft_bent_in_any_direction_and_twisted(section):
    """σ at the outer fibre of the resultant moment and τ = T a/J at the same place: to round-off in any direction."""
    a, second = 0.01, section.second_moment
    N, T = 300.0, 40.0
    for angle in np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 5):
        bending = 30.0 * np.array([np.cos(angle), np.sin(angle)])
        axial = N / section.area + 30.0 * a / second
        want = np.sqrt(axial**2 + 3.0 * (T * a / (2.0 * second)) ** 2)
        assert largest(section, N=N, T=T, My=bending[0], Mz=bending[1]) == pytest.approx(want, rel=1e-12)
        across = largest(section, Qy=100.0 * np.cos(angle), Qz=100.0 * np.sin(angle))
        b = 0.5 * (section.inner_diameter or 0.0)
        shear = 100.0 * (a**2 + a * b + b**2) / (3.0 * second)  # Q S/(I b); 4/3 Q/A of a circle
        assert across == pytest.approx(np.sqrt(3.0) * shear, rel=1e-12)


@pytest.mark.parametrize(("ratio", "factor"), [(1.0, 0.208), (1.5, 0.231), (2.0, 0.246), (4.0, 0.282), (10.0, 0.312)])
def test_torsion_stresses_of_rectangles_are_the_published_ones(ratio, factor):
    """T = k τ a b² with the k of Timoshenko and Goodier, Theory of Elasticity, either side upright."""
    b = 0.01
    for width, height in ((ratio * b, b), (b, ratio * b)):
        shear = largest(fem.Section(width=width, height=height), T=1.0) / np.sqrt(3.0)
        assert 1.0 / (shear * ratio * b**3) == pytest.approx(factor, abs=5.1e-4)  # three digits are printed


@pytest.mark.parametrize(("height", "width"), [(0.01, 0.03), (0.03, 0.01)])
def test_torsional_stresses_have_the_torque_and_leave_the_sides_free(height, width):
    x, w = np.polynomial.legendre.leggauss(24)
    y, z = (part.ravel() for part in np.meshgrid(0.5 * height * x, 0.5 * width * x))
    area = 0.25 * height * width * np.outer(w, w).ravel()
    along_y, along_z = torsion_of_rectangle(y, z, height, width)
    assert area @ (y * along_z - z * along_y) == pytest.approx(1.0, rel=1e-4)  # of a series of 50 terms
    assert abs(area @ along_y) < 1e-9 and abs(area @ along_z) < 1e-9
    inside, edge = np.linspace(-0.8, 0.8, 9), np.ones(9)
    peak = np.hypot(along_y, along_z).max()
    at_top, _ = torsion_of_rectangle(0.5 * height * edge, 0.5 * width * inside, height, width)
    _, at_side = torsion_of_rectangle(0.5 * height * inside, 0.5 * width * edge, height, width)
    assert max(np.abs(at_top).max(), np.abs(at_side).max()) < 2e-3 * peak  # terms fall like 1/n² there


@pytest.mark.parametrize("section", [FLAT, UPRIGHT], ids=["flat", "upright"])
def test_stresses_of_one_point_of_a_rectangle(section):
    """Bending is largest at a side, shear in the middle: never the one of both with the other of elsewhere."""
    A, h = section.area, section.height
    modulus = section.second_moment / section.fibre
    assert largest(section, N=1e3, My=2.0, Mz=-3.0) == pytest.approx(
        1e3 / A + 2.0 * section.fibre_z / section.second_moment_y + 3.0 / modulus
    )
    assert largest(section, Qy=1e3) == pytest.approx(np.sqrt(3.0) * 1.5e3 / A)
    assert largest(section, Qy=3e3, Qz=4e3) == pytest.approx(np.sqrt(3.0) * 1.5 * 5e3 / A)
    Q, M = 1e4, 1e4 * h / 4.0
    y = np.linspace(-0.5 * h, 0.5 * h, 2001)
    together = np.sqrt((M * y / section.second_moment) ** 2 + 3.0 * (1.5 * Q / A * (1.0 - 4.0 * y**2 / h**2)) ** 2)
    apart = np.sqrt((M / modulus) ** 2 + 3.0 * (1.5 * Q / A) ** 2)
    found = largest(section, Qy=Q, Mz=M)
    assert found == pytest.approx(together.max(), rel=5e-3)  # 17 points along a side
    assert found < 0.9 * apart


def test_a_section_by_its_constants_knows_its_axial_stress_alone():
    fibres = fem.Section(
        area=1e-4, second_moment=1e-9, second_moment_y=2e-9, torsion_constant=1e-9, fibre=0.01, fibre_z=0.005
    )
    assert not section_points(fibres, 3).complete
    assert largest(fibres, N=100.0, T=5.0, My=1.0, Mz=1.0, Qy=50.0) == pytest.approx(1e6 + 2.5e6 + 1e7)
    assert section_points(fem.Section(area=1e-4, second_moment=1e-9, fibre=0.01), 2) is not None
    assert section_points(fem.Section(area=1e-4, second_moment=1e-9), 2) is None


@pytest.mark.parametrize("section", [ROUND, RING, FLAT], ids=["circle", "ring", "rectangle"])
def test_principal_stresses_are_those_of_the_same_points(section):
    """(σ₁ − σ₃)/2 of torsion alone is τ, and with an axial force the sum of both is σ at that point."""
    at = one(section)
    (high,), (low,) = (x[0] for x in at.principal(np.array([[0.0, 0.0, 0.0, 7.0, 0.0, 0.0]])))
    assert high == pytest.approx(-low) and high == pytest.approx(largest(section, T=7.0) / np.sqrt(3.0))
    (high,), (low,) = (x[0] for x in at.principal(np.array([[50.0, 0.0, 0.0, 7.0, 0.0, 0.0]])))
    assert high + low == pytest.approx(50.0 / section.area)


@pytest.mark.parametrize("section", [ROUND, RING, FLAT], ids=["circle", "ring", "rectangle"])
def test_the_plane_and_space_have_the_same_largest_stress(section):
    rng, six = np.random.default_rng(1), np.zeros((20, 6))
    six[:, [0, 1, 5]] = rng.normal(size=(20, 3)) * [1e3, 1e3, 5.0]
    space = one(section).von_mises(six)[:, 0]
    flat = section_points(section, 2)
    plane = SectionStress(**{**vars(one(section)), "factors": flat.factors[None]}).von_mises(six)[:, 0]
    np.testing.assert_allclose(plane, space, rtol=1e-9)
