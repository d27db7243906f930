"""PETSc stiffness and mass of a distributed solid, with rigid motion held or projected out.

Arrays (own, …) have a row for each of the coordinates that the rank owns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from petsc4py import PETSc
from scipy import sparse
from scipy.linalg import solve_triangular

from flexph.numerics.arrays import Array

from ..solids.elasticity import SolidElasticity, nodal_stiffness
from .partition import Part, RankShare
from .ranks import total


@dataclass(frozen=True, eq=False)
class System:
    """Stiffness K and mass M of a solid in the coordinates of all ranks; each rank holds the rows that it owns.

    On ``held`` coordinates (own,) K is diagonal and M is zero. ``linear`` (own,) is True for coordinates that move
    corners of cells, for multigrid. K and M are multiplied by the same factor ``unit``, chosen so that the mean of
    the diagonal of M is one.

    About mean axes there are rigid ``motions`` Q (own, r), QᵀMQ = 1, with ``momenta`` W = MQ. The mass is then M − WWᵀ,
    that of the deformation u − Q Wᵀu. With a held port r = 0.
    """

    comm: Any
    part: Part
    stiffness: Any
    mass: Any
    held: Array
    linear: Array
    motions: Array
    momenta: Array
    unit: float

    def heavy(self, vectors: Array) -> Array:
        """Products (own, k) of the mass M − WWᵀ with ``vectors`` (own, k)."""
        return products(self.mass, vectors) - self.momenta @ self.inner(self.momenta, vectors)

    def inner(self, a: Array, b: Array) -> Array:
        """Inner products AᵀB of vectors (own, k), summed over all ranks."""
        return total(self.comm, a.T @ b)

    def balanced(self, loads: Array) -> Array:
        """Loads (own, k) minus the inertia forces of the rigid motion that they cause, and zero on held coordinates."""
        rest = loads - self.momenta @ self.inner(self.motions, loads)
        rest[self.held] = 0.0
        return rest

    def here(self, vectors: Array) -> Array:
        """Rows (here, k) of ``vectors`` (own, k) for all coordinates of this rank's cells, gathered from all ranks."""
        scatter, whole, here = self._scatter()
        local = np.empty((len(self.part.coordinates), vectors.shape[1]))
        for k, given in enumerate(vectors.T):
            whole.array[:] = given
            scatter.scatter(whole, here)
            local[:, k] = here.array
        return local

    def displacements(self, vectors: Array) -> Array:
        """Displacements (N·d, k) of the N nodes of this rank's cells, from ``vectors`` (own, k) in the coordinates."""
        return np.asarray(self.part.shapes @ self.here(vectors))

    def loads(self, nodal: Array) -> Array:
        """Loads (own, k) on the coordinates that this rank owns, from the nodal forces of all ranks.

        ``nodal`` (N·d, k) are the forces on the N nodes of this rank's cells. The contributions of all ranks to a
        coordinate are added.
        """
        scatter, whole, here = self._scatter()
        loads = np.empty((whole.array.size, nodal.shape[1]))
        for k, given in enumerate((self.part.shapes.T @ nodal).T):
            whole.set(0.0)
            here.array[:] = given
            scatter.scatter(here, whole, addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
            loads[:, k] = whole.array
        return loads

    def elasticity(self, vectors: Array) -> SolidElasticity:
        """Elasticity of the cells of this rank in the coordinates whose unit deformations are ``vectors`` (own, k)."""
        return SolidElasticity(self.part.model, self.displacements(vectors))

    def energies(self, vectors: Array) -> Array:
        """Matrix VᵀKV (k, k) of ``vectors`` V (own, k), from the strains of the cells, summed over all ranks."""
        return total(self.comm, self.elasticity(vectors).energies(np.eye(vectors.shape[1])))

    def _scatter(self) -> tuple[Any, Any, Any]:
        whole, here = self.stiffness.createVecRight(), PETSc.Vec().createSeq(len(self.part.coordinates))
        numbers = PETSc.IS().createGeneral(self.part.coordinates.astype(PETSc.IntType), comm=PETSc.COMM_SELF)
        return PETSc.Scatter().create(whole, numbers, here, None), whole, here


def products(matrix: Any, vectors: Array) -> Array:
    """Products A V of a distributed matrix with vectors (own, k)."""
    x, y = matrix.createVecs()
    images = np.empty_like(vectors)
    for k, given in enumerate(vectors.T):
        x.array[:] = given
        matrix.mult(x, y)
        images[:, k] = y.array
    return images


def assembled(comm: Any, share: RankShare, *, mean: bool) -> System:
    """System of a solid over all ranks: stiffness K and mass M, assembled from the cells of all.

    If ``mean``, the axes are mean axes: the rigid motions are projected out of the mass.
    """
    part, starts, held, rigid = share.part, share.starts, share.held, share.rigid
    d = part.model.dim
    block = 1 if np.any(starts % d) else d
    mass = _matrix(comm, part, starts, lambda: sparse.kron(part.model.mass, sparse.eye_array(d), "csr"), block)
    unit = float(starts[-1]) / float(mass.getDiagonal().sum())
    mass.scale(unit)
    motions = rigid if mean else rigid[:, :0]
    if mean:
        gram = total(comm, rigid.T @ products(mass, rigid))
        motions = solve_triangular(np.linalg.cholesky(gram), rigid.T, lower=True).T
    momenta = products(mass, motions)
    momenta[held] = 0.0
    stiffness = _matrix(comm, part, starts, lambda: nodal_stiffness(part.model), block)
    stiffness.scale(unit)
    numbers = (starts[comm.rank] + np.flatnonzero(held)).astype(PETSc.IntType)
    stiffness.zeroRowsColumns(numbers, float(stiffness.getDiagonal().sum()) / float(starts[-1]))
    mass.zeroRowsColumns(numbers, 0.0)
    stiffness.setOption(PETSc.Mat.Option.SPD, True)
    stiffness.setNearNullSpace(near_null(comm, stiffness, rigid))
    return System(comm, part, stiffness, mass, held, share.linear, motions, momenta, unit)


def near_null(comm: Any, stiffness: Any, rigid: Array) -> Any:
    """PETSc null space for multigrid: the rigid motions ``rigid`` (own, r), made orthonormal."""
    even = solve_triangular(np.linalg.cholesky(total(comm, rigid.T @ rigid)), rigid.T, lower=True)
    vectors = [stiffness.createVecRight() for _ in even]
    for vector, values in zip(vectors, even, strict=True):
        vector.array[:] = values
    return PETSc.NullSpace().create(vectors=vectors, comm=PETSc.COMM_WORLD)


def _matrix(comm: Any, part: Part, starts: Array, nodal: Callable[[], Any], block: int) -> Any:
    """PETSc matrix Σ SᵀAS over the ranks, S the displacements (N·d, n) of a rank's nodes for unit coordinates.

    ``nodal`` returns the matrix A (N·d, N·d) of the cells of this rank. ``starts`` are the first coordinates of all
    ranks and the number of all coordinates; ``block`` is the block size.
    """
    rows = _own_rows(comm, part, starts, sparse.csr_array(part.shapes.T @ (nodal() @ part.shapes)))
    index = rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType)
    return PETSc.Mat().createAIJ((rows.shape, rows.shape), bsize=block, csr=(*index, rows.data), comm=PETSc.COMM_WORLD)


def _own_rows(comm: Any, part: Part, starts: Array, local: Any) -> Any:
    """Rows (own, n) that this rank owns of the sum of the matrices of all ranks.

    ``local`` is the matrix of this rank, over the coordinates of its part only.
    """
    numbers = part.coordinates.astype(np.int32)
    wide = sparse.csr_array((local.data, numbers[local.indices], local.indptr), (len(numbers), int(starts[-1])))
    owner = np.searchsorted(starts, part.coordinates, side="right") - 1

    def rows_of(rank: int) -> Any:
        rows = np.flatnonzero(owner == rank)
        place, shape = numbers[rows] - starts[rank], (int(starts[rank + 1] - starts[rank]), len(numbers))
        return sparse.csr_array((np.ones(len(rows)), (place, rows)), shape=shape) @ wide

    received = comm.alltoall([None if rank == comm.rank else rows_of(rank) for rank in range(comm.size)])
    owned = rows_of(comm.rank)
    for piece in received:
        owned = owned if piece is None or not piece.nnz else owned + piece
    owned.sort_indices()
    return owned
