"""View of a plate: its cells, stresses at its faces, and forces and moments, also through named lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.fields import SectionMap, StressField, TensorField, View
from flexph.numerics.arrays import Array, rows_at
from flexph.numerics.rotations import cross

from ..meshes.cells import through_points
from ..meshes.drawing import Drawing, drawing
from ..meshes.solid_mesh import lagrange
from ..solids.section_maps import cell_weights, named_regions, side_weights
from ..solids.section_surfaces import Surface, oriented, surface
from ..solids.view import TensorPoints, tensor_field
from .coordinates import point_by_point
from .macro_elements import barycentric_slopes
from .model import PlateModel
from .regions import node_samples
from .ties import rigid_motion

COMPONENTS = {"xx": 0, "yy": 1, "xy": 2}
DRAWN_COMPONENTS = ((0, 0), (1, 1), (3, 2))
"""Positions of (xx, yy, xy) in a drawn tensor (xx, yy, zz, xy, yz, xz)."""
ON_PIECE = 1e-6
"""Negative barycentric coordinate down to which a node is on a piece of its cell."""


def plate_view(model: PlateModel, shapes: Any) -> View:
    """View of the middle surface, by its cells or, in a mesh of mixed types, by triangles; with forces and stresses.

    ``membrane_force_xx`` … [N/m], ``moment_xx`` … [N], ``shear_force_x`` … [N/m] are cell means. The tensors
    ``stress_top`` and ``stress_bottom`` [Pa] at the faces z = ±t/2 are N/t ± 6M/t².
    """
    shown = drawing(model.mesh)
    return View(
        points=np.pad(model.mesh.points[shown.used], [(0, 0), (0, 1)]),
        cells=shown.cells,
        cell_type=shown.name,
        shape=sparse.csr_array(_displacement(model, shown.used) @ shapes),
        stresses=_forces(model, shown.drawn),
        tensors={"stress_top": _face(model, shown, 1.0), "stress_bottom": _face(model, shown, -1.0)},
    )


def _displacement(model: PlateModel, nodes: Array) -> Any:
    """Sparse matrix (3k, size) from all coordinates to the displacements of k nodes, given in ascending order."""
    rows, numbers, left = [], [], nodes
    for b, cells, points, _ in node_samples(model, nodes):
        in_block = np.intersect1d(left, model.mesh.blocks[b].nodes)
        fields = model.sampled(b, cells, points)
        rows.append((fields.x, fields.y, fields.w))
        numbers.append(in_block)
        left = np.setdiff1d(left, in_block)
    order = np.argsort(np.concatenate(numbers), kind="stable")
    return point_by_point([sparse.vstack([r[i] for r in rows]).tocsr()[order] for i in range(3)])


def _starts(model: PlateModel) -> tuple[int, int, int]:
    """Index of the first moment, index of the first shear force, and number of all stress coordinates."""
    moments = 3 * len(model.solid.weights)
    shear = moments + 3 * len(model.moment_areas)
    return moments, shear, shear + 2 * len(model.shear_areas)


def _forces(model: PlateModel, drawn: Array) -> dict[str, StressField]:
    """Stress fields of the mean forces and moments in the drawn cells, by name.

    ``drawn`` (c,) are the numbers of the mesh cells that are drawn.
    """
    moments, shear, size = _starts(model)
    cells, fields = int(model.mesh.starts[-1]), {}
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
            fields[f"{name}_{word}"] = StressField(unit, mean[drawn])
    return fields


def _face(model: PlateModel, shown: Drawing, side: float) -> TensorField:
    """Stress tensor at the upper (``side`` 1) or lower face (−1), z = ½ side t, at the moment points.

    The weights of the points are areas times t/6. With them, the sum of σ : S σ over both faces is twice the energy of
    bending.
    """
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
    positions = np.vstack([p.reshape(-1, 2) for _, _, p, _ in model.moment_points])
    nodal, first = _on_pieces(model)
    points = TensorPoints(at, positions, areas * t / 6.0, cell, _linear_functions(model), nodal, first)
    return tensor_field(model.solid, shown, points, 0.5 * side * t)


def _membrane_values(model: PlateModel) -> Any:
    """Sparse matrix (p, points) from a membrane force at its own points to its values at the moment points.

    In each cell it evaluates the polynomial through the values.
    """
    blocks = []
    first = np.cumsum([0, *model.solid.point_counts])
    for b, cells, points, _ in model.moment_points:
        kind = model.mesh.blocks[b].kind
        shapes, _ = lagrange(model.mesh, b, cells, points)
        values = through_points(kind, np.einsum("kqn,nj->kqj", shapes, kind.positions))
        n = values.shape[2]
        blocks.append(rows_at(values, first[b] + n * cells[:, None] + np.arange(n), int(first[-1])))
    return sparse.vstack(blocks).tocsr()


def _on_pieces(model: PlateModel) -> tuple[list[Array], Array]:
    """Weights (k, nodes, q) that extrapolate from moment points to nodes, by block, and the first points of the blocks.

    Polynomials are fitted on each piece of a cell. A node of several pieces takes the mean of their values. The second
    result has the number of the first moment point of each block and, as its last entry, the number of all of them.
    """
    polynomials, counts = [], []
    for b, (deflection, _) in enumerate(model.macros):
        of_block = [(points, area) for block, _, points, area in model.moment_points if block == b]
        points, nodes = np.concatenate([p for p, _ in of_block]), model.mesh.points[model.mesh.blocks[b].nodes]
        k, c = deflection.pieces.shape[:2]
        q = points.shape[1] // c
        values, shares = np.zeros((k, nodes.shape[1], c * q)), np.zeros((k, nodes.shape[1], 1))
        for i in range(c):
            slopes, origin = barycentric_slopes(deflection.pieces[:, i]), deflection.pieces[:, i, 2]
            at = lambda x, s=slopes, o=origin: np.einsum("kai,kji->kja", s, x - o[:, None]) + np.eye(3)[2]  # noqa: E731
            inside = at(nodes).min(axis=2)[:, :, None] > -ON_PIECE
            mine = slice(i * q, (i + 1) * q)
            values[:, :, mine] = inside * (_bernstein(at(nodes), q) @ np.linalg.inv(_bernstein(at(points[:, mine]), q)))
            shares += inside
        polynomials.append(values / shares)
        counts.append(points.shape[0] * points.shape[1])
    return polynomials, np.cumsum([0, *counts])


def _bernstein(weights: Array, count: int) -> Array:
    """Values (..., count) of polynomials of barycentric coordinates (..., 3): three linear or six quadratic ones."""
    if count == 3:
        return weights
    return np.concatenate([weights**2, weights * np.roll(weights, -1, axis=-1)], axis=-1)


def _linear_functions(model: PlateModel) -> list[Array]:
    """Values (k, q, corners) at the moment points of the functions that are linear between corners, by block.

    On quadrilaterals they are bilinear. Each function is 1 at one corner of the cell and 0 at the others.
    """
    functions: list[list[Array]] = [[] for _ in model.mesh.blocks]
    for b, cells, points, _ in model.moment_points:
        kind = model.mesh.blocks[b].kind
        shapes, _ = lagrange(model.mesh, b, cells, points)
        functions[b].append(_linear(np.einsum("kqn,nj->kqj", shapes, kind.positions), kind.corners))
    return [np.concatenate(values) for values in functions]


def _linear(at: Array, corners: int) -> Array:
    """Values (k, q, corners) at reference points (k, q, 2) of the functions that are linear between corners.

    On quadrilaterals they are bilinear. Each function is 1 at one corner of the cell and 0 at the others.
    """
    x, y = at[..., 0], at[..., 1]
    if corners == 3:
        return np.stack([1.0 - x - y, x, y], axis=-1)
    return np.stack([(1.0 - x) * (1.0 - y), x * (1.0 - y), x * y, (1.0 - x) * y], axis=-1)


def plate_sections(
    model: PlateModel, shapes: Any, sections: Mapping[str, Any], rigid: Mapping[str, Array], *, quadratic: bool
) -> dict[str, SectionMap]:
    """Maps from the stress coordinates of a plate to section forces on named lines, by name.

    ``shapes`` (size, n) map the coordinates u to all coordinates; ``rigid`` has the nodes of each rigid port;
    ``quadratic`` is True for von Kármán strain.
    """
    return {
        name: _plate(model, shapes, surface(model.solid, name, given), rigid, quadratic=quadratic)
        for name, given in named_regions(sections).items()
    }


def _plate(model: PlateModel, shapes: Any, s: Surface, rigid: Mapping[str, Array], *, quadratic: bool) -> SectionMap:
    mesh, at = model.mesh, oriented(model.solid, s.back)
    moved, centre, radius = rigid_motion(model, s.nodes)
    turn, lever = radius * moved[:, 3:], np.append(at.centre, 0.0) - centre
    about = sparse.hstack([moved[:, :3], turn - moved[:, :3] @ np.einsum("aij,j->ia", cross(3), lever)]).tocsr()
    share = cell_weights(mesh, s, side_weights(mesh, s, rigid))
    cells = [(model.solid.cell_of_point, 3), (model.moment_cells, 3), (model.shear_cells, 2)]
    sign = np.concatenate([np.repeat(share[cell], count) for cell, count in cells])
    m, n = model.strain.shape[0], shapes.shape[1]
    bent, weights, slopes = np.zeros((0, 6)), sparse.csr_array((m, 0)), sparse.csr_array((0, n))
    if quadratic:
        fitted, spread = model.quadratic
        signed = sparse.csr_array(sparse.diags_array(np.tile(share[model.moment_cells], 3)) @ fitted @ about)
        near = np.flatnonzero(np.diff(signed.indptr))
        bent, weights, slopes = signed[near].toarray(), spread[:, near], fitted[near] @ shapes
    return SectionMap(
        position=np.append(at.centre, 0.0),
        normal=np.append(at.normal / at.area, 0.0),
        area=at.area,
        nodal=sparse.csr_array((sparse.diags_array(sign) @ model.strain @ about).T),
        lever=bent,
        weights=sparse.csr_array(weights),
        slopes=sparse.csr_array(slopes),
        traction=None,
    )
