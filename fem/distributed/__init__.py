"""Reduction of solids distributed over the ranks of an MPI job, by PETSc and SLEPc (extra ``petsc``).

Rank 0 reads the mesh and cuts it, each rank assembles its own cells, and the reduced body ends up on rank 0. No
other package imports petsc4py, and this one is imported for such jobs only.

Imports: fem.materials, fem.meshes, fem.solids, flexph.bodies, flexph.meshes.drawings, flexph.numerics,
flexph.numerics.factors.
"""
