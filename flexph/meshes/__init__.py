"""Mesh cells and the contents of mesh files.

Nodes and facets of the cell types of meshio; local coordinate systems; safe calls of the readers of meshio.
Imports: files, numerics.
"""
