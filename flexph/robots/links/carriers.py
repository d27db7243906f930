"""Assignment of links to bodies: links fixed to each other form one body.

A link that cannot move as a separate body (no mass, a point mass, a rod without thickness, a rotor without mass)
belongs to the body of a link to which it is fixed; if none of these can move separately, all form one body.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .elements import FIXED, FLOATING, JointElement, LinkElement
from .masses import masses_of

WORLD = ""
"""Carrier of links that belong to the ground; no link has this name."""


class CarrierPose(NamedTuple):
    """Body to which a link belongs, by the name of its carrier, and pose (4, 4) of the link relative to the carrier.

    The carrier is the link whose frame is that of the body, or WORLD for the ground.
    """

    carrier: str
    pose: Array


class FixedLinks(NamedTuple):
    """Links that are fixed to each other: their poses (4, 4) in a common frame, by name, nearest to the root first."""

    poses: dict[str, Array]
    is_flexible: bool


def carriers(
    links: Mapping[str, LinkElement],
    joints: Sequence[JointElement],
    root: str,
    *,
    flexible: Collection[str],
    fixed: bool,
) -> dict[str, CarrierPose]:
    """Body to which each link belongs, by the name of the link.

    ``flexible``: names of flexible links, ``fixed``: True if the root is fixed to the ground. Links without mass that
    carry no link with mass belong to no body, and are left out.
    """
    groups = _groups(joints, root, flexible)
    leading = _leading(links, joints, groups)
    above = {joint.child: joint.parent for joint in joints}
    carrier_poses: dict[str, CarrierPose] = {}
    for first, group in groups.items():
        in_group = _in_group(links, group, above, is_ground=first == root and _is_ground(links, joints, group, fixed))
        if not in_group and first in leading:  # without mass, between joints
            in_group = dict.fromkeys(group.poses, first)
        for name, carrier in in_group.items():
            frame = group.poses[carrier or first]
            carrier_poses[name] = CarrierPose(
                carrier, np.eye(4) if name == carrier else _relative(frame, group.poses[name])
            )
    return carrier_poses


def _groups(joints: Sequence[JointElement], root: str, flexible: Collection[str]) -> dict[str, FixedLinks]:
    first_of, groups = {root: root}, {root: FixedLinks({root: np.eye(4)}, root in flexible)}
    for joint in joints:
        first = first_of[joint.parent]
        if joint.kind == FIXED and joint.parent not in flexible and joint.child not in flexible:
            first_of[joint.child] = first
            groups[first].poses[joint.child] = groups[first].poses[joint.parent] @ joint.origin
        else:
            first_of[joint.child] = joint.child
            groups[joint.child] = FixedLinks({joint.child: np.eye(4)}, joint.child in flexible)
    return groups


def _leading(
    links: Mapping[str, LinkElement], joints: Sequence[JointElement], groups: Mapping[str, FixedLinks]
) -> set[str]:
    """Names of the first links of those groups that form bodies, the first being the one nearest to the root.

    A group of links fixed to each other forms a body if it is flexible, has mass or inertia, or carries another group
    that does.
    """
    first_of = {name: first for first, group in groups.items() for name in group.poses}
    leading = {first for first, g in groups.items() if g.is_flexible or any(not links[n].is_empty for n in g.poses)}
    for joint in reversed(joints):
        if first_of[joint.child] in leading:
            leading.add(first_of[joint.parent])
    return leading


def _is_ground(
    links: Mapping[str, LinkElement], joints: Sequence[JointElement], group: FixedLinks, fixed: bool
) -> bool:
    """True if the group at the root is the ground: it is fixed, or an empty world link with floating joints only."""
    leaving = [joint for joint in joints if joint.parent in group.poses and joint.child not in group.poses]
    empty = all(links[name].is_empty for name in group.poses)
    return fixed or (empty and bool(leaving) and all(joint.kind == FLOATING for joint in leaving))


def _in_group(
    links: Mapping[str, LinkElement], group: FixedLinks, above: Mapping[str, str], *, is_ground: bool
) -> dict[str, str]:
    """Name of the carrier of each link of a group; empty if no link has mass or inertia.

    ``above``: parent of each link. A link that can move separately is its carrier carrier, and so is a flexible link.
    Another link has the carrier of its parent. If its parent is in another group, its carrier is the ground for the
    group that is the ground, else the first link of its group that can move separately. If no link of the group can
    move separately, the heaviest one is the carrier of all.
    """
    if group.is_flexible:
        return dict(zip(group.poses, group.poses, strict=True))
    separable = [name for name in group.poses if masses_of(links[name]).can_move_separately]
    if is_ground:
        default = WORLD
    elif separable:
        default = separable[0]
    elif all(links[name].is_empty for name in group.poses):
        return {}
    else:
        heaviest = max(group.poses, key=lambda name: (links[name].mass, np.trace(links[name].moments)))
        return dict.fromkeys(group.poses, heaviest)
    carrier: dict[str, str] = {}
    for name in group.poses:
        carrier[name] = name if name in separable else carrier.get(above.get(name, ""), default)
    return carrier


def _relative(frame: Array, pose: Array) -> Array:
    """Pose (4, 4) of the frame with the pose ``pose`` relative to that with the pose ``frame``.

    Both poses (4, 4) are given in a common frame.
    """
    seen = np.eye(4)
    seen[:3, :3] = frame[:3, :3].T @ pose[:3, :3]
    seen[:3, 3] = frame[:3, :3].T @ (pose[:3, 3] - frame[:3, 3])
    return seen
