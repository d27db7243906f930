"""The displacement frame reference against reference frequencies and the exact dynamic stiffness."""

import numpy as np
import pytest
from displacement_frames import INCH, SI, closed_angles, four_bar_frequencies

HALF_DIGIT = 0.5001e-4  # half a unit of the last printed digit (rad/s)

# Reference frequencies (rad/s) of the SI data by crank angle (degrees).
REFERENCE = {
    0: (269.6183, 305.7164, 383.3525),
    90: (292.7676, 314.9078, 508.5935),
    180: (297.1404, 315.9855, 545.2409),
    270: (294.5464, 318.6216, 707.9292),
}


@pytest.mark.parametrize("degrees", REFERENCE)
def test_extrapolated_frequencies_are_those_of_the_reference(degrees):
    coarse, fine = (four_bar_frequencies(np.deg2rad(degrees), n, SI) for n in (16, 32))
    np.testing.assert_allclose((16 * fine - coarse) / 15, REFERENCE[degrees], rtol=0, atol=HALF_DIGIT)


@pytest.mark.parametrize("elements, omega", [(2, 270.2347), (4, 269.6576), (8, 269.6207), (16, 269.6184)])
def test_reference_convergence_of_the_first_frequency(elements, omega):
    assert four_bar_frequencies(0.0, elements, SI, count=1) == pytest.approx([omega], rel=0, abs=HALF_DIGIT)


@pytest.mark.covering
@pytest.mark.parametrize("data", [SI, INCH], ids=["SI", "INCH"])
@pytest.mark.parametrize("degrees", REFERENCE)
def test_extrapolated_frequencies_are_exact(degrees, data):
    """Meshes extrapolated in h^2 and h^4 meet the roots of the exact dynamic stiffness within 2e-10."""
    angle = np.deg2rad(degrees)
    coarse, medium, fine = (four_bar_frequencies(angle, n, data) for n in (16, 32, 64))
    coarse, medium = (4 * medium - coarse) / 3, (4 * fine - medium) / 3
    for omega in (16 * medium - coarse) / 15:
        below, above = (_determinant_sign(omega * (1 + shift), angle, data) for shift in (-2e-10, 2e-10))
        assert below * above == -1


@pytest.mark.parametrize("data", [SI, INCH], ids=["SI", "INCH"])
def test_loop_closes_above_the_ground_line(data):
    crank = np.deg2rad(np.arange(361))
    coupler, follower = np.transpose([closed_angles(angle, data) for angle in crank])
    a, b, c = data.lengths
    moving_pin = a * np.exp(1j * crank) + b * np.exp(1j * coupler)
    np.testing.assert_allclose(moving_pin + c * np.exp(1j * follower), data.ground, rtol=0, atol=1e-14)
    assert np.all(moving_pin.imag > 0)
    assert np.all(abs(np.diff(moving_pin)) < 2 * a * np.deg2rad(1))  # one branch over the whole turn


def test_loop_that_cannot_close():
    with pytest.raises(ValueError, match="cannot be closed"):
        closed_angles(0.0, SI._replace(ground=1.0))


def _determinant_sign(omega, crank_angle, data):
    """Sign of the determinant of the exact dynamic stiffness: links solved in closed form, no mesh."""
    # Unknowns: u, v, crank and coupler theta of the crank pin; u, v, coupler and follower theta of the moving
    # pin; theta of the follower tip. Slot 9 collects the fixed ones.
    dofs = [[9, 9, 9, 0, 1, 2], [0, 1, 3, 4, 5, 6], [4, 5, 7, 9, 9, 8]]
    stiffness = np.diag(-(omega**2) * data.pin_mass * np.array([1.0, 1, 0, 0, 1, 1, 0, 0, 0, 0]))
    for link, angle in enumerate((crank_angle, *closed_angles(crank_angle, data))):
        length, ei, ea = data.lengths[link], data.bending[link], data.young * data.areas[link]
        line_mass = data.density * data.areas[link]

        k, x = omega * np.sqrt(line_mass / ea), omega * np.sqrt(line_mass / ea) * length
        axial = ea * k / np.sin(x) * np.array([[np.cos(x), -1], [-1, np.cos(x)]])

        # Transverse: shapes exp(r s) with r^4 = line_mass omega^2 / EI; end displacements and end loads.
        r = (line_mass * omega**2 / ei) ** 0.25 * np.array([1, -1, 1j, -1j])
        end = np.exp(r * length)
        shapes = np.array([np.ones(4), r, end, r * end])
        loads = ei * np.array([r**3, -(r**2), -(r**3) * end, r**2 * end])
        transverse = (loads @ np.linalg.inv(shapes)).real

        local = np.zeros((6, 6))
        local[np.ix_([0, 3], [0, 3])] = axial
        local[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] = transverse
        cos, sin = np.cos(angle), np.sin(angle)
        to_local = np.kron(np.eye(2), [[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
        np.add.at(stiffness, np.ix_(dofs[link], dofs[link]), to_local.T @ local @ to_local)
    return np.linalg.slogdet(stiffness[:9, :9])[0]
