"""Drawings (STEP, IGES, BREP, STL): parts with mass properties and proposed ports, and their meshes by gmsh."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import meshio
import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..contents import MeshContents, Place, ProposedPort, ShellSection
from ..materials import FileMaterial
from .features import proposed_ports
from .flat_parts import THIN, flat_part
from .kernel import Answer, request_answer
from .step_text import FileMaterialName, entities, length_unit, materials
from .teeth import toothed_wheels
from .triangles import file_surface

FORMATS = {
    **{".step": "step", ".stp": "step", ".iges": "iges", ".igs": "iges"},
    **{".brep": "brep", ".stl": "stl"},
}
"""Formats by suffix."""
KERNEL_FORMATS = tuple(suffix for suffix, kind in FORMATS.items() if kind != "stl")
"""Suffixes of drawings with solids; STL has triangles only."""
WITHOUT_UNIT = ("brep", "stl")
MM = 1e-3
REMESHING = 30.0
"""Time after which the triangles of an STL file are kept [s]: the kernel may search for a parametrisation for ever."""
MOST_CELLS = 100_000
"""Default of the largest number of cells."""
CELLS_ALONG = 20
"""Cells along the diagonal of a part for which no size is given, in reports."""
NAMELESS = re.compile(r"(Open CASCADE STEP translator[\d. ]*|Shapes|SOLID|COMPOUND|\d*)")


@dataclass(frozen=True, eq=False)
class CellSizes:
    """Wanted cell sizes (k, c) [m] at the c corners of k triangles or tetrahedra, and their positions (k, c, 3) [m]."""

    corners: Array
    sizes: Array


@dataclass(frozen=True)
class MeshRequest:
    """Options for the mesh of a drawing: cell size [m], part, unit of the file [m], largest number of cells.

    ``unit`` and ``select`` also apply to mesh files, and so does ``temperature``, in the unit of their tables.
    ``flat``: True to mesh the middle surface of a flat part with triangles. ``sizes``: cell sizes wanted at the corners
    of an earlier mesh.
    """

    size: float | None = None
    select: str | None = None
    unit: float | None = None
    max_cells: int | None = None
    temperature: float | None = None
    flat: bool = False
    sizes: CellSizes | None = None

    def __post_init__(self) -> None:
        for name in ("size", "unit"):
            if getattr(self, name) is not None:
                check.positive(name, getattr(self, name), "m")
        if self.max_cells is not None:
            check.count("max_cells", self.max_cells)
        if self.temperature is not None:
            check.number("temperature", self.temperature)

    def in_use(self) -> list[str]:
        """Names of the options in use that apply to drawings only."""
        return [name for name in ("size", "select", "max_cells", "sizes") if getattr(self, name) is not None]


PLAIN = MeshRequest()


@dataclass(frozen=True, eq=False)
class Part:
    """Part of a drawing: a solid, with lengths in [m].

    ``volume`` [m³]; ``centre`` of mass (3,); ``inertia`` (3, 3) about the centre for density one [m⁵]; proposed
    ``ports``; ``density`` [kg/m³] and name of the ``material``, if the file has them; ``colour`` as #rrggbb; ``faces``
    with lengths in the unit of the kernel.
    """

    name: str
    volume: float
    centre: Array
    inertia: Array
    ports: tuple[ProposedPort, ...]
    density: float | None = None
    material: str | None = None
    colour: str | None = None
    size: tuple[Array, Array] | None = None
    faces: tuple[Mapping[str, Any], ...] = ()
    tag: int = 0
    free_form: int = 0
    scale: float = MM


@dataclass(frozen=True, eq=False)
class Drawing:
    """Parts of a drawing, with the ``unit`` of its file in words and the unit ``scale`` of the kernel [m].

    ``touching``: for each pair of plane faces that lie on each other, their numbers and the centre (3,) of their common
    points [m]; ``overlaps``: for each pair of parts that penetrate each other, their names and the common volume [m³].
    """

    path: Path
    parts: tuple[Part, ...]
    unit: str
    scale: float = MM
    touching: tuple[tuple[int, int, Array], ...] = field(default=())
    overlaps: tuple[tuple[str, str, float], ...] = field(default=())

    def part(self, select: str | None) -> Part:
        """The part called ``select``, or the only part if that is None.

        Raises ValueError for an unknown or missing name.
        """
        known = {part.name: part for part in self.parts}
        if select is not None:
            return check.lookup("part", select, known, f"select: {self.path.name}")
        if len(self.parts) > 1:
            raise ValueError(f"select must name one of the {len(self.parts)} parts: {', '.join(map(repr, known))}")
        return self.parts[0]


def is_drawing(path: Path, request: MeshRequest) -> bool:
    """True for a file of a format that gmsh reads; for STL only if a cell size is given, by which it is meshed."""
    kind = FORMATS.get(path.suffix.lower())
    return kind is not None and (kind != "stl" or request.size is not None)


def read_drawing(path: Path, *, unit: float | None = None, assembly: bool = False) -> Drawing:
    """Parts of a drawing; with ``assembly`` also the plane faces that lie on each other, and parts that overlap.

    Raises ValueError for a file that cannot be read or a unit that is missing or given twice; ImportError without gmsh.
    """
    kind = FORMATS[path.suffix.lower()]
    if kind == "stl":
        raise ValueError("a drawing with parts must be STEP, IGES or BREP, got STL, which has triangles only")
    return answered(path, kind, unit, "assembly" if assembly else "describe")[0]


def answered(path: Path, kind: str, unit: float | None, task: str) -> tuple[Drawing, Answer]:
    """Drawing with its parts, and the answer of gmsh from which they were read.

    ``kind`` is the format of the file, ``task`` the task in the request to gmsh, such as ``describe``.
    """
    scale = _scale(kind, unit)
    answer = request_answer({"task": task, "file": str(path.resolve()), "format": kind}, beside=path)
    held = entities(path) if kind == "step" else {}
    known = materials(held)
    names = _names([solid["name"] for solid in answer["solids"]])
    parts = [_part(s, n, known, scale) for s, n in zip(answer["solids"], names, strict=True)]
    word = length_unit(held) if kind == "step" else None
    touching = [(t["first"], t["second"], scale * np.array(t["at"])) for t in answer.get("touching", [])]
    numbers = {solid["tag"]: name for solid, name in zip(answer["solids"], names, strict=True)}
    shared = [(numbers[o["first"]], numbers[o["second"]], scale**3 * o["volume"]) for o in answer.get("overlaps", [])]
    unit_text = word or ("as given" if unit else "of the file")
    return Drawing(path, tuple(parts), unit_text, scale, tuple(touching), tuple(shared)), answer


def _scale(kind: str, unit: float | None) -> float:
    """Unit of length of the kernel [m]: millimetres for a format ``kind`` whose files have a unit, otherwise ``unit``.

    Raises ValueError for a unit that is missing or given twice.
    """
    if kind not in WITHOUT_UNIT:
        if unit is not None:
            raise ValueError(f"unit must be left out: {kind.upper()} files have their own unit, got {unit} m")
        return MM
    if unit is None:
        raise ValueError(f"unit must be given: {kind.upper()} files have none; write unit='1 mm' if it is drawn in mm")
    return unit


def _names(paths: list[str]) -> list[str]:
    """Unique names of parts from the paths of their labels in the drawing.

    Characters that names of bodies must not have are replaced by ``_``.
    """
    names: list[str] = []
    for number, path in enumerate(paths, 1):
        labels = [label for label in path.split("/") if not NAMELESS.fullmatch(label.strip())]
        name = re.sub(r"[^\w-]+", "_", labels[-1]).strip("_") if labels else ""
        name = name or f"part{number}"
        again = 1
        while (name if again == 1 else f"{name}_{again}") in names:
            again += 1
        names.append(name if again == 1 else f"{name}_{again}")
    return names


def _part(solid: dict[str, Any], name: str, known: Mapping[str, FileMaterialName], scale: float) -> Part:
    labels = [label.strip() for label in solid["name"].split("/")]
    file_material_name = next((known[label] for label in reversed(labels) if label in known), FileMaterialName())
    points = np.array([p for face in solid["faces"] for p in (*face.get("points", []), face["centre"])])
    return Part(
        name=name,
        volume=scale**3 * solid["volume"],
        centre=scale * np.array(solid["centre"]),
        inertia=scale**5 * np.array(solid["inertia"]),
        ports=proposed_ports(solid["faces"], scale),
        density=file_material_name.density,
        material=file_material_name.name,
        colour=solid["colour"],
        size=(scale * points.min(axis=0), scale * points.max(axis=0)),
        faces=tuple(solid["faces"]),
        tag=solid["tag"],
        scale=scale,
        free_form=sum("axis" not in f and "normal" not in f and f["kind"] not in KNOWN for f in solid["faces"]),
    )


KNOWN = ("Plane", "Cylinder", "Sphere", "Cone", "Torus")


def drawing_contents(path: Path, request: MeshRequest) -> MeshContents:
    """Mesh of one part of a drawing by second-order tetrahedra in [m], with regions, proposed ports and materials.

    Regions are the proposed ports, gear wheels, the named and coloured faces, and the part itself by its name.
    """
    if request.size is None:
        raise ValueError("size must be given for a drawing: the length of its cells, such as size='4 mm'")
    most = request.max_cells or MOST_CELLS
    if FORMATS[path.suffix.lower()] == "stl":
        if request.flat:
            raise ValueError("a plate of a drawing must be a part of STEP, IGES or BREP, got STL")
        return _of_triangles(path, request, most)
    drawing = read_drawing(path, unit=request.unit)
    part = drawing.part(request.select)
    mesh, shells = (_flat_mesh if request.flat else _solid_mesh)(drawing, part, request, most)
    named = FileMaterial(density=part.density)
    material = part.material or ("of the drawing" if part.density is not None else None)
    return MeshContents(
        mesh,
        materials={material: named} if material else {},
        sections=((part.name, material),) if material else (),
        ports=part.ports,
        notes=_notes(drawing, part),
        shells=shells,
    )


def _meshed_part(drawing: Drawing, part: Part, request: MeshRequest, most: int, wanted: dict[str, Any]) -> Answer:
    """Answer of gmsh with a mesh of a part, which has at most ``most`` cells.

    ``wanted`` are the entries of the request that name the task and what is meshed.
    """
    assert request.size is not None
    sizes = request.sizes
    scale = drawing.scale
    given = None if sizes is None else {"corners": sizes.corners / scale, "sizes": sizes.sizes / scale}
    if part.size is not None:
        _warn_of_size(request.size, part.size)
    path = drawing.path
    common = {"file": str(path.resolve()), "format": FORMATS[path.suffix.lower()], "max_cells": most}
    return request_answer({**common, "size": request.size / scale, **wanted}, sizes=given, beside=path)


def _solid_mesh(
    drawing: Drawing, part: Part, request: MeshRequest, most: int
) -> tuple[meshio.Mesh, dict[str, ShellSection]]:
    """Mesh of a part by tetrahedra, at most ``most`` cells; an empty mapping instead of sections of shells."""
    wanted = {"task": "mesh", "solid": part.tag, "volume": part.volume / drawing.scale**3}
    answer = _meshed_part(drawing, part, request, most, wanted)
    _warn_of_walls(answer, drawing.scale)
    return _mesh(answer.arrays, drawing.scale, {part.name: None, **_regions(part)}), {}


def _flat_mesh(
    drawing: Drawing, part: Part, request: MeshRequest, most: int
) -> tuple[meshio.Mesh, dict[str, ShellSection]]:
    """Mesh of the middle surface of a flat part by triangles, and the section of the shell, by the name of the part.

    The mesh has at most ``most`` cells. The region of a flat face consists of all triangles, the region of a face on
    the rim of the triangle sides along this face. Raises ValueError for a part that is not flat.
    """
    flat = flat_part(part.faces, part.volume / drawing.scale**3)
    if isinstance(flat, str):
        raise ValueError(f"part {part.name!r} must be flat and of one thickness for a plate: {flat}")
    answer = _meshed_part(drawing, part, request, most, {"task": "face", "face": flat.top, "area": flat.area})
    points, cells = answer.arrays["points"], answer.arrays["cells"]
    rim, owners, none = answer.arrays["facets"], answer.arrays["owners"], np.zeros(0, dtype=int)
    sets = {part.name: [np.arange(len(cells)), none]}
    for name, tags in _regions(part).items():
        on_faces = flat.top in tags or flat.bottom in tags
        sets[name] = [np.arange(len(cells)), none] if on_faces else [none, np.flatnonzero(np.isin(owners, tags))]
    used, numbers = np.unique(cells, return_inverse=True)
    kept = drawing.scale * (points[used] - 0.5 * flat.thickness * flat.normal)
    sides = np.searchsorted(used, rim)
    mesh = meshio.Mesh(kept, [("triangle", numbers.reshape(cells.shape)), ("line", sides)], cell_sets=sets)
    return mesh, {part.name: ShellSection(drawing.scale * flat.thickness, "part", Place(0))}


def _of_triangles(path: Path, request: MeshRequest, most: int) -> MeshContents:
    """Contents with the mesh, of at most ``most`` tetrahedra, within the closed surface of an STL file."""
    scale = _scale("stl", request.unit)
    if request.select is not None:
        raise ValueError("select must be left out: an STL file has one part")
    assert request.size is not None
    surface = file_surface(path)
    _warn_of_size(request.size, (scale * surface[0].min(axis=0), scale * surface[0].max(axis=0)))
    return MeshContents(surface_mesh(surface, request.size, scale=scale, most=most, beside=path))


def surface_mesh(
    surface: tuple[Array, Array], size: float, *, scale: float, most: int = MOST_CELLS, beside: Path | None = None
) -> meshio.Mesh:
    """Mesh by tetrahedra within a watertight surface, with lengths in metres.

    ``surface``: points (p, 3) in a unit ``scale`` [m], and triangles (t, 3); ``size``: cell size [m]; ``most``: largest
    number of cells; ``beside``: drawing in whose folder the answer of gmsh is stored, None to store nothing.
    """
    points, triangles = surface
    held = {"points": points, "triangles": triangles}
    volume = float(np.linalg.det(points[triangles]).sum() / 6.0)
    wanted = {"task": "mesh", "size": size / scale, "max_cells": most, "solid": 1, "volume": abs(volume)}
    try:
        answer = request_answer({**wanted, "keep": False}, held, REMESHING, beside=beside)
    except ValueError:
        answer = request_answer({**wanted, "keep": True}, held, beside=beside)
        warn("triangles of the STL file remain faces of the cells: gmsh cannot mesh this surface by the given size")
    _warn_of_walls(answer, scale)
    faces = {f"face{k}": (int(tag),) for k, tag in enumerate(np.unique(answer.arrays["owners"]), 1)}
    return _mesh(answer.arrays, scale, {"body": None, **faces})


def _regions(part: Part) -> dict[str, tuple[int, ...]]:
    """Numbers of the faces of each region by name.

    A region is a port, a gear wheel, or all faces with a name or a colour of the file. Of regions with equal names the
    first is kept.
    """
    regions = {port.name: port.faces for port in part.ports}
    regions |= {wheel.name: wheel.faces for wheel in toothed_wheels(part.faces, part.scale)}
    groups: dict[str, list[int]] = {}
    for face in part.faces:
        label = face["name"].split("/")[-1].strip()
        if label and not NAMELESS.fullmatch(label):
            groups.setdefault(label, []).append(face["tag"])
        if face["colour"] and face["colour"] != part.colour:
            groups.setdefault(f"colour {face['colour']}", []).append(face["tag"])
    for name, tags in groups.items():
        if name != part.name:
            regions.setdefault(name, tuple(tags))
    return regions


def _mesh(arrays: dict[str, Array], scale: float, regions: Mapping[str, tuple[int, ...] | None]) -> meshio.Mesh:
    """Mesh in metres from the arrays of an answer of gmsh, whose unit of length is ``scale`` [m].

    ``regions``: numbers of faces by region; a region with None instead consists of all cells.
    """
    cells, owners, none = arrays["cells"], arrays["owners"], np.zeros(0, dtype=int)
    sets = {
        name: [np.arange(len(cells)), none] if tags is None else [none, np.flatnonzero(np.isin(owners, tags))]
        for name, tags in regions.items()
    }
    return meshio.Mesh(scale * arrays["points"], [("tetra10", cells), ("triangle6", arrays["facets"])], cell_sets=sets)


def _warn_of_size(size: float, box: tuple[Array, Array]) -> None:
    """Warn of cells that are longer than the box around a part, such as millimetres given as metres."""
    longest = float((box[1] - box[0]).max())
    if size > longest:
        warn(f"size={size:.6g} m is longer than the part, {longest:.3g} m: sizes are in m, or texts such as '4 mm'")


def _warn_of_walls(answer: dict[str, Any], scale: float) -> None:
    """Warn of walls with fewer than two cells, and of folded cells."""
    walls = answer["walls"]
    if walls and not walls["refined"]:
        thinnest = 1e3 * scale * walls["thinnest"]
        warn(
            f"the thinnest wall, {thinnest:.3g} mm, has fewer than two cells (max_cells is small, or the file is STL, "
            f"whose walls are not refined): size={thinnest / 2e3:.3g} has two"
        )
    if answer["folded"]:
        warn(f"{answer['folded']} curved cells are folded: give a smaller size")


def _notes(drawing: Drawing, part: Part) -> tuple[str, ...]:
    """Texts for reports on unit, material, flatness and free-form faces of a part."""
    notes = [f"unit of length of the drawing: {drawing.unit}"]
    if part.material and part.density is None:
        notes.append(f"material of the drawing: {part.material!r}, without a density")
    elif part.density is not None:
        notes.append(f"material of the drawing: {part.material or 'without a name'}, {part.density:.6g} kg/m³")
    else:
        notes.append("the drawing has no material")
    flat = flat_part(part.faces, part.volume / drawing.scale**3)
    if not isinstance(flat, str) and flat.slenderness >= THIN:
        notes.append(f"it is flat, {1e3 * drawing.scale * flat.thickness:.6g} mm thick: fem.plate takes it as a plate")
    if part.free_form:
        notes.append(f"{part.free_form} faces are free-form surfaces: no ports are proposed of them")
    return tuple(notes)


def default_size(path: Path, request: MeshRequest) -> float:
    """Cell size [m] for reports: the diagonal of the part's bounding box over CELLS_ALONG.

    Raises ValueError for STL, which has no unit.
    """
    if FORMATS[path.suffix.lower()] == "stl":
        raise ValueError("size must be given for STL: the length of the cells, such as 4mm")
    part = read_drawing(path, unit=request.unit).part(request.select)
    assert part.size is not None
    return float(np.linalg.norm(part.size[1] - part.size[0])) / CELLS_ALONG
