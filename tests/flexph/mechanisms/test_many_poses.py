"""Many poses at once beside one at a time: the same places, anchors and frequencies."""

import numpy as np
import pytest

import fem
import rigid
from cases import four_bar
from flexph import GROUND, connect, drive, eigenfrequencies, hinge, revolute, slider, spherical, spring_damper, weld
from flexph.linear import sweep
from flexph.linear.elimination import RedundantConstraintWarning

STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)
BAR = fem.Section(width=0.02, height=0.01)
ANGLES = np.array([0.1, 0.9, 1.7, 2.9])


def beam(length=0.5, **options):
    return fem.beam(length, STEEL, BAR, elements=3, **options)


def four_bars():
    data = four_bar.DATA["si"]
    mechanism = four_bar.four_bar(data, 3)
    return mechanism, {
        "fixed": {"crank": [(0.0, 0.0, a) for a in ANGLES]},
        "guess": {"coupler": [0.7] * 4, "follower": [-1.4] * 4},
    }


def driven():
    """A driven crank, a weld that keeps the angle of the pose, and a rigid body at the end."""
    joints = [
        hinge("crank.root", GROUND),
        drive("crank.root", GROUND, angle=lambda t: 0.4 + t),
        hinge("crank.tip", "arm.root"),
        weld("arm.tip", "load.centre"),
    ]
    load = rigid.body(0.3, inertia=1e-3, ports={"centre": (0.0, 0.0)})
    mechanism = connect({"crank": beam(), "arm": beam(0.3), "load": load}, joints)
    return mechanism, {"guess": {"arm": list(ANGLES), "load": list(0.5 * ANGLES)}}


def in_space():
    joints = [spherical("first.root", GROUND), spherical("first.tip", "second.root")]
    turns = [np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]]) for a in ANGLES]
    bodies = {"first": beam(dim=3), "second": beam(0.4, dim=3)}
    return connect(bodies, joints), {"fixed": {"first": turns}, "guess": {"second": turns}}


def guided():
    """Revolute joints have directions that guide the assembly: their poses are closed one by one."""
    joints = [
        revolute("first.root", GROUND, axis=(0.0, 0.0, 1.0)),
        revolute("first.tip", "second.root", axis=(0.0, 1.0, 0.0)),
    ]
    mechanism = connect({"first": beam(dim=3), "second": beam(0.4, dim=3)}, joints)
    eye = np.eye(3)
    return mechanism, {"guess": {"first": [eye] * 2, "second": [eye] * 2}}


def free():
    return connect({"left": beam(), "right": beam(0.4)}, [hinge("left.tip", "right.root")]), {
        "guess": {"right": list(ANGLES)}
    }


def sprung():
    """Springs take part in the frequencies: they are found one pose at a time."""
    joints = [hinge("arm.root", GROUND), spring_damper("arm.tip", GROUND.at(0.0, 1.0), stiffness=1e4)]
    return connect({"arm": beam()}, joints), {"fixed": {"arm": [(0.0, 0.0, a) for a in ANGLES]}}


def alone():
    return connect({"arm": beam()}, []), {"guess": {"arm": [0.0, 1.0]}}


MECHANISMS = [alone, four_bars, driven, in_space, guided, free, sprung]


@pytest.fixture(params=MECHANISMS, ids=lambda make: make.__name__)
def given(request):
    return request.param()


def one_by_one(mechanism, places):
    count = len(next(iter(next(iter(places.values())).values())))
    return [
        mechanism.assemble(**{k: {name: own[i] for name, own in bodies.items()} for k, bodies in places.items()})
        for i in range(count)
    ]


@pytest.mark.processor
def test_poses_are_those_of_assemblies_one_by_one(given):
    mechanism, places = given
    together = mechanism.assemble_all(**places)
    alone = one_by_one(mechanism, places)
    assert len(together) == len(alone)
    for a, b in zip(together, alone, strict=True):  # both closed to round-off of positions of about 1 m
        np.testing.assert_allclose(a.centres, b.centres, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(a.rotations, b.rotations, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(a.anchors.rows, b.anchors.rows, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(a.anchors.springs, b.anchors.springs, rtol=0.0, atol=1e-14)


@pytest.mark.processor
def test_frequencies_are_those_of_linear_systems(given):
    mechanism, places = given
    poses = mechanism.assemble_all(**places)
    expected = [eigenfrequencies(mechanism.linearize(pose), 3) for pose in poses]
    # round-off of the squares of the lowest frequencies over those of the bodies
    np.testing.assert_allclose(mechanism.eigenfrequencies(poses, 3), expected, rtol=1e-9)
    np.testing.assert_allclose(mechanism.eigenfrequencies(list(poses)[:1], 3), expected[:1], rtol=1e-9)


def test_all_frequencies_there_are():
    mechanism, places = four_bars()
    poses = mechanism.assemble_all(**places)
    every = eigenfrequencies(mechanism.linearize(poses[1]))
    np.testing.assert_allclose(mechanism.eigenfrequencies(poses, every.size)[1], every, rtol=1e-9)
    with pytest.raises(ValueError, match=f"count={every.size + 1} exceeds the number of frequencies .*{every.size}"):
        mechanism.eigenfrequencies(poses, every.size + 1)


def test_redundant_constraints_are_told_as_one_by_one():
    """A slider holds a hinged point once more."""
    hinged, along = hinge("arm.root", GROUND), slider("arm.root", GROUND, direction=(1.0, 0.0), turning=True)
    mechanism, once = connect({"arm": beam()}, [hinged, along]), connect({"arm": beam()}, [hinged])
    pose = mechanism.assemble()
    with pytest.warns(RedundantConstraintWarning, match="slider arm.root"):
        frequencies = mechanism.eigenfrequencies([pose], 2)
    np.testing.assert_allclose(frequencies[0], eigenfrequencies(once.linearize(once.assemble()), 2), rtol=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        np.column_stack([np.zeros((4, 2)), ANGLES]),
        [np.array([0.0, 0.0, a]) for a in ANGLES],
        [(0, 0, a) for a in ANGLES],
        [(0.0, 0.0, ANGLES[0]), *ANGLES[1:]],
    ],
    ids=["array", "arrays", "whole numbers", "mixed"],
)
def test_places_in_every_form(given):
    mechanism, places = four_bars()
    places = places | {"fixed": {"crank": given}}
    for a, b in zip(mechanism.assemble_all(**places), one_by_one(mechanism, places), strict=True):
        np.testing.assert_allclose(a.centres, b.centres, rtol=0.0, atol=1e-14)  # round-off of positions below 1 m
        np.testing.assert_allclose(a.rotations, b.rotations, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("off", [1.7, 2.6, -2.8, np.pi])
@pytest.mark.parametrize("what", ["weld", "drive"])
def test_stated_angles_are_met_from_far_guesses(what, off):
    """Not half a turn off, where their sine is zero, too; of one pose and of many, in a loop as well."""
    at, bar = GROUND.at(0.1, 0.2), rigid.bar(0.5, 1.0)
    turned = {
        "weld": [weld("arm.root", at, angle=0.3)],
        "drive": [hinge("arm.root", at), drive("arm.root", at, angle=lambda t: 0.3 + t)],
    }[what]
    elbow = [hinge("arm.tip", "hand.root"), weld("hand.tip", "load.root", angle=-1.2)]
    mechanism = connect(dict.fromkeys(("arm", "hand", "load"), bar), [*turned, *elbow])
    guess = {"arm": [0.3 + off, 0.4], "hand": [0.1, 0.2], "load": [0.1 + 1.2 + off, 1.0]}
    poses = mechanism.assemble_all(guess=guess)
    for i, pose in enumerate(poses):
        for own in (pose, mechanism.assemble(guess={name: given[i] for name, given in guess.items()})):
            arm, hand, load = np.arctan2(own.rotations[:, 1, 0], own.rotations[:, 0, 0])
            stated = np.exp(1j * np.array([arm, hand - load]))
            np.testing.assert_allclose(stated, np.exp(1j * np.array([0.3, -1.2])), rtol=0.0, atol=1e-14)  # round-off
            mechanism.consistent_state(own)


@pytest.mark.parametrize("off", [0.2, np.pi])
def test_fixed_bodies_at_other_angles_are_told(off):
    mechanism = connect({"arm": rigid.bar(0.5, 1.0)}, [weld("arm.root", GROUND.at(0.1, 0.2), angle=0.3)])
    with pytest.raises(ValueError, match=f"weld arm.root.* in angle is open by {off:.3g} rad"):
        mechanism.assemble({"arm": 0.3 + off})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"fixed": {"crank": [(0.0, 0.0, 1.0)]}, "guess": {"coupler": [0.7, 0.8]}},
            "equally many placements of each body, at least one, got .1, 2.",
        ),
        ({"fixed": {"crank": (0, 0, 1)}}, r"write \[\(0, 0, 1\)\] for one placement, \[0, 0, 1\] for angles"),
        ({}, "equally many placements of each body"),
        ({"fixed": 1.0}, "fixed must be a dict of names with lists of values, got 1.0"),
        ({"fixed": {"crank": 1.0}}, r"fixed\['crank'\] must be a list of values, got 1.0"),
        ({"fixed": {"krank": [1.0]}}, "no body 'krank'"),
        ({"fixed": {"crank": [1.0, True]}, "guess": {}}, "angle of 'crank' must be a number, got True"),
        ({"fixed": {"crank": [1.0, np.nan]}, "guess": {}}, "angle of 'crank' must be finite, got nan"),
        ({"fixed": {"crank": [(0.0, 1.0)]}, "guess": {}}, r"pose of 'crank' must have shape \(3,\), got \(2,\)"),
    ],
)
def test_places_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        four_bars()[0].assemble_all(**change)


def test_a_loop_that_cannot_close_says_which_joint():
    with pytest.raises(ValueError, match="the loop cannot close"):
        four_bars()[0].assemble_all({"crank": [(0.0, 0.0, 1.0), (3.0, 0.0, 1.0)]})


def test_poses_that_have_no_frequencies():
    mechanism, _ = four_bars()
    with pytest.raises(ValueError, match="poses must be a list of Poses"):
        mechanism.eigenfrequencies(1.0, 3)
    with pytest.raises(ValueError, match="gravity must be zero"):
        connect({"arm": beam()}, [hinge("arm.root", GROUND)], gravity=(0.0, -9.81)).eigenfrequencies([], 1)
    damped = connect({"arm": beam(damping=fem.Damping(stiffness=1e-4))}, [hinge("arm.root", GROUND)])
    with pytest.raises(ValueError, match="R = 0"):
        damped.eigenfrequencies([damped.assemble()], 1)
    assert mechanism.eigenfrequencies([], 3).shape == (0, 3)


def test_poses_of_another_mechanism_are_refused():
    crank = {"fixed": {"crank": [(0.0, 0.0, 1.0)] * 2}, "guess": {"coupler": [0.7] * 2, "follower": [-1.4] * 2}}
    data = four_bar.DATA["si"]
    ours = four_bar.four_bar(data, 2)
    other = four_bar.four_bar(data._replace(lengths=(0.25, *data.lengths[1:])), 2)
    poses = ours.assemble_all(**crank)
    for wrong in (poses, poses[:1], list(poses)):
        with pytest.raises(ValueError, match=r"belongs.*another mechanism: 'hinge follower.tip.*open.*it"):
            other.eigenfrequencies(wrong, 2)
    with pytest.raises(ValueError, match="is open in it"):
        other.linearize(poses[1])
    with pytest.raises(ValueError, match=r"the pose belongs to another mechanism.*bodies"):
        alone()[0].linearize(poses[0])
    assert len(poses[1:]) == 1
    assert poses[1:][0].centres.shape == (3, 2)


@pytest.mark.parametrize("make", [four_bars, driven, sprung])
@pytest.mark.parametrize("follow", [True, False])
def test_a_sweep_over_poses_is_that_of_the_linearized_mechanism(make, follow):
    """By one stack of matrices, and where springs take part one by one: frequencies, and the likeness of shapes."""
    mechanism, places = make()
    poses = mechanism.assemble_all(**places)
    swept = mechanism.sweep(poses, ANGLES, count=3, name="angle", follow=follow)
    by_angle = dict(zip(ANGLES, poses, strict=True))
    alone = sweep(lambda angle: mechanism.linearize(by_angle[angle]), ANGLES, count=3, name="angle", follow=follow)
    assert swept.name == "angle"
    np.testing.assert_array_equal(swept.values, ANGLES)
    np.testing.assert_allclose(swept.frequencies, alone.frequencies, rtol=1e-9)
    np.testing.assert_allclose(swept.likeness, alone.likeness, atol=1e-7)
    np.testing.assert_array_equal(swept.ratios, 0.0)


def test_shapes_change_little_over_small_angles():
    mechanism, _ = four_bars()
    angles = np.linspace(0.2, 1.2, 21)
    guess = {"coupler": [0.7] * 21, "follower": [-1.4] * 21}
    poses = mechanism.assemble_all({"crank": [(0.0, 0.0, a) for a in angles]}, guess=guess)
    followed = mechanism.sweep(poses, angles, count=3)
    assert followed.likeness.min() > 0.9
    np.testing.assert_allclose(followed.frequencies, mechanism.eigenfrequencies(poses, 3), rtol=1e-9)


def test_a_sweep_needs_a_value_for_each_pose():
    mechanism, places = four_bars()
    with pytest.raises(ValueError, match="equally many"):
        mechanism.sweep(mechanism.assemble_all(**places), ANGLES[:2], count=2)
