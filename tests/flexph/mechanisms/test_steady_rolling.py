"""Small motions about steady motions with relative motion: rolling straight and in circles, gyroscopes, bad states."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigvals
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases.bicycle import PUBLISHED, bicycle, closed_form, riding, upright
from flexph import (
    GROUND,
    connect,
    drive,
    eliminate,
    gear,
    hinge,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)
from flexph.analysis import floquet
from flexph.joints import knife_edge, rolling_disc, slipping_wheel
from flexph.laws import viscous

MASS, RADIUS, GRAVITY = 1.5, 0.3, 9.81
AXIAL, ACROSS = 0.5 * MASS * RADIUS**2, 0.25 * MASS * RADIUS**2


def matched(values, expected):
    """Largest distance of expected exponents from the nearest found ones, each used once."""
    left, far = list(values), 0.0
    for s in expected:
        i = int(np.argmin(np.abs(np.array(left) - s)))
        far = max(far, abs(left.pop(i) - s))
    return far


def disc(axis=(0.0, 0.0, 1.0), normal=None, turn=None, inertia=(ACROSS, ACROSS, AXIAL)):
    turn = np.eye(3) if turn is None else turn
    body = rigid.body(MASS, inertia=inertia, ports={"centre": (0.0, 0.0, 0.0)})
    down = turn @ np.array([0.0, 0.0, -GRAVITY])
    rolls = rolling_disc("disc.centre", radius=RADIUS, axis=axis, normal=turn @ np.array([0.0, 0.0, 1.0]))
    return connect({"disc": body}, [rolls], gravity=down)


# --- the bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007) ---------------------------------------------------


def test_a_bicycle_has_the_published_exponents():
    spectrum = bicycle().spectrum(riding(bicycle(), 5.0))
    assert matched(spectrum.values, PUBLISHED) < 1e-12  # digits of the paper
    assert spectrum.symmetries == (
        "translation along x",
        "translation along y",
        "rotation about z",
        "turn of rear",
        "turn of front",
    )
    assert np.sum(spectrum.values == 0.0) == 1  # another speed
    assert "no growing motion" in spectrum.message


@pytest.mark.parametrize("speed", [0.1, 1.0, 3.0, 4.292382536341, 6.024262015388, 10.0, 40.0])
def test_a_bicycle_agrees_with_its_linear_equations_at_any_speed(speed):
    mechanism, expected = bicycle(), closed_form(speed)
    spectrum = mechanism.spectrum(riding(mechanism, speed))
    assert len(spectrum.values) == 5
    # fourteen digits of the published matrices, of exponents up to 100
    assert matched(spectrum.values, expected) < 1e-12 * max(10.0, np.abs(expected).max() ** 2)
    grows = expected.real.max() > 1e-9
    assert ("unstable" in spectrum.message) == grows


def test_at_rest_a_bicycle_falls_and_about_slow_rolling_it_falls_alike():
    mechanism = bicycle()
    slow = mechanism.spectrum(riding(mechanism, 1e-4)).values
    still = mechanism.spectrum(mechanism.equilibrium(upright(mechanism))).values
    assert matched(slow, [s for s in still if s != 0.0]) < 1e-3


def test_the_exponents_do_not_depend_on_the_world():
    """Heading, place and plane of the ground are arbitrary."""
    turn = Rotation.from_rotvec((0.4, -0.7, 0.3)).as_matrix()
    mechanism = bicycle(turn)
    spectrum = mechanism.spectrum(riding(mechanism, 5.0, turn=turn))
    assert matched(spectrum.values, PUBLISHED) < 1e-11
    assert len(spectrum.values) == 5 and len(spectrum.symmetries) == 5
    assert set(spectrum.symmetries) >= {"turn of rear", "turn of front"}


# --- a disc that rolls in circles -------------------------------------------------------------------------------------


def rates(y):
    """Euler's equations of a disc with the tilt θ from the ground, spins along the path, up the disc, along its axis.

    The contact force is that of its centre's acceleration, v = ω × r e₂.
    """
    tilt, w1, w2, w3 = y
    s, c = np.sin(tilt), np.cos(tilt)
    w = w2 * c / s  # of the axes along the normal of the disc
    m = MASS * RADIUS**2
    along = (-MASS * GRAVITY * RADIUS * c - w2 * AXIAL * w3 + w * ACROSS * w2 - m * w2 * w3) / (ACROSS + m)
    return np.array([w1, along, w1 * (AXIAL * w3 - w * ACROSS) / ACROSS, m * w1 * w2 / (AXIAL + m)])


def circle(tilt, w2):
    """Spin along the axis of a steady circle, and its exponents by a complex step."""
    m, s, c = MASS * RADIUS**2, math.sin(tilt), math.cos(tilt)
    w3 = (ACROSS * w2 * w2 * c / s - MASS * GRAVITY * RADIUS * c) / (w2 * (AXIAL + m))
    y = np.array([tilt, 0.0, w2, w3])
    jacobian = np.array([np.imag(rates(y + 1e-30j * e)) / 1e-30 for e in np.eye(4)]).T
    return w3, np.linalg.eigvals(jacobian)


def circling(tilt, w2, turn):
    """The disc in its steady circle."""
    w3, expected = circle(tilt, w2)
    s, c = math.sin(tilt), math.cos(tilt)
    e = turn @ np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]]).T
    mechanism, spin = disc(turn=turn), w2 * e[:, 1] + w3 * e[:, 2]
    pose = mechanism.assemble({"disc": (RADIUS * e[:, 1], e)})
    velocity = np.cross(spin, RADIUS * e[:, 1])
    return mechanism, mechanism.consistent_state(pose, velocities={"disc": (velocity, spin)}), expected


@pytest.mark.parametrize(("tilt", "w2"), [(1.1, 2.0), (1.3, -1.0), (0.5, 6.0), (1.5, 0.05)])
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, 0.5, -1.0)])
def test_a_disc_that_rolls_in_a_circle(tilt, w2, turn):
    mechanism, state, expected = circling(tilt, w2, Rotation.from_rotvec(turn).as_matrix())
    spectrum = mechanism.spectrum(state)
    assert len(spectrum.symmetries) == 4 and len(spectrum.values) == 4
    # two are zero: neighbours in tilt and speed roll in circles, too; a zero of a Jordan block has √ε
    assert matched(spectrum.values, expected) < 1e-9 * np.abs(expected).max() + 1e-7


def test_a_disc_that_rolls_straight_falls_below_its_critical_speed():
    """s² = g m r/(J + m r²) − ω² C (C + m r²)/(J (J + m r²)), zero at the critical spin."""
    m, mechanism = MASS * RADIUS**2, disc()
    pose = mechanism.assemble({"disc": ((0.0, 0.0, RADIUS), Rotation.from_euler("x", -90, degrees=True))})
    for spin in (1.0, 2.0, 5.0, 20.0):
        velocity = {"disc": ((spin * RADIUS, 0.0, 0.0), (0.0, spin, 0.0))}
        spectrum = mechanism.spectrum(mechanism.consistent_state(pose, velocities=velocity))
        square = (MASS * GRAVITY * RADIUS - spin**2 * AXIAL * (AXIAL + m) / ACROSS) / (ACROSS + m)
        expected = np.sqrt(complex(square)) * np.array([1.0, -1.0])
        assert matched(spectrum.values, expected) < 1e-11 * max(1.0, abs(expected[0]))
        assert ("unstable" in spectrum.message) == (square > 0.0)


# --- rotors that turn on bodies at rest -------------------------------------------------------------------------------

HUNG = {"pin": (0.0, 0.0, 0.0), "axle": (0.0, 0.0, -0.4)}


def gyroscope(*, inertia=(0.01, 0.01, 0.018), joints=(), further=None):
    housing = rigid.body(1.0, inertia=(0.02, 0.02, 0.015), centre=(0.0, 0.0, -0.2), ports=HUNG)
    rotor = rigid.body(2.0, inertia=inertia, ports={"hub": (0.0, 0.0, 0.0), "rim": (0.1, 0.0, 0.0)})
    axle = hinge("rotor.hub", "housing.axle", axis=(0.0, 0.0, 1.0))
    parts = [spherical("housing.pin", GROUND.at(0.0, 0.0, 0.0)), axle, *joints]
    return connect({"housing": housing, "rotor": rotor, **(further or {})}, parts, gravity=(0.0, 0.0, -GRAVITY))


def spinning(mechanism, spin):
    pose = mechanism.assemble({"housing": ((0.0, 0.0, 0.0), np.eye(3)), "rotor": ((0.0, 0.0, -0.4), np.eye(3))})
    velocities = {"housing": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), "rotor": ((0.0, 0.0, 0.0), (0.0, 0.0, spin))}
    return mechanism.consistent_state(pose, velocities=velocities)


@pytest.mark.parametrize("spin", [0.01, 3.0, 60.0, -400.0])
def test_a_gyroscope_hangs_from_a_point(spin):
    """I z̈ − i C ω ż + g Σ m l z = 0 for its tilt z = x + iy, seen in the world."""
    mechanism = gyroscope()
    spectrum = mechanism.spectrum(spinning(mechanism, spin))
    inertia = 0.02 + 0.04 + 0.01 + 2.0 * 0.16
    tilt = np.roots([inertia, -1j * 0.018 * spin, GRAVITY * (0.2 + 2.0 * 0.4)])
    assert matched(spectrum.values, [*tilt, *tilt.conj()]) < 1e-11 * np.abs(tilt).max()
    assert spectrum.symmetries == ("rotation about z", "turn of rotor")
    assert "no growing motion" in spectrum.message
    np.testing.assert_array_equal(spectrum.fixed_values, spectrum.values)


def test_the_multipliers_over_a_turn_are_those_of_the_exponents():
    mechanism = gyroscope()
    state = spinning(mechanism, 60.0)
    exponents = mechanism.spectrum(state).values
    period = 2.0 * math.pi / 60.0
    found = floquet(mechanism, state, period=period, steps=12).multipliers
    assert matched(found, np.exp(exponents[exponents != 0.0] * period)) < 5e-5  # sixth order in h ω = 0.5


def test_a_driven_rotor_has_no_freedom_of_its_own():
    mechanism = gyroscope(joints=[drive("rotor.hub", "housing.axle", axis=(0.0, 0.0, 1.0), angle=lambda t: 60.0 * t)])
    free, driven = gyroscope().spectrum(spinning(gyroscope(), 60.0)), mechanism.spectrum(spinning(mechanism, 60.0))
    assert matched(driven.values, free.values[free.values.imag != 0.0]) < 1e-9
    assert driven.symmetries == ("rotation about z",)


def test_a_flexible_mast_carries_a_rotor():
    """The linear system at rest has the same exponents with the gyroscopic torques C s (e × ω) of the rotor."""
    steel, spin = fem.Material(young=2.1e11, density=7850.0, poisson=0.3), 300.0
    mast = fem.beam(1.0, steel, fem.Section(width=0.02, height=0.015), elements=2, dim=3)
    rotor = rigid.body(0.5, inertia=(2e-3, 1e-3, 1e-3), ports={"hub": (0.0, 0.0, 0.0)})
    foot = weld("mast.root", GROUND.at(0.0, 0.0, 0.0))
    mechanism = connect({"mast": mast, "rotor": rotor}, [foot, hinge("rotor.hub", "mast.tip", axis=(1.0, 0.0, 0.0))])
    pose = mechanism.assemble({"mast": ((0.0, 0.0, 0.0), np.eye(3)), "rotor": ((1.0, 0.0, 0.0), np.eye(3))})
    still = np.zeros(3)
    state = mechanism.consistent_state(pose, velocities={"mast": (still, still), "rotor": (still, (spin, 0.0, 0.0))})
    values = mechanism.spectrum(state).values
    system = mechanism.linearize(pose)
    at, J = system.parts["rotor.spin"].start, np.array(system.J)
    J[at + 1, at + 2] -= 2e-3 * spin
    J[at + 2, at + 1] += 2e-3 * spin
    free = eliminate(replace(system, J=J))
    expected = eigvals(free.J - free.R, free.E)
    assert matched(values, expected[np.abs(expected) > 1.0]) < 1e-9 * np.abs(expected).max()


def test_gears_that_turn_steadily():
    """Two spinning wheels in gear on a hung housing count with both of their momenta."""
    ratio = -0.5
    third = rigid.body(0.5, inertia=(0.004, 0.004, 0.007), ports={"hub": (0.0, 0.0, 0.0)})
    joints = [
        hinge("wheel.hub", "housing.axle", axis=(0.0, 0.0, 1.0)),
        gear("rotor.hub", "wheel.hub", "housing.axle", ratio=ratio, axis=(0.0, 0.0, 1.0)),
    ]
    mechanism = gyroscope(joints=joints, further={"wheel": third})
    place = ((0.0, 0.0, -0.4), np.eye(3))
    pose = mechanism.assemble({"housing": ((0.0, 0.0, 0.0), np.eye(3)), "rotor": place, "wheel": place})
    still, spin = np.zeros(3), 60.0
    rates = {"housing": 0.0, "rotor": spin, "wheel": spin / ratio}
    start = {name: (still, (0.0, 0.0, rate)) for name, rate in rates.items()}
    state = mechanism.consistent_state(pose, velocities=start)
    inertia = 0.02 + 0.04 + 0.01 + 0.004 + 2.5 * 0.16
    momentum = 0.018 * spin + 0.007 * spin / ratio
    tilt = np.roots([inertia, -1j * momentum, GRAVITY * (0.2 + 2.5 * 0.4)])
    assert matched(mechanism.spectrum(state).values, [*tilt, *tilt.conj()]) < 1e-9


def test_a_skate_glides_without_turning_back():
    """Knife edge behind the centre of mass: s = −v d m/(J + m d²) of its yaw, and s = 0 of its speed (Chaplygin)."""
    sledge = rigid.body(2.0, inertia=0.3, centre=(0.2, 0.0), ports={"edge": (0.0, 0.0)})
    mechanism = connect({"sledge": sledge}, [knife_edge("sledge.edge", axis=(0.0, 1.0))])
    for speed in (3.0, -3.0):
        state = mechanism.consistent_state(mechanism.assemble(), velocities={"sledge": (speed, 0.0, 0.0)})
        spectrum = mechanism.spectrum(state)
        yaw = -speed * 0.2 * 2.0 / (0.3 + 2.0 * 0.04)
        assert matched(spectrum.values, [yaw, 0.0]) < 1e-12 * abs(yaw)
        assert len(spectrum.values) == 2
        assert spectrum.symmetries == ("translation along x", "translation along y", "rotation about z")
        assert ("unstable" in spectrum.message) == (speed < 0.0)


# --- states that are refused ------------------------------------------------------------------------------------------


def test_motions_that_are_not_steady_are_refused_by_name():
    mechanism = gyroscope(inertia=(0.01, 0.012, 0.018))
    with pytest.raises(ValueError, match=r"the linearised equations change.*'rotor'.* must be symmetric"):
        mechanism.spectrum(spinning(mechanism, 60.0))
    spring = spring_damper("rotor.rim", GROUND.at(0.5, 0.0, -0.4), stiffness=3.0, length=0.1)
    mechanism = gyroscope(joints=[spring])
    with pytest.raises(ValueError, match="roll steadily: "):
        mechanism.spectrum(spinning(mechanism, 60.0))
    slow = disc()
    pose = slow.assemble(guess={"disc": ((0.0, 0.0, RADIUS), Rotation.from_euler("x", -80, degrees=True))})
    state = slow.consistent_state(pose, velocities={"disc": ((1.0, 0.0, 0.0), (0.0, 1.0 / RADIUS, 0.0))})
    with pytest.raises(ValueError, match="roll steadily: "):
        slow.spectrum(state)
    with pytest.raises(ValueError, match=r"mechanism.linearize at a state that moves is not available"):
        mechanism = bicycle()
        mechanism.linearize(riding(mechanism, 5.0))


def test_a_torque_keeps_a_motion_up_only_if_it_is_given():
    """A damper on the axle takes what the torque gives."""
    joints = [
        torsion_spring("rotor.hub", "housing.axle", stiffness=0.0, damping=0.01, axis=(0.0, 0.0, 1.0)),
        torque("rotor.hub", against="housing.axle", name="motor"),
    ]
    mechanism = gyroscope(joints=joints)
    state = spinning(mechanism, 60.0)
    with pytest.raises(ValueError, match=r"is not balanced by the joints. Give the inputs="):
        mechanism.spectrum(state)
    spectrum = mechanism.spectrum(state, inputs={"motor": (0.0, 0.0, 0.6)})
    own = -0.01 * (1.0 / 0.018 + 1.0 / 0.015)  # the rotor against the housing, which turns freely about the vertical
    assert np.abs(spectrum.values - own).min() < 1e-9


def test_slipping_wheels_are_refused_at_rest():
    grip = slipping_wheel("disc.centre", radius=0.3, friction=viscous(1.0))
    mechanism = connect({"disc": disc().bodies["disc"]}, [grip])
    with pytest.raises(ValueError, match="does not support slipping wheels"):
        mechanism.spectrum(mechanism.consistent_state(mechanism.assemble()))
