"""Picture of a scene at one time, for pages in which no browser, script or graphics library draws it."""

from __future__ import annotations

import numpy as np

from ..scenes.scene import Scene
from .raster.camera import Window
from .raster.png import png
from .stage import staged_scene

EDGE = 0.03
"""Share of the picture that is free at its edges."""


def still(
    scene: Scene,
    row: int,
    field: str | None,
    *,
    size: tuple[int, int] = (480, 300),
    towards: tuple[float, float, float] | None = None,
) -> bytes:
    """PNG of a scene of triangles at a row, on a transparent background; all motion would fit into it."""
    width, height = size
    window = Window(EDGE * width, EDGE * height, (1.0 - EDGE) * width, (1.0 - EDGE) * height)
    picture = staged_scene(scene.without("arrow"), field, size=size, window=window, towards=towards).drawn(row)
    picture[..., :3] /= np.maximum(picture[..., 3:], 1.0 / 255.0)
    return png((255.0 * picture + 0.5).clip(0.0, 255.0).astype(np.uint8))
