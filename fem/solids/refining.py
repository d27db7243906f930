"""Refinement of the mesh of a solid until the estimated errors of its frequencies or compliances are small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from flexph.bodies.body import Body
from flexph.meshes.drawings.drawing import CellSizes
from flexph.numerics.arrays import Array

from ..meshes.solid_mesh import SolidMesh
from ..refinement.bisection import bisected, simplices_of_degree_one
from ..refinement.criteria import Refinement
from ..refinement.loop import Estimate, MeshedBody, Refined, marked, refined, refuse_many, wanted_sizes
from ..refinement.recovery import stress_points
from .model import SolidModel

Build = Callable[[SolidModel], Body]
Drawn = Callable[[CellSizes], SolidModel]


def refined_solid(model: SolidModel, to: Refinement, build: Build, *, drawn: Drawn | None) -> Refined:
    """Refine the mesh of a solid until it meets the criterion ``to``; return the last body and all rounds.

    Cells are bisected, unless ``drawn`` is given, a function that meshes the drawing of the solid again with given cell
    sizes. ``build`` makes the body from the model.
    """
    if drawn is None:
        simplices_of_degree_one(model.mesh)  # refuses others
    return refined(_meshed(model, build), to, partial(_finer, to=to, build=build, drawn=drawn))


def _meshed(model: SolidModel, build: Build) -> MeshedBody:
    cells, d = int(model.mesh.starts[-1]), model.dim
    corners = model.mesh.points[np.vstack([block.corners() for block in model.mesh.blocks])]
    at, weights = model.positions.reshape(cells, -1, d), model.weights
    points = stress_points(
        corners, at, weights, np.arange(cells), components=model.components, first=0, degree=model.mesh.degree
    )
    return MeshedBody(build(model), model.mesh, (points,), model.material_of, model)


def _finer(meshed: MeshedBody, estimate: Estimate, *, to: Refinement, build: Build, drawn: Drawn | None) -> MeshedBody:
    """Body of a solid on a finer mesh, from bisected cells or a new mesh of the drawing.

    See :func:`refined_solid` for ``to``, ``build`` and ``drawn``.
    """
    model: SolidModel = meshed.model
    if drawn is None:
        return _meshed(bisected_model(model, marked(estimate, to.share), to), build)
    corners = np.vstack([block.corners() for block in model.mesh.blocks])
    return _meshed(drawn(wanted_sizes(meshed, model.mesh.points[corners], estimate, to)), build)


def bisected_model(model: SolidModel, cells: Array, to: Refinement) -> SolidModel:
    """Model of a solid after bisection of the cells ``cells``, a mask; materials and additional masses are kept.

    Raises ValueError for more cells than ``to.max_cells``.
    """
    degree, coarse = model.mesh.degree, simplices_of_degree_one(model.mesh)
    finer = bisected(coarse, cells)
    refuse_many(len(finer.parents), to)
    mesh = finer.mesh.of_degree_two() if degree == 2 else finer.mesh
    return replace(
        model,
        mesh=mesh,
        material_of=model.material_of[finer.parents],
        added=None if model.added is None else model.added[finer.parents],
        lumped=None if model.lumped is None else _lumped(model.mesh, model.lumped, len(mesh.points)),
    )


def _lumped(mesh: SolidMesh, masses: Array, count: int) -> Array:
    """Masses (count,) of the nodes of a finer mesh, whose first nodes are the corners of the cells of ``mesh``.

    ``masses`` are those of the nodes of ``mesh``. Raises ValueError for masses in the middle of edges.
    """
    corners = np.unique(mesh.blocks[0].corners())
    others = np.setdiff1d(np.flatnonzero(masses), corners)
    if others.size:
        raise ValueError("masses of the file must be at corners of cells for refine, got some in the middle of edges")
    return np.concatenate([masses[corners], np.zeros(count - len(corners))])
