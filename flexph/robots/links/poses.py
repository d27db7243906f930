"""Poses of the links of a robot for coordinates of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...joints.rows.vectors import frame_about
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.rotations import rotation_matrix
from .elements import BALL, FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement, Mimic


def coordinates(
    joints: Sequence[JointElement], followers: Mapping[str, Mimic], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Coordinates of all joints by name: given values or zero, and for followers the values by their laws.

    Raises ValueError for a value of an unknown, following or fixed joint.
    """
    names = {joint.name: joint for joint in joints}
    for name in given:
        joint = check.lookup("joint", name, names, "the robot")
        if name in followers:
            raise ValueError(f"joint {name!r} follows {followers[name].leader!r}: give only {followers[name].leader!r}")
        if joint.kind == FIXED:
            raise ValueError(f"joint {name!r} is {joint.kind}, got {check.shown(given[name])}")
    values = {name: given.get(name, 0.0) for name in names}
    for name, law in followers.items():
        values[name] = law.multiplier * check.number(f"joints[{law.leader!r}]", values[law.leader]) + law.offset
    return values


def link_poses(
    root: str, joints: Sequence[JointElement], values: Mapping[str, Any], *, base: Array | None = None
) -> dict[str, Array]:
    """Poses (4, 4) of the links at given coordinates of the joints, with the root at the pose ``base``.

    ``values``: coordinates by joint. ``base`` is by default the origin. ``joints`` must be in tree order.
    """
    poses = {root: np.eye(4) if base is None else base}
    for joint in joints:
        poses[joint.child] = poses[joint.parent] @ joint.origin @ moved(joint, values[joint.name])
    return poses


def moved(joint: JointElement, value: Any) -> Array:
    """Motion (4, 4) of a joint's child by an angle or displacement; by (x, y, angle) for planar joints.

    The axes x and y of a planar joint form a right-handed frame with its normal, see
    :func:`flexph.joints.rows.vectors.frame_about`. Floating joints take a position and a rotation, ball joints a
    rotation.
    """
    pose, name = np.eye(4), f"joints[{joint.name!r}]"
    if joint.kind in TURNING:
        pose[:3, :3] = Rotation.from_rotvec(check.number(name, value) * joint.axis).as_matrix()
    elif joint.kind in SLIDING:
        pose[:3, 3] = check.number(name, value) * joint.axis
    elif joint.kind == PLANAR and not _is_zero(value):
        x, y, angle = check.array(name, value, (3,))
        pose[:3, 3] = np.array(frame_about(tuple(joint.axis.tolist()))).T @ (x, y)
        pose[:3, :3] = Rotation.from_rotvec(angle * joint.axis).as_matrix()
    elif joint.kind == BALL and not _is_zero(value):
        pose[:3, :3] = rotation_matrix(name, value)
    elif joint.kind == FLOATING and not _is_zero(value):
        return rigid_motion(name, value)
    return pose


def rigid_motion(name: str, given: Any) -> Array:
    """Rigid motion (4, 4) to a given position and rotation."""
    try:
        position, rotation = given
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a position and a rotation, got {check.shown(given)}") from None
    pose = np.eye(4)
    pose[:3, 3] = check.array(f"position in {name}", position, (3,))
    pose[:3, :3] = rotation_matrix(f"rotation in {name}", rotation)
    return pose


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0.0
