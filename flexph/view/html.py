"""Interactive HTML of scenes for browsers, with the scripts in ``browser``."""

from __future__ import annotations

import base64
import gzip
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..files.durable import refuse_suffix, staged
from ..numerics.arguments import checked
from ..scenes.scene import FRAMES, Scene
from .looks import as_scene
from .packing import packed, with_triangles
from .stage import still_image

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>html, body {{ margin: 0; height: 100%; background: light-dark(#f6f7f9, #14191f); }}</style>
</head>
<body>
{view}
</body>
</html>
"""
WHOLE, WITHIN = "height:100vh;height:100dvh", "height:clamp(480px,80vh,620px)"
"""Height of a full-page view, and of a view within a page."""
PICTURE = "display:block;max-width:100%;margin:auto"
START = (
    "(async()=>{const e=document.getElementById('flexph-library');"
    "if(window.flexph)return flexph.mountAll();if(!e)return;"
    "const b=Uint8Array.from(atob(e.textContent),c=>c.charCodeAt(0));"
    "const s=document.createElement('script');s.textContent=await new Response("
    "new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).text();"
    "document.head.append(s)})()"
)
"""Script that starts the library from its compressed text; it also works in local files."""


@checked
def html_fragment(
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
    library: bool | str = True,
    title: str = "",
) -> str:
    """HTML ``<div>`` with the 3-D view of a run (:class:`flexph.Solution`) or of a scene, for inclusion in a page.

    The reader can rotate and play the view, and set time, field, deformation factor, forces and parts; without scripts
    it is a picture.

    Parameters
    ----------
    shown : Solution or Scene
        Run or scene, or a pair of a mechanism and a pose or state.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Initial factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows initially.
    frames : int
        Largest number of times shown.
    library : bool or str
        True includes the scripts, 0.26 MB, so that no other file is needed; a text is the address of a file written by
        :func:`write_library`; with False the page must contain :func:`library_script` once.
    title : str
        Heading; by default that of the scene.

    Returns
    -------
    str
        HTML.
    """
    scene = as_scene(shown, frames, forces=True)
    view = _view(_scaled(scene, scale), title or scene.title or "mechanism", field, forces=forces, style=WITHIN)
    if isinstance(library, str):
        return f'{view}\n<script src="{escape(library)}" defer></script>'
    return f"{view}\n{library_script()}" if library else view


@checked
def write_html(
    path: str | Path,
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
    title: str = "",
) -> Path:
    """Write the 3-D view of a run or a scene as one file that opens without a network; return its path.

    Parameters
    ----------
    path : path
        Path of the file.
    shown : Solution or Scene
        Run or scene, or a pair of a mechanism and a pose or state.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Initial factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows initially.
    frames : int
        Largest number of times shown.
    title : str
        Heading; by default that of the scene, otherwise the name of the file.

    Returns
    -------
    Path
        The path.
    """
    refuse_suffix("a page", path, (".html", ".htm"))
    scene = as_scene(shown, frames, forces=True)
    heading = title or scene.title or Path(path).stem
    page = page_of(scene, title=heading, field=field, scale=scale, forces=forces)
    with staged(path) as part:
        part.write_text(page, encoding="utf-8")
    return Path(path)


def page_of(scene: Scene, *, title: str, field: str | None, scale: float, forces: bool) -> str:
    """Self-contained page of a scene."""
    view = _view(_scaled(scene, scale), title, field, forces=forces, style=WHOLE)
    return PAGE.format(title=escape(title), view=f"{view}\n{library_script()}")


def _scaled(scene: Scene, scale: float) -> Scene:
    """Scene whose deformations are multiplied by ``scale`` in addition to its own factor."""
    return scene if scale == 1.0 else scene.deformed(scale * scene.scale)


def _view(scene: Scene, title: str, field: str | None, *, forces: bool, style: str) -> str:
    """HTML element with a picture of a scene, which the scripts of the library replace by an interactive view.

    ``style``: CSS of the element; ``forces``: True to show arrows initially.
    """
    triangulated = with_triangles(scene)
    stream = packed(triangulated, title=title, field=field, forces=forces)
    picture = base64.b64encode(still_image(triangulated, stream.row, stream.field)).decode("ascii")
    return (
        f'<div class="flexph-view" style="{style}">'
        f'<img alt="{escape(title)}" style="{PICTURE}" src="data:image/png;base64,{picture}">'
        f'<script type="text/plain" class="flexph-data">{stream.text}</script></div>'
    )


def library_script() -> str:
    """HTML ``<script>`` elements with the library of views, which a page must contain once.

    They load no other files.

    Returns
    -------
    str
        Two script elements: the compressed library, and its start.
    """
    packed_library = base64.b64encode(_packed_library()).decode("ascii")
    return f'<script type="text/plain" id="flexph-library">{packed_library}</script>\n<script>{START}</script>'


@checked
def write_library(path: str | Path) -> Path:
    """Write the library of views as a file for several pages; return its path.

    Parameters
    ----------
    path : path
        Path of the file, with the suffix ``.js``.

    Returns
    -------
    Path
        The path.
    """
    refuse_suffix("a library", path, (".js",))
    with staged(path) as part:
        part.write_bytes(gzip.decompress(_packed_library()))
    return Path(path)


def _packed_library() -> bytes:
    return files("flexph.view").joinpath("browser", "viewer.js.gz").read_bytes()
