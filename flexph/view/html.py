"""Scenes as HTML that turns and plays in a browser, drawn by plotly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..files.durable import staged
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..scenes.of_motion import motion_scene
from ..scenes.scene import Part, Scene
from .looks import COLOURS, caption, coloured, shown_field, unit_of

FRAMES = 61
"""Times of a film in a browser."""
MILLISECONDS = 50
"""Of each of them."""


@checked
def html_fragment(
    shown: Any, *, field: str | None = None, scale: float = 1.0, frames: int = FRAMES, plotly_js: bool | str = True
) -> str:
    """A ``<div>`` with the 3-D view of a run (:class:`flexph.Solution`) or of a scene, for a page of one's own.

    It turns with the mouse, plays, and has a slider of time; bodies and joints are in the legend, stresses in colour.
    ``field``: the name of the field in colour, the first one if None; ``scale``: factor of the deformations;
    ``frames``: at most so many times. ``plotly_js``: True puts plotly.js into it, 4.7 MB, so that it needs no network;
    False leaves it to the page. Raises ModuleNotFoundError, naming what to install, without plotly.
    """
    scene = _scene(shown, frames=frames, scale=scale)
    return str(figure_of(scene, field).to_html(full_html=False, include_plotlyjs=plotly_js, auto_play=False))


@checked
def write_html(
    path: str | Path, shown: Any, *, field: str | None = None, scale: float = 1.0, frames: int = FRAMES
) -> Path:
    """Write the 3-D view of a run or a scene as one file that opens without a network; returns its path.

    Arguments are those of :func:`html_fragment`.
    """
    figure = figure_of(_scene(shown, frames=frames, scale=scale), field)
    with staged(path) as part:
        text = figure.to_html(full_html=True, include_plotlyjs=True, auto_play=False, default_height="100vh")
        part.write_text(text, encoding="utf-8")
    return Path(path)


def _scene(shown: Any, *, frames: int, scale: float) -> Scene:
    if not isinstance(shown, Scene):
        return motion_scene(shown, frames=frames, scale=scale)
    rows = np.unique(np.linspace(0, len(shown.times) - 1, frames).round().astype(int))
    return shown.picked(rows).deformed(scale * shown.scale)


def figure_of(scene: Scene, field: str | None = None) -> Any:
    """The plotly figure of a scene."""
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError:
        raise ModuleNotFoundError('views in a browser need plotly: pip install "flexph[view]"') from None
    name = shown_field(scene, field)
    meshes = [go.Mesh3d(**_look(scene, part, name), **_frame(scene, part, name, 0)) for part in scene.parts]
    moving = [k for k, part in enumerate(scene.parts) if part.moves]
    rows = range(len(scene.times) if moving else 1)
    films = [
        go.Frame(
            name=str(row), traces=moving, data=[go.Mesh3d(**_frame(scene, scene.parts[k], name, row)) for k in moving]
        )
        for row in rows
    ]
    figure = go.Figure(data=meshes, frames=films if len(films) > 1 else [])
    figure.update_layout(_layout(scene, len(films)))
    return figure


def _look(scene: Scene, part: Part, name: str | None) -> dict[str, Any]:
    """What of a part is the same at all times."""
    i, j, k = part.cells.T.astype(np.int32)
    look: dict[str, Any] = {"i": i, "j": j, "k": k, "name": part.name, "showlegend": True, "flatshading": False}
    look["lighting"] = {"ambient": 0.55, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6}
    if not coloured(part, name):
        return look | {"color": COLOURS[part.kind], "hoverinfo": "name"}
    assert name is not None
    factor, unit = unit_of(scene, name)
    low, high = (factor * end for end in scene.limits(name))
    first = next(p for p in scene.parts if coloured(p, name))
    bar = {"title": {"text": f"{name} [{unit}]", "side": "right"}, "len": 0.75, "x": 1.0}
    return look | {"colorscale": "Turbo", "cmin": low, "cmax": high, "showscale": part is first, "colorbar": bar}


def _frame(scene: Scene, part: Part, name: str | None, row: int) -> dict[str, Array]:
    """What of a part changes with time, in single precision."""
    x, y, z = part.at(row).T.astype(np.float32)
    moved = {"x": x, "y": y, "z": z}
    if coloured(part, name):
        assert name is not None
        moved["intensity"] = (unit_of(scene, name)[0] * part.point_fields[name].values[row]).astype(np.float32)
    return moved


def _layout(scene: Scene, count: int) -> dict[str, Any]:
    low, high = scene.bounds
    extent = np.maximum(high - low, 0.05 * float((high - low).max()))
    middle, longest = 0.5 * (low + high), float(extent.max())
    axes = {
        f"{axis}axis": {"title": f"{axis} [m]", "range": [m - 0.52 * e, m + 0.52 * e], "nticks": 5}
        for axis, m, e in zip("xyz", middle.tolist(), extent.tolist(), strict=True)
    }
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
