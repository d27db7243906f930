"""What a mesh holds: cells, regions, mass and inertia, quality, and what could become a port."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph import checks as check
from flexph.inertia import contract
from flexph.mesh_files import DIMENSION, Source, dimension, read
from flexph.space import Array

from .cells import EDGES, corner_slopes, table
from .mesh_reading import solid_mesh
from .region_samples import facet_samples
from .regions import region
from .section import Material
from .solid_mesh import Block, SolidMesh, jacobians
from .solid_model import SolidModel

IDEAL = {"triangle": np.sqrt(0.75), "quad": 1.0, "tetra": np.sqrt(0.5), "hexahedron": 1.0}
"""Jacobian of a cell with edges of length one."""


@dataclass(frozen=True)
class RegionReport:
    """A named region: ``volume``, ``surface`` (in the plane area and edge) or ``nodes``, how many, its measure."""

    name: str
    kind: str
    count: int
    nodes: int
    measure: float


@dataclass(frozen=True)
class MeshReport:
    """A mesh as a body of density ρ; the measure is the volume, or the area [m²] of a plane mesh (of unit thickness).

    ``inertia`` (s, s) about the centre of mass; ``quality`` the worst cell's: the least Jacobian over that of an ideal
    cell with the same mean square of edge lengths, 1 at best; ``worst`` its type and number.
    """

    dim: int
    cells: dict[str, int]
    points: int
    size: tuple[Array, Array]
    measure: float
    mass: float
    centre: Array
    inertia: Array
    quality: float
    worst: tuple[str, int]
    regions: tuple[RegionReport, ...]


def mesh_report(mesh: Source, density: float = 1.0, *, unit: float = 1.0) -> MeshReport:
    """What a mesh holds whose coordinates count in ``unit`` [m].

    Raises ValueError where :func:`fem.solid` refuses it, but for the regions.
    """
    check.positive("density", density, "kg/m³")
    given = copy(read(mesh))
    given.points = check.positive("unit", unit, "m") * np.asarray(given.points)
    plane = max((dimension(b.type) for b in given.cells if len(b.data)), default=0) == DIMENSION["quad"]
    found = solid_mesh(given, plane=plane, degree=None)
    material = Material(young=1.0, density=density, poisson=0.0)
    of = np.zeros(int(found.starts[-1]), dtype=int)
    model = SolidModel(found, {"": material}, of, "stress" if plane else None, 1.0)
    inertia = model.inertia(np.zeros((model.size, 0)))
    qualities = [_quality(found, b) for b in found.blocks]
    block = int(np.argmin([q.min() for q in qualities]))
    return MeshReport(
        dim=found.dim,
        cells=_counts(given),
        points=len(found.points),
        size=(found.points.min(axis=0), found.points.max(axis=0)),
        measure=inertia.mass / density,
        mass=inertia.mass,
        centre=inertia.centre,
        inertia=contract(inertia, about_centre=True).J,
        quality=float(qualities[block].min()),
        worst=(found.blocks[block].kind.name, int(np.argmin(qualities[block]))),
        regions=tuple(_region(model, name) for name in found.sets),
    )


def _counts(given: Any) -> dict[str, int]:
    made: dict[str, int] = {}
    for block in given.cells:
        made[block.type] = made.get(block.type, 0) + len(block.data)
    return made


def _quality(mesh: SolidMesh, block: Block) -> Array:
    kind = block.kind
    rules = [table(kind.name, order)[1] for order in {kind.stress, kind.mass}]
    slopes = np.concatenate([*rules, corner_slopes(kind.name)], axis=2)
    volume = np.linalg.det(jacobians(mesh.points, block, slopes)).min(axis=1)
    edges = np.array(EDGES[kind.shape])
    at = mesh.points[block.nodes]
    length = np.sqrt(np.mean(np.sum((at[:, edges[:, 0]] - at[:, edges[:, 1]]) ** 2, axis=2), axis=1))
    made: Array = volume / (IDEAL[kind.shape] * length**kind.dim)
    return made


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


def words(report: MeshReport) -> str:
    """The report as lines of text."""
    vector = lambda v: "(" + ", ".join(f"{x:.6g}" for x in np.atleast_1d(v)) + ")"  # noqa: E731
    space, plane = report.dim == 3, report.dim == 2
    low, high = report.size
    lines = [
        f"a {'solid' if space else 'plane body'} of {report.points} points",
        "cells: " + ", ".join(f"{count} {name}" for name, count in report.cells.items()),
        f"extent: from {vector(low)} to {vector(high)} m",
        f"{'volume' if space else 'area'}: {report.measure:.6g} {'m³' if space else 'm²'}",
        f"mass{' per thickness' if plane else ''}: {report.mass:.6g} {'kg' if space else 'kg/m'}",
        f"centre of mass: {vector(report.centre)} m",
        f"inertia about it{' per thickness' if plane else ''}, {'xx, yy, zz, yz, xz, xy' if space else 'zz'}: "
        + vector(report.inertia[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]] if space else report.inertia[0])
        + (" kg m²" if space else " kg m"),
        f"worst cell: {report.worst[0]} {report.worst[1]}, quality {report.quality:.3g} (1 is the best)",
    ]
    unit = {"volume": "m³" if space else "m²", "surface": "m²" if space else "m"}
    what = {"volume": "cells", "surface": "facets", "nodes": "nodes"}
    for r in report.regions:
        size = f", {r.measure:.6g} {unit[r.kind]}" if r.kind in unit else ""
        port = f"; a port (of {r.nodes} nodes), or a load" if r.kind in unit else "; a port" if r.count else ""
        lines.append(f"region {r.name!r}: {r.count} {what.get(r.kind, r.kind)}{size}{port}")
    if not report.regions:
        lines.append("no named regions: take functions of x as ports")
    return "\n".join(lines)
