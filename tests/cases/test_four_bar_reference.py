"""The flexible four-bar linkage of [flex] sec. 6.1 against reference frequencies and plain displacement frames."""

import numpy as np
import pytest
from displacement_frames import INCH, SI, closed_angles, four_bar_frequencies

import fem
from flexph import GROUND, connect, eigenfrequencies, hinge, weld
from flexph.numerics.rotations import planar_angle

# Reference frequencies (rad/s) of the SI data by crank angle (degrees): exact to the printed digits
REFERENCE = {
    0: (269.6183, 305.7164, 383.3525),
    90: (292.7676, 314.9078, 508.5935),
    180: (297.1404, 315.9855, 545.2409),
    270: (294.5464, 318.6216, 707.9292),
}
HALF_DIGIT = 0.5001e-4  # half a unit of the last printed digit (rad/s)


def linkage(data, elements, pair="compatible"):
    """Crank welded to the ground, coupler and follower on hinges, a lumped mass at each of the moving joints."""
    material = fem.Material(young=data.young, density=data.density)
    bodies = {}
    for i, name in enumerate(("crank", "coupler", "follower")):
        section = fem.Section(area=data.areas[i], second_moment=data.bending[i] / data.young)
        bodies[name] = fem.beam(data.lengths[i], material, section, elements=elements, pair=pair)
    for name in ("coupler", "follower"):
        bodies[name] = bodies[name].with_mass("root", data.pin_mass)
    joints = [
        weld("crank.root", GROUND),
        hinge("crank.tip", "coupler.root"),
        hinge("coupler.tip", "follower.root"),
        hinge("follower.tip", GROUND.at(data.ground, 0.0)),
    ]
    return connect(bodies, joints)


def closed(mechanism, angle):
    """The pose at a crank angle [rad], in the branch above the ground line."""
    return mechanism.assemble({"crank": (0.0, 0.0, angle)}, guess={"coupler": 0.8, "follower": -1.0})


def frequencies(mechanism, angle, count=3):
    return eigenfrequencies(mechanism.linearize(closed(mechanism, angle)), count)


@pytest.fixture(scope="module")
def fine():
    return linkage(SI, 16)


@pytest.mark.parametrize("degrees", REFERENCE)
def test_frequencies_are_those_of_the_reference(fine, degrees):
    """16 elements leave a relative error near 1e-6, mostly of the axial strain."""
    np.testing.assert_allclose(frequencies(fine, np.deg2rad(degrees)), REFERENCE[degrees], rtol=1e-5)


@pytest.mark.parametrize("elements, omega", [(2, 270.2347), (4, 269.6576), (8, 269.6207), (16, 269.6184)])
def test_convergence_of_the_first_frequency(elements, omega):
    """Reference values of displacement elements at 0°, to the printed digits: the default pair is one of them."""
    assert frequencies(linkage(SI, elements), 0.0, 1) == pytest.approx([omega], rel=0, abs=HALF_DIGIT)


def test_the_pair_of_the_paper_gives_the_same_frequencies():
    """[flex] sec. 6 with its own elements: its spurious axial modes lie far above the lowest three."""
    found = frequencies(linkage(SI, 8, pair="paper"), np.deg2rad(90.0))
    np.testing.assert_allclose(found, REFERENCE[90], rtol=1e-5)


STEP = np.deg2rad(5.0)
ANGLES = STEP * np.arange(72)


@pytest.fixture(scope="module")
def turn():
    """Poses and the lowest three frequencies over a whole turn of the crank, inch data, 2 elements per link."""
    mechanism = linkage(INCH, 2)
    poses = [closed(mechanism, angle) for angle in ANGLES]
    return poses, np.array([eigenfrequencies(mechanism.linearize(pose), 3) for pose in poses])


def test_the_loop_closes_in_one_branch(turn):
    """Link angles in closed form; Newton closes the loop to 1e-12 of its size."""
    found = np.array([planar_angle(pose.rotations) for pose in turn[0]])
    expected = np.array([(angle, *closed_angles(angle, INCH)) for angle in ANGLES])
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * expected), atol=1e-11)


def test_frequencies_over_a_whole_turn(turn):
    """Every value is that of displacement frames with the same mesh, whatever the angle.

    The default pair is algebraically the displacement element: only the round-off of both routes is left.
    """
    expected = np.array([four_bar_frequencies(angle, 2, INCH) for angle in ANGLES])
    np.testing.assert_allclose(turn[1], expected, rtol=1e-10)


def test_frequencies_are_smooth_over_the_turn(turn):
    """|Δ²ω| ≤ |ω''| step²: no jumps, no exchanged branches.

    Displacement frames bend most near 350°: 750, 350 and 3800 rad/s per rad² in steps of 3°.
    """
    omega = turn[1]
    second = np.roll(omega, 1, axis=0) - 2.0 * omega + np.roll(omega, -1, axis=0)
    assert np.all(np.abs(second).max(axis=0) < np.array([800.0, 400.0, 4000.0]) * STEP**2)
