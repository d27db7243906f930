"""Checks of contacts at a start: bodies that overlap, and deep penetrations that would throw them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..joints.rows.connection import Connection
from ..kernels.arrays import Arrays
from ..kernels.contacts.gap_arrays import ANGLE, DISTANCE, FACE, OFFSET, RIM, SEGMENTS, SHAPE, Contacts
from ..kernels.contacts.laws import stored
from ..kernels.convergence.tolerances import TINY
from ..kernels.state import Configuration, Derived, coordinate_size, lever, touching_points
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..systems.nonlinear import ValidityWarning
from .levels import gaps_at, near_at

DEEP = 0.01
"""Initial penetration, relative to the size of the bodies ([rad] for stops of angles), above which it is checked."""
FAR = 10.0
"""Initial penetration, relative to the static one under the weight of all bodies, above which a warning is given."""
INSIDE = 1e-9
"""Initial overlap of rigid contacts, relative to the largest coordinate, up to which it counts as round-off."""


def refuse_overlaps(a: Arrays, at: tuple[Configuration, Derived], name_of: Callable[[int], str]) -> None:
    """Raise ValueError if rigid contacts overlap at the initial state ``at``, by more than round-off.

    ``name_of`` returns the name of the gap with a given index.
    """
    if not a.contacts.laws.rigid.any():
        return
    c, d = at
    number = a.contacts.near(touching_points(a, c.r, d.arm), 0.0)
    near = a._replace(contacts=a.contacts.take(number))
    rigid = np.flatnonzero(near.contacts.rigid)
    gaps = gaps_at(near, c, d).before[rigid]
    worst = int(np.argmin(gaps)) if gaps.size else -1
    if gaps.size and gaps[worst] < -INSIDE * max(coordinate_size(a, c.r), TINY):
        unit = "rad" if near.contacts.kind[rigid[worst]] == ANGLE else "m"
        raise ValueError(
            f"{name_of(int(number[rigid[worst]]))}: the bodies overlap at the start, by "
            f"{-gaps[worst]:.3g} {unit}: begin with a gap of zero or more, or use a compliant law"
        )


def warn_of_deep_starts(a: Arrays, connections: Sequence[Connection], at: tuple[Configuration, Derived]) -> None:
    """Warn of compliant contacts that begin with a penetration far larger than the static one under weight."""
    if a.contacts.laws.rigid.all():
        return
    a = near_at(a, at)
    c = a.contacts
    names = [connection.name for connection in connections if connection.touches]
    depth = -gaps_at(a, *at).before
    size, carries = _sizes(a, c), _carrying(a, c)
    deep = ~c.rigid & (depth > DEEP * size) & (depth > FAR * carries)
    energy = stored(c, -depth)
    for owner in np.unique(c.owner[deep]):
        contacts = np.flatnonzero(deep & (c.owner == owner))
        k = contacts[np.argmax(depth[contacts] / size[contacts])]
        unit, of = (
            ("rad", "") if c.kind[k] == ANGLE else ("m", f", {depth[k] / size[k]:.2g} of {_length_name(c, int(k))}")
        )
        press = f" (the weight of all bodies would give a penetration of {carries[k]:.2g} {unit})" if carries[k] else ""
        text = (
            f"{names[owner]}: the contact begins with a penetration of {depth[k]:.3g} {unit}{of}{press}, which stores "
            f"{energy[k]:.3g} J that will throw the bodies apart: begin with a gap of zero or more"
        )
        warn(text, ValidityWarning)


def _sizes(a: Arrays, c: Contacts) -> Array:
    """Lengths (c,) [m] to which penetrations are compared, by the kind of contact.

    They are the sum of the radii of two balls or edges, or the radius of a pin in a hole or of a ball on a plane. For
    points the length is the size of the mechanism, for stops of angles 1 rad.
    """
    flat = np.isin(c.kind, (OFFSET, SHAPE))
    radius = np.where(flat | (c.sign < 0.0), np.abs(c.share[0] * np.where(flat, 1.0, c.offset)), c.offset)
    radius = np.where(np.isin(c.kind, (RIM, SEGMENTS)), c.share.sum(axis=0), radius)
    radius = np.where(c.kind == FACE, c.offset, radius)
    radius = np.where(c.kind == ANGLE, 1.0, radius)
    return np.where(radius > 0.0, radius, lever(a))


def _carrying(a: Arrays, c: Contacts) -> Array:
    """Penetrations (c,) [m or rad] at which each contact alone would carry the weight of all bodies."""
    weight = float(np.linalg.norm(a.weight, axis=1).sum())
    moment = np.where(c.kind == ANGLE, lever(a), 1.0)
    carried: Array = (weight * moment / np.where(c.rigid, 1.0, c.stiffness)) ** (
        1.0 / np.where(c.rigid, 1.0, c.exponent)
    )
    return carried


def _length_name(c: Contacts, k: int) -> str:
    """Name, for messages, of the length in :func:`_sizes` to which the penetration of contact ``k`` is compared."""
    if c.kind[k] in (OFFSET, SHAPE):
        return "the radius" if c.share[0, k] > 0.0 else "the size of the mechanism"
    return "the sum of the radii" if c.kind[k] == DISTANCE and c.sign[k] > 0.0 else "the radius"
