"""Bodies from matrices, modes and meshes of other finite-element programs.

``body_from_matrices`` and ``body_from_modes`` are called by users; the other modules read files, number nodes and
degrees of freedom, and convert a model to a body.

Imports: bodies, bodies.floating, files, meshes, meshes.files, numerics, numerics.factors, units.
"""
