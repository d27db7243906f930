"""Colours and units that all viewers share."""

from __future__ import annotations

import numpy as np

from ..scenes.scene import Part, PartKind, Scene

COLOURS: dict[PartKind, str] = {
    "body": "#8fa3b5",
    "joint": "#3b4654",
    "force": "#b0532a",
    "ground": "#b9b4aa",
    "arrow": "#c0392b",
}
PREFIXES = {"Pa": ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa"))}


def shown_field(scene: Scene, name: str | None) -> str | None:
    """The field by which a scene is coloured: the one that is named, or the first; None where there is none."""
    names = scene.field_names()
    if name is not None:
        scene.limits(name)  # raises for a name that is not there
    return name or next(iter(names), None)


def unit_of(scene: Scene, name: str) -> tuple[float, str]:
    """Factor and unit in which a field is told: so that its largest value has few digits."""
    unit, largest = scene.field_names()[name], float(np.abs(scene.limits(name)).max())
    for factor, word in PREFIXES.get(unit, ()):
        if largest >= factor:
            return 1.0 / factor, word
    return 1.0, unit


def coloured(part: Part, name: str | None) -> bool:
    """Whether the part has the field."""
    return name is not None and name in part.point_fields


def caption(scene: Scene, row: int) -> str:
    """Time, and the factor of the deformation."""
    larger = "" if scene.scale == 1.0 else f", deformation × {scene.scale:g}"
    return f"t = {scene.times[row]:.4g} {scene.unit}{larger}"
