"""Drawings of CAD programs: parts, ports and meshes by gmsh, which runs in a process of its own.

Imports: meshes, numerics.
"""
