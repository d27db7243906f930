"""Solids and faces of a drawing in the process of gmsh: mass properties, forms of faces, planes on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

COLOUR_UNSET = 0
"""Opacity of an entity without a colour."""
GRID = 9
"""Places tried along each parameter of a face."""
SPLINES = ("BSpline surface", "Bezier surface")
"""Faces whose integrals in the kernel have too few points: rational ones are wrong by up to a per cent."""
AGREE = 1e-4
"""Relative difference from triangles up to which the integrals of the kernel are kept."""
TURN = 48
"""Second-order triangles in a full turn of a curved face, for integrals: an error of some 5e-6."""


def described(gmsh: Any, *, discrete: bool) -> dict[str, Any]:
    """Data of all solids of the drawing: number, name and colour, mass properties and faces.

    Mass properties and faces are left out for a ``discrete`` model, a surface of triangles.
    """
    solids = []
    for _, tag in gmsh.model.getEntities(3):
        faces = [abs(t) for _, t in gmsh.model.getBoundary([(3, tag)], oriented=False)]
        solid = {"tag": tag, "name": gmsh.model.getEntityName(3, tag), "colour": _colour(gmsh, 3, tag), "faces": []}
        if not discrete:
            solid["volume"] = gmsh.model.occ.getMass(3, tag)
            solid["centre"] = list(gmsh.model.occ.getCenterOfMass(3, tag))
            solid["inertia"] = np.reshape(gmsh.model.occ.getMatrixOfInertia(3, tag), (3, 3)).tolist()
            if any(gmsh.model.getType(2, face) in SPLINES for face in faces):
                solid |= _integrated(gmsh, tag, faces, solid)
            solid["faces"] = [_face(gmsh, tag, face) for face in faces]
        solids.append(solid)
    return {"solids": solids}


def _integrated(gmsh: Any, solid: int, faces: list[int], own: dict[str, Any]) -> dict[str, Any]:
    """Volume, centre, and inertia about the centre of a solid by quadrature; empty to keep the values of the kernel.

    The quadrature is over second-order triangles on ``faces``. The values of the kernel, ``own``, are kept if they
    agree with those of the quadrature, or if a face cannot be meshed.
    """
    low, high = np.reshape(gmsh.model.getBoundingBox(3, solid), (2, 3))
    size = float(np.linalg.norm(high - low))
    options = {"MeshSizeMin": 0.01 * size, "MeshSizeMax": 0.1 * size, "MeshSizeFromCurvature": TURN, "ElementOrder": 2}
    options["MeshOnlyVisible"] = 1
    before = {name: gmsh.option.getNumber(f"Mesh.{name}") for name in options}
    everything = gmsh.model.getEntities()
    try:
        for name, value in options.items():
            gmsh.option.setNumber(f"Mesh.{name}", value)
        gmsh.model.setVisibility(everything, 0)
        gmsh.model.setVisibility([(3, solid)], 1, recursive=True)
        gmsh.model.mesh.generate(2)
        moments = sum(_moments(gmsh, solid, face, low) for face in faces)
    except Exception:  # gmsh raises bare Exception
        return {}
    finally:
        gmsh.model.mesh.clear()
        gmsh.model.setVisibility(everything, 1)
        for name, value in before.items():
            gmsh.option.setNumber(f"Mesh.{name}", value)
    volume, first, second = moments[0], moments[1:4], moments[4:].reshape(3, 3)
    centre = first / volume
    second = second - volume * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    scale = float(np.linalg.norm(inertia))
    agree = abs(own["volume"] - volume) <= AGREE * volume and np.linalg.norm(own["inertia"] - inertia) <= AGREE * scale
    return {} if agree else {"volume": volume, "centre": (low + centre).tolist(), "inertia": inertia.tolist()}


def _moments(gmsh: Any, solid: int, face: int, origin: Any) -> Any:
    """Contributions of a face to volume, first moments (3,) and second moments (3, 3) of a solid, as one array (13,).

    They follow from Gauss' theorem. The moments are about the point ``origin`` (3,).
    """
    kinds, _, _ = gmsh.model.mesh.getElements(2, face)
    (kind,) = kinds
    local, weights = gmsh.model.mesh.getIntegrationPoints(int(kind), "Gauss6")
    matrices, _, points = gmsh.model.mesh.getJacobians(int(kind), local, face)
    matrices, points = matrices.reshape(-1, 3, 3), points.reshape(-1, 3)
    areas = np.tile(weights, len(points) // len(weights))[:, None] * np.cross(matrices[:, 0], matrices[:, 1])
    places = points - origin
    flux = _side(gmsh, solid, points, areas) * np.sum(places * areas, axis=1)
    squares = np.einsum("q,qi,qj->ij", flux / 5.0, places, places)
    return np.concatenate([[flux.sum() / 3.0], flux / 4.0 @ places, squares.ravel()])


def _side(gmsh: Any, solid: int, points: Any, areas: Any) -> float:
    """Sign that makes the area vectors ``areas`` (q, 3) at points (q, 3) of a face point out of the solid.

    Raises ValueError if no point has the solid on one side only.
    """
    sizes = np.linalg.norm(areas, axis=1)
    for at in np.argsort(sizes)[::-1][:: max(len(sizes) // GRID, 1)]:
        step = 0.1 * areas[at] / np.sqrt(sizes[at])
        inside = [bool(gmsh.model.isInside(3, solid, list(points[at] + sign * step))) for sign in (1.0, -1.0)]
        if inside[0] != inside[1]:
            return -1.0 if inside[0] else 1.0
    raise ValueError("no point of the face has the solid on one side only")


def _colour(gmsh: Any, dim: int, tag: int) -> str | None:
    red, green, blue, opacity = gmsh.model.getColor(dim, tag)
    return None if opacity == COLOUR_UNSET else f"#{red:02x}{green:02x}{blue:02x}"


def _face(gmsh: Any, solid: int, tag: int) -> dict[str, Any]:
    """Data of a face by name: number, kind, area, centre, name and colour.

    For a plane, cylinder or sphere, also one fitted to a free-form face, the geometry as by :func:`_form` is added.
    """
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
    """Plane or cylinder fitted to a free-form face at parameters ``places`` (k, 2); empty if neither fits."""
    points = np.array([_at(gmsh, tag, uv) for uv in places])
    normals = np.array([_normal(gmsh, tag, uv) for uv in places])
    if np.abs(normals - normals[0]).max() < 1e-6:
        outward = _outward(gmsh, solid, tag, places, 1e-4 * np.sqrt(gmsh.model.occ.getMass(2, tag)))
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
    outward = _outward(gmsh, solid, tag, places, 1e-4 * abs(signed))
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
    """List of parameters (u, v) on the four sides of the parameter range of a face."""
    low, high = gmsh.model.getParametrizationBounds(2, tag)
    steps = np.linspace(0.0, 1.0, GRID)
    (a, c), (b, d) = low, high
    return [
        uv
        for s in steps
        for uv in ((a + s * (b - a), c), (a + s * (b - a), d), (a, c + s * (d - c)), (b, c + s * (d - c)))
    ]


def _places(gmsh: Any, tag: int) -> Any:
    """Parameters (k, 2) of points within a face."""
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
    """Geometry of a face of the ``kind`` plane, cylinder or sphere, evaluated at its parameters ``places`` (k, 2).

    A plane has its outward normal and some points; a cylinder direction and ends of its axis, radius, angle of its arc
    and concavity; a sphere middle, radius and concavity.
    """
    uv = places[len(places) // 2]
    at, normal = _at(gmsh, tag, uv), _normal(gmsh, tag, uv)
    slopes = np.reshape(gmsh.model.getDerivative(2, tag, list(uv)), (2, 3))
    low, high = gmsh.model.getParametrizationBounds(2, tag)
    if kind == "Plane":
        outward = _outward(gmsh, solid, tag, places, 1e-4 * np.sqrt(gmsh.model.occ.getMass(2, tag)))
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
        outward = _outward(gmsh, solid, tag, places, 1e-4 * abs(radius))
        return {"radius": abs(radius), "middle": (at - radius * normal).tolist(), "concave": outward * radius < 0.0}
    radius, axis = float(np.linalg.norm(slopes[0])), slopes[1] / np.linalg.norm(slopes[1])
    sign = _sign_of_radius(axis, radius, (at, normal), (far, far_normal))
    outward = _outward(gmsh, solid, tag, places, 1e-4 * radius)
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
    """Sign s such that p − s r n lies on the axis of a cylinder, for points p of its surface with unit normals n.

    ``radius`` is r; ``one`` and ``two`` are the pairs (p, n) of two points.
    """
    misses = []
    for sign in (1.0, -1.0):
        chord = (one[0] - sign * radius * one[1]) - (two[0] - sign * radius * two[1])
        misses.append(np.linalg.norm(chord - (chord @ axis) * axis))
    return 1.0 if misses[0] <= misses[1] else -1.0


def _outward(gmsh: Any, solid: int, tag: int, places: Any, step: float) -> float:
    """Sign that makes the normals of a face point out of the solid.

    At the parameters ``places`` (k, 2), points at the distance ``step`` on both sides of the face are tested. At a
    point on the rim of a shoulder the solid is on both sides; then the next one is taken.
    """
    half = len(places) // 2
    for uv in (*places[half:], *places[:half]):
        at, normal = _at(gmsh, tag, uv), _normal(gmsh, tag, uv)
        if not gmsh.model.isInside(3, solid, list(at + step * normal)):
            return 1.0
        if not gmsh.model.isInside(3, solid, list(at - step * normal)):
            return -1.0
    return 1.0


def touching(gmsh: Any, solids: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs of plane faces of two solids that lie on each other, with the centre (3,) of their common points."""
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
    """List of the points in ``points`` that are within a plane face."""
    if not points:
        return []
    away = np.subtract(points, face["at"]) @ np.array(face["normal"])
    on = np.array(points) - np.outer(away, face["normal"])
    start, slopes = np.array(face["uv"]), np.reshape(gmsh.model.getDerivative(2, face["tag"], face["uv"]), (2, 3))
    uv = start + np.linalg.lstsq(slopes.T, (on - face["at"]).T, rcond=None)[0].T  # planes have affine parameters
    inside = [gmsh.model.isInside(2, face["tag"], list(place), parametric=True) for place in uv]
    return [p for p, held in zip(on, inside, strict=True) if held]
