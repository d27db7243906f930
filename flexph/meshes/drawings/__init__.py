"""Drawings of CAD programs: parts, ports and meshes by gmsh in a separate process.

Imports: files, meshes, numerics.
"""
