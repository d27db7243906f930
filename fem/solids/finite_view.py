"""How a solid of finite strain looks: its cells, with their stresses."""

from __future__ import annotations

from typing import Any

from flexph.bodies.fields import View

from ..meshes.drawing import drawing
from .model import SolidModel
from .view import stress_tensor


def finite_view(model: SolidModel, weights: Any) -> View:
    """The cells of the mesh, whose nodes move by ``weights`` (N, nodes), with the second Piola-Kirchhoff stress."""
    shown = drawing(model.mesh)
    return View(
        points=model.mesh.points[shown.used],
        cells=shown.cells,
        cell_type=shown.name,
        shape=weights[shown.used],
        tensors={"second_piola_kirchhoff": stress_tensor(model, shown)},
    )
