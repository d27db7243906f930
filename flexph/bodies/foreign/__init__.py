"""Bodies from the matrices, modes and meshes of other finite-element programs.

Imports: bodies, bodies.floating, files, meshes, numerics, numerics.factors.
"""
