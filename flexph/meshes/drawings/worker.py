"""Program of the process that reads and meshes a drawing by gmsh: ``python worker.py REQUEST ANSWER``.

REQUEST and ANSWER are files of JSON; the arrays of a mesh go to an .npz file beside ANSWER. gmsh is imported here
only. All lengths are in millimetres, in which the kernel has its tolerances.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

COLOUR_UNSET = 0
"""Opacity of an entity without a colour."""
PER_TURN = 12
"""Cells around a full circle."""
FINEST = 0.05
"""Smallest cells, relative to the given size."""
RAYS = 1500
"""Largest number of places at which the thickness of walls is measured."""
GROWTH = 0.4
"""Growth of the cell size with the distance from a thin wall."""
MEAN_CELL = 0.15
"""Mean volume of cells with edges of about length one; a regular tetrahedron has 0.118."""
SEWING = (1e-6, 1e-4, 1e-2)
"""Gaps up to which faces are sewn to solids [mm], tried in turn."""
GRID = 9
"""Places tried along each parameter of a face."""
TETRA10 = (0, 1, 2, 3, 4, 5, 6, 7, 9, 8)
"""Order of the nodes of gmsh's ten-node tetrahedra in that of VTK."""


class RefusedError(Exception):
    """A drawing that cannot be read or meshed."""


def opened(request: dict[str, Any]) -> Any:
    """Gmsh with the drawing of a request as its model."""
    import gmsh

    gmsh.initialize(readConfigFiles=False, interruptible=False)
    for name, value in (("General.Terminal", 0), ("General.NumThreads", 1), ("Geometry.OCCImportLabels", 1)):
        gmsh.option.setNumber(name, value)
    if request.get("format") == "step":  # the kernel reads IGES in millimetres, too, and cannot be told to
        gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
    gmsh.model.add("drawing")
    try:
        if "surface" in request:
            _from_triangles(gmsh, request["surface"], keep=request["keep"])
        else:
            gmsh.model.occ.importShapes(request["file"], format=request["format"])
            gmsh.model.occ.synchronize()
            for tolerance in SEWING:
                if not gmsh.model.getEntities(3):
                    gmsh.model.occ.healShapes(tolerance=tolerance, makeSolids=True)
                    gmsh.model.occ.synchronize()
    except Exception as error:
        raise RefusedError(f"gmsh cannot read it: {error}") from error
    if not gmsh.model.getEntities(3):
        faces = len(gmsh.model.getEntities(2))
        raise RefusedError(f"it must hold closed solids, got none ({faces} faces that enclose no volume)")
    return gmsh


def _from_triangles(gmsh: Any, file: str, *, keep: bool) -> None:
    """Volume within a closed surface of triangles, whose edges of more than 40° bound its faces.

    ``keep``: the triangles are those of the mesh; otherwise faces get a parametrisation and are meshed anew.
    """
    held = np.load(file)
    points, triangles = held["points"], held["triangles"]
    tag = gmsh.model.addDiscreteEntity(2)
    gmsh.model.mesh.addNodes(2, tag, np.arange(1, len(points) + 1), points.ravel())
    gmsh.model.mesh.addElementsByType(tag, 2, [], (triangles + 1).ravel())
    gmsh.model.mesh.removeDuplicateNodes()
    gmsh.model.mesh.classifySurfaces(np.deg2rad(40.0), True, not keep, np.pi)
    if not keep:
        gmsh.model.mesh.createGeometry()
    loop = gmsh.model.geo.addSurfaceLoop([t for _, t in gmsh.model.getEntities(2)])
    gmsh.model.geo.addVolume([loop])
    gmsh.model.geo.synchronize()


def described(gmsh: Any, *, discrete: bool) -> dict[str, Any]:
    """Solids of the drawing with mass properties and surfaces."""
    solids = []
    for _, tag in gmsh.model.getEntities(3):
        faces = [abs(t) for _, t in gmsh.model.getBoundary([(3, tag)], oriented=False)]
        solid = {"tag": tag, "name": gmsh.model.getEntityName(3, tag), "colour": _colour(gmsh, 3, tag), "faces": []}
        if not discrete:
            solid["volume"] = gmsh.model.occ.getMass(3, tag)
            solid["centre"] = list(gmsh.model.occ.getCenterOfMass(3, tag))
            solid["inertia"] = np.reshape(gmsh.model.occ.getMatrixOfInertia(3, tag), (3, 3)).tolist()
            solid["faces"] = [_face(gmsh, tag, face) for face in faces]
        solids.append(solid)
    return {"solids": solids}


def _colour(gmsh: Any, dim: int, tag: int) -> str | None:
    red, green, blue, opacity = gmsh.model.getColor(dim, tag)
    return None if opacity == COLOUR_UNSET else f"#{red:02x}{green:02x}{blue:02x}"


def _face(gmsh: Any, solid: int, tag: int) -> dict[str, Any]:
    """A face: kind, area, centre, name, colour, and the form of a plane, cylinder or sphere."""
    kind = gmsh.model.getType(2, tag)
    face = {
        "tag": tag,
        "kind": kind,
        "name": gmsh.model.getEntityName(2, tag),
        "colour": _colour(gmsh, 2, tag),
        "area": gmsh.model.occ.getMass(2, tag),
        "centre": list(gmsh.model.occ.getCenterOfMass(2, tag)),
    }
    if kind in ("Cone", "Torus"):
        return face
    places = _places(gmsh, tag)
    if len(places) and kind in ("Plane", "Cylinder", "Sphere"):
        face |= _form(gmsh, solid, tag, kind, places)
    elif len(places) >= 6:
        face |= _fitted(gmsh, solid, tag, places)
    return face


def _fitted(gmsh: Any, solid: int, tag: int, places: Any) -> dict[str, Any]:
    """Plane or cylinder through a free-form face, by points and normals at some places; nothing if it is neither."""
    points = np.array([_at(gmsh, tag, uv) for uv in places])
    normals = np.array([_normal(gmsh, tag, uv) for uv in places])
    if np.abs(normals - normals[0]).max() < 1e-6:
        outward = _outward(gmsh, solid, points[0], normals[0], 1e-4 * np.sqrt(gmsh.model.occ.getMass(2, tag)))
        form = {
            "normal": (outward * normals[0]).tolist(),
            "at": points[0].tolist(),
            "uv": places[0].tolist(),
            "points": points.tolist(),
        }
        return {"kind": "Plane", **form}
    axis = np.linalg.svd(normals)[2][2]
    if np.abs(normals @ axis).max() > 1e-5:
        return {}
    # p − s r n is on the axis for all places: p⊥ = c + ρ n⊥ in least squares
    across = np.linalg.svd(axis[None])[2][1:]
    p, n = points @ across.T, normals @ across.T
    left = np.vstack(
        [np.column_stack([np.ones(len(p)) * (k == 0), np.ones(len(p)) * (k == 1), n[:, k]]) for k in (0, 1)]
    )
    (cx, cy, signed), *_ = np.linalg.lstsq(left, p.T.ravel(), rcond=None)
    if np.abs(left @ (cx, cy, signed) - p.T.ravel()).max() > 1e-4 * abs(signed):
        return {}
    along = np.array([_at(gmsh, tag, uv) for uv in _rim(gmsh, tag)]) @ axis
    turned = np.sort(np.unique(np.round(np.arctan2(n[:, 1], n[:, 0]), 6)))
    gaps = np.diff(np.append(turned, turned[0] + 2.0 * np.pi))
    angle = 2.0 * np.pi if gaps.max() < 1.5 * np.median(gaps) else 2.0 * np.pi - gaps.max() + np.median(gaps)
    outward = _outward(gmsh, solid, points[0], normals[0], 1e-4 * abs(signed))
    on_axis = np.array([cx, cy]) @ across
    ends = [(on_axis + s * axis).tolist() for s in (along.min(), along.max())]
    return {
        **{
            "kind": "Cylinder",
            "axis": axis.tolist(),
            "radius": abs(float(signed)),
            "ends": ends,
            "angle": float(angle),
        },
        "concave": bool(outward * signed < 0.0),
    }


def _rim(gmsh: Any, tag: int) -> Any:
    """Parameters of places on the sides of the range of a face."""
    low, high = gmsh.model.getParametrizationBounds(2, tag)
    steps = np.linspace(0.0, 1.0, GRID)
    (a, c), (b, d) = low, high
    return [
        uv
        for s in steps
        for uv in ((a + s * (b - a), c), (a + s * (b - a), d), (a, c + s * (d - c)), (b, c + s * (d - c)))
    ]


def _places(gmsh: Any, tag: int) -> Any:
    """Parameters (k, 2) of places within a face."""
    low, high = gmsh.model.getParametrizationBounds(2, tag)
    for grid in (GRID, 4 * GRID):
        steps = (np.arange(grid) + 0.5) / grid
        u, v = (lo + (hi - lo) * steps for lo, hi in zip(low, high, strict=True))
        tried = np.array([(a, b) for a in u for b in v])
        inside = [gmsh.model.isInside(2, tag, list(uv), parametric=True) for uv in tried]
        if any(inside):
            return tried[np.array(inside, dtype=bool)]
    return tried[:0]


def _form(gmsh: Any, solid: int, tag: int, kind: str, places: Any) -> dict[str, Any]:
    """Outward normal, and axis, centre, radius and extent of a face, and whether it is concave."""
    uv = places[len(places) // 2]
    at, normal = _at(gmsh, tag, uv), _normal(gmsh, tag, uv)
    slopes = np.reshape(gmsh.model.getDerivative(2, tag, list(uv)), (2, 3))
    low, high = gmsh.model.getParametrizationBounds(2, tag)
    if kind == "Plane":
        outward = _outward(gmsh, solid, at, normal, 1e-4 * np.sqrt(gmsh.model.occ.getMass(2, tag)))
        points = [_at(gmsh, tag, place) for place in places]
        return {
            "normal": (outward * normal).tolist(),
            "at": at.tolist(),
            "uv": uv.tolist(),
            "points": np.array(points).tolist(),
        }
    other = places[0] if len(places) > 1 else uv + 0.01 * (np.array(high) - low)
    far, far_normal = _at(gmsh, tag, other), _normal(gmsh, tag, other)
    if kind == "Sphere":
        radius = float(np.dot(at - far, normal - far_normal) / np.dot(normal - far_normal, normal - far_normal))
        outward = _outward(gmsh, solid, at, normal, 1e-4 * abs(radius))
        return {"radius": abs(radius), "middle": (at - radius * normal).tolist(), "concave": outward * radius < 0.0}
    radius, axis = float(np.linalg.norm(slopes[0])), slopes[1] / np.linalg.norm(slopes[1])
    sign = _sign_of_radius(axis, radius, (at, normal), (far, far_normal))
    outward = _outward(gmsh, solid, at, normal, 1e-4 * radius)
    on_axis = at - sign * radius * normal
    reach = (np.array([low[1], high[1]]) - uv[1]) * np.linalg.norm(slopes[1])
    ends = [(on_axis + s * axis).tolist() for s in reach]
    return {
        **{"axis": axis.tolist(), "radius": radius, "ends": ends, "angle": float(high[0] - low[0])},
        "concave": outward * sign < 0.0,
    }


def _at(gmsh: Any, tag: int, uv: Any) -> Any:
    return np.array(gmsh.model.getValue(2, tag, list(uv)))


def _normal(gmsh: Any, tag: int, uv: Any) -> Any:
    return np.array(gmsh.model.getNormal(tag, list(uv)))


def _sign_of_radius(axis: Any, radius: float, one: Any, two: Any) -> float:
    """Sign s such that p − s r n lies on the axis for two points p with normals n."""
    misses = []
    for sign in (1.0, -1.0):
        chord = (one[0] - sign * radius * one[1]) - (two[0] - sign * radius * two[1])
        misses.append(np.linalg.norm(chord - (chord @ axis) * axis))
    return 1.0 if misses[0] <= misses[1] else -1.0


def _outward(gmsh: Any, solid: int, at: Any, normal: Any, step: float) -> float:
    """Sign of a normal that makes it point out of the solid."""
    return -1.0 if gmsh.model.isInside(3, solid, list(at + step * normal)) else 1.0


def meshed(gmsh: Any, request: dict[str, Any], answer: Path) -> dict[str, Any]:
    """Mesh one solid with second-order tetrahedra and write its arrays."""
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
    if not request.get("keep"):
        gmsh.model.mesh.generate(2)
    walls = _refine_walls(gmsh, _surface(gmsh), size, 0 if "surface" in request else most)
    gmsh.model.mesh.generate(3)
    _refuse_many(len(gmsh.model.mesh.getElementsByType(4)[0]), most, size, volume)
    if "surface" in request:  # setOrder(2) of gmsh does not end on discrete faces
        return {**_written(answer, *_halved(*_arrays(gmsh, 1))), "walls": walls, "folded": 0}
    gmsh.model.mesh.setOrder(2)
    folded = _without_folds(gmsh)
    points, cells, facets, owners = _arrays(gmsh, 2)
    return {**_written(answer, points, cells[:, TETRA10], facets, owners), "walls": walls, "folded": folded}


def _refuse_many(cells: float, most: int, size: float, volume: float | None) -> None:
    if cells > most:
        right = size * (cells / most) ** (1.0 / 3.0) * 1.05
        raise RefusedError(
            f"size must be larger, or max_cells: about {cells:.2g} cells are more than max_cells={most}; try a size of "
            f"{right:.3g} mm"
        )


def _surface(gmsh: Any) -> dict[str, Any]:
    """Corners of the surface triangles, their area, and centres (k, 3) of some with the thickness of the wall below.

    The thickness (k,) is inf where no face is opposite.
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
    """Distance through the solid to the face opposite of places on its surface, inf if that is inclined.

    The solid is on the side of a face on which a line crosses the surface an odd number of times.
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


def _refine_walls(gmsh: Any, surface: dict[str, Any], size: float, most: int) -> dict[str, Any]:
    """Mesh the surface again with two cells over thin walls; return the thinnest wall and whether it was refined.

    Discrete faces are not meshed again: the kernel has no other geometry of them than their mesh.
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


def _without_folds(gmsh: Any) -> int:
    """Optimise curved cells that are folded; return the number of those that stay folded."""
    tags, _ = gmsh.model.mesh.getElementsByType(11)
    folded = lambda: int(np.sum(np.array(gmsh.model.mesh.getElementQualities(tags, "minSJ")) < 0.05))  # noqa: E731
    for method in ("HighOrder", "HighOrderElastic"):
        if not folded():
            return 0
        gmsh.model.mesh.optimize(method)
    return folded()


def _arrays(gmsh: Any, order: int) -> tuple[Any, Any, Any, Any]:
    """Points, nodes of tetrahedra, nodes of triangles and their faces, for cells of an order."""
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


EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
"""Edges of a tetrahedron in the order of VTK; the first three are those of a triangle."""


def _halved(points: Any, cells: Any, facets: Any, owners: Any) -> tuple[Any, Any, Any, Any]:
    """Second-order cells with straight edges."""
    ends = np.vstack([*(cells[:, e] for e in EDGES), *(facets[:, e] for e in EDGES[:3])])
    edges, number = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    middle, split = len(points) + number.ravel(), 6 * len(cells)
    in_cells, in_facets = middle[:split].reshape(6, -1).T, middle[split:].reshape(3, -1).T
    nodes = np.column_stack([cells, in_cells]), np.column_stack([facets, in_facets])
    return np.vstack([points, points[edges].mean(axis=1)]), *nodes, owners


def _written(answer: Path, points: Any, cells: Any, facets: Any, owners: Any) -> dict[str, Any]:
    """Write the arrays of a mesh; return the name of the file."""
    file = answer.with_suffix(".npz")
    np.savez(file, points=points, cells=cells, facets=facets, owners=owners)
    return {"arrays": str(file)}


def touching(gmsh: Any, solids: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs of plane faces of two solids that lie on each other, with the middle of their common places."""
    planes = [(s, f) for s in solids for f in s["faces"] if f["kind"] == "Plane" and "normal" in f]
    pairs = []
    for k, (solid, face) in enumerate(planes):
        for other_solid, other in planes[k + 1 :]:
            if other_solid["tag"] == solid["tag"] or np.dot(face["normal"], other["normal"]) > -1.0 + 1e-6:
                continue
            scale = np.sqrt(min(face["area"], other["area"]))
            if abs(np.dot(np.subtract(face["at"], other["at"]), face["normal"])) > 1e-3 * scale:
                continue
            common = [*_within(gmsh, face["points"], other), *_within(gmsh, other["points"], face)]
            if common:
                pairs.append({"first": face["tag"], "second": other["tag"], "at": np.mean(common, axis=0).tolist()})
    return pairs


def _within(gmsh: Any, points: list[Any], face: dict[str, Any]) -> list[Any]:
    """The points that lie within a plane face."""
    if not points:
        return []
    away = np.subtract(points, face["at"]) @ np.array(face["normal"])
    on = np.array(points) - np.outer(away, face["normal"])
    start, slopes = np.array(face["uv"]), np.reshape(gmsh.model.getDerivative(2, face["tag"], face["uv"]), (2, 3))
    uv = start + np.linalg.lstsq(slopes.T, (on - face["at"]).T, rcond=None)[0].T  # planes have affine parameters
    inside = [gmsh.model.isInside(2, face["tag"], list(place), parametric=True) for place in uv]
    return [p for p, held in zip(on, inside, strict=True) if held]


def main(request_file: str, answer_file: str) -> None:
    """Answer the request in a file; refusals and missing libraries are answers, too."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    answer: dict[str, Any]
    try:
        gmsh = opened(request)
        answer = described(gmsh, discrete="surface" in request) if request["task"] != "mesh" else {}
        if request["task"] == "assembly":
            answer["touching"] = touching(gmsh, answer["solids"])
        if request["task"] == "mesh":
            answer = meshed(gmsh, request, Path(answer_file))
    except RefusedError as error:
        answer = {"refused": str(error)}
    except (ImportError, OSError) as error:
        answer = {"missing": f"{type(error).__name__}: {error}"}
    except Exception as error:  # gmsh raises bare Exception
        answer = {"refused": f"gmsh cannot mesh it: {error}"}
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
