"""Recognition of gear wheels by their faces: cylindrical tips and roots at equal angles about an axis.

External and internal wheels with spur or helical teeth are recognised, but not bevel wheels, worms and racks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from .features import upwards

FEWEST = 8
"""Number of teeth from which faces at equal angles are those of a wheel: fewer ones are slots or flats."""
EQUAL = 0.05
"""Deviation of the angles of teeth, relative to the pitch, and of their areas up to which they are equal."""
NEAR = 1e-4
"""Distance of axes and difference of radii, relative to the radius, up to which they are one."""
DEPTH = 2.5
"""Depth of a tooth in modules, where a drawing has no cylindrical roots (ISO 53 has 2.25)."""


@dataclass(frozen=True, eq=False)
class ToothedWheel:
    """Gear wheel: centre ``at`` (3,) and direction (3,) of its axis, width, radii of tips and roots [m].

    ``faces``: numbers of the cylindrical faces of its teeth; their region in meshes is called ``name``.
    """

    name: str

    at: Array
    axis: Array
    width: float
    teeth: int
    tip: float
    root: float
    internal: bool
    faces: tuple[int, ...]

    def meshes_at(self, radius: float) -> bool:
        """True if a pitch circle of a radius [m] is between the tips and roots."""
        return min(self.tip, self.root) < radius < max(self.tip, self.root)


@dataclass(frozen=True, eq=False)
class _CylinderFaces:
    """Row of faces on one cylinder, such as all tips of a wheel: centre and direction of its axis, radius, width.

    ``centres``, ``areas`` and ``tags``: centre (3,), area and number of each; ``concave``: True if the axis is outside
    of the material.
    """

    at: Array
    axis: Array
    radius: float
    width: float
    concave: bool
    centres: tuple[Array, ...]
    areas: tuple[float, ...]
    tags: tuple[int, ...]


def toothed_wheels(faces: Sequence[Mapping[str, Any]], scale: float) -> tuple[ToothedWheel, ...]:
    """Gear wheels of a part, from faces with lengths in the unit ``scale`` [m]."""
    rows: list[_CylinderFaces] = []
    for face in faces:
        if face["kind"] == "Cylinder" and "axis" in face:
            cylinder_faces = _row(face)
            same = next((k for k, other in enumerate(rows) if _side_by_side(cylinder_faces, other)), None)
            if same is None:
                rows.append(cylinder_faces)
            else:
                rows[same] = _merged_rows(rows[same], cylinder_faces)
    counted = [(row, _teeth(row)) for row in rows]
    wheels: list[tuple[_CylinderFaces, int, list[_CylinderFaces]]] = []
    for row, teeth in counted:
        if teeth is None:
            continue
        for other, count, held in wheels:
            if count == teeth and other.concave == row.concave and _one_wheel(other, row):
                held.append(row)
                break
        else:
            wheels.append((row, teeth, [row]))
    ordered = sorted((_wheel(row, teeth, held, scale) for row, teeth, held in wheels), key=_order)
    return tuple(replace(wheel, name=f"gear{k}") for k, wheel in enumerate(ordered, 1))


def _row(face: Mapping[str, Any]) -> _CylinderFaces:
    """Convert one cylindrical face to a row with this face only."""
    one, two = np.array(face["ends"])
    axis, at = upwards(face["axis"]), 0.5 * (one + two)
    width = float(np.linalg.norm(two - one))
    centre, area, tag = np.array(face["centre"]), face["area"], face["tag"]
    return _CylinderFaces(at, axis, face["radius"], width, face["concave"], (centre,), (area,), (tag,))


def _merged_rows(one: _CylinderFaces, two: _CylinderFaces) -> _CylinderFaces:
    """Row with the faces of two rows on the same cylinder.

    The axis is that of the first row.
    """
    centres, areas = (*one.centres, *two.centres), (*one.areas, *two.areas)
    return replace(one, centres=centres, areas=areas, tags=(*one.tags, *two.tags))


def _side_by_side(one: _CylinderFaces, two: _CylinderFaces) -> bool:
    near = NEAR * one.radius
    return (
        one.concave == two.concave
        and abs(one.radius - two.radius) <= near
        and abs(one.width - two.width) <= near
        and float(np.linalg.norm(np.cross(one.axis, two.axis))) <= 1e-6
        and float(np.linalg.norm(one.at - two.at)) <= near
    )


def _one_wheel(one: _CylinderFaces, two: _CylinderFaces) -> bool:
    """True if two rows can be tips and roots of one wheel: coaxial, and overlapping along the axis."""
    away = two.at - one.at
    along = abs(float(away @ one.axis))
    coaxial = float(np.linalg.norm(away - (away @ one.axis) * one.axis)) <= NEAR * one.radius
    return coaxial and along < 0.5 * max(one.width, two.width)


def _teeth(row: _CylinderFaces) -> int | None:
    """Number of teeth if the faces of a row are equal and at equal angles; otherwise None.

    The seam of the cylinder may divide one of the faces into two.
    """
    areas = np.array(row.areas)
    if len(areas) < FEWEST:
        return None
    x, y = np.linalg.svd(row.axis[None])[2][1:] @ (np.array(row.centres) - row.at).T
    angles = np.arctan2(y, x)
    whole = np.abs(areas / np.median(areas) - 1.0) <= EQUAL
    count = round(float(areas.sum() / np.median(areas)))
    if count < FEWEST or np.sum(~whole) > 2 or abs(areas.sum() / np.median(areas) - count) > EQUAL:
        return None
    phases = count * angles[whole]
    spread = np.angle(np.exp(1j * (phases - phases[0])))
    return count if np.abs(spread).max() <= 2.0 * np.pi * EQUAL else None


def _wheel(row: _CylinderFaces, teeth: int, held: Sequence[_CylinderFaces], scale: float) -> ToothedWheel:
    radii = [cylinder_faces.radius for cylinder_faces in held]
    tip = min(radii) if row.concave else max(radii)
    sign = 1.0 if row.concave else -1.0
    root = max(radii) if row.concave else min(radii)
    if root == tip:  # roots that are rounded, without a cylinder
        root = tip * (1.0 + sign * DEPTH * 2.0 / (teeth - sign * 2.0))
    faces = tuple(sorted(tag for cylinder_faces in held for tag in cylinder_faces.tags))
    lengths = scale * row.width, teeth, scale * tip, scale * root
    return ToothedWheel("", scale * row.at, row.axis, *lengths, row.concave, faces)


def _order(wheel: ToothedWheel) -> tuple[float, ...]:
    """Sort key for the numbering of wheels: by tip radius, largest first, then by coordinates of the centre."""
    return -round(wheel.tip, 8), *(round(float(x), 8) for x in wheel.at)
