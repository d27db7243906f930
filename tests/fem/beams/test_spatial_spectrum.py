"""Spectra of beams in space, family by family, against exact frequencies."""

import numpy as np
import pytest
from covering import covering
from exact_beams import axial_frequencies, bending_frequencies, bending_roots
from scipy import sparse

import fem
from fem.beams.elements import pair
from flexph import LinearPHDAE, modes
from flexph.bodies import linear_body
from flexph.bodies.inertia import contract
from flexph.interconnection import constrain

pytestmark = pytest.mark.processor

REFERENCES = ("cantilever", "simply_supported", "mean_axis")
all_references = pytest.mark.parametrize("reference", REFERENCES)
clean_pairs = pytest.mark.parametrize("name", ["compatible", "hermite"])
both_dimensions = pytest.mark.parametrize("dim", [2, 3])
CIRCLE = fem.Section(diameter=0.1, inner_diameter=0.06)
RECTANGLE = fem.Section(width=0.07, height=0.1)
LENGTH, MATERIAL = 1.3, fem.Material(young=20.0, density=2.5, poisson=0.3)


def beam(elements, section=RECTANGLE, **options):
    return fem.beam(LENGTH, MATERIAL, section, elements=elements, **{"dim": 3, **options})


def units(section):
    """Units of frequency by family: √(E/ρ)/L, √(EI/ρAL⁴) in both planes, √(GJ/ρI_p)/L [rad/s]."""
    wave = np.sqrt(MATERIAL.young / MATERIAL.density)
    shear = np.sqrt(MATERIAL.shear_modulus * section.torsion_constant / (MATERIAL.density * section.polar_moment))
    bending = [
        wave * np.sqrt(second / section.area) / LENGTH**2 for second in (section.second_moment, section.second_moment_y)
    ]
    return {"axial": wave / LENGTH, "y": bending[0], "z": bending[1], "torsion": shear / LENGTH}


def clamped(body):
    """The body with its root held, whatever its reference condition."""
    root, count = body.ports["root"], {2: 3, 3: 6}[body.dim]
    rows = sparse.hstack([sparse.eye_array(count), sparse.vstack([root.shape, root.rotation])])
    system = linear_body(body, "b")
    return constrain(system, sparse.hstack([rows, sparse.csr_array((count, body.stress_size))]).tocsr())


def shares(body, name):
    """Frequencies of the clamped body, and the shares of N, M_z, M_y, T in the elastic energies of its modes (4, k)."""
    system = clamped(body)
    found = modes(system)
    assert found.rigid == 0
    stress = found.shapes[system.parts["b.stress"]].imag
    energy = stress * (body.elasticity.compliance @ stress)
    _, force, _, moment = pair(name).fields(body.size // 6)
    starts = np.cumsum([0, force.size, moment.size, moment.size])
    return found.frequencies, np.add.reduceat(energy, starts) / energy.sum(axis=0)


def families(body, section, name):
    """Frequencies in their units by family, told apart by the energies of N, M_z, M_y and T."""
    frequencies, share = shares(body, name)
    assert np.all((share < 1e-12) | (share > 1.0 - 1e-12))  # every mode is of one family
    unit = units(section)
    return {k: frequencies[share[i] > 0.5] / unit[k] for i, k in enumerate(("axial", "y", "z", "torsion"))}


def exact(family, count):
    return bending_frequencies("clamped-free", count) if family in "yz" else axial_frequencies("fixed-free", count)


def errors(elements, name="compatible", reference="cantilever", section=RECTANGLE):
    """Relative errors of the whole spectrum, the kth computed against the kth exact of its family."""
    found = families(beam(elements, section, pair=name, reference=reference), section, name)
    return {family: values / exact(family, len(values)) - 1.0 for family, values in found.items()}


@all_references
def test_frequencies_of_clamped_beams_have_the_errors_of_theory(reference):
    """Bending in both planes 3.516015, 22.034492, 61.697214, 120.901916; axial and torsion (2k − 1)π/2.

    The errors follow (βh)⁴/1440 in bending and (κh)²/24 in the axial direction and torsion, β and κ the exact wave
    numbers. A clamped beam does not depend on the reference condition of its deformation.
    """
    found = families(beam(32, reference=reference), RECTANGLE, "compatible")
    published = np.array([3.516015, 22.034492, 61.697214, 120.901916])
    bound = (bending_roots("clamped-free", 4) / 32) ** 4 / 1440
    for plane in "yz":
        relative = found[plane][:4] / published - 1.0
        assert np.all(np.abs(relative) < 1.05 * bound + 2e-7)  # the published digits
    waves = (np.arange(1, 4) - 0.5) * np.pi
    for family in ("axial", "torsion"):
        np.testing.assert_allclose(found[family][:3] / waves - 1.0, (waves / 32) ** 2 / 24, rtol=0.02)


@pytest.mark.parametrize("section", [CIRCLE, RECTANGLE], ids=["circle", "rectangle"])
def test_torsional_frequencies_are_those_of_theory(section):
    """(2k − 1)π/2 √(GJ/ρI_p)/L of a clamped beam; with J = I_p of a circle that is the shear wave √(G/ρ)."""
    unit = units(section)["torsion"]
    if section is CIRCLE:
        assert unit == pytest.approx(np.sqrt(MATERIAL.shear_modulus / MATERIAL.density) / LENGTH, rel=1e-14)
    frequencies, share = shares(beam(32, section), "compatible")
    torsion = frequencies[share[3] > 1.0 - 1e-12]
    assert len(torsion) == 32
    waves = (np.arange(1, 4) - 0.5) * np.pi
    np.testing.assert_allclose(torsion[:3] / (waves * unit) - 1.0, (waves / 32) ** 2 / 24, rtol=0.02)


def test_frequencies_converge_at_orders_four_and_two():
    """Orders 4 in bending and 2 in the axial direction and torsion, first three modes of each family."""
    coarse, fine = errors(16), errors(32)
    for family, order in (("axial", 2), ("torsion", 2), ("y", 4), ("z", 4)):
        np.testing.assert_allclose(np.log2(coarse[family][:3] / fine[family][:3]), order, atol=0.1)


def test_hermite_moments_are_more_accurate():
    displacement, hermite = errors(16), errors(16, "hermite")
    for family in "yz":
        assert np.all(np.abs(hermite[family][1:4]) < 0.5 * displacement[family][1:4])


@covering("name, elements", ("compatible", "hermite"), (4, 16))
def test_every_computed_mode_has_an_exact_partner(elements, name):
    """n axial, n torsional and 2n bending modes in each plane, all above their exact partners (Rayleigh-Ritz).

    Lower half: axial and torsion at most √3/(π/2) − 1 = 10.3 % (linear elements at κh = π/2), bending 6.8 % = π⁴/1440.
    """
    for family, error in errors(elements, name).items():
        bending = family in "yz"
        assert len(error) == (2 if bending else 1) * elements
        assert error.min() > 0.0
        half = error[: len(error) // 2]
        assert half.max() < (np.pi**4 / 1440 if bending else np.sqrt(3.0) / (np.pi / 2) - 1.0)
        assert error.max() < (0.75 if bending else 0.21)


# --- mean axes


def free(body):
    """The deformation alone, the frame at rest."""
    mass, e = contract(body.inertia, about_centre=True).M, body.elasticity
    kinetic = np.arange(body.size + e.size) < body.size
    J = sparse.block_array([[None, -e.strain.T], [e.strain, None]])
    return LinearPHDAE(E=sparse.block_diag([mass, e.compliance]).tocsr(), J=sparse.csr_array(J), kinetic=kinetic)


@covering("dim, elements", (2, 3), (1, 2, 7, 40))
def test_mean_axes_leave_no_inertial_coupling(elements, dim):
    """∫ρφ = 0 and ∫(ρX × φ + ρI_p φ_θ) = 0 (Tisserand), about P and about the centre of mass."""
    body = beam(elements, dim=dim, reference="mean_axis")
    assert body.size == {2: 3, 3: 6}[dim] * elements
    np.testing.assert_allclose(body.inertia.shape_first, 0.0, atol=1e-14 * body.mass)
    for about_centre in (True, False):
        coupling = contract(body.inertia, about_centre=about_centre).n
        np.testing.assert_allclose(coupling, 0.0, atol=1e-14 * body.mass * LENGTH)


@covering("dim, elements", (2, 3), (2, 8, 32))
def test_mean_axes_are_well_conditioned(elements, dim):
    """M with unit diagonal: positive definite; an elimination of the root's coordinates is at 2e7 with 32 elements."""
    M = contract(beam(elements, dim=dim, reference="mean_axis").inertia, about_centre=True).M.toarray()
    scale = 1.0 / np.sqrt(np.diag(M))
    values = np.linalg.eigvalsh(scale[:, None] * M * scale)
    assert values[0] > 0.0
    assert values[-1] / values[0] < 10.0 * elements + 60.0


@both_dimensions
def test_frequencies_of_the_deformation_are_the_free_ones(dim):
    """22.373285, 61.672823 √(EI/ρAL⁴) in each plane; (κh)²/24 off kπ for axial and torsional waves."""
    body, unit = beam(40, dim=dim, reference="mean_axis"), units(RECTANGLE)
    found = modes(free(body))
    assert found.rigid == 0
    for plane in "yz"[: dim - 1]:
        for value, root in zip((22.373285, 61.672823), bending_roots("free-free", 2), strict=True):
            ratio = found.frequencies / (value * unit[plane]) - 1.0
            assert np.abs(ratio).min() < (root / 40) ** 4 / 1440 + 3e-8
    for family in ("axial", "torsion")[: dim - 1]:
        ratio = found.frequencies / (np.pi * unit[family] * (1.0 + (np.pi / 40) ** 2 / 24)) - 1.0
        assert np.abs(ratio).min() < 1e-6


@both_dimensions
def test_the_free_body_has_the_same_frequencies_under_every_reference(dim):
    """With its rigid motion, which mean axes do not couple to: 3 or 6 rigid modes and the same others."""
    expected = modes(free(beam(6, dim=dim, reference="mean_axis"))).frequencies
    for reference in REFERENCES:
        found = modes(linear_body(beam(6, dim=dim, reference=reference), "b"))
        assert found.rigid == {2: 3, 3: 6}[dim]
        np.testing.assert_allclose(found.frequencies, expected, rtol=1e-9)
