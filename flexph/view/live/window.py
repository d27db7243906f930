"""Live window of a run, by pyvista (extra ``view``)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..looks import coloured, shown_field
from ..window import Stage, library

if TYPE_CHECKING:
    from ...scenes.scene import Scene
    from .session import Session, Snapshot

SHARE = 0.1
"""Largest share of the time of a run that goes into drawing."""
HELP = "space: pause, continue    right arrow: step    End: end the run"
ROOM = 0.1
"""Margin, relative to the diagonal, by which the box of the motion grows when the motion leaves it."""


class LiveWindow:
    """Window that shows the snapshots of a session and sends it commands, in the thread of the run.

    Parameters
    ----------
    title : str
        Title of the window.
    field : str, optional
        Name of the coloured field.
    last : float
        Last time of the run [s].
    """

    def __init__(self, *, title: str, field: str | None, last: float) -> None:
        library()
        self.title, self.field, self.last = title, field, last
        self.stage: Stage | None = None
        self._shown, self._drawing, self._free_at = -1, -1, 0.0

    def open(self, session: Session) -> None:
        """Open the window."""
        self._build(session, session.snapshot)
        assert self.stage is not None
        self.stage.plotter.show(title=self.title, interactive_update=True, auto_close=False)

    def look(self, session: Session) -> None:
        """Show the last snapshot of a session and process keys, unless drawing would take too much of the time."""
        now, snapshot, began = self.stage, session.snapshot, time.monotonic()
        over = snapshot.state in ("finished", "ended", "failed")
        if now is not None and now.plotter.render_window is None:
            session.order("continue")  # a closed window cannot continue the run later
            return
        if now is None or (began < self._free_at and not over):
            return
        if snapshot.number != self._shown:
            if snapshot.drawn is not None and snapshot.drawn.number != self._drawing:
                now.plotter.clear()
                self._build(session, snapshot, now.plotter)
            self._set(snapshot)
        self.stage.plotter.update()  # type: ignore[union-attr]
        self._free_at = time.monotonic() + (time.monotonic() - began) * (1.0 / SHARE - 1.0)

    def close(self) -> None:
        """Close the window."""
        if self.stage is not None:
            self.stage.plotter.close()

    def _build(self, session: Session, snapshot: Snapshot, plotter: Any = None) -> None:
        assert snapshot.drawn is not None
        scene = snapshot.drawn.scene(snapshot.x, snapshot.time)
        self.stage, self._drawing = Stage(scene, shown_field(scene, self.field), plotter), snapshot.drawn.number
        self._box, self._limits = scene.bounds, np.zeros(2)
        plot = self.stage.plotter
        for k, slider in enumerate(session.sliders.all):
            plot.add_slider_widget(
                lambda value, name=slider.name: session.order("slider", name=name, value=float(value)),
                (slider.low, slider.high),
                value=session.sliders.values[k],
                title=slider.name,
                pointa=(0.74, 0.92 - 0.12 * k),
                pointb=(0.97, 0.92 - 0.12 * k),
                title_height=0.02,
                title_color="#1d2733",
                color="#1463b8",
                slider_width=0.03,
                tube_width=0.004,
                fmt="%.3g",
            )
        plot.add_key_event("space", lambda: session.order("continue" if session.paused else "pause"))
        plot.add_key_event("Right", lambda: session.order("step"))
        plot.add_key_event("End", lambda: session.order("end"))
        self._set(snapshot)

    def _set(self, snapshot: Snapshot) -> None:
        """Move the meshes to a snapshot, and write its time and energies."""
        assert snapshot.drawn is not None and self.stage is not None
        stage, scene = self.stage, snapshot.drawn.scene(snapshot.x, snapshot.time)
        stage.scene = scene
        for part, mesh in zip(scene.parts, stage.meshes, strict=True):
            mesh.points = part.at(0)
        self._colour(scene)
        self._grow(scene)
        stored, work, dissipated = snapshot.account
        caption = (
            f"{snapshot.state}, t = {snapshot.time:.4g} s of {self.last:.4g} s\n"
            f"stored {stored:+.3g} J, work {work:+.3g} J, dissipated {dissipated:.3g} J\n{HELP}"
        )
        stage.plotter.add_text(
            f"{caption}\n{snapshot.message}" if snapshot.message else caption,
            name="caption",
            font_size=10,
            color="#222222",
        )
        self._shown = snapshot.number

    def _colour(self, scene: Scene) -> None:
        """Colour the meshes by the field of a scene.

        The limits of the colour bar are those of all times so far.
        """
        assert self.stage is not None
        stage, name = self.stage, self.stage.name
        if name is None:
            return
        for part, mesh in zip(scene.parts, stage.meshes, strict=True):
            if coloured(part, name):
                values = np.nan_to_num(stage.factor * part.point_fields[name].values[0])
                mesh.point_data["field"][:] = values
                self._limits = np.array([min(self._limits[0], values.min()), max(self._limits[1], values.max())])
        low, high = self._limits
        largest = max(-low, high)
        if largest > 0.0:
            limits = [-largest if scene.is_signed(name) else 0.0, largest]
            stage.plotter.update_scalar_bar_range(limits, name=stage.bar)

    def _grow(self, scene: Scene) -> None:
        """Move the camera back if the motion leaves the box in which it was so far."""
        assert self.stage is not None
        low, high = scene.bounds
        if (low < self._box[0]).any() or (high > self._box[1]).any():
            low, high = np.minimum(low, self._box[0]), np.maximum(high, self._box[1])
            room = ROOM * float(np.linalg.norm(high - low))
            self._box = np.array([low - room * (low < self._box[0]), high + room * (high > self._box[1])])
            self.stage.aim(self._box)
