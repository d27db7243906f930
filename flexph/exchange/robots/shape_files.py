"""Shapes of links in URDF and SDF files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...robots.links.shapes import LinkShape, Use
from .named_files import named_file
from .xml_values import Element, only, parsed


def shapes_of(
    element: Element, use: Use, *, where: str, file: Path, pose: Callable[[Element, str], Array]
) -> tuple[LinkShape, ...]:
    """Shapes of a link for a use, visual or collision, from its element in a URDF or SDF file.

    ``pose`` reads the pose of an element; ``where`` names the link in errors. Raises ValueError for an invalid shape.
    """
    shapes = []
    for number, child in enumerate(element.findall(use), 1):
        place = f"{use} {child.get('name') or number} of {where}"
        geometry = only(child, "geometry", place)
        kinds = [] if geometry is None else list(geometry)
        if len(kinds) != 1:
            raise ValueError(f"{place} must have a geometry with one shape, got {len(kinds)}")
        shapes.append(_shape(kinds[0], pose(child, place), place, file))
    return tuple(shapes)


def _shape(own: Element, pose: Array, place: str, file: Path) -> LinkShape:
    """Shape at a pose (4, 4) from the element of its geometry, such as ``box``.

    ``place`` names it in errors.
    """
    if own.tag == "mesh":
        given = own.get("filename") or _text(own, "uri")
        scale = _numbers(own, "scale", 3, place, missing="1 1 1")
        return LinkShape("mesh", pose, file=named_file(file, given, place), scale=tuple(scale.tolist()))
    if own.tag == "plane":
        normal = _numbers(own, "normal", 3, place, missing="0 0 1")
        return LinkShape("plane", pose, tuple((normal / np.linalg.norm(normal)).tolist()))
    names: dict[str, tuple[tuple[str, int], ...]] = {
        **{"box": (("size", 3),), "sphere": (("radius", 1),)},
        **dict.fromkeys(("cylinder", "capsule"), (("radius", 1), ("length", 1))),
    }
    if own.tag not in names:
        raise ValueError(f"{place} must be one of {', '.join(names)} and mesh, got {own.tag!r}")
    size = np.concatenate([_numbers(own, name, count, place) for name, count in names[own.tag]])
    if not (size > 0.0).all():
        raise ValueError(f"{place} must have positive lengths, got {size.tolist()}")
    kind: Any = own.tag
    return LinkShape(kind, pose, tuple(size.tolist()))


def _text(element: Element, name: str) -> str:
    """Text of an attribute (URDF) or of a child element (SDF); empty if there is neither."""
    child = element.find(name)
    return element.get(name, "") if child is None else (child.text or "").strip()


def _numbers(element: Element, name: str, count: int, place: str, missing: str = "") -> Array:
    words = (_text(element, name) or missing).split()
    if len(words) != count:
        raise ValueError(f"{name} of {place} must be {count} numbers, got {' '.join(words)!r}")
    return np.array(parsed(words, place, name))
