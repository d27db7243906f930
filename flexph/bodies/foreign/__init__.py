"""Bodies from the matrices, modes and meshes of other finite-element programs.

Imports: bodies, files, meshes, numerics, numerics.factors.
"""
