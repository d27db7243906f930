"""What a run or a mechanism says of itself where it would mislead: long steps, loose axes, missing forces."""

import warnings

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import (
    GROUND,
    InputError,
    ValidityWarning,
    connect,
    drive,
    eigenfrequencies,
    integrate,
    modes,
    revolute,
    spherical,
    torque,
    weld,
)
from flexph.export import write_modes

ROD = rigid.cylinder(0.5, 0.02, density=2700.0)
Z = (0.0, 0.0, 1.0)
ORIGIN = GROUND.at(0.0, 0.0, 0.0)
DOWN = (0.0, 0.0, -9.81)


def test_long_steps_are_said():
    mechanism = connect({"a": ROD}, [revolute("a.root", ORIGIN, axis=Z)])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"a": (0.0, 0.0, 15.0)})
    with pytest.warns(ValidityWarning, match=r"'a' turns by up to 1\.5 rad in a step of 0\.1 s"):
        integrate(mechanism, start, np.linspace(0.0, 0.5, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        integrate(mechanism, start, np.linspace(0.0, 0.5, 11))


def test_a_driven_angle_without_a_joint_is_said():
    joints = [spherical("a.root", ORIGIN), drive("a.root", GROUND, angle=lambda t: t, axis=Z)]
    loose = connect({"a": ROD}, joints, gravity=DOWN)
    with pytest.warns(ValidityWarning, match=r"drive a.root–GROUND: angle: no joint holds its axis"):
        integrate(loose, loose.consistent_state(loose.assemble()), np.linspace(0.0, 1.0, 201))


def test_states_without_joint_forces_are_refused():
    mechanism = connect({"a": ROD}, [revolute("a.root", ORIGIN, axis=(0.0, 1.0, 0.0))], gravity=DOWN)
    with pytest.raises(ValueError, match=r"no joint forces yet.*mechanism\.equilibrium"):
        mechanism.reaction(
            mechanism.consistent_state(mechanism.assemble()), "revolute a.root–GROUND at (0.0, 0.0, 0.0)"
        )


def test_a_spin_that_the_joints_do_not_have():
    mechanism = connect({"a": ROD}, [weld("a.root", ORIGIN)])
    with pytest.raises(ValueError, match=r"weld a.root–GROUND.* must allow the steady rotation.* revolute"):
        mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, 20.0))


UPRIGHT = Rotation.from_euler("y", -90, degrees=True)


def rotor_on_tower(driven, gravity):
    """A rotor on a flexible tower, turning; its pose, and the spin."""
    joints = [weld("tower.root", ORIGIN), revolute("rotor.root", "tower.tip", axis=(1.0, 0.0, 0.0))]
    if driven:
        joints.append(drive("rotor.root", "tower.tip", angle=lambda t: 5.0 * t, axis=(1.0, 0.0, 0.0)))
    section = fem.Section(diameter=0.02)
    tower = fem.beam(1.0, fem.Material(young=2e11, density=7850.0, poisson=0.3), section, elements=2, dim=3)
    mechanism = connect({"tower": tower, "rotor": ROD}, joints, gravity=gravity)
    return mechanism, mechanism.assemble({"tower": UPRIGHT}), (0.0, 0.0, 5.0)


@pytest.mark.parametrize("gravity", [None, DOWN])
@pytest.mark.parametrize("driven", [True, False])
def test_a_rotor_on_a_flexible_tower_is_no_steady_rotation_of_the_whole(driven, gravity):
    mechanism, pose, spin = rotor_on_tower(driven, gravity)
    with pytest.raises(ValueError, match=r"weld tower.root.*otor on a support at rest.*floquet"):
        mechanism.equilibrium(pose, spin=spin)
    if gravity is not None:  # the tower has no load at the start
        with pytest.raises(ValueError, match=r"not balanced.*floquet"):
            mechanism.spectrum(mechanism.consistent_state(pose, velocities={"rotor": spin}))


@pytest.mark.parametrize("driven", [True, False])
def test_a_rotor_splits_the_frequencies_of_its_tower(driven):
    """Gyroscopic moments of a round rotor: one frequency of each pair rises, the other falls; nothing grows."""
    mechanism, pose, spin = rotor_on_tower(driven, None)
    still = connect({name: mechanism.bodies[name] for name in ("tower", "rotor")}, mechanism.connections[:2])
    upright = still.assemble({"tower": UPRIGHT})
    rest = eigenfrequencies(still.linearize(still.consistent_state(upright)))
    found = mechanism.spectrum(mechanism.consistent_state(pose, velocities={"rotor": spin}))
    assert found.symmetries == (() if driven else ("turn of rotor",))
    turning = np.sort(found.values.imag[found.values.imag > 1.0])
    assert np.abs(found.values.real).max() < 1e-9 * turning.max()  # round-off
    bends = np.sort(rest[rest > 1.0])
    for pair in (0, 2):
        assert turning[pair] < bends[pair] < turning[pair + 1]
        assert turning[pair] * turning[pair + 1] == pytest.approx(bends[pair] ** 2, rel=1e-6)


def test_poses_and_states_are_not_mixed_up():
    mechanism = connect({"a": ROD}, [spherical("a.root", ORIGIN)], gravity=DOWN)
    pose = mechanism.assemble()
    state = mechanism.equilibrium(pose)
    for call in (mechanism.describe, mechanism.consistent_state, mechanism.equilibrium):
        with pytest.raises(ValueError, match=r"pose must be a Pose, see mechanism\.assemble"):
            call(state)
    with pytest.raises(ValueError, match="guess must be a dict of names with"):
        mechanism.assemble(guess=state)
    with pytest.raises(ValueError, match="state must be a State"):
        mechanism.position(pose, "a.tip")


def test_where_an_equilibrium_is_and_how_it_moves(tmp_path):
    beam = fem.beam(
        1.0, fem.Material(young=1e8, density=900.0, poisson=0.3), fem.Section(diameter=0.03), elements=3, dim=3
    )
    mechanism = connect({"b": beam}, [weld("b.root", ORIGIN)], gravity=DOWN)
    state = mechanism.equilibrium(mechanism.assemble())
    tip = mechanism.position(state, "b.tip")
    w, second = 900.0 * np.pi * 0.015**2 * 9.81, np.pi * 0.03**4 / 64.0
    assert tip[2] == pytest.approx(-w / (8.0 * 1e8 * second), rel=1e-2)  # w L⁴/8EI; moments linear on 3 elements
    mesh = meshio.read(write_modes(tmp_path / "m.vtu", mechanism, state, modes(mechanism.linearize(state), 2)))
    np.testing.assert_allclose(mesh.points[-1], tip, atol=1e-12)
    assert np.linalg.norm(mesh.point_data["mode_1"], axis=1).argmax() == len(mesh.points) - 1


def test_bodies_and_mechanisms_print_what_they_are():
    cube = rigid.box((0.2, 0.2, 0.2), density=1000.0)
    assert repr(cube) == "<Body of the space: 8 kg, rigid; ports centre>"
    assert np.diag(cube.moments) == pytest.approx([8.0 * 0.2**2 / 6.0] * 3)
    assert cube.centre == pytest.approx([0.0, 0.0, 0.0])
    assert repr(connect({"cube": cube}, [])) == "<Mechanism of the space: cube; 0 connections>"


def test_functions_that_raise_are_named():
    joints = [
        revolute("a.root", ORIGIN, axis=Z),
        drive("a.root", GROUND, angle=lambda t: t if t < 0.15 else 1 / 0, axis=Z),
    ]
    mechanism = connect({"a": ROD}, joints)
    start = mechanism.consistent_state(mechanism.assemble())
    with pytest.raises(InputError, match=r"drive a.root–GROUND: angle:.*prescribed motion .* raised ZeroDivisionError"):
        integrate(mechanism, start, np.linspace(0.0, 0.4, 5))
    pushed = connect({"a": ROD}, [torque("a.root", name="motor")])
    start = pushed.consistent_state(pushed.assemble())
    with pytest.raises(InputError, match=r"input 'motor' at t = .* raised KeyError") as caught:
        integrate(pushed, start, np.linspace(0.0, 0.4, 5), inputs={"motor": lambda t: {}["no"]})
    assert caught.value.solution.times.tolist() == [0.0]
