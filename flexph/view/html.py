"""Scenes as HTML that turns and plays in a browser, drawn by plotly."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from ..files.durable import refuse_suffix, staged
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..scenes.scene import Part, Scene
from .looks import (
    COLOURS,
    DIVERGING,
    SEQUENTIAL,
    as_scene,
    bar_title,
    caption,
    coloured,
    is_diverging,
    limits_of,
    shown_field,
    unit_of,
)

FRAMES = 61
"""Times of a film in a browser."""
COLOURSCALES = {
    SEQUENTIAL: ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"),
    DIVERGING: ("#3b4cc0", "#6282ea", "#8db0fe", "#b9d0f9", "#dddcdc", "#f5c4ac", "#f4987a", "#dd5f4b", "#b40426"),
}
"""Colours at equal distances: those that matplotlib has under these names."""
MILLISECONDS = 50
"""Of each of them."""
CONFIG = {"displaylogo": False, "responsive": True}


@checked
def html_fragment(
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
    plotly_js: bool | str = True,
) -> str:
    """A ``<div>`` with the 3-D view of a run (:class:`flexph.Solution`) or of a scene, for a page of one's own.

    It turns with the mouse, plays, and has a slider of time; bodies and joints are in the legend, stresses in colour.

    Parameters
    ----------
    shown : Solution or Scene
        What is shown.
    field : str, optional
        Name of the field in colour; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        Whether weights and forces of joints are shown as arrows.
    frames : int
        Most times that are shown.
    plotly_js : bool or str
        True puts plotly.js into it, 4.7 MB, so that it needs no network; False leaves it to the page.

    Returns
    -------
    str
        HTML.
    """
    from plotly.io import to_html

    figure = figure_of(as_scene(shown, frames, scale=scale, forces=forces), field)
    options = {"include_plotlyjs": plotly_js, "auto_play": False, "validate": False}
    return str(to_html(figure, CONFIG, full_html=False, **options))


@checked
def write_html(
    path: str | Path,
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
) -> Path:
    """Write the 3-D view of a run or a scene as one file that opens without a network; returns its path.

    Parameters
    ----------
    path : path
        Where the file comes to.
    shown : Solution or Scene
        What is shown.
    field : str, optional
        Name of the field in colour; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        Whether weights and forces of joints are shown as arrows.
    frames : int
        Most times that are shown.

    Returns
    -------
    Path
        The path.
    """
    from plotly.io import to_html

    refuse_suffix("a page", path, (".html", ".htm"))
    figure = figure_of(as_scene(shown, frames, scale=scale, forces=forces), field)
    options = {
        "include_plotlyjs": True,
        "auto_play": False,
        "validate": False,
        "default_height": "100vh",
        "div_id": "view",
    }
    with staged(path) as part:
        part.write_text(str(to_html(figure, CONFIG, full_html=True, **options)), encoding="utf-8")
    return Path(path)


def figure_of(scene: Scene, field: str | None = None) -> dict[str, Any]:
    """The figure of a scene as plotly.js takes it: plotly's own objects look at every word, which takes longer."""
    name = shown_field(scene, field)
    meshes = [_look(scene, part, name) | _frame(scene, part, name, 0) for part in scene.parts]
    moving = [k for k, part in enumerate(scene.parts) if part.moves]
    rows = range(len(scene.times) if moving else 1)
    films = [
        {
            "name": str(row),
            "traces": moving,
            "data": [{"type": "mesh3d"} | _frame(scene, scene.parts[k], name, row) for k in moving],
        }
        for row in rows
    ]
    return {"data": meshes, "layout": _layout(scene, len(films)), "frames": films if len(films) > 1 else []}


def packed(values: Array) -> dict[str, str]:
    """Numbers as plotly.js reads them without parsing."""
    kind = {"float32": "f4", "float64": "f8", "int32": "i4"}[values.dtype.name]
    return {"dtype": kind, "bdata": base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")}


def _look(scene: Scene, part: Part, name: str | None) -> dict[str, Any]:
    """What of a part is the same at all times."""
    corners = {key: packed(own.astype(np.int32)) for key, own in zip("ijk", part.cells.T, strict=True)}
    look: dict[str, Any] = {"type": "mesh3d", **corners, "name": part.name, "showlegend": True, "flatshading": False}
    look["lighting"] = {"ambient": 0.55, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6}
    if not coloured(part, name):
        return look | {"color": COLOURS[part.kind], "hoverinfo": "name"}
    assert name is not None
    _, unit = unit_of(scene, name)
    low, high = limits_of(scene, name)
    colours = COLOURSCALES[DIVERGING if is_diverging(scene, name) else SEQUENTIAL]
    scale = [[k / (len(colours) - 1), own] for k, own in enumerate(colours)]
    first = next(p for p in scene.parts if coloured(p, name))
    bar = {"title": {"text": bar_title(name, unit), "side": "right"}, "len": 0.75, "x": 1.0}
    look |= {"colorscale": scale, "cmin": low, "cmax": high}
    return look | {"showscale": part is first, "colorbar": bar}


def _frame(scene: Scene, part: Part, name: str | None, row: int) -> dict[str, Any]:
    """What of a part changes with time, in single precision."""
    moved = {axis: packed(own) for axis, own in zip("xyz", part.at(row).T.astype(np.float32), strict=True)}
    if coloured(part, name):
        assert name is not None
        values = part.point_fields[name].values
        moved["intensity"] = packed((unit_of(scene, name)[0] * values[min(row, len(values) - 1)]).astype(np.float32))
    return moved


def _layout(scene: Scene, count: int) -> dict[str, Any]:
    low, high = scene.bounds
    extent = np.maximum(high - low, 0.05 * float((high - low).max()))
    middle, longest = 0.5 * (low + high), float(extent.max())
    axes = {
        f"{axis}axis": {"title": {"text": f"{axis} [m]"}, "range": [m - 0.52 * e, m + 0.52 * e], "nticks": 5}
        for axis, m, e in zip("xyz", middle.tolist(), extent.tolist(), strict=True)
    }
    if scene.dim == 2:
        axes["zaxis"] |= {"title": {"text": ""}, "showticklabels": False}
    ratio = dict(zip("xyz", (1.6 * extent / longest).tolist(), strict=True))
    plane = {"eye": {"x": 0.35, "y": -0.6, "z": 2.4}, "up": {"x": 0, "y": 1, "z": 0}}
    camera = plane if scene.dim == 2 else {"eye": {"x": 1.2, "y": -1.4, "z": 0.8}, "up": {"x": 0, "y": 0, "z": 1}}
    layout: dict[str, Any] = {
        "scene": {**axes, "aspectmode": "manual", "aspectratio": ratio, "camera": camera, "uirevision": "kept"},
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},
        "title": {"text": scene.title},
        "legend": {"x": 0.0, "y": 1.0, "font": {"size": 11}, "bgcolor": "rgba(255,255,255,0.6)"},
    }
    return layout | (_controls(scene, count) if count > 1 else {})


def _controls(scene: Scene, count: int) -> dict[str, Any]:
    """Buttons and the slider of time."""
    still = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    play = still | {"frame": {"duration": MILLISECONDS, "redraw": True}, "fromcurrent": True}
    buttons = [
        {"label": "play", "method": "animate", "args": [None, play]},
        {"label": "pause", "method": "animate", "args": [[None], still]},
    ]
    steps = [{"label": caption(scene, row), "method": "animate", "args": [[str(row)], still]} for row in range(count)]
    slider: dict[str, Any] = {
        "steps": steps,
        "x": 0.14,
        "len": 0.84,
        "y": 0.04,
        "currentvalue": {"prefix": ""},
        "tickwidth": 0,
    }
    slider |= {"font": {"color": "rgba(0,0,0,0)"}, "minorticklen": 0, "ticklen": 0}
    slider["currentvalue"] |= {"font": {"color": "#222", "size": 13}, "xanchor": "left"}
    menu: dict[str, Any] = {
        "type": "buttons",
        "direction": "left",
        "buttons": buttons,
        "x": 0.0,
        "y": 0.04,
        "xanchor": "left",
    }
    return {"sliders": [slider], "updatemenus": [menu | {"yanchor": "top"}]}
