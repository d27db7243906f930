"""Named regions of meshes of meshio and scikit-fem: groups of cells, of facets and of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import meshio
import numpy as np
import skfem
from skfem.io.meshio import to_meshio

from flexph.meshes.cell_types import TYPE, dimension
from flexph.numerics.arrays import Array

from .solid_mesh import NamedSet

NUMBERED = ("gmsh:physical", "cell_tags", "medit:ref", "nastran:ref", "avsucd:material", "su2:tag", "netgen:index")
"""Cell data of meshio with the group numbers of cells: gmsh, MED, Medit, Nastran, AVS-UCD, SU2, Netgen."""

KINDS = ("point", "line", "surface", "volume")

Part = tuple[str, Array]
"""A cell type and the nodes of its cells."""


def meshio_sets(given: meshio.Mesh, parts: list[Part], chosen: list[Part]) -> dict[str, NamedSet]:
    """Named sets of a meshio mesh, by name: numbered groups (gmsh: physical groups), cell sets and point sets."""
    members_by_name: dict[str, list[tuple[int, Array]]] = {}
    for key in NUMBERED:
        for b, tag, name in _numbered_groups(given, key, parts):
            members_by_name.setdefault(name, []).append((b, np.flatnonzero(given.cell_data[key][b] == tag)))
    for name, members in given.cell_sets.items():
        if name not in members_by_name and not name.startswith("gmsh:"):
            numbered = [(b, np.asarray(m, dtype=int)) for b, m in enumerate(members) if m is not None and len(m)]
            members_by_name[name] = numbered
    named = {name: _cell_set(members, parts, chosen) for name, members in members_by_name.items()}
    for name, nodes in {**given.point_sets, **_tagged_points(given)}.items():
        numbers = np.asarray(nodes)
        numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.astype(int)
        named.setdefault(name, NamedSet(_pairs([], 2), _pairs([], 4), numbers))
    return named


def _numbered_groups(given: meshio.Mesh, key: str, parts: list[Part]) -> list[tuple[int, int, str]]:
    """Block, number and name of each group of cells in ``cell_data[key]``; the number 0 is no group.

    A group without a name is named by its number, or ``volume 1``, ``surface 1`` if several dimensions use the number.
    """
    tags = given.cell_data.get(key, [])
    own = [(b, int(t)) for b, numbers in enumerate(tags) if len(numbers) for t in np.unique(numbers) if t]
    names = _names_of_tags(given, key)
    dim = [dimension(kind) for kind, _ in parts]
    bare = {(t, dim[b]) for b, t in own if not names(t, dim[b])}
    groups = []
    for b, t in own:
        alone = len([1 for tag, _ in bare if tag == t]) == 1
        groups += [(b, t, n) for n in names(t, dim[b]) or [str(t) if alone else f"{KINDS[dim[b]]} {t}"]]
    return groups


def _names_of_tags(given: meshio.Mesh, key: str) -> Callable[[int, int], list[str]]:
    """Function that returns the names of a group by number and dimension: from gmsh, from MED (several), or none."""
    if key == "gmsh:physical":
        known = {(int(tag), int(dim)): name for name, (tag, dim) in given.field_data.items()}
        return lambda tag, dim: [known[tag, dim]] if (tag, dim) in known else []
    families = getattr(given, "cell_tags", None) if key == "cell_tags" else None  # set by meshio's reader of MED only
    return lambda tag, _: list((families or {}).get(tag, []))


def _tagged_points(given: meshio.Mesh) -> dict[str, Array]:
    """Groups of nodes of a MED file, by name."""
    families: Mapping[int, list[str]] = getattr(given, "point_tags", None) or {}
    tags = given.point_data.get("point_tags")
    names = {name for group in families.values() for name in group} if tags is not None else set()
    return {n: np.flatnonzero(np.isin(tags, [t for t, group in families.items() if n in group])) for n in sorted(names)}


def _pairs(rows: list[Array], width: int) -> Array:
    return np.vstack([np.zeros((0, width), dtype=int), *rows])


def _cell_set(members: list[tuple[int, Array]], parts: list[Part], chosen: list[Part]) -> NamedSet:
    """Named set of members of blocks: cells of the body, corners of its facets, or nodes."""
    top = dimension(chosen[0][0])
    cells, facets, nodes = [], [], [np.zeros(0, dtype=int)]
    order = [kind for kind, _ in chosen]
    for b, index in members:
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
    """Named set with its nodes renumbered to those in use; the padding −1 is kept."""
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
