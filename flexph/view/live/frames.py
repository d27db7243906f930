"""Drawings of snapshots for a page: first the scene of a mechanism, then only positions and fields of its points."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...scenes.of_motion import Drawing
from ...scenes.scene import Part, Scene
from ...scenes.stresses import Rows
from ..looks import shown_field
from ..packing import streamed


class MechanismDrawing:
    """Drawing of a mechanism at successive states of a run.

    ``number`` is 0 at first; each change of joints in the run begins a new drawing with the next number.
    """

    def __init__(self, mechanism: Any, number: int = 0) -> None:
        self.mechanism, self.number = mechanism, number
        self._drawing: Drawing | None = None
        self._lock = threading.Lock()

    def scene(self, x: Array, time: float, *, scalable: bool = True) -> Scene:
        """Scene of a flat state, with the same parts and triangles for all states; see :meth:`Drawing.scene`."""
        motion = Rows(self.mechanism, np.asarray(x)[None])
        with self._lock:
            if self._drawing is None:
                self._drawing = Drawing(motion)
        scene = self._drawing.scene(motion, np.array([time]), scalable=scalable)
        return replace(scene, parts=tuple(part for part in scene.parts if part.points.size and len(part.cells)))

    def stream(self, x: Array, time: float, *, title: str, field: str | None, **more: Any) -> bytes:
        """Scene of a flat state as bytes for the page, in the form of :func:`flexph.view.packing.streamed`.

        Afterwards, the page moves the parts of this scene by the numbers of :meth:`frame`. Entries ``more`` are added
        to the JSON head of the bytes.
        """
        scene = self.scene(x, time)
        attributes = [
            {"moves": part.kind != "ground", "deforms": _deforms(part), "fields": list(part.point_fields)}
            for part in scene.parts
        ]
        live = {"number": self.number, "parts": attributes, **more}
        return streamed(scene, title=title, field=shown_field(scene, field), live=live)

    def frame(self, x: Array, time: float, *, scalable: bool = True) -> bytes:
        """Bytes of positions, deformations (if ``scalable``) and fields at the points of all moving parts (float32)."""
        return _numbers(self.scene(x, time, scalable=scalable).parts)


def _deforms(part: Part) -> bool:
    return bool(part.deformation.shape[1])


def _numbers(parts: Sequence[Part]) -> bytes:
    arrays: list[Array] = []
    for part in parts:
        if part.kind != "ground":
            arrays.append(part.points[0])
            if _deforms(part):
                arrays.append(part.deformation[0])
            arrays += [field.values[0] for field in part.point_fields.values()]
    numbers = np.concatenate([values.ravel() for values in arrays] or [np.zeros(0)]).astype("<f4")
    return np.nan_to_num(numbers, copy=False).tobytes()


def refuse_invisible(mechanism: Any) -> None:
    """Raise ValueError for a mechanism without a body that can be drawn."""
    if all(body.view is None for body in mechanism.bodies.values()):
        raise ValueError("live must be left out for a mechanism none of whose bodies can be drawn")
