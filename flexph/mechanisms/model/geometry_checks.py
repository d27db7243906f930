"""Checks of the geometry of a state: rotations, lengths, discs on the ground, curves and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...contacts.levels import gaps_at, near_at
from ...joints.rows.connection import measures
from ...joints.rows.laws import Rolling
from ...kernels.contacts.gap_arrays import AXIAL, DISTANCE
from ...kernels.rates.curves import Curve
from ...kernels.rates.on_curves import OnCurve
from ...kernels.state import Configuration, Derived
from ...numerics.arrays import Array
from .constraints import CONSISTENT
from .time_table import laws

if TYPE_CHECKING:
    from .model import Model

CONCENTRIC = 1e-12
"""Distance of two centres, relative to the sum of the radii, up to which the normal of the contact is undefined."""


def check_lengths(mechanism: Model, product: Array) -> None:
    """Raise ValueError if a spring has zero length, or a rope no straight span between parts of its path.

    ``product`` (p,) are the products V·W at the state.
    """
    springs, names = mechanism.network.arrays.springs, [name for name, _ in measures(mechanism.connections)]
    squares = product[springs.length_product]
    for name, square in zip(names, squares, strict=False):
        if square <= 0.0:
            raise ValueError(f"{name} has zero length at this pose, and so no direction: place its ports apart")
    ropes = springs.ropes
    for rope, square, offset in zip(ropes.span_rope, product[ropes.square], ropes.offset, strict=True):
        if square <= offset**2:
            raise ValueError(
                f"{names[springs.roped.start + rope]} has two sheaves or ports without a straight span between them at "
                f"this pose: their distance must be larger than {abs(offset):.6g} m, got {np.sqrt(square):.6g} m"
            )


def check_discs(mechanism: Model, product: Array) -> None:
    """Raise ValueError if a disc lies flat on the ground or below it, or a body with a surface is tilted.

    ``product`` (p,) are the products V·W at the state.
    """
    t = mechanism.network.arrays.rolling
    for row, height, least in zip(t.positive_row, product[t.positive], t.least, strict=True):
        if height <= least and is_surface(mechanism, row):
            raise ValueError(
                f"{mechanism.constraint_names[row]}: the body on which it rolls must keep its normal, but it is tilted "
                f"by {np.arccos(np.clip(height, -1.0, 1.0)):.2g} rad: give normal= in the section of that body, with "
                "the components that it has in the world, and guide the body by a joint that keeps it (planar)"
            )
        if height <= least:
            raise ValueError(
                f"{mechanism.constraint_names[row]}: the centre of the disc must be above the ground, got a height of "
                f"{height:.3g} m (a disc that lies flat has no point of contact); give a guess of its height in "
                "mechanism.assemble(...)"
            )


def is_surface(mechanism: Model, row: int) -> bool:
    """True if a constraint row is that of a wheel on a moving body, False for a disc on the ground.

    ``row`` must be one of these two kinds, the rows with a product that must stay positive.
    """
    law = laws(mechanism)[row]
    return isinstance(law, Rolling)


def check_curves(mechanism: Model, on_curves: Sequence[OnCurve]) -> None:
    """Raise ValueError, naming port and joint, if a port that slides on a curve is beyond an end of the curve."""
    for curve, at in zip(mechanism.network.arrays.curves, on_curves, strict=True):
        if curve.is_beyond(at.places[1]):
            raise ValueError(
                f"{port_on(mechanism, curve)} must be on its curve, s = {curve.knots[0]:g} to {curve.knots[-1]:g}, got "
                f"s = {at.places[1]:.3g}: give a guess on the curve in mechanism.assemble(...)"
            )


def port_on(mechanism: Model, curve: Curve) -> str:
    """Text that names the port that slides on a curve, and its joint, for a message."""
    name = mechanism.constraint_names[curve.rows[0]].partition(":")[0]
    joint = next(c for c in mechanism.connections if c.name == name)
    return f"the port {joint.ports[0]!r} of {name!r}"


def check_gaps(mechanism: Model, c: Configuration, d: Derived) -> None:
    """Raise ValueError if two bodies in contact have the same centre, so that the contact has no normal."""
    if not mechanism.network.arrays.contacts.number:
        return
    a = near_at(mechanism.network.arrays, (c, d))
    contacts = a.contacts
    outer = np.isin(contacts.kind, (DISTANCE, AXIAL)) & (contacts.sign > 0.0)
    gaps = gaps_at(a, c, d).before
    same = np.flatnonzero(outer & (gaps <= -(1.0 - CONCENTRIC) * contacts.offset))
    if same.size:
        names = [connection.name for connection in mechanism.connections if connection.touches]
        raise ValueError(
            f"{names[contacts.owner[same[0]]]}: both bodies have the same centre, so that the contact has no normal: "
            "start with the bodies apart"
        )


def check_rotations(mechanism: Model, R: Array) -> None:
    """Raise ValueError if the rotation of a body is not a rotation matrix."""
    defect = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(mechanism.layout.dim)).max(axis=(1, 2))
    worst = int(np.argmax(defect))
    if defect[worst] > CONSISTENT:
        name = list(mechanism.frames)[worst]
        raise ValueError(f"the rotation of {name!r} must be a rotation: |RᵀR − 1| = {defect[worst]:.0e}")
    mirrored = np.flatnonzero(np.linalg.det(R) < 0.0)
    if mirrored.size:
        name = list(mechanism.frames)[mirrored[0]]
        raise ValueError(f"the rotation of {name!r} must be a rotation: its determinant is −1, a reflection")
