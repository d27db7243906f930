"""Scenes of CAD drawings (STEP, IGES, BREP): the parts of a drawing, and their proposed ports, coloured and named."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..meshes.drawings.drawing import FORMATS, WITHOUT_UNIT
from ..meshes.drawings.surfaces import PartSurface, part_surfaces
from ..numerics.arrays import Array
from ..scenes.of_motion import SIGN
from ..scenes.scene import Part, PartKind, Scene

ROUND: dict[str, PartKind] = {"hole": "joint", "socket": "joint", "pin": "force", "ball": "force"}
"""Kinds of parts of a scene by the kind of port, for their colours."""


def scene_of_drawing(path: Path) -> Scene:
    """Scene of the solids of a STEP, IGES or BREP file.

    A file without unit has numbers in metres. Raises ValueError for a file that cannot be read, ImportError without
    gmsh.
    """
    without = FORMATS[path.suffix.lower()] in WITHOUT_UNIT
    surfaces = part_surfaces(path, unit=1.0 if without else None)
    parts = [part for surface in surfaces for part in _parts(surface)]
    corners = np.array([[part.points[0].min(axis=0), part.points[0].max(axis=0)] for part in parts])
    extent = float(np.linalg.norm(corners[:, 1].max(axis=0) - corners[:, 0].min(axis=0)))
    return Scene(np.zeros(1), tuple(parts), SIGN * extent, 3, title=path.stem)


def _parts(surface: PartSurface) -> list[Part]:
    """Scene parts for one part of a drawing: the faces of each port, with names such as ``rod.hole1``, and the rest."""
    solid, left = surface.part, np.ones(len(surface.triangles), dtype=bool)
    parts = []
    for port in solid.ports:
        held = np.isin(surface.faces, port.faces)
        left &= ~held
        parts.append(_part(f"{solid.name}.{port.name}", ROUND.get(port.kind, "body"), surface, held))
    return [part for part in (_part(solid.name, "body", surface, left), *parts) if len(part.cells)]


def _part(name: str, kind: PartKind, surface: PartSurface, held: Array) -> Part:
    used, numbers = np.unique(surface.triangles[held], return_inverse=True)
    return Part(name, kind, surface.points[used][None], numbers.reshape(-1, 3))
