"""Bodies from matrices, modes and meshes of other finite-element programs.

Imports: bodies, bodies.floating, files, meshes, meshes.files, numerics, numerics.factors, units.
"""
