"""Meshes in files, and the cells that they are made of.

Reading by meshio; texts of Abaqus with its parts, instances and sets; nodes and facets of cells.
Imports: files, numerics.
"""
