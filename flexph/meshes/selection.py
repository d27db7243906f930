"""Selection of one part, instance or set of a mesh file as the body."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import meshio
import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from .blocks import cell_blocks
from .cell_types import FACETS, SHAPE, dimension
from .contents import LeftOut, MeshContents, SpreadMass, shortened
from .groups import cell_groups, point_groups


def selected(contents: MeshContents, name: str) -> MeshContents:
    """Contents of a file with the cells of one group only, and their facets, masses and constraints.

    Facets of the selected cells are included. Constraints, masses and unsupported elements on other cells are dropped;
    so are constraints between the selected and other cells, with a warning. Raises ValueError for an unknown group, and
    for a mass over a region that is only partly selected.
    """
    mesh, groups = contents.mesh, cell_groups(contents.mesh)
    names = {alias: group for alias, group in contents.aliases.items() if group in groups and alias not in groups}
    label = check.lookup("group of cells", name, {**{g: g for g in groups}, **names}, "select: the mesh")
    kept = _selected_cells(mesh, groups[label], name)
    body = np.unique(np.concatenate([mesh.cells[b].data[cells].ravel() for b, cells in kept.items()]))
    chosen = _restricted(mesh, kept, body)
    counts = {
        group: sum(len(np.intersect1d(cells, kept.get(b, []))) for b, cells in members.items())
        for group, members in groups.items()
    }
    held = {group for group, count in counts.items() if count}
    left_out, joining = _left_out(contents, body, max(dimension(block.type) for block in chosen.cells))
    spread = [m for m in contents.spread_masses if m.region in held]
    for mass in spread:
        _refuse_partial(mass, sum(map(len, groups[mass.region].values())), counts[mass.region])
    if joining:
        words = "; ".join(shortened([part.words() for part in joining]))
        warn(f"left out, as it joins {name!r} to other parts: {words}")
    return replace(
        contents,
        mesh=chosen,
        sections=tuple((region, material) for region, material in contents.sections if region in held),
        point_masses=tuple(m for m in contents.point_masses if m.point in body),
        spread_masses=tuple(spread),
        left_out=left_out,
        couplings={k: c for k, c in contents.couplings.items() if np.isin(c.points, body).all()},
        shells={region: shell for region, shell in contents.shells.items() if region in held},
    )


def _selected_cells(mesh: meshio.Mesh, members: dict[int, Array], name: str) -> dict[int, Array]:
    """Indices, by block, of the cells to keep if the group ``members`` is selected; ``name`` names it in errors.

    The cells of highest dimension in the group are kept, with all cells of the mesh that lie on their facets, and cells
    of still lower dimension whose nodes are all nodes of kept cells of the group. Raises ValueError for a group without
    volume or surface cells.
    """
    dims = {b: dimension(mesh.cells[b].type) for b in members}
    top = max(dims.values(), default=0)
    kept = {b: cells for b, cells in members.items() if dims[b] == top}
    if top < 2:
        raise ValueError(f"select must name a group of volume or surface cells, {name!r} has none")
    facets = [
        _keys(mesh.cells[b].data[cells][:, list(facet)])
        for b, cells in kept.items()
        for facet in FACETS.get(SHAPE.get(mesh.cells[b].type, ""), ())
    ]
    known = np.unique(np.vstack([np.zeros((0, 4), dtype=int), *facets]), axis=0)
    for b, block in enumerate(mesh.cells):
        if dimension(block.type) == top - 1 and len(block.data):
            corners = {"line": 2, "triangle": 3, "quad": 4}[block.type.rstrip("0123456789")]
            keys = _keys(np.asarray(block.data)[:, :corners])
            _, label = np.unique(np.vstack([known, keys]), axis=0, return_inverse=True)
            kept[b] = np.flatnonzero(np.isin(label.ravel()[len(known) :], label.ravel()[: len(known)]))
        elif dimension(block.type) < top - 1 and len(block.data):
            nodes = np.unique(np.concatenate([mesh.cells[k].data[c].ravel() for k, c in kept.items() if k in dims]))
            kept[b] = np.flatnonzero(np.isin(block.data, nodes).all(axis=1))
    return {b: cells for b, cells in kept.items() if len(cells)}


def _keys(corners: Array) -> Array:
    """Sorted corners (k, 4) of facets, padded by −1 at the front."""
    return np.pad(np.sort(corners, axis=1), [(0, 0), (4 - corners.shape[1], 0)], constant_values=-1)


def _restricted(mesh: meshio.Mesh, kept: dict[int, Array], body: Array) -> meshio.Mesh:
    """Mesh of the cells ``kept`` (indices by block) with their groups; all points remain, with their indices.

    ``body``: indices of the points of the selected cells, to which groups of points are restricted.
    """
    blocks = sorted(kept)
    sets: dict[str, list[Array]] = {}
    for name, members in cell_groups(mesh).items():
        within = {b: np.flatnonzero(np.isin(kept[b], cells)) for b, cells in members.items() if b in kept}
        if any(len(cells) for cells in within.values()):
            sets[name] = [within.get(b, np.zeros(0, dtype=int)) for b in blocks]
    points = {name: nodes[np.isin(nodes, body)] for name, nodes in point_groups(mesh).items()}
    chosen: meshio.Mesh = copy(mesh)
    chosen.cells = cell_blocks((mesh.cells[b].type, np.asarray(mesh.cells[b].data)[kept[b]]) for b in blocks)
    chosen.cell_data, chosen.field_data, chosen.cell_sets = {}, {}, sets
    chosen.point_data, chosen.point_sets = {}, {name: nodes for name, nodes in points.items() if len(nodes)}
    return chosen


def _left_out(contents: MeshContents, body: Array, top: int) -> tuple[tuple[LeftOut, ...], list[LeftOut]]:
    """Unsupported parts that act on selected cells only, and unsupported parts that join selected to other cells.

    Parts that act on unknown points are among the first; elements of the dimension ``top`` of the selected cells are
    not, because they now are cells of the body. ``body``: indices of the points of the selected cells.
    """
    counting, joining = [], []
    for part in contents.left_out:
        inside = None if part.reach is None else np.isin(part.reach, body)
        if inside is None or (len(inside) and inside.all()):
            if part.dim < top:
                counting.append(part)
        elif inside.any():
            joining.append(part)
    return tuple(counting), joining


def _refuse_partial(mass: SpreadMass, count: int, own: int) -> None:
    if own != count:
        raise ValueError(
            f"select must have all cells of {mass.region!r} with {mass.name} ({mass.place}), got {own} of {count}"
        )
