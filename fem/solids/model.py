"""Nodal matrices of a solid or plane body: mass, strain operator, and compliance at the stress points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Memo, once
from flexph.numerics.rotations import spins

from ..materials.elastic import Elastic, checked_compliance
from ..meshes.cells import table
from ..meshes.regions import region_of_cells
from ..meshes.solid_mesh import Points, SolidMesh


class NodePairs(NamedTuple):
    """All p pairs of nodes (a, b) that share a cell, in ascending order of a, then of b.

    ``second`` (p,) is b; ``first`` (N + 1,) is the first pair of each node a and, as the last entry, p. ``places`` has,
    for each block, the numbers (k, n·n) of the pairs of the n nodes of each cell.
    """

    second: Array
    first: Array
    places: list[Array]

    def summed(self, block: int, cells: slice, values: Array) -> Array:
        """Sums (p, c) over the cells of the values of each pair of nodes.

        ``values`` (k, n·n, c) are c values for each pair of nodes of each of the k ``cells`` of a block.
        """
        place = self.places[block][cells].ravel()
        entries = np.ones(len(place)), place, np.arange(len(place) + 1, dtype=np.int32)
        return sparse.csc_array(entries, shape=(len(self.second), len(place))) @ values.reshape(len(place), -1)

    def matrix(self, values: Array) -> Any:
        """Sparse matrix (N·d, N·d) with the block ``values[i]`` (d, d) in the rows of a and columns of b of pair i."""
        size = values.shape[1] * (len(self.first) - 1)
        return sparse.csr_array(sparse.bsr_array((values, self.second, self.first), shape=(size, size)))


def node_pairs(mesh: SolidMesh) -> NodePairs:
    """All pairs of nodes of a mesh that share a cell, in ascending order."""
    count = len(mesh.points)
    keys = [(count * b.nodes[:, :, None] + b.nodes[:, None, :]).ravel() for b in mesh.blocks]
    pairs, places = np.unique(np.concatenate(keys), return_inverse=True)
    first, second = np.divmod(pairs, count)
    blocks = np.split(places.astype(np.int32), np.cumsum([len(k) for k in keys])[:-1])
    return NodePairs(
        second.astype(np.int32),
        np.searchsorted(first, np.arange(count + 1)).astype(np.int32),
        [of_block.reshape(len(b.nodes), -1) for of_block, b in zip(blocks, mesh.blocks, strict=True)],
    )


TERMS = {
    2: ((0, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 0)),
    3: ((0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 1, 2), (3, 2, 1), (4, 0, 2), (4, 2, 0), (5, 0, 1), (5, 1, 0)),
}
"""Strain components as (component, displacement, derivative); shear strains are the sum of two."""
TURNS = {
    2: ((0, 1, 0, 0.5), (0, 0, 1, -0.5)),
    3: ((0, 2, 1, 0.5), (0, 1, 2, -0.5), (1, 0, 2, 0.5), (1, 2, 0, -0.5), (2, 1, 0, 0.5), (2, 0, 1, -0.5)),
}
"""Components of ½ curl as (component, displacement, derivative, factor)."""
WATCHED = 50
"""Number of cells whose rotations are monitored for the range of validity."""


CHUNK = 4096
"""Number of cells that are evaluated at once: 30 MB for tetrahedra with ten nodes."""


def strain_terms(dim: int) -> Array:
    """Coefficients T (c, d, d) of the strains ε_c = Σ T_cij ∂_j u_i in Voigt order, with shear strains doubled."""
    terms = np.zeros((len({c for c, *_ in TERMS[dim]}), dim, dim))
    for c, i, j in TERMS[dim]:
        terms[c, i, j] = 1.0
    return terms


class Part(NamedTuple):
    """Consecutive cells of a block, with quadrature at their stress points.

    ``first`` is the number of the first of these stress points.
    """

    block: int
    cells: slice
    first: int
    points: Points


def watched(count: int) -> Array:
    """Numbers of a few evenly spread cells of ``count``, whose rotations are monitored in every step."""
    return np.unique(np.linspace(0, count - 1, WATCHED).round().astype(int))


@dataclass(frozen=True, eq=False)
class SolidModel(Memo):
    """Mesh with materials, and its matrices over the nodal displacements (N·d,), node by node.

    ``material_of`` is the index of the material of each cell, counted through all blocks; ``plane`` is stress or strain
    for a plane body, ``thickness`` t [m] its thickness. The densities ``added`` [kg/m³] of the cells and the masses
    ``lumped`` [kg] at nodes come in addition to the mass of the materials.
    """

    mesh: SolidMesh
    materials: Mapping[str, Elastic]
    material_of: Array
    plane: str | None
    thickness: float
    added: Array | None = None
    lumped: Array | None = None

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return self.mesh.dim

    @property
    def components(self) -> int:
        """Number of stress components at a point: 3 in the plane, 6 in space."""
        return 3 if self.dim == 2 else 6

    @property
    def size(self) -> int:
        """Number of nodal displacements."""
        return int(self.mesh.points.size)

    def _of_cells(self, block: int) -> Array:
        """Index of the material of each cell of a block."""
        start = self.mesh.starts
        return self.material_of[start[block] : start[block + 1]]

    def densities(self, block: int) -> Array:
        """Densities ρ of the cells of a block (k,), in the plane times the thickness."""
        density = np.array([m.density for m in self.materials.values()])[self._of_cells(block)]
        if self.added is not None:
            density = density + self.added[self.mesh.starts[block] : self.mesh.starts[block + 1]]
        return np.asarray(density * self.thickness)

    @once
    def compliances(self) -> Array:
        """Compliances of all materials, (materials, c, c), for the c stress components of the body."""
        name = lambda k: "material" if len(self.materials) == 1 else f"material {k!r}"  # noqa: E731
        return np.array([checked_compliance(name(k), m, self.plane) for k, m in self.materials.items()])

    @once
    def moduli(self) -> Array:
        """Inverses of the compliances, (materials, c, c)."""
        return np.linalg.inv(self.compliances)

    @once
    def mass(self) -> Any:
        """Mass matrix m (N, N) of the N nodes for motion in one direction, equal for all directions: M = m ⊗ 1."""
        pairs = node_pairs(self.mesh)
        values = np.zeros(len(pairs.second))
        for b, block in enumerate(self.mesh.blocks):
            shapes, volumes = self.mesh.volumes(b, block.kind.mass)
            products = np.einsum("qa,qb->qab", shapes, shapes).reshape(len(shapes), -1)
            cells = (volumes * self.densities(b)[:, None]) @ products
            values += np.bincount(pairs.places[b].ravel(), cells.ravel(), len(values))
        mass = pairs.matrix(values[:, None, None])
        if self.lumped is not None:
            mass = mass + sparse.diags_array(self.lumped)
        return sparse.csr_array(0.5 * (mass + mass.T))

    def parts(self) -> Iterator[Part]:
        """Yield chunks of cells with quadrature at their stress points, whose weights include the thickness."""
        first = 0
        for b, block in enumerate(self.mesh.blocks):
            for start in range(0, len(block.nodes), CHUNK):
                cells = slice(start, min(start + CHUNK, len(block.nodes)))
                points = self.points_in(b, cells)
                yield Part(b, cells, first, points)
                first += points.weights.size

    def points_in(self, block: int, cells: slice | Array) -> Points:
        """Shape functions, gradients, and weights times thickness at the stress points of some cells of a block.

        ``cells`` are their numbers in the block.
        """
        points = self.mesh.at(block, self.mesh.blocks[block].kind.stress, cells)
        return points._replace(weights=points.weights * self.thickness)

    def material(self, part: Part) -> Array:
        """Index of the material of each cell of a part."""
        return self._of_cells(part.block)[part.cells]

    @once
    def point_counts(self) -> list[int]:
        """Number of stress points in each block of cells, summed over its cells."""
        return [len(b.nodes) * len(table(b.kind.name, b.kind.stress)[2]) for b in self.mesh.blocks]

    @once
    def weights(self) -> Array:
        """Volumes [m³] of the stress points, (p,), in the order block by block, cell by cell."""
        volumes = [self.mesh.volumes(b, block.kind.stress)[1] for b, block in enumerate(self.mesh.blocks)]
        return self.thickness * np.concatenate([v.ravel() for v in volumes])

    @once
    def cell_of_point(self) -> Array:
        """Number of the cell of each stress point (p,), counted through all blocks."""
        each = [count // len(b.nodes) for count, b in zip(self.point_counts, self.mesh.blocks, strict=True)]
        return np.repeat(np.arange(self.mesh.starts[-1]), np.repeat(each, np.diff(self.mesh.starts)))

    @once
    def positions(self) -> Array:
        """Positions of the stress points (p, d) [m]."""
        tables = [(table(b.kind.name, b.kind.stress)[0], self.mesh.points[b.nodes]) for b in self.mesh.blocks]
        return np.vstack([np.einsum("nq,kni->kqi", *both).reshape(-1, self.dim) for both in tables])

    @once
    def strain(self) -> Any:
        """Sparse strain operator D (p·c, N·d) from the displacements of the N nodes to volume times strain.

        Strains are at the p stress points, with c components in Voigt order and shear strains doubled.
        """
        return self._rows([(c, i, j, 1.0) for c, i, j in TERMS[self.dim]], self.components)

    @once
    def compliance(self) -> Any:
        """Sparse block-diagonal compliance C (p·c, p·c): at each stress point the volume times the compliance.

        The compliance is (c, c) and that of the material there.
        """
        blocks = self.weights[:, None, None] * self.compliances[self.material_of[self.cell_of_point]]
        return block_diagonal(blocks)

    def strains_of(self, cells: Array) -> tuple[Array, Any]:
        """Numbers of the stress points of some cells, and the rows of the strain operator D for these points.

        ``cells`` are cell numbers, ascending.
        """
        points = np.flatnonzero(np.isin(self.cell_of_point, cells))
        return points, self._rows([(c, i, j, 1.0) for c, i, j in TERMS[self.dim]], self.components, cells)

    def turns(self, cells: Array, *, together: bool = False) -> Any:
        """Sparse matrix (cells·s, N·d) from the nodal displacements to the mean of ½ curl u over each cell.

        ``cells`` are cell numbers, ascending. If ``together``, it is the mean over all of these cells, (s, N·d).
        """
        s = spins(self.dim)
        rows = self._rows(list(TURNS[self.dim]), s, cells)
        mine = np.isin(self.cell_of_point, cells)
        volumes, of = self.weights[mine], np.searchsorted(cells, self.cell_of_point[mine])
        of = np.zeros_like(of) if together else of
        whole = np.bincount(of, volumes)
        mean = sparse.coo_array((1.0 / whole[of], (of, np.arange(len(of)))), shape=(len(whole), len(of)))
        return sparse.csr_array(sparse.kron(mean, sparse.eye_array(s)) @ rows)

    def _rows(self, terms: list[tuple[int, int, int, float]], components: int, cells: Array | None = None) -> Any:
        """Sparse matrix (p·components, N·d) of sums of derivatives at stress points, times their volumes.

        Each of the ``terms`` (c, i, j, factor) adds factor · ∂_j u_i to component c. The points are those of ``cells``,
        None for all.
        """
        data, rows, columns, start = [], [], [], 0
        for b, block in enumerate(self.mesh.blocks):
            first, end = self.mesh.starts[b : b + 2]
            chosen = slice(None) if cells is None else cells[(cells >= first) & (cells < end)] - first
            p = self.points_in(b, chosen)
            k, q, n, d = p.gradients.shape
            point = start + np.arange(k * q, dtype=np.int32).reshape(k, q, 1)
            node = np.broadcast_to(block.nodes[chosen, None, :], (k, q, n)).astype(np.int32)
            for component, i, j, factor in terms:
                data.append((factor * p.weights[:, :, None] * p.gradients[..., j]).ravel())
                rows.append(np.broadcast_to(components * point + component, (k, q, n)).ravel())
                columns.append((d * node + i).ravel())
            start += k * q
        shape = (components * start, self.size)
        whole = sparse.coo_array(
            (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape
        ).tocsr()
        whole.eliminate_zeros()
        return sparse.csr_array(whole)


def block_diagonal(blocks: Array) -> Any:
    """Sparse block-diagonal matrix (p·c, p·c) of blocks (p, c, c)."""
    matrix = sparse.bsr_array((blocks, np.arange(len(blocks)), np.arange(len(blocks) + 1))).tocsr()
    matrix.eliminate_zeros()
    return sparse.csr_array(matrix)


def solid_model(
    mesh: SolidMesh, material: Elastic | Mapping[str, Elastic], *, plane: str | None, thickness: float | None
) -> SolidModel:
    """Model of a mesh with one material, or one for each of its regions of cells."""
    t = 1.0
    if plane is not None:
        if thickness is None:
            raise ValueError(f"thickness must be given [m] for plane={plane!r}")
        t = check.positive("thickness", thickness, "m")
    elif thickness is not None:
        raise ValueError("thickness is for plane bodies only: give plane='stress' or plane='strain' with it")
    if not isinstance(material, Mapping):
        return SolidModel(mesh, {"": _elastic("material", material)}, np.zeros(int(mesh.starts[-1]), int), plane, t)
    if not material:
        raise ValueError("material must be a material, or materials by the names of regions, got none")
    for name, elastic in material.items():
        _elastic(f"material {name!r}", elastic)
    return SolidModel(mesh, dict(material), region_of_cells(mesh, "material", material), plane, t)


def _elastic(name: str, given: Any) -> Elastic:
    if not isinstance(getattr(given, "compliance", None), np.ndarray):
        raise ValueError(f"{name} must be a Material, Orthotropic or Anisotropic, got {type(given).__name__}")
    return given
