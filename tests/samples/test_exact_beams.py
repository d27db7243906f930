"""The exact beam frequencies against textbook values and asymptotes."""

import numpy as np
import pytest
from exact_beams import axial_frequencies, bending_frequencies, bending_roots


@pytest.mark.parametrize(
    "ends, printed",
    [
        ("clamped-free", [3.516015, 22.034492, 61.697214, 120.901916]),
        ("free-free", [22.373285, 61.672823]),
        ("clamped-hinged", [15.418206, 49.964862]),
    ],
)
def test_bending_frequencies_are_the_printed_ones(ends, printed):
    np.testing.assert_allclose(bending_frequencies(ends, len(printed)), printed, rtol=0, atol=0.5001e-6)


def test_hinged_beams_have_multiples_of_pi():
    np.testing.assert_allclose(bending_frequencies("hinged-hinged", 60), (np.pi * np.arange(1, 61)) ** 2, rtol=1e-14)


@pytest.mark.parametrize("ends, shift", [("clamped-free", -0.5), ("free-free", 0.5), ("clamped-hinged", 0.25)])
def test_high_roots_follow_their_asymptotes(ends, shift):
    """From the twelfth on, the roots are (k + shift) pi to rounding, none skipped or repeated."""
    np.testing.assert_allclose(bending_roots(ends, 60)[11:], (np.arange(12, 61) + shift) * np.pi, rtol=1e-14)


def test_axial_frequencies_are_multiples_of_half_waves():
    np.testing.assert_allclose(axial_frequencies("fixed-free", 3) / np.pi, [0.5, 1.5, 2.5])
    np.testing.assert_allclose(axial_frequencies("fixed-fixed", 3) / np.pi, [1, 2, 3])
    np.testing.assert_allclose(axial_frequencies("free-free", 3) / np.pi, [1, 2, 3])


@pytest.mark.parametrize("frequencies", [bending_frequencies, axial_frequencies])
def test_unknown_ends_are_refused(frequencies):
    with pytest.raises(KeyError):
        frequencies("free-clamped", 1)
