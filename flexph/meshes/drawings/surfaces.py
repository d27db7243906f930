"""Surfaces of the parts of a drawing as triangles for pictures; mass and inertia come from the drawing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .drawing import FORMATS, Drawing, Part, answered
from .kernel import Answer


class PartSurface(NamedTuple):
    """Part of a drawing with the points (p, 3) [m] and triangles (t, 3) of its surface, normals outward.

    ``faces`` (t,): the number of the face of each triangle.
    """

    part: Part
    points: Array
    triangles: Array
    faces: Array


def part_surface(path: Path, *, select: str | None = None, unit: float | None = None) -> PartSurface:
    """Surface of one part of a drawing.

    Raises ValueError for a file that cannot be read, an unknown part, and a unit that is missing or given twice;
    ImportError without gmsh.
    """
    drawing, answer = _read(path.resolve(), path.stat().st_mtime_ns, unit)
    return _surface(drawing, answer, drawing.part(select))


def part_surfaces(path: Path, *, unit: float | None = None) -> list[PartSurface]:
    """Surfaces of all parts of a drawing; raises like :func:`part_surface`."""
    drawing, answer = _read(path.resolve(), path.stat().st_mtime_ns, unit)
    return [_surface(drawing, answer, part) for part in drawing.parts]


def _surface(drawing: Drawing, answer: Answer, part: Part) -> PartSurface:
    held = np.isin(answer.arrays["owners"], [face["tag"] for face in part.faces])
    points, cells, faces = answer.arrays["points"], answer.arrays["facets"][held], answer.arrays["owners"][held]
    used = np.unique(cells)
    triangles = outward(points[used], np.searchsorted(used, cells), faces)
    return PartSurface(part, drawing.scale * points[used], triangles, faces)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, unit: float | None) -> tuple[Drawing, Answer]:
    """Drawing with the triangles of all faces, cached until the time ``changed`` of the file changes."""
    return answered(path, FORMATS[path.suffix.lower()], unit, "surfaces")


def outward(points: Array, triangles: Array, faces: Array) -> Array:
    """Triangles (t, 3) of a closed surface, with their corners ordered so that all normals point outward.

    All normals within one face must already point outward, or all inward; ``faces`` (t,) has the number of the face of
    each triangle. Two adjacent faces agree if their triangles run along the common edge in opposite directions. Of
    several shells the one with the largest volume is the outer surface; the others bound cavities.
    """
    names, owner = np.unique(faces, return_inverse=True)
    ends = np.vstack([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    order = np.argsort(edge.ravel(), kind="stable")
    paired = np.flatnonzero(np.diff(edge.ravel()[order]) == 0)
    one, two = order[paired], order[paired + 1]
    owners = np.tile(owner, 3)
    agree = ends[one, 0] != ends[two, 0]
    between = owners[one] != owners[two]
    sign, shell = _senses(len(names), owners[one][between], owners[two][between], agree[between])
    turned = np.where((sign[owner] > 0)[:, None], triangles, triangles[:, ::-1])
    volumes = np.bincount(shell[owner], np.linalg.det(points[turned] - points.mean(axis=0)))
    wanted = np.where(np.arange(len(volumes)) == np.argmax(np.abs(volumes)), 1.0, -1.0)
    right = (volumes * wanted >= 0.0)[shell[owner]]
    return np.where(right[:, None], turned, turned[:, ::-1])


def _senses(count: int, one: Array, two: Array, agree: Array) -> tuple[Array, Array]:
    """Sign (count,) of each face for a common orientation of the faces of a shell, and number (count,) of its shell.

    ``one`` and ``two``: numbers of faces with a common edge; ``agree``: True for each such pair with equal orientation.
    """
    sign, shell = np.zeros(count, dtype=int), np.full(count, -1)
    beside: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for a, b, same in zip(one.tolist(), two.tolist(), agree.tolist(), strict=True):
        factor = 1 if same else -1
        beside[a].append((b, factor))
        beside[b].append((a, factor))
    for first in range(count):
        if sign[first]:
            continue
        sign[first], shell[first], waiting = 1, shell.max() + 1, [first]
        while waiting:
            face = waiting.pop()
            for other, factor in beside[face]:
                if not sign[other]:
                    sign[other], shell[other] = sign[face] * factor, shell[first]
                    waiting.append(other)
    return sign, shell
