"""Canonical coordinates of modulated structures: [survey] sec. 4.2.1, eq. (4.28)-(4.29), and sec. 7."""

import numpy as np
import pytest
from dirac_samples import random_structure

import flexph
from flexph import analyze
from flexph.dirac import (
    CanonicalCoordinates,
    DiracStructure,
    ModulatedDirac,
    PortHamiltonian,
    holonomic_coordinates,
    integrability,
)
from flexph.methods import Gauss

pytestmark = pytest.mark.processor

RADIUS, PITCH, GRAVITY, MASS = 0.5, 0.6, 9.81, 0.7
TIMES = np.linspace(0.0, 0.08, 3)
INERTIA = np.array([1.0, 2.0, 3.5])


def spinning(p):
    """[survey] eq. (2.30)."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def body():
    """f = −ṗ = −J(p) e."""
    return PortHamiltonian(
        structure=lambda p: DiracStructure.from_skew(-spinning(p), {"p": slice(0, 3)}),
        H=lambda p: 0.5 * float(p @ (p / INERTIA)),
        gradient=lambda p: p / INERTIA,
        sample=np.array([0.7, -0.4, 1.3]),
    )


def angles(order=(0, 1)):
    """(q, p, r) = (p_z, atan2(p_y, p_x), |p|²): {p_z, angle} = 1, and |p|² is the Casimir."""

    def mapped(p):
        return np.array([*np.array([p[2], np.arctan2(p[1], p[0])])[list(order)], p @ p])

    def inverse(y):
        across = np.sqrt(y[2] - y[0] ** 2)
        return np.array([across * np.cos(y[1]), across * np.sin(y[1]), y[0]])

    return CanonicalCoordinates(map=mapped, inverse=inverse, pairs=1, fixed=1)


def test_darboux_coordinates_of_a_spinning_body_are_canonical():
    """Its Darboux coordinates are found to be canonical, and others not; the motion is the same."""
    system, made = body(), angles()
    points = np.random.default_rng(0).standard_normal((5, 3))
    made.check(system.modulated(), points)
    assert max(made.defect(system.modulated(), x) for x in points) < 1e-9
    with pytest.raises(ValueError, match=r"are not canonical.*structure: defect [0-9.]+e[-+]0[01].*\(3\.7\)"):
        angles((1, 0)).check(system.modulated(), points)
    seen = made.system(system)
    assert seen.is_constant and seen.storage == ("q", "p", "r")
    one, other = (flexph.integrate(s.phdae(), s.sample, TIMES, method=Gauss(6), progress=False) for s in (system, seen))
    # sixth order at steps of 0.04
    np.testing.assert_allclose([made.inverse(y) for y in other.states], one.states, atol=1e-8)
    assert np.ptp(other["r"]) == 0.0
    assert made.reduced(system).storage == ("q", "p", "r")  # nothing is free


def helix(q):
    """A bead on a helix: on a cylinder, and its height goes with its angle."""
    return np.array([0.5 * (q[0] ** 2 + q[1] ** 2 - RADIUS**2), np.arctan2(q[1], q[0]) - q[2] / PITCH])


def helix_slope(q):
    square = q[0] ** 2 + q[1] ** 2
    return np.array([[q[0], q[1], 0.0], [-q[1] / square, q[0] / square, -1.0 / PITCH]])


def bead(unit=1.0):
    """[survey] eq. (2.39) with A = c'ᵀ; lengths in a unit [m], momenta in kg m/s over it."""

    def structure(x):
        J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
        rows = helix_slope(unit * x[:3]) * unit
        return DiracStructure.from_skew(-J, {"q": slice(0, 3), "p": slice(3, 6)}).constrained(
            np.hstack([np.zeros((2, 3)), rows])
        )

    start = np.array([RADIUS * np.cos(0.3), RADIUS * np.sin(0.3), 0.3 * PITCH])
    return PortHamiltonian(
        structure=structure,
        H=lambda x: 0.5 * float(x[3:] @ x[3:]) / MASS / unit**2 + MASS * GRAVITY * unit * x[2],
        gradient=lambda x: np.concatenate([[0.0, 0.0, MASS * GRAVITY * unit], x[3:] / MASS / unit**2]),
        sample=np.concatenate([start / unit, np.zeros(3)]),
    )


def helical(unit=1.0, **more):
    start = bead(unit).sample[:3]
    return holonomic_coordinates(lambda q: helix(unit * q), lambda q: helix_slope(unit * q) * unit, start, **more)


@pytest.mark.parametrize("unit", [pytest.param(1.0, marks=pytest.mark.slow), 1e-3])
def test_constraints_are_casimirs_beside_their_momenta(unit):
    """c(q) are the Casimirs r, their momenta s: canonical at random states, on the constraints or not, in m and mm."""
    system, made = bead(unit), helical(unit)
    assert (made.pairs, made.fixed, made.free) == (1, 2, 2)
    rng = np.random.default_rng(1)
    points = system.sample + 0.1 * np.abs(system.sample).max() * rng.standard_normal((4, 6))
    points[:, 3:] = unit * rng.standard_normal((4, 3))
    made.check(system.modulated(), points)
    for x in points:
        assert integrability(system.modulated(), x)
        np.testing.assert_allclose(made.inverse(made.map(x)), x, rtol=1e-11, atol=1e-12 * np.abs(x).max())
        np.testing.assert_allclose(made.map(x)[2:4], helix(unit * x[:3]), rtol=1e-14)


def curvature(q, s):
    """Σ sᵢ∇²cᵢ of the helix."""
    x, y, square = q[0], q[1], q[0] ** 2 + q[1] ** 2
    angle = np.array([[2 * x * y, y**2 - x**2], [y**2 - x**2, -2 * x * y]]) / square**2
    made = np.zeros((3, 3))
    made[:2, :2] = s[0] * np.eye(2) + s[1] * angle
    return made


def test_the_jacobian_of_holonomic_coordinates():
    """Given second derivatives against differences, and both against those of the whole map."""
    x = bead().sample + 0.05 * np.random.default_rng(2).standard_normal(6)
    exact = helical(hessian=curvature)
    np.testing.assert_allclose(helical().slope(x), exact.slope(x), atol=1e-9)
    numeric = CanonicalCoordinates(map=exact.map, inverse=exact.inverse, pairs=1, fixed=2, free=2)
    np.testing.assert_allclose(numeric.slope(x), exact.slope(x), atol=1e-8)


def test_a_bead_on_a_helix_in_three_forms():
    """With multipliers, (4.28) and (4.29): z̈ = −g a²/(R² + a²), a the pitch over 2π, in closed form."""
    system, made = bead(), helical(hessian=curvature)
    height = 0.3 * PITCH - 0.5 * GRAVITY * PITCH**2 / (RADIUS**2 + PITCH**2) * TIMES**2
    forms = {"multipliers": system, "(4.28)": made.system(system), "(4.29)": made.reduced(system)}
    assert analyze(forms["(4.28)"]).index.index == 2
    assert [form.phdae().size for form in forms.values()] == [8, 8, 4]  # (4.29) has no algebraic states
    # in q = z the motion is a parabola, of which the midpoint rule is exact; in space it errs by h² of about 0.1
    tolerance = {"multipliers": 1e-3, "(4.28)": 1e-9, "(4.29)": 1e-9}
    for name, form in forms.items():
        phdae = form.phdae()
        found = flexph.integrate(phdae, phdae.sample, TIMES, method=Gauss(2), progress=False)
        heights = found["q"][:, 2] if form is system else found["q"][:, 0]
        np.testing.assert_allclose(heights, height, atol=tolerance[name], err_msg=name)
        assert np.ptp(found.ledger.total_energy) < 1e-3 * found.ledger.total_energy[0]
    reduced = forms["(4.29)"]
    assert reduced.H(reduced.sample) == pytest.approx(system.H(system.sample), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_constant_structures_have_canonical_coordinates(seed):
    """Linear coordinates of random structures, in which H is any function."""
    n = 5
    D = random_structure(seed, n, free=seed % 3, ports={"x": slice(0, n)})
    form = D.canonical()
    made = CanonicalCoordinates.linear(form)
    system = PortHamiltonian(structure=D, H=lambda x: 0.25 * float(np.sum(x**4)), gradient=lambda x: x**3,
                             sample=np.linspace(0.5, 1.5, n))  # fmt: skip
    made.check(system.modulated(), np.random.default_rng(seed).standard_normal((3, n)))
    seen = made.system(system)
    y = np.random.default_rng(seed).standard_normal(n)
    assert seen.H(y) == pytest.approx(system.H(form.basis @ y), rel=1e-12)
    k = form.pairs
    J = seen.phdae().J(np.zeros(seen.phdae().size))
    np.testing.assert_allclose(J[:k, k : 2 * k], np.eye(k), atol=1e-14)


def test_nonholonomic_constraints_have_none():
    """The coin of [survey] example 2.4 is not integrable: the candidates that fit at a point fail beside it."""

    def structure(x):
        rows = np.array([[1.0, 0.0, -np.cos(x[3]), 0.0], [0.0, 1.0, -np.sin(x[3]), 0.0]])
        J = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.eye(4), np.zeros((4, 4))]])
        return DiracStructure.from_skew(-J, {"x": slice(0, 8)}).constrained(np.hstack([0.0 * rows, rows]))

    x = np.array([0.1, 0.2, 0.3, 0.7, 1.0, 2.0, 3.0, 4.0])
    family = ModulatedDirac(structure, x)
    assert not integrability(family, x)
    candidates = CanonicalCoordinates.linear(structure(x).canonical())
    assert candidates.defect(family, x) < 1e-12
    with pytest.raises(ValueError, match="are not canonical"):
        candidates.check(family, (x + 0.1)[None])


def test_bad_coordinates_are_refused():
    system = body()
    wrong = angles()
    broken = CanonicalCoordinates(map=wrong.map, inverse=lambda y: 2.0 * wrong.inverse(y), pairs=1, fixed=1)
    with pytest.raises(ValueError, match="inverse must invert map"):
        broken.check(system.modulated(), system.sample[None])
    with pytest.raises(ValueError, match="constraints must be independent: rank 1 of 2 rows"):
        holonomic_coordinates(lambda q: q[[0, 0]], lambda q: np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2))
    damped = PortHamiltonian(
        structure=DiracStructure.from_skew([[0.0, -1.0], [1.0, 0.0]], {"p": slice(0, 1), "R": slice(1, 2)}),
        H=lambda p: 0.5 * float(p @ p), gradient=lambda p: p, sample=np.ones(1), resistive={"R": 1.0})  # fmt: skip
    with pytest.raises(ValueError, match="without resistive and external ports"):
        angles().system(damped)
    # 0 = ∂H/∂s that does not contain s: [survey] example 4.5 with C = ∞
    ports = {"r": slice(0, 1), "s": slice(1, 2)}
    held = DiracStructure.from_constrained(np.zeros((2, 2)), np.array([[0.0], [1.0]]), ports)
    free = PortHamiltonian(
        structure=held, H=lambda x: 0.5 * x[0] ** 2, gradient=lambda x: np.array([x[0], 0.0]), sample=np.ones(2)
    )
    made = CanonicalCoordinates(map=lambda x: x, inverse=lambda y: y, pairs=0, fixed=1, free=1)
    with pytest.raises(ArithmeticError, match="the index is above one"):
        made.reduced(free).gradient(np.ones(1))
    far = helical()
    with pytest.raises(ArithmeticError, match="the coordinates do not reach there"):
        far.inverse(np.array([0.1, 0.0, -1.0, 0.0, 0.0, 0.0]))  # no q has ½(|q|² − R²) = −1
