"""Named groups of cells of a mesh: numbered groups of file formats, cell sets, and integer cell data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import meshio
import numpy as np

from ..numerics.arrays import Array
from .cell_types import dimension

NUMBERED = ("gmsh:physical", "cell_tags", "medit:ref", "nastran:ref", "avsucd:material", "su2:tag", "netgen:index")
"""Cell data of meshio with the group numbers of cells: gmsh, MED, Medit, Nastran, AVS-UCD, SU2, Netgen."""
NO_GROUPS = ("gmsh:geometrical", "gmsh:bounding_entities", "gmsh:dim_tags")
"""Whole numbers of cells that are no groups: entities of the geometry."""
MOST = 100
"""Largest number of values for which other whole numbers of cells count as groups: more are numbers of the cells."""
KINDS = ("point", "line", "surface", "volume")

Members = dict[int, Array]
"""Members of a group: the numbers of its cells (k,) by block."""


def cell_groups(mesh: meshio.Mesh) -> dict[str, Members]:
    """Groups of cells by name.

    A group is given by indices of its cells in each block. The groups are the numbered groups of the mesh (gmsh:
    physical groups), groups of equal integers of other cell data, and cell sets.
    """
    groups: dict[str, Members] = {}
    none = np.zeros(0, dtype=int)
    for key in NUMBERED:
        for b, tag, name in _numbered(mesh, key):
            group, cells = groups.setdefault(name, {}), np.flatnonzero(np.asarray(mesh.cell_data[key][b]) == tag)
            group[b] = np.union1d(group.get(b, none), cells)
    for key, data in mesh.cell_data.items():
        if key not in (*NUMBERED, *NO_GROUPS) and not key.startswith("gmsh:"):
            for name, members in _by_value(key, [np.asarray(values) for values in data]).items():
                groups.setdefault(name, members)
    for name, members in mesh.cell_sets.items():
        if name not in groups and not name.startswith("gmsh:"):
            groups[name] = {b: np.asarray(m, dtype=int) for b, m in enumerate(members) if m is not None and len(m)}
    return groups


def _by_value(key: str, data: list[Array]) -> dict[str, Members]:
    """Groups of cells with equal integers in the cell data ``key``, named ``key value``.

    Empty for data that are no integers, and for more than MOST different values.
    """
    held = [values for values in data if len(values)]
    if not held or any(values.dtype.kind not in "iu" or values.ndim != 1 for values in held):
        return {}
    values = np.unique(np.concatenate(held))
    if len(values) > MOST:
        return {}
    groups: dict[str, Members] = {}
    for value in values.tolist():
        groups[f"{key} {value}"] = {
            b: np.flatnonzero(numbers == value) for b, numbers in enumerate(data) if value in numbers
        }
    return groups


def _numbered(mesh: meshio.Mesh, key: str) -> list[tuple[int, int, str]]:
    """Block, number and name of each group of cells in ``cell_data[key]``.

    The number 0 is no group. A group without a name is named by its number, or ``volume 1``, ``surface 1`` if several
    dimensions use the number.
    """
    tags = mesh.cell_data.get(key, [])
    pairs = [(b, int(t)) for b, numbers in enumerate(tags) if len(numbers) for t in np.unique(numbers) if t]
    names = _names_of_tags(mesh, key)
    dim = [dimension(block.type) for block in mesh.cells]
    bare = {(t, dim[b]) for b, t in pairs if not names(t, dim[b])}
    groups = []
    for b, t in pairs:
        alone = len([1 for tag, _ in bare if tag == t]) == 1
        groups += [(b, t, n) for n in names(t, dim[b]) or [str(t) if alone else f"{KINDS[dim[b]]} {t}"]]
    return groups


def _names_of_tags(mesh: meshio.Mesh, key: str) -> Callable[[int, int], list[str]]:
    """Function from the number of a group and its dimension to its names.

    There is one name in gmsh, several in MED; the list is empty if the file has no names.
    """
    if key == "gmsh:physical":
        known = {(int(tag), int(dim)): name for name, (tag, dim) in mesh.field_data.items()}
        return lambda tag, dim: [known[tag, dim]] if (tag, dim) in known else []
    families = getattr(mesh, "cell_tags", None) if key == "cell_tags" else None  # set by meshio's reader of MED only
    return lambda tag, _: list((families or {}).get(tag, []))


def point_groups(mesh: meshio.Mesh) -> dict[str, Array]:
    """Groups of nodes by name, as indices (k,): point sets, and groups of a MED file."""
    families: Mapping[int, list[str]] = getattr(mesh, "point_tags", None) or {}
    tags = mesh.point_data.get("point_tags")
    names = {name for group in families.values() for name in group} if tags is not None else set()
    med = {n: np.flatnonzero(np.isin(tags, [t for t, group in families.items() if n in group])) for n in sorted(names)}
    groups = {}
    for name, nodes in {**mesh.point_sets, **med}.items():
        numbers = np.asarray(nodes)
        groups[name] = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.astype(int)
    return groups
