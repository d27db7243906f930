"""Reduction of solids whose cells are distributed over the ranks of an MPI job, by PETSc and SLEPc (extra ``petsc``).

Rank 0 reads the mesh and cuts it; each rank assembles its own cells; the reduced body comes to be on rank 0. Nothing
else imports petsc4py, and nobody imports this room but for such a job.

Imports: fem.meshes, fem.solids, flexph.bodies, flexph.numerics, flexph.numerics.factors.
"""
