"""Multigrid for a distributed solid: first quadratic, then linear cells, then levels of smoothed aggregation."""

from __future__ import annotations

from typing import Any

import numpy as np
from petsc4py import PETSc
from scipy import sparse

from flexph.numerics.arrays import Array

from ..meshes.solid_mesh import SolidMesh
from .partition import Part
from .system import System, near_null

PREFIX = "flexph_aggregation_"
AGGREGATION = {"pc_gamg_aggressive_coarsening": 0, "pc_gamg_threshold": 0.05}
"""Options of GAMG: one layer of strong neighbours; this needs 20 steps of conjugate gradients instead of 40."""
SWEEPS = 2
"""Steps of the smoother (Chebyshev on symmetric sweeps) before and after each correction. Compared with smoothing by
nodal blocks, solutions take a third more time on regular cells, and half the time on cells of aspect ratio five."""


def multigrid(system: System, pc: Any) -> None:
    """Set up a PETSc preconditioner ``pc`` for a solid.

    Aggregation of quadratic cells gives poor coarse corrections. The space of quadratic cells contains the piecewise
    linear displacements exactly. These, in the coordinates of the corners, form the second level, K₁ = PᵀKP, from which
    aggregation continues.
    """
    if system.part.model.mesh.degree == 1:
        _aggregation(pc)
        return
    fine = system.stiffness
    lift = prolongation(system)
    coarse = fine.ptap(lift)
    coarse.setOption(PETSc.Mat.Option.SPD, True)
    motions = np.column_stack([vector.array[system.linear] for vector in fine.getNearNullSpace().getVecs()])
    coarse.setNearNullSpace(near_null(system.comm, coarse, motions))
    pc.setType(PETSc.PC.Type.MG)
    pc.setMGLevels(2)
    pc.setMGInterpolation(1, lift)
    below = pc.getMGCoarseSolve()
    below.setType(PETSc.KSP.Type.PREONLY)
    below.setOperators(coarse)
    _aggregation(below.getPC())
    smoother = pc.getMGSmoother(1)
    smoother.setOperators(fine)
    smoother.setType(PETSc.KSP.Type.CHEBYSHEV)
    smoother.setTolerances(max_it=SWEEPS)
    smoother.setNormType(PETSc.KSP.NormType.NONE)
    smoother.getPC().setType(PETSc.PC.Type.SOR)


def _aggregation(pc: Any) -> None:
    options = PETSc.Options(PREFIX)
    for name, value in AGGREGATION.items():
        options.setValue(name, value)
    pc.setOptionsPrefix(PREFIX)
    pc.setType(PETSc.PC.Type.GAMG)
    pc.setFromOptions()


def prolongation(system: System) -> Any:
    """Prolongation matrix P (n, n₁) from corner coordinates to all n coordinates.

    Corner coordinates are the n₁ that move corners of cells. Coordinates of other nodes take the mean of the corners
    between which the node lies. A held coordinate that moves a corner depends on itself only. Rows of all other held
    coordinates, and of coordinates that lie between no corners, are zero.
    """
    part, fine = system.part, system.stiffness
    first, end = fine.getOwnershipRange()
    kept = np.flatnonzero(system.linear)
    before = int(system.comm.exscan(len(kept)) or 0)
    number = np.full(len(system.linear), -1.0)
    number[kept] = before + np.arange(len(kept))
    known = system.here(np.column_stack([number, system.held]))
    here, moving = known[:, 0].astype(np.int64), known[:, 1] == 0.0
    means = sparse.kron(corner_means(part.model.mesh), sparse.eye_array(part.model.dim), "csr") @ part.shapes
    between = (part.coordinates >= first) & (part.coordinates < end) & (here < 0) & moving
    mine = np.flatnonzero(between)
    means = sparse.coo_array(means[_rows(part)[mine]])
    used = (here[means.col] >= 0) & moving[means.col]
    rows = np.concatenate([(part.coordinates[mine] - first)[means.row[used]], kept])
    columns = np.concatenate([here[means.col[used]], before + np.arange(len(kept))])
    size = system.comm.allreduce(len(kept))
    data = np.concatenate([means.data[used], np.ones(len(kept))])
    matrix = sparse.csr_array((data, (rows, columns)), shape=(end - first, size))
    matrix.eliminate_zeros()
    index = matrix.indptr.astype(PETSc.IntType), matrix.indices.astype(PETSc.IntType)
    sizes = (fine.getSizes()[0], (len(kept), size))
    return PETSc.Mat().createAIJ(sizes, bsize=fine.getBlockSize(), csr=(*index, matrix.data), comm=PETSc.COMM_WORLD)


def _rows(part: Part) -> Array:
    """Index (n,) of the first nodal displacement that each of the n coordinates of a part moves.

    A coordinate of a free node moves only this one.
    """
    columns = sparse.csc_array(part.shapes)
    return columns.indices[columns.indptr[:-1]]


def corner_means(mesh: SolidMesh) -> Any:
    """Sparse matrix (N, N) from values at the corners of cells to values at all nodes, means of corners.

    A node in the middle of an edge, face or cell takes the mean of the corners of that edge, face or cell; a corner
    keeps its own value.
    """
    seen, parts = np.zeros(len(mesh.points), dtype=bool), []
    for block in mesh.blocks:
        for of_corner, corners in zip(block.nodes.T, block.kind.nodes, strict=True):
            nodes, cell = np.unique(of_corner, return_index=True)
            fresh = ~seen[nodes]
            nodes, cell = nodes[fresh], cell[fresh]
            seen[nodes] = True
            parts += [(np.full(len(nodes), 1.0 / len(corners)), nodes, block.nodes[cell, c]) for c in corners]
    data, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((data, (rows, columns)), shape=(len(seen),) * 2)
