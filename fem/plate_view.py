"""How a plate looks: its cells, forces and moments, and stresses at its faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph import StressField, TensorField, View
from flexph.space import Array

from .cells import DRAWN
from .plate_model import PlateModel
from .plate_regions import node_samples
from .solid_view import VOIGT_OF_DRAWN
from .straight_cells import lagrange

COMPONENTS = {"xx": 0, "yy": 1, "xy": 2}
DRAWN_COMPONENTS = ((0, 0), (1, 1), (3, 2))
"""Places of (xx, yy, xy) in a drawn tensor (xx, yy, zz, xy, yz, xz)."""


def plate_view(model: PlateModel, shapes: Any) -> View:
    """The cells of the middle surface (triangles where the mesh mixes types).

    ``membrane_force_xx`` … [N/m], ``moment_xx`` … [N], ``shear_force_x`` … [N/m]: means of the cells. Tensors
    ``stress_top`` and ``stress_bottom`` [Pa] at the faces z = ±t/2, N/t ± 6M/t².
    """
    mesh = model.mesh
    if len(mesh.blocks) == 1:
        name, cells = mesh.blocks[0].kind.name, mesh.blocks[0].nodes
        drawn = np.arange(len(cells))
    else:
        split = [[b.nodes[:, piece] for piece in DRAWN[b.kind.shape]] for b in mesh.blocks]
        name, cells = "triangle", np.vstack([p for pieces in split for p in pieces])
        numbers = [mesh.starts[b] + np.arange(len(block.nodes)) for b, block in enumerate(mesh.blocks)]
        drawn = np.concatenate([n for n, pieces in zip(numbers, split, strict=True) for _ in pieces])
    used = np.unique(cells)
    return View(
        points=np.pad(mesh.points[used], [(0, 0), (0, 1)]),
        cells=np.searchsorted(used, cells),
        cell_type=name,
        shape=sparse.csr_array(_displacement(model, used) @ shapes),
        stresses=_forces(model, drawn),
        tensors={"stress_top": _face(model, drawn, 1.0), "stress_bottom": _face(model, drawn, -1.0)},
    )


def _displacement(model: PlateModel, nodes: Array) -> Any:
    """Displacement rows (3 nodes, size) of nodes, ascending."""
    rows, numbers, left = [], [], nodes
    for b, cells, points, _ in node_samples(model, nodes):
        own = np.intersect1d(left, model.mesh.blocks[b].nodes)
        found = model.sampled(b, cells, points)
        rows.append((found.x, found.y, found.w))
        numbers.append(own)
        left = np.setdiff1d(left, own)
    order = np.argsort(np.concatenate(numbers), kind="stable")
    count = len(nodes)
    stacked = sparse.vstack([sparse.vstack([r[i] for r in rows]).tocsr()[order] for i in range(3)]).tocsr()
    return stacked[(np.arange(count)[:, None] + count * np.arange(3)).ravel()]


def _starts(model: PlateModel) -> tuple[int, int, int]:
    """First stress coordinates of the moments and of the shear forces, and the number of all."""
    moments = 3 * len(model.solid.weights)
    shear = moments + 3 * len(model.moment_areas)
    return moments, shear, shear + 2 * len(model.shear_areas)


def _forces(model: PlateModel, drawn: Array) -> dict[str, StressField]:
    """Means of forces and moments over the drawn cells."""
    moments, shear, size = _starts(model)
    cells, made = int(model.mesh.starts[-1]), {}
    groups = [
        ("membrane_force", "N/m", 0, model.solid.cell_of_point, model.solid.weights, COMPONENTS),
        ("moment", "N", moments, model.moment_cells, model.moment_areas, COMPONENTS),
        ("shear_force", "N/m", shear, model.shear_cells, model.shear_areas, {"x": 0, "y": 1}),
    ]
    for name, unit, start, cell, weight, components in groups:
        if not cell.size:
            continue
        share = weight / np.bincount(cell, weight, cells)[cell]
        for word, c in components.items():
            columns = start + len(components) * np.arange(len(cell)) + c
            mean = sparse.coo_array((share, (cell, columns)), shape=(cells, size)).tocsr()
            made[f"{name}_{word}"] = StressField(unit, mean[drawn])
    return made


def _face(model: PlateModel, drawn: Array, side: float) -> TensorField:
    """The stress tensor at a face, at the points of the moments; weights areas times t/6: energy of pure bending."""
    t, cell, areas = model.thickness[model.moment_cells], model.moment_cells, model.moment_areas
    moments, _, size = _starts(model)
    count = len(areas)
    place = sparse.csr_array((np.ones(3), tuple(zip(*DRAWN_COMPONENTS, strict=True))), shape=(6, 3))
    at_face = sparse.hstack(
        [sparse.diags_array(1.0 / t) @ _membrane_values(model), sparse.diags_array(6.0 * side / t**2)]
    )
    at = sparse.kron(at_face, place).tocsr()
    at = sparse.hstack([at, sparse.csr_array((6 * count, size - at.shape[1]))]).tocsr()
    assert at_face.shape[1] * 3 == moments + 3 * count
    weights = areas * t / 6.0
    mean = sparse.csr_array((weights, (cell, np.arange(count))), shape=(int(model.mesh.starts[-1]), count))
    mean = sparse.diags_array(1.0 / np.asarray(mean.sum(axis=1)).ravel()) @ mean
    spread, gather = _smoothing(model, weights)
    whole = np.array([m.compliance for m in model.solid.materials.values()])
    positions = np.vstack([p.reshape(-1, 2) for _, _, p, _ in model.moment_points])
    return TensorField(
        unit="Pa",
        cells=sparse.csr_array(sparse.kron(sparse.csr_array(mean)[drawn], sparse.eye_array(6)) @ at),
        drawn=drawn,
        at=at,
        positions=np.column_stack([positions, 0.5 * side * t]),
        weights=weights,
        cell=cell,
        nodal=sparse.csr_array(sparse.kron(gather, sparse.eye_array(6)) @ at),
        spread=spread,
        compliances=whole[:, VOIGT_OF_DRAWN][:, :, VOIGT_OF_DRAWN],
        material=model.solid.material_of[cell],
    )


def _membrane_values(model: PlateModel) -> Any:
    """Polynomials through the membrane forces of each cell at the points of the moments, (p, points)."""
    data, rows, columns, start = [], [], [], 0
    first = np.cumsum([0, *(p.weights.size for p in model.solid.points)])
    for b, cells, points, area in model.moment_points:
        kind = model.mesh.blocks[b].kind
        own, _ = kind.quadrature(kind.stress)
        values = _interpolated(model, b, cells, points, own)
        k, q, n = values.shape
        data.append(values.ravel())
        rows.append(np.repeat(start + np.arange(k * q), n))
        columns.append(np.broadcast_to((first[b] + n * cells[:, None] + np.arange(n))[:, None], (k, q, n)).ravel())
        start += area.size
    flat = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array(flat, shape=(start, int(first[-1]))).tocsr()


def _interpolated(model: PlateModel, block: int, cells: Array, points: Array, own: Array) -> Array:
    """Values (k, q, n) at points of the polynomials that are one at one of n reference points, zero at the others."""
    shapes, _ = lagrange(model.mesh, block, cells, points)
    kind = model.mesh.blocks[block].kind
    at = np.einsum("kqn,nj->kqj", shapes, kind.positions)
    linear = own.shape[1] == 3
    basis = lambda x: np.stack(_monomials(x, linear), axis=-1)  # noqa: E731
    made: Array = basis(at) @ np.linalg.inv(basis(own.T))
    return made


def _monomials(x: Array, linear: bool) -> list[Array]:
    if linear:
        return [np.ones(x.shape[:-1]), x[..., 0], x[..., 1]]
    return [x[..., 0] ** i * x[..., 1] ** j for i in range(3) for j in range(3)]


def _smoothing(model: PlateModel, weights: Array) -> tuple[Any, Any]:
    """As of a solid: functions of degree 1 at the points (p, g), and means of the points at corners (g, p)."""
    of, data, nodes, counts = model.solid.material_of[model.moment_cells], [], [], []
    for b, cells, points, _ in model.moment_points:
        block = model.mesh.blocks[b]
        shapes, _ = lagrange(model.mesh, b, cells, points)
        at = np.einsum("kqn,nj->kqj", shapes, block.kind.positions)
        values = _linear(at, block.kind.corners)
        data.append(values.ravel())
        nodes.append(np.broadcast_to(block.corners()[cells][:, None], values.shape).ravel())
        counts.append(np.full(values.shape[0] * values.shape[1], values.shape[2]))
    rows = np.repeat(np.arange(len(of)), np.concatenate(counts))
    kinds = len(model.solid.materials)
    _, columns = np.unique(kinds * np.concatenate(nodes) + of[rows], return_inverse=True)
    shape = len(of), int(columns.max()) + 1
    spread = sparse.coo_array((np.concatenate(data), (rows, columns.ravel())), shape=shape).tocsr()
    weighted = sparse.csr_array((sparse.diags_array(weights) @ spread).T)
    return spread, sparse.csr_array(sparse.diags_array(1.0 / weighted.sum(axis=1)) @ weighted)


def _linear(at: Array, corners: int) -> Array:
    """Functions of degree 1 of the corners at reference points (k, q, 2): (k, q, corners)."""
    x, y = at[..., 0], at[..., 1]
    if corners == 3:
        return np.stack([1.0 - x - y, x, y], axis=-1)
    return np.stack([(1.0 - x) * (1.0 - y), x * (1.0 - y), x * y, (1.0 - x) * y], axis=-1)
