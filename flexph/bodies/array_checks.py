"""Checks of bodies read from files: matching shapes, finite numbers, indices in range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..files.stored_fields import indices, whole_number
from ..numerics import checks as check
from ..numerics.rotations import spins
from .body import Body, LoadPort
from .fields import RESULTANTS, NodeValues, SectionMap, SectionStress, TensorField, View
from .inertia import Inertia

Entry = tuple[Any, ...]
"""Name of an array or matrix, its value, and its required shape; None is any length."""
COMPONENTS = 6


def refuse_sizes(name: str, matrix: Any, most: int) -> None:
    """Raise OSError unless the value is a matrix with at most ``most`` rows and columns."""
    if len(matrix.shape) != 2 or max(matrix.shape) > most:
        raise OSError(f"{name} has shape {matrix.shape}, expected a matrix of at most {most} rows and columns")


def checked_body(body: Body) -> Body:
    """Copy of a body from a file, with node and cell numbers as integers.

    Raises OSError for arrays with wrong shapes, with NaN or infinity, or with numbers out of range.
    """
    if body.dim not in (2, 3):
        raise OSError(f"first has shape {body.inertia.first.shape}, expected two or three coordinates")
    for name, value, shape in _entries(body):
        _refuse(name, value, shape)
    for load in body.buckling:
        check.positive("critical", load.critical)
    if body.stiffening is not None:
        check.positive("length", body.stiffening.length)
        if body.stiffening.critical is not None:
            check.positive("critical", body.stiffening.critical)
    return body if body.view is None else replace(body, view=_indexed(body.view))


def _refuse(name: str, value: Any, shape: tuple[int | None, ...]) -> None:
    """Raise OSError unless a value has the required shape and is finite."""
    given = value.shape
    if len(given) != len(shape) or any(want not in (None, have) for have, want in zip(given, shape, strict=True)):
        raise OSError(f"{name} has shape {given}, expected {shape}")
    if not np.all(np.isfinite(value.data if sparse.issparse(value) else value)):
        raise OSError(f"{name} contains NaN or infinity")


def _entries(body: Body) -> Iterator[Entry]:
    """Yield all arrays and matrices of a body, each as its name, its value and the shape that it must have."""
    d, n, m = body.dim, body.size, body.stress_size
    s = spins(d)
    yield from _of_inertia(body.inertia, n)
    if body.elasticity is not None:
        e, g = body.elasticity, body.elasticity.slopes.shape[0]
        yield from (("compliance", e.compliance, (m, m)), ("strain", e.strain, (m, n)))
        yield from (("slopes", e.slopes, (g, n)), ("weights", e.weights, (m, g)))
    for name, port in body.ports.items():
        yield from ((f"port {name!r}", port.position, (d,)), (f"shape of port {name!r}", port.shape, (d, n)))
        yield from _optional(f"rotation of port {name!r}", port.rotation, (s, n))
    for name, load in body.loads.items():
        yield from ((f"{entry} of load {name!r}", *rest) for entry, *rest in _of_load(load, d, n))
    yield from _optional("section_rotation", body.section_rotation, (None, n))
    for name, section in body.sections.items():
        yield from ((f"{entry} of section {name!r}", *rest) for entry, *rest in _of_section(section, d, n, m))
    for i, buckling in enumerate(body.buckling):
        yield f"rows of buckling load {i}", buckling.rows, (len(buckling.weights), m)
        yield f"weights of buckling load {i}", buckling.weights, (None,)
    if body.stiffening is not None:
        yield "weights of the axial force", body.stiffening.weights, (None,)
        yield "rows of the axial force", body.stiffening.rows, (len(body.stiffening.weights), m)
        yield "rigidities", body.stiffening.rigidities, (s,)
    if body.view is not None:
        yield from _of_view(body.view, d, n, m)


def _optional(name: str, value: Any, shape: tuple[int | None, ...]) -> Iterator[Entry]:
    if value is not None:
        yield name, value, shape


def _of_load(load: LoadPort, d: int, n: int) -> Iterator[Entry]:
    k = len(load.measures)
    yield from (("positions", load.positions, (k, d)), ("shapes", load.shapes, (k * d, n)))
    yield "measures", load.measures, (k,)
    yield from _optional("normals", load.normals, (k, d))


def _of_section(section: SectionMap, d: int, n: int, m: int) -> Iterator[Entry]:
    g, both = section.slopes.shape[0], d + spins(d)
    yield from (("position", section.position, (d,)), ("normal", section.normal, (d,)))
    yield from (("nodal", section.nodal, (both, m)), ("lever", section.lever, (g, both)))
    yield from (("slopes", section.slopes, (g, n)), ("weights", section.weights, (m, g)))
    yield from _optional("traction", section.traction, (both, m))


def _of_inertia(inertia: Inertia, n: int) -> Iterator[Entry]:
    d = inertia.dim
    yield from (("first", inertia.first, (d,)), ("shape_first", inertia.shape_first, (d, n)))
    if len(inertia.shape_pair) != d or any(len(row) != d for row in inertia.shape_pair):
        raise OSError(f"shape_pair must have {d} x {d} forms")
    yield from ((f"shape_pair {i}, {j}", inertia.shape_pair[i][j], (n, n)) for i in range(d) for j in range(d))
    yield "spin_pair", inertia.spin_pair, (n, n)


def _of_view(view: View, d: int, n: int, m: int) -> Iterator[Entry]:
    yield from (("points", view.points, (None, d)), ("cells", view.cells, (None, None)))
    yield "shape", view.shape, (len(view.points) * d, n)
    yield "heights", view.heights, (len(view.points) if view.heights.size else 0,)
    if view.sweep is not None:
        yield "outline", view.sweep.outline, (None, 2)
        yield "rotation of the sections", view.sweep.rotation, (len(view.points) * spins(d), n)
    if view.sections is not None:
        yield from ((f"{entry} of the sections", *rest) for entry, *rest in _of_sections(view.sections, view, d, m))
    for name, field in view.stresses.items():
        yield f"stress {name!r}", field.cells, (len(view.cells), m)
        yield f"compliance of {name!r}", field.compliance, (len(view.cells) if field.compliance.size else 0,)
    for name, tensor in view.tensors.items():
        yield from ((f"{entry} of tensor {name!r}", *rest) for entry, *rest in _of_tensor(tensor, view, d, m))


def _of_sections(sections: SectionStress, view: View, d: int, m: int) -> Iterator[Entry]:
    s, kinds = len(sections.cell), 1 if len(sections.factors) == 1 else len(sections.cell)
    yield from (("resultants", sections.resultants, (s * RESULTANTS, m)), ("positions", sections.positions, (s, d)))
    yield from (("factors", sections.factors, (kinds, None, 3, RESULTANTS)), ("round", sections.round, (kinds,)))
    yield from (("corners", sections.corners, (kinds, None, RESULTANTS)), ("cell", sections.cell, (s,)))
    yield from (("ring", sections.ring, (s,)), ("drawn", sections.drawn, (len(view.cells),)))


def _of_tensor(field: TensorField, view: View, d: int, m: int) -> Iterator[Entry]:
    c, p, g = len(view.cells), len(field.weights), field.spread.shape[1]
    yield from (("cells", field.cells, (c * COMPONENTS, m)), ("at", field.at, (p * COMPONENTS, m)))
    yield from (("nodal", field.nodal, (g * COMPONENTS, m)), ("spread", field.spread, (p, g)))
    yield from (("positions", field.positions, (p, d)), ("weights", field.weights, (p,)), ("cell", field.cell, (p,)))
    yield from (("drawn", field.drawn, (c,)), ("material", field.material, (p,)))
    yield "compliances", field.compliances, (None, COMPONENTS, COMPONENTS)
    for group in field.nodes:
        k, q = len(group.corners), group.own.shape[-1]
        yield from (("corners", group.corners, (k, None)), ("smooth", group.smooth, (None, group.corners.shape[-1])))
        yield "own", group.own, (len(group.smooth), q) if group.own.ndim == 2 else (k, len(group.smooth), q)


def _indexed(view: View) -> View:
    """Copy of a view with its node and cell numbers as integers; raises OSError for numbers out of range."""
    return replace(
        view,
        cells=indices("cells", view.cells, len(view.points)),
        tensors={name: _indexed_tensor(f) for name, f in view.tensors.items()},
        sections=view.sections and _indexed_sections(view.sections),
    )


def _indexed_sections(sections: SectionStress) -> SectionStress:
    cell = _ascending(sections.cell, len(sections.cell))
    return replace(
        sections,
        cell=cell,
        ring=indices("ring", sections.ring, len(sections.ring)),
        drawn=indices("drawn", sections.drawn, int(cell.max(initial=-1)) + 1),
    )


def _ascending(cell: Any, count: int) -> Any:
    numbers = indices("cell", cell, count)
    if np.any(np.diff(numbers) < 0):
        raise OSError("cell does not ascend, but points must be sorted by cell")
    return numbers


def _indexed_tensor(field: TensorField) -> TensorField:
    p, g = len(field.weights), field.spread.shape[1]
    cell = _ascending(field.cell, p)
    return replace(
        field,
        drawn=indices("drawn", field.drawn, int(cell.max(initial=-1)) + 1),
        cell=cell,
        material=indices("material", field.material, max(len(field.compliances), 1)),
        nodes=tuple(_indexed_nodes(group, p, g) for group in field.nodes),
    )


def _indexed_nodes(group: NodeValues, points: int, corners: int) -> NodeValues:
    whole_number(group.first, 0)
    if group.first + len(group.corners) * group.own.shape[-1] > points:
        raise OSError(f"nodes refer to more than {points} points")
    return replace(group, corners=indices("corners", group.corners, corners))
