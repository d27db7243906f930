"""Nodal matrices of a solid or plane body: mass, strain operator, compliance at the points of its stresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Memo, once
from flexph.numerics.rotations import spins

from ..materials.elastic import Elastic, checked_compliance
from ..meshes.regions import region_of_cells
from ..meshes.solid_mesh import Points, SolidMesh

TERMS = {
    2: ((0, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 0)),
    3: ((0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 1, 2), (3, 2, 1), (4, 0, 2), (4, 2, 0), (5, 0, 1), (5, 1, 0)),
}
"""Strain components: (component, displacement, derivative), shear strains the sum of two."""
TURNS = {
    2: ((0, 1, 0, 0.5), (0, 0, 1, -0.5)),
    3: ((0, 2, 1, 0.5), (0, 1, 2, -0.5), (1, 0, 2, 0.5), (1, 2, 0, -0.5), (2, 1, 0, 0.5), (2, 0, 1, -0.5)),
}
"""½ curl: (component, displacement, derivative, factor)."""
WATCHED = 50
"""Cells whose rotations must stay small (range of validity)."""


def watched(count: int) -> Array:
    """Numbers of cells, evenly spread over all of them, whose rotations are looked at in every step."""
    return np.unique(np.linspace(0, count - 1, WATCHED).round().astype(int))


@dataclass(frozen=True, eq=False)
class SolidModel(Memo):
    """A mesh with materials: everything over the nodal displacements (N·d), node by node.

    ``material_of`` numbers the material of each cell, all cells counted through; ``thickness`` t [m] of a plane body.
    """

    mesh: SolidMesh
    materials: Mapping[str, Elastic]
    material_of: Array
    plane: str | None
    thickness: float

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return self.mesh.dim

    @property
    def components(self) -> int:
        """Stress components at a point: 3 in the plane, 6 in space."""
        return 3 if self.dim == 2 else 6

    @property
    def size(self) -> int:
        """Nodal displacements."""
        return int(self.mesh.points.size)

    def _of_cells(self, block: int) -> Array:
        """Materials of the cells of a block."""
        start = self.mesh.starts
        return self.material_of[start[block] : start[block + 1]]

    def densities(self, block: int) -> Array:
        """ρ (times t in the plane) of the cells of a block, (k,)."""
        density = np.array([m.density for m in self.materials.values()]) * self.thickness
        return density[self._of_cells(block)]

    @once
    def compliances(self) -> Array:
        """Compliances of the materials over the components of the body, (materials, c, c)."""
        name = lambda k: "material" if len(self.materials) == 1 else f"material {k!r}"  # noqa: E731
        return np.array([checked_compliance(name(k), m, self.plane) for k, m in self.materials.items()])

    @once
    def mass(self) -> Any:
        """Nodal mass m (N, N), the same in all directions: M = m ⊗ 1."""
        entries = []
        for b, block in enumerate(self.mesh.blocks):
            points = self.mesh.at(b, block.kind.mass)
            weights = points.weights * self.densities(b)[:, None]
            pairs = np.einsum("qa,qb->qab", points.shapes, points.shapes).reshape(weights.shape[1], -1)
            n = block.nodes.shape[1]
            entries.append(
                ((weights @ pairs).ravel(), np.repeat(block.nodes, n, axis=1).ravel(), np.tile(block.nodes, n).ravel())
            )
        count = len(self.mesh.points)
        mass = sparse.csr_array((count, count))
        for data, row, column in entries:
            mass = mass + sparse.coo_array((data, (row, column)), shape=(count, count)).tocsr()
        return sparse.csr_array(0.5 * (mass + mass.T))

    @once
    def points(self) -> tuple[Points, ...]:
        """The points of the stresses in the cells of each block, weights times thickness."""
        points = [self.mesh.at(b, block.kind.stress) for b, block in enumerate(self.mesh.blocks)]
        return tuple(p._replace(weights=p.weights * self.thickness) for p in points)

    @once
    def weights(self) -> Array:
        """Volumes of the points of the stresses, block by block, cell by cell (p,)."""
        return np.concatenate([p.weights.ravel() for p in self.points])

    @once
    def cell_of_point(self) -> Array:
        """The cell of each of these points, all cells counted through (p,)."""
        return np.repeat(
            np.arange(self.mesh.starts[-1]), np.concatenate([np.full(*p.weights.shape) for p in self.points])
        )

    @once
    def positions(self) -> Array:
        """Positions of these points (p, d) [m]."""
        blocks = zip(self.points, self.mesh.blocks, strict=True)
        positions = [
            np.einsum("qn,kni->kqi", p.shapes, self.mesh.points[b.nodes]).reshape(-1, self.dim) for p, b in blocks
        ]
        return np.vstack(positions)

    @once
    def strain(self) -> Any:
        """D (p·c, N·d): volume times strain at each point, in Voigt order, shear strains doubled."""
        return self._rows([(c, i, j, 1.0) for c, i, j in TERMS[self.dim]], self.components)

    @once
    def compliance(self) -> Any:
        """C (p·c, p·c): volume times compliance at each point, block diagonal."""
        blocks = self.weights[:, None, None] * self.compliances[self.material_of[self.cell_of_point]]
        return block_diagonal(blocks)

    def turns(self, cells: Array | None = None) -> Any:
        """Mean ½ curl u of each cell (cells·s, N·d), or of all the given ones (numbers) together (s, N·d)."""
        s = spins(self.dim)
        rows = self._rows(list(TURNS[self.dim]), s)
        volumes = np.bincount(self.cell_of_point, self.weights)
        if cells is None:
            data, row, shape = 1.0 / volumes[self.cell_of_point], self.cell_of_point, len(volumes)
        else:
            mine = np.isin(self.cell_of_point, cells)
            data, row, shape = mine / volumes[cells].sum(), np.zeros(len(mine), dtype=int), 1
        mean = sparse.coo_array((data, (row, np.arange(len(row)))), shape=(shape, len(row)))
        return sparse.csr_array(sparse.kron(mean, sparse.eye_array(s)) @ rows)

    def _rows(self, terms: list[tuple[int, int, int, float]], components: int) -> Any:
        """Volume times sums of derivatives at each point: sparse (p·components, N·d)."""
        data, rows, columns, start = [], [], [], 0
        for p, block in zip(self.points, self.mesh.blocks, strict=True):
            k, q, n, d = p.gradients.shape
            point = start + np.arange(k * q, dtype=np.int32).reshape(k, q, 1)
            node = np.broadcast_to(block.nodes[:, None, :], (k, q, n)).astype(np.int32)
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

    def inertia(self, shapes: Any) -> Inertia:
        """The mass integrals over u with nodal displacements ``shapes`` u, exact: positions are interpolated alike."""
        X, m, d = self.mesh.points, self.mass, self.dim
        phi = [sparse.csr_array(shapes[i::d]) for i in range(d)]
        moved = [sparse.csr_array(m @ p) for p in phi]
        whole = np.asarray(m.sum(axis=0)).ravel()
        n, s = phi[0].shape[1], spins(d)
        return Inertia(
            mass=float(whole.sum()),
            first=whole @ X,
            second=X.T @ (m @ X),
            shape_first=np.array([p.T @ whole for p in phi]),
            shape_lever=np.array([(q.T @ X).T for q in moved]),
            shape_pair=tuple(tuple(sparse.csr_array(p.T @ q) for q in moved) for p in phi),
            spin=np.zeros((s, s)),
            spin_shape=np.zeros((s, n)),
            spin_pair=sparse.csr_array((n, n)),
        )


def block_diagonal(blocks: Array) -> Any:
    """Blocks (p, c, c) as a sparse matrix (p·c, p·c)."""
    matrix = sparse.bsr_array((blocks, np.arange(len(blocks)), np.arange(len(blocks) + 1))).tocsr()
    matrix.eliminate_zeros()
    return sparse.csr_array(matrix)


def solid_model(
    mesh: SolidMesh, material: Elastic | Mapping[str, Elastic], *, plane: str | None, thickness: float | None
) -> SolidModel:
    """A mesh with one material, or one for each of its regions of cells."""
    t = 1.0
    if plane is not None:
        if thickness is None:
            raise ValueError(f"thickness must be given [m] for plane={plane!r}")
        t = check.positive("thickness", thickness, "m")
    elif thickness is not None:
        raise ValueError("thickness is of plane bodies: give plane='stress' or plane='strain' with it")
    if not isinstance(material, Mapping):
        return SolidModel(mesh, {"": _elastic("material", material)}, np.zeros(int(mesh.starts[-1]), int), plane, t)
    if not material:
        raise ValueError("material must be a material, or materials by the names of regions, got none")
    for name, own in material.items():
        _elastic(f"material {name!r}", own)
    return SolidModel(mesh, dict(material), region_of_cells(mesh, "material", material), plane, t)


def _elastic(name: str, given: Any) -> Elastic:
    if not isinstance(getattr(given, "compliance", None), np.ndarray):
        raise ValueError(f"{name} must be a Material, Orthotropic or Anisotropic, got {type(given).__name__}")
    return given
