"""Meshes of meshio and scikit-fem converted to meshes of solids: checked cells, named regions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import meshio
import numpy as np
import skfem
from skfem.io.meshio import to_meshio

from flexph.meshes.cell_types import TYPE, dimension, nodes_of, refuse_unknown
from flexph.meshes.files.reading import Source, read
from flexph.meshes.groups import Members, cell_groups, point_groups
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed

from .cells import CELLS
from .mesh_checks import refuse_hanging, refuse_overlaps, refuse_pieces
from .solid_mesh import Block, NamedSet, SolidMesh, with_positive_volumes

FLAT = 1e-9
"""Spread of z, relative to that of x and y, up to which a mesh is plane."""


def solid_mesh(mesh: Source | skfem.Mesh, *, plane: bool, degree: int | None, one_piece: bool = True) -> SolidMesh:
    """Mesh of solid or plane cells, with all named regions, from a mesh of meshio or scikit-fem.

    Its cells are those of highest dimension. If ``plane``, they are triangles and quadrilaterals in the x-y plane.
    ``degree`` 2 adds nodes on the edges of cells of degree 1; None keeps the degree of the mesh. If ``one_piece``, a
    mesh of several pieces is refused. Raises ValueError for this and for the other reasons that :func:`fem.solid`
    lists.
    """
    if degree not in (None, 1, 2):
        raise ValueError(f"degree must be 1 or 2, got {degree!r}")
    given, named = of_skfem(mesh) if isinstance(mesh, skfem.Mesh) else (read(mesh), {})
    parts = _parts(given)
    chosen = _chosen(parts, plane)
    used = np.unique(np.concatenate([nodes.ravel() for _, nodes in chosen]))
    points = _points(given.points, plane, used)
    _refuse_degree([name for name, _ in chosen], degree)
    _refuse_faces([name for name, _ in chosen])
    fresh = np.full(len(points) + 1, -1)
    fresh[used] = np.arange(len(used))
    blocks = tuple(Block(CELLS[name], fresh[nodes]) for name, nodes in chosen)
    blocks = with_positive_volumes(points[used], blocks, each=isinstance(mesh, skfem.Mesh))
    sets = {name: renumbered(s, fresh) for name, s in {**meshio_sets(given, parts, chosen), **named}.items()}
    mesh_read = SolidMesh(points[used], blocks, sets, used)
    refuse_twins(mesh_read)
    refuse_overlaps(mesh_read)
    _refuse_loose(mesh_read, [(name, fresh[nodes]) for name, nodes in parts])
    refuse_hanging(mesh_read)
    if one_piece:
        refuse_pieces(mesh_read)
    return mesh_read.of_degree_two() if degree == 2 and mesh_read.degree == 1 else mesh_read


def _parts(given: meshio.Mesh) -> list[Part]:
    """Blocks of a meshio mesh as pairs (type, nodes); raises ValueError for a type that is not supported."""
    refuse_unknown((block.type, block.data) for block in given.cells)
    return [(block.type, nodes_of(block.type, block.data, len(given.points))) for block in given.cells]


def _points(given: Any, plane: bool, used: Array) -> Array:
    """Points of a mesh (N, d) [m]; for a ``plane`` body d = 2.

    ``used`` are the points of its cells. Raises ValueError if those of a plane body do not lie in a plane z = constant.
    """
    lost = np.flatnonzero(~np.isfinite(np.asarray(given, dtype=float)).all(axis=-1))
    if lost.size:
        raise ValueError(f"points of the mesh must be finite, got NaN or infinity in points {listed(lost)}")
    points = check.array("points of the mesh", given, (None, None))
    if not plane:
        if points.shape[1] != 3:
            raise ValueError(f"mesh must have points of space (N, 3), got {points.shape}; plane= makes a plane body")
        return points
    chosen = points[used]
    if chosen.shape[1] == 3 and len(chosen) and np.ptp(chosen[:, 2]) > FLAT * np.ptp(chosen[:, :2]):
        raise ValueError(
            f"mesh must lie in a plane z = constant for a plane body, z goes from {chosen[:, 2].min():.6g} to "
            f"{chosen[:, 2].max():.6g} m"
        )
    return points[:, :2]


def _chosen(parts: Iterable[Part], plane: bool) -> list[Part]:
    """Blocks of the cells of a body, one for each cell type.

    They are the cells of highest dimension of the mesh. Raises ValueError if that is not the dimension of the body, or
    if a cell type is not supported.
    """
    held = [(name, nodes) for name, nodes in parts if len(nodes)]
    words = ", ".join(dict.fromkeys(name for name, _ in held)) or "no cells"
    top = max((dimension(name) for name, _ in held), default=0)
    if plane and top > 2:
        raise ValueError(f"mesh must have surface cells only for a plane body, mixed dimensions: got {words}")
    if top < (2 if plane else 3):
        hint = "; plane='stress' or plane='strain' makes a plane body of surface cells" if top == 2 else ""
        raise ValueError(f"mesh must have {'surface' if plane else 'volume'} cells, got {words}{hint}")
    nodes_by_kind: dict[str, list[Array]] = {}
    for name, nodes in held:
        if dimension(name) == top:
            nodes_by_kind.setdefault(name, []).append(nodes)
    known = [c.name for c in CELLS.values() if c.dim == top]
    refuse_unknown(held, known, dim=top)
    return [(name, np.vstack(nodes)) for name, nodes in nodes_by_kind.items()]


def _refuse_degree(names: list[str], degree: int | None) -> None:
    degrees = {name: CELLS[name].degree for name in names}
    if len(set(degrees.values())) > 1:
        raise ValueError(f"mesh must have cells of one degree, got {', '.join(names)}")
    have = next(iter(degrees.values()))
    if degree is not None and have > degree:
        raise ValueError(
            f"degree must be {have} for a mesh of second-order cells ({', '.join(names)}), got {degree}; save the mesh "
            "with first-order cells for degree 1"
        )


def _refuse_faces(names: list[str]) -> None:
    """Raise ValueError if cells with and without nodes in the middle of quadrilateral faces are mixed.

    ``names`` are the types of all cells.
    """
    if "hexahedron27" in names and set(names) & {"hexahedron20", "wedge15", "pyramid13"}:
        others = ", ".join(name for name in names if name not in ("hexahedron27", "tetra10"))
        raise ValueError(
            f"mesh must have hexahedra of 20 nodes with {others}: those of 27 have nodes in the middle of their faces"
        )


def refuse_twins(mesh: SolidMesh) -> None:
    """Raise ValueError, with their numbers, for cells that occur twice or have a node twice."""
    for block in mesh.blocks:
        degenerate = np.flatnonzero((np.diff(np.sort(block.nodes, axis=1), axis=1) == 0).any(axis=1))
        if degenerate.size:
            raise ValueError(
                f"mesh must have no degenerate cells, got {block.kind.name} cells with a node twice: "
                f"{listed(degenerate)}; give collapsed hexahedra as wedges, pyramids or tetrahedra, "
                "collapsed quadrilaterals as triangles"
            )
        _, first, count = np.unique(np.sort(block.nodes, axis=1), axis=0, return_index=True, return_counts=True)
        if np.any(count > 1):
            twins = listed(np.sort(first[count > 1]))
            raise ValueError(f"mesh must have no duplicate cells, got {block.kind.name} cells of equal nodes: {twins}")


def _refuse_loose(mesh: SolidMesh, parts: Iterable[Part]) -> None:
    """Raise ValueError for surface cells, in the plane lines, that are no facets of the body.

    Such cells would be lost.
    """
    before: dict[str, int] = {}
    for name, nodes in parts:
        start = before.setdefault(name, 0)
        before[name] += len(nodes)
        if dimension(name) != mesh.dim - 1 or not len(nodes):
            continue
        surface_corners = sorted_corners(facet_corners(nodes, name))
        keys, number = np.unique(np.vstack([mesh.facets.corners, surface_corners]), axis=0, return_inverse=True)
        known = np.zeros(len(keys), dtype=bool)
        known[number.ravel()[: len(mesh.facets.corners)]] = True
        loose = np.flatnonzero(~known[number.ravel()[len(mesh.facets.corners) :]])
        if loose.size:
            kinds = ", ".join(block.kind.name for block in mesh.blocks)
            raise ValueError(
                f"mesh must have cells of one dimension, and others on their facets only, got mixed dimensions: {name} "
                f"cells that are no facets of {kinds} cells: {listed(start + loose)}"
            )


Part = tuple[str, Array]
"""A cell type and the nodes of its cells."""


def meshio_sets(given: meshio.Mesh, parts: list[Part], chosen: list[Part]) -> dict[str, NamedSet]:
    """Named sets of a meshio mesh, by name, from its groups of cells and its groups of nodes.

    A group of nodes is left out if a group of cells has the same name.
    """
    named = {name: _cell_set(members, parts, chosen) for name, members in cell_groups(given).items()}
    for name, numbers in point_groups(given).items():
        named.setdefault(name, NamedSet(_pairs([], 2), _pairs([], 4), numbers))
    return named


def _pairs(rows: list[Array], width: int) -> Array:
    return np.vstack([np.zeros((0, width), dtype=int), *rows])


def _cell_set(members: Members, parts: list[Part], chosen: list[Part]) -> NamedSet:
    """Named set of a mesh from the numbers of its members, by the index of their block in ``parts``.

    Members are cells in blocks of the body's dimension, facets in blocks one dimension lower, and nodes in all other
    blocks. ``chosen`` are the blocks of the body.
    """
    top = dimension(chosen[0][0])
    cells, facets, nodes = [], [], [np.zeros(0, dtype=int)]
    order = [kind for kind, _ in chosen]
    for b, index in members.items():
        kind, data = parts[b]
        if dimension(kind) == top:
            before = sum(len(d) for k, d in parts[:b] if k == kind)
            cells.append(np.column_stack([np.full(len(index), order.index(kind)), before + index]))
        elif dimension(kind) == top - 1:
            facets.append(facet_corners(data[index], kind))
        else:
            nodes.append(np.unique(data[index]))
    return NamedSet(_pairs(cells, 2), _pairs(facets, 4), np.unique(np.concatenate(nodes)))


def facet_corners(data: Array, kind: str) -> Array:
    """Corners (k, 4) of facets from their nodes, padded by −1 for lines and triangles."""
    match = TYPE.fullmatch(kind)
    assert match is not None
    count = {"line": 2, "triangle": 3, "quad": 4}[match[1]]
    return np.pad(data[:, :count], [(0, 0), (0, 4 - count)], constant_values=-1)


def renumbered(given: NamedSet, fresh: Array) -> NamedSet:
    """Copy of a named set with each node number i replaced by ``fresh[i]``.

    ``fresh`` are the numbers among the nodes in use. It is −1 for other nodes, which are left out, and for the padding
    of facets.
    """
    nodes = fresh[given.nodes]
    return NamedSet(given.cells, sorted_corners(fresh[given.facets]), nodes[nodes >= 0])


def sorted_corners(facets: Array) -> Array:
    """Corners (k, 4) of facets in ascending order, with the padding −1 at the end."""
    last = np.iinfo(facets.dtype).max
    corners = np.sort(np.where(facets < 0, last, facets), axis=1)
    return np.where(corners == last, -1, corners)


def of_skfem(mesh: skfem.Mesh) -> tuple[meshio.Mesh, dict[str, NamedSet]]:
    """Mesh of scikit-fem as a meshio mesh, and its boundaries and subdomains as named sets."""
    converted = to_meshio(mesh)
    plain = meshio.Mesh(converted.points, converted.cells)
    named = {}
    for name, cells in (mesh.subdomains or {}).items():
        numbers = np.asarray(cells, dtype=int)
        rows = np.column_stack([np.zeros(len(numbers), dtype=int), numbers])
        named[name] = NamedSet(rows, _pairs([], 4), np.zeros(0, dtype=int))
    for name, facets in (mesh.boundaries or {}).items():
        corners = mesh.facets[:, np.asarray(facets, dtype=int)].T
        padded = np.pad(corners, [(0, 0), (0, 4 - corners.shape[1])], constant_values=-1)
        named[name] = NamedSet(_pairs([], 2), padded.astype(int), np.zeros(0, dtype=int))
    return plain, named
