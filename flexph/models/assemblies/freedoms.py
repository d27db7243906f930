"""Joint between two parts, from the relative motions that all of their contacts allow.

A relative motion is a twist (ω, v) with v the velocity at the origin. Contacts are two-sided: the parts cannot
separate. A pin in a bore allows rotation about its axis and sliding along it; planes allow two slides and the rotation
about the normal; a ball allows three rotations. A pin in a slot allows rotation about the axis of the pin, sliding
along this axis and along the slot, and rotation about the normal of the slot. The motions that all contacts allow are
the null space of their conditions; it is compared with the motions of lower pairs (F. Reuleaux, Theoretische Kinematik,
1875).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...meshes.drawings.features import upwards
from ...numerics.arrays import Array
from .touching import Touch

RANK = 1e-3
"""Singular value of the conditions, in a unit of the size of the contacts, up to which a motion is free."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Joint deduced from contacts: its kind, a point (3,) [m] on its axis, the axis (3,), and degrees of freedom.

    Kinds are weld, hinge, prismatic, cylindrical, planar, spherical, slot and other. The axis of a planar joint is the
    normal of its plane, the axis of a slot the direction in which the pin slides.
    """

    kind: str
    at: Array
    axis: Array
    freedoms: int


def pair_of(touches: Sequence[Touch]) -> Pair:
    """Joint that follows from all contacts of two parts.

    Two bores in line count as a pin in a bore. If the relative motions are those of no lower pair, the kind is ``slot``
    if one of the contacts is a pin in a slot, otherwise ``other``.
    """
    middle = np.mean([t.at for t in touches], axis=0)
    scale = max(float(np.max([np.linalg.norm(t.at - middle) for t in touches])), 1e-9)
    conditions = np.vstack([_conditions(t, (t.at - middle) / scale) for t in touches])
    _, values, rows = np.linalg.svd(np.vstack([conditions, np.zeros((6, 6))]))
    free = rows[values <= RANK]
    pair = _classified(free, middle, scale)
    slots = [t for t in touches if t.kind == "slot"]
    return _in_slot(slots[0], pair) if len(slots) == 1 and pair.kind == "other" else pair


def _in_slot(slot: Touch, pair: Pair) -> Pair:
    """Joint of kind slot for a pin in a slot, if ``pair`` has 2 to 4 degrees of freedom; otherwise ``pair``.

    ``pair`` is the joint of the two parts that follows from all of their contacts.
    """
    assert slot.normal is not None
    if pair.freedoms not in (2, 3, 4):
        return pair
    return Pair("slot", slot.at, upwards(_cleaned(np.cross(slot.normal, slot.axis))), pair.freedoms)


def _conditions(touch: Touch, place: Array) -> Array:
    """Matrix (k, 6) of a contact whose product with each twist (ω, v) that the contact allows is zero.

    ``place`` (3,) is the vector from the reference point of the twists to the contact, in the unit of length of v.
    """
    if touch.kind == "screw":
        return np.eye(6)
    if touch.kind == "ball":
        return _velocity(place)
    if touch.kind == "slot":  # the line of contact stays in the middle plane of the slot
        assert touch.normal is not None
        tilt = np.hstack([np.cross(touch.normal, touch.axis), np.zeros(3)])
        return np.vstack([tilt, touch.normal @ _velocity(place)])
    across = np.linalg.svd(touch.axis[None])[2][1:]
    turns = np.hstack([across, np.zeros((2, 3))])
    if touch.kind == "plane":
        return np.vstack([turns, touch.axis @ _velocity(place)])
    return np.vstack([turns, across @ _velocity(place)])


def _velocity(place: Array) -> Array:
    """Matrix (3, 6) from a twist (ω, v) to the velocity v + ω × p of the point p, which is ``place``."""
    x, y, z = place
    return np.hstack([np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]), np.eye(3)])


def _classified(free: Array, middle: Array, scale: float) -> Pair:
    """Lower pair whose relative motions are spanned by the orthonormal twists ``free`` (k, 6).

    Its kind is ``other`` if no lower pair has these motions. The twists refer to the point ``middle`` (3,) [m], and
    their unit of length is ``scale`` [m].
    """
    count = len(free)
    left, values, _ = np.linalg.svd(free[:, :3].T) if count else (np.eye(3), np.zeros(3), None)
    turning = int(np.sum(values > RANK))
    axis = upwards(_cleaned(left[:, 0]))
    if count == 0:
        return Pair("weld", middle, np.array([0.0, 0.0, 1.0]), 0)
    if turning == 0:
        direction = upwards(_cleaned(free[0, 3:] / np.linalg.norm(free[0, 3:])))
        return Pair("prismatic" if count == 1 else "other", middle, direction, count)
    if turning == 3 and count == 3:
        place = np.linalg.lstsq(np.vstack([_moment(t[:3]) for t in free]), -free[:, 3:].ravel(), rcond=None)[0]
        return Pair("spherical", _cleaned(middle + scale * place), axis, 3)
    if turning > 1:
        return Pair("other", middle, axis, count)
    motion = free.T @ np.linalg.lstsq(free[:, :3].T, axis, rcond=None)[0]
    spin, velocity = motion[:3], motion[3:]
    slides = _slides(free)
    along = velocity @ axis
    place = _cleaned(middle + scale * np.cross(spin, velocity))
    if count == 1:
        return Pair("hinge" if abs(along) <= RANK else "other", place, axis, 1)
    if count == 2:
        coaxial = np.linalg.norm(np.cross(slides[0], axis)) <= RANK
        return Pair("cylindrical" if coaxial else "other", place, axis, 2)
    flat = count == 3 and np.abs(slides @ axis).max() <= RANK
    return Pair("planar" if flat else "other", middle, axis, count)


def _moment(spin: Array) -> Array:
    """Matrix (3, 3) of the map p ↦ ω × p for ω = ``spin``."""
    x, y, z = spin
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _slides(free: Array) -> Array:
    """Orthonormal velocities (k, 3) of the translations in the space that the twists ``free`` (n, 6) span."""
    _, values, rows = np.linalg.svd(free[:, :3].T)
    rank = int(np.sum(values > RANK))
    velocities = rows[rank:] @ free[:, 3:]
    return np.linalg.svd(velocities)[2][: len(velocities)] if len(velocities) else np.zeros((0, 3))


def _cleaned(vector: Array) -> Array:
    """Vector (n,) with components of the size of round-off set to zero."""
    return np.round(vector, 12) + 0.0
