"""Rigid bodies that fill a mesh of their surface or volume, by exact integrals over tetrahedra."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import meshio
import numpy as np

from flexph.bodies.body import Body
from flexph.bodies.fields import View
from flexph.files.reading import refuse_missing
from flexph.meshes.cell_types import nodes_of, refuse_unknown
from flexph.meshes.contents import refuse_left_out
from flexph.meshes.drawings.drawing import KERNEL_FORMATS, MeshRequest
from flexph.meshes.drawings.surfaces import part_surface
from flexph.meshes.files.reading import Source, read_contents
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked, warn
from flexph.numerics.arrays import Array
from flexph.units.arguments import quantities

from .bodies import Point, no_shape, spatial

Face = tuple[int, ...]
SURFACE: Mapping[str, tuple[Face, ...]] = {"triangle": ((0, 1, 2),), "quad": ((0, 1, 2, 3),)}
"""Corners of surface cells, counterclockwise seen from outside."""

VOLUME: Mapping[str, tuple[Face, ...]] = {
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}
"""Faces of volume cells with positive volume, counterclockwise seen from outside."""

SPLIT: Mapping[str, tuple[Face, ...]] = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "tetra": ((0, 1, 2, 3),),
    "hexahedron": ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)),
    "wedge": ((0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3)),
    "pyramid": ((0, 1, 2, 4), (0, 2, 3, 4)),
}
"""Simplices that draw a cell if a mesh mixes cell types."""


class Moments(NamedTuple):
    """Moments of volume of k cells, or of the space between k surface cells and the origin.

    ``volumes`` (k,) are signed volumes, ``magnitude`` is the sum of the volumes of all tetrahedra without sign,
    ``first`` is ∫X dV (3,) and ``second`` ∫XXᵀ dV (3, 3), over all cells.
    """

    volumes: Array
    magnitude: float
    first: Array
    second: Array


def of_cells(points: Array, cells: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of volume cells, each split into tetrahedra between its faces and the mean of its corners.

    ``cells`` (k, corners) are indices of ``points``, ``faces`` the indices of the corners of each face.
    """
    corners = points[cells]
    return _tetrahedra_moments(corners, corners.mean(axis=1), faces)


def of_surface(points: Array, cells: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of the cones from the origin over surface cells; their sums are the moments of the enclosed volume.

    By the divergence theorem: ``3∫1 = ∮X·n``, ``4∫X = ∮X (X·n)``, ``5∫XXᵀ = ∮XXᵀ(X·n)``.
    """
    return _tetrahedra_moments(points[cells], np.zeros(3), faces)


def _tetrahedra_moments(corners: Array, apex: Array, faces: tuple[Face, ...]) -> Moments:
    """Moments of the tetrahedra between the faces of cells and an ``apex``, a point for all cells or one for each.

    A tetrahedron of volume V has ``∫X = V s/4``, ``∫XXᵀ = V (Σ p pᵀ + s sᵀ)/20``, with corners p relative to the origin
    and their sum s. ``corners`` (k, corners, 3) are positions.
    """
    volumes, magnitude = np.zeros(len(corners)), 0.0
    first, second = np.zeros(3), np.zeros((3, 3))
    apex = np.broadcast_to(apex, (len(corners), 3))
    for a, b, c in _triangles(corners, faces):
        v = np.einsum("ki,ki->k", a - apex, np.cross(b - apex, c - apex)) / 6.0
        total = apex + a + b + c
        first += v @ total / 4.0
        for p in (apex, a, b, c, total):
            second += p.T @ (v[:, None] * p) / 20.0
        volumes += v
        magnitude += float(np.abs(v).sum())
    return Moments(volumes, magnitude, first, second)


def _triangles(corners: Array, faces: tuple[Face, ...]) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the corners of the triangles of each face of all k cells: three arrays (k, 3) for a triangle of each cell.

    A quadrilateral is split into four triangles around its mean point, so that two cells with a common face have the
    same triangles there. They are exact for plane faces, and enclose the same volume as the bilinear surface of a
    warped face.
    """
    for face in faces:
        ring = [corners[:, i] for i in face]
        if len(ring) == 3:
            yield ring[0], ring[1], ring[2]
            continue
        middle = sum(ring[1:], ring[0]) / 4.0
        for i in range(4):
            yield ring[i], ring[(i + 1) % 4], middle


Cells = dict[str, Array]
CORNERS = {name: 1 + max(i for face in faces for i in face) for name, faces in {**SURFACE, **VOLUME}.items()}


def chosen(mesh: meshio.Mesh) -> tuple[Array, Cells]:
    """Points (p, 3) to which the cells of a mesh refer, and the corners (k, corners) of these cells by cell type.

    The cells are all volume cells of the mesh or, without any, all surface cells. Cells of higher order are reduced to
    their corners, with a warning. Raises ValueError for a mesh without such cells.
    """
    refuse_unknown((block.type, block.data) for block in mesh.cells)
    points = check.array("points of the mesh", mesh.points, (None, 3))
    cells_by_kind: dict[str, list[Array]] = {}
    types: dict[str, set[str]] = {}
    for block in (b for b in mesh.cells if len(b.data)):
        shape = block.type.rstrip("0123456789")
        if shape in CORNERS:
            cells_by_kind.setdefault(shape, []).append(_corners(block, CORNERS[shape], len(points)))
            types.setdefault(shape, set()).add(block.type)
    kinds = [name for name in VOLUME if name in cells_by_kind] or [name for name in SURFACE if name in cells_by_kind]
    if not kinds:
        held = ", ".join(b.type for b in mesh.cells if len(b.data)) or "no cells"
        raise ValueError(f"mesh must have volume or surface cells, got {held}")
    curved = sorted(name for kind in kinds for name in types[kind] - {kind})
    if curved:
        text = f"cells of type {', '.join(curved)} are reduced to their corners: curved edges become straight"
        warn(text)
    return _used(points, {kind: np.vstack(cells_by_kind[kind]) for kind in kinds})


def _corners(block: Any, count: int, points: int) -> Array:
    data = np.asarray(block.data)
    if data.ndim != 2 or data.shape[1] < count:
        raise ValueError(f"cells of type {block.type!r} must have {count} points or more, got shape {data.shape}")
    return nodes_of(block.type, data, points)[:, :count]


def _used(points: Array, cells: Cells) -> tuple[Array, Cells]:
    """Points to which cells refer, and the cells with indices of these points."""
    used = np.unique(np.concatenate([c.ravel() for c in cells.values()]))
    return points[used], {name: np.searchsorted(used, c) for name, c in cells.items()}


def merged(points: Array, cells: Cells) -> tuple[Array, Cells]:
    """Merge coincident points, which some formats repeat for each cell; returns points and surface cells.

    Cells with fewer than three distinct corners are left out.
    """
    order = np.lexsort(points.T)
    fresh = np.append(True, np.any(np.diff(points[order], axis=0) != 0.0, axis=1))
    label = np.empty(len(points), dtype=np.int64)
    label[order] = np.cumsum(fresh) - 1
    same = {name: label[c] for name, c in cells.items()}
    corners = {name: 1 + (np.diff(np.sort(c, axis=1), axis=1) > 0).sum(axis=1) for name, c in same.items()}
    return points[order[fresh]], {name: c[corners[name] >= 3] for name, c in same.items()}


def refuse_twins(cells: Cells) -> None:
    """Raise ValueError, with the number of repeats, if a cell is given twice."""
    for name, c in cells.items():
        twins = len(c) - len(np.unique(np.sort(c, axis=1), axis=0))
        if twins:
            raise ValueError(f"mesh must have no duplicate cells, got {twins} of {len(c)} cells of type {name!r} twice")


def refuse_open(cells: Cells) -> None:
    """Raise ValueError unless each edge of the surface belongs to two faces that run along it in opposite directions.

    The message counts the edges that do not.
    """
    ends = [(c[:, i], c[:, (i + 1) % c.shape[1]]) for c in cells.values() for i in range(c.shape[1])]
    tail, head = (np.concatenate([pair[k] for pair in ends]) for k in range(2))
    tail, head = tail[tail != head], head[tail != head]
    key = np.minimum(tail, head) * (1 + max(tail.max(initial=0), head.max(initial=0))) + np.maximum(tail, head)
    _, inverse, faces = np.unique(key, return_inverse=True, return_counts=True)
    directions = np.bincount(inverse, np.where(tail < head, 1, -1), minlength=len(faces))
    for defect, text in (
        (faces == 1, "be a closed surface or a volume mesh: {} of {} edges are open"),
        (faces > 2, "have two faces at every edge: {} of {} edges have more"),
        (directions != 0, "be oriented consistently: at {} of {} edges the two faces have opposite normals"),
    ):
        if defect.any():
            raise ValueError(f"mesh must {text.format(int(defect.sum()), len(faces))}")


@quantities(density="kg/m^3", ports="m", unit="m")
@checked
def solid(
    mesh: Source,
    *,
    density: float | None = None,
    ports: Mapping[str, Point | str],
    omit: Sequence[str] = (),
    select: str | None = None,
    unit: float | None = None,
) -> Body:
    """A homogeneous spatial body that fills a mesh, or a part of a drawing; its axes are the body axes, lengths in [m].

    The volume cells of a mesh (tetra, hexahedron, wedge, pyramid) are integrated; points, lines and surfaces are
    ignored. Without volume cells the surface cells (triangle, quad) are used; these must be closed and consistently
    oriented: every edge belongs to two faces that run along it in opposite directions, with coincident points merged.
    All normals may point in or out; those of a cavity point into it. Cells of higher order are reduced to their
    corners, with a warning: curved edges become straight.

    Mass, centre and ∫ρXXᵀ are exact integrals over signed tetrahedra (by the divergence theorem for a surface); a
    warped quadrilateral is treated as four triangles around its mean. For a drawing (STEP, IGES, BREP) gmsh computes
    them from its exact faces (extra ``cad``); its triangles are for pictures only.

    Parameters
    ----------
    mesh : meshio.Mesh or path
        A mesh, a file that meshio reads, or a drawing.
    density : float, optional
        ρ [kg/m³]; by default the density in a STEP file, if it has one.
    ports : mapping
        Points (3,) [m] by name, in the axes of the mesh; for a drawing also names of its proposed ports, such as
        ``hole1``, at their centres (``flexph mesh FILE --ports`` lists the names).
    omit : sequence of str, optional
        Keywords, cards and element types of an Abaqus or Nastran file to leave out deliberately, such as ``MASS``.
    select : str, optional
        For a file of several parts: the name of the part, instance, set or group of cells that is the body.
    unit : float, optional
        Unit of length of the file [m], ``"1 mm"`` of a mesh in millimetres; ``ports`` are in [m]. Required for BREP,
        which has none, and refused for STEP and IGES, which have one.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For a file that cannot be read or contains additional masses, a mesh without these cells or with unknown ones, a
        surface that is open or not consistently oriented, volume cells that are inverted or repeated, and a mesh
        without volume; for an unknown part or port of a drawing, and a density that is missing.
    ImportError
        For a drawing, if gmsh or libraries that it needs are missing.
    """
    if density is not None:
        density = check.positive("density", density, "kg/m³")
    if isinstance(mesh, str | os.PathLike) and Path(mesh).suffix.lower() in KERNEL_FORMATS:
        if omit:
            raise ValueError(f"omit must be left out for a drawing: it is for solver decks, got {list(omit)}")
        return _of_drawing(Path(mesh), density, ports, select=select, unit=unit)
    if density is None:
        raise ValueError("density must be given in kg/m³, such as 7850 for steel: meshes have none")
    named = [name for name, at in ports.items() if isinstance(at, str)]
    if named:
        raise ValueError(f"ports of a mesh must be points (3,) [m], got {ports[named[0]]!r} for {named[0]!r}")
    held = read_contents(mesh, omit, MeshRequest(select=select, unit=unit))
    refuse_left_out(held, ("mass",), masses=True)
    points, cells = chosen(held.mesh)
    if next(iter(cells)) in VOLUME:
        refuse_twins(cells)
    else:
        points, cells = merged(points, cells)
        refuse_open(cells)
    volume, centre, second = _integral(points, cells)
    places: dict[str, Any] = dict(ports)
    return spatial(density * volume, centre, density * second, places, view=_view(points, cells))


def _of_drawing(
    path: Path, density: float | None, ports: Mapping[str, Point | str], *, select: str | None, unit: float | None
) -> Body:
    """Rigid body of a part of a drawing, whose volume and inertia follow from its exact faces.

    If ``density`` is None, the density in the file is used. Raises ValueError if the file has none, and for an unknown
    part or port.
    """
    refuse_missing("mesh", path)
    try:
        part, points, triangles, _ = part_surface(path, select=select, unit=unit)
    except ValueError as error:
        raise ValueError(f"mesh cannot be read from {os.fspath(path)!r}: {error}") from error
    density = part.density if density is None else density
    if density is None:
        raise ValueError(f"density must be given in kg/m³: part {part.name!r} of {path.name} has none")
    known = {port.name: port for port in part.ports}
    places: dict[str, Any] = {
        name: check.lookup("port", at, known, f"ports: part {part.name!r}").centre if isinstance(at, str) else at
        for name, at in ports.items()
    }
    second = 0.5 * np.trace(part.inertia) * np.eye(3) - part.inertia
    view = _view(points, {"triangle": triangles})
    return spatial(density * part.volume, part.centre, density * second, places, view=view)


def _integral(points: Array, cells: Cells) -> tuple[float, Array, Array]:
    """Volume of the cells, their centre c (3,), and ∫(X − c)(X − c)ᵀ dV (3, 3).

    Raises ValueError for cells without volume.
    """
    origin = 0.5 * (points.min(axis=0) + points.max(axis=0))  # close to the body, against cancellation
    near = points - origin
    parts = [
        _signed(name, near, c) if name in VOLUME else of_surface(near, c, SURFACE[name]) for name, c in cells.items()
    ]
    volume = float(sum(m.volumes.sum() for m in parts))
    if abs(volume) <= check.ROUND_OFF * sum(m.magnitude for m in parts):
        raise ValueError("mesh must enclose a volume, got flat cells")
    centre = sum(m.first for m in parts) / volume
    second = sum(m.second for m in parts) - volume * np.outer(centre, centre)
    return abs(volume), origin + centre, np.sign(volume) * second


def _signed(name: str, points: Array, cells: Array) -> Moments:
    """Moments of volume cells of one type, multiplied by −1 if their volumes are negative.

    Formats differ in the orientation of wedges. Raises ValueError for cells with different signs; ``name`` is their
    type.
    """
    moments = of_cells(points, cells, VOLUME[name])
    sign = 1.0 if moments.volumes.sum() >= 0.0 else -1.0
    size = np.ptp(points[cells], axis=1).max(axis=1) ** 3  # flat cells have no sign
    inverted = int((sign * moments.volumes < -check.ROUND_OFF * size).sum())
    if inverted:
        raise ValueError(
            f"mesh must have no cells turned inside out, got {inverted} of {len(cells)} cells of type {name!r} with a "
            "volume of the other sign"
        )
    return Moments(sign * moments.volumes, moments.magnitude, sign * moments.first, sign * moments.second)


def _view(points: Array, cells: Cells) -> View:
    """View of a rigid body as the cells of its mesh, or as simplices if the mesh mixes cell types."""
    if len(cells) == 1:
        name, drawn = next(iter(cells.items()))
    else:
        name = "tetra" if next(iter(cells)) in VOLUME else "triangle"
        drawn = np.vstack([c[:, piece] for kind, c in cells.items() for piece in SPLIT[kind]])
    return View(points, drawn, name, no_shape(points))
