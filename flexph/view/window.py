"""Window of a scene by pyvista (extra ``view``)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..scenes.scene import FRAMES, Part, Scene
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

SIZE = (960, 544)
"""Width and height of the window [pixels]."""
USED = 0.9
"""Share of a picture that the motion fills."""
RATE = 20
"""Number of times shown per second."""


@checked
def show(shown: Any, *, field: str | None = None, scale: float = 1.0, forces: bool = False) -> None:
    """Open a window that plays a run or a scene and lets the user turn it, with a slider for the time.

    Parameters
    ----------
    shown : Solution or Scene
        Run or scene, or a pair of a mechanism and a pose or state.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows.
    """
    scene = as_scene(shown, FRAMES, scale=scale, forces=forces)
    stage = Stage(scene, shown_field(scene, field))
    if len(scene.times) > 1:
        last = len(scene.times) - 1
        stage.plotter.add_slider_widget(
            lambda value: stage.set(round(value)),
            (0, last),
            title="frame",
            fmt="%.0f",
            pointa=(0.3, 0.08),
            pointb=(0.7, 0.08),
        )
        stage.plotter.add_timer_event(10 * last, 1000 // RATE, lambda step: stage.set(step % (last + 1)))
    stage.plotter.show()


def library() -> Any:
    """Module pyvista; raises ModuleNotFoundError that names the package to install."""
    try:
        import pyvista
    except ModuleNotFoundError:
        raise ModuleNotFoundError('windows in 3-D need pyvista: pip install "flexph[view]"') from None
    return pyvista


class Stage:
    """Pyvista plotter with the parts of a scene, which shows the scene at one of its times."""

    def __init__(self, scene: Scene, name: str | None, plotter: Any = None) -> None:
        pyvista = library()
        self.scene, self.name = scene, name
        new: Any = pyvista.Plotter
        self.plotter: Any = plotter or new(window_size=list(SIZE))
        self.factor, unit = (1.0, "") if name is None else unit_of(scene, name)
        self.bar = bar_title(name or "", unit)
        self.plotter.set_background("white")
        self.meshes: list[Any] = [pyvista.PolyData.from_regular_faces(part.at(0), part.cells) for part in scene.parts]
        for part, mesh in zip(scene.parts, self.meshes, strict=True):
            self.plotter.add_mesh(mesh, **self._look(part, mesh))
        for title, bar in self.plotter.scalar_bars.items():
            bar.SetTitle(f"{title}\n ")  # VTK leaves no room between the title and the numbers
        self.aim(scene.bounds)
        self.set(0)

    def set(self, row: int) -> None:
        """Show the parts at the time of index ``row`` in the scene."""
        for part, mesh in zip(self.scene.parts, self.meshes, strict=True):
            if part.moves:
                mesh.points = part.at(row)
            if self.name is not None and coloured(part, self.name):
                mesh.point_data["field"][:] = self._values(part, row)
        self.plotter.add_text(caption(self.scene, row), name="caption", font_size=10, color="#222222")

    def _values(self, part: Part, row: int) -> Any:
        assert self.name is not None
        return self.factor * part.point_fields[self.name].values[row]

    def _look(self, part: Part, mesh: Any) -> dict[str, Any]:
        look: dict[str, Any] = {"name": part.name, "smooth_shading": True, "split_sharp_edges": False}
        if not coloured(part, self.name):
            return look | {"color": COLOURS[part.kind]}
        assert self.name is not None
        mesh.point_data["field"] = self._values(part, 0)
        bar = {"title": self.bar, "color": "#222222", "n_labels": 5, "fmt": "%.3g", "width": 0.5}
        bar |= {"position_x": 0.25, "position_y": 0.03, "height": 0.07, "title_font_size": 16, "label_font_size": 13}
        limits = limits_of(self.scene, self.name)
        colours = DIVERGING if is_diverging(self.scene, self.name) else SEQUENTIAL
        return look | {"scalars": "field", "cmap": colours, "clim": list(limits), "scalar_bar_args": bar}

    def aim(self, bounds: Array) -> None:
        """Set the camera so that the box ``bounds`` (2, 3) is visible above the colour bar.

        A plane scene is seen from the front and slightly from above.
        """
        low, high = bounds
        middle = 0.5 * (low + high)
        corners = np.array(list(product(*zip(low, high, strict=True)))) - middle
        plane = self.scene.dim == 2
        towards = np.array([0.0, -0.35, 1.0]) if plane else np.array([0.7, -1.0, 0.6])
        towards /= np.linalg.norm(towards)
        above = np.array([0.0, 1.0, 0.0]) if plane else np.array([0.0, 0.0, 1.0])
        right = np.cross(above, towards)
        right /= np.linalg.norm(right)
        up, (width, height) = np.cross(towards, right), self.plotter.window_size
        slope = np.tan(0.5 * np.deg2rad(self.plotter.camera.view_angle))
        room = USED * slope * np.array([width / height, 1.0 if self.name is None else 0.8])
        away = (np.abs(corners @ np.array([right, up]).T) / room).max(axis=1) + corners @ towards
        distance = float(away.max())
        if self.name is not None:
            middle = middle - 0.15 * distance * slope * up
        self.plotter.camera_position = [tuple(middle + distance * towards), tuple(middle), tuple(above)]
        self.plotter.reset_camera_clipping_range()
