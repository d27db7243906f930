"""Bodies from the matrices, modes and meshes of other finite-element programs.

Imports: bodies, meshes, numerics, numerics.factors, numerics.files.
"""
