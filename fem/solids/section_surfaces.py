"""Surfaces through a mesh: facets, sides and orientation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from ..meshes.regions import Region, region
from ..meshes.solid_mesh import SolidMesh, facet_groups
from .model import SolidModel
from .region_samples import facet_samples
from .ties import Where

CLOSED = 1e-6
"""Length of the mean normal below which a surface is closed."""
PREFERRED = np.array([1.0, 0.999, 0.998])
"""Weights that break ties between axes equally near to a normal: the first one counts."""


@checked
@dataclass(frozen=True, eq=False)
class Cut:
    """A surface through a body at which section forces are computed: facets inside the mesh, or on its boundary.

    Forces act on the side from which the normal points. By default it points outwards on the boundary and from a
    region of cells, otherwise along the nearest axis, so that a cut across x has the forces on the part of smaller x:
    tension is positive.

    Parameters
    ----------
    region : str, callable or sequence of int
        A name of facets in the mesh; a function of positions x (d, N) or node numbers, for the facets with all corners
        in it, preferably those inside the body; or a region of cells, for the facets between it and other cells. In a
        plane body and a plate facets are edges.
    normal : array_like, optional
        Normal (d,), see above.
    """

    region: Where
    normal: Sequence[float] | Array | None = None


@dataclass(frozen=True, eq=False)
class Surface:
    """Facets of a section, as facets of the cells behind it and, inside of the body, also of the cells in front.

    ``back`` and ``face`` (k, 3) are (block, cell, facet number) in the cells behind and in front. ``nodes`` (n,) are
    all nodes on the facets; ``behind`` and ``front`` are the numbers of all cells on each side that have such nodes.
    """

    name: str
    back: Array
    face: Array
    nodes: Array
    behind: Array
    front: Array


class FacetIntegrals(NamedTuple):
    """Integrals over facets with normals n out of their cells, which show how the facets are oriented as a whole.

    ``centre`` is the centroid x̄, ``normal`` ∫n dA, ``area`` ∫dA and ``flux`` ∫n·(x − x̄) dA.
    """

    centre: Array
    normal: Array
    area: float
    flux: float


def surface(model: SolidModel, name: str, given: Any) -> Surface:
    """Surface of a section, with its facets and the cells on both sides, from a region or a :class:`Cut`.

    ``name`` is the section in messages. Raises ValueError if its region has no facets, or does not separate its
    adjacent cells.
    """
    cut = given if isinstance(given, Cut) else Cut(given)
    mesh, called = model.mesh, f"section {name!r}"
    chosen, f = region(mesh, called, cut.region), mesh.facets
    labels = _labels(mesh, called, chosen, cut.region)
    mine = np.flatnonzero(np.isin(f.label, labels))
    nodes = np.unique(np.concatenate([n.ravel() for _, n, _ in facet_groups(mesh, f.places[mine])]))
    touching = np.flatnonzero(np.concatenate([np.isin(b.nodes, nodes).any(axis=1) for b in mesh.blocks]))
    if f.cells[labels[0]] == 1:
        if cut.normal is not None:
            raise ValueError(f"normal of {called} must be left out on the boundary, where it points outwards")
        return Surface(name, f.places[mine], f.places[:0], nodes, touching, touching[:0])
    whole, cells = chosen.kind == "volume", mesh.numbered(f.places[mine][:, :2])
    at = np.searchsorted(touching, cells)
    if whole:
        sign, patch = np.where(np.isin(touching, mesh.numbered(chosen.cells)), 1.0, -1.0), np.zeros_like(touching)
    else:
        sign, patch = _sides(mesh, called, labels, touching)
    wanted = None if cut.normal is None else check.array(f"normal of {called}", cut.normal, (model.dim,))
    for p in np.unique(patch):
        places = f.places[mine[(patch[at] == p) & (sign[at] > 0.0)]]
        if _is_turned(called, oriented(model, places), wanted, outward=whole):
            sign[patch == p] *= -1.0
    back, face = (f.places[mine[sign[at] * way > 0.0]] for way in (1.0, -1.0))
    return Surface(name, back, face, nodes, touching[sign > 0.0], touching[sign < 0.0])


def oriented(model: SolidModel, places: Array) -> FacetIntegrals:
    """Integrals over facets that show how they are oriented as a whole.

    ``places`` (k, 3) are (block, cell, facet number).
    """
    samples = facet_samples(model, places)
    x = [np.einsum("qn,kni->kqi", shapes, model.mesh.points[nodes]) for nodes, shapes, *_ in samples]
    area = sum(float(weights.sum()) for _, _, weights, *_ in samples)
    pairs = list(zip(x, samples, strict=True))
    centre = sum(np.einsum("kq,kqi->i", f[2], at) for at, f in pairs) / area
    total = sum(np.einsum("kq,kqi->i", f[2], f[4]) for _, f in pairs)
    flux = sum(float(np.einsum("kq,kqi,kqi->", f[2], f[4], at - centre)) for at, f in pairs)
    return FacetIntegrals(np.asarray(centre), np.asarray(total), area, flux)


def _is_turned(called: str, side: FacetIntegrals, wanted: Array | None, *, outward: bool) -> bool:
    """True if a patch of facets is oriented against the normal that the section is to have.

    That is the normal ``wanted``; else, if ``outward``, the normal out of the cells of the facets; else, for a closed
    patch, the normal out of the volume that it encloses; else the nearest axis. Raises ValueError if ``wanted`` is
    along the patch, or given for a closed one; ``called`` is the section in messages.
    """
    if wanted is not None:
        along = float(side.normal @ wanted)
        if abs(along) <= CLOSED * side.area * float(np.linalg.norm(wanted)):
            raise ValueError(f"normal of {called} must cross an open surface, got {wanted}")
        return along < 0.0
    if outward:
        return False
    if np.linalg.norm(side.normal) <= CLOSED * side.area:
        return side.flux < 0.0
    nearest = np.argmax(np.abs(side.normal) * PREFERRED[: len(side.normal)])
    return bool(side.normal[nearest] < 0.0)


def _labels(mesh: SolidMesh, called: str, chosen: Region, given: Any) -> Array:
    """Numbers of the distinct facets of a region that lie inside the body, or, if there are none, on its boundary."""
    f = mesh.facets
    if chosen.kind == "volume":
        inside = np.zeros(int(mesh.starts[-1]))
        inside[mesh.numbered(chosen.cells)] = 1.0
        count = np.bincount(f.label, inside[mesh.numbered(f.places[:, :2])], len(f.cells))
        labels = np.flatnonzero((count == 1.0) & (f.cells == 2))
        if not labels.size:
            raise ValueError(f"{called} must be a surface: its region of cells has no facet with other cells")
        return labels
    named = isinstance(given, str) and len(mesh.sets[given].facets) > 0
    if named:
        _, number = np.unique(np.vstack([chosen.facets, f.places]), axis=0, return_inverse=True)
        number = number.ravel()
        labels = np.unique(f.label[np.isin(number[len(chosen.facets) :], number[: len(chosen.facets)])])
    else:
        among = np.zeros(len(mesh.points) + 1, dtype=bool)  # the last entry is for the padding −1
        among[chosen.nodes], among[-1] = True, True
        labels = np.unique(f.label[among[f.corners].all(axis=1)])
    inner = labels[f.cells[labels] == 2]
    if not labels.size:
        raise ValueError(
            f"{called} must have whole facets of the mesh, got {len(chosen.nodes)} nodes without one; name facets or a "
            "region of cells in the mesh"
        )
    if named and 0 < len(inner) < len(labels):
        raise ValueError(
            f"{called} must be inside the body or on its boundary, got {len(inner)} facets inside and "
            f"{len(labels) - len(inner)} on the boundary"
        )
    return inner if inner.size else labels


def _sides(mesh: SolidMesh, called: str, labels: Array, touching: Array) -> tuple[Array, Array]:
    """Side (+1 or −1) of a surface on which each adjacent cell lies, and the number of its patch of the surface.

    ``touching`` are the numbers of these cells, ``labels`` those of the facets. The sides are opposite across every
    facet of the surface, and cells of one side are connected by facets without crossing it. Raises ValueError if the
    surface does not separate them; ``called`` is the section in messages.
    """
    f = mesh.facets
    cell = mesh.numbered(f.places[:, :2])
    place = np.searchsorted(touching, cell).clip(max=len(touching) - 1)
    near, cut = touching[place] == cell, np.isin(f.label, labels)
    around = _shared(f.label, near & ~cut, place, len(touching))
    count, part = sparse.csgraph.connected_components(around, directed=False)
    between = _shared(f.label, cut, part[place], count)
    patch, sign = np.full(count, -1), np.zeros(count)
    for start in range(count):
        if sign[start] == 0.0:
            order, before = sparse.csgraph.breadth_first_order(between, start, directed=False)
            patch[order], sign[start] = start, 1.0
            for i in order[1:]:
                sign[i] = -sign[before[i]]
    a, b = part[place[cut]][np.argsort(f.label[cut], kind="stable")].reshape(-1, 2).T
    if np.any(sign[a] == sign[b]) or len(np.union1d(a, b)) < count:
        raise ValueError(
            f"{called} must separate the adjacent cells into two sides, which are connected around its rim inside the "
            "body: its rim must be on the boundary"
        )
    return sign[part], patch[part]


def _shared(label: Array, mask: Array, of: Array, size: int) -> Any:
    """Adjacency matrix (size, size) of cells that share a facet whose entry in ``mask`` is True.

    ``of`` are the numbers of the cells of all facets, ``label`` the numbers of the distinct facets.
    """
    rows = sparse.csr_array((np.ones(int(mask.sum())), (of[mask], label[mask])), shape=(size, int(label.max()) + 1))
    return rows @ rows.T
