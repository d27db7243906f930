"""Bodies between joints that no mass or inertia of their own moves: a massless link, a point mass, a rotor.

The equations of a body ask for a mass and for moments about every axis. What it lacks is added so small that the
motion of the robot does not show it; where other bodies do not determine the motion, the joint is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...joints.rows.directions import frame_about
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from .carriers import WORLD
from .elements import FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement
from .masses import LEAST, Masses
from .motions import link_poses
from .tree import Coupling

SHARE = 1e-9
"""What is added, over the smallest mass and the smallest moment of what a body carries."""
SEEN = 1e-6
"""Share of the added in the inertia of any motion above which that motion is not determined by the file."""


class Column(NamedTuple):
    """A freedom: the joint that has it and the twist (spin, velocity of the origin) (6,) of what comes after it."""

    joint: str
    twist: Array


def completed(
    masses: Mapping[str, Masses], joints: Sequence[JointElement], carrier: Mapping[str, str]
) -> dict[str, Masses]:
    """The masses of all bodies, with the least that those lack which do not stand by themselves."""
    weight = {name: m.mass or np.inf for name, m in masses.items()}
    moment = {name: _smallest_moment(m) for name, m in masses.items()}
    for joint in reversed(joints):  # the smallest of what comes after
        above, below = carrier.get(joint.parent, ""), carrier.get(joint.child, "")
        if above in weight and below in weight:
            weight[above] = min(weight[above], weight[below])
            moment[above] = min(moment[above], moment[below])
    whole = [min((v for v in values.values() if v < np.inf), default=1.0) for values in (weight, moment)]
    found = {}
    for name, own in masses.items():
        m, j = (v if v < np.inf else d for v, d in zip((weight[name], moment[name]), whole, strict=True))
        found[name] = own if own.stands else _least(own, SHARE * m, SHARE * j)
    return found


def _least(own: Masses, mass: float, moment: float) -> Masses:
    size, axes = np.linalg.eigh(own.moments)
    lifted = np.where(size <= LEAST * size[-1], np.maximum(size, 0.0) + moment, size)
    return Masses(own.mass or mass, own.centre, (axes * lifted) @ axes.T)


def _smallest_moment(own: Masses) -> float:
    """The smallest that is not zero of the principal moments and that of the mass about the joint, or inf."""
    size = np.linalg.eigvalsh(own.moments)
    about_joint = own.mass * float(own.centre @ own.centre)
    return float(min([*size[size > LEAST * size[-1]], *([about_joint] if about_joint else [])], default=np.inf))


def check_determined(
    masses: Mapping[str, Masses],
    complete: Mapping[str, Masses],
    joints: Sequence[JointElement],
    *,
    carrier: Mapping[str, str],
    couplings: Mapping[str, Coupling],
    free: str | None,
    root: str,
) -> None:
    """Raise ValueError where what was added is more than a trace in the inertia of a motion, at a skew pose."""
    lacking = [name for name, own in masses.items() if not own.stands]
    if not lacking:
        return
    rng = np.random.default_rng(0)
    values = {joint.name: rng.uniform(0.3, 0.9) if joint.kind in (*TURNING, *SLIDING) else 0.0 for joint in joints}
    values |= {name: own.ratio * values.get(own.leader, 0.0) for name, own in couplings.items()}
    poses = link_poses(root, joints, values)
    columns, moves = _freedoms(joints, poses, carrier, (root, free))
    if not columns:
        return
    follow = _independent([c.joint for c in columns], couplings)
    total, added = (np.zeros((follow.shape[1],) * 2) for _ in range(2))
    for name, own in complete.items():
        at = [k for k in range(len(columns)) if moves[name] >> k & 1]
        twists = np.array([columns[k].twist for k in at]).reshape(-1, 6).T @ follow[at]
        whole, file = (twists.T @ _spatial(m, poses[name]) @ twists for m in (own, masses[name]))
        total += whole
        added += whole - file if name in lacking else 0.0
    scale = 1.0 / np.sqrt(np.maximum(np.diag(total), np.finfo(float).tiny))
    total, added = (scale[:, None] * matrix * scale for matrix in (total, added))
    shares, motions = linalg.eigh(added, total + 1e-14 * np.eye(len(total)))
    if shares[-1] > SEEN:
        k = int(np.argmax(np.abs(motions[:, -1])))
        column = columns[int(np.argmax(np.abs(follow[:, k])))]
        raise ValueError(_undetermined(column.joint, joints, lacking))


def _undetermined(name: str, joints: Sequence[JointElement], lacking: Sequence[str]) -> str:
    known = {joint.name: joint for joint in joints}
    if name not in known:
        return f"link {name!r} has no mass and is not fixed: give it an inertial in the file, or fixed=True"
    child = known[name].child
    lacks = child if child in lacking else lacking[0]
    return (
        f"joint {name!r} moves no inertia (link {child!r}): link {lacks!r} lacks mass or moments of inertia, "
        "give it an inertial in the file"
    )


def _freedoms(
    joints: Sequence[JointElement],
    poses: Mapping[str, Array],
    carrier: Mapping[str, str],
    base: tuple[str, str | None],
) -> tuple[list[Column], dict[str, int]]:
    """Columns of all freedoms, and by body those that move it, as the bits of a number.

    The base is the root, and the body that carries it where that is free.
    """
    root, free = base
    columns = [] if free is None else [Column(free, twist) for twist in np.eye(6)]
    moves = {WORLD: 0, carrier[root]: (1 << len(columns)) - 1}
    for joint in joints:
        above, below = carrier.get(joint.parent), carrier.get(joint.child)
        if above is None or below is None or above == below:
            continue
        pose = poses[joint.parent] @ joint.origin
        own = _twists(joint, pose[:3, :3] @ joint.axis, poses[joint.child][:3, 3])
        bits = ((1 << len(own)) - 1) << len(columns)
        moves[below] = moves[above] | bits
        columns += [Column(joint.name, twist) for twist in own]
    return columns, moves


def _twists(joint: JointElement, axis: Array, place: Array) -> list[Array]:
    turn = np.concatenate([axis, np.cross(place, axis)])
    slides = [np.concatenate([np.zeros(3), along]) for along in (axis, *map(np.array, frame_about(tuple(axis))))]
    if joint.kind in TURNING:
        return [turn]
    if joint.kind == FLOATING:
        return list(np.eye(6))
    if joint.kind == PLANAR:
        return [turn, *slides[1:]]
    return [] if joint.kind == FIXED else slides[:1]


def _independent(names: Sequence[str], couplings: Mapping[str, Coupling]) -> Array:
    """Rates of all freedoms by those that are independent, (n, k)."""
    free = [k for k, name in enumerate(names) if name not in couplings]
    found = np.zeros((len(names), len(free)))
    for column, k in enumerate(free):
        found[k, column] = 1.0
    place = {names[k]: column for column, k in enumerate(free)}
    for k, name in enumerate(names):
        if name in couplings and couplings[name].leader in place:
            found[k, place[couplings[name].leader]] = couplings[name].ratio
    return found


def _spatial(own: Masses, pose: Array) -> Array:
    """Inertia (6, 6) against twists (spin, velocity of the origin) in world axes."""
    centre = pose[:3, :3] @ own.centre + pose[:3, 3]
    move = np.hstack([np.einsum("aij,j->ia", cross(3), centre), np.eye(3)])  # velocity of the centre
    inertia = own.mass * move.T @ move
    inertia[:3, :3] += pose[:3, :3] @ own.moments @ pose[:3, :3].T
    return np.asarray(inertia)
