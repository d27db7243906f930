"""Nodes of finite-element models of other programs: positions, numbers, cells, named regions, and ports on them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ...meshes.cell_types import NODES
from ...meshes.facets import Facets, boundary, samples
from ...numerics import checks as check
from ...numerics.arrays import Array, rows_at
from ...numerics.memo import Memo, once
from ...numerics.rotations import rigid_motions
from ..body import Port

FLAT = 1e-9
"""Extent of z, relative to x and y, up to which a mesh of surface cells is planar."""


@dataclass(frozen=True, eq=False)
class ForeignNodes(Memo):
    """Nodes of a model of another program: ``points`` (N, d) [m], node numbers (N,), and cells (kind, nodes).

    ``regions`` are node indices by the name of a region, ``volumes`` the names of regions of cells. The nodes of a mesh
    are those of its n points that belong to cells: ``rows`` (n,) is then the node index of each point, −1 for points of
    no cell. Without a mesh ``rows`` is None.
    """

    points: Array
    numbers: Array
    cells: tuple[Facets, ...] = ()
    regions: Mapping[str, Array] = field(default_factory=dict)
    volumes: frozenset[str] = frozenset()
    rows: Array | None = None

    @once
    def boundary(self) -> list[Facets]:
        """Facets on the boundary of the cells: those that belong to one cell only."""
        return boundary(self.cells)

    def chosen(self, name: str, given: Any) -> Array:
        """Indices of nodes given by zero-based numbers or by the name of a region; raises ValueError for unknown ones.

        ``name`` is the argument, for messages.
        """
        if isinstance(given, str):
            if given in self.volumes:
                raise ValueError(f"{name} must be a region of facets or nodes, got {given!r}, a region of cells")
            return check.lookup("region", given, self.regions, f"{name}: the mesh")
        count = len(self.points) if self.rows is None else len(self.rows)
        numbers = node_list(name, given, count)
        if self.rows is None:
            return numbers
        lost = numbers[self.rows[numbers] < 0]
        if lost.size:
            raise ValueError(f"{name} must be nodes of cells, got {int(lost[0])}, which belongs to no cell")
        return self.rows[numbers]

    def drawn(self, given: tuple[str, Any] | None) -> tuple[str, Any] | None:
        """Cells for export: ``given``, or if this is None the cells of the mesh, provided that they are of one type."""
        return self.cells[0] if given is None and len(self.cells) == 1 else given


def node_list(name: str, given: Any, count: int) -> np.ndarray:
    """Zero-based node numbers (k,) as integers; raises ValueError unless they are distinct and below ``count``."""
    numbers = np.atleast_1d(np.asarray(given))
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a node number or a sequence of them, got {given!r}")
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    if wrong.size:
        raise ValueError(f"{name} must be node numbers from 0 to {count - 1}, got {int(wrong[0])}")
    if np.unique(numbers).size != numbers.size:
        raise ValueError(f"{name} must not name a node twice, got {given!r}")
    return numbers.astype(int)


def foreign_nodes(nodes: Any, numbers: Any = None, cells: tuple[str, Any] | None = None) -> ForeignNodes:
    """Nodes from positions (N, d), positions by node number, a meshio.Mesh, or the path of a mesh.

    ``numbers`` (N,) are the node numbers of the other program; by default those of the file or mapping, else 1 to N.
    ``cells`` are a cell type and node numbers.
    """
    if isinstance(nodes, Mapping):
        if numbers is not None:
            raise ValueError("numbers= was given, but nodes already maps node numbers to positions: leave numbers= out")
        numbers, nodes = list(nodes), list(nodes.values())
    elif isinstance(nodes, str | os.PathLike) or not isinstance(nodes, np.ndarray | list | tuple):
        return _of_mesh(nodes, numbers)
    X = check.array("nodes", nodes, (None, None))
    if X.shape[1] not in (2, 3) or len(X) < 2:
        raise ValueError(f"nodes must have shape (N, 2) or (N, 3) with at least two nodes, got {X.shape}")
    return ForeignNodes(X, _numbers(numbers, len(X)), _known_cells(cells, len(X)))


def _numbers(given: Any, count: int) -> Array:
    """Node numbers (N,) as an integer array, 1 to N by default; raises ValueError unless they are distinct integers."""
    if given is None:
        return np.arange(1, count + 1)
    numbers = np.asarray(given)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu" or np.unique(numbers).size != count:
        raise ValueError(f"numbers must be {count} different whole numbers, one for each node, got {numbers.shape}")
    return numbers


def _known_cells(cells: tuple[str, Any] | None, count: int) -> tuple[Facets, ...]:
    """The given cells, as a tuple of one entry, if their type has known facets; else an empty tuple.

    Cells that are invalid are left out, too; they are checked when drawn.
    """
    if not isinstance(cells, tuple | list) or len(cells) != 2 or cells[0] not in NODES:
        return ()
    nodes = np.asarray(cells[1])
    fits = nodes.ndim == 2 and nodes.size and nodes.dtype.kind in "iu" and nodes.shape[1] == len(NODES[cells[0]])
    return ((cells[0], nodes),) if fits and nodes.min() >= 0 and nodes.max() < count else ()


def _of_mesh(mesh: Any, numbers: Any) -> ForeignNodes:
    """Nodes and cells of highest dimension of a mesh; its named sets of points and facets become regions."""
    from ...meshes.cell_types import dimension, nodes_of
    from ...meshes.files.reading import read_contents  # imported here, as meshio is slow to import

    contents = read_contents(mesh)
    points = np.asarray(contents.mesh.points, dtype=float)
    blocks = [(b.type, nodes_of(b.type, b.data, len(points))) for b in contents.mesh.cells]
    top = max((dimension(kind) for kind, nodes in blocks if len(nodes)), default=0)
    if top < 2:
        raise ValueError("nodes must be positions, or a mesh with volume or surface cells")
    of_dimension = [(kind, nodes) for kind, nodes in blocks if dimension(kind) == top]
    used = np.unique(np.concatenate([nodes.ravel() for _, nodes in of_dimension]))
    rows = np.full(len(points), -1)
    rows[used] = np.arange(len(used))
    X = points[used]
    if top == 2 and X.shape[1] == 3 and np.ptp(X[:, 2]) <= FLAT * np.ptp(X[:, :2]):
        X = X[:, :2]
    given = contents.numbers if numbers is None else _numbers(numbers, len(points))
    counted = np.arange(1, len(points) + 1) if given is None else given
    cells = tuple((kind, rows[nodes]) for kind, nodes in of_dimension)
    whole = ForeignNodes(X, counted[used], cells, rows=rows)
    regions = {name: rows[np.asarray(nodes)] for name, nodes in contents.mesh.point_sets.items()}
    regions = {name: picked[picked >= 0] for name, picked in regions.items()}
    volumes = set()
    for name, members in contents.mesh.cell_sets.items():
        held = [(blocks[b], np.asarray(m, dtype=int)) for b, m in enumerate(members) if m is not None and len(m)]
        if all(dimension(kind) == top - 1 for (kind, _), _ in held):
            regions.setdefault(name, _on_facets(whole.boundary, [rows[nodes[m]] for (_, nodes), m in held]))
        else:
            volumes.add(name)
            regions.pop(name, None)
    return ForeignNodes(X, counted[used], cells, {k: v for k, v in regions.items() if v.size}, frozenset(volumes), rows)


def _on_facets(facets: list[Facets], corners: list[Array]) -> Array:
    """Indices of the nodes of a region of the boundary, including nodes on edges and inside of facets.

    ``corners`` are arrays (facets, corners) with the corner nodes of the facets of the region; ``facets`` are all
    boundary facets with all their nodes.
    """
    inside = np.unique(np.concatenate([np.zeros(0, dtype=int), *(c.ravel() for c in corners)]))
    wanted = {tuple(key) for c in corners for key in np.sort(c, axis=1).tolist()}
    chosen = [inside]
    for kind, nodes in facets:
        count = sum(len(node) == 1 for node in NODES[kind])
        hit = [tuple(key) in wanted for key in np.sort(nodes[:, :count], axis=1).tolist()]
        chosen.append(nodes[hit].ravel())
    return np.unique(np.concatenate(chosen))


IN_PLANE = 1e-8
"""Ratio of the smallest to the largest moment of the nodes of a port below which they are collinear."""


def node_ports(ports: Mapping[str, Any], nodes: ForeignNodes) -> dict[str, Port]:
    """Ports as maps of nodal displacements (N·d): the mean displacement and least-squares rotation of their nodes.

    The rigid motion ``ū + θ × (x − x̄)`` nearest to the displacements, Σ w|u − ū − θ × (x − x̄)|² least, gives
    ``θ = A⁻¹ Σ w (x − x̄) × u``, ``A = Σ w (|x − x̄|²1 − (x − x̄)(x − x̄)ᵀ)``. If cells are known and the nodes are
    exactly those of boundary facets, the sums are integrals over these facets, w dA; otherwise all nodes have equal
    weight. Forces and torques are distributed without stiffening. A single node has no rotation.
    """
    if not isinstance(ports, Mapping):
        raise ValueError(f"ports must map names to nodes, got {type(ports).__name__}")
    return {name: _port(name, nodes.chosen(f"port {name!r}", given), nodes) for name, given in ports.items()}


def _port(name: str, rows: np.ndarray, nodes: ForeignNodes) -> Port:
    points, dim = nodes.points, nodes.points.shape[1]
    values, weights = _samples(points, _covering_facets(rows, nodes.boundary), rows)
    at = values @ points
    position = weights @ at
    displacement = lambda v: sparse.csr_array(sparse.kron(v @ values, sparse.eye_array(dim)))  # noqa: E731
    shape = displacement(sparse.csr_array(weights[None, :]))
    if len(rows) == 1:
        return Port(position, shape, None)
    levers = rigid_motions(at - position).reshape(at.size, -1)[:, dim:].T  # row a: e_a × (x − x̄)
    weighted = levers * np.repeat(weights, dim)
    gram = levers @ weighted.T
    moments = np.linalg.eigvalsh(gram)
    if not moments[0] > IN_PLANE * moments[-1]:
        where = "at one point" if dim == 2 else "on a line"
        raise ValueError(
            f"port {name!r} must have nodes that do not lie {where}, as these do not determine a rotation about it"
        )
    turn = sparse.csr_array(np.linalg.solve(gram, weighted))
    return Port(position, shape, sparse.csr_array(turn @ sparse.kron(values, sparse.eye_array(dim))))


def _covering_facets(rows: np.ndarray, facets: list[Facets]) -> list[Facets]:
    """Facets all of whose nodes are in ``rows``, if together they contain all of ``rows``; else an empty list."""
    covered = [(kind, nodes[np.isin(nodes, rows).all(axis=1)]) for kind, nodes in facets]
    covered = [(kind, nodes) for kind, nodes in covered if len(nodes)]
    seen = np.unique(np.concatenate([np.zeros(0, dtype=int), *(nodes.ravel() for _, nodes in covered)]))
    return covered if len(seen) == len(rows) else []


def _samples(points: Array, facets: list[Facets], rows: np.ndarray) -> tuple[Any, Array]:
    """Matrix (k, N) that interpolates from nodes to the sample points of a port, and weights (k,) of these.

    The weights have the sum 1. The points are quadrature points of the facets, or without facets the nodes ``rows``.
    """
    count = len(points)
    if not facets:
        k = len(rows)
        return sparse.csr_array((np.ones(k), (np.arange(k), rows)), shape=(k, count)), np.full(k, 1.0 / k)
    sampled = [(*samples(points, (kind, nodes)), nodes) for kind, nodes in facets]
    values = sparse.vstack([rows_at(shapes, nodes, count) for shapes, _, nodes in sampled]).tocsr()
    whole = np.concatenate([areas.ravel() for _, areas, _ in sampled])
    return values, whole / whole.sum()
