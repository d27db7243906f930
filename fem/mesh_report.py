"""Report on a mesh: cells, regions, mass and inertia, quality, and possible ports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from flexph.bodies.inertia import contract
from flexph.meshes.cell_types import DIMENSION, EDGES, dimension
from flexph.meshes.contents import MeshContents, ProposedPort, refuse_left_out, shortened
from flexph.meshes.drawings.drawing import PLAIN, MeshRequest, is_drawing
from flexph.meshes.files.reading import Source, read_contents
from flexph.meshes.unit_systems import in_metres, matching_unit_system
from flexph.numerics import checks as check
from flexph.numerics.arguments import warn
from flexph.numerics.arrays import Array

from .materials.elastic import Elastic
from .materials.file_materials import element_notes, file_densities, law_notes, unit_notes, unread_notes
from .materials.materials import Material
from .meshes.cells import corner_slopes, table
from .meshes.mesh_checks import refuse_pieces
from .meshes.reading import solid_mesh
from .meshes.regions import region
from .meshes.solid_mesh import Block, SolidMesh, jacobians
from .plates.flat import PlaneAxes, flattened
from .reports.drawings import port_values, port_words, vector, with_size
from .solids.inertia import solid_inertia, with_file_masses
from .solids.model import SolidModel, solid_model
from .solids.region_samples import facet_samples

IDEAL = {
    **{"triangle": np.sqrt(0.75), "quad": 1.0, "tetra": np.sqrt(0.5), "hexahedron": 1.0},
    **{"wedge": np.sqrt(0.75), "pyramid": np.sqrt(0.5)},
}
"""Jacobian of a cell with edges of length one."""


@dataclass(frozen=True)
class RegionReport:
    """A named region of a mesh, with its numbers of cells or facets and of nodes.

    ``kind`` is "volume" (in the plane an area), "surface" (in the plane an edge) or "nodes", otherwise the reason
    why the region is none of these. ``measure`` is the volume [m³], area [m²] or length [m] of the region, zero for
    nodes.
    """

    name: str
    kind: str
    count: int
    nodes: int
    measure: float


@dataclass(frozen=True, eq=False)
class MeshReport:
    """Report on a mesh as a body of density ρ; the measure is the volume, or the area [m²] of a plane mesh.

    ``mass`` and ``inertia`` about the centre of mass, (3, 3) in space and (1, 1) in the plane, are None if no density
    is known; ``centre`` is then the centre of volume. ``mass_unit`` is "kg", or the unit of the file. ``quality`` is
    that of the worst cell: its smallest Jacobian divided by that of an ideal cell with the same mean square edge
    length, at best 1; ``worst`` is its type and number.
    """

    dim: int
    cells: dict[str, int]
    points: int
    size: tuple[Array, Array]
    measure: float
    mass: float | None
    centre: Array
    inertia: Array | None
    quality: float
    worst: tuple[str, int]
    regions: tuple[RegionReport, ...]
    mass_unit: str = "kg"
    notes: tuple[str, ...] = ()
    ports: tuple[ProposedPort, ...] = ()


def mesh_report(
    mesh: Source, density: float | None = None, *, omit: Sequence[str] = (), request: MeshRequest = PLAIN
) -> MeshReport:
    """Report on a mesh or drawing, for a density [kg/m³] or, if None, the densities of the file.

    A density from a mesh file is in the units of the file, and so are the reported mass and the masses of the file.
    ``omit`` leaves out keywords, cards and element types; ``request`` has the unit of lengths, and the cell sizes for
    a drawing. Raises ValueError for the reasons of :func:`fem.solid`, except that regions are not checked, and that
    constraints and several pieces only cause a warning and a note.
    """
    request, sized = with_size(mesh, request)
    drawn = isinstance(mesh, str | os.PathLike) and is_drawing(Path(mesh), request)
    held = read_contents(mesh, omit, request if drawn or request.unit is None else replace(request, unit=1.0))
    unit = 1.0 if drawn or request.unit is None else request.unit
    refuse_left_out(held, ("mass",))
    if unit != 1.0 and density is None and matching_unit_system(held, unit):
        held, unit = in_metres(held, unit), 1.0
    constraints = _constraint_notes(held)
    given = copy(held.mesh)
    given.points = unit * np.asarray(given.points)
    given, flat = flattened(given)
    plane = max((dimension(b.type) for b in given.cells if len(b.data)), default=0) == DIMENSION["quad"]
    read = solid_mesh(given, plane=plane, degree=None, one_piece=False)
    refused = [*constraints, *_piece_notes(read)]
    if refused:
        warn("; ".join(refused))
    from_file = file_densities(held) if density is None else None
    from_file = from_file if from_file is not None and _covers(read, from_file) else None
    known = density is not None or from_file is not None
    materials, of = _materials(read, density, from_file, unit)
    model = SolidModel(read, materials, of, "stress" if plane else None, 1.0)
    if held.masses() and known:
        _refuse_mixed(held, plane, mixed=density is not None and unit != 1.0)
        model = with_file_masses(model, held, unit=unit)
    inertia = solid_inertia(model, np.zeros((model.size, 0)))
    qualities = [_quality(read, b) for b in read.blocks]
    block = int(np.argmin([q.min() for q in qualities]))
    return MeshReport(
        dim=read.dim,
        cells=_counts(given),
        points=len(read.points),
        size=(read.points.min(axis=0), read.points.max(axis=0)),
        measure=float(model.weights.sum()),
        mass=inertia.mass if known else None,
        centre=inertia.centre,
        inertia=contract(inertia, about_centre=True).J if known else None,
        quality=float(qualities[block].min()),
        worst=(read.blocks[block].kind.name, int(np.argmin(qualities[block]))),
        regions=tuple(_region(model, name) for name in read.sets),
        mass_unit="kg" if density is not None or unit == 1.0 else "units of mass of the file",
        notes=(
            *sized,
            *held.notes,
            *element_notes(held),
            *law_notes(held),
            *unread_notes(held),
            *_units(held, request),
            *_shell_notes(held, flat, unit),
            *refused,
        ),
        ports=held.ports,
    )


def _shell_notes(held: MeshContents, plane: PlaneAxes, unit: float) -> list[str]:
    """Notes on the plane in which the shells of a file lie, and on their thickness and material."""
    notes = []
    if not plane.is_plain:
        normal, origin = vector(plane.axes[:, 2]), vector(plane.origin)
        notes.append(f"plane through {origin} m with the normal {normal}: lengths and regions are in axes of it")
    for name, shell in held.shells.items():
        refused = shell.offset or (shell.words() if shell.why else "")
        said = f"fem.plate refuses them: {refused}" if refused else f"{1e3 * unit * shell.thickness:.6g} mm thick"
        notes.append(f"shells of {name!r}: {said}")
    return notes


def _units(held: MeshContents, request: MeshRequest) -> list[str]:
    """Notes on the units of a file, unless the request has a unit, and a line for each coupling of the file."""
    return [*(unit_notes(held) if request.unit is None else []), *(c.words() for c in held.couplings.values())]


def _constraint_notes(held: MeshContents) -> list[str]:
    """Notes on constraints of the file that change the stiffness of the body and are left out of the report."""
    parts = [part.words() for part in held.left_out if part.changes == "stiffness"]
    return [f"left out here, and refused by fem.solid: {'; '.join(shortened(parts))}"] if parts else []


def _piece_notes(mesh: SolidMesh) -> list[str]:
    """A note for a mesh of several separate pieces, which :func:`fem.solid` refuses; no note for one piece."""
    try:
        refuse_pieces(mesh)
    except ValueError as error:
        return [f"fem.solid refuses this mesh: {error}"]
    return []


def _refuse_mixed(held: MeshContents, plane: bool, *, mixed: bool) -> None:
    """Raise ValueError if a report cannot include the masses of a file.

    That is so for a ``plane`` mesh, whose mass is per thickness, and if ``mixed``: the masses are in units of the file,
    but the given density is in kg/m³.
    """
    names = ", ".join(f"{mass.name} ({mass.place})" for mass in held.masses())
    if plane:
        raise ValueError(
            f"a plane mesh must have no masses, as its mass is per thickness, got {names}: omit them by omit="
        )
    if mixed:
        raise ValueError(f"density must not be given if unit is not 1 and the file has masses, got {names}")


def _covers(mesh: SolidMesh, names: Iterable[str]) -> bool:
    """True if the regions of cells ``names`` together contain every cell of the mesh exactly once."""
    cells = [mesh.numbered(mesh.sets[name].cells) for name in names if name in mesh.sets]
    return np.array_equal(np.sort(np.concatenate(cells)), np.arange(mesh.starts[-1])) if cells else False


def _materials(
    mesh: SolidMesh, density: float | None, own: dict[str, float] | None, unit: float
) -> tuple[Mapping[str, Elastic], Array]:
    """Materials by region for the mass of a report, and the index (cells,) of the material of each cell.

    Densities are ``own``, those of the file by region, if it is given; otherwise all cells have ``density``, or one if
    that is None, too. ``unit`` [m] is the unit of length of the file. Elastic constants are placeholders.
    """
    make = lambda rho: Material(young=1.0, density=rho, poisson=0.0)  # noqa: E731
    if own is None:
        one = 1.0 if density is None else check.positive("density", density, "kg/m³")
        return {"": make(one)}, np.zeros(int(mesh.starts[-1]), dtype=int)
    model = solid_model(
        mesh,
        {region: make(rho / unit**3) for region, rho in own.items()},
        plane="stress" if mesh.dim == 2 else None,
        thickness=1.0 if mesh.dim == 2 else None,
    )
    return model.materials, model.material_of


def _counts(given: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for block in given.cells:
        counts[block.type] = counts.get(block.type, 0) + len(block.data)
    return counts


def _quality(mesh: SolidMesh, block: Block) -> Array:
    kind = block.kind
    rules = [table(kind.name, order)[1] for order in {kind.stress, kind.mass}]
    slopes = np.concatenate([*rules, corner_slopes(kind.name)], axis=2)
    volume = np.linalg.det(jacobians(mesh.points, block, slopes)).min(axis=1)
    edges = np.array(EDGES[kind.shape])
    at = mesh.points[block.nodes]
    length = np.sqrt(np.mean(np.sum((at[:, edges[:, 0]] - at[:, edges[:, 1]]) ** 2, axis=2), axis=1))
    return volume / (IDEAL[kind.shape] * length**kind.dim)


def _region(model: SolidModel, name: str) -> RegionReport:
    try:
        r = region(model.mesh, "report", name)
    except ValueError:
        kind = "of mixed dimensions" if len(model.mesh.sets[name].cells) else "nothing of the body"
        return RegionReport(name, kind, 0, 0, 0.0)
    if r.kind == "volume":
        numbers = model.mesh.numbered(r.cells)
        measure = float(np.bincount(model.cell_of_point, model.weights)[numbers].sum())
        return RegionReport(name, r.kind, len(r.cells), len(r.nodes), measure)
    if r.kind == "surface":
        measure = float(sum(area.sum() for _, _, area, _, _ in facet_samples(model, r.facets)))
        return RegionReport(name, r.kind, len(r.facets), len(r.nodes), measure)
    return RegionReport(name, r.kind, len(r.nodes), len(r.nodes), 0.0)


def values(report: MeshReport) -> dict[str, Any]:
    """Contents of a report as numbers, strings and lists, by name; None if unknown, as the mass without a density."""
    kept = asdict(report)
    low, high = kept.pop("size")
    cell, number = kept.pop("worst")
    ports = [port_values(port) for port in report.ports]
    return {**kept, "low": low, "high": high, "worst": {"cell": cell, "number": number}, "ports": ports}


def words(report: MeshReport) -> str:
    """Lines of text that show a report on a mesh."""
    space = report.dim == 3
    low, high = report.size
    lines = [
        f"a {'solid' if space else 'plane body'} of {report.points} points",
        "cells: " + ", ".join(f"{count} {name}" for name, count in report.cells.items()),
        f"extent: from {vector(low)} to {vector(high)} m",
        f"{'volume' if space else 'area'}: {report.measure:.6g} {'m³' if space else 'm²'}",
        *_mass_lines(report),
        f"worst cell: {report.worst[0]} {report.worst[1]}, quality {report.quality:.3g} (1 is the best)",
    ]
    unit = {"volume": "m³" if space else "m²", "surface": "m²" if space else "m"}
    what = {"volume": "cells", "surface": "facets", "nodes": "nodes"}
    for r in report.regions:
        size = f", {r.measure:.6g} {unit[r.kind]}" if r.kind in unit else ""
        use = {
            "volume": "a material, or a load",
            "surface": f"a port (of {r.nodes} nodes), or a load",
            "nodes": "a port",
        }
        port = f"; {use[r.kind]}" if r.count else ""
        lines.append(f"region {r.name!r}: {r.count} {what.get(r.kind, r.kind)}{size}{port}")
    lines += [port_words(port_values(port)) for port in report.ports if port.kind != "plane"]
    if not report.regions:
        lines.append("no named regions: use functions of x as ports")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _mass_lines(report: MeshReport) -> list[str]:
    """Lines of text on mass, centre and inertia, or on the centre alone without a density."""
    if report.mass is None or report.inertia is None:
        return [
            "mass: no density is known; --density gives mass and inertia",
            f"centre of {'volume' if report.dim == 3 else 'area'}: {vector(report.centre)} m",
        ]
    plane, unit = report.dim == 2, report.mass_unit
    per, names = (" per thickness", "zz") if plane else ("", "xx, yy, zz, yz, xz, xy")
    inertia = report.inertia[0] if plane else report.inertia[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
    short = unit if unit == "kg" else f"({unit})"
    return [
        f"mass{per}: {report.mass:.6g} {unit}{'/m' if plane else ''}",
        f"centre of mass: {vector(report.centre)} m",
        f"inertia about it{per}, {names}: {vector(inertia)} {short} {'m' if plane else 'm²'}",
    ]
