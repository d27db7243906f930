"""Damping ratios of modes: read off the poles of the body."""

import re

import numpy as np
import pytest
from covering import covering

import fem
from flexph import modes, poles
from flexph.bodies import linear_body
from flexph.interconnection import constrain

MATERIAL = fem.Material(young=20.0, density=2.5, poisson=0.3)
SECTION = fem.Section(width=0.11, height=0.08)
REFERENCES = ("cantilever", "simply_supported", "mean_axis")


def beam(damping=None, **options):
    chosen = {"elements": 3, "dim": 3, **options}
    return fem.beam(1.3, MATERIAL, SECTION, damping=damping or fem.Damping(), **chosen)


def held(body):
    """The body with P at rest: neither velocity nor spin."""
    rigid = {2: 3, 3: 6}[body.dim]
    system = linear_body(body, "b")
    return constrain(system, np.eye(rigid, system.size))


def measured(body):
    """Damping ratios −Re s/|s| of all oscillations by ascending frequency |s|, and these frequencies."""
    found = poles(held(body))
    found = found[found.imag > 1e-9 * np.abs(found).max()]
    return -found.real / np.abs(found), np.abs(found)


@covering("dim, reference", (2, 3), REFERENCES)
def test_modes_have_their_damping_ratios(reference, dim):
    """Those asked for exactly, the others none, and the undamped frequencies stay."""
    ratios = (0.02, 0.5, 0.0, 0.01, 0.9)
    found, frequencies = measured(beam(fem.Damping(ratios=ratios), reference=reference, dim=dim))
    np.testing.assert_allclose(found[:5], ratios, atol=1e-9)
    np.testing.assert_allclose(found[5:], 0.0, atol=1e-9)
    undamped = modes(held(beam(reference=reference, dim=dim))).frequencies
    np.testing.assert_allclose(frequencies[: len(undamped)], undamped, rtol=1e-8)


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_ratios_add_to_proportional_damping(strain):
    """ζ + α/2ω + βω/2."""
    damping = fem.Damping(ratios=(0.02, 0.05), mass=0.01, stiffness=1e-3)
    found, frequencies = measured(beam(damping, strain=strain))
    expected = 0.005 / frequencies + 0.5e-3 * frequencies
    expected[:2] += damping.ratios
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_equal_frequencies_are_damped_alike():
    """A square section has each bending mode twice: with equal ratios both planes are damped alike."""
    square = fem.Section(width=0.1, height=0.1)
    body = fem.beam(1.3, MATERIAL, square, elements=3, dim=3, damping=fem.Damping(ratios=(0.03, 0.03)))
    np.testing.assert_allclose(measured(body)[0][:3], [0.03, 0.03, 0.0], atol=1e-9)


def test_damping_of_long_beams():
    """Above 600 coordinates the modes come from shift-invert; φᵀ R φ = 2ζω of another route's shapes."""
    damped = beam(fem.Damping(ratios=(0.02, 0.01)), elements=110)
    found = modes(held(beam(elements=110)), 3)
    shapes = found.shapes[6 : 6 + damped.size].real
    viscous = shapes.T @ (damped.elasticity.viscous @ shapes)
    np.testing.assert_allclose(viscous, np.diag([0.04, 0.02, 0.0] * found.frequencies), atol=1e-8)


def test_no_ratios_leave_the_body_undamped():
    assert beam().elasticity.viscous is None
    assert not beam(fem.Damping(ratios=(0.0, 0.0))).elasticity.is_damped
    assert fem.Damping(ratios=[0.1, 0.2]) == fem.Damping(ratios=(0.1, 0.2))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: fem.Damping(ratios=(0.1, -0.01)), "ratios[1] must be at least 0 and below 1, got -0.01"),
        (lambda: fem.Damping(ratios=(1.0,)), "ratios[0] must be at least 0 and below 1, got 1.0"),
        (lambda: fem.Damping(ratios=(np.nan,)), "ratios must be finite"),
        (lambda: fem.Damping(ratios=("low",)), "ratios must be numbers"),
        (lambda: beam(fem.Damping(ratios=(0.1,) * 19)), "damping has 19 ratios, the body has only 18 modes"),
    ],
)
def test_wrong_ratios_are_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
