"""Colours and units shared by all viewers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..bodies.stresses import LABELS, VON_MISES
from ..scenes.of_motion import motion_scene, pose_scene
from ..scenes.scene import Part, PartKind, Scene

COLOURS: Mapping[PartKind, str] = {
    "body": "#8fa3b5",
    "joint": "#3b4654",
    "force": "#b0532a",
    "contact": "#cfc7b6",
    "ground": "#a8a298",
    "arrow": "#c0392b",
}
DARK: Mapping[PartKind, str] = {
    "body": "#8fa3b5",
    "joint": "#c4ced9",
    "force": "#e08a5a",
    "contact": "#7d7768",
    "ground": "#77726a",
    "arrow": "#ff7a66",
}
"""Colours of kinds of parts on light and on dark background."""
MAPS: Mapping[str, tuple[str, ...]] = {
    "sequential": ("#440154", "#482777", "#3f4a8a", "#31678e", "#26838f", "#1f9d8a", "#6cce5a", "#b6de2b", "#fee825"),
    "diverging": ("#2b57b5", "#5b86d6", "#95b4ea", "#bfd0ee", "#d5d2cd", "#ecc2ae", "#e89b7a", "#cf5f48", "#a6172d"),
}
"""Colours at equal distances, distinguishable by the colour-blind, with a grey middle that is visible on white."""
SEQUENTIAL, DIVERGING = "viridis", "coolwarm"
"""Matplotlib names of the colour maps of fields that begin at zero, and of fields of both signs."""
ROUND_OFF = 1e-6
"""Share of the largest value that counts as zero."""
PREFIXES = {"Pa": ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa"))}


def as_scene(shown: Any, frames: int, *, scale: float = 1.0, forces: bool = False) -> Scene:
    """Scene of a run, of a pair of a mechanism and a pose or state, or a given scene, at up to ``frames`` times.

    Arrows are left out unless ``forces`` is True.
    """
    if isinstance(shown, tuple):
        return pose_scene(*shown)
    if not isinstance(shown, Scene):
        return motion_scene(shown, frames=frames, scale=scale, forces=forces)
    scene = shown.thinned(frames).deformed(scale * shown.scale)
    return scene if forces else scene.without("arrow")


def shown_field(scene: Scene, name: str | None) -> str | None:
    """Name of the field that colours a scene: ``name``, or if that is None a default field.

    The default is von Mises stress, otherwise the first stress, otherwise the first field; None for a scene without
    fields.
    """
    names = scene.field_names()
    if name is not None:
        scene.limits(name)  # raises ValueError for an unknown name
        return name
    stresses = [field for field, unit in names.items() if unit == "Pa"]
    first = LABELS[VON_MISES] if LABELS[VON_MISES] in names else None
    return first or next(iter([*stresses, *names]), None)


def unit_of(scene: Scene, name: str) -> tuple[float, str]:
    """Factor from the unit of a field to the unit in which it is displayed, and the name of the latter unit.

    In the displayed unit the largest value of the field has few digits.
    """
    unit, largest = scene.field_names()[name], float(np.abs(scene.limits(name)).max())
    for factor, word in PREFIXES.get(unit, ()):
        if largest >= factor:
            return 1.0 / factor, word
    return 1.0, unit


def bar_title(name: str, unit: str) -> str:
    """Name and unit of a field for its colour bar."""
    return name if unit == "1" else f"{name} [{unit}]"


def coloured(part: Part, name: str | None) -> bool:
    """True if the part has the field ``name``; False for None."""
    return name is not None and name in part.point_fields


def limits_of(scene: Scene, name: str) -> tuple[float, float]:
    """Limits of the colour bar for the whole run, in the displayed unit.

    Limits of a signed field are symmetric about zero; otherwise the lower limit is zero.
    """
    factor = unit_of(scene, name)[0]
    low, high = (factor * end for end in scene.limits(name))
    largest = max(abs(low), abs(high)) or 1.0
    return (-largest if is_diverging(scene, name) else 0.0), largest


def is_diverging(scene: Scene, name: str) -> bool:
    """True if a field has a diverging colour map about zero, because it is signed or has negative values."""
    low, high = scene.limits(name)
    return scene.is_signed(name) or low < -ROUND_OFF * abs(high)


def caption(scene: Scene, row: int) -> str:
    """Caption of a scene at the time of index ``row``: the time, or the scene's own text, and deformation factor."""
    larger = "" if scene.scale == 1.0 else f", deformation × {scene.scale:g}"
    if scene.captions:
        return f"{scene.captions[row]}{larger}"
    return f"t = {scene.times[row]:.4g} {scene.unit}{larger}"
