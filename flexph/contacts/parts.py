"""Parts by which two shapes touch: corners of boxes, nodes of meshes, ends of capsules, and edges."""

from __future__ import annotations

import math
from dataclasses import replace

from ..numerics.arguments import warn
from .shapes import Edge, Shape, Sphere
from .skins import Skin
from .surfaces import Box, Capsule, Surface

SHARP = 0.01
"""Radius of the edges of a sharp box that touches another one, relative to the shortest length of both."""
SLENDER = 400.0
"""Largest half length of edges over the sum of their radii.

The distance of edges is too large by ε(W² + U²)/2R at both ends, with half lengths W and U, the sum R of radii and
ε = 1e-6 (:mod:`flexph.kernels.surfaces.segments`): here by 0.08 R.
"""
APART = 0.75
"""Largest ratio of the radii of two boxes by which their flush edges and corners are apart."""


def parts_of(first: Shape, second: Shape) -> list[tuple[Shape, Shape]]:
    """Pairs of parts by which two shapes touch: balls, edges or whole shapes, each pair with a gap of its own.

    As in a contact, the first shape is a ball, a pin, a rim or, of larger shapes, a box, capsule or mesh.
    Raises ValueError for two capsules without a radius.
    """
    if isinstance(first, Skin) or isinstance(second, Skin):
        return _parts_of_skins(first, second)
    if not isinstance(first, Surface):
        return [(first, second)]
    if not isinstance(second, Surface):
        return [(spot, second) for spot in first.spots()]
    if isinstance(first, Box) and isinstance(second, Box):
        return _parts_of_boxes(first, second)
    lines = _lines(first, second)
    if isinstance(first, Capsule) and isinstance(second, Capsule):
        if not lines:
            raise ValueError("two capsules without a radius pass through each other: give one of them a radius")
        return [*lines]  # their ends are part of the distance
    pairs: list[tuple[Shape, Shape]] = []
    for surface, other in ((first, second), (second, first)):
        if not (isinstance(other, Capsule) and surface.edges()):  # whose edges touch it with their ends
            pairs += [(spot, other) for spot in surface.spots()]
    return pairs + lines


def _parts_of_skins(first: Shape, second: Shape) -> list[tuple[Shape, Shape]]:
    """Pairs of parts by which a skin touches another shape: balls with the skin, corners of the skin with the shape.

    The balls are the other shape itself if it is a ball, the ends of a capsule, or the corners of any other shape.
    """
    pairs: list[tuple[Shape, Shape]] = []
    for one, other in ((first, second), (second, first)):
        if isinstance(other, Skin):
            balls = [one] if isinstance(one, Sphere) else []
            balls += one.spots() if isinstance(one, Surface) else one.corners() if isinstance(one, Skin) else []
            pairs += [(ball, other) for ball in balls if ball.reach + other.radius > 0.0 or ball is one]
        elif isinstance(one, Skin) and not isinstance(other, Sphere):
            pairs += [(corner, other) for corner in one.corners()]
    return pairs


def _lines(first: Surface, second: Surface) -> list[tuple[Edge, Edge]]:
    """Pairs of edges, one of each surface, of which at least one has a radius."""
    others = second.edges()
    return [(a, b) for a in first.edges() for b in others if a.radius + b.radius > 0.0]


def _parts_of_boxes(first: Box, second: Box) -> list[tuple[Shape, Shape]]:
    """Pairs of parts by which two boxes touch: corners of each with the other box, and edges of both.

    Corners of sharp boxes get a radius only if faces of both boxes may be flush. Edges of sharp boxes that are too long
    for their small radius are left out with a warning.
    """
    one, other = _rounded(first, second)
    lines = _lines(one, other)
    if not (first.round or second.round):
        kept = [pair for pair in lines if not _too_slender(*pair)]
        if len(kept) < len(lines):
            warn(
                f"boxes of {first.port} and {second.port}: their longest edges pass through each other, as they are "
                f"too long for the radius {one.round:.3g} m that sharp edges have; give one of the boxes a round="
            )
        lines = kept
        if not _may_be_flush(first, second, one.round):
            one, other = first, second
    return [*((spot, other) for spot in one.spots()), *((spot, one) for spot in other.spots()), *lines]


def _may_be_flush(first: Box, second: Box, radius: float) -> bool:
    """True if a length of one box equals one of the other within 2 · radius, so that faces may be flush.

    Corners of such boxes need a radius: sharp ones would be pushed out sideways.
    """
    return any(abs(a - b) <= 2.0 * radius for a in first.size for b in second.size)


def _rounded(first: Box, second: Box) -> tuple[Box, Box]:
    """Copies of two boxes whose edges have different radii; both are unchanged if one is a plate without thickness.

    A corner is a ball whose centre is one radius inside of the faces. Where two boxes of equal lengths lie on each
    other, the corners with the larger radius stand on the flat part of the other box and bear the load. The corners
    with the smaller radius are beyond this part and have no contact. With equal radii, sixteen corners and edges would
    touch in the same four places.
    """
    if not (first.encloses and second.encloses):
        return first, second
    one, other = first.round, second.round
    if not (one or other):
        one = SHARP * min(*first.size, *second.size)
    elif min(one, other) > APART * max(one, other):
        other = 0.5 * one
    return replace(first, round=one), replace(second, round=other)


def _too_slender(first: Edge, second: Edge) -> bool:
    return math.hypot(*first.half, *second.half) > SLENDER * (first.radius + second.radius)


def check_slender(first: Edge, second: Edge) -> None:
    """Raise ValueError for edges too long for their radii: the ends of two such edges could pass through each other."""
    if _too_slender(first, second):
        length, radius = math.hypot(*first.half, *second.half), first.radius + second.radius
        raise ValueError(
            f"edges must be thicker, or capsules shorter: half lengths of {length:.3g} m together must be at most "
            f"{SLENDER:g} times the sum of the radii, {radius:.3g} m"
        )
