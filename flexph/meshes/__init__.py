"""Cells that meshes are made of, and what a mesh file holds.

Nodes and facets of cells by their types in meshio; coordinate systems; guards of the readers of meshio.
Imports: files, numerics.
"""
