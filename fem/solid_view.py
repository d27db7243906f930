"""How a solid looks: its cells, and its stresses at their own points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph import TensorField, View
from flexph.space import Array

from .cells import DRAWN, table
from .elastic import normal_stress
from .solid_model import SolidModel

ORDER = {2: ((0, 0), (1, 1), (3, 2)), 3: ((0, 0), (1, 1), (2, 2), (3, 5), (4, 3), (5, 4))}
"""Places of the components in a drawn tensor (xx, yy, zz, xy, yz, xz), and in the state."""
VOIGT_OF_DRAWN = [0, 1, 2, 5, 3, 4]
"""Voigt numbers of the components of a drawn tensor."""


def solid_view(model: SolidModel, shapes: Any) -> View:
    """The cells of the mesh (simplices where it mixes types) with the stress tensor."""
    mesh = model.mesh
    if len(mesh.blocks) == 1:
        name, cells = mesh.blocks[0].kind.name, mesh.blocks[0].nodes
        drawn = np.arange(len(cells))
    else:
        name = "triangle" if mesh.dim == 2 else "tetra"
        split = [[b.nodes[:, piece] for piece in DRAWN[b.kind.shape]] for b in mesh.blocks]
        cells = np.vstack([p for pieces in split for p in pieces])
        numbers = [mesh.starts[b] + np.arange(len(block.nodes)) for b, block in enumerate(mesh.blocks)]
        drawn = np.concatenate([n for n, pieces in zip(numbers, split, strict=True) for _ in pieces])
    used = np.unique(cells)
    rows = (mesh.dim * used[:, None] + np.arange(mesh.dim)).ravel()
    return View(
        points=mesh.points[used],
        cells=np.searchsorted(used, cells),
        cell_type=name,
        shape=sparse.csr_array(shapes)[rows],
        tensors={"stress": stress_tensor(model, drawn)},
    )


def stress_tensor(model: SolidModel, drawn: Array) -> TensorField:
    """The stress tensor over σ: means of the drawn cells, values at its own points, and a smooth field beside it."""
    at, cell, weights = _tensor_rows(model), model.cell_of_point, model.weights
    volumes = np.bincount(cell, weights)
    mean = sparse.csr_array((weights / volumes[cell], (cell, np.arange(len(cell)))), (len(volumes), len(cell)))
    spread, gather = _smoothing(model)
    whole = np.array([m.compliance for m in model.materials.values()])
    return TensorField(
        unit="Pa",
        cells=sparse.csr_array(sparse.kron(mean[drawn], sparse.eye_array(6)) @ at),
        drawn=drawn,
        at=at,
        positions=model.positions,
        weights=weights,
        cell=cell,
        nodal=sparse.csr_array(sparse.kron(gather, sparse.eye_array(6)) @ at),
        spread=spread,
        compliances=whole[:, VOIGT_OF_DRAWN][:, :, VOIGT_OF_DRAWN],
        material=model.material_of[cell],
    )


def _tensor_rows(model: SolidModel) -> Any:
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


def _smoothing(model: SolidModel) -> tuple[Any, Any]:
    """Weights (p, g) that spread values at corners to the points, and (g, p) that gather these from the points.

    A corner has the mean over the points of the cells around it, weighted by volume and by its function of degree 1, by
    which it is spread again. Where cells of several materials meet, each material has its own value.
    """
    of, linear = model.material_of[model.cell_of_point], []
    for p, block in zip(model.points, model.mesh.blocks, strict=True):
        values = table(block.kind.shape, block.kind.stress)[0].T  # (q, corners)
        nodes = np.broadcast_to(block.corners()[:, None], (len(p.weights), *values.shape))
        linear.append(
            (np.broadcast_to(values, nodes.shape).ravel(), nodes.ravel(), np.full(p.weights.size, values.shape[1]))
        )
    data, nodes, counts = (np.concatenate(x) for x in zip(*linear, strict=True))
    rows = np.repeat(np.arange(len(counts)), counts)
    kinds = len(model.materials)
    _, columns = np.unique(kinds * nodes + of[rows], return_inverse=True)
    spread = sparse.coo_array((data, (rows, columns.ravel())), shape=(len(counts), int(columns.max()) + 1)).tocsr()
    weighted = sparse.csr_array((sparse.diags_array(model.weights) @ spread).T)
    return spread, sparse.csr_array(sparse.diags_array(1.0 / weighted.sum(axis=1)) @ weighted)
