"""How a solid looks: its cells, and its stresses at their own points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph import TensorField, View

from ..materials.elastic import normal_stress
from ..meshes.cells import table
from ..meshes.drawing import Drawing, drawing, node_values
from ..meshes.stress_shapes import through_points
from .model import SolidModel
from .patches import smoothing

ORDER = {2: ((0, 0), (1, 1), (3, 2)), 3: ((0, 0), (1, 1), (2, 2), (3, 5), (4, 3), (5, 4))}
"""Places of the components in a drawn tensor (xx, yy, zz, xy, yz, xz), and in the state."""
VOIGT_OF_DRAWN = [0, 1, 2, 5, 3, 4]
"""Voigt numbers of the components of a drawn tensor."""


def solid_view(model: SolidModel, shapes: Any) -> View:
    """The cells of the mesh (simplices where it mixes types) with the stress tensor."""
    shown = drawing(model.mesh)
    rows = (model.dim * shown.used[:, None] + np.arange(model.dim)).ravel()
    return View(
        points=model.mesh.points[shown.used],
        cells=shown.cells,
        cell_type=shown.name,
        shape=sparse.csr_array(shapes)[rows],
        tensors={"stress": stress_tensor(model, shown)},
    )


def stress_tensor(model: SolidModel, shown: Drawing) -> TensorField:
    """The stress tensor over σ: means of the drawn cells, values at its own points, and a smooth field beside it."""
    at, cell, weights = tensor_rows(model), model.cell_of_point, model.weights
    volumes = np.bincount(cell, weights)
    mean = sparse.csr_array((weights / volumes[cell], (cell, np.arange(len(cell)))), (len(volumes), len(cell)))
    linear = [
        np.broadcast_to(values := table(b.kind.shape, b.kind.stress)[0].T, (len(p.weights), *values.shape))
        for p, b in zip(model.points, model.mesh.blocks, strict=True)
    ]
    spread, gather, corners = smoothing(model, linear, model.positions, model.weights)
    own = [through_points(b.kind, b.kind.positions) for b in model.mesh.blocks]
    firsts = np.cumsum([0, *(p.weights.size for p in model.points)])
    whole = np.array([m.compliance for m in model.materials.values()])
    return TensorField(
        unit="Pa",
        cells=sparse.csr_array(sparse.kron(mean[shown.drawn], sparse.eye_array(6)) @ at),
        drawn=shown.drawn,
        at=at,
        positions=model.positions,
        weights=weights,
        cell=cell,
        nodal=sparse.csr_array(sparse.kron(gather, sparse.eye_array(6)) @ at),
        spread=spread,
        compliances=whole[:, VOIGT_OF_DRAWN][:, :, VOIGT_OF_DRAWN],
        material=model.material_of[cell],
        nodes=node_values(model.mesh, shown, own, firsts=firsts, corners=corners),
    )


def tensor_rows(model: SolidModel) -> Any:
    """Tensors (xx, yy, zz, xy, yz, xz) at all points from the stress coordinates."""
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
    return rows
