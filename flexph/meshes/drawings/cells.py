"""Meshes of one solid, one face or all faces of a drawing, in the process of gmsh.

The process writes its answer to the file ``answer``, as JSON; functions here write arrays to an .npz file next to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .walls import FINEST, MEAN_CELL, refine_walls, surface_of

PER_TURN = 12
"""Cells around a full circle."""
PER_TURN_FLAT = 24
"""Straight sides around a full circle of a plate."""
MEAN_TRIANGLE = 0.45
"""Mean area of triangles with sides of about length one."""
PICTURE = 0.1
"""Triangles of plane faces in pictures, relative to the diagonal of the drawing."""
TETRA10 = (0, 1, 2, 3, 4, 5, 6, 7, 9, 8)
"""Order of the nodes of gmsh's ten-node tetrahedra in that of VTK."""
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
"""Edges of a tetrahedron in the order of VTK; the first three are those of a triangle."""


class RefusedError(Exception):
    """Error of a drawing that cannot be read or meshed."""


def meshed(gmsh: Any, request: dict[str, Any], answer: Path) -> dict[str, Any]:
    """Mesh one solid of a request with second-order tetrahedra, and write the arrays next to ``answer``.

    Returns the answer for the main process.
    """
    low, high = np.reshape(gmsh.model.getBoundingBox(-1, -1), (2, 3))
    size, most = min(float(request["size"]), 0.5 * float(np.linalg.norm(high - low))), int(request["max_cells"])
    tags = [tag for _, tag in gmsh.model.getEntities(3)]
    solid = request["solid"]
    if len(tags) > 1:
        gmsh.model.occ.remove([(3, tag) for tag in tags if tag != solid], recursive=True)
        gmsh.model.occ.synchronize()
    for name, value in {
        "Mesh.MeshSizeMax": size,
        "Mesh.MeshSizeMin": FINEST * size,
        "Mesh.MeshSizeFromCurvature": PER_TURN,
        "Mesh.ElementOrder": 1,
    }.items():
        gmsh.option.setNumber(name, value)
    volume = request.get("volume")
    if volume:
        _refuse_many(volume / (MEAN_CELL * size**3), most, size, volume)
    sized = with_sizes(gmsh, request)
    if not request.get("keep"):
        gmsh.model.mesh.generate(2)
    walls = {} if sized else refine_walls(gmsh, surface_of(gmsh), size, 0 if "surface" in request else most)
    gmsh.model.mesh.generate(3)
    _refuse_many(len(gmsh.model.mesh.getElementsByType(4)[0]), most, size, volume)
    if "surface" in request:  # setOrder(2) of gmsh does not end on discrete faces
        return {**_written(answer, *_second_order(*_arrays(gmsh, 1))), "walls": walls, "folded": 0}
    gmsh.model.mesh.setOrder(2)
    folded = _without_folds(gmsh)
    points, cells, facets, owners = _arrays(gmsh, 2)
    return {**_written(answer, points, cells[:, TETRA10], facets, owners), "walls": walls, "folded": folded}


def meshed_face(gmsh: Any, request: dict[str, Any], answer: Path) -> dict[str, Any]:
    """Mesh one plane face of a request with straight triangles, and write the arrays next to ``answer``.

    A side on the rim of the face has the number of the adjacent face. Nodes of a curved rim are moved outward, so that
    the area of the mesh is that of the face. Returns the answer for the main process.
    """
    face, size, most = request["face"], float(request["size"]), int(request["max_cells"])
    _refuse_many(request["area"] / (MEAN_TRIANGLE * size**2), most, size, None, power=2)
    for name, value in {
        "Mesh.MeshSizeMax": size,
        "Mesh.MeshSizeMin": FINEST * size,
        "Mesh.MeshSizeFromCurvature": PER_TURN_FLAT,
        "Mesh.ElementOrder": 1,
    }.items():
        gmsh.option.setNumber(name, value)
    with_sizes(gmsh, request)
    gmsh.model.mesh.generate(2)
    gmsh.model.mesh.setOrder(2)  # for the middles of curved sides
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    index = np.zeros(int(tags.max()) + 1, dtype=int)
    index[tags] = np.arange(len(tags))
    triangles = index[gmsh.model.mesh.getElementsByType(9, face)[1].reshape(-1, 6)][:, :3]
    _refuse_many(len(triangles), most, size, None, power=2)
    sides, owners = [np.zeros((0, 3), dtype=int)], [np.zeros(0, dtype=int)]
    for _, curve in gmsh.model.getBoundary([(2, face)], oriented=False):
        others = [tag for tag in gmsh.model.getAdjacencies(1, abs(curve))[0] if tag != face]
        edges = index[gmsh.model.mesh.getElementsByType(8, abs(curve))[1].reshape(-1, 3)]
        sides.append(edges)
        owners.append(np.full(len(edges), others[0] if others else 0))
    rim = np.vstack(sides)
    points = _of_equal_area(coordinates.reshape(-1, 3), rim)
    return _written(answer, points, triangles, rim[:, :2], np.concatenate(owners))


def _of_equal_area(points: Any, rim: Any) -> Any:
    """Points (n, 3) with those on a curved rim moved outward, so that straight sides enclose the area of the face.

    ``rim`` (k, 3): indices of the ends and the middle of each side. An end moves by 2/3 of the mean rise of the arcs
    over its two sides; corners, at which sides of different rise meet, do not move.
    """
    rise = points[rim[:, 2]] - points[rim[:, :2]].mean(axis=1)
    total, square, count = np.zeros_like(points), np.zeros(len(points)), np.zeros(len(points))
    for i in range(2):
        np.add.at(total, rim[:, i], rise)
        np.add.at(square, rim[:, i], np.einsum("ki,ki->k", rise, rise))
        np.add.at(count, rim[:, i], 1.0)
    mean = total / np.maximum(count, 1.0)[:, None]
    spread = square / np.maximum(count, 1.0) - np.einsum("ki,ki->k", mean, mean)
    smooth = (count == 2.0) & (spread <= 0.05 * np.maximum(square, np.finfo(float).tiny))
    return points + np.where(smooth[:, None], 2.0 / 3.0 * mean, 0.0)


def with_sizes(gmsh: Any, request: dict[str, Any]) -> bool:
    """Prescribe the cell sizes of a request, given at the corners of the cells of an earlier mesh.

    Returns False if the request has none.
    """
    if "sizes" not in request:
        return False
    with np.load(request["sizes"]) as held:
        corners, sizes = held["corners"], held["sizes"]
    view = gmsh.view.add("wanted")
    count = corners.shape[1]
    data = np.concatenate([corners.transpose(0, 2, 1).reshape(len(corners), 3 * count), sizes], axis=1)
    gmsh.view.addListData(view, {3: "ST", 4: "SS"}[count], len(corners), data.ravel())
    field = gmsh.model.mesh.field.add("PostView")
    gmsh.model.mesh.field.setNumber(field, "ViewTag", view)
    gmsh.model.mesh.field.setNumber(field, "UseClosest", 1)
    gmsh.model.mesh.field.setAsBackgroundMesh(field)
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    gmsh.option.setNumber("Mesh.MeshSizeMin", float(sizes.min()))
    return True


def triangulated(gmsh: Any, answer: Path) -> dict[str, Any]:
    """Mesh all faces with triangles for pictures, finer on curved faces, and write the arrays next to ``answer``.

    Returns the answer for the main process.
    """
    low, high = np.reshape(gmsh.model.getBoundingBox(-1, -1), (2, 3))
    gmsh.option.setNumber("Mesh.MeshSizeMax", PICTURE * float(np.linalg.norm(high - low)))
    gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 2 * PER_TURN)
    gmsh.model.mesh.generate(2)
    points, _, facets, owners = _arrays(gmsh, 1)
    return _written(answer, points, np.zeros((0, 4), dtype=int), facets, owners)


def _refuse_many(cells: float, most: int, size: float, volume: float | None, power: int = 3) -> None:
    if cells > most:
        right = size * (cells / most) ** (1.0 / power) * 1.05
        raise RefusedError(
            f"size must be larger, or max_cells: about {cells:.2g} cells are more than max_cells={most}; try a size of "
            f"{right:.3g} mm"
        )


def _without_folds(gmsh: Any) -> int:
    """Optimise folded curved cells; return the number of cells that remain folded."""
    tags, _ = gmsh.model.mesh.getElementsByType(11)
    folded = lambda: int(np.sum(np.array(gmsh.model.mesh.getElementQualities(tags, "minSJ")) < 0.05))  # noqa: E731
    for method in ("HighOrder", "HighOrderElastic"):
        if not folded():
            return 0
        gmsh.model.mesh.optimize(method)
    return folded()


def _arrays(gmsh: Any, order: int) -> tuple[Any, Any, Any, Any]:
    """Mesh in gmsh: points (n, 3), nodes of tetrahedra, nodes of triangles, and number of the face of each triangle.

    ``order`` is 1 for cells with nodes at corners only, 2 for second-order cells.
    """
    (tetra, corners), (triangle, sides) = {1: ((4, 4), (2, 3)), 2: ((11, 10), (9, 6))}[order]
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    index = np.zeros(int(tags.max()) + 1, dtype=int)
    index[tags] = np.arange(len(tags))
    cells = index[gmsh.model.mesh.getElementsByType(tetra)[1].reshape(-1, corners)]
    facets, owners = [], []
    for _, face in gmsh.model.getEntities(2):
        nodes = index[gmsh.model.mesh.getElementsByType(triangle, face)[1].reshape(-1, sides)]
        facets.append(nodes)
        owners.append(np.full(len(nodes), face))
    return coordinates.reshape(-1, 3), cells, np.vstack(facets), np.concatenate(owners)


def _second_order(points: Any, cells: Any, facets: Any, owners: Any) -> tuple[Any, Any, Any, Any]:
    """Mesh of linear cells converted to second-order ones, with nodes in the middle of their straight edges.

    Given and returned are points, nodes of tetrahedra, nodes of triangles, and the number of the face of each triangle,
    ``owners``.
    """
    ends = np.vstack([*(cells[:, e] for e in EDGES), *(facets[:, e] for e in EDGES[:3])])
    edges, number = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    middle, split = len(points) + number.ravel(), 6 * len(cells)
    in_cells, in_facets = middle[:split].reshape(6, -1).T, middle[split:].reshape(3, -1).T
    nodes = np.column_stack([cells, in_cells]), np.column_stack([facets, in_facets])
    return np.vstack([points, points[edges].mean(axis=1)]), *nodes, owners


def _written(answer: Path, points: Any, cells: Any, facets: Any, owners: Any) -> dict[str, Any]:
    """Write the arrays of a mesh next to ``answer``; return an answer with the name of the file.

    The arrays are points (p, 3), nodes of tetrahedra, nodes of facets (triangles, or sides of a plane face), and the
    number of the face to which each facet belongs, ``owners``.
    """
    file = answer.with_suffix(".npz")
    np.savez(file, points=points, cells=cells, facets=facets, owners=owners)
    return {"arrays": str(file)}
