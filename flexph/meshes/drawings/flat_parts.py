"""Flat parts of a drawing: two equal, opposite plane faces, and a rim perpendicular to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array

SAME = 1e-5
"""Relative difference of areas and of volumes up to which they are equal."""
ACROSS = 1e-6
"""Cosine of an angle up to which it is a right one."""
THIN = 10.0
"""Root of the area over the thickness from which a flat part is proposed as a plate."""

THICK = 4.0
"""Root of the area over the thickness below which a part is no plate."""


class FlatPart(NamedTuple):
    """Numbers of both flat faces, outward normal (3,) of the upper one, thickness and area in units of the kernel."""

    top: int
    bottom: int
    normal: Array
    thickness: float
    area: float

    @property
    def slenderness(self) -> float:
        """Root of the area over the thickness."""
        return float(np.sqrt(self.area) / self.thickness)


def flat_part(faces: Sequence[Mapping[str, Any]], volume: float) -> FlatPart | str:
    """Flat faces and thickness of a part of constant thickness, or the reason why it is not a flat part.

    A part is flat if its volume is that of an outline times the distance of two equal, opposite plane faces, and all
    other faces are perpendicular to them. Of several such pairs of faces that with the smallest distance is taken. The
    upper face is the one whose normal has a positive sign in its component of largest absolute value.
    """
    planes = [face for face in faces if face["kind"] == "Plane" and "normal" in face]
    best: FlatPart | None = None
    for k, one in enumerate(planes):
        normal = np.array(one["normal"])
        for two in planes[k + 1 :]:
            if np.linalg.norm(normal + two["normal"]) > 10.0 * ACROSS or not _equal(one["area"], two["area"]):
                continue
            between = np.subtract(one["centre"], two["centre"])
            thickness = float(between @ normal)
            aside = np.linalg.norm(between - thickness * normal)
            if (
                not thickness > 0.0
                or aside > SAME * np.sqrt(one["area"])
                or not _equal(one["area"] * thickness, volume)
            ):
                continue
            if best is None or thickness < best.thickness:
                best = FlatPart(one["tag"], two["tag"], normal, thickness, one["area"])
    if best is None:
        return "no two opposite plane faces of one outline bound its volume (steps, folds, chamfers or curved walls)"
    if best.slenderness < THICK:
        return f"its thickness of {best.thickness:.4g} is not small against its area of {best.area:.4g} in units of it"
    oblique = [
        face
        for face in faces
        if face["tag"] not in (best.top, best.bottom) and not _is_perpendicular(face, best.normal)
    ]
    if oblique:
        centre = ", ".join(f"{x:.6g}" for x in oblique[0]["centre"])
        return f"{len(oblique)} faces are not across its flat ones, the first ({oblique[0]['kind']}) at ({centre})"
    return best if _leading(best.normal) > 0.0 else _upside_down(best)


def _equal(one: float, two: float) -> bool:
    return abs(one - two) <= SAME * abs(two)


def _is_perpendicular(face: Mapping[str, Any], normal: Array) -> bool:
    """True if a face is perpendicular to the flat faces, or of unknown shape."""
    if face["kind"] == "Plane" and "normal" in face:
        return bool(abs(np.dot(face["normal"], normal)) <= 10.0 * ACROSS)
    if face["kind"] == "Cylinder" and "axis" in face:
        return bool(np.linalg.norm(np.cross(face["axis"], normal)) <= 10.0 * ACROSS)
    return face["kind"] not in ("Sphere", "Cone", "Torus")


def _leading(normal: Array) -> float:
    """Component of a normal with the largest absolute value, with its sign; of equal ones the last."""
    return float(normal[2 - int(np.argmax(np.round(np.abs(normal[::-1]), 6)))])


def _upside_down(part: FlatPart) -> FlatPart:
    return FlatPart(part.bottom, part.top, -part.normal, part.thickness, part.area)
