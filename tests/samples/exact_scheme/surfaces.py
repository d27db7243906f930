"""Distance from a point to a box or a mesh, all cells after the other, and its discrete gradient.

    one side or corner  n = (V₀ + V₁)/(d₀ + d₁)          one face  n constant
    two features        n = ∇Ḡ + (ΔG − ∇Ḡ·Δξ) Δξ/|Δξ|²,  ∇Ḡ the mean of the gradients at both ends

Concave edges are rounded: smin(a, b) = min(a, b) − max(k − |a − b|, 0)²/4k of the distances a, b to both faces.
"""

from typing import Any, NamedTuple

import numpy as np

from .numbers import dot, norm


class Closest(NamedTuple):
    """Distance G and its gradient, the closest feature (None for a blend), and the vector from it if it is no face."""

    value: Any
    gradient: Any
    feature: Any
    away: Any


def closest(surface, x, blend):
    """Distance of a point (d,), complex for derivatives, from a surface."""
    return box(surface.half[0, : x.size], x) if surface.root[0] < 0 else mesh(surface, x, blend)


def box(half, x):
    """Distance to a box of half sizes (d,)."""
    over = np.abs(x.real) - half
    side = np.where(x.real > 0.0, 1.0, -1.0)
    acts = (over > 0.0) | (half == 0.0)
    away = np.where(acts, x - np.where(half == 0.0, 0.0, side * half), 0.0)
    if not np.any(away.real):
        k = int(np.argmax(over))
        return Closest(side[k] * x[k] - half[k], side[k] * np.eye(x.size)[k], ("face", k, side[k]), None)
    size = norm(away)
    if acts.sum() == 1:
        k = int(np.argmax(acts))
        return Closest(size, away / size, ("face", k, 1.0 if half[k] == 0.0 else side[k]), None)
    return Closest(size, away / size, tuple(np.where(half == 0.0, 1.0, side) * acts), away)


def mesh(surface, x, blend):
    """Distance to a mesh: the least one to the faces, sides and corners of all cells."""
    parts = [part for t in range(len(surface.corner)) for part in of_cell(surface, t, x)]
    best = min(parts, key=lambda part: abs(part.value.real))
    faces = {part.feature[0]: part for part in parts if part.feature[0] in surface.feature[:, 0]}
    near = [part for part in faces.values() if part.value.real > 0.0 or not surface.signed[0]]
    if not blend or best.value.real <= 0.0:
        return best
    if best.feature[0] not in faces:
        near = [best, *near]
    return blended(near, best.value.real + blend, blend)


def blended(parts, reach, width):
    """Blend of distances in the order of the cells."""
    parts = [part for part in parts if part.value.real < reach]
    value, gradient, feature, away = parts[0]
    for part in parts[1:]:
        over = value - part.value
        share = min(max(0.5 + 0.5 * over.real / width, 0.0), 1.0)
        if 0.0 < share < 1.0:
            both = width - (over if over.real > 0.0 else -over)
            value = (part.value if over.real > 0.0 else value) - both**2 / (4.0 * width)
            share = 0.5 + 0.5 * over / width
            gradient, feature, away = (1.0 - share) * gradient + share * part.gradient, None, None
        elif share == 1.0:
            value, gradient, feature, away = part
    return Closest(value, gradient, feature, away)


def of_cell(surface, t, x):
    """What of a cell may be closest to a point: its face if the point is above it, its sides and corners."""
    dim, feature = x.size, surface.feature[t]
    corner = surface.corner[t, :dim, :dim]
    outward = surface.outward[:, :dim]
    normal = outward[feature[0]]
    edges = corner[1:] - corner[0]
    foot = np.linalg.lstsq(edges.T, x.real - corner[0], rcond=None)[0]
    weights = np.array([1.0 - foot.sum(), *foot])
    parts = []
    if (weights > 0.0).all():
        rise = dot(normal, x - corner[0])
        sign = 1.0 if surface.signed[0] or rise.real > 0.0 else -1.0
        parts.append(Closest(sign * rise, sign * normal, (feature[0], rise.real > 0.0), None))
    for k in range(3 if dim == 3 else 0):
        first, second = corner[k], corner[(k + 1) % 3]
        along = (second - first) / norm(second - first)
        share = dot(along, x.real - first)
        if 0.0 < share < norm(second - first):
            away = x - first - dot(along, x - first) * along
            parts.append(signed(surface, feature[1 + k], away, outward))
    parts += [signed(surface, feature[4 + k], x - corner[k], outward) for k in range(dim)]
    return parts


def signed(surface, feature, away, outward):
    """Distance to a side or corner; negative inside of a closed mesh."""
    rises = dot(outward[feature], away).real > 0.0
    sign = -1.0 if surface.signed[0] and not rises else 1.0
    size = norm(away)
    return Closest(sign * size, sign * away / size, (feature, rises), sign * away)


def mean_gradient(x, near):
    """Discrete gradient between two points (d,) with the distances ``near``."""
    first, last = near
    if first.feature is not None and first.feature == last.feature:
        if last.away is None:
            return last.gradient
        return (first.away + last.away) / (norm(first.away) + norm(last.away))
    middle, way = 0.5 * (first.gradient + last.gradient), x[1] - x[0]
    return middle + (last.value - first.value - dot(middle, way)) / dot(way, way) * way
