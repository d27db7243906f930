"""Distributed loads on solids: traction on facets, force per volume in cells, and follower loads on faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from scipy import sparse

from flexph.bodies.body import FaceSamples, LoadPort
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, rows_at

from ..meshes.cells import table
from ..meshes.regions import Region, region
from ..meshes.solid_mesh import facet_groups
from .model import SolidModel
from .region_samples import facet_samples
from .ties import Where

On = Literal["surface", "volume"]
Kind = TypeVar("Kind")


@checked
@dataclass(frozen=True, eq=False)
class Load:
    """A load on a region of a mesh: traction [N/m²] ``on="surface"``, force per volume [N/m³] ``on="volume"``.

    Load densities are exactly work-conjugate to the mean displacements of the loaded elements.

    Parameters
    ----------
    region : str, callable or sequence of int
        Facets or cells of the mesh, as in :class:`fem.Tie`.
    on : {"surface", "volume"}, optional
        Traction [N/m²] or force per volume [N/m³]; by default according to the region.
    uniform : bool
        True for one density on the whole region, with the input (1, d) or (d,); False for one on each facet or cell,
        (k, d), as a pressure requires if the normals of the region differ, unless it follows the deformed faces.
    along : array, optional
        (3,), for spatial faces that a load follows (``axes="face"`` of ``flexph.distributed_load``, finite strain):
        its first component acts along the image of this direction of the undeformed body, projected on the face. The
        default at each point is the body axis most nearly in the face, the first of equal ones.
    """

    region: Where
    on: On | None = None
    uniform: bool = True
    along: Sequence[float] | Array | None = None

    def __post_init__(self) -> None:
        if self.on is not None:
            check.choice("on", self.on, get_args(On))
        if self.along is not None:
            along = check.array("along", self.along, (3,))
            if not along.any():
                raise ValueError("along must not be zero")
            object.__setattr__(self, "along", tuple(along.tolist()))


def load_ports(make: Callable[..., Kind], model: Any, shapes: Any, loads: Any) -> dict[str, Kind]:
    """Load ports by name, made by ``make`` from the model, the shapes, and the name and region of each load.

    Raises ValueError unless ``loads`` is a mapping.
    """
    if not isinstance(loads, Mapping):
        raise ValueError(f"loads must map names to regions, got {type(loads).__name__}")
    return {name: make(model, shapes, name, given) for name, given in loads.items()}


def load_port(model: SolidModel, shapes: Any, name: str, given: Any) -> LoadPort:
    """Load port of a region of a solid in the coordinates u, with nodal displacements ``shapes @ u``.

    Raises ValueError if the region has no facets or cells to load.
    """
    values, measures, normals = loaded_elements(model, name, given)
    moved = sparse.kron(values, sparse.eye_array(model.dim)) @ shapes
    return LoadPort(values @ model.mesh.points, sparse.csr_array(moved), measures, normals)


def loaded_region(model: SolidModel, name: str, given: Any) -> tuple[Load, Region, bool]:
    """Load, region, and True if the load acts on the facets of the region, False if on its cells.

    ``given`` is the load or only its region. Raises ValueError if the region has no facets or cells to load.
    """
    load = given if isinstance(given, Load) else Load(given)
    loaded = region(model.mesh, f"load {name!r}", load.region)
    on = load.on or ("volume" if loaded.kind == "volume" else "surface")
    if not len(loaded.cells if on == "volume" else loaded.facets):
        raise ValueError(f"load {name!r} must be on a region with {'cells' if on == 'volume' else 'facets'}, got none")
    return load, loaded, on == "surface"


def loaded_elements(model: SolidModel, name: str, given: Any) -> tuple[Any, Array, Array | None]:
    """Mean shape functions of the k facets or cells of a load, sparse (k, N), their measures (k,) and normals (k, d).

    Normals are means over a facet, None for cells. A uniform load has a single element, k = 1. Raises ValueError if the
    region has no facets or cells to load.
    """
    load, loaded, on_facets = loaded_region(model, name, given)
    if not on_facets:
        owner, rows, weights = _of_cells(model, model.mesh.numbered(loaded.cells))
        directions = None
    else:
        owner, rows, weights, directions = _of_facets(model, loaded.facets)
    if load.uniform:
        owner = np.zeros_like(owner)
    measures = np.bincount(owner, weights)
    mean = sparse.coo_array((weights / measures[owner], (owner, np.arange(len(owner)))), (len(measures), len(owner)))
    normals = None if directions is None else np.asarray(mean @ directions)
    return sparse.csr_array(mean @ rows), measures, normals


def _of_cells(model: SolidModel, cells: Array) -> tuple[Array, Any, Array]:
    """Quadrature points in cells: index of the cell of each in ``cells``, shape functions (points, N), volumes."""
    owner, rows, weights = [], [], []
    for b, block in enumerate(model.mesh.blocks):
        points, numbers = model.mesh.at(b, block.kind.mass), model.mesh.starts[b] + np.arange(len(block.nodes))
        mine = np.flatnonzero(np.isin(numbers, cells))
        where = np.searchsorted(np.sort(cells), numbers[mine])
        weights.append(model.thickness * points.weights[mine].ravel())
        owner.append(np.repeat(where, points.shapes.shape[0]))
        rows.append(rows_at(points.shapes, block.nodes[mine], len(model.mesh.points)))
    return np.concatenate(owner), sparse.vstack(rows).tocsr(), np.concatenate(weights)


def _of_facets(model: SolidModel, places: Array) -> tuple[Array, Any, Array, Array]:
    """Quadrature points on facets: index of the facet of each, shape functions (points, N), areas, outward normals.

    ``places`` (k, 3) are (block, cell, facet number). Normals are (points, d).
    """
    owner, rows, weights, normals = [], [], [], []
    for nodes, shapes, area, pick, normal in facet_samples(model, places):
        normals.append(normal.reshape(-1, model.dim))
        weights.append(model.thickness * area.ravel())
        owner.append(np.repeat(pick, shapes.shape[0]))
        rows.append(rows_at(shapes, nodes, len(model.mesh.points)))
    return np.concatenate(owner), sparse.vstack(rows).tocsr(), np.concatenate(weights), np.vstack(normals)


PARALLEL = 1e-6
"""Sine of the angle between a direction and the normal of a face below which it defines no tangent."""


def face_samples(model: SolidModel, positions: Any, facets: Array, *, name: str, given: Any) -> FaceSamples:
    """Quadrature points of a load that follows the deformed facets of a body of finite strain.

    ``positions`` (N, k) gives the N mesh nodes from the k world vectors of the body's nodes. Quadrature is exact for
    the volume behind cells with straight edges. Raises ValueError if the direction of the load is along a normal.
    """
    rows: list[list[Any]] = [[], [], []]
    areas, element = [], []
    for kind, nodes, pick in facet_groups(model.mesh, facets):
        shapes, slopes, weights = table(kind.name, kind.mass)
        tangents = np.einsum("kni,njq->kqji", model.mesh.points[nodes], slopes)
        directions, area = _in_space(name, given.along, tangents) if model.dim == 3 else _in_plane(tangents)
        by_direction = np.einsum("njq,kqjc->ckqn", slopes, directions)
        for parts, values in zip(rows, (shapes.T, *by_direction), strict=False):
            parts.append(rows_at(values, nodes, len(model.mesh.points)))
        areas.append(model.thickness * (area * weights).ravel())
        element.append(np.repeat(np.zeros_like(pick) if given.uniform else pick, len(weights)))
    samples = np.concatenate(areas)
    none = sparse.csr_array((samples.size, positions.shape[0]))
    points, along, across = (sparse.csr_array((sparse.vstack(parts) if parts else none) @ positions) for parts in rows)
    return FaceSamples(points, along, across, samples, np.concatenate(element))


def _in_plane(tangents: Array) -> tuple[Array, Array]:
    """Derivatives ∂ξ/∂s (k, q, 1, 1) along the unit tangent of edges, and |∂X/∂ξ| (k, q); planar bodies.

    ``tangents`` are ∂X/∂ξ. The normal is the unit tangent turned by −90°.
    """
    size = np.linalg.norm(tangents[:, :, 0], axis=2)
    return (1.0 / size)[:, :, None, None], size


def _in_space(name: str, along: Any, tangents: Array) -> tuple[Array, Array]:
    """Derivatives ∂ξ_j/∂s_c (k, q, 2, 2) along two orthonormal tangents of faces, and the ratio of areas (k, q).

    The first tangent is along the direction ``along`` projected on the face. The ratio is |∂X/∂ξ₁ × ∂X/∂ξ₂|;
    ``tangents`` are ∂X/∂ξ. ``name`` is the load in messages.
    """
    normal = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    area = np.linalg.norm(normal, axis=2)
    normal = normal / area[:, :, None]
    wanted = _most_in_face(normal) if along is None else np.broadcast_to(np.asarray(along), normal.shape)
    first = wanted - np.einsum("kqi,kqi->kq", wanted, normal)[:, :, None] * normal
    size = np.linalg.norm(first, axis=2)
    if size.min() < PARALLEL * np.linalg.norm(wanted, axis=2).max():
        raise ValueError(f"load {name!r}: along must not be along a normal of its faces, got {tuple(along)}")
    first = first / size[:, :, None]
    both = np.stack([first, np.cross(normal, first)], axis=3)  # (k, q, i, c)
    return np.linalg.pinv(np.swapaxes(tangents, 2, 3)) @ both, area


def _most_in_face(normal: Array) -> Array:
    """Body axis (k, q, 3) that is most nearly perpendicular to each unit normal (k, q, 3); of equal ones the first."""
    axes: Array = np.eye(3)[np.argmin(np.round(np.abs(normal), 9), axis=2)]
    return axes
