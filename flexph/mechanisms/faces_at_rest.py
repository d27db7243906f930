"""Replacement of surfaces (boxes, capsules, meshes) near a pose by their closest faces and corners: planes and points.

The distance of a ball to a face is V·n − c with a normal n fixed in the section, that to a corner the distance to a
point. Edges, which are far away in most pairs, are replaced by their tangent planes, also for two boxes or capsules.
An equilibrium with the replaced surfaces is one with the surfaces themselves if, at each closed contact of either,
both gaps are the same. Where bodies touch at edges or on several faces, the distance itself stays.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..contacts.levels import gaps_at
from ..joints.rows.connection import Connection, Gap
from ..joints.rows.vectors import BodyVector, Ground, Vector, along
from ..kernels.state import Configuration, derive
from ..kernels.surfaces.closest import distance
from ..kernels.surfaces.segments import squares
from ..kernels.surfaces.surfaces import GRADIENT, PLACES, VALUE
from ..numerics.arrays import Array

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
KINDS = ("shape", "segments")
"""Kinds of gaps to surfaces, which planes and points replace."""
SIZE, SIGN, CODE, FLAT, CURVATURE, PLACE = 1, 2, 3, 4, 11, 20
"""Indices in the results of :mod:`flexph.kernels.surfaces.closest`."""
SQUARE, FIRST, SECOND = 0, 1, 2
"""Indices in the results of :mod:`flexph.kernels.surfaces.segments`."""


class Feature(NamedTuple):
    """Gap to a surface [m], the name of its contact, and the kind of place of the closest point, ``edge``.

    ``edge`` is "an edge", "several faces", or empty for one face or a corner. ``is_box`` is False for meshes, capsules
    and plates, on which a ball may rest on several faces or on an edge.
    """

    gap: float
    contact: str
    edge: str
    is_box: bool = True


def has_surfaces(mechanism: Mechanism) -> bool:
    """True if balls, points or edges touch boxes, capsules or meshes."""
    return any(gap.kind in KINDS for c in mechanism.connections for gap in c.form.gaps)


def on_faces(mechanism: Mechanism, c: Configuration, exact: Collection[int] = ()) -> tuple[Mechanism, list[Feature]]:
    """Mechanism whose surfaces are replaced by their closest faces and corners, and the features of all surfaces.

    The surfaces whose numbers are in ``exact`` are not replaced.
    """
    a = mechanism.network.arrays
    vectors, k = gaps_at(a, c, derive(a, c)).vectors[1], 0
    joints: list[Connection] = []
    features: list[Feature] = []
    for connection in mechanism.connections:
        gaps = []
        for gap in connection.form.gaps:
            if gap.kind in KINDS:
                stand_in = _closest if gap.kind == "shape" else _crossing
                plane, feature = stand_in(connection, gap, vectors[:, k])
                gap = gap if len(features) in exact else plane
                features.append(feature)
            gaps.append(gap)
            k += 1
        joints.append(replace(connection, form=replace(connection.form, gaps=tuple(gaps))))
    return mechanism.replace(joints=joints), features


class GapComparison(NamedTuple):
    """Result of :func:`compare_gaps`: whether all closed gaps agree, and the numbers of surfaces touched at edges."""

    holds: bool
    edges: set[int]


def compare_gaps(mechanism: Mechanism, local: Mechanism, c: Configuration, closed: float) -> GapComparison:
    """Compare the gaps of surfaces and of the faces that replace them, wherever one of the two is ≤ ``closed`` [m].

    The result lists the numbers of surfaces that are touched at an edge or on several faces: for these a plane is right
    to first order only.
    """
    features, a = iter(enumerate(on_faces(mechanism, c)[1])), local.network.arrays
    gaps = iter(gaps_at(a, c, derive(a, c)).after.tolist())
    holds, edges = True, set()
    pairs = zip(mechanism.connections, local.connections, strict=True)
    for gap, replaced in ((g, r) for one, other in pairs for g, r in zip(one.form.gaps, other.form.gaps, strict=True)):
        stand_in = next(gaps)
        if gap.kind not in KINDS:
            continue
        number, feature = next(features)
        if replaced.kind in KINDS or min(feature.gap, stand_in) > closed:
            continue
        if feature.edge:
            edges.add(number)
        holds = holds and not feature.edge and abs(feature.gap - stand_in) <= closed
    return GapComparison(holds, edges)


def _closest(contact: Connection, gap: Gap, vectors: Array) -> tuple[Gap, Feature]:
    """Replace the gap to a surface by the gap to its closest plane or corner; also return the feature of the surface.

    ``vectors`` (4, d) are the world vectors V, W, U, D of the gap: V from the section with the surface to the ball, and
    W, U, D the axes of the surface.
    """
    dim = vectors.shape[1]
    places, near, bent = np.zeros((2, 3)), np.zeros((2, PLACES)), np.zeros((4, 3))
    places[:, :dim] = vectors[1 : 1 + dim] @ vectors[0]
    distance(gap.shape, 0, dim, places, gap.blend, (near, bent))
    nearest = near[0]
    assert gap.shape is not None
    bends = nearest[CURVATURE : CURVATURE + 9].reshape(3, 3).trace() * nearest[SIZE] * nearest[SIGN]
    edge = "several faces" if nearest[CODE] < 0.0 else "" if nearest[FLAT] or round(bends) == dim - 1 else "an edge"
    is_box = gap.shape.root[0] < 0 and bool(gap.shape.half[0, :dim].min() > 0.0)
    feature = Feature(float(nearest[VALUE] - gap.offset), contact.name, edge, is_box)
    axes = np.array([v.fixed if v.plus is None else v.plus.direction for v in gap.vectors[1:]])
    assert gap.sides is not None
    port, none = gap.sides[1], Vector(fixed=(0.0,) * dim)
    if nearest[FLAT] or edge:
        n = nearest[GRADIENT : GRADIENT + dim]
        normal = along(port, tuple((n @ axes).tolist()))
        level = float(n @ places[0, :dim]) - feature.gap
        face = Gap("offset", (gap.vectors[0], normal, none), 1.0, level, gap.law, gap.sides, gap.radii, gap.name)
        return face, feature
    apart = _with_offset_start(gap.vectors[0], port, nearest[PLACE : PLACE + dim] @ axes)
    sign, share = float(nearest[SIGN]), gap.radii[0] / gap.offset if gap.offset else 0.0
    shares = (share, 1.0 - share)
    return Gap("distance", (apart, none, none), sign, gap.offset, gap.law, gap.sides, shares, gap.name), feature


def _crossing(contact: Connection, gap: Gap, vectors: Array) -> tuple[Gap, Feature]:
    """Replace the gap between two edges by the gap along the line of their closest points; also return its feature.

    ``vectors`` (4, d) are the world vectors of the gap: V between the middles of the edges, W and U half of each.
    """
    V, W, U = vectors[:3]
    products, found, bent = [V @ V, V @ W, V @ U, W @ U, W @ W, U @ U], np.zeros((2, PLACES)), np.zeros((5, 4))
    squares(np.array([products] * 2), found, bent)
    first, second = found[0, FIRST], found[0, SECOND]
    apart = V + first * W - second * U
    feature = Feature(float(np.sqrt(found[0, SQUARE])) - gap.offset, contact.name, "an edge")
    assert gap.sides is not None
    halves = [np.array(v.fixed if v.plus is None else v.plus.direction) for v in gap.vectors[1:3]]
    points = _with_offset_start(_with_offset_end(gap.vectors[0], first * halves[0]), gap.sides[1], second * halves[1])
    normal = tuple((apart / np.linalg.norm(apart)).tolist())
    level, none = float(np.linalg.norm(apart)) - feature.gap, Vector(fixed=(0.0,) * V.size)
    plane = Vector(fixed=normal)
    return Gap("offset", (points, plane, none), 1.0, level, gap.law, gap.sides, gap.radii, gap.name), feature


def _with_offset_end(vector: Vector, offset: Array) -> Vector:
    """World vector with its end moved by an ``offset`` in the axes of the section at the end, or in world axes.

    World axes are used if the end is on the ground.
    """
    if vector.plus is None:
        return replace(vector, fixed=tuple((np.array(vector.fixed) + offset).tolist()))
    before = np.zeros(offset.size) if vector.plus.offset is None else np.array(vector.plus.offset)
    return replace(vector, plus=BodyVector(vector.plus.port, offset=tuple((before + offset).tolist())))


def _with_offset_start(vector: Vector, port: Any, offset: Array) -> Vector:
    """World vector with its start moved by an ``offset`` in the axes of the section at ``port``, or in world axes.

    World axes are used if ``port`` is on the ground.
    """
    if isinstance(port, Ground):
        return replace(vector, fixed=tuple((np.array(vector.fixed) - offset).tolist()))
    assert vector.minus is not None
    before = np.zeros(offset.size) if vector.minus.offset is None else np.array(vector.minus.offset)
    return replace(vector, minus=BodyVector(vector.minus.port, offset=tuple((before + offset).tolist())))
