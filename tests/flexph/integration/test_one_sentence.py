"""What users run into says in a sentence what is wrong and what to do."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rigid
from flexph import (
    GROUND,
    IntegrationError,
    connect,
    drive,
    force,
    hinge,
    integrate,
    prismatic,
    revolute,
    spherical,
    spring_damper,
)
from flexph.joints import point_on_curve
from flexph.methods import Exact, ExactGauss

BAR = rigid.bar(1.0, 2.0)
PIN = hinge("b.root", GROUND.at(0.0, 0.0))
ONE = r"times are the ends of all steps, of which two make one; give np\.linspace\(start, end, 1001\), or a method"
Z = (0.0, 0.0, 1.0)


def run(mechanism, times, method=None):
    return integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), times, method=method)


def silent(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return make()


@pytest.mark.parametrize(
    "mechanism",
    [
        connect({"b": BAR}, [], gravity=(0.0, -9.81)),
        connect({"b": BAR}, [PIN], gravity=(0.0, -0.05)),
        connect(
            {"b": BAR},
            [
                prismatic("b.root", GROUND.at(0.0, 0.0), direction=(1.0, 0.0)),
                spring_damper("b.root", GROUND.at(-1.0, 0.0), stiffness=200.0, length=0.8),
            ],
        ),
    ],
    ids=["falls", "swings", "vibrates"],
)
def test_a_span_is_one_step(mechanism):
    with pytest.warns(UserWarning, match=r"the motion from rest over 1 s was one step: " + ONE):
        run(mechanism, (0.0, 1.0))
    silent(lambda: run(mechanism, (0.0, 1e-2)))
    silent(lambda: run(mechanism, (0.0, 1.0), Exact(tolerance=1e-6)))


def test_a_span_in_which_nothing_moves_is_none():
    silent(lambda: run(connect({"b": BAR}, [PIN]), (0.0, 1.0)))


def test_a_span_that_fails_says_that_it_is_one_step():
    arm = connect({"b": BAR}, [PIN], gravity=(0.0, -9.81))
    start = arm.consistent_state(arm.assemble({"b": -1.3}))
    with pytest.raises(IntegrationError, match=r"could not be solved: .*; " + ONE):
        integrate(arm, start, (0.0, 1.0))


def driven(rate, dim):
    if dim == 2:
        return connect({"b": BAR}, [PIN, drive("b.root", angle=lambda t: rate * t)])
    body = rigid.body(1.0, inertia=(1.0, 1.0, 1.5), ports={"root": (-0.5, 0.0, 0.0)})
    if dim == 3:
        joints = [revolute("b.root", GROUND.at(0, 0, 0), axis=Z), drive("b.root", angle=lambda t: rate * t, axis=Z)]
    else:
        turn = drive("b.root", rotation=lambda t: Rotation.from_rotvec((0.0, 0.0, rate * t)))
        joints = [spherical("b.root", GROUND.at(0, 0, 0)), turn]
    return connect({"b": body}, joints)


@pytest.mark.parametrize(("dim", "named"), [(2, "angle"), (3, "angle"), ("rotation", "turn x")])
def test_drives_that_turn_by_more_than_a_step_follows(dim, named):
    told = rf"drive b\.root–GROUND: {named} turns by \S+ rad from t = \S+ s to \S+ s, and a step follows less than"
    with pytest.raises(IntegrationError, match=told + r" 1\.57 rad: use steps shorter than") as error:
        run(driven(28.0, dim), np.linspace(0.0, 1.0, 11))
    assert "redundant" not in str(error.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the turn of the body
        run(driven(28.0, dim), np.linspace(0.0, 0.1, 11))


def test_whole_turns_that_a_step_solves_are_told():
    with pytest.warns(UserWarning, match=r"turns.*3\.2 rad.*t = 0 s.*0\.1 s,.*step follows less"):
        run(driven(32.0, 2), np.linspace(0.0, 0.2, 3), ExactGauss())


def test_a_revolute_joint_speaks_of_itself():
    with pytest.raises(ValueError, match=r"^revolute b\.root–GROUND.*:.*revolute joint .*plane use hinge"):
        connect({"b": BAR}, [revolute("b.root", GROUND.at(0.0, 0.0), axis=Z)])
    with pytest.raises(ValueError, match=r"^hinge b\.root–GROUND.*: a hinge has no axis in the plane"):
        connect({"b": BAR}, [hinge("b.root", GROUND.at(0.0, 0.0), axis=Z)])


LOST = r"connected to neither the ground nor a placed body, and starts? at the origin, free to move: add a joint"


@pytest.mark.parametrize(
    ("joints", "lost"),
    [
        ([PIN], r"'c', 'd' are "),
        ([PIN, hinge("c.root", "d.tip")], r"'c', 'd' are "),
        ([PIN, hinge("c.root", "b.tip"), force("d.tip", name="push")], r"'d' is "),
    ],
    ids=["alone", "a pair", "under a force"],
)
def test_bodies_without_joint_and_place(joints, lost):
    mechanism = connect({"b": BAR, "c": BAR, "d": BAR}, joints, gravity=(0.0, -9.81))
    with pytest.warns(UserWarning, match=lost + LOST):
        mechanism.assemble()
    with pytest.warns(UserWarning, match=lost + LOST):
        mechanism.assemble_all({"b": [0.0, 0.1]})
    placed = {"c": (3.0, 0.0, 0.0), "d": (4.0, 0.0, 0.0)}
    silent(lambda: mechanism.assemble(guess={k: v for k, v in placed.items() if f"'{k}'" in lost}))


def test_a_bead_that_a_motor_moves_along_a_curve_has_a_place():
    along = point_on_curve("bead.point", ["b.root", "b.tip"], motor=True)
    silent(lambda: connect({"b": BAR, "bead": rigid.point(0.3)}, [PIN, along]).assemble())


def test_bodies_that_have_a_place_are_not_told():
    spring = spring_damper("c.root", GROUND.at(0.0, 1.0), stiffness=1.0, length=1.0)
    silent(lambda: connect({"b": BAR}, []).assemble())
    silent(lambda: connect({"b": BAR, "c": BAR}, [hinge("b.root", "c.tip")]).assemble())
    silent(lambda: connect({"b": BAR, "c": BAR}, [PIN, spring]).assemble())
