"""Guides of the assembly far from closure: directions and frames to be aligned, and prescribed angles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from ...bodies.ports import find_port
from ...joints.rows.vectors import Ground
from ...numerics.arrays import Array
from ..model.angle_rows import AngleRows

if TYPE_CHECKING:
    from ..model.model import Model

ASIDE = (0.36, 0.48, 0.8)
"""Axis of the first body about which opposite directions start to turn; joint axes rarely coincide with it."""
OPPOSITE = 1e-6
"""Value of |a + b|² below which two unit directions count as opposite."""

Guide = tuple[int, Array, int | None, Array]
"""First body and its direction or frame (3, 3), second body (None: the ground) and its direction or frame."""

Block = tuple[int, int, Array]
"""First row and column of a block of a matrix, and its entries."""


def guides(mechanism: Model, time: float) -> list[Guide]:
    """Pairs of directions to be made parallel, and of frames to be made coincident."""
    listed: list[Guide] = []
    for c in mechanism.connections:
        if not c.form.parallel:
            continue
        first, *others = (None if isinstance(p, Ground) else find_port(p, mechanism.bodies)[0] for p in c.ports)
        pairs = [given(time) if callable(given) else given for given in c.form.parallel]
        assert first is not None
        if len(pairs) == 3:
            a, b = (np.array(side).T for side in zip(*pairs, strict=True))
            listed.append((first, a, others[0], b))
        else:
            listed += [(first, np.array(a), others[0], np.array(b)) for a, b in pairs]
    return listed


def unguided(mechanism: Model) -> Array:
    """True for constraints other than those on directions of a joint with guides."""
    return np.array([not (c.form.parallel and r.unit == "N m") for c in mechanism.connections for r in c.rows], bool)


def differences(rotations: Array, spins: Array, guides: list[Guide]) -> tuple[Array, Array, list[Block]]:
    """Differences of the guides in world axes, the rotations that close them, and the blocks of their matrix.

    Frames close by their rotation vector. Directions a, b close by θ × ½(a + b) = b − a, in the two components
    perpendicular to the mean. With the mean direction the rows of a joint have the same rank at every pose; exact
    derivatives would add a spurious freedom. Opposite directions start to turn about an axis of the first body.
    """
    apart, wanted, turning, row = [np.zeros(0)], [np.zeros(0)], [], 0
    for first, a, second, b in guides:
        there = b if second is None else rotations[second] @ b
        here = rotations[first] @ a
        mean = 0.5 * (here + there)
        if here.ndim == 2:
            seen, turn = np.eye(3), scipy.spatial.transform.Rotation.from_matrix(there @ here.T).as_rotvec()
            apart.append(-turn)
        else:
            turn = there - here
            if mean @ mean < OPPOSITE:
                mean, turn = here, np.cross(rotations[first] @ np.array(ASIDE), here)
            seen = _perpendicular(mean)
            apart.append(here - there)
        wanted.append(seen @ turn)
        for body, sign in ((first, 1.0), (second, -1.0)):
            if body is not None and spins[body, 0] >= 0:
                R = rotations[body]
                block = sign * (R if here.ndim == 2 else np.cross(R.T, mean).T)
                turning.append((row, int(spins[body, 0]), seen @ block))
        row += len(seen)
    return np.concatenate(apart), np.concatenate(wanted), turning


def by_angle(angles: AngleRows, gap: Array, product: Array, coefficient: Array) -> Array:
    """Write the errors of planar angles into their ``gap``; return coefficients with which their rows measure these.

    Newton's method then turns to a prescribed angle by the shorter way, and does not end half a turn away.
    """
    if not angles.rows.size:
        return coefficient
    gap[angles.rows] = angles.apart(product, coefficient)
    own = coefficient.copy()
    own[angles.term], own[angles.term + 1] = product[angles.cosine], -product[angles.sine]
    return own


def _perpendicular(direction: Array) -> Array:
    """Two unit vectors perpendicular to a direction and to each other, (2, 3)."""
    first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    pair = np.array([first, np.cross(direction, first)])
    unit: Array = pair / np.linalg.norm(pair, axis=1)[:, None]
    return unit
