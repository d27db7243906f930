"""Live view in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from .html import FRAMES, page_of
from .looks import as_scene

TRIANGLES = 100_000
"""Largest number of triangles of a view in a notebook."""


def live_view(shown: Any, *, field: str | None = None, scale: float = 1.0, forces: bool = False) -> str:
    """HTML view of a run or a scene in a frame, whose styles and scripts do not affect the notebook.

    Also for a pair of a mechanism and a pose or state. With too many triangles only a description is returned.
    """
    scene = as_scene(shown, FRAMES, forces=True)
    words = f"<p>{escape(repr(shown)[1:-1])}</p>" if not isinstance(shown, tuple) else ""
    triangles = sum(len(part.cells) for part in scene.parts)
    if triangles > TRIANGLES:
        return f"{words}<p>The view of {triangles} triangles is left out: write_html(path, …) writes it.</p>"
    page = page_of(scene, title=scene.title or "motion", field=field, scale=scale, forces=forces)
    style = "width:100%;height:560px;border:0;border-radius:8px"
    return f'{words}<iframe title="moving view" style="{style}" srcdoc="{escape(page)}"></iframe>'
