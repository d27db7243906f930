"""View of a solid: its cells, and stresses at its stress points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.bodies.fields import TensorField, View
from flexph.numerics.arrays import Array, compact

from ..materials.elastic import normal_stress
from ..meshes.cells import table
from ..meshes.drawing import Drawing, drawing, node_values
from ..meshes.stress_shapes import through_points
from .model import SolidModel
from .patches import smoothing

ORDER = {2: ((0, 0), (1, 1), (3, 2)), 3: ((0, 0), (1, 1), (2, 2), (3, 5), (4, 3), (5, 4))}
"""Positions of the components in a drawn tensor (xx, yy, zz, xy, yz, xz), and in the state."""
VOIGT_OF_DRAWN = [0, 1, 2, 5, 3, 4]
"""Voigt numbers of the components of a drawn tensor."""


def solid_view(model: SolidModel, shapes: Any) -> View:
    """View of the cells of the mesh (simplices if it mixes types) with the stress tensor."""
    shown = drawing(model.mesh)
    return replace(shape_view(model, shown, shapes), tensors={"stress": stress_tensor(model, shown)})


def shape_view(model: SolidModel, shown: Drawing, shapes: Any) -> View:
    """View of the cells of the mesh without stresses."""
    rows = (model.dim * shown.used[:, None] + np.arange(model.dim)).ravel()
    return View(
        points=model.mesh.points[shown.used],
        cells=shown.cells,
        cell_type=shown.name,
        shape=sparse.csr_array(shapes)[rows],
    )


def stress_tensor(model: SolidModel, shown: Drawing) -> TensorField:
    """Stress tensor field from the stress coordinates: means of drawn cells, values at points, and a smooth field."""
    linear = [
        np.broadcast_to(values := table(b.kind.shape, b.kind.stress)[0].T, (len(b.nodes), *values.shape))
        for b in model.mesh.blocks
    ]
    points = TensorPoints(
        tensors=tensor_rows(model),
        positions=model.positions,
        weights=model.weights,
        cell=model.cell_of_point,
        linear=linear,
        nodal=[through_points(b.kind, b.kind.positions) for b in model.mesh.blocks],
        first=np.cumsum([0, *model.point_counts]),
    )
    return tensor_field(model, shown, points)


class TensorPoints(NamedTuple):
    """The p points of a stress tensor: matrix (6p, stresses), positions (p, d), volumes (p,), and cell of each.

    By blocks: linear functions of the corners at the points of a cell, polynomials through the points at all nodes of
    a cell, and the first of its points.
    """

    tensors: Any
    positions: Array
    weights: Array
    cell: Array
    linear: list[Array]
    nodal: list[Array]
    first: Array


def tensor_field(model: SolidModel, shown: Drawing, points: TensorPoints, height: Array | None = None) -> TensorField:
    """Field of a tensor given at points; those of a plate lie at a ``height`` (p,) above the plane of its mesh."""
    spread, gather, corners = smoothing(model, points.linear, points.positions, points.weights)
    volumes = np.bincount(points.cell, points.weights)
    share = points.weights / volumes[points.cell]
    mean = sparse.csr_array((share, (points.cell, np.arange(len(share)))), (len(volumes), len(share)))
    six, compliances = sparse.eye_array(6), np.array([m.compliance for m in model.materials.values()])
    return TensorField(
        unit="Pa",
        cells=compact(sparse.kron(mean[shown.drawn], six) @ points.tensors),
        drawn=shown.drawn,
        at=points.tensors,
        positions=points.positions if height is None else np.column_stack([points.positions, height]),
        weights=points.weights,
        cell=points.cell,
        nodal=compact(sparse.kron(gather, six) @ points.tensors),
        spread=compact(spread),
        compliances=compliances[:, VOIGT_OF_DRAWN][:, :, VOIGT_OF_DRAWN],
        material=model.material_of[points.cell],
        nodes=node_values(model.mesh, shown, points.nodal, firsts=points.first, corners=corners),
    )


def tensor_rows(model: SolidModel) -> Any:
    """Matrix from the stress coordinates to tensors (xx, yy, zz, xy, yz, xz) at all points."""
    c, count = model.components, len(model.weights)
    of = model.material_of[model.cell_of_point]
    maps = np.zeros((len(model.materials), 6, c))
    for to, component in ORDER[model.dim]:
        maps[:, to, component] = 1.0
    if model.plane is not None:
        maps[:, 2] = [normal_stress(m.compliance, model.plane) for m in model.materials.values()]
    blocks = sparse.bsr_array((maps[of], np.arange(count), np.arange(count + 1)), shape=(6 * count, c * count))
    rows = sparse.csr_array(blocks)
    rows.eliminate_zeros()
    return compact(rows)
