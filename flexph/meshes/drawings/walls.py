"""Thickness of walls, and refinement of cells over thin walls, in the process of gmsh."""

from __future__ import annotations

from typing import Any

import numpy as np

FINEST = 0.05
"""Smallest cells, relative to the given size."""
RAYS = 1500
"""Largest number of places at which the thickness of walls is measured."""
GROWTH = 0.4
"""Growth of the cell size with the distance from a thin wall."""
MEAN_CELL = 0.15
"""Mean volume of cells with edges of about length one; a regular tetrahedron has 0.118."""


def surface_of(gmsh: Any) -> dict[str, Any]:
    """Surface triangles with their total area, and wall thickness at the centres of a sample of them.

    The keys are ``corners`` (t, 3, 3) of all triangles, ``area``, and ``thickness`` (k,) at ``centres`` (k, 3). The
    thickness is inf where no face is opposite.
    """
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    index = np.zeros(int(tags.max()) + 1, dtype=int)
    index[tags] = np.arange(len(tags))
    points = coordinates.reshape(-1, 3)
    nodes = gmsh.model.mesh.getElementsByType(2)[1]
    corners = points[index[nodes.reshape(-1, 3)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    corners, normals = corners[lengths > 0], normals[lengths > 0] / lengths[lengths > 0, None]
    chosen = np.unique(np.linspace(0, len(corners) - 1, min(RAYS, len(corners))).astype(int))
    centres = corners[chosen].mean(axis=1)
    parts = [slice(k, k + 50) for k in range(0, len(chosen), 50)]
    distances = [_to_opposite(centres[part], normals[chosen[part]], corners, normals) for part in parts]
    area, thickness = 0.5 * float(lengths.sum()), np.concatenate(distances)
    return {"corners": corners, "area": area, "centres": centres, "thickness": thickness}


def _to_opposite(starts: Any, directions: Any, corners: Any, normals: Any) -> Any:
    """Distance (k,) through the solid from points ``starts`` on its surface to the opposite face.

    It is measured along lines in the ``directions`` (k, 3), and inf if that face is inclined to the line. ``corners``
    (t, 3, 3) and ``normals`` (t, 3) are those of the surface triangles. The solid is on that side of a point on which
    the line crosses the surface an odd number of times.
    """
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    doubled = np.einsum("tk,tk->t", np.cross(one, two), normals)[:, None]
    for_u, for_v = np.cross(two, normals) / doubled, np.cross(normals, one) / doubled  # u = for_u·(p − corner)
    base = np.einsum("tk,tk->t", normals, corners[:, 0])
    cosine = directions @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (base - starts @ normals.T) / cosine
        u, v = (starts @ g.T - np.einsum("tk,tk->t", g, corners[:, 0]) + t * (directions @ g.T) for g in (for_u, for_v))
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (np.abs(t) > 1e-6 * np.linalg.norm(one, axis=1))
    inside = np.where((hit & (t > 0.0)).sum(axis=1) % 2 == 1, 1.0, -1.0)
    forward = np.where(hit & (inside[:, None] * t > 0.0), np.abs(t), np.inf)
    first, row = np.argmin(forward, axis=1), np.arange(len(starts))
    return np.where(np.abs(cosine[row, first]) > 0.9, forward[row, first], np.inf)


def refine_walls(gmsh: Any, surface: dict[str, Any], size: float, most: int) -> dict[str, Any]:
    """Mesh the surface again with two cells over the thickness of walls thinner than twice the cell size.

    Returns the thickness ``thinnest`` and True in ``refined`` if two cells were possible; an empty mapping if no wall
    is thin. Walls that would need more than ``most`` cells are not refined. Discrete faces are not meshed again, as
    their mesh is their only geometry in the kernel.
    """
    centres, distance, area = surface["centres"], surface["thickness"], surface["area"]
    thin = distance < 2.0 * size
    if not thin.any():
        return {}
    walls = distance[thin]
    wanted = np.maximum(walls / 2.0, FINEST * size)
    cells = np.sum(0.5 * area / len(centres) * walls / (MEAN_CELL * wanted**3))  # a wall has two faces
    if cells > most:
        return {"thinnest": float(walls.min()), "refined": False}
    near = np.sqrt(area / len(centres))
    corners = surface["corners"]
    sizes = np.full(corners.shape[:2], size)
    for k in range(0, len(corners), 200):
        away = np.linalg.norm(corners[k : k + 200, :, None] - centres[thin], axis=3)
        sizes[k : k + 200] = np.minimum(size, (wanted + GROWTH * np.maximum(away - near, 0.0)).min(axis=2))
    view = gmsh.view.add("sizes")
    data = np.concatenate([corners.transpose(0, 2, 1).reshape(len(corners), 9), sizes], axis=1)
    gmsh.view.addListData(view, "ST", len(corners), data.ravel())
    field = gmsh.model.mesh.field.add("PostView")
    gmsh.model.mesh.field.setNumber(field, "ViewTag", view)
    gmsh.model.mesh.field.setNumber(field, "UseClosest", 1)
    gmsh.model.mesh.field.setAsBackgroundMesh(field)
    gmsh.model.mesh.clear()
    gmsh.model.mesh.generate(2)
    return {"thinnest": float(walls.min()), "refined": bool(walls.min() / 2.0 >= FINEST * size)}
