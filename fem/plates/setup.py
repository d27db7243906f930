"""Model of a plate from a mesh, materials and thicknesses, with checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed

from ..materials.elastic import IN_PLANE
from ..meshes.cells import corner_slopes
from ..meshes.regions import region_of_cells
from ..meshes.solid_mesh import SolidMesh
from ..solids.model import SolidModel
from .coordinates import Theory
from .model import TRANSVERSE, PlateModel

STRAIGHT = 1e-6
"""Distance of an edge node from the middle, relative to the size of the cell, up to which an edge is straight."""


def plate_model(solid: SolidModel, thickness: Any, theory: Theory, *, rotary: bool, correction: float) -> PlateModel:
    """Model of a plate with a thickness [m] for all cells, or one for each named region of cells."""
    _refuse_curved(solid.mesh)
    if theory == "reissner_mindlin":
        for name, material in solid.materials.items():
            if np.any(material.compliance[np.ix_(TRANSVERSE, IN_PLANE)] != 0.0):
                raise ValueError(f"material {name!r} must have the x-y plane as a plane of symmetry in a plate")
    return PlateModel(solid, theory, _thickness(solid.mesh, thickness), rotary, correction)


def _thickness(mesh: SolidMesh, given: Any) -> Array:
    if not isinstance(given, Mapping):
        return np.full(int(mesh.starts[-1]), check.positive("thickness", given, "m"))
    if not given:
        raise ValueError("thickness must be a number [m], or numbers by the names of regions, got none")
    values = [check.positive(f"thickness {name!r}", value, "m") for name, value in given.items()]
    return np.array(values)[region_of_cells(mesh, "thickness", given)]


def _refuse_curved(mesh: SolidMesh) -> None:
    """Raise ValueError for curved edges, middle nodes off the middle, and quadrilaterals that are not convex."""
    for block in mesh.blocks:
        at = mesh.points[block.nodes]
        corners = at[:, : block.kind.corners]
        size = np.ptp(corners, axis=1).max(axis=1)
        means = np.stack([corners[:, list(n)].mean(axis=1) for n in block.kind.nodes], axis=1)
        curved = np.flatnonzero(np.linalg.norm(at - means, axis=2).max(axis=1) > STRAIGHT * size)
        if curved.size:
            raise ValueError(
                f"mesh of a plate must have straight edges with nodes in their middles, got {block.kind.name} cells "
                f"that are curved: {listed(curved)}; first-order cells are always straight"
            )
        turned = np.einsum("kni,njq->kqij", corners, corner_slopes(block.kind.shape))
        folded = np.flatnonzero(np.linalg.det(turned).min(axis=1) <= 1e-6 * size**2)
        if folded.size:
            raise ValueError(f"mesh of a plate must have convex quadrilaterals, got others: {listed(folded)}")
