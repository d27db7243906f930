"""Compliant contacts that begin deep in each other: what they have stored throws the bodies apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..joints.rows.connection import Connection
from ..kernels.arrays import Arrays
from ..kernels.constraint_sizes import lever
from ..kernels.contacts.gap_arrays import ANGLE, DISTANCE, OFFSET, Contacts
from ..kernels.contacts.laws import stored
from ..kernels.state import Configuration, Derived
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..systems.validity import ValidityWarning
from .levels import gaps_at, near_at

DEEP = 0.01
"""Depth over the size of the bodies, of stops for angles in [rad], from which on a start is looked at."""
FAR = 10.0
"""Depth over that at which the contact would carry the weight of all bodies, from which on a start warns."""


def warn_of_deep_starts(a: Arrays, connections: Sequence[Connection], at: tuple[Configuration, Derived]) -> None:
    """Warn of compliant contacts whose bodies begin far deeper in each other than weight would press them."""
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
        own = np.flatnonzero(deep & (c.owner == owner))
        k = own[np.argmax(depth[own] / size[own])]
        unit, of = ("rad", "") if c.kind[k] == ANGLE else ("m", f", {depth[k] / size[k]:.2g} of {_what(c, int(k))}")
        press = f" (the weight of all bodies would press it in by {carries[k]:.2g} {unit})" if carries[k] else ""
        text = (
            f"{names[owner]}: the run begins {depth[k]:.3g} {unit} deep in the contact{of}{press}, which stores "
            f"{energy[k]:.3g} J that will throw the bodies apart: begin with a gap of zero or more"
        )
        warn(text, ValidityWarning)


def _sizes(a: Arrays, c: Contacts) -> Array:
    """Radii of what touches: of two balls their sum, of a pin in a hole the pin's; of points and stops the bodies'."""
    radius = np.where(
        (c.kind == OFFSET) | (c.sign < 0.0), np.abs(c.share[0] * np.where(c.kind == OFFSET, 1.0, c.offset)), c.offset
    )
    radius = np.where(c.kind == ANGLE, 1.0, radius)
    return np.where(radius > 0.0, radius, lever(a))


def _carrying(a: Arrays, c: Contacts) -> Array:
    """Depths at which each contact carries the weight of all bodies (c,)."""
    weight = float(np.linalg.norm(a.weight, axis=1).sum())
    moment = np.where(c.kind == ANGLE, lever(a), 1.0)
    carried: Array = (weight * moment / np.where(c.rigid, 1.0, c.stiffness)) ** (
        1.0 / np.where(c.rigid, 1.0, c.exponent)
    )
    return carried


def _what(c: Contacts, k: int) -> str:
    """What a size is."""
    if c.kind[k] == OFFSET:
        return "the radius" if c.share[0, k] > 0.0 else "the size of the mechanism"
    return "the sum of the radii" if c.kind[k] == DISTANCE and c.sign[k] > 0.0 else "the radius"
