"""Drawings of CAD programs: parts, ports and meshes by gmsh in a separate process.

The kernel is the geometry kernel in gmsh, Open Cascade, which represents solids and faces.

Imports: files, meshes, numerics.
"""
