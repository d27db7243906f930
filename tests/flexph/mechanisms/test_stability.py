"""Growing and neutral motions about equilibria: buckling loads against closed forms, on all meshes."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy.optimize import root_scalar

import fem
from flexph import GROUND, connect, drive, eigenfrequencies, force, hinge, weld
from flexph.linear.eigenmodes.quadratic_spectrum import Noise, SmallMotion, modal_coordinates, solve
from flexph.numerics.factors.signature import signature

pytestmark = pytest.mark.processor

EPS = np.finfo(float).eps


# --- signature --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_signature_of_a_congruence(seed):
    """Sylvester: XᵀDX has the signature of D, in all units of the coordinates."""
    random = np.random.default_rng(seed)
    D = np.concatenate([-np.ones(3), np.zeros(2), np.ones(7)])
    X = np.linalg.qr(random.standard_normal((12, 12)))[0] @ np.diag(10.0 ** random.uniform(-8.0, 8.0, 12))
    K = X.T @ (D[:, None] * X)
    noise = 10.0 * EPS * np.abs(X).T @ np.abs(X)
    found = signature(K, noise)
    assert (found.negative, found.neutral.shape[1], found.symmetric) == (3, 2, True)
    images = X @ found.neutral
    assert np.abs(images[D != 0.0]).max() < 1e-12 * np.abs(images).max()
    assert not signature(K + np.triu(1e6 * noise, 1), noise).symmetric


def test_slow_motions_keep_their_digits_beside_stiff_ones():
    """Squares from −1e-6 to 1e16 of a random basis: errors are those of the entries, not of the largest square."""
    random = np.random.default_rng(3)
    squares = np.array([-1e-6, 2e-6, 1.0, 1e5, 1e10, 1e16])
    # a congruence with which entries of the slow motions stay small
    steps = np.arange(6) - np.arange(6)[:, None]
    X = np.eye(6) + np.triu(random.uniform(-0.5, 0.5, (6, 6)) * 10.0 ** -(8.0 * steps), 1)
    M, K = X.T @ X, X.T @ (squares[:, None] * X)
    noise = Noise(10.0 * EPS * np.abs(X).T @ (np.abs(squares)[:, None] * np.abs(X)), np.eye(6))
    motion = SmallMotion(M, 0.0 * M, 0.0 * M, K, noise)
    assert np.sort(modal_coordinates(motion).squares) == pytest.approx(squares, rel=1e-6)
    assert solve(motion).growth == pytest.approx(1e-3, rel=1e-6)


# --- lateral buckling -------------------------------------------------------------------------------------------------


def strip(bodies, elements, ratio, unit=1.0):
    """A cantilever of 0.6 × 30 mm, 0.24 m long, under a tip force in its stiff plane; ``unit`` metres in the units of
    length. Prandtl (1899): it buckles sideways at 4.0126 √(EI·GJ)/L².
    """
    height, width, length = 0.6e-3 * unit, 30e-3 * unit, 0.24 * unit
    material = fem.Material(young=7.124e10 / unit, density=100.0 / unit**3, poisson=0.31)
    J = width * height**3 / 3.0
    section = fem.Section(
        area=width * height,
        second_moment=height * width**3 / 12.0,
        second_moment_y=width * height**3 / 12.0,
        torsion_constant=J,
    )
    critical = 4.0126 * math.sqrt(material.young * section.second_moment_y * material.shear_modulus * J) / length**2
    names = [f"b{i}" for i in range(bodies)]
    own = fem.beam(length / bodies, material, section, elements=elements, dim=3, strain="von_karman")
    joints = [weld("b0.root", GROUND)]
    joints += [weld(f"{q}.root", f"{p}.tip") for p, q in itertools.pairwise(names)]
    mechanism = connect(dict.fromkeys(names, own), [*joints, force(f"{names[-1]}.tip")])
    pose = mechanism.assemble(guess={name: (i * length / bodies, 0.0, 0.0) for i, name in enumerate(names)})
    inputs = {f"force {names[-1]}.tip": (0.0, ratio * critical, 0.0)}
    return mechanism, mechanism.equilibrium(pose, inputs=inputs), inputs


MESHES = [(8, 2), pytest.param((8, 4), marks=pytest.mark.slow), pytest.param((16, 4), marks=pytest.mark.slow)]


@pytest.mark.parametrize("mesh", MESHES, ids=str)
@pytest.mark.parametrize(
    ("ratio", "growth"),
    [(0.98, None), (1.02, (31.0, 65.0)), pytest.param(1.2, (260.0, 278.0), marks=pytest.mark.slow)],
)
def test_a_strip_buckles_sideways_at_its_load(mesh, ratio, growth):
    """A finer mesh is softer, and grows no slower: 8 bodies buckle at 1.016 of the exact load, 16 at 1.004."""
    mechanism, state, inputs = strip(*mesh, ratio)
    found = mechanism.spectrum(state, inputs=inputs)
    if growth is None:
        assert found.message == "small motions about rest (no growing motion)"
        assert eigenfrequencies(mechanism.linearize(state, inputs=inputs))[:3] == pytest.approx(
            found.frequencies[:3], rel=1e-9
        )
        return
    assert growth[0] < found.values.real.max() < growth[1]
    assert np.sum(found.values.real > 0.0) == 1
    assert f"unstable: grows with {found.values.real.max():.4g} 1/s" in found.message
    with pytest.raises(ValueError, match="the equilibrium is unstable, its energy has no minimum"):
        mechanism.linearize(state, inputs=inputs)


@pytest.mark.filterwarnings("ignore:'b0' carries a mean bending moment:flexph.ValidityWarning")  # of four bodies
def test_growth_does_not_depend_on_units():
    """Metres and millimetres: rates are the same as far as two equilibria settle to 1e-13 of the displacements."""
    rates = []
    for unit in (1.0, 1e3):
        mechanism, state, inputs = strip(4, 2, 1.1, unit)
        rates.append(mechanism.spectrum(state, inputs=inputs).values.real.max())
    assert rates[0] > 50.0
    assert rates[1] == pytest.approx(rates[0], rel=1e-6)


# --- a column ---------------------------------------------------------------------------------------------------------


def column(elements, load, **options):
    """A slender cantilever in the plane under a dead load, over Euler's π²EI/4L²: EI = 1, ρA = 1, L = 1, EA = 1e8."""
    material, section = fem.Material(young=1e10, density=100.0), fem.Section(area=1e-2, second_moment=1e-10)
    own = fem.beam(1.0, material, section, elements=elements, strain="von_karman", **options)
    mechanism = connect({"beam": own}, [weld("beam.root", GROUND), force("beam.tip")])
    inputs = {"force beam.tip": (-load * 0.25 * math.pi**2, 0.0)}
    return mechanism, mechanism.equilibrium(mechanism.assemble(), inputs=inputs), inputs


def square(elements, load, **options):
    """ω² of the softest motion of the column."""
    mechanism, state, inputs = column(elements, load, **options)
    squares = -(mechanism.spectrum(state, inputs=inputs).values ** 2).real
    return squares[np.abs(squares).argmin()]


@pytest.mark.parametrize(("elements", "nearest"), [(8, 1e-7), pytest.param(64, 1e-5, marks=pytest.mark.slow)])
def test_growth_begins_at_the_critical_load(elements, nearest):
    """ω² ~ 1 − P/P_c: the growth just above is as slow as that. K has round-off of EI/L³ 1e-15 (L/h)⁴."""
    critical = root_scalar(lambda load: square(elements, load), x0=0.999, x1=1.001, xtol=1e-9).root
    assert critical == pytest.approx(1.0, abs=0.1 / elements**2 + 1e-7)  # compressed by 2.5e-8
    far = square(elements, critical * (1.0 + 1e-3)) / 1e-3
    # the slope changes by a thousandth over 1e-3 of the load, round-off by 1e-15 (L/h)⁴ here and in the load
    loose = 2e-3 + 1e-14 * elements**4 / nearest
    assert square(elements, critical * (1.0 + nearest)) == pytest.approx(far * nearest, rel=loose)
    mechanism, state, inputs = column(elements, critical * (1.0 + nearest))
    assert "unstable: grows with" in mechanism.spectrum(state, inputs=inputs).message
    mechanism, state, inputs = column(elements, critical * (1.0 - nearest))
    assert "(no growing motion)" in mechanism.spectrum(state, inputs=inputs).message


def test_growth_that_round_off_hides_is_said():
    """At the critical load of a fine mesh the motion is neutral as far as can be told, and the message says how far."""
    mechanism, state, inputs = column(64, 1.0)
    found = mechanism.spectrum(state, inputs=inputs)
    above = float(re.search(r"no growing motion above (\S+) 1/s", found.message)[1])
    assert 1e-5 < above < 1e-2


@pytest.mark.parametrize(("elements", "damping"), [(4, 1.0), (32, 1e6)])
def test_a_damped_column_creeps_away(elements, damping):
    """s² + α s + ω² = 0 with mass-proportional damping: however slow, it grows."""
    mechanism, state, inputs = column(elements, 1.01, damping=fem.Damping(mass=damping))
    free = square(elements, 1.01)
    assert free < 0.0
    expected = -2.0 * free / (damping + math.sqrt(damping**2 - 4.0 * free))
    found = mechanism.spectrum(state, inputs=inputs)
    # two solutions of a K with 1e-16 (L/h)⁴ EI/L³ of round-off, of which −ω² is a hundredth
    assert found.values.real.max() == pytest.approx(expected, rel=1e-6)
    assert "unstable: grows with" in found.message
    mechanism, state, inputs = column(elements, 0.99, damping=fem.Damping(mass=damping))
    found = mechanism.spectrum(state, inputs=inputs)
    assert found.message == "small motions about rest (no growing motion)" and found.values.real.max() <= 0.0


# --- neutral motions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("elements", "unit"), [(2, 1e3), (12, 1.0)])
def test_rigid_motions_of_free_bodies_are_neutral(elements, unit):
    """Two welded beams without a hold: six rigid motions, each twice zero, and the frequencies of the unloaded pose."""
    steel = fem.Material(young=2e11 / unit, density=7800.0 / unit**3, poisson=0.3)
    own = fem.beam(unit, steel, fem.Section(width=0.02 * unit, height=0.01 * unit), elements=elements, dim=3)
    mechanism = connect({"a": own, "b": own}, [weld("b.root", "a.tip")])
    pose = mechanism.assemble(guess={"b": (unit, 0.0, 0.0)})
    state = mechanism.equilibrium(pose)
    found = mechanism.spectrum(state)
    assert np.sum(found.values == 0.0) == 12
    assert "(no growing motion)" in found.message
    frequencies = eigenfrequencies(mechanism.linearize(pose))
    assert found.frequencies == pytest.approx(frequencies, rel=1e-9)
    assert eigenfrequencies(mechanism.linearize(state)) == pytest.approx(frequencies, rel=1e-9)


# --- steady rotation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [4, pytest.param(24, marks=pytest.mark.slow)])
def test_a_blade_without_stiffening_bends_out_slowly(elements):
    """Linear strain knows no centrifugal stiffening: chordwise ω² = 3.516² − Ω², found just above on every mesh."""
    for above, unstable in ((1e-4, True), (-1e-4, False)):
        speed = 3.516015 * (1.0 + above)
        own = fem.beam(1.0, *slender(), elements=elements, dim=3)
        turning = drive("blade.root", GROUND, angle=lambda t, speed=speed: speed * t, axis=(0, 0, 1))
        held = hinge("blade.root", GROUND.at(0.0, 0.0, 0.0), axis=(0, 0, 1))
        mechanism = connect({"blade": own}, [held, turning])
        found = mechanism.spectrum(mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, speed)))
        assert ("unstable: grows with" in found.message) == unstable
        if unstable:  # four elements are stiffer by 3e-5, of 1e-4 that the speed is above
            assert found.values.real.max() == pytest.approx(3.516015 * math.sqrt(2.0 * above), rel=0.2)


def slender():
    """EI = 1 N m², ρA = 1 kg/m, EA = 1e6 N."""
    section = fem.Section(area=1e-2, second_moment=1e-8, second_moment_y=1e-8, torsion_constant=2e-8)
    return fem.Material(young=1e8, density=100.0, poisson=0.3), section
