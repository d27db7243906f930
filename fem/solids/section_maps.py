"""Section forces and moments through surfaces of solids, as linear maps of the stresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.fields import SectionMap
from flexph.meshes.cell_types import FACETS, REFERENCE
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross, rigid_motions, spins

from ..meshes.cells import CELLS, through_points
from ..meshes.solid_mesh import SolidMesh
from .model import SolidModel
from .region_samples import facet_samples
from .section_surfaces import Surface, oriented, surface
from .view import tensor_rows

COMPONENT = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2]])
"""Index of (xx, yy, zz, xy, yz, xz) in the symmetric tensor."""


def solid_sections(
    model: SolidModel, shapes: Any, sections: Mapping[str, Any], rigid: Mapping[str, Array]
) -> dict[str, SectionMap]:
    """Maps from the stress coordinates of a solid to section forces on named surfaces, by name.

    ``shapes`` (N·d, n) give the nodal displacements from the coordinates; ``rigid`` has the nodes of each rigid port.
    """
    return {
        name: _solid(model, shapes, surface(model, name, given), rigid)
        for name, given in named_regions(sections).items()
    }


def named_regions(sections: Any) -> Mapping[str, Any]:
    """The given mapping of names to regions; raises ValueError if it is no mapping."""
    if not isinstance(sections, Mapping):
        raise ValueError(f"sections must map names to regions, got {type(sections).__name__}")
    return sections


def side_weights(mesh: SolidMesh, s: Surface, rigid: Mapping[str, Array]) -> tuple[float, float]:
    """Weights of the cells behind a surface and of those in front of it, for its section forces.

    They are half each if both sides can be used, and one for the only usable side. A side cannot be used if a rigid
    region ties nodes of the surface to other nodes of its cells. Raises ValueError if neither can be used.
    """
    sides, ties = {"behind": s.behind, "front": s.front}, set()
    usable = {side: len(cells) > 0 for side, cells in sides.items()}
    for port, nodes in rigid.items():
        beyond = np.setdiff1d(nodes, s.nodes)
        if len(beyond) == len(nodes):
            continue
        for side, cells in sides.items():
            nodes_of_side = np.concatenate(
                [b.nodes[np.isin(mesh.starts[i] + np.arange(len(b.nodes)), cells)].ravel() for i, b in _blocks(mesh)]
            )
            if np.isin(beyond, nodes_of_side).any():
                usable[side] = False
                ties.add(port)
    if not any(usable.values()):
        raise ValueError(
            f"section {s.name!r} must not pass through the rigid region of port {', '.join(map(repr, sorted(ties)))}, "
            "which has no stress: tie the port by its mean, or move the section"
        )
    count = sum(usable.values())
    return usable["behind"] / count, usable["front"] / count


def _blocks(mesh: SolidMesh) -> list[tuple[int, Any]]:
    return list(enumerate(mesh.blocks))


def cell_weights(mesh: SolidMesh, s: Surface, shares: tuple[float, float]) -> Array:
    """Weight (cells,) of each cell in a section force, zero away from the surface.

    ``shares`` are the weights behind and in front. Those in front count as negative, since their normal is opposite.
    """
    weights = np.zeros(int(mesh.starts[-1]))
    weights[s.behind], weights[s.front] = shares[0], -shares[1]
    return weights


def _solid(model: SolidModel, shapes: Any, s: Surface, rigid: Mapping[str, Array]) -> SectionMap:
    shares, at, d = side_weights(model.mesh, s, rigid), oriented(model, s.back), model.dim
    lever = model.mesh.points[s.nodes] - at.centre
    motion = rigid_motions(lever)
    rows = (d * s.nodes[:, None] + np.arange(d)).ravel()
    columns = np.arange(d + spins(d))
    moved = sparse.csr_array(
        (motion.ravel(), (np.repeat(rows, len(columns)), np.tile(columns, len(rows)))), (model.size, len(columns))
    )
    traction = shares[0] * _traction(model, s.back, at.centre)
    if shares[1]:
        traction = traction - shares[1] * _traction(model, s.face, at.centre)
    n = shapes.shape[1]
    return SectionMap(
        position=at.centre,
        normal=at.normal / at.area,
        area=at.area * model.thickness,
        nodal=_nodal(model, cell_weights(model.mesh, s, shares), moved),
        lever=np.zeros((0, len(columns))),
        weights=sparse.csr_array((model.components * len(model.weights), 0)),
        slopes=sparse.csr_array((0, n)),
        traction=sparse.csr_array(traction),
    )


def _nodal(model: SolidModel, weights: Array, moved: Any) -> Any:
    """Sparse matrix (r, m) from stresses to the virtual power of the internal forces of weighted cells in r motions.

    ``moved`` (N·d, r) are the nodal displacements of the motions, ``weights`` (cells,) those of the cells.
    """
    cells, c = np.flatnonzero(weights), model.components
    points, strains = model.strains_of(cells)
    power = (np.repeat(weights[model.cell_of_point[points]], c)[:, None] * (strains @ moved).toarray()).T
    columns = (c * points[:, None] + np.arange(c)).ravel()
    rows, places = np.nonzero(power)
    return sparse.csr_array((power[rows, places], (rows, columns[places])), (len(power), c * len(model.weights)))


def _traction(model: SolidModel, places: Array, centre: Array) -> Any:
    """Sparse matrix (d + s, m) from stresses to ∫σn and ∫(x − x̄) × σn over facets.

    σ is the polynomial through the stresses of a cell, n its outward normal, and x̄, ``centre``, the reference point.
    ``places`` (k, 3) are (block, cell, facet number).
    """
    mesh, d = model.mesh, model.dim
    first = np.cumsum([0, *model.point_counts])
    traction = sparse.csr_array((d + spins(d), 6 * len(model.weights)))
    for nodes, shapes, area, pick, normal in facet_samples(model, places):
        b, _, side = places[pick[0]]
        block, cells = mesh.blocks[b], places[pick, 1]
        values = through_points(block.kind, _on_cell(block.kind, int(side)))  # (q, n)
        x = np.einsum("qn,kni->kqi", shapes, mesh.points[nodes]) - centre
        force = np.zeros((*area.shape, d, 6))
        for i in range(d):
            for j in range(d):
                force[..., i, COMPONENT[i, j]] += model.thickness * area * normal[..., j]
        moment = np.einsum("aij,kqj,kqic->kqac", cross(d), x, force)
        each = np.einsum("kqac,qn->kanc", np.concatenate([force, moment], axis=2), values)
        points = first[b] + values.shape[1] * cells[:, None] + np.arange(values.shape[1])
        columns = 6 * points[:, None, :, None] + np.arange(6)
        rows = np.arange(d + spins(d))[None, :, None, None]
        where = [np.broadcast_to(a, each.shape).ravel() for a in (rows, columns)]
        traction = traction + sparse.coo_array((each.ravel(), tuple(where)), shape=traction.shape).tocsr()
    return traction @ tensor_rows(model)


def _on_cell(kind: Any, side: int) -> Array:
    """Reference coordinates in a cell, (q, d), of the quadrature points of its facet with the number ``side``."""
    facet, _ = kind.facet(side)
    points, _ = facet.quadrature(facet.mass)
    shares, _ = CELLS[facet.shape].shapes(points)
    return shares.T @ REFERENCE[kind.shape][list(FACETS[kind.shape][side])]
