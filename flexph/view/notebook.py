"""The live view within a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from .html import FRAMES, page_of
from .looks import as_scene

TRIANGLES = 100_000
"""Triangles up to which a notebook holds a view."""


def live_view(shown: Any, *, field: str | None = None, scale: float = 1.0, forces: bool = False) -> str:
    """The page of a run or a scene as HTML that stands by itself: its styles and scripts touch nothing else.

    A pair of a mechanism and a pose or state is shown, too; of what has too many triangles the words alone.
    """
    scene = as_scene(shown, FRAMES, forces=True)
    words = f"<p>{escape(repr(shown)[1:-1])}</p>" if not isinstance(shown, tuple) else ""
    triangles = sum(len(part.cells) for part in scene.parts)
    if triangles > TRIANGLES:
        return f"{words}<p>The view of {triangles} triangles is left out: write_html(path, …) writes it.</p>"
    page = page_of(scene, title=scene.title or "motion", field=field, scale=scale, forces=forces)
    style = "width:100%;height:560px;border:0;border-radius:8px"
    return f'{words}<iframe title="moving view" style="{style}" srcdoc="{escape(page)}"></iframe>'
