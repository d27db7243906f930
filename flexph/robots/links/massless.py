"""Small masses for bodies without mass or inertia about an axis: massless links, point masses, rotors between joints.

The equations of a body need a mass and moments of inertia about every axis. Missing ones are added, so small that they
do not affect the motion of the robot. If a motion of a joint would depend on them, an error names the joint.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...joints.rows.vectors import frame_about
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from .carriers import WORLD
from .elements import BALL, FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement
from .masses import LEAST, Masses
from .poses import link_poses
from .tree import Coupling

SHARE = 1e-9
"""Ratio of added mass and moment to the smallest ones that a body carries."""
SEEN = 1e-6
"""Share of the added inertia in any motion above which the file does not determine that motion."""


class FreedomTwist(NamedTuple):
    """Degree of freedom: name of its joint ("" for a free root), and twist (6,): spin and velocity at the origin."""

    joint: str
    twist: Array


class Skeleton(NamedTuple):
    """Tree of a robot: root, True if the root is free, joints in tree order, and body of each link.

    ``couplings``: leader and ratio of the rates of joints that follow others.
    """

    root: str
    is_free: bool
    joints: tuple[JointElement, ...]
    carrier: Mapping[str, str]
    couplings: Mapping[str, Coupling]


def completed(masses: Mapping[str, Masses], skeleton: Skeleton) -> dict[str, Masses]:
    """Masses of all bodies by name, with small additions for bodies that lack mass or inertia about an axis.

    Raises ValueError if the inertia of a motion depends on an addition.
    """
    lacking = {name for name, mass in masses.items() if not mass.can_move_separately}
    if not lacking:
        return dict(masses)
    weight, moment = _least_carried(masses, skeleton)
    added = {name: _least(masses[name], SHARE * weight[name], SHARE * moment[name]) for name in lacking}
    whole = {**masses, **added}
    _check_determined(masses, whole, skeleton, lacking)
    return whole


def _least_carried(masses: Mapping[str, Masses], skeleton: Skeleton) -> tuple[dict[str, float], dict[str, float]]:
    """Smallest nonzero mass and moment of inertia in the part of the robot that each body carries, by body.

    This part has the body itself and the bodies farther from the root. If all masses of a part are zero, the smallest
    one of the robot is taken, and likewise for the moments.
    """
    smallest = (
        {name: m.mass or np.inf for name, m in masses.items()},
        {n: _smallest_moment(m) for n, m in masses.items()},
    )
    for joint in reversed(skeleton.joints):
        above, below = skeleton.carrier.get(joint.parent, WORLD), skeleton.carrier.get(joint.child, WORLD)
        for values in smallest:
            if above in values and below in values:
                values[above] = min(values[above], values[below])
    for values in smallest:
        least = min((value for value in values.values() if value < np.inf), default=1.0)
        values.update({name: least for name, value in values.items() if value == np.inf})
    return smallest


def _least(masses: Masses, mass: float, moment: float) -> Masses:
    size, axes = np.linalg.eigh(masses.moments)
    lifted = np.where(size <= LEAST * size[-1], np.maximum(size, 0.0) + moment, size)
    return Masses(masses.mass or mass, masses.centre, (axes * lifted) @ axes.T)


def _smallest_moment(masses: Masses) -> float:
    """Smallest nonzero moment of inertia of a body: principal ones, and mass times squared distance from the joint.

    It is inf if all are zero.
    """
    size = np.linalg.eigvalsh(masses.moments)
    about_joint = masses.mass * float(masses.centre @ masses.centre)
    return float(min([*size[size > LEAST * size[-1]], *([about_joint] if about_joint else [])], default=np.inf))


def _check_determined(
    masses: Mapping[str, Masses], whole: Mapping[str, Masses], skeleton: Skeleton, lacking: Collection[str]
) -> None:
    """Raise ValueError if small additions are a noticeable part of the inertia of a motion of the robot.

    ``masses`` are the masses without the additions, ``whole`` those with them; ``lacking`` names the bodies with
    additions. The motions are tested at one pose without symmetry.
    """
    poses = _skew_pose(skeleton)
    columns, moves = _freedoms(skeleton, poses)
    if not columns:
        return
    follow = _independent([column.joint for column in columns], skeleton.couplings)
    total, added = (np.zeros((follow.shape[1],) * 2) for _ in range(2))
    for name, mass in whole.items():
        at = [k for k in range(len(columns)) if moves[name] >> k & 1]
        twists = np.array([columns[k].twist for k in at]).reshape(-1, 6).T @ follow[at]
        inertia = twists.T @ _spatial(mass, poses[name]) @ twists
        total += inertia
        if name in lacking:
            added += inertia - twists.T @ _spatial(masses[name], poses[name]) @ twists
    scale = 1.0 / np.sqrt(np.maximum(np.diag(total), np.finfo(float).tiny))
    total, added = (scale[:, None] * matrix * scale for matrix in (total, added))
    shares, motions = linalg.eigh(added, total + 1e-14 * np.eye(len(total)))
    if shares[-1] > SEEN:
        k = int(np.argmax(np.abs(follow[:, np.argmax(np.abs(motions[:, -1]))])))
        raise ValueError(_undetermined(columns[k].joint, skeleton, lacking))


def _skew_pose(skeleton: Skeleton) -> dict[str, Array]:
    """Poses (4, 4) of all links at generic joint coordinates, at which no axes are parallel or coplanar by chance."""
    rng, joints = np.random.default_rng(0), skeleton.joints
    values = {joint.name: rng.uniform(0.3, 0.9) if joint.kind in (*TURNING, *SLIDING) else 0.0 for joint in joints}
    values |= {name: coupling.ratio * values.get(coupling.leader, 0.0) for name, coupling in skeleton.couplings.items()}
    return link_poses(skeleton.root, joints, values)


def _undetermined(name: str, skeleton: Skeleton, lacking: Collection[str]) -> str:
    if not name:
        root = skeleton.carrier[skeleton.root]
        return f"link {root!r} has no mass and is not held: give it an inertial in the file, or use fixed=True"
    child = next(joint.child for joint in skeleton.joints if joint.name == name)
    lacks = child if child in lacking else min(lacking)
    return (
        f"joint {name!r} moves no inertia (link {child!r}): link {lacks!r} lacks mass or moments of inertia, "
        "give it an inertial in the file"
    )


def _freedoms(skeleton: Skeleton, poses: Mapping[str, Array]) -> tuple[list[FreedomTwist], dict[str, int]]:
    """Degrees of freedom with their twists, and for each body an integer that tells which of them move it.

    Bit k of the integer is set if the degree of freedom k moves the body. ``poses``: pose (4, 4) of each link.
    """
    carrier = skeleton.carrier
    base = carrier[skeleton.root]
    columns = [FreedomTwist("", twist) for twist in np.eye(6)] if skeleton.is_free else []
    moves = {WORLD: 0, base: (1 << len(columns)) - 1}
    for joint in skeleton.joints:
        above, below = carrier.get(joint.parent), carrier.get(joint.child)
        if above is None or below is None or above == below:
            continue
        pose = poses[joint.parent] @ joint.origin
        twists = _twists(joint, pose[:3, :3] @ joint.axis, poses[joint.child][:3, 3])
        bits = ((1 << len(twists)) - 1) << len(columns)
        moves[below] = moves[above] | bits
        columns += [FreedomTwist(joint.name, twist) for twist in twists]
    return columns, moves


def _twists(joint: JointElement, axis: Array, place: Array) -> list[Array]:
    turn = np.concatenate([axis, np.cross(place, axis)])
    slides = [np.concatenate([np.zeros(3), along]) for along in (axis, *map(np.array, frame_about(tuple(axis))))]
    if joint.kind in TURNING:
        return [turn]
    if joint.kind == FLOATING:
        return list(np.eye(6))
    if joint.kind == BALL:
        return [np.concatenate([about, np.cross(place, about)]) for about in np.eye(3)]
    if joint.kind == PLANAR:
        return [turn, *slides[1:]]
    return [] if joint.kind == FIXED else slides[:1]


def _independent(names: Sequence[str], couplings: Mapping[str, Coupling]) -> Array:
    """Matrix (n, k) of the rates of all n degrees of freedom at unit rates of the k of them without a leader.

    ``names`` are the joints of the degrees of freedom, in this order.
    """
    free = [k for k, name in enumerate(names) if name not in couplings]
    rates = np.zeros((len(names), len(free)))
    for column, k in enumerate(free):
        rates[k, column] = 1.0
    place = {names[k]: column for column, k in enumerate(free)}
    for k, name in enumerate(names):
        if name in couplings and couplings[name].leader in place:
            rates[k, place[couplings[name].leader]] = couplings[name].ratio
    return rates


def _spatial(masses: Masses, pose: Array) -> Array:
    """Inertia matrix (6, 6) of a body at a pose (4, 4), for twists (spin, velocity of the origin) in world axes."""
    centre = pose[:3, :3] @ masses.centre + pose[:3, 3]
    move = np.hstack([np.einsum("aij,j->ia", cross(3), centre), np.eye(3)])  # velocity of the centre
    inertia = masses.mass * move.T @ move
    inertia[:3, :3] += pose[:3, :3] @ masses.moments @ pose[:3, :3].T
    return np.asarray(inertia)
