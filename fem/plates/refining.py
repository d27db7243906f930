"""Refinement of the mesh of a plate until the estimated errors of its frequencies or compliances are small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from flexph.bodies.body import Body
from flexph.meshes.drawings.drawing import CellSizes

from ..refinement.bisection import bisected, simplices_of_degree_one
from ..refinement.criteria import Refinement
from ..refinement.loop import Estimate, MeshedBody, Refined, marked, refined, refuse_many, wanted_sizes
from ..refinement.recovery import stress_points
from .flat import PlaneAxes
from .model import PlateModel

Build = Callable[[PlateModel, PlaneAxes], Body]
Drawn = Callable[[CellSizes], PlateModel]


def refined_plate(model: PlateModel, plane: PlaneAxes, to: Refinement, build: Build, *, drawn: Drawn | None) -> Refined:
    """Refine the mesh of a plate until it meets the criterion ``to``; return the last body and all rounds.

    Cells are bisected, unless ``drawn`` is given, a function that meshes the drawing of the plate again with given cell
    sizes. ``build`` makes the body from the model and its plane.
    """
    if drawn is None:
        simplices_of_degree_one(model.mesh)  # refuses others
    finer = partial(_finer, plane=plane, to=to, build=build, drawn=drawn)
    return refined(_meshed(model, plane, build), to, finer)


def _meshed(model: PlateModel, plane: PlaneAxes, build: Build) -> MeshedBody:
    """Body of a plate on its mesh, with the points of its membrane forces, moments and shear forces for an estimate."""
    solid, mesh, cells = model.solid, model.mesh, int(model.mesh.starts[-1])
    corners = mesh.points[np.vstack([block.corners() for block in mesh.blocks])]
    pieces = np.vstack([deflection.pieces for deflection, _ in model.macros])
    bent = np.vstack([p.reshape(-1, 3, 2) for _, _, p, _ in model.moment_points])
    kinds = [
        (corners, solid.positions.reshape(cells, -1, 2), solid.weights, np.arange(cells), 3),
        (pieces.reshape(-1, 3, 2), bent, model.moment_areas, np.repeat(np.arange(cells), 3), 3),
    ]
    if model.shear_cells.size:
        at = [
            np.einsum("qn,kni->kqi", p.shapes, mesh.points[b.nodes])
            for p, b in zip(model.shear_points, mesh.blocks, strict=True)
        ]
        kinds.append((corners, np.vstack(at), model.shear_areas, np.arange(cells), 2))
    first, points = 0, []
    for block_points, places, weights, of, components in kinds:
        points.append(stress_points(block_points, places, weights, of, components=components, first=first, degree=2))
        first += components * len(weights)
    # forces and moments jump where the thickness does
    _, of_thickness = np.unique(model.thickness, return_inverse=True)
    material = solid.material_of * (int(of_thickness.max()) + 1) + of_thickness.ravel()
    return MeshedBody(build(model, plane), model.mesh, tuple(points), material, model)


def _finer(
    meshed: MeshedBody, estimate: Estimate, *, plane: PlaneAxes, to: Refinement, build: Build, drawn: Drawn | None
) -> MeshedBody:
    """Body of a plate on a finer mesh, from bisected cells or a new mesh of the drawing.

    See :func:`refined_plate` for ``to``, ``build`` and ``drawn``.
    """
    model: PlateModel = meshed.model
    if drawn is None:
        return _meshed(bisected_plate(model, marked(estimate, to.share), to), plane, build)
    corners = np.vstack([block.corners() for block in model.mesh.blocks])
    points = plane.origin + model.mesh.points[corners] @ plane.axes[:, :2].T
    return _meshed(drawn(wanted_sizes(meshed, points, estimate, to)), plane, build)


def bisected_plate(model: PlateModel, cells: np.ndarray, to: Refinement) -> PlateModel:
    """Model of a plate after bisection of the cells in the mask ``cells``, and of others so that no node hangs.

    New cells have the material and thickness of their parent. Raises ValueError for more cells than ``to.max_cells``.
    """
    finer = bisected(simplices_of_degree_one(model.mesh), cells)
    refuse_many(len(finer.parents), to)
    solid = replace(model.solid, mesh=finer.mesh.of_degree_two(), material_of=model.solid.material_of[finer.parents])
    return replace(model, solid=solid, thickness=model.thickness[finer.parents])
